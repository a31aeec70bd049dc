package memindex_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

func openAt(t *testing.T, path string, logs io.Writer) *memindex.Index {
	t.Helper()
	x, err := memindex.Open(t.Context(), path, memindex.Options{Logger: slog.New(slog.NewTextHandler(logs, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// state is what an index holds; what it builds of that compares TestStartIsTheSame.
type state struct {
	Marks       readmodel.Marks
	Shown       readmodel.Shown
	Quarantined []readmodel.Quarantined
}

func stateOf(t *testing.T, x *memindex.Index) (s state) {
	t.Helper()
	var errs [3]error
	s.Marks, errs[0] = x.Marks(t.Context())
	s.Shown, errs[1] = x.Visible(t.Context())
	s.Quarantined, errs[2] = x.Quarantined(t.Context())
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return s
}

func fill(t *testing.T, x *memindex.Index, n int) *readmodeltest.Corpus {
	t.Helper()
	c := readmodeltest.NewCorpus(n, 7)
	err := c.Fill(func(b readmodel.Batch) error {
		_, err := x.Write(t.Context(), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// change writes a tombstone, a quarantined record and newer states after a fill.
func change(t *testing.T, x *memindex.Index, c *readmodeltest.Corpus) {
	t.Helper()
	b := readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 77, Position: 5, Reason: "no such kind"}}}
	for i := range 20 {
		b.Documents = append(b.Documents, c.Event(3*i))
	}
	p := b.Documents[19].Position
	for i := range 5 {
		p++
		b.Documents = append(b.Documents, readmodel.Document{Position: p, Record: &calendar.Record{
			ID: readmodeltest.CorpusTag + calendar.ID(i), Kind: calendar.KindTag, Version: 2, Deleted: true,
		}})
	}
	b.Mark = readmodeltest.At(p)
	if _, err := x.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	path := filepath.Join(t.TempDir(), "index")
	var logs bytes.Buffer
	x := openAt(t, path, &logs)
	c := fill(t, x, 700)
	change(t, x, c)
	want := stateOf(t, x)
	for range 2 { // the second time from a snapshot of a snapshot
		if err := x.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		x = openAt(t, path, &logs)
		if diff := cmp.Diff(want, stateOf(t, x)); diff != "" {
			t.Fatalf("after a start from the snapshot (-want +got):\n%s", diff)
		}
		// A tombstone holds: an older state must not come back.
		old := readmodel.Document{Position: 1, Record: &calendar.Record{
			ID: readmodeltest.CorpusTag, Kind: calendar.KindTag, Version: 1, Fields: calendar.Fields{"name": calendar.Text{"a", "a", "a", "a"}},
		}, Body: []byte("{}")}
		if _, err := x.Write(t.Context(), readmodel.Batch{Documents: []readmodel.Document{old}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, stateOf(t, x)); diff != "" {
			t.Fatalf("after an older state (-want +got):\n%s", diff)
		}
	}
	if logs.Len() > 0 {
		t.Errorf("warnings: %s", &logs)
	}
	left, err := filepath.Glob(path + "*.tmp")
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestSnapshotDamaged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "index")
	x := openAt(t, path, io.Discard)
	fill(t, x, 50)
	if err := x.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		b := bytes.Clone(whole)
		b[at] ^= 0x10
		return b
	}
	parts, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	largest := slices.MaxFunc(parts.File, func(a, b *zip.File) int { return int(a.CompressedSize64) - int(b.CompressedSize64) })
	at, err := largest.DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty":             {},
		"short":             whole[:10],
		"cut":               whole[:len(whole)/2],
		"last byte missing": whole[:len(whole)-1],
		"first byte":        flipped(0),
		"another form":      append([]byte("daybook index 5\n"), whole[16:]...),
		"part":              flipped(int(at) + int(largest.CompressedSize64)/2),
		"checksum":          flipped(len(whole) - 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			var logs bytes.Buffer
			x := openAt(t, path, &logs)
			if p, err := x.Marks(t.Context()); err != nil || p != (readmodel.Marks{}) {
				t.Errorf("marks %v, %v; want none", p, err)
			}
			if shown, err := x.Visible(t.Context()); err != nil || shown != (readmodel.Shown{}) {
				t.Errorf("shows %+v, %v; want nothing", shown, err)
			}
			if !strings.Contains(logs.String(), "snapshot not used") {
				t.Errorf("log %q, want a warning", &logs)
			}
			// It is a working index, and its snapshot replaces the damaged one.
			fill(t, x, 50)
			if err := x.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
			if shown, err := openAt(t, path, &logs).Visible(t.Context()); err != nil || shown.Content == 0 {
				t.Errorf("after a new snapshot it shows %+v, %v", shown, err)
			}
		})
	}
}

// TestSnapshotOfAnotherHistory: a snapshot is used on the history that it was made
// from, longer or not, and on no other one, whichever of its parts is the newest. It is
// marked with what it holds, whatever the store has when it is written.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	t.Parallel()
	const newest = 20
	// history is one that is at head, of which what comes after split is its own.
	type history func(p calendar.Position) calendar.Mark // the zero Mark above the head
	historyOf := func(own byte, split, head calendar.Position) history {
		return func(p calendar.Position) calendar.Mark {
			m := readmodeltest.At(p)
			switch {
			case p > head:
				return calendar.Mark{}
			case p > split:
				m.Hash[0] ^= own
			}
			return m
		}
	}
	old, now := historyOf(1, 99, 99), historyOf(2, 0, 99)
	venue := func(p calendar.Position, deleted bool) readmodel.Batch {
		return readmodel.Batch{Reach: old(p), Documents: []readmodel.Document{{Position: p, Record: &calendar.Record{
			ID: 7, Kind: calendar.KindVenue, Version: 1, Deleted: deleted, Fields: calendar.Fields{"venue": calendar.Text{"a", "a", "a", "a"}},
		}, Body: []byte("{}")}}}
	}
	batches := map[string]readmodel.Batch{
		"position":    {Mark: old(newest)},
		"document":    venue(newest, false),
		"tombstone":   venue(newest, true),
		"quarantined": {Reach: old(newest), Quarantined: []readmodel.Quarantined{{ID: 7, Position: newest}}},
	}
	for name, b := range batches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "index")
			var present atomic.Pointer[history]
			open := func(h history) (*memindex.Index, readmodel.Marks) {
				t.Helper()
				present.Store(&h)
				x, err := memindex.Open(t.Context(), path, memindex.Options{
					Logger: slog.New(slog.DiscardHandler),
					Holds: func(_ context.Context, m calendar.Mark) (bool, error) {
						return (*present.Load())(m.Position) == m, nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				at, err := x.Marks(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return x, at
			}
			x, _ := open(old)
			for _, b := range []readmodel.Batch{{Mark: old(5)}, b} {
				if _, err := x.Write(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			want, err := x.Marks(t.Context())
			if err != nil || want.Reach != old(newest) {
				t.Fatalf("marks %v, %v", want, err)
			}
			present.Store(&now) // the store has gone over to another history already
			if err := x.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				name    string
				history history
				want    readmodel.Marks
			}{
				{"the same", historyOf(1, 99, newest), want},
				{"the same, gone on", old, want},
				{"split behind it", historyOf(2, newest, 99), want},
				{"put back", historyOf(1, 99, newest-1), readmodel.Marks{}},
				{"put back and gone on", historyOf(2, 10, 99), readmodel.Marks{}},
				{"split just before", historyOf(2, newest-1, newest), readmodel.Marks{}},
				{"empty", historyOf(2, 0, 0), readmodel.Marks{}},
				{"the one when it was written", now, readmodel.Marks{}},
			} {
				if _, got := open(c.history); got != c.want {
					t.Errorf("%s: marks %v, want %v", c.name, got, c.want)
				}
			}
			gone := errors.New("gone")
			fails := func(context.Context, calendar.Mark) (bool, error) { return false, gone }
			if _, err := memindex.Open(t.Context(), path, memindex.Options{Holds: fails}); !errors.Is(err, gone) {
				t.Errorf("got %v, want the error of the history", err)
			}
		})
	}
}
