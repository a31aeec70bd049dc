package migration_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"daybook/internal/ground/migration"
)

func TestRead(t *testing.T) {
	t.Parallel()
	file := func() *fstest.MapFile { return &fstest.MapFile{Data: []byte("SELECT 1")} }
	for _, tt := range []struct {
		name  string
		files fstest.MapFS
		good  bool
	}{
		{"in a row", fstest.MapFS{"schema/0001_a.sql": file(), "schema/0002_b.sql": file()}, true},
		{"gap", fstest.MapFS{"schema/0001_a.sql": file(), "schema/0003_b.sql": file()}, false},
		{"twice", fstest.MapFS{"schema/0001_a.sql": file(), "schema/0001_b.sql": file()}, false},
		{"not from one", fstest.MapFS{"schema/0002_a.sql": file()}, false},
		{"no number", fstest.MapFS{"schema/a.sql": file()}, false},
	} {
		steps, err := migration.Read(tt.files)
		if (err == nil) != tt.good || (tt.good && len(steps) != len(tt.files)) {
			t.Errorf("%s: %d steps, %v", tt.name, len(steps), err)
		}
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	steps := []migration.Step{{1, "0001_a.sql", "a", "x"}, {2, "0002_b.sql", "b", "y"}}
	for _, tt := range []struct {
		name    string
		applied []migration.Step
		want    int    // steps
		form    string // in the error
	}{
		{"none", nil, 2, ""},
		{"one", steps[:1], 1, ""},
		{"all", steps, 0, ""},
		{"gap", steps[1:], 0, "2-y"},
		{"edited", []migration.Step{{1, "0001_a.sql", "", "z"}}, 0, "1-z"},
		{"newer", append(slices.Clone(steps), migration.Step{Number: 3, Checksum: "abcdefgh"}), 0, "3-abcdef"},
	} {
		says := ""
		if tt.form != "" {
			says = "the file was written by another version of daybook (form " + tt.form + ", this one needs 2-y): use that version, or begin an empty store"
		}
		got, err := migration.Pending(steps, tt.applied, "the file")
		if len(got) != tt.want || (err == nil) != (says == "") || err != nil && err.Error() != says {
			t.Errorf("%s: %d steps and %v, want %d and %q", tt.name, len(got), err, tt.want, says)
		}
	}
}
