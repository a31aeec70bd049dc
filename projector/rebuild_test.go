package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
)

// A rebuilt index is the projected one.
func TestRebuildEqualsProjection(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		world := newWorld()
		for range rapid.IntRange(0, 80).Draw(t, "entries") {
			if world.last == 0 || rapid.Bool().Draw(t, "new") {
				world.create(t, rapid.SampledFrom([]calendar.Kind{calendar.KindEvent, calendar.KindTag, calendar.KindUser, calendar.KindImage}).Draw(t, "kind"), "new")
				continue
			}
			id := calendar.ID(rapid.Int64Range(1, int64(world.last)).Draw(t, "id"))
			what := calendar.Updated
			if world.kinds[id].IsTerm() && rapid.Bool().Draw(t, "delete") {
				what = calendar.Deleted
			}
			world.change(t, id, what, fmt.Sprint("v", world.head(t)))
		}
		projected, rebuilt := newIndex(t), newIndex(t)
		runToEnd(t, world, projected, nil)
		var done, total int
		if err := projector.Fill(context.Background(), world.store, rebuilt, func(d, n int) {
			if d < done || d > n {
				t.Fatalf("progress %d of %d after %d", d, n, done)
			}
			done, total = d, n
		}); err != nil {
			t.Fatal(err)
		}
		if done != int(world.last) || total != done {
			t.Fatalf("progress ends at %d of %d, want %d records", done, total, world.last)
		}
		if diff := cmp.Diff(digest(t, projected), digest(t, rebuilt)); diff != "" {
			t.Fatalf("digest (-projected +rebuilt):\n%s", diff)
		}
		if marks, err := rebuilt.Marks(context.Background()); err != nil || marks.All != world.mark(t) {
			t.Fatalf("marks are %v, %v, want %s", marks, err, world.mark(t))
		}
		// The feed goes over the same entries again and changes nothing.
		runToEnd(t, world, rewound{rebuilt, 0}, nil)
		if diff := cmp.Diff(digest(t, projected), digest(t, rebuilt)); diff != "" {
			t.Fatalf("projected over (-projected +rebuilt):\n%s", diff)
		}
		if quarantined(t, rebuilt) != "" {
			t.Fatalf("quarantined are %s, want none", quarantined(t, rebuilt))
		}
	})
}

// Changes go on while an index is rebuilt and compared.
func TestRebuildBesideWriters(t *testing.T) {
	t.Parallel()
	world := newWorld()
	for i := range 1500 {
		world.create(t, calendar.KindTag, fmt.Sprint(i))
	}
	n := 0
	store := busy{world.store, func() {
		for range 20 {
			n++
			what := calendar.Updated
			if n%5 == 0 {
				what = calendar.Deleted
			}
			world.change(t, calendar.ID(1+n*17%1500), what, fmt.Sprint("v", n))
		}
	}}
	index := newIndex(t)
	must(t, projector.Fill(t.Context(), store, index, nil))
	for range 3 {
		before, err := index.Marks(t.Context())
		must(t, err)
		if before.All.Position >= world.head(t) {
			t.Fatalf("index is at %d and the store at %d: nothing changed meanwhile", before.All.Position, world.head(t))
		}
		must(t, projector.CatchUp(t.Context(), store, index))
		must(t, compare(t.Context(), store, index))
	}
}

// busy is a store that changes whenever it is read.
type busy struct {
	eventstore.Store
	change func()
}

func (busy busy) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	busy.change()
	return busy.Store.Records(ctx, kind, after, limit)
}

func (busy busy) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	defer busy.change()
	return busy.Store.Read(ctx, r)
}

