package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// randomLog writes a log of some records, each of which changes its slug now and then
// and takes one that another one had, with times that jump, as imports make them. It
// returns the records that were written last, six at most.
func (f *fixture) randomLog(entries, group int) []*calendar.Record {
	f.Helper()
	start := f.now
	dice := rand.New(rand.NewPCG(1, 2))
	records := make([]*calendar.Record, 6)
	held := map[calendar.Claim]bool{}
	move := func(r *calendar.Record) string { // to a slug that is free
		for {
			slug := fmt.Sprintf("slug-%d", dice.IntN(slugCount))
			if claim := eventstore.SlugClaim(r.Kind, slug); !held[claim] {
				delete(held, eventstore.SlugClaim(r.Kind, r.Slug()))
				held[claim] = true
				return slug
			}
		}
	}
	for head := calendar.Position(0); head < calendar.Position(entries); {
		f.now = start.Add(time.Duration(dice.IntN(1000)+24*3600*dice.IntN(2)) * time.Second)
		drafts := make([]eventstore.Draft, 1+dice.IntN(group))
		for i := range drafts {
			slot := dice.IntN(len(records))
			r := records[slot]
			verb, fields := calendar.Updated, calendar.Fields{"description": calendar.Text{calendar.LangEN: fmt.Sprintf(`the "slug": %d`, i)}}
			switch chance := dice.IntN(8); {
			case r == nil || r.Deleted:
				r = f.record([]calendar.Kind{calendar.KindTag, calendar.KindVenue}[slot%2])
				records[slot] = r
				verb, fields = calendar.Created, namedFields(r.Kind, move(&calendar.Record{Kind: r.Kind}))
			case chance == 0:
				delete(held, eventstore.SlugClaim(r.Kind, r.Slug()))
				verb, fields = calendar.Deleted, calendar.Fields{}
			case chance < 5:
				fields = calendar.Fields{"slug": move(r)}
			}
			drafts[i] = f.draft(r, verb, fields)
			drafts[i].Secret = [][]byte{nil, nil, {}, {byte(i)}}[dice.IntN(4)]
		}
		head = f.write(drafts...)
	}
	return slices.DeleteFunc(records, func(r *calendar.Record) bool { return r == nil || r.Deleted })
}

// slugCount is how many slugs the records of randomLog have among them.
const slugCount = 12

// pastLog is a log with what its entries say of slugs.
type pastLog struct {
	*fixture

	held []string            // slug of the record after each entry
	took []calendar.Position // of the entry with which it took that slug
}

// past is a case that holds what a store says of points of a random log to what its
// entries say, after a restart and after erasures in it.
func past(group int, check func(l *pastLog, p eventstore.Point)) func(t testing.TB, h Harness) {
	return func(t testing.TB, h Harness) {
		f := setup(t, h)
		look := func() {
			l := &pastLog{fixture: f}
			l.slugs()
			for i := 0; i < len(f.log) && !f.Failed(); i += 1 + len(f.log)/30 {
				e := &f.log[i]
				for _, p := range []eventstore.Point{
					{Position: e.Position}, {Time: e.Time}, {Time: e.Time.Add(-time.Millisecond)}, {Time: e.Time.Add(999 * time.Microsecond)},
				} {
					check(l, p)
				}
			}
			check(l, eventstore.Point{Position: calendar.Position(len(f.log))})
		}
		records := f.randomLog(20*group, group)
		f.reopen()
		look()
		for _, r := range records[:2] {
			f.must("Append", f.erase(f.erasing(f.draft(r, calendar.Erased, calendar.Fields{}))).Err)
		}
		f.readings()
		look()
	}
}

// slugs finds out which slugs were held when. Those of erased records never were.
func (l *pastLog) slugs() {
	l.Helper()
	l.held, l.took = make([]string, len(l.log)), make([]calendar.Position, len(l.log))
	last := map[calendar.ID]int{}
	for i := range l.log {
		e := &l.log[i]
		if e.Redacted != nil {
			continue
		}
		r, err := calendar.DecodeRecord(e.State)
		l.must("DecodeRecord", err)
		if !r.Deleted {
			l.held[i] = r.Slug()
		}
		before, there := last[e.ID]
		if l.took[i] = e.Position; there && l.held[before] == l.held[i] {
			l.took[i] = l.took[before]
		}
		last[e.ID] = i
	}
}

// counting returns for each record the index of its last entry among those that count.
func (l *pastLog) counting(p eventstore.Point) map[calendar.ID]int {
	last := map[calendar.ID]int{}
	for i := range l.log {
		if p.Counts(&l.log[i]) {
			last[l.log[i].ID] = i
		}
	}
	return last
}

