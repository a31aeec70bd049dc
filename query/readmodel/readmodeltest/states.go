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
		{"walks of one state", walksOfOneState},
		{"reads of one state", readsOfOneState},
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
	of := func() readmodel.Stamp {
		p.Helper()
		s, err := p.index.Stamp(p.Context(), calendar.KindVenue)
		if err != nil {
			p.Fatal(err)
		}
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
	changes("a reset", true, func() { wantErr(p, "reset", p.index.Reset(p.Context()), nil) })
}

func wait(p *pair) {
	ctx, cancel := context.WithTimeout(p.Context(), 30*time.Second)
	defer cancel()
	found := make(chan error, 3)
	for range cap(found) {
		go func() {
			err := p.index.Wait(ctx, 2)
			page, searchErr := p.index.Search(ctx, readmodel.Query{Kind: calendar.KindEvent})
			shown, shownErr := p.index.Visible(ctx)
			if page.Total != 2 || shown.Position != 2 {
				err = errors.Join(err, fmt.Errorf("%d events at position %d", page.Total, shown.Position))
			}
			found <- errors.Join(err, searchErr, shownErr)
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

// A walk gives documents of one state, whatever is written meanwhile, as often as it is
// asked, and ends with the first error.
func walksOfOneState(p *pair) {
	write := func(status string) {
		for id := range calendar.ID(3*readmodel.WalkStep + 7) {
			p.add(calendar.KindEvent, 1+id, calendar.Fields{"status": status, "start_date": calendar.Wall(-id / 3), "featured": id%5 == 0})
		}
		p.write()
	}
	write("publish")
	published := readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}
	featured := readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"}
	q := readmodel.Query{
		Kind: calendar.KindEvent, Filter: readmodel.And{published, readmodel.Not{Filter: featured}}, Beside: readmodel.And{published, featured},
		Sort: []readmodel.Sort{{Field: readmodel.FieldStart}, {Field: readmodel.FieldID}},
	}
	walks := map[readmodel.Index]readmodel.Walk{}
	for _, x := range []readmodel.Index{p.plain, p.index} {
		w, err := x.Walk(p.Context(), q)
		if err != nil {
			p.Fatal(err)
		}
		defer w.Close()
		walks[x] = w
	}
	write("draft")
	for range 2 {
		compare(p, "walk", func(x readmodel.Index) (whole, error) { return read(p.Context(), walks[x]) })
	}
	used := 0
	wantErr(p, "walk that is stopped", walks[p.index].Each(p.Context(), func([]readmodel.Document) error {
		used++
		return errStop
	}), errStop)
	if used != 1 {
		p.Errorf("a walk went on %d times after an error", used-1)
	}
}

// Reads of one state, while others write between them.
func readsOfOneState(p *pair) {
	write := func(n calendar.ID) {
		p.add(calendar.KindEvent, 10+n, calendar.Fields{})
		p.add(calendar.KindVenue, 20+n, calendar.Fields{"status": "publish"})
		p.write()
	}
	write(0)
	var w readmodel.Walk
	read := func(ctx context.Context) int {
		events, searchErr := p.index.Search(ctx, readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 100})
		venues, countsErr := p.index.Counts(ctx, calendar.KindVenue, readmodel.FieldID, readmodel.Exists{Field: readmodel.FieldStatus})
		found, getErr := p.index.Get(ctx, []calendar.ID{10, 11, 12, 20, 21, 22})
		shown, shownErr := p.index.Visible(ctx)
		walk, walkErr := p.index.Walk(ctx, readmodel.Query{Kind: calendar.KindEvent, Sort: byID})
		if err := errors.Join(searchErr, countsErr, getErr, shownErr, walkErr); err != nil {
			p.Fatal(err)
		}
		if w != nil {
			w.Close() // and the reads go on
		}
		w = walk
		counts := []int{events.Total, len(venues), len(found) / 2, w.Total(), int(events.Position) / 2, int(shown.Position) / 2}
		if len(slices.Compact(counts)) > 1 {
			p.Errorf("reads of several states: %v", counts)
		}
		return events.Total
	}
	calls, last := calendar.ID(0), 0
	var moved error // of the last call
	wantErr(p, "reads", p.index.Still(p.Context(), func(ctx context.Context) error {
		moved = nil
		first := read(ctx)
		if calls++; calls <= 2 {
			write(calls)
		}
		if last = read(ctx); last != first {
			moved = fmt.Errorf("%d events, and then %d", first, last)
		}
		return nil
	}), nil)
	wantErr(p, "reads of one state", moved, nil)
	defer w.Close()
	write(3)
	walked := 0
	wantErr(p, "the walk goes on", w.Each(p.Context(), func(some []readmodel.Document) error {
		walked += len(some)
		return nil
	}), nil)
	if walked != last {
		p.Errorf("a walk over %d beside reads of %d", walked, last)
	}
	wantErr(p, "reads that fail", p.index.Still(p.Context(), func(context.Context) error { return errStop }), errStop)
}

// A view shows one state from its first read on, whichever that is, whatever is written
// between its reads.
func viewsOfOneState(p *pair) {
	n := calendar.ID(0)
	write := func() {
		n++
		p.add(calendar.KindEvent, n, calendar.Fields{"venue": []calendar.ID{1 << 20}})
		p.write()
	}
	write()
	q := readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 100}
	reads := []func(v readmodel.View) (int, error){
		func(v readmodel.View) (int, error) {
			page, err := v.Search(p.Context(), q)
			return max(page.Total, len(page.Documents)), err
		},
		func(v readmodel.View) (int, error) {
			found, err := walkAll(p.Context(), v, q)
			return max(found.Total, len(found.Documents)), err
		},
		func(v readmodel.View) (int, error) {
			counts, err := v.Counts(p.Context(), q.Kind, readmodel.FieldVenue, nil, nil)
			return counts[1<<20], err
		},
	}
	for first := range reads {
		wantErr(p, "reads", readmodel.Read(p.Context(), p.index, func(v readmodel.View) error {
			var seen []int
			for i := range len(reads) + 1 {
				if i == 1 || i == 2 {
					write()
				}
				got, err := reads[(first+i)%len(reads)](v)
				if err != nil {
					return err
				}
				seen = append(seen, got)
			}
			if position := int(v.Shown().Position); position != seen[0] || len(slices.Compact(seen)) > 1 {
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
	q := readmodel.Query{Kind: calendar.KindEvent, Filter: readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"}, Sort: byID}
	walked := 0
	wantErr(p, "walk", readmodel.Read(p.Context(), p.index, func(v readmodel.View) error {
		return v.Walk(p.Context(), q, func(some []readmodel.Document) error {
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
	q.Filter = nil
	wantErr(p, "walk that is stopped", readmodel.Read(p.Context(), p.index, func(v readmodel.View) error {
		return v.Walk(p.Context(), q, func([]readmodel.Document) error {
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
	q := readmodel.Query{Kind: calendar.KindEvent, Sort: byID, Limit: 1, Tallies: []readmodel.Selection{{Tallies: []readmodel.Tally{{
		Field: readmodel.FieldVenue, Groups: [][]calendar.ID{{10, 12}}, Parts: []readmodel.Filter{readmodel.And{}},
	}}}}}
	written, failed := make(chan struct{}), make(chan error, 1)
	read := func() error {
		for i, last := 0, false; !last; i++ {
			select {
			case <-written:
				last = true
			default:
			}
			q.Offset = i % 2 * 100_000 // where an engine may have to ask twice
			page, err := p.index.Search(p.Context(), q)
			if err != nil {
				return err
			}
			if got := page.Tallied[0][0]; got.Groups[0] != page.Total || got.Parts[0] != page.Total {
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
