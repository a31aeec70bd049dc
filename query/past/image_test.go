package past_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/history"
	"daybook/internal/testkit/world"
	"daybook/query/past"
)

// patience is how long a test waits for what comes by itself.
const patience = time.Minute

// watched is a store whose fillings can be held back, and whose epoch changes when a test
// says so. Reading a whole log begins with Read after 0.
type watched struct {
	eventstore.Store
	hold     sync.RWMutex // held: no filling goes on
	epochs   atomic.Uint64
	heads    atomic.Int64 // times that Head was asked for
	reading  atomic.Int32
	together atomic.Int32 // most fillings at once
}

func (s *watched) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if r.Record == 0 && r.After == 0 && r.Limit > 1 { // the present is read from the head on
		if n := s.reading.Add(1); n > s.together.Load() {
			s.together.Store(n)
		}
		defer s.reading.Add(-1)
		s.hold.RLock()
		defer s.hold.RUnlock()
	}
	return s.Store.Read(ctx, r)
}

func (s *watched) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	s.heads.Add(1)
	return s.Store.Head(ctx, p)
}

func (s *watched) Epoch() eventstore.Epoch {
	e := s.Store.Epoch()
	e.History += s.epochs.Load()
	return e
}

// images is a World with four venues, at the positions from first on.
type images struct {
	*world.World
	t     *testing.T
	store *watched
	first calendar.Position
}

func setup(t *testing.T, o past.Options) *images {
	t.Helper()
	s := &watched{Store: memstore.New()}
	w := world.New(t, world.Options{Store: s, Past: o})
	admin := w.As(calendar.Administrator)
	first := w.Head() + 1
	for i := range 4 {
		w.Clock.Add(time.Second)
		admin.Create(calendar.KindVenue, world.Object{"venue": fmt.Sprintf("Venue %d", i)})
	}
	return &images{w, t, s, first}
}

// list asks for lists up to venue n, from 1; the clock goes on by a second.
func (w *images) list(n int) error {
	w.Clock.Add(time.Second)
	then, err := w.Past.Resolve(w.t.Context(), history.Point{Form: history.ByPosition, Position: w.first + calendar.Position(n-1)})
	if err == nil {
		_, err = w.Past.List(w.t.Context(), calendar.Caller{Role: calendar.Auditor}, netip.Addr{}, then, "")
	}
	return err
}

// How a list of the past comes to its image.
const (
	kept     = "kept"
	filled   = "filled from the log"
	advanced = "advanced from another one"
)

// want asks for lists up to venue n, and tells how their image was made.
func (w *images) want(n int, how string) {
	w.t.Helper()
	before := w.Past.Stats()
	if err := w.list(n); err != nil {
		w.t.Fatal(err)
	}
	after, got := w.Past.Stats(), kept
	switch {
	case after.Filled == before.Filled+1 && after.Advanced == before.Advanced:
		got = filled
	case after.Filled == before.Filled && after.Advanced == before.Advanced+1:
		got = advanced
	case after.Filled != before.Filled || after.Advanced != before.Advanced:
		got = fmt.Sprintf("%+v after %+v", after, before)
	}
	if got != how {
		w.t.Errorf("up to venue %d: %s, want %s", n, got, how)
	}
}

