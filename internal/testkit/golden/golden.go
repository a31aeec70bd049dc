// Package golden compares what tests made with files in testdata, and renews those where
// tests run with -update.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "renew golden files")

// Compare fails the test when a text is not that of a file in testdata.
func Compare(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		_ = os.WriteFile(path, []byte(got), 0o600) // else they differ below
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
		t.Errorf("%s: %v (-want +got; -update renews it)\n%s", path, err, diff)
	}
}
