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
	move := func(record *calendar.Record) string { // to a slug that is free
		for {
			slug := fmt.Sprintf("slug-%d", dice.IntN(slugCount))
			if claim := eventstore.SlugClaim(record.Kind, slug); !held[claim] {
				delete(held, eventstore.SlugClaim(record.Kind, record.Slug()))
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
			record := records[slot]
			verb, fields := calendar.Updated, calendar.Fields{"description": calendar.Text{calendar.LangEN: fmt.Sprintf(`the "slug": %d`, i)}}
			switch chance := dice.IntN(8); {
			case record == nil || record.Deleted:
				record = f.record([]calendar.Kind{calendar.KindTag, calendar.KindVenue}[slot%2])
				records[slot] = record
				verb, fields = calendar.Created, namedFields(record.Kind, move(&calendar.Record{Kind: record.Kind}))
			case chance == 0:
				delete(held, eventstore.SlugClaim(record.Kind, record.Slug()))
				verb, fields = calendar.Deleted, calendar.Fields{}
			case chance < 5:
				fields = calendar.Fields{"slug": move(record)}
			}
			drafts[i] = f.draft(record, verb, fields)
			drafts[i].Secret = [][]byte{nil, nil, {}, {byte(i)}}[dice.IntN(4)]
		}
		head = f.write(drafts...)
	}
	return slices.DeleteFunc(records, func(record *calendar.Record) bool { return record == nil || record.Deleted })
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
func past(group int, check func(l *pastLog, point eventstore.Point)) func(t testing.TB, harness Harness) {
	return func(t testing.TB, harness Harness) {
		f := setup(t, harness)
		look := func() {
			l := &pastLog{fixture: f}
			l.slugs()
			for i := 0; i < len(f.log) && !f.Failed(); i += 1 + len(f.log)/12 {
				entry := &f.log[i]
				for _, point := range []eventstore.Point{
					{Position: entry.Position}, {Time: entry.Time}, {Time: entry.Time.Add(-time.Millisecond)}, {Time: entry.Time.Add(999 * time.Microsecond)},
				} {
					check(l, point)
				}
			}
			check(l, eventstore.Point{Position: calendar.Position(len(f.log))})
		}
		records := f.randomLog(20*group, group)
		f.reopen()
		look()
		for _, record := range records[:2] {
			f.must("Append", f.erase(f.erasing(f.draft(record, calendar.Erased, calendar.Fields{}))).Err)
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
		entry := &l.log[i]
		if entry.Redacted != nil {
			continue
		}
		record, err := calendar.DecodeRecord(entry.State)
		l.must("DecodeRecord", err)
		if !record.Deleted {
			l.held[i] = record.Slug()
		}
		before, there := last[entry.ID]
		if l.took[i] = entry.Position; there && l.held[before] == l.held[i] {
			l.took[i] = l.took[before]
		}
		last[entry.ID] = i
	}
}

// counting returns for each record the index of its last entry among those that count.
func (l *pastLog) counting(point eventstore.Point) map[calendar.ID]int {
	last := map[calendar.ID]int{}
	for i := range l.log {
		if point.Counts(&l.log[i]) {
			last[l.log[i].ID] = i
		}
	}
	return last
}

// wrongPoint checks that no point, and two points, are refused.
func (l *pastLog) wrongPoint(ask func(point eventstore.Point) error) {
	l.Helper()
	for _, point := range []eventstore.Point{{}, {Position: 1, Time: l.now}} {
		if err := ask(point); !errors.Is(err, eventstore.ErrMalformed) {
			l.Errorf("at %v: %v, want ErrMalformed", point, err)
		}
	}
}

// recordsAt: of each record the entry with the greatest version among those that count.
func recordsAt(l *pastLog, point eventstore.Point) {
	last := l.counting(point)
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
	got, err := l.store.At(l.ctx, point, slices.Repeat(ids, 3)...)
	l.must("At", err)
	l.equal("records at a point", got, slices.Repeat(want, 3))
	got, err = l.store.At(l.ctx, point, ids[1])
	l.must("At", err)
	l.equal("one record at a point", got, want[1:2])
	if point.Position == calendar.Position(len(l.log)) { // above the head all count
		got, err := l.store.At(l.ctx, eventstore.Point{Position: 1 << 40}, ids...)
		l.must("At above the head", err)
		l.equal("records above the head", got, want)
		l.wrongPoint(func(point eventstore.Point) error {
			_, err := l.store.At(l.ctx, point, ids...)
			return err
		})
	}
}

// countedAt: the head is the greatest position and the greatest time of what counts.
func countedAt(l *pastLog, point eventstore.Point) {
	var want eventstore.Head
	for i := range l.log {
		if entry := &l.log[i]; point.Counts(entry) {
			if want.Position = entry.Position; entry.Time.After(want.Time) {
				want.Time = entry.Time
			}
		}
	}
	got, err := l.store.Head(l.ctx, point)
	l.must("Head", err)
	l.equal("the position of what counts", got.Position, want.Position)
	l.equal("the time of what counts", got.Time, want.Time)
	l.must("CheckMark", eventstore.CheckMark(l.ctx, l.store, got.Mark))
	if point.Position == calendar.Position(len(l.log)) {
		if _, err := l.store.Head(l.ctx, eventstore.Point{Position: point.Position + 1}); !errors.Is(err, eventstore.ErrAhead) {
			l.Errorf("above the head: %v", err)
		}
		if _, err := l.store.Head(l.ctx, eventstore.Point{Position: 1, Time: l.now}); !errors.Is(err, eventstore.ErrMalformed) {
			l.Errorf("at two points: %v", err)
		}
	}
}

// slugsAt: the record that has a slug after what counts, of two the one that took it at
// the greater position.
func slugsAt(l *pastLog, point eventstore.Point) {
	last := l.counting(point)
	for n := len(last) % 3; n < slugCount; n += 3 { // a third of them at each point
		slug := fmt.Sprintf("slug-%d", n)
		for _, kind := range []calendar.Kind{calendar.KindTag, calendar.KindVenue} {
			var want calendar.ID
			var since calendar.Position
			for id, at := range last {
				if l.log[at].Kind == kind && l.held[at] == slug && l.took[at] > since {
					want, since = id, l.took[at]
				}
			}
			got, err := eventstore.SlugAt(l.ctx, l.store, kind, slug, point)
			l.must("SlugAt", err)
			l.equal(fmt.Sprintf("the %s with %s at %v", kind, slug, point), got, want)
		}
	}
}

// formerSlugs: who had a slug that no one has, the one that took it last first.
func formerSlugs(l *pastLog, point eventstore.Point) {
	if point.Position < calendar.Position(len(l.log)) {
		return
	}
	last := l.counting(point)
	for n := range slugCount + 1 { // one was never held
		slug := fmt.Sprintf("slug-%d", n)
		for _, kind := range []calendar.Kind{calendar.KindTag, calendar.KindVenue} {
			var want []calendar.ID
			held := false
			for i := len(l.log) - 1; i >= 0; i-- {
				entry := &l.log[i]
				if entry.Kind != kind || l.held[i] != slug {
					continue
				}
				held = held || last[entry.ID] == i
				if l.took[i] == entry.Position && !slices.Contains(want, entry.ID) {
					want = append(want, entry.ID)
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
