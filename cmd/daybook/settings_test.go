package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// settingsOf returns the settings that serve takes of a command line in an environment, and
// the values of all.
func settingsOf(t *testing.T, args, env []string) (*config, map[string]string, error) {
	t.Helper()
	s := &config{}
	reader := &settingsReader{env: map[string]string{}}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		reader.env[name] = value
	}
	kong, err := reader.parser(s, io.Discard, nil)
	must(t, err)
	parsed, err := reader.read(kong, s, append([]string{"serve"}, args...))
	values := map[string]string{}
	for _, flag := range parsed.Flags() {
		values[flag.Name] = flag.Default
		if given, ok := reader.given[flag.Value]; ok {
			values[flag.Name] = given.Value
		}
	}
	return s, values, err
}

// flagsOf returns the settings that a command takes.
func flagsOf(t *testing.T, command string) (flags []*kong.Flag) {
	t.Helper()
	k, err := new(settingsReader).parser(new(config), io.Discard, nil)
	must(t, err)
	for _, node := range k.Model.Children {
		if node.Name == command {
			_ = kong.Visit(node, func(visitable kong.Visitable, next kong.Next) error {
				if flag, ok := visitable.(*kong.Flag); ok {
					flags = append(flags, flag)
				}
				return next(nil)
			})
			return append(k.Model.Flags, flags...)
		}
	}
	return nil
}

// TestCompletion completes commands, what they do and flags in a real shell.
func TestCompletion(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("%s did not run, it needs bash: %v", t.Name(), err)
	}
	dir := t.TempDir()
	program := "#!/bin/sh\nexec '" + os.Args[0] + "' \"$@\"\n"
	must(t, os.WriteFile(filepath.Join(dir, "daybook"), []byte(program), 0o700))
	for line, want := range map[string]string{
		"daybook ver": "verify", "daybook user re": "revoke", "daybook serve --per-p": "--per-page-max", "daybook user list --store-p": "--store-pool",
	} {
		script := `source <(daybook completion bash); complete -p daybook >&2
			COMP_LINE='` + line + `' $(complete -p daybook | sed "s/.*'\(.*\)'.*/\1/")`
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Env = append(os.Environ(), childEnv+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil || !slices.Contains(strings.Fields(string(out)), want) {
			t.Errorf("%s: %v, no %q in\n%s", line, err, want, out)
		}
	}
}

func defaultOf(t *testing.T, name string) string {
	t.Helper()
	flags := flagsOf(t, "serve")
	return flags[slices.IndexFunc(flags, func(flag *kong.Flag) bool { return flag.Name == name })].Default
}
