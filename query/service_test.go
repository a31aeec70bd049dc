package query

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func TestGeneration(t *testing.T) {
	t.Parallel()
	s, _, index, now := setup(t, world(t))
	generation := func() Generation {
		t.Helper()
		g, err := s.Generation(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	due := int64(wall(t, "2030-04-30")) // event 107
	first := generation()
	if want := (Generation{Shown: readmodel.Shown{Mark: calendar.Mark{Position: 1}}, Due: due}); first != want {
		t.Fatalf("got %+v, want %+v", first, want)
	}
	index.calls("Search")
	*now = now.Add(time.Hour)
	if g := generation(); g != first || index.calls("Search") != 0 {
		t.Errorf("nothing changed, got %+v", g)
	}
	if _, err := index.Write(t.Context(), readmodel.Batch{Healed: ids(100)}); err != nil {
		t.Fatal(err)
	}
	if g := generation(); g == first || g.Position != first.Position {
		t.Errorf("another content at the same position, got %+v", g)
	}
	index.put()
	if g := generation(); g.Position != 2 || g.Due != due {
		t.Errorf("after a change: %+v", g)
	}
	*now = at(t, "2030-05-31 23:59:59", time.UTC)
	if g := generation(); g.Due != due {
		t.Errorf("a second before event 108 is due: %+v", g)
	}
	*now = at(t, "2030-06-01", time.UTC)
	if g := generation(); g.Due != int64(wall(t, "2030-06-01")) {
		t.Errorf("once event 108 is due: %+v", g)
	}
}

// TestSharedWork: lists of one generation share counts and the records that events link to.
func TestSharedWork(t *testing.T) {
	t.Parallel()
	s, _, index, _ := setup(t, world(t))
	run := func(k calendar.Kind, sent string) [3]int {
		t.Helper()
		if _, _, err := list(t, s, k, anonymous, input(sent)); err != nil {
			t.Fatal(err)
		}
		return [...]int{index.calls("Search"), index.calls("Counts"), index.calls("Get")}
	}
	for _, k := range []calendar.Kind{calendar.KindEvent, calendar.KindTag, calendar.KindCategory} {
		run(k, "")
		if got := run(k, "per_page=3"); got != [...]int{1, 0, 0} {
			t.Errorf("another list of %s costs %d searches, counts and multi-gets", k, got)
		}
	}
	if got := run(calendar.KindTag, "orderby=count"); got != [...]int{0, 1, 1} { // those that fit are found by counting
		t.Errorf("a list by count costs %d searches, counts and multi-gets", got)
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	notReached := func(err error) bool {
		e, ok := asError(err)
		return ok && e.Code == calendar.CodePositionNotReached
	}
	for _, tt := range []struct {
		name    string
		who     calendar.Caller
		least   calendar.Position
		head    calendar.Position
		moves   int // the read model moves once a second
		waits   time.Duration
		fails   bool
		reached calendar.Position
	}{
		{name: "anonymous lists never wait", who: anonymous, head: 9},
		{name: "reached already", who: anonymous, least: 1, head: 9, reached: 1},
		{name: "reached later", who: anonymous, least: 3, head: 9, moves: 4, waits: 2 * time.Second, reached: 3},
		{name: "above the store", who: anonymous, least: 10, head: 9, moves: 1, fails: true},
		{name: "never reached", who: anonymous, least: 3, head: 3, moves: 1, waits: 5 * time.Second, fails: true},
		{name: "credentials wait for the head", who: subscriber, head: 3, moves: 4, waits: 2 * time.Second, reached: 3},
		{name: "and go on without it", who: editor, head: 3, moves: 1, waits: 5 * time.Second},
		{name: "head reached already", who: editor, head: 1, reached: 1},
		{name: "a position and the head", who: editor, least: 2, head: 4, moves: 4, waits: 3 * time.Second, reached: 4},
		{name: "a position, and no head in time", who: editor, least: 2, head: 9, moves: 4, waits: 5 * time.Second, reached: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, store, index, _ := setup(t, nil)
				store.head = tt.head
				done := make(chan struct{})
				go func() {
					defer close(done)
					for range tt.moves {
						<-time.After(time.Second)
						index.put()
					}
				}()
				from := time.Now()
				reached, err := s.Await(t.Context(), tt.who, tt.least)
				if waited := time.Since(from); waited != tt.waits {
					t.Errorf("waited %s, want %s", waited, tt.waits)
				}
				if notReached(err) != tt.fails || !tt.fails && err != nil {
					t.Errorf("got %v", err)
				}
				if shown, _ := index.Visible(t.Context()); reached != tt.reached || shown.Position < reached {
					t.Errorf("reached %d, want %d, and lists show %d", reached, tt.reached, shown.Position)
				}
				<-done
			})
		})
	}
}

