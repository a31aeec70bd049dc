package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/oasdiff/yaml3"
	"github.com/urfave/cli/v3"
)

// given is the value of a setting and where it came from: a flag, a variable of the
// environment, FILE:LINE, or byDefault.
type given struct {
	Value string `json:"value"`
	From  string `json:"from"`
}

const byDefault = "default"

// readSettings reads the settings that a command takes: from its flags, else from the
// environment, else from the file of settings. All wrong ones are named at once.
func readSettings(sub *subcommand, flags *cli.Command, env []string) (*settings, error) {
	s := &settings{given: make(map[string]given)}
	var problems []string
	var file map[string]given
	for _, d := range s.table() {
		if !sub.takes(&d) {
			continue
		}
		g, label := given{d.def, byDefault}, "--"+d.option()
		if v, ok := lookupEnv(env, d.env()); flags.IsSet(d.option()) {
			g = given{flags.String(d.option()), label}
		} else if ok {
			g, label = given{v, d.env()}, d.env()
		} else if f, ok := file[d.name]; ok && d.flag == "" {
			g, label = f, f.From+": "+d.name
		}
		s.given[d.name] = g
		if err := d.set(g.Value); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s, not %q", label, err, d.shown(g.Value)))
		} else if d.name == fileSetting && s.file != "" {
			if file, err = readFile(s.file); err != nil {
				problems = append(problems, err.Error())
			}
		}
	}
	if problems = append(problems, s.misfits()...); len(problems) > 0 {
		return nil, usageError("%s", strings.Join(problems, "\n"))
	}
	return s, nil
}

// readFile reads a file of settings: a YAML map of their names, with texts, numbers,
// true and false, and lists of them.
func readFile(path string) (map[string]given, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // it names the file
	}
	defer func() { _ = f.Close() }()
	var nodes map[string]yaml.Node
	if err := yaml.NewDecoder(f).Decode(&nodes); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	table := (&settings{}).table()
	out, problems := make(map[string]given, len(nodes)), []error(nil)
	for _, name := range sortedKeys(nodes) {
		node := nodes[name]
		at := fmt.Sprintf("%s:%d", path, node.Line)
		values := []*yaml.Node{&node}
		if node.Kind == yaml.SequenceNode {
			values = node.Content
		}
		var texts []string
		for _, v := range values {
			if v.Tag != "!!null" {
				texts = append(texts, v.Value)
			}
		}
		switch i := slices.IndexFunc(table, func(d setting) bool { return d.name == name && d.env() != "" }); {
		case i < 0 || name == fileSetting:
			problems = append(problems, fmt.Errorf("%s: there is no setting %q; daybook config print lists them", at, name))
		case slices.ContainsFunc(values, func(v *yaml.Node) bool { return v.Kind != yaml.ScalarNode }):
			problems = append(problems, fmt.Errorf("%s: %s: must be a text, a number, true, false or a list of them", at, name))
		default:
			out[name] = given{strings.Join(texts, ","), at}
		}
	}
	return out, errors.Join(problems...)
}

func lookupEnv(env []string, name string) (string, bool) {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok && name != "" {
			return v, true
		}
	}
	return "", false
}

// runConfig prints the settings in the form of a file of environment variables; a
// comment says where those below it came from.
func runConfig(_ context.Context, c *console, s *settings, args []string) error {
	if len(args) != 1 || args[0] != "print" {
		return usageError("usage: daybook config print")
	}
	delete(s.given, "json")
	from := ""
	for _, d := range s.table() {
		g, ok := s.given[d.name]
		if !ok {
			continue
		}
		g.Value = d.shown(g.Value)
		s.given[d.name] = g
		if s.json {
			continue
		}
		if g.From != from {
			fmt.Fprintf(c.out, "# %s\n", g.From)
		}
		from = g.From
		if _, err := fmt.Fprintf(c.out, "%s=%s\n", d.env(), g.Value); err != nil {
			return err
		}
	}
	if s.json {
		return json.NewEncoder(c.out).Encode(s.given)
	}
	return nil
}
