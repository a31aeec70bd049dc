package readmodeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func stateCases() []testCase {
	return []testCase{
		{"content", content},
		{"stamp", stamp},
		{"wait", wait},
		{"wait ends with the context", waitEnds},
		{"views of one state", viewsOfOneState},
		{"walks of a view", walksOfAView},
		{"tallies of the state of the page", talliesOfOneState},
	}
}

// The content is another one when a record was healed, and only then while nothing is
// written.
func content(p *pair) {
	shown := func() readmodel.Shown {
		p.Helper()
		s, err := p.index.Visible(p.Context())
		if err != nil {
			p.Fatal(err)
		}
		return s
	}
	p.add(calendar.KindEvent, 1, calendar.Fields{})
	p.last++
	p.write()
	p.apply(readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 1, Position: 2, Reason: "x"}}})
	before := shown()
	if again := shown(); again != before {
		p.Errorf("shows %v, and again %v", before, again)
	}
	p.last = 1
	p.add(calendar.KindEvent, 1, calendar.Fields{"title": in(calendar.LangEN, "healed")})
	p.apply(readmodel.Batch{Documents: p.documents, Reach: At(2)})
	p.apply(readmodel.Batch{Healed: []calendar.ID{1}})
	if after := shown(); after.Mark != before.Mark || after.Content == before.Content {
		p.Errorf("shows %v before and %v after a record was healed", before, after)
	}
	p.find(calendar.KindEvent, nil)
}

// The stamp of a kind changes with its documents alone.
func stamp(p *pair) {
	of := func() (s uint64) {
		p.Helper()
		wantErr(p, "stamp", readmodel.Read(p.Context(), p.index, func(view readmodel.View) (err error) {
			s, err = view.Stamp(p.Context(), calendar.KindVenue)
			return err
		}), nil)
		return s
	}
	changes := func(what string, want bool, write func()) {
		p.Helper()
		before := of()
		write()
		p.write()
		if got := of() != before; got != want {
			p.Errorf("%s: the stamp changes: %v, want %v", what, got, want)
		}
	}
	gone := *p.add(calendar.KindVenue, 1, calendar.Fields{})
	gone.Deleted = true
	p.write()
	changes("another kind", false, func() { p.add(calendar.KindEvent, 2, calendar.Fields{"venue": []calendar.ID{1}}) })
	changes("a new one", true, func() { p.add(calendar.KindVenue, 3, calendar.Fields{}) })
	changes("a change", true, func() { p.add(calendar.KindVenue, 3, calendar.Fields{"city": "Rome"}) })
	changes("a delete of another one", true, func() { p.addRecord(&gone) })
}

func wait(p *pair) {
	ctx, cancel := context.WithTimeout(p.Context(), 30*time.Second)
	defer cancel()
	found := make(chan error, 3)
	for range cap(found) {
		go func() {
			err := p.index.Wait(ctx, 2)
			found <- errors.Join(err, readmodel.Read(ctx, p.index, func(view readmodel.View) error {
				page, err := view.Search(ctx, readmodel.Query{Kind: calendar.KindEvent})
				if at := view.Shown().Position; err == nil && (page.Total != 2 || at != 2) {
					err = fmt.Errorf("%d events at position %d", page.Total, at)
				}
				return err
			}))
		}()
	}
	for id := range calendar.ID(2) {
		p.add(calendar.KindEvent, 1+id, calendar.Fields{})
		p.write()
	}
	for range cap(found) {
		wantErr(p, "wait for position 2", <-found, nil)
	}
}

func waitEnds(p *pair) {
	ctx, cancel := context.WithCancel(p.Context())
	done := make(chan error, 1)
	go func() { done <- p.index.Wait(ctx, 5) }()
	p.apply(readmodel.Batch{Mark: At(4)})
	select {
	case err := <-done:
		p.Fatalf("wait for position 5 ended at 4: %v", err)
	default:
	}
	cancel()
	wantErr(p, "wait", <-done, context.Canceled)
}

var errStop = errors.New("stop")

