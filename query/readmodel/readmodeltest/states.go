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

// The content is another one when a record was healed, and only then while nothing is
// written.
func content(pair *indexPair) {
	shown := func() readmodel.VisibleState {
		pair.Helper()
		visibleState, err := pair.index.Visible(pair.Context())
		if err != nil {
			pair.Fatal(err)
		}
		return visibleState
	}
	pair.add(calendar.KindEvent, 1, calendar.Fields{})
	pair.last++
	pair.write()
	pair.apply(readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 1, Position: 2, Reason: "x"}}})
	before := shown()
	if again := shown(); again != before {
		pair.Errorf("shows %v, and again %v", before, again)
	}
	pair.last = 1
	pair.add(calendar.KindEvent, 1, calendar.Fields{"title": in(calendar.LangEN, "healed")})
	pair.apply(readmodel.Batch{Documents: pair.documents, Reach: At(2)})
	pair.apply(readmodel.Batch{Healed: []calendar.ID{1}})
	if after := shown(); after.Mark != before.Mark || after.Content == before.Content {
		pair.Errorf("shows %v before and %v after a record was healed", before, after)
	}
	pair.find(calendar.KindEvent, nil)
}

// The stamp of a kind changes with its documents alone.
func stamp(pair *indexPair) {
	of := func() (s uint64) {
		pair.Helper()
		pair.read(nil, func(view readmodel.View) (err error) {
			s, err = view.Stamp(pair.Context(), calendar.KindVenue)
			return err
		})
		return s
	}
	changes := func(what string, want bool, write func()) {
		pair.Helper()
		before := of()
		write()
		pair.write()
		if got := of() != before; got != want {
			pair.Errorf("%s: the stamp changes: %v, want %v", what, got, want)
		}
	}
	gone := *pair.add(calendar.KindVenue, 1, calendar.Fields{})
	gone.Deleted = true
	pair.write()
	changes("another kind", false, func() { pair.add(calendar.KindEvent, 2, calendar.Fields{"venue": []calendar.ID{1}}) })
	changes("a new one", true, func() { pair.add(calendar.KindVenue, 3, calendar.Fields{}) })
	changes("a change", true, func() { pair.add(calendar.KindVenue, 3, calendar.Fields{"city": "Rome"}) })
	changes("a delete of another one", true, func() { pair.addRecord(&gone) })
}

func wait(pair *indexPair) {
	ctx, cancel := context.WithTimeout(pair.Context(), 30*time.Second)
	defer cancel()
	found := make(chan error, 3)
	for range cap(found) {
		go func() {
			err := pair.index.Wait(ctx, 2)
			found <- errors.Join(err, readmodel.Read(ctx, pair.index, func(view readmodel.View) error {
				page, err := view.Search(ctx, readmodel.Query{Kind: calendar.KindEvent})
				if position := view.Shown().Position; err == nil && (page.Total != 2 || position != 2) {
					err = fmt.Errorf("%d events at position %d", page.Total, position)
				}
				return err
			}))
		}()
	}
	for id := range calendar.ID(2) {
		pair.add(calendar.KindEvent, 1+id, calendar.Fields{})
		pair.write()
	}
	for range cap(found) {
		wantErr(pair, "wait for position 2", <-found, nil)
	}
}

func waitEnds(pair *indexPair) {
	ctx, cancel := context.WithCancel(pair.Context())
	done := make(chan error, 1)
	go func() { done <- pair.index.Wait(ctx, 5) }()
	pair.apply(readmodel.Batch{Mark: At(4)})
	select {
	case err := <-done:
		pair.Fatalf("wait for position 5 ended at 4: %v", err)
	default:
	}
	cancel()
	wantErr(pair, "wait", <-done, context.Canceled)
}

// read reads a view of the index under test.
func (pair *indexPair) read(want error, use func(view readmodel.View) error) {
	pair.Helper()
	wantErr(pair, "read", readmodel.Read(pair.Context(), pair.index, use), want)
}

