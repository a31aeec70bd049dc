package past_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/query"
	"daybook/query/past"
)

// story writes a log of many kinds of entries: also such as are older than what is there,
// of users, and erasures.
type story struct {
	t     *testing.T
	g     *rand.Rand
	store eventstore.Store
	begin time.Time
	now   atomic.Int64 // milliseconds after begin

	records []*calendar.Record // as they are now, but erased ones
	last    calendar.ID
	counted [3]int // entries, older ones, erasures
}

func newStory(t *testing.T, seed uint64) *story {
	t.Helper()
	s := &story{t: t, g: rand.New(rand.NewPCG(seed, 54)), store: memstore.New(), begin: time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)}
	s.now.Store(1)
	return s
}

func (s *story) clock() time.Time { return s.begin.Add(time.Duration(s.now.Load()) * time.Millisecond) }

// service makes a Service whose images are made until the context ends.
func (s *story) service(ctx context.Context) *past.Service {
	p, err := past.New(s.store, nobodyViews{}, past.Options{Query: query.Options{Now: s.clock}, Wait: patience})
	if err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		_ = p.Run(ctx) // ends with the context
	}()
	s.t.Cleanup(func() { cancel(); <-done })
	return p
}

type nobodyViews struct{ past.Viewer } // lists make none

// write appends an entry, or erases a record.
func (s *story) write(older, erases bool) {
	s.t.Helper()
	at := s.clock()
	if older {
		at = s.begin.Add(time.Duration(s.g.Int64N(s.now.Load())) * time.Millisecond)
		s.counted[1]++
	}
	s.counted[0]++
	var before *calendar.Record
	kinds := []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindTag, calendar.KindUser}
	k := kinds[s.g.IntN(len(kinds))]
	var c calendar.Change
	i := 0
	if len(s.records) > 0 {
		i = s.g.IntN(len(s.records))
	}
	switch {
	case erases && len(s.records) > 0:
		s.erase(i, at)
		return
	case len(s.records) == 0 || s.g.IntN(3) == 0:
		s.last++
		c = calendar.Change{Name: k.String() + "." + calendar.Created, Kind: k, ID: s.last, Home: calendar.LangEN, Fields: calendar.Fields{}}
		switch {
		case k == calendar.KindUser:
			c.Fields["name"] = fmt.Sprint("user", s.last)
		case k.IsPost():
			c.Fields["status"], c.Fields["author"] = "publish", calendar.ID(7)
			fallthrough
		default:
			c.Fields[k.NameField()], c.Fields["slug"] = calendar.Text{calendar.LangEN: "Name"}, fmt.Sprint(k, s.last)
		}
	default:
		before = s.records[i]
		c = calendar.Change{Name: before.Kind.String() + "." + calendar.Updated, Kind: before.Kind, ID: before.ID, Fields: calendar.Fields{}}
		switch {
		case before.Kind == calendar.KindUser:
			c.Fields["role"] = fmt.Sprint(s.counted[0])
		case before.Kind.IsPost() && s.g.IntN(2) == 0:
			c.Fields["status"] = []string{"publish", "draft", "private", "trash"}[s.g.IntN(4)]
		case before.Kind.IsTerm() && s.g.IntN(4) == 0:
			c.Name = before.Kind.String() + "." + calendar.Deleted
		default:
			c.Fields[before.Kind.NameField()] = calendar.Text{calendar.LangEN: fmt.Sprint("Name ", s.counted[0])}
		}
	}
	d, after, err := eventstore.NewDraft(before, c, at)
	if err != nil {
		s.t.Fatal(err)
	}
	if res := s.store.Append(s.t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: at}})[0]; res.Err != nil {
		s.t.Fatal(res.Err)
	}
	switch {
	case before == nil:
		s.records = append(s.records, after)
	case after.Deleted:
		s.records = slices.Delete(s.records, i, i+1)
	default:
		s.records[i] = after
	}
}

func (s *story) erase(i int, at time.Time) {
	s.t.Helper()
	r := s.records[i]
	c, err := calendar.Erase(r)
	if err != nil {
		s.t.Fatal(err)
	}
	d, _, err := eventstore.NewDraft(r, c, at)
	if err != nil {
		s.t.Fatal(err)
	}
	if res := s.store.Append(s.t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{d}, Redact: []calendar.ID{r.ID}, Time: at}})[0]; res.Err != nil {
		s.t.Fatal(res.Err)
	}
	s.records = slices.Delete(s.records, i, i+1)
	s.counted[2]++
}

// second is the last millisecond of the second of a moment, as a date without a fraction
// is read.
func second(t time.Time) time.Time {
	return t.Truncate(time.Second).Add(time.Second - time.Millisecond)
}