// A view shows one state from its first read on, whichever that is, whatever is written
// between its reads.
func viewsOfOneState(p *pair) {
	n := calendar.ID(0)
	write := func() {
		n++
		p.add(calendar.KindEvent, 2*n, calendar.Fields{"venue": []calendar.ID{1 << 20}})
		p.add(calendar.KindVenue, 2*n+1, calendar.Fields{})
		p.write()
	}
	write()
	query := readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 100}
	reads := []func(view readmodel.View) (int, error){
		func(view readmodel.View) (int, error) {
			page, err := view.Search(p.Context(), query)
			return max(page.Total, len(page.Documents)), err
		},
		func(view readmodel.View) (int, error) {
			found, err := walkAll(p.Context(), view, query)
			return max(found.Total, len(found.Documents)), err
		},
		func(view readmodel.View) (int, error) {
			page, err := view.Search(p.Context(), readmodel.Query{Kind: calendar.KindVenue})
			return page.Total, err
		},
		func(view readmodel.View) (int, error) {
			found, err := view.Get(p.Context(), []calendar.ID{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28})
			return len(found), err
		},
		func(view readmodel.View) (int, error) {
			counts, err := readmodel.Counts(p.Context(), view, query.Kind, readmodel.FieldVenue, nil)
			return counts[1<<20], err
		},
	}
	for first := range reads {
		wantErr(p, "reads", readmodel.Read(p.Context(), p.index, func(view readmodel.View) error {
			var seen []int
			for i := range len(reads) + 1 {
				if i == 1 || i == 2 {
					write()
				}
				got, err := reads[(first+i)%len(reads)](view)
				if err != nil {
					return err
				}
				seen = append(seen, got)
			}
			if position := int(view.Shown().Position) / 2; position != seen[0] || len(slices.Compact(seen)) > 1 {
				p.Errorf("a view of position %d shows several states: %v", position, seen)
			}
			return nil
		}), nil)
	}
}

// A walk of a view goes on while others write, and ends with the first error.
func walksOfAView(p *pair) {
	write := func(status string) {
		for id := range calendar.ID(3*readmodel.WalkStep + 7) {
			p.add(calendar.KindEvent, 1+id, calendar.Fields{"status": status, "start_date": calendar.Wall(-id / 3)})
		}
		p.write()
	}
	write("publish")
	query := readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}, Sort: byID}
	walked := 0
	wantErr(p, "walk", readmodel.Read(p.Context(), p.index, func(view readmodel.View) error {
		return view.Walk(p.Context(), query, func(some []readmodel.Document) error {
			if walked == 0 {
				write("draft")
			}
			walked += len(some)
			return nil
		})
	}), nil)
	if walked != 3*readmodel.WalkStep+7 {
		p.Errorf("a walk over %d documents", walked)
	}
	used := 0
	query.Filter = nil
	wantErr(p, "walk that is stopped", readmodel.Read(p.Context(), p.index, func(view readmodel.View) error {
		return view.Walk(p.Context(), query, func([]readmodel.Document) error {
			used++
			return errStop
		})
	}), errStop)
	if used != 1 {
		p.Errorf("a walk went on %d times after an error", used-1)
	}
}

// The tallies are of the state of the page, while others write.
func talliesOfOneState(p *pair) {
	query := readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 1, Tallies: []readmodel.Tally{{
		Field: readmodel.FieldVenue, Parts: []readmodel.Filter{readmodel.And{}, readmodel.In{Field: readmodel.FieldVenue, IDs: []calendar.ID{10, 12}}},
	}}}
	written, failed := make(chan struct{}), make(chan error, 1)
	read := func() error {
		for i, last := 0, false; !last; i++ {
			select {
			case <-written:
				last = true
			default:
			}
			query.Offset = i % 2 * 100_000 // where an engine may have to ask twice
			var page readmodel.Page
			err := readmodel.Read(p.Context(), p.index, func(view readmodel.View) (err error) {
				page, err = view.Search(p.Context(), query)
				return err
			})
			if err != nil {
				return err
			}
			if got := page.Tallied[0]; got.Values[10] != page.Total || got.Parts[0] != page.Total || got.Parts[1] != page.Total {
				return fmt.Errorf("tallies of a page of %d: %+v", page.Total, got)
			}
		}
		return nil
	}
	go func() { failed <- read() }()
	for id := range calendar.ID(15) {
		p.add(calendar.KindEvent, 1+id, calendar.Fields{"venue": []calendar.ID{10, 12}})
		p.write()
	}
	close(written)
	wantErr(p, "read", <-failed, nil)
}
