package projector_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/projector"
	"daybook/query/readmodel"
)

// history draws a random history: all kinds, hot records, deleted terms, states
// that cannot be read and documents that are refused. A refused record stays
// one: the entries of a batch are written together, so what follows a refused one is written
// or waits, by where the batch ends.
func history(t *rapid.T, world *world, n int) {
	refused := map[calendar.ID]bool{}
	for i := range n {
		known := world.last > 0
		if !known || rapid.IntRange(0, 2).Draw(t, "new") == 0 {
			kind := rapid.SampledFrom([]calendar.Kind{
				calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer,
				calendar.KindCategory, calendar.KindTag, calendar.KindImage, calendar.KindUser,
			}).Draw(t, "kind")
			world.create(t, kind, fmt.Sprintf("name %d", i))
			continue
		}
		id := calendar.ID(rapid.Int64Range(1, int64(world.last)).Draw(t, "id"))
		name, what := fmt.Sprintf("name %d", i), calendar.Updated
		switch rapid.IntRange(0, 19).Draw(t, "what") {
		case 0:
			name = broken
		case 1:
			refused[id] = true
		case 2, 3:
			if world.kinds[id].IsTerm() {
				what = calendar.Deleted
			}
		}
		if refused[id] && name != broken {
			name = fmt.Sprintf("refused %d", i)
		}
		world.change(t, id, what, name)
	}
}

// However the entries are cut into batches, however often they are projected
// again and wherever the projector is restarted: the index is the same.
func TestIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		world := newWorld()
		history(t, world, rapid.IntRange(1, 40).Draw(t, "entries"))
		size := func(int) int { return rapid.IntRange(1, 12).Draw(t, "batch") }

		// The reference: one entry at a time.
		one := refusing(newIndex(t), always)
		runToEnd(t, world, one, func(int) int { return 1 })
		check := func(what string, got readmodel.Index) {
			if diff := cmp.Diff(digest(t, one), digest(t, got)); diff != "" {
				t.Fatalf("%s: digest (-one by one +got):\n%s", what, diff)
			}
			if a, b := quarantined(t, one), quarantined(t, got); a != b {
				t.Fatalf("%s: quarantined are %s, want %s", what, b, a)
			}
			if err := compare(context.Background(), world.store, got); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		all := refusing(newIndex(t), always)
		runToEnd(t, world, all, nil)
		check("at once", all)

		cut := refusing(newIndex(t), always)
		runToEnd(t, world, cut, size)
		check("random batches", cut)
		again := calendar.Position(rapid.Uint64Range(0, uint64(world.head(t))).Draw(t, "again from"))
		runToEnd(t, world, rewound{cut, again}, size)
		check("projected again", cut)

		// Restarts: writes fail before or after they took effect, and each failure
		// is the end of one projector.
		crashed := newIndex(t)
		for done := false; !done; {
			ctx, cancel := context.WithCancel(context.Background())
			left := rapid.IntRange(0, 6).Draw(t, "writes before the crash")
			after := rapid.Bool().Draw(t, "after the write")
			inner := refusing(crashed, always)
			index := wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
				if left--; left >= 0 {
					return inner.Write(ctx, batch)
				}
				if after {
					_, _ = inner.Write(ctx, batch)
				}
				cancel()
				return nil, errInjected
			}}
			projector := newProjector(t, index, from{world.store, size, func() { done = true; cancel() }})
			if err := projector.Run(ctx); err != nil {
				t.Fatalf("run: %v", err)
			}
			cancel()
			if after { // else a crash before the first write would repeat for ever
				continue
			}
			runSome(t, world, crashed, size)
		}
		check("restarted", crashed)
	})
}

// runSome projects one batch.
func runSome(t *rapid.T, world *world, index readmodel.Index, size func(int) int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	index = refusing(index, always)
	stopping := wrapped{index, func(c context.Context, batch readmodel.Batch) ([]error, error) {
		errs, err := index.Write(c, batch)
		if batch.Mark.Position > 0 {
			cancel()
		}
		return errs, err
	}}
	if err := newProjector(t, stopping, from{world.store, size, cancel}).Run(ctx); err != nil {
		t.Fatalf("run: %v", err)
	}
}

// aheadOf tells which document is missing when an index stands at its position.
func aheadOf(ctx context.Context, world *world, index readmodel.Index, position calendar.Position) error {
	entries, err := world.store.Read(ctx, eventstore.Range{Limit: int(position)})
	if err != nil {
		return err
	}
	for _, entry := range entries {
		held, err := readmodel.Get(ctx, index, entry.ID)
		if err != nil {
			return err
		}
		if held[0] == nil || held[0].Version < entry.Version {
			return fmt.Errorf("position is %d, but entry %d of record %d is not there", position, entry.Position, entry.ID)
		}
	}
	return nil
}

