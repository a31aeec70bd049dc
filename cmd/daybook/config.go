package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/oasdiff/yaml3"

	"daybook/internal/demo"
)

// given is the value of a setting and where it came from: a flag, a variable of the
// environment, FILE:LINE, or byDefault.
type given struct {
	Value string `json:"value"`
	From  string `json:"from"`

	label string // before an error
	err   error  // why it is refused
}

const byDefault = "default"

// settingsReader reads settings from flags, else from the environment, else from the file
// of settings, and notes what is wrong with any of them.
type settingsReader struct {
	env      []string
	model    *kong.Application
	given    map[*kong.Value]given
	resolved *given           // the value that is read now, nil on the command line
	traced   bool             // the command line is read
	file     map[string]given // nil: not read yet
	fileErr  error
}

// parser returns the parser of a command line that fills s.
func (r *settingsReader) parser(s *config, out io.Writer, exit func(int)) (*kong.Kong, error) {
	return newParser(s, out, kong.Exit(exit), kong.Resolvers(r), kong.PostBuild(r.watch),
		kong.WithBeforeReset(func() error { r.traced = true; return nil }))
}

// watch puts the reader between the parser and the mappers of flags.
func (r *settingsReader) watch(k *kong.Kong) error {
	r.model = k.Model
	k.Model.HelpFlag.Help = "print this help"
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok {
			f.Mapper = &watchedMapper{f.Mapper, r}
		}
		return next(nil)
	})
}

// watchedMapper notes what flags are given and the errors of its mapper, so that all of
// them are reported together.
type watchedMapper struct {
	kong.Mapper
	r *settingsReader
}

// Decode implements kong.Mapper.
func (m *watchedMapper) Decode(ctx *kong.DecodeContext, to reflect.Value) error {
	v, token := ctx.Value, ctx.Scan.Peek()
	if v.IsBool() && token.Type != kong.FlagValueToken {
		token = kong.Token{Value: "true", Type: kong.FlagValueToken}
		ctx.Scan.PushTyped(token.Value, token.Type)
	}
	err := m.Mapper.Decode(ctx, to)
	if !token.IsValue() || m.r.traced && m.r.resolved == nil {
		return err // without a value, or the default
	}
	now := given{Value: token.String(), From: "--" + v.Name, label: "--" + v.Name, err: err}
	if m.r.resolved != nil {
		now.From, now.label = m.r.resolved.From, m.r.resolved.label
	} else if before, again := m.r.given[v]; again && v.IsSlice() {
		now.Value, now.err = before.Value+","+now.Value, errors.Join(before.err, err)
	}
	m.r.given[v] = now
	return nil
}

// variable is the name of a setting in the environment, "" when it is of the command line only.
func variable(v *kong.Value) string {
	if v.Flag == nil || v.Tag.Has("commandline") || v.Name == "help" {
		return ""
	}
	return "DAYBOOK_" + strings.ToUpper(strings.ReplaceAll(v.Name, "-", "_"))
}

// Validate implements kong.Resolver.
func (*settingsReader) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver: it returns the value of a flag that does not stand on the
// command line.
func (r *settingsReader) Resolve(_ *kong.Context, parent *kong.Path, f *kong.Flag) (any, error) {
	name := variable(f.Value)
	if name == "" {
		return nil, nil
	}
	v, ok := lookupEnv(r.env, name)
	g := given{Value: v, From: name, label: name}
	if !ok && f.Name != fileSetting {
		g, ok = r.fromFile()[f.Name]
	}
	if !ok && parent.Command != nil && parent.Command.Name == "demo" {
		town, err := demo.Read()
		if err != nil {
			return nil, err
		}
		g = given{From: "demo", label: "demo: " + f.Name}
		g.Value, ok = town.Settings[f.Name]
	}
	if r.resolved = nil; !ok {
		return nil, nil
	}
	r.resolved = &g
	return g.Value, nil
}

