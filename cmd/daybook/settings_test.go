package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func serveCommand() *subcommand {
	all := subcommands()
	return all[slices.IndexFunc(all, func(c *subcommand) bool { return c.name == "serve" })]
}

// settingsOf gives the settings that serve takes of a command line in an environment.
func settingsOf(t *testing.T, args, env []string) (s *settings, rest []string, err error) {
	t.Helper()
	serve := serveCommand()
	serve.run = func(_ context.Context, _ *console, got *settings, args []string) error {
		s, rest = got, args
		return nil
	}
	err = serve.command(&console{}, env).Run(t.Context(), append([]string{"serve"}, args...))
	return s, rest, err
}

// settingsOfServe gives the rows of the settings that serve takes.
func settingsOfServe() []setting {
	serve := serveCommand()
	return slices.DeleteFunc((&settings{}).table(), func(d setting) bool { return !serve.takes(&d) })
}

func settingNamed(s *settings, name string) *setting {
	table := s.table()
	return &table[slices.IndexFunc(table, func(d setting) bool { return d.name == name })]
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
		script := `source <(daybook completion bash)
			__daybook_init_completion() { cur=${COMP_WORDS[COMP_CWORD]}; } # is of a package that may lack
			COMP_WORDS=(` + line + `); COMP_CWORD=$((${#COMP_WORDS[@]}-1))
			__daybook_bash_autocomplete; printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Env = append(os.Environ(), childEnv+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil || !slices.Contains(strings.Fields(string(out)), want) {
			t.Errorf("%s: %v, no %q in\n%s", line, err, want, out)
		}
	}
}