// TestFullBatches projects a long way, and the position is never ahead of the documents.
func TestFullBatches(t *testing.T) {
	t.Parallel()
	world := newWorld()
	for i := range 200 {
		world.create(t, calendar.KindEvent, fmt.Sprint(i))
	}
	for _, n := range []int{1, 7, 40, 200} {
		inner := newIndex(t)
		var writes atomic.Int64
		checked := wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
			if writes.Add(1)%5 == 0 {
				return nil, readmodel.ErrUnavailable
			}
			if batch.Mark.Position > 0 {
				if err := aheadOf(ctx, world, inner, batch.Mark.Position); err != nil {
					t.Error(err)
				}
			}
			return inner.Write(ctx, batch)
		}}
		options := quick()
		options.Batch = n
		p := projector.New(checked, from{store: world.store}, options)
		stop := background(t, p)
		must(t, inner.Wait(t.Context(), world.head(t)))
		if err := stop(); err != nil {
			t.Errorf("batches of %d: %v", n, err)
		}
		whole := newIndex(t)
		runToEnd(t, world, whole, nil)
		if !maps.Equal(digest(t, inner), digest(t, whole)) {
			t.Errorf("batches of %d: another state than in one batch", n)
		}

		// A position that cannot be kept ends the run.
		lost := wrapped{newIndex(t), func(_ context.Context, batch readmodel.Batch) ([]error, error) {
			if batch.Mark.Position > 0 {
				return nil, readmodel.ErrMoved
			}
			return make([]error, len(batch.Documents)), nil
		}}
		if err := projector.New(lost, from{store: world.store}, options).Run(t.Context()); !errors.Is(err, readmodel.ErrMoved) {
			t.Errorf("batches of %d: got %v, want ErrMoved", n, err)
		}
	}
}

// A record that cannot be projected stops alone, waits, and is healed by Retry.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		bad string // name of the bad change
	}{
		"unreadable":              {bad: broken},
		"state of another record": {bad: misplaced},
		"refused":                 {bad: "refused"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			var lenient atomic.Bool
			world := newWorld()
			inner := newIndex(t)
			index := refusing(inner, func() bool { return !lenient.Load() })
			p := newProjector(t, index, from{store: world.store})
			background(t, p)

			bad := world.create(t, calendar.KindVenue, "first")
			world.change(t, bad, calendar.Updated, c.bad)
			stopped := world.head(t)
			other := world.create(t, calendar.KindVenue, "other")
			world.change(t, bad, calendar.Updated, c.bad)
			world.change(t, other, calendar.Updated, "other again")
			wait(t, index, world.head(t))

			if got, want := quarantined(t, index), fmt.Sprintf("%d@%d ", bad, stopped); got != want {
				t.Errorf("quarantined are %s, want %s", got, want)
			}
			held, err := readmodel.Get(ctx, index, bad, other)
			must(t, err)
			if got, _ := held[0].Name(calendar.LangEN); got != "first" {
				t.Errorf("stopped record shows %q, want what it was before", got)
			}
			if got, _ := held[1].Name(calendar.LangEN); got != "other again" {
				t.Errorf("other record shows %q, want the newest", got)
			}

			if err := projector.Retry(ctx, world.store, index, bad); !errors.Is(err, readmodel.ErrRefused) {
				t.Errorf("retry of a bad state: got %v, want ErrRefused", err)
			}
			if list, err := index.Quarantined(ctx); err != nil || len(list) != 1 || list[0].Reason == "" {
				t.Errorf("after a vain retry: got %v, %v, want one with a reason", list, err)
			}
			world.change(t, bad, calendar.Updated, "mended")
			wait(t, index, world.head(t))
			if p.Stats().Waiting < 1 || quarantined(t, index) == "" {
				t.Errorf("got %+v, want one quarantined: later entries wait", p.Stats())
			}
			if err := projector.Retry(ctx, world.store, index, bad); err != nil {
				t.Fatalf("retry: %v", err)
			}
			if got := quarantined(t, index); got != "" {
				t.Errorf("quarantined are %s, want none", got)
			}
			world.change(t, bad, calendar.Updated, "goes on")
			wait(t, index, world.head(t))
			held, err = readmodel.Get(ctx, index, bad)
			must(t, err)
			if got, _ := held[0].Name(calendar.LangEN); got != "goes on" {
				t.Errorf("healed record shows %q, want the newest", got)
			}
			if err := compare(ctx, world.store, index); err != nil {
				t.Error(err)
			}
			if err := projector.Retry(ctx, world.store, index, 999); !errors.Is(err, projector.ErrNotFound) {
				t.Errorf("retry of no record: got %v, want ErrNotFound", err)
			}
		})
	}
}

func wait(t *testing.T, index readmodel.Index, position calendar.Position) {
	t.Helper()
	if err := index.Wait(t.Context(), position); err != nil {
		t.Fatalf("wait for %d: %v", position, err)
	}
}

