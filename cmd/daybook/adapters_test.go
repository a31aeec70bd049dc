package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the documentation anew")

// TestSettingsAreDocumented: the table of docs/settings.md is that of the
// program.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	want.WriteString("| flag | environment | default | |\n|---|---|---|---|\n")
	for _, flag := range flagsOf(t, "serve") {
		if variable(flag.Value) == "" {
			continue
		}
		def, value := "", " "+flag.PlaceHolder
		if flag.Default != "" {
			def = "`" + flag.Default + "`"
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s | %s |\n", strings.TrimSpace("--"+flag.Name+value), variable(flag.Value), def, strings.ReplaceAll(flag.Help, "|", `\|`))
	}
	path := filepath.Join("..", "..", "docs", "settings.md")
	data, err := os.ReadFile(path)
	must(t, err)
	const head, end = "<!-- settings of daybook serve, made by go test ./cmd/daybook -run TestSettingsAreDocumented -update -->\n", "<!-- end of settings -->\n"
	before, rest, found := strings.Cut(string(data), head)
	there, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no table of settings", path)
	}
	if there == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s: the table of settings is not that of the program; renew it with -update", path)
	}
	must(t, os.WriteFile(path, []byte(before+head+want.String()+end+after), 0o600))
}
