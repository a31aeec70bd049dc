package storetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryStoreRunsTheSuite: each package next to this one that implements the
// port runs the whole suite.
func TestEveryStoreRunsTheSuite(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	stores, runs := map[string]bool{}, map[string]bool{}
	for _, path := range files {
		dir := filepath.Base(filepath.Dir(path))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch test := strings.HasSuffix(path, "_test.go"); {
		case dir == "storetest":
		case test && strings.Contains(string(text), "storetest.Run(t, "):
			runs[dir] = true
		case !test && strings.Contains(string(text), ") NewID(ctx context.Context"):
			stores[dir] = true
		}
	}
	for _, dir := range []string{"memstore", "sqlite"} {
		if !stores[dir] {
			t.Errorf("%s is not seen as a store", dir)
		}
	}
	for dir := range stores {
		if !runs[dir] {
			t.Errorf("eventstore/%s does not run the suite", dir)
		}
	}
}