// TestAwaitCounts: answers to writes that show counts wait a moment, others not.
func TestAwaitCounts(t *testing.T) {
	t.Parallel()
	with := func(k calendar.Kind, version int64, fields calendar.Fields) *calendar.Record {
		return &calendar.Record{ID: 900, Kind: k, Version: version, Fields: fields}
	}
	tagged := calendar.Fields{"tags": []calendar.ID{45}}
	for _, tt := range []struct {
		name   string
		record *calendar.Record
		at     calendar.Position
		moves  bool // the read model moves after a millisecond
		waits  time.Duration
		remote bool // the read model is in another process
	}{
		{name: "event with terms and an index elsewhere", record: with(calendar.KindEvent, 1, tagged), at: 2, moves: true, remote: true},
		{name: "event with terms", record: with(calendar.KindEvent, 1, tagged), at: 2, moves: true, waits: time.Millisecond},
		{name: "read model behind", record: with(calendar.KindEvent, 1, tagged), at: 2, waits: countWait},
		{name: "event without terms", record: with(calendar.KindEvent, 1, nil), at: 2},
		{name: "term", record: with(calendar.KindTag, 2, nil), at: 2, moves: true, waits: time.Millisecond},
		{name: "venue", record: with(calendar.KindVenue, 2, nil), at: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _, index, _ := setup(t, nil)
				done := make(chan struct{})
				go func() {
					defer close(done)
					<-time.After(time.Millisecond)
					if tt.moves {
						index.put()
					}
				}()
				s.o.LocalIndex = !tt.remote
				from := time.Now()
				s.AwaitCounts(t.Context(), tt.record, tt.at)
				if waited := time.Since(from); waited != tt.waits {
					t.Errorf("waited %s, want %s", waited, tt.waits)
				}
				<-done
			})
		})
	}
}

func TestAwaitEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	s, store, index, _ := setup(t, nil)
	store.head = 9
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Await(ctx, anonymous, 9); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	index.fail(errors.New("index is down"))
	if _, err := s.Await(t.Context(), anonymous, 9); err == nil {
		t.Error("an error of the read model is hidden")
	}
	index.fail(nil)
	store.err = errors.New("store is down")
	if _, err := s.Await(t.Context(), editor, 0); !errors.Is(err, store.err) {
		t.Errorf("got %v", err)
	}
}

// hanging is an index whose counts never come.
type hanging struct{ *fakeIndex }

func (x hanging) View(ctx context.Context) (readmodel.View, error) {
	v, err := x.fakeIndex.View(ctx)
	return hangingView{v}, err
}

type hangingView struct{ readmodel.View }

func (hangingView) Search(ctx context.Context, _ readmodel.Query) (readmodel.Page, error) {
	<-ctx.Done()
	return readmodel.Page{}, ctx.Err()
}

// TestViewBesideAHangingReadModel: single records are read also while the read
// model of another process does not answer.
func TestViewBesideAHangingReadModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tag := &calendar.Record{ID: 900, Kind: calendar.KindTag, Version: 1, Fields: calendar.Fields{"name": calendar.Text{}}}
		s, _, index, _ := setup(t, []*calendar.Record{tag})
		s.index = hanging{index}
		from := time.Now()
		if v, err := s.View(t.Context(), anonymous, tag, calendar.LangEN, EmbedAll, Moment{}); err != nil || v.Record != tag {
			t.Errorf("got %v, %v", v.Record, err)
		}
		if waited := time.Since(from); waited != countsLimit {
			t.Errorf("waited %s, want %s", waited, countsLimit)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.View(ended, anonymous, tag, calendar.LangEN, EmbedAll, Moment{}); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended request: %v", err)
		}
	})
}