// A view shows one state from its first read on, whichever that is, whatever is written
// between its reads.
func viewsOfOneState(pair *indexPair) {
	id := calendar.ID(0)
	write := func() {
		id++
		pair.add(calendar.KindEvent, 2*id, calendar.Fields{"venue": []calendar.ID{1 << 20}})
		pair.add(calendar.KindVenue, 2*id+1, calendar.Fields{})
		pair.write()
	}
	write()
	query := readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 100, Tallies: []readmodel.Tally{{Field: readmodel.FieldVenue}}}
	reads := []func(view readmodel.View) (int, error){
		func(view readmodel.View) (int, error) {
			page, err := view.Search(pair.Context(), query)
			if err == nil && (page.Total != len(page.Documents) || page.Total != page.Tallied[0].Values[1<<20]) {
				err = fmt.Errorf("a page of several states: %+v", page)
			}
			return page.Total, err
		},
		func(view readmodel.View) (int, error) {
			found, err := walk(pair.Context(), view, query)
			return len(found), err
		},
		func(view readmodel.View) (int, error) {
			page, err := view.Search(pair.Context(), readmodel.Query{Kind: calendar.KindVenue})
			return page.Total, err
		},
		func(view readmodel.View) (int, error) {
			found, err := view.Get(pair.Context(), 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24)
			return slices.Index(append(found, nil), nil), err
		},
	}
	for first := range reads {
		pair.read(nil, func(view readmodel.View) error {
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
				pair.Errorf("a view of position %d shows several states: %v", position, seen)
			}
			return nil
		})
	}
}

// A walk of a view goes on while others write, and ends with the first error.
func walksOfAView(pair *indexPair) {
	write := func(status string) {
		for id := range calendar.ID(3*readmodel.WalkStep + 7) {
			pair.add(calendar.KindEvent, 1+id, calendar.Fields{"status": status, "start_date": calendar.Wall(-id / 3)})
		}
		pair.write()
	}
	write("publish")
	query := readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}, Sort: byID}
	walked := 0
	pair.read(nil, func(view readmodel.View) error {
		return view.Walk(pair.Context(), query, func(subset []readmodel.Document) error {
			if walked == 0 {
				write("draft")
			}
			walked += len(subset)
			return nil
		})
	})
	if walked != 3*readmodel.WalkStep+7 {
		pair.Errorf("a walk over %d documents", walked)
	}
	used := 0
	query.Filter = nil
	stop := errors.New("stop")
	pair.read(stop, func(view readmodel.View) error {
		return view.Walk(pair.Context(), query, func([]readmodel.Document) error {
			used++
			return stop
		})
	})
	if used != 1 {
		pair.Errorf("a walk went on %d times after an error", used-1)
	}
}

// The tallies are of the state of the page, while others write.
func talliesOfOneState(pair *indexPair) {
	query := readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 1, Tallies: []readmodel.Tally{{
		Field: readmodel.FieldVenue, Parts: []readmodel.Filter{readmodel.And{}, readmodel.In{Field: readmodel.FieldVenue, IDs: []calendar.ID{10, 12}}},
	}}}
	written, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for i, last := 0, false; err == nil && !last; i++ {
			select {
			case <-written:
				last = true
			default:
			}
			query.Offset = i % 2 * 100_000 // where an engine may have to ask twice
			err = readmodel.Read(pair.Context(), pair.index, func(view readmodel.View) error {
				page, err := view.Search(pair.Context(), query)
				if err != nil {
					return err
				}
				if got := page.Tallied[0]; got.Values[10] != page.Total || got.Parts[0] != page.Total || got.Parts[1] != page.Total {
					return fmt.Errorf("tallies of a page of %d: %+v", page.Total, got)
				}
				return nil
			})
		}
		failed <- err
	}()
	for id := range calendar.ID(15) {
		pair.add(calendar.KindEvent, 1+id, calendar.Fields{"venue": []calendar.ID{10, 12}})
		pair.write()
	}
	close(written)
	wantErr(pair, "read", <-failed, nil)
}