// contents gives what a list at a point is answered from.
func contents(ctx context.Context, p *past.Service, at eventstore.Point) (*past.Contents, error) {
	for {
		l, err := p.List(ctx, calendar.Caller{Role: calendar.Auditor}, netip.Addr{}, past.Then{Point: at, Moment: at.Time}, "")
		if err != nil {
			return nil, err
		}
		c, err := l.Contents(ctx)
		if !errors.Is(err, past.ErrMoved) {
			return c, err
		}
	}
}

// TestAdvancedIsFilled: an image that was advanced from another one is the one that the log
// gives, whatever was written between: older entries, erasures, what is withdrawn now.
func TestAdvancedIsFilled(t *testing.T) {
	t.Parallel()
	var all past.Stats
	for seed := range uint64(2) {
		s := newStory(t, seed)
		p := s.service(t.Context())
		for step := range 90 {
			for range s.g.IntN(4) {
				s.now.Add(s.g.Int64N(800))
				s.write(s.g.IntN(6) == 0, s.g.IntN(30) == 0)
				if s.g.IntN(4) == 0 {
					p.Tend(t.Context())
				}
			}
			head, err := s.store.Head(t.Context(), eventstore.Point{})
			if err != nil || head.Position == 0 {
				continue
			}
			at := eventstore.Point{Time: second(s.clock())}
			switch s.g.IntN(4) {
			case 0:
				at.Time = s.begin.Add(time.Duration(s.g.Int64N(s.now.Load())) * time.Millisecond)
			case 1:
				at = eventstore.Point{Position: 1 + calendar.Position(s.g.Int64N(int64(head.Position)))}
			}
			got, err := contents(t.Context(), p, at)
			if err != nil {
				t.Fatal(err)
			}
			fresh, end := context.WithCancel(t.Context())
			want, err := contents(fresh, s.service(fresh), at)
			end()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, step %d, %+v (-from the log +kept):\n%s", seed, step, at, diff)
			}
		}
		is := p.Stats()
		all.Filled, all.Advanced = all.Filled+is.Filled, all.Advanced+is.Advanced
		if s.counted[1] < 10 || s.counted[2] < 1 {
			t.Errorf("seed %d: %d entries, %d older ones, %d erasures", seed, s.counted[0], s.counted[1], s.counted[2])
		}
	}
	if all.Advanced < all.Filled || all.Filled < 10 {
		t.Errorf("%d images filled from the log, %d advanced: want some of both", all.Filled, all.Advanced)
	}
}

// TestAdvancedAlong: while others write, an image goes along with the moments that are asked
// for: each answer has what counts at its moment, up to what was there when it was asked
// for, and few images are filled from the log.
func TestAdvancedAlong(t *testing.T) {
	t.Parallel()
	s := newStory(t, 9)
	p := s.service(t.Context())
	for range 50 {
		s.write(false, false)
	}
	type answer struct {
		at    time.Time
		least calendar.Position
		*past.Contents
	}
	var mu sync.Mutex
	var answers []answer
	var answered atomic.Int64
	var ended atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !ended.Load() {
				least, err := s.store.Head(t.Context(), eventstore.Point{})
				if err != nil {
					t.Error(err)
					return
				}
				at := second(s.clock())
				c, err := contents(t.Context(), p, eventstore.Point{Time: at})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				answers = append(answers, answer{at, least.Position, c})
				mu.Unlock()
				answered.Add(1)
			}
		})
	}
	for range 60 {
		s.now.Add(s.g.Int64N(80))
		s.write(s.g.IntN(10) == 0, false)
		before := answered.Load()
		eventually(t, "an answer that was asked for behind each entry", func() bool { return answered.Load() > before+3 || t.Failed() })
	}
	ended.Store(true)
	readers.Wait()
	log, err := s.store.Read(t.Context(), eventstore.Range{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		want, first := map[calendar.ID]int64{}, calendar.Position(0) // the last that counted before it was asked for
		for _, e := range log {
			if e.Time.After(a.at) {
				continue
			}
			if e.Position <= a.least {
				first = e.Position
			}
			if e.Position <= a.Position && e.Kind != calendar.KindUser {
				want[e.ID] = e.Version
				if e.Change == e.Kind.String()+"."+calendar.Deleted {
					delete(want, e.ID)
				}
			}
		}
		if a.Position < first || !maps.Equal(a.Versions, want) {
			t.Fatalf("at %s, asked for behind %d: an image up to %d of %d records, want one from %d on of %d", a.at, a.least, a.Position, len(a.Versions), first, len(want))
		}
	}
	if is := p.Stats(); is.Filled > is.Advanced/4 || is.Advanced < 30 {
		t.Errorf("%d answers: %+v", len(answers), is)
	}
}