// wrongPoint checks that no point, and two points, are refused.
func (l *pastLog) wrongPoint(ask func(p eventstore.Point) error) {
	l.Helper()
	for _, p := range []eventstore.Point{{}, {Position: 1, Time: l.now}} {
		if err := ask(p); !errors.Is(err, eventstore.ErrMalformed) {
			l.Errorf("at %v: %v, want ErrMalformed", p, err)
		}
	}
}

// recordsAt: of each record the entry with the greatest version among those that count.
func recordsAt(l *pastLog, p eventstore.Point) {
	last := l.counting(p)
	ids := []calendar.ID{1 << 40}
	want := make([]eventstore.Entry, 1)
	for i := range l.log {
		if id := l.log[i].ID; !slices.Contains(ids, id) {
			ids, want = append(ids, id), append(want, eventstore.Entry{})
			if at, counts := last[id]; counts {
				want[len(want)-1] = l.log[at]
			}
		}
	}
	// Many in one call, some of them twice, and one alone.
	got, err := l.store.At(l.ctx, p, slices.Repeat(ids, 3)...)
	l.must("At", err)
	l.equal("records at a point", got, slices.Repeat(want, 3))
	got, err = l.store.At(l.ctx, p, ids[1])
	l.must("At", err)
	l.equal("one record at a point", got, want[1:2])
	if p.Position == calendar.Position(len(l.log)) { // above the head all count
		got, err := l.store.At(l.ctx, eventstore.Point{Position: 1 << 40}, ids...)
		l.must("At above the head", err)
		l.equal("records above the head", got, want)
		l.wrongPoint(func(p eventstore.Point) error {
			_, err := l.store.At(l.ctx, p, ids...)
			return err
		})
	}
}

// countedAt: the head is the greatest position and the greatest time of what counts.
func countedAt(l *pastLog, p eventstore.Point) {
	var want eventstore.Head
	for i := range l.log {
		if e := &l.log[i]; p.Counts(e) {
			if want.Position = e.Position; e.Time.After(want.Time) {
				want.Time = e.Time
			}
		}
	}
	got, err := l.store.Head(l.ctx, p)
	l.must("Head", err)
	l.equal("the position of what counts", got.Position, want.Position)
	l.equal("the time of what counts", got.Time, want.Time)
	l.must("CheckMark", eventstore.CheckMark(l.ctx, l.store, got.Mark))
	if p.Position == calendar.Position(len(l.log)) {
		if _, err := l.store.Head(l.ctx, eventstore.Point{Position: p.Position + 1}); !errors.Is(err, eventstore.ErrAhead) {
			l.Errorf("above the head: %v", err)
		}
		if _, err := l.store.Head(l.ctx, eventstore.Point{Position: 1, Time: l.now}); !errors.Is(err, eventstore.ErrMalformed) {
			l.Errorf("at two points: %v", err)
		}
	}
}

// slugsAt: the record that has a slug after what counts, of two the one that took it at
// the greater position.
func slugsAt(l *pastLog, p eventstore.Point) {
	last := l.counting(p)
	for n := range slugCount {
		slug := fmt.Sprintf("slug-%d", n)
		for _, kind := range []calendar.Kind{calendar.KindTag, calendar.KindVenue} {
			var want calendar.ID
			var since calendar.Position
			for id, at := range last {
				if l.log[at].Kind == kind && l.held[at] == slug && l.took[at] > since {
					want, since = id, l.took[at]
				}
			}
			got, err := eventstore.SlugAt(l.ctx, l.store, kind, slug, p)
			l.must("SlugAt", err)
			l.equal(fmt.Sprintf("the %s with %s at %v", kind, slug, p), got, want)
		}
	}
}

// formerSlugs: who had a slug that no one has, the one that took it last first.
func formerSlugs(l *pastLog, p eventstore.Point) {
	if p.Position < calendar.Position(len(l.log)) {
		return
	}
	last := l.counting(p)
	for n := range slugCount + 1 { // one was never held
		slug := fmt.Sprintf("slug-%d", n)
		for _, kind := range []calendar.Kind{calendar.KindTag, calendar.KindVenue} {
			var want []calendar.ID
			held := false
			for i := len(l.log) - 1; i >= 0; i-- {
				e := &l.log[i]
				if e.Kind != kind || l.held[i] != slug {
					continue
				}
				held = held || last[e.ID] == i
				if l.took[i] == e.Position && !slices.Contains(want, e.ID) {
					want = append(want, e.ID)
				}
			}
			if held {
				want = nil
			}
			got, err := eventstore.Former(l.ctx, l.store, kind, slug)
			if err != nil || !slices.Equal(got, want) {
				l.Errorf("a %s had %s: %d, %v, want %d", kind, slug, got, err, want)
			}
		}
	}
}
