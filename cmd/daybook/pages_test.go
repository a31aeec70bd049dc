package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// declares reports whether a file declares NAME, or TYPE.NAME: a method, or what a struct or an
// interface has.
func declares(t *testing.T, path, name string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	of, member, _ := strings.Cut(name, ".")
	pattern := `(?m)^(func|type|var|const|\t)\s*` + of + `\b`
	if member != "" {
		pattern = `(?m)^func \(\w* ?\*?` + of + `\b[^)]*\) ` + member + `\(|^type ` + of + ` (struct|interface) \{(\n(\t.*)?)*?\n\t.*\b` + member + `\b`
	}
	return regexp.MustCompile(pattern).Match(text)
}

// TestPagesNameWhatExists: the places in the code, the metrics, commands and flags that
// the pages for builders name are there.
func TestPagesNameWhatExists(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	metrics, err := os.ReadFile(filepath.Join(root, "docs", "observability.md"))
	must(t, err)
	quoted := regexp.MustCompile("`[^`\n]+`")
	place := regexp.MustCompile(`^([a-z0-9_/]+/[a-zA-Z0-9_./]+?)(?::([A-Za-z.]+))?$`)
	for page, least := range map[string]int{"where-is-my-change.md": 35, "adding.md": 25} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		must(t, err)
		looked := 0
		for _, word := range quoted.FindAllString(string(text), -1) {
			word = strings.Trim(word, "`")
			looked++
			if at := place.FindStringSubmatch(word); at != nil {
				path := filepath.Join(root, filepath.FromSlash(at[1]))
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: there is no %s", page, at[1])
				} else if at[2] != "" && !declares(t, path, at[2]) {
					t.Errorf("%s: %s does not declare %s", page, at[1], at[2])
				}
			} else if strings.HasPrefix(word, "daybook_") {
				if !strings.Contains(string(metrics), word) {
					t.Errorf("%s: there is no metric %s", page, word)
				}
			} else if words := strings.Fields(word); words[0] == "daybook" || strings.HasPrefix(word, "--") {
				checkCommand(t, page, words)
			} else {
				looked--
			}
		}
		if looked < least {
			t.Errorf("%s: %d names were looked for, want at least %d", page, looked, least)
		}
	}
}

// checkCommand looks that a command has the flags that stand behind it; one without a
// command is a flag of serve.
func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	name := "serve"
	if words[0] == "daybook" {
		name = words[1]
	}
	flags := flagsOf(t, name)
	if flags == nil {
		t.Errorf("%s: there is no command %q", page, name)
		return
	}
	for _, word := range words {
		flag, ok := strings.CutPrefix(word, "--")
		if ok && !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == flag }) {
			t.Errorf("%s: daybook %s has no flag --%s", page, name, flag)
		}
	}
}
