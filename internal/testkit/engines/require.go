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

// Required reports whether DAYBOOK_REQUIRE has the name.
func Required(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("DAYBOOK_REQUIRE"), ","), name)
}

// moduleRoot is the folder of go.mod, above the folder of the package that is
// tested.
func moduleRoot(t testing.TB) string {
	directory, err := os.Getwd()
	for ; err == nil && directory != "/"; directory = filepath.Dir(directory) {
		if _, err := os.Stat(directory + "/go.mod"); err == nil {
			return directory
		}
	}
	t.Fatalf("no go.mod above this folder: %v", err)
	return ""
}