// eventually waits for something that comes by itself.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.After(patience); !is(); {
		select {
		case <-end:
			t.Fatalf("%s: not within %s", what, patience)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestImagesKept: the images that were asked for last are kept, by number and by records
// (HISTORY 19).
func TestImagesKept(t *testing.T) {
	t.Parallel()
	t.Run("number", func(t *testing.T) {
		t.Parallel()
		w := setup(t, past.Options{Images: 2})
		w.want(1, filled)
		w.want(2, advanced)
		w.want(1, kept)
		w.want(3, advanced) // 2 goes
		w.want(1, kept)
		w.want(3, kept)
		w.want(2, advanced) // 1 goes
		w.want(3, kept)
		w.want(1, filled)
	})
	t.Run("records", func(t *testing.T) {
		t.Parallel()
		w := setup(t, past.Options{Records: 6})
		w.want(1, filled)
		w.want(2, advanced)
		w.want(3, advanced)
		w.want(1, kept)
		if is := w.Past.Stats(); is.Images != 3 || is.Records != 6 {
			t.Errorf("%d images with %d records, want 3 with 6", is.Images, is.Records)
		}
		w.want(4, advanced) // 2 and 3 go
		if is := w.Past.Stats(); is.Images != 2 || is.Records != 5 {
			t.Errorf("%d images with %d records, want 2 with 5", is.Images, is.Records)
		}
		w.want(1, kept)
		w.want(3, advanced)
	})
}

// TestImagesIdle: an image goes when nobody asked for it in 5 minutes (HISTORY 19).
func TestImagesIdle(t *testing.T) {
	t.Parallel()
	w := setup(t, past.Options{})
	w.want(1, filled)
	w.want(2, advanced) // a second later
	w.Clock.Add(5*time.Minute - 2*time.Second)
	w.want(3, advanced) // so that what is idle is looked for; 1 goes
	eventually(t, "two images", func() bool { return w.Past.Stats().Images == 2 })
	w.want(2, kept)
	w.want(1, filled)
	w.Clock.Add(5 * time.Minute)
	eventually(t, "no image, without a request", func() bool { return w.Past.Stats().Images == 0 })
}

// TestImagesOneFilling: one image is filled at a time, and equal requests wait for one
// filling (HISTORY 19).
func TestImagesOneFilling(t *testing.T) {
	t.Parallel()
	w := setup(t, past.Options{Wait: patience})
	w.store.hold.Lock()
	heads := w.store.heads.Load()
	const each = 10
	var wg sync.WaitGroup
	for i := range 3 * each {
		wg.Go(func() {
			if err := w.list(1 + i%3); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "a filling, and all requests", func() bool {
		return w.store.reading.Load() > 0 && w.store.heads.Load() >= heads+3*each
	})
	w.store.hold.Unlock()
	wg.Wait()
	if made := w.Past.Stats(); made.Filled+made.Advanced != 3 || w.store.together.Load() != 1 {
		t.Errorf("%+v for %d requests, up to %d read from the log at once; want 3 that were made, 1 at once", made, 3*each, w.store.together.Load())
	}
}

// TestImagesNotReady: who waited too long is told so, and the work goes on for all of them
// (HISTORY 7.2), unless they asked long ago.
func TestImagesNotReady(t *testing.T) {
	t.Parallel()
	const wait = time.Second // as much as the clock goes on by with each list
	w := setup(t, past.Options{Wait: wait})
	notReady := func(n int) {
		t.Helper()
		if e, ok := errors.AsType[*calendar.Error](w.list(n)); !ok || e.Code != calendar.CodeAsOfNotReady {
			t.Fatalf("up to venue %d: %v, want %s", n, e, calendar.CodeAsOfNotReady)
		}
	}
	w.store.hold.Lock()
	notReady(1) // it is being filled
	notReady(2) // for the last time so long ago that it is let go of
	w.Clock.Add(wait)
	notReady(3)
	w.store.hold.Unlock()
	eventually(t, "two images", func() bool { return w.Past.Stats().Images == 2 })
	w.want(1, kept)
	w.want(3, kept)
}

// TestImagesEpoch: what was read in another epoch of the store is read anew.
func TestImagesEpoch(t *testing.T) {
	t.Parallel()
	w := setup(t, past.Options{})
	w.want(1, filled)
	w.want(1, kept)
	w.store.epochs.Add(1)
	w.want(1, filled)
	w.want(1, kept)
	// One that changes while an image is filled leaves nothing behind.
	w.store.epochs.Add(1)
	w.store.hold.Lock()
	asked := make(chan error, 1)
	go func() { asked <- w.list(2) }()
	eventually(t, "a filling", func() bool { return w.store.reading.Load() > 0 })
	w.store.epochs.Add(1)
	w.store.hold.Unlock()
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	w.want(2, kept)
	if n := w.Past.Stats().Images; n != 1 {
		t.Errorf("%d images are kept, want that of the new epoch", n)
	}
}