// read reads a command line. All that is wrong with settings is in one error.
func (r *settingsReader) read(k *kong.Kong, s *config, args []string) (*kong.Context, error) {
	parsed, err := k.Parse(args)
	if failed, ok := errors.AsType[*kong.ParseError](err); ok {
		parsed = failed.Context
	}
	var problems []string
	serves := false
	for _, f := range parsed.Flags() {
		if g := r.given[f.Value]; g.err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s, not %q", g.label, g.err, shown(f, g.Value)))
		}
		if f.Name == fileSetting && r.fileErr != nil {
			problems = append(problems, r.fileErr.Error())
		}
		serves = serves || variable(f.Value) == "DAYBOOK_ROLE"
	}
	if !serves {
		s.Role = ""
	}
	if err == nil {
		problems = append(problems, s.misfits()...)
	}
	switch {
	case len(problems) > 0:
		return parsed, usageError("%s", strings.Join(problems, "\n"))
	case err != nil:
		help := "daybook"
		if node := parsed.Selected(); node != nil {
			help = node.FullPath()
		}
		return parsed, usageError("%w; see %s --help", err, help)
	}
	return parsed, nil
}

// shown is a value as it may be printed.
func shown(f *kong.Flag, v string) string {
	if f.Tag.Has("secret") {
		return redactedURLs(v)
	}
	return v
}

// fileSetting names the file of settings.
const fileSetting = "config"

// fromFile returns the settings of the file, if there is one.
func (r *settingsReader) fromFile() map[string]given {
	if r.file != nil {
		return r.file
	}
	r.file = map[string]given{}
	for _, f := range r.model.Flags {
		if g := r.given[f.Value]; f.Name == fileSetting && g.Value != "" && g.err == nil {
			r.file, r.fileErr = readFile(r.model, g.Value)
		}
	}
	return r.file
}

// readFile reads a file of settings: a YAML map of their names, with texts, numbers,
// true and false, and lists of them.
func readFile(model *kong.Application, path string) (map[string]given, error) {
	f, err := os.Open(path)
	if err != nil {
		return map[string]given{}, err // it names the file
	}
	defer func() { _ = f.Close() }()
	var nodes map[string]yaml.Node
	if err := yaml.NewDecoder(f).Decode(&nodes); err != nil && !errors.Is(err, io.EOF) {
		return map[string]given{}, fmt.Errorf("%s: %w", path, err)
	}
	known := map[string]bool{}
	_ = kong.Visit(model, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok && f.Name != fileSetting && variable(f.Value) != "" {
			known[f.Name] = true
		}
		return next(nil)
	})
	out, problems := make(map[string]given, len(nodes)), []error(nil)
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
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
		switch {
		case !known[name]:
			problems = append(problems, fmt.Errorf("%s: there is no setting %q; daybook config print lists them", at, name))
		case slices.ContainsFunc(values, func(v *yaml.Node) bool { return v.Kind != yaml.ScalarNode }):
			problems = append(problems, fmt.Errorf("%s: %s: must be a text, a number, true, false or a list of them", at, name))
		default:
			out[name] = given{Value: strings.Join(texts, ","), From: at, label: at + ": " + name}
		}
	}
	return out, errors.Join(problems...)
}

func lookupEnv(env []string, name string) (string, bool) {
	for _, e := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// serveSettings are the settings of the service.
type serveSettings struct {
	storeSettings
	feedSettings
	indexSettings
	*roleOptions `group:"role"`
	serviceSettings
}

type configCommands struct {
	serveSettings
	outputSettings

	Print configPrint `cmd:"" help:"print them as variables of the environment, and where they came from"`
}

type configPrint struct{}

// Run prints the settings in the form of a file of environment variables; a comment says
// where those below it came from.
func (*configPrint) Run(c *console, s *config, r *settingsReader, parsed *kong.Context) error {
	all, from := map[string]given{}, ""
	for _, f := range parsed.Flags() {
		if variable(f.Value) == "" || f.Name == "json" {
			continue
		}
		g, ok := r.given[f.Value]
		if !ok {
			g = given{Value: f.Default, From: byDefault}
		}
		g.Value = shown(f, g.Value)
		all[f.Name] = g
		if s.JSON {
			continue
		}
		if g.From != from {
			fmt.Fprintf(c.out, "# %s\n", g.From)
		}
		from = g.From
		fmt.Fprintf(c.out, "%s=%s\n", variable(f.Value), g.Value)
	}
	if s.JSON {
		return json.NewEncoder(c.out).Encode(all)
	}
	return nil
}
