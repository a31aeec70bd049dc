package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit"
)

// Each row of the past has its bound with a verdict; streams told every change once.
func TestPast(t *testing.T) {
	t.Parallel()
	text := bounded(t, "-only", "past", "-past-size", "100", "-changes-size", "150")
	const ratio = ` +\d+\.\d\d +\d\.\d\d (not )?met$`
	for _, name := range []string{"SQLite, 64 callers", "SQLite, 1 caller", "updates a second"} {
		hasRow(t, text, name, `\d`+ratio)
	}
	for _, l := range changeLists {
		hasRow(t, text, l.name, `\d`+ratio)
	}
	for _, name := range []string{"the same list", "another window each"} {
		hasRow(t, text, name, `\d ms +\d+\.\d+ ms +\d+\.\d\d +10\.00 (not )?met$`)
	}
	hasRow(t, text, "first list at a point, 100 changes", `ms +1000\.000 ms at most: (not )?met$`)
	hasRow(t, text, "the same in PostgreSQL", `not measured: no PostgreSQL$`)
	hasRow(t, text, "from the moment of an update to its answer, p50", `\d ms +\d+\.\d+ ms +\d+\.\d\d$`)
	hasRow(t, text, "after the last answer all streams have told it in", `\d ms$`)
	rows := 2 + len(changeLists) + 1 + 2 + 1
	if !regexp.MustCompile(`(?m)^\d+ of ` + strconv.Itoa(rows) + ` rows that have a bound are not met$`).MatchString(text) {
		t.Errorf("the sum is not of %d rows", rows)
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestPastPostgres(t *testing.T) {
	t.Parallel()
	url, _ := testkit.Postgres(t)
	dir := t.TempDir()
	overlay, err := withoutSalts(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := formStore{"PostgreSQL", "postgres", "callers=%d", map[int]int{64: 1, 1: 1}, []string{"DAYBOOK_TEST_POSTGRES=" + url}}
	if err := s.measure(t.Context(), options{}, dir, overlay, &report{Writer: &out}, os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PostgreSQL, 64 callers", "PostgreSQL, 1 caller"} {
		hasRow(t, out.String(), name, `\d +\d+\.\d\d +0\.95 (not )?met$`)
	}
	out.Reset()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	store, drop := ownSchema(t.Context(), url)
	o := options{binary: binary, span: 20 * time.Millisecond, pastSize: 100, store: store}
	err = pastLists(t.Context(), [2]options{o}, dir, &report{Writer: &out}, os.Stderr)
	if err = errors.Join(err, drop()); err != nil {
		t.Fatal(err)
	}
	hasRow(t, out.String(), "the same list", ` (not )?met$`)
}

// The other side of form 2 has no salts, and nothing else is changed.
func TestWithoutSalts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := withoutSalts(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for i, f := range form1 {
		was, err := os.ReadFile(filepath.Join("../..", f.file))
		if err != nil {
			t.Fatal(err)
		}
		is, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)+".go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(was)-len(is) != len(f.now)-len(f.then) || strings.Contains(string(is), f.now) {
			t.Errorf("%s: %d bytes became %d", f.file, len(was), len(is))
		}
	}
}

// Pages of a log lie all over it, small or large, each with as many entries as it looks at.
func TestPlacesOfPages(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 10_000, million} {
		for _, room := range []int{pageOf, lookedAt} {
			for _, side := range []struct {
				name, before string
				at           func(n, i, room int) string
				from, to     int
			}{
				{"before", "before=", before, min(room, n) + 1, n + 1},
				{"behind", "order=asc&after=", behind, 0, max(0, n-room)},
			} {
				least, most, places := n+1, 0, map[int]bool{}
				for i := range 50_000 {
					at, err := strconv.Atoi(strings.TrimPrefix(side.at(n, i, room), side.before))
					if err != nil {
						t.Fatal(err)
					}
					places[at] = true
					least, most = min(least, at), max(most, at)
				}
				if least < side.from || most > side.to || len(places) < min(50_000, side.to-side.from) {
					t.Errorf("%s, %d entries, %d looked at: %d places from %d to %d, want those from %d to %d", side.name, n, room, len(places), least, most, side.from, side.to)
				}
			}
		}
	}
}