// A record is healed by another process while its changes go on.
func TestRetryBesideProjector(t *testing.T) {
	t.Parallel()
	for range 20 {
		world := newWorld()
		index := newIndex(t)
		bad := world.create(t, calendar.KindTag, "first")
		world.change(t, bad, calendar.Updated, broken)
		world.change(t, bad, calendar.Updated, "mended")
		runToEnd(t, world, index, nil)
		stop := background(t, newProjector(t, index, from{store: world.store, size: func(int) int { return 1 }}))
		healed := make(chan error, 1)
		go func() { healed <- projector.Retry(context.Background(), world.store, index, bad) }()
		for i := range 50 {
			world.change(t, bad, calendar.Updated, fmt.Sprint(i))
		}
		if err := <-healed; err != nil {
			t.Fatalf("retry: %v", err)
		}
		wait(t, index, world.head(t))
		must(t, stop())
		must(t, compare(t.Context(), world.store, index))
	}
}

// An entry is passed over just before the quarantine ends: Retry finds it.
func TestRetryLooksAgain(t *testing.T) {
	t.Parallel()
	world := newWorld()
	inner := newIndex(t)
	bad := world.create(t, calendar.KindTag, broken)
	runToEnd(t, world, inner, nil)
	background(t, newProjector(t, inner, from{store: world.store}))
	world.change(t, bad, calendar.Updated, "mended")
	once := sync.OnceFunc(func() {
		world.change(t, bad, calendar.Updated, "newest")
		wait(t, inner, world.head(t))
	})
	slow := wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
		if len(batch.Healed) > 0 {
			once()
		}
		return inner.Write(ctx, batch)
	}}
	must(t, projector.Retry(t.Context(), world.store, slow, bad))
	held, err := readmodel.Get(t.Context(), inner, bad)
	must(t, err)
	if got, _ := held[0].Name(calendar.LangEN); got != "newest" {
		t.Errorf("healed record shows %q, want the newest", got)
	}
}

// The index is down for a while: the same batch is written again and again.
func TestTransientFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		world := newWorld()
		for i := range 10 {
			world.create(t, calendar.KindEvent, fmt.Sprint(i))
		}
		inner := newIndex(t)
		var down atomic.Bool
		down.Store(true)
		first := readmodel.Batch{}
		index := wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
			if first.Documents == nil {
				first = batch
			}
			if down.Load() {
				if diff := cmp.Diff(len(first.Documents), len(batch.Documents)); diff != "" {
					t.Errorf("another batch than before (-want +got):\n%s", diff)
				}
				return nil, fmt.Errorf("bulk: %w", readmodel.ErrUnavailable)
			}
			return inner.Write(ctx, batch)
		}}
		p := projector.New(index, from{store: world.store}, projector.Options{})
		stop := background(t, p)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := index.Wait(ctx, 10); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("projected while the index is down: %v", err)
		}
		if stats := p.Stats(); stats.Retries < 10 || stats.Failure == "" || stats.Position != 0 {
			t.Errorf("got %+v, want retries and what fails", stats)
		}
		synctest.Wait()
		down.Store(false)
		wait(t, index, 10)
		synctest.Wait()
		if stats := p.Stats(); stats.Failure != "" || stats.Position != 10 || stats.Documents != 10 {
			t.Errorf("got %+v, want all is well", stats)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// What no waiting mends ends the projector.
func TestPermanentFailure(t *testing.T) {
	t.Parallel()
	gives := func(positions ...calendar.Position) projector.Source {
		entries := make([]eventstore.Entry, len(positions))
		for i, position := range positions {
			entries[i] = eventstore.Entry{Position: position, Kind: calendar.KindUser}
		}
		return sourceFunc(func() ([]eventstore.Entry, error) { return entries, nil })
	}
	fails := func(err error) projector.Source {
		return sourceFunc(func() ([]eventstore.Entry, error) { return nil, fmt.Errorf("read: %w", err) })
	}
	cases := map[string]struct {
		source projector.Source
		want   error
	}{
		"gap":          {gives(2), eventstore.ErrDamaged},
		"twice":        {gives(1, 1), eventstore.ErrDamaged},
		"store closed": {fails(eventstore.ErrClosed), eventstore.ErrClosed},
		"index ahead":  {fails(eventstore.ErrAhead), eventstore.ErrAhead},
		"other store":  {fails(eventstore.ErrHistory), eventstore.ErrHistory},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := newProjector(t, newIndex(t), c.source).Run(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

type sourceFunc func() ([]eventstore.Entry, error)

func (sourceFunc sourceFunc) Read(_ context.Context, after eventstore.Mark, _ int) ([]eventstore.Entry, eventstore.Mark, error) {
	entries, err := sourceFunc()
	if err != nil {
		return nil, after, err
	}
	return entries, eventstore.Mark{Position: entries[len(entries)-1].Position}, nil
}
