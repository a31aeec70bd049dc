package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestBenchmarks measures every row of cmd/loadgen on tiny calendars, each attack too; those that
// need a server say so.
func TestBenchmarks(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	var groups []struct {
		Name  string
		Needs []string
		Rows  []struct{ Name string }
	}
	data, err := os.ReadFile("../loadgen/rows.json")
	must(t, err)
	must(t, json.Unmarshal(data, &groups))
	program := plainChild(t)
	args := []string{"run", "../loadgen", "-binary", program.Path, "-for", "7ms", "-mixed", "7ms", "-events", "50"}
	for _, group := range groups {
		args = append(args, group.Name)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = program.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, group := range groups {
		want := ` (not )?met`
		if group.Needs != nil {
			want = ` not measured: no postgres`
		}
		for _, row := range group.Rows {
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(row.Name) + ` .*` + want + `$`).Match(out) {
				t.Errorf("no row %q in\n%s", row.Name, out)
			}
		}
	}
}
