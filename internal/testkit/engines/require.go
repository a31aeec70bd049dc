package engines

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Require ends a test that lacks what it needs: the test says by name that it
// did not run and why, and where DAYBOOK_REQUIRE (names with commas between
// them: "postgres,history") has the name, it fails.
func Require(t testing.TB, name, missing string) {
	t.Helper()
	if Required(name) {
		t.Fatalf("%s is required: %s", name, missing)
	}
	t.Skipf("%s did not run, it needs %s: %s", t.Name(), name, missing)
}

// Required tells whether DAYBOOK_REQUIRE has the name.
func Required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("DAYBOOK_REQUIRE"), ","), name)
}

// History opens the edit history of conferences that DAYBOOK_HISTORY names or, where
// DAYBOOK_REQUIRE has "history", the one in ../shared/data next to the module. What is made
// of it takes minutes, so without either the test does not run, see Require.
func History(t testing.TB) *os.File {
	t.Helper()
	path := os.Getenv("DAYBOOK_HISTORY")
	if path == "" {
		if !Required("history") {
			Require(t, "history", "neither DAYBOOK_REQUIRE nor DAYBOOK_HISTORY asks for it")
		}
		path = filepath.Join(moduleRoot(t), "..", "shared", "data", "conference-history.ndjson.gz")
	}
	f, err := os.Open(path)
	if err != nil {
		Require(t, "history", err.Error()+" (DAYBOOK_HISTORY names the file)")
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// moduleRoot is the folder of go.mod, above the folder of the package that is
// tested.
func moduleRoot(t testing.TB) string {
	t.Helper()
	start, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above " + start)
		}
	}
}
