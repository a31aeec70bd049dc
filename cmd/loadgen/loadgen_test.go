package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMain is the bare server and the attacker, too: loadgen starts itself as these.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "bare" || os.Args[1] == "attack") {
		main()
	}
	os.Exit(m.Run())
}

// Every row is measured on tiny calendars, each attack too; those that need a server say so.
func TestRows(t *testing.T) {
	if testing.Short() {
		t.Skip("TestRows did not run: it builds the program and measures for some seconds")
	}
	t.Setenv("DAYBOOK_TEST_POSTGRES", "")
	args := []string{"-source", filepath.Join("..", ".."), "-for", "7ms", "-mixed", "7ms", "-events", "50"}
	groups := read[[]group]("rows.json")
	for _, g := range groups {
		args = append(args, g.Name)
	}
	var stdout, stderr strings.Builder
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("ended with %d\n%s\n%s", code, stdout.String(), stderr.String())
	}
	for _, g := range groups {
		want := ` (not )?met`
		if g.Needs != nil {
			want = ` not measured: no postgres`
		}
		for _, row := range g.Rows {
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(row.Name) + ` .*` + want + `$`).MatchString(stdout.String()) {
				t.Errorf("no row %q", row.Name)
			}
		}
	}
	if t.Failed() {
		t.Logf("%s\n%s", stdout.String(), stderr.String())
	}
}
