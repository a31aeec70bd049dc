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
func (fixture *fixture) randomLog(entries, group int) []*calendar.Record {
	fixture.Helper()
	start := fixture.now
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
		fixture.now = start.Add(time.Duration(dice.IntN(1000)+24*3600*dice.IntN(2)) * time.Second)
		drafts := make([]eventstore.Draft, 1+dice.IntN(group))
		for i := range drafts {
			slot := dice.IntN(len(records))
			record := records[slot]
			verb, fields := calendar.Updated, calendar.Fields{"description": calendar.Text{calendar.LangEN: fmt.Sprintf(`the "slug": %d`, i)}}
			switch chance := dice.IntN(8); {
			case record == nil || record.Deleted:
				record = fixture.record([]calendar.Kind{calendar.KindTag, calendar.KindVenue}[slot%2])
				records[slot] = record
				verb, fields = calendar.Created, namedFields(record.Kind, move(&calendar.Record{Kind: record.Kind}))
			case chance == 0:
				delete(held, eventstore.SlugClaim(record.Kind, record.Slug()))
				verb, fields = calendar.Deleted, calendar.Fields{}
			case chance < 5:
				fields = calendar.Fields{"slug": move(record)}
			}
			drafts[i] = fixture.draft(record, verb, fields)
			drafts[i].Secret = [][]byte{nil, nil, {}, {byte(i)}}[dice.IntN(4)]
		}
		head = fixture.write(drafts...)
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
func past(group int, check func(log *pastLog, point eventstore.Point)) func(t testing.TB, harness Harness) {
	return func(t testing.TB, harness Harness) {
		fixture := setup(t, harness)
		look := func() {
			log := &pastLog{fixture: fixture}
			log.slugs()
			for i := 0; i < len(fixture.log) && !fixture.Failed(); i += 1 + len(fixture.log)/12 {
				entry := &fixture.log[i]
				for _, point := range []eventstore.Point{
					{Position: entry.Position}, {Time: entry.Time}, {Time: entry.Time.Add(-time.Millisecond)}, {Time: entry.Time.Add(999 * time.Microsecond)},
				} {
					check(log, point)
				}
			}
			check(log, eventstore.Point{Position: calendar.Position(len(fixture.log))})
		}
		records := fixture.randomLog(20*group, group)
		fixture.reopen()
		look()
		for _, record := range records[:2] {
			fixture.must("Append", fixture.erase(fixture.erasing(fixture.draft(record, calendar.Erased, calendar.Fields{}))).Err)
		}
		fixture.readings()
		look()
	}
}

// slugs finds out which slugs were held when. Those of erased records never were.
func (pastLog *pastLog) slugs() {
	pastLog.Helper()
	pastLog.held, pastLog.took = make([]string, len(pastLog.log)), make([]calendar.Position, len(pastLog.log))
	last := map[calendar.ID]int{}
	for i := range pastLog.log {
		entry := &pastLog.log[i]
		if entry.Redacted != nil {
			continue
		}
		record, err := calendar.DecodeRecord(entry.State)
		pastLog.must("DecodeRecord", err)
		if !record.Deleted {
			pastLog.held[i] = record.Slug()
		}
		before, there := last[entry.ID]
		if pastLog.took[i] = entry.Position; there && pastLog.held[before] == pastLog.held[i] {
			pastLog.took[i] = pastLog.took[before]
		}
		last[entry.ID] = i
	}
}

// counting returns for each record the index of its last entry among those that count.
func (pastLog *pastLog) counting(point eventstore.Point) map[calendar.ID]int {
	last := map[calendar.ID]int{}
	for i := range pastLog.log {
		if point.Counts(&pastLog.log[i]) {
			last[pastLog.log[i].ID] = i
		}
	}
	return last
}

// recordsAt: of each record the entry with the greatest version among those that count.
func recordsAt(pastLog *pastLog, point eventstore.Point) {
	last := pastLog.counting(point)
	ids := []calendar.ID{1 << 40}
	want := make([]eventstore.Entry, 1)
	for i := range pastLog.log {
		if id := pastLog.log[i].ID; !slices.Contains(ids, id) {
			ids, want = append(ids, id), append(want, eventstore.Entry{})
			if index, counts := last[id]; counts {
				want[len(want)-1] = pastLog.log[index]
			}
		}
	}
	// Many in one call, some of them twice, and one alone.
	got, err := pastLog.store.At(pastLog.ctx, point, slices.Repeat(ids, 3)...)
	pastLog.must("At", err)
	pastLog.equal("records at a point", got, slices.Repeat(want, 3))
	got, err = pastLog.store.At(pastLog.ctx, point, ids[1])
	pastLog.must("At", err)
	pastLog.equal("one record at a point", got, want[1:2])
	if point.Position == calendar.Position(len(pastLog.log)) { // above the head all count
		got, err := pastLog.store.At(pastLog.ctx, eventstore.Point{Position: 1 << 40}, ids...)
		pastLog.must("At above the head", err)
		pastLog.equal("records above the head", got, want)
	}
}

// countedAt: the head is the greatest position and the greatest time of what counts.
func countedAt(pastLog *pastLog, point eventstore.Point) {
	var want eventstore.Head
	for i := range pastLog.log {
		if entry := &pastLog.log[i]; point.Counts(entry) {
			if want.Position = entry.Position; entry.Time.After(want.Time) {
				want.Time = entry.Time
			}
		}
	}
	got, err := pastLog.store.Head(pastLog.ctx, point)
	pastLog.must("Head", err)
	pastLog.equal("the position of what counts", got.Position, want.Position)
	pastLog.equal("the time of what counts", got.Time, want.Time)
	pastLog.must("CheckMark", eventstore.CheckMark(pastLog.ctx, pastLog.store, got.Mark))
	if point.Position == calendar.Position(len(pastLog.log)) {
		if _, err := pastLog.store.Head(pastLog.ctx, eventstore.Point{Position: point.Position + 1}); !errors.Is(err, eventstore.ErrAhead) {
			pastLog.Errorf("above the head: %v", err)
		}
	}
}

// slugsAt: the record that has a slug after what counts, of two the one that took it at
// the greater position; and all that ever took it, the one that took it last first.
func slugsAt(pastLog *pastLog, point eventstore.Point) {
	last := pastLog.counting(point)
	for count := len(last) % 3; count <= slugCount; count += 3 { // a third of them at each point; one was never held
		slug := fmt.Sprintf("slug-%d", count)
		for _, kind := range []calendar.Kind{calendar.KindTag, calendar.KindVenue} {
			var want calendar.ID
			var since calendar.Position
			for id, index := range last {
				if pastLog.log[index].Kind == kind && pastLog.held[index] == slug && pastLog.took[index] > since {
					want, since = id, pastLog.took[index]
				}
			}
			got, err := eventstore.SlugAt(pastLog.ctx, pastLog.store, kind, slug, point)
			pastLog.must("SlugAt", err)
			pastLog.equal(fmt.Sprintf("the %s with %s at %v", kind, slug, point), got, want)
			var takers []calendar.ID
			for i, entry := range slices.Backward(pastLog.log) {
				if entry.Kind == kind && pastLog.held[i] == slug && pastLog.took[i] == entry.Position && !slices.Contains(takers, entry.ID) {
					takers = append(takers, entry.ID)
				}
			}
			former, err := eventstore.Former(pastLog.ctx, pastLog.store, kind, slug)
			pastLog.must("Former", err)
			pastLog.equal(fmt.Sprintf("who had %s as a %s", slug, kind), former, takers)
		}
	}
}
