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
	"daybook/internal/param"
	"daybook/query/past"
)

// patience is how long a test waits for what comes by itself.
const patience = time.Minute

// watched is a store whose log can be held back, and whose epoch changes when a test says
// so. Reading a whole log begins with Read after 0.
type watched struct {
	eventstore.Store
	hold    sync.RWMutex // held: nothing is built
	epochs  atomic.Uint64
	heads   atomic.Int64 // times that Head was asked for
	reading atomic.Int32
}

func (watched *watched) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if r.Record == 0 && r.After == 0 && r.Limit > 1 { // the present is read from the head on
		watched.reading.Add(1)
		defer watched.reading.Add(-1)
		watched.hold.RLock()
		defer watched.hold.RUnlock()
	}
	return watched.Store.Read(ctx, r)
}

func (watched *watched) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	watched.heads.Add(1)
	head, err := watched.Store.Head(ctx, point)
	head.Epoch = watched.Epoch()
	return head, err
}

func (watched *watched) Epoch() eventstore.Epoch {
	epoch := watched.Store.Epoch()
	epoch.History += watched.epochs.Load()
	return epoch
}

// points are those of a log of four venues.
type points struct {
	*past.Service
	t     *testing.T
	store *watched
}

func setup(t *testing.T, options past.Options) *points {
	t.Helper()
	story := newStory(t, 0)
	watched := &watched{Store: story.store}
	story.store = watched
	for id := range calendar.ID(4) {
		story.now.Add(1000)
		story.append(nil, calendar.Change{Name: "venue." + calendar.Created, Kind: calendar.KindVenue, ID: id + 1, Home: calendar.LangEN, Fields: calendar.Fields{
			"status": "publish", "author": calendar.ID(7), "venue": calendar.Text{calendar.LangEN: "Name"}, "slug": fmt.Sprint("venue", id),
		}}, story.clock())
	}
	return &points{story.service(options), t, watched}
}

// list asks for lists up to venue n, from 1.
func (points *points) list(ctx context.Context, n int) error {
	then, err := points.Resolve(ctx, param.Point{Position: calendar.Position(n)})
	if err == nil {
		_, _, err = points.List(ctx, calendar.Caller{Role: calendar.Auditor}, netip.Addr{}, then, false)
	}
	return err
}

// want asks for lists up to venue n, and reports whether they were built for that.
func (points *points) want(n int, builds bool) {
	points.t.Helper()
	before := points.Stats().Built
	if err := points.list(points.t.Context(), n); err != nil {
		points.t.Fatal(err)
	}
	if built := points.Stats().Built - before; built > 1 || built == 1 != builds {
		points.t.Errorf("up to venue %d: %d points were built, want one: %t", n, built, builds)
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

// TestPointsCached: the points that were asked for last are cached, by number and by
// memory (HISTORY 19).
func TestPointsCached(t *testing.T) {
	t.Parallel()
	t.Run("number", func(t *testing.T) {
		t.Parallel()
		points := setup(t, past.Options{Points: 2})
		points.want(1, true)
		points.want(2, true)
		points.want(1, false)
		points.want(3, true) // 2 goes
		points.want(1, false)
		points.want(3, false)
		points.want(2, true) // 1 goes
		points.want(3, false)
		points.want(1, true)
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		points := setup(t, past.Options{})
		points.want(1, true)
		venue := points.Stats().Bytes
		points = setup(t, past.Options{Memory: 13 * venue / 2}) // some six venues
		points.want(1, true)
		points.want(2, true)
		points.want(3, true)
		points.want(1, false)
		if stats := points.Stats(); stats.Points != 3 {
			t.Errorf("%d points, want 3", stats.Points)
		}
		points.want(4, true) // 2 and 3 go
		if stats := points.Stats(); stats.Points != 2 || stats.Bytes < 5*venue || stats.Bytes > 6*venue {
			t.Errorf("%d points with %d bytes, want 2 with five venues of %d", stats.Points, stats.Bytes, venue)
		}
		points.want(1, false)
		points.want(3, true)
	})
}

// TestPointsIdle: points go when no one asked for one for a while (HISTORY 19).
func TestPointsIdle(t *testing.T) {
	t.Parallel()
	points := setup(t, past.Options{Idle: 200 * time.Millisecond})
	points.want(1, true)
	eventually(t, "no point", func() bool { return points.Stats().Points == 0 })
	points.want(1, true)
}

// TestPointsBuiltOnce: equal requests wait for one building (HISTORY 19).
func TestPointsBuiltOnce(t *testing.T) {
	t.Parallel()
	points := setup(t, past.Options{})
	points.store.hold.Lock()
	heads := points.store.heads.Load()
	const each = 10
	var group sync.WaitGroup
	for i := range 3 * each {
		group.Go(func() {
			if err := points.list(t.Context(), 1+i%3); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all requests", func() bool { return points.store.reading.Load() > 0 && points.store.heads.Load() >= heads+3*each })
	points.store.hold.Unlock()
	group.Wait()
	if built := points.Stats().Built; built != 3 {
		t.Errorf("%d points were built for %d requests, want 3", built, 3*each)
	}
}

// TestPointsLeft: a point that nobody waits for any more is not made of what was decoded by
// then.
func TestPointsLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	if err := setup(t, past.Options{}).ReadLeft(ctx, 4, leave); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// TestPointsEpoch: what was read in another epoch of the store is read again, and goes
// when that is said.
func TestPointsEpoch(t *testing.T) {
	t.Parallel()
	points := setup(t, past.Options{})
	points.want(1, true)
	points.want(1, false)
	points.store.epochs.Add(1)
	points.Forget()
	points.want(1, true)
	points.want(1, false)
	// One that changes while a point is built leaves nothing behind.
	points.store.epochs.Add(1)
	points.Forget()
	points.store.hold.Lock()
	asked := make(chan error, 1)
	go func() { asked <- points.list(t.Context(), 2) }()
	eventually(t, "a building", func() bool { return points.store.reading.Load() > 0 })
	points.store.epochs.Add(1)
	points.store.hold.Unlock()
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	points.want(2, false)
	if n := points.Stats().Points; n != 1 {
		t.Errorf("%d points are cached, want that of the new epoch", n)
	}
}