// A record that cannot be read is quarantined by a rebuild too.
func TestRebuildQuarantines(t *testing.T) {
	t.Parallel()
	world := newWorld()
	unreadable := world.create(t, calendar.KindEvent, "one")
	world.change(t, unreadable, calendar.Updated, broken)
	refused := world.create(t, calendar.KindEvent, "refused")
	world.create(t, calendar.KindEvent, "good")
	index := refusing(newIndex(t), always)
	must(t, projector.Fill(t.Context(), world.store, index, nil))
	if got, want := quarantined(t, index), fmt.Sprintf("%d@2 %d@3 ", unreadable, refused); got != want {
		t.Errorf("quarantined are %s, want %s", got, want)
	}
	if got := len(digest(t, index)); got != 1 {
		t.Errorf("got %d events, want 1", got)
	}
	if err := compare(t.Context(), world.store, index); err != nil {
		t.Errorf("compare leaves quarantined records out: %v", err)
	}
}

// A rebuild that fails does not leave a position behind.
func TestRebuildFails(t *testing.T) {
	t.Parallel()
	world := newWorld()
	for range 2500 {
		world.create(t, calendar.KindTag, "x")
	}
	inner := newIndex(t)
	var writes atomic.Int64
	index := wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
		if writes.Add(1) == 2 {
			return nil, errInjected
		}
		return inner.Write(ctx, batch)
	}}
	if err := projector.Fill(t.Context(), world.store, index, nil); !errors.Is(err, errInjected) {
		t.Errorf("index fails: got %v, want its error", err)
	}
	if marks, err := inner.Marks(t.Context()); err != nil || marks.All.Position != 0 {
		t.Errorf("position is %d, %v, want 0", marks, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := projector.Fill(ctx, world.store, inner, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
	must(t, world.store.Close())
	if err := projector.Fill(t.Context(), world.store, inner, nil); !errors.Is(err, eventstore.ErrClosed) {
		t.Errorf("closed store: got %v, want ErrClosed", err)
	}
}

// Compare sees each way in which an index can be wrong.
func TestCompareSees(t *testing.T) {
	t.Parallel()
	type maker = func(id calendar.ID, name string) readmodel.Document
	cases := map[string]struct {
		damage func(batch *readmodel.Batch, document maker)
		want   string
	}{
		"nothing": {func(*readmodel.Batch, maker) {}, ""},
		"missing": {func(batch *readmodel.Batch, _ maker) { batch.Documents = batch.Documents[1:] }, "events: 3 in the store, 2 in the read model"},
		"too many": {func(batch *readmodel.Batch, document maker) {
			batch.Documents = append(batch.Documents, document(77, "extra"))
		}, "events: 3 in the store, 4 in the read model"},
		"stale":   {func(batch *readmodel.Batch, document maker) { batch.Documents[0] = document(1, "old") }, "the contents are not"},
		"altered": {func(batch *readmodel.Batch, document maker) { batch.Documents[1] = document(2, "alter") }, "the contents are not"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				world := newWorld()
				for i := range 3 {
					world.create(t, calendar.KindEvent, fmt.Sprint(i))
				}
				world.change(t, 1, calendar.Updated, "newer")
				inner := newIndex(t)
				index := wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
					n := len(batch.Documents)
					if n > 0 {
						c.damage(&batch, func(id calendar.ID, name string) readmodel.Document { return doc(t, id, name) })
					}
					_, err := inner.Write(ctx, batch)
					return make([]error, n), err
				}}
				must(t, projector.Fill(t.Context(), world.store, index, nil))
				world.create(t, calendar.KindEvent, "later") // the store goes on meanwhile
				world.change(t, 3, calendar.Updated, "later")
				err := compare(t.Context(), world.store, index)
				switch {
				case c.want == "" && err != nil:
					t.Errorf("got %v, want no difference", err)
				case c.want != "" && (!errors.Is(err, projector.ErrDiffers) || !strings.Contains(err.Error(), c.want)):
					t.Errorf("got %v, want ErrDiffers with %q", err, c.want)
				}
			})
		})
	}
}

func doc(t *testing.T, id calendar.ID, name string) readmodel.Document {
	t.Helper()
	record := &calendar.Record{ID: id, Kind: calendar.KindEvent, Version: 1, Home: calendar.LangEN, Fields: fields(calendar.KindEvent, name)}
	return readmodel.Document{Position: 1, Record: record, Body: encode(t, record)}
}
