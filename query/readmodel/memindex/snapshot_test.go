package memindex_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

func openAt(t *testing.T, path string, logs io.Writer) *memindex.Index {
	t.Helper()
	index, err := memindex.Open(t.Context(), path, memindex.Options{Logger: slog.New(slog.NewTextHandler(logs, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// state is what an index holds.
type state struct {
	Marks       readmodel.Marks
	Shown       readmodel.VisibleState
	Quarantined []readmodel.Quarantined
}

func stateOf(t *testing.T, index *memindex.Index) (state state) {
	t.Helper()
	var errs [3]error
	state.Marks, errs[0] = index.Marks(t.Context())
	state.Shown, errs[1] = index.Visible(t.Context())
	state.Quarantined, errs[2] = index.Quarantined(t.Context())
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return state
}

// numbered returns an id of a kind.
func numbered(kind calendar.Kind, i int) calendar.ID { return calendar.ID(10_000*int(kind) + i) }

// fill writes some records of each kind, and events up to n.
func fill(t *testing.T, index *memindex.Index, n int) {
	t.Helper()
	dice, position := rand.New(rand.NewPCG(7, 1)), calendar.Position(0)
	for _, kind := range calendar.Kinds {
		var batch readmodel.Batch
		for i := range n {
			if kind == calendar.KindEvent || i < 30 {
				position++
				batch.Documents = append(batch.Documents, readmodeltest.Random(dice, kind, numbered(kind, i), position))
			}
		}
		batch.Mark = readmodeltest.At(position)
		if _, err := index.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

// change writes newer states, tombstones and a quarantined record after a fill.
func change(t *testing.T, index *memindex.Index) {
	t.Helper()
	dice, position := rand.New(rand.NewPCG(8, 1)), calendar.Position(1<<20)
	batch := readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 77, Position: 5, Reason: "no such kind"}}}
	for i := range 20 {
		position++
		batch.Documents = append(batch.Documents, readmodeltest.Random(dice, calendar.KindEvent, numbered(calendar.KindEvent, 3*i), position))
	}
	for i := range 5 {
		position++
		batch.Documents = append(batch.Documents, readmodel.Document{Position: position, Record: &calendar.Record{
			ID: numbered(calendar.KindTag, i), Kind: calendar.KindTag, Version: 2, Deleted: true,
		}, Body: []byte("{}")})
	}
	batch.Mark = readmodeltest.At(position)
	if _, err := index.Write(t.Context(), batch); err != nil {
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
	index := openAt(t, path, &logs)
	fill(t, index, 700)
	change(t, index)
	want := stateOf(t, index)
	for range 2 { // the second time from a snapshot of a snapshot
		if err := index.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		index = openAt(t, path, &logs)
		if diff := cmp.Diff(want, stateOf(t, index)); diff != "" {
			t.Fatalf("after a start from the snapshot (-want +got):\n%s", diff)
		}
		// A tombstone holds: an older state must not come back.
		old := readmodel.Document{Position: 1, Record: &calendar.Record{
			ID: numbered(calendar.KindTag, 0), Kind: calendar.KindTag, Version: 1, Fields: calendar.Fields{"name": calendar.Text{"a", "a", "a", "a"}},
		}, Body: []byte("{}")}
		if _, err := index.Write(t.Context(), readmodel.Batch{Documents: []readmodel.Document{old}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, stateOf(t, index)); diff != "" {
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
	index := openAt(t, path, io.Discard)
	fill(t, index, 50)
	if err := index.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		data := bytes.Clone(whole)
		data[at] ^= 0x10
		return data
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
		path := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var logs bytes.Buffer
		index := openAt(t, path, &logs)
		if got := stateOf(t, index); got.Marks != (readmodel.Marks{}) || got.Shown != (readmodel.VisibleState{}) || !strings.Contains(logs.String(), "snapshot not used") {
			t.Errorf("%s: %+v, want nothing; log %q", name, got, &logs)
		}
		// It is a working index, and its snapshot replaces the damaged one.
		fill(t, index, 50)
		if err := index.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(t, openAt(t, path, &logs)); got.Shown.Content == 0 {
			t.Errorf("%s: after a new snapshot it shows %+v", name, got)
		}
	}
}

// TestSnapshotOfAnotherHistory: a snapshot is used when the store holds the newest mark of what
// is in it, whichever of its parts that is, and whatever the store has when it is written.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	t.Parallel()
	newest := readmodeltest.At(20)
	venue := func(deleted bool) []readmodel.Document {
		return []readmodel.Document{{Position: newest.Position, Record: &calendar.Record{
			ID: 7, Kind: calendar.KindVenue, Version: 1, Deleted: deleted, Fields: calendar.Fields{"venue": calendar.Text{"a", "a", "a", "a"}},
		}, Body: []byte("{}")}}
	}
	for name, batch := range map[string]readmodel.Batch{
		"position":    {Mark: newest},
		"document":    {Reach: newest, Documents: venue(false)},
		"tombstone":   {Reach: newest, Documents: venue(true)},
		"quarantined": {Reach: newest, Quarantined: []readmodel.Quarantined{{ID: 7, Position: newest.Position}}},
	} {
		path := filepath.Join(t.TempDir(), "index")
		open := func(holds bool, failing error) (*memindex.Index, error) {
			return memindex.Open(t.Context(), path, memindex.Options{
				Logger: slog.New(slog.DiscardHandler),
				Holds:  func(_ context.Context, mark calendar.Mark) (bool, error) { return holds && mark == newest, failing },
			})
		}
		index, err := open(false, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, batch := range []readmodel.Batch{{Mark: readmodeltest.At(5)}, batch} {
			if _, err := index.Write(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		want := stateOf(t, index).Marks
		if err := index.Snapshot(t.Context()); err != nil || want.Reach != newest {
			t.Fatalf("%s: %v, %v", name, want, err)
		}
		for holds, want := range map[bool]readmodel.Marks{true: want, false: {}} {
			index, err := open(holds, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := stateOf(t, index).Marks; got != want {
				t.Errorf("%s, held %t: marks %v, want %v", name, holds, got, want)
			}
		}
		gone := errors.New("gone")
		if _, err := open(true, gone); !errors.Is(err, gone) {
			t.Errorf("got %v, want the error of the history", err)
		}
	}
}
