package readmodeltest

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Plain is an index that looks at every document: what the port means, in plain Go.
type Plain struct {
	// match and compare are those of readmodel; the tests of the suite break them.
	match   func(readmodel.Filter, *readmodel.Document) bool
	compare func(order []readmodel.Sort, a, b *readmodel.Document) int

	mu          sync.Mutex
	documents   map[calendar.ID]readmodel.Document // tombstones too
	quarantined map[calendar.ID]readmodel.Quarantined
	marks       readmodel.Marks
	healed      uint64
	advanced    chan struct{} // closed by the next mark
}

var _ readmodel.Index = (*Plain)(nil)

// NewPlain returns an empty index.
func NewPlain() *Plain {
	return &Plain{
		match: readmodel.Match, compare: readmodel.Compare, advanced: make(chan struct{}),
		documents: map[calendar.ID]readmodel.Document{}, quarantined: map[calendar.ID]readmodel.Quarantined{},
	}
}

func (x *Plain) lock() (unlock func()) {
	x.mu.Lock()
	return x.mu.Unlock
}

// Write implements readmodel.Index.
func (x *Plain) Write(_ context.Context, b readmodel.Batch) ([]error, error) {
	defer x.lock()()
	errs := make([]error, len(b.Documents))
	for i, d := range b.Documents {
		if d.Record == nil || d.Position == 0 || len(d.Body) == 0 {
			errs[i] = readmodel.ErrRefused
		} else if d.Position > x.documents[d.Record.ID].Position {
			x.documents[d.Record.ID] = d
		}
	}
	for _, id := range b.Healed {
		delete(x.quarantined, id)
		x.healed++
	}
	for _, q := range b.Quarantined {
		x.quarantined[q.ID] = q
	}
	for _, m := range []calendar.Mark{b.Reach, b.Mark} {
		if m.Position > x.marks.Reach.Position {
			x.marks.Reach = m
		}
	}
	if b.Mark.Position > x.marks.All.Position {
		x.marks.All = b.Mark
		close(x.advanced)
		x.advanced = make(chan struct{})
	}
	return errs, nil
}

// Marks implements readmodel.Index.
func (x *Plain) Marks(context.Context) (readmodel.Marks, error) {
	defer x.lock()()
	return x.marks, nil
}

// Visible implements readmodel.Index.
func (x *Plain) Visible(context.Context) (readmodel.Shown, error) {
	defer x.lock()()
	return readmodel.Shown{Mark: x.marks.All, Content: x.healed}, nil
}

// Wait implements readmodel.Index.
func (x *Plain) Wait(ctx context.Context, p calendar.Position) error {
	for {
		x.mu.Lock()
		at, advanced := x.marks.All.Position, x.advanced
		x.mu.Unlock()
		if at >= p {
			return nil
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// View implements readmodel.Index.
func (x *Plain) View(context.Context) (readmodel.View, error) { return x.view(), nil }

func (x *Plain) view() *plainView {
	defer x.lock()()
	v := &plainView{x.match, x.compare, readmodel.Shown{Mark: x.marks.All, Content: x.healed}, maps.Clone(x.documents)}
	maps.DeleteFunc(v.documents, func(_ calendar.ID, d readmodel.Document) bool { return d.Record.Deleted })
	return v
}

// plainView holds the live documents of a moment.
type plainView struct {
	match     func(readmodel.Filter, *readmodel.Document) bool
	compare   func(order []readmodel.Sort, a, b *readmodel.Document) int
	shown     readmodel.Shown
	documents map[calendar.ID]readmodel.Document
}

// Shown implements readmodel.View.
func (v *plainView) Shown() readmodel.Shown { return v.shown }

// Close implements readmodel.View.
func (v *plainView) Close() {}

// find returns all that a query finds, in order.
func (v *plainView) find(q readmodel.Query) (out []readmodel.Document) {
	for _, d := range v.documents {
		if d.Record.Kind == q.Kind && v.match(q.Filter, &d) && v.match(q.Narrow, &d) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b readmodel.Document) int { return v.compare(q.Sort, &a, &b) })
	if q.Collapse != nil {
		out = repeated(q.Collapse, out)
	}
	return out
}

// Search implements readmodel.View.
func (v *plainView) Search(_ context.Context, q readmodel.Query) (readmodel.Page, error) {
	all := v.find(q)
	page := readmodel.Page{Total: len(all)}
	if q.After != nil {
		all = slices.DeleteFunc(all, func(d readmodel.Document) bool {
			return readmodel.ComparePlaces(q.Sort, readmodel.Place(q.Sort, d.Record), q.After) <= 0
		})
	}
	from := min(q.Offset, len(all))
	page.Documents = all[from : from+min(q.Limit, len(all)-from)]
	page.Tallied = make([]readmodel.Tallied, len(q.Tallies))
	for i := range q.Tallies {
		t := &q.Tallies[i]
		page.Tallied[i] = tallyOf(t, v.find(readmodel.Query{Kind: q.Kind, Filter: q.Filter, Narrow: t.Filter}))
	}
	return page, nil
}

// Walk implements readmodel.View.
func (v *plainView) Walk(ctx context.Context, q readmodel.Query, use func([]readmodel.Document) error) error {
	q.Offset, q.Limit, q.After, q.Tallies = 0, math.MaxInt, nil, nil
	page, err := v.Search(ctx, q)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(page.Documents, readmodel.WalkStep) {
		if err := use(some); err != nil {
			return err
		}
	}
	return nil
}

// Get implements readmodel.View.
func (v *plainView) Get(_ context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	out := map[calendar.ID]readmodel.Document{}
	for _, id := range ids {
		if d, known := v.documents[id]; known {
			out[id] = d
		}
	}
	return out, nil
}

// Stamp implements readmodel.View.
func (v *plainView) Stamp(_ context.Context, k calendar.Kind) (uint64, error) {
	stamp := calendar.HashStart
	for _, d := range v.documents {
		if d.Record.Kind == k {
			stamp += calendar.HashStart.Number(uint64(d.Position)) // in any order
		}
	}
	return uint64(stamp), nil
}

// Quarantined implements readmodel.Index.
func (x *Plain) Quarantined(context.Context) ([]readmodel.Quarantined, error) {
	defer x.lock()()
	return slices.SortedFunc(maps.Values(x.quarantined), func(a, b readmodel.Quarantined) int { return int(a.ID - b.ID) }), nil
}

// tallyOf answers a tally about the documents that its filter admits.
func tallyOf(t *readmodel.Tally, docs []readmodel.Document) readmodel.Tallied {
	out := readmodel.Tallied{Values: map[calendar.ID]int{}, Parts: make([]int, len(t.Parts))}
	for i := range docs {
		for at, part := range t.Parts {
			if readmodel.Match(part, &docs[i]) {
				out.Parts[at]++
			}
		}
		if t.Field != "" {
			for _, n := range readmodel.SchemaOf(docs[i].Record.Kind).Field(t.Field).Numbers(docs[i].Record) {
				out.Values[calendar.ID(n)]++
			}
		}
	}
	return out
}

// repeated returns the documents that a query with a Collapse finds of some in order, each
// with its group.
func repeated(c *readmodel.Collapse, docs []readmodel.Document) (out []readmodel.Document) {
	groups := map[int64]*readmodel.Repeats{}
	for i := range docs {
		r := docs[i].Record
		numbers := readmodel.SchemaOf(r.Kind).Field(c.Field).Numbers(r)
		has := len(numbers) > 0 && (c.Alone == nil || !readmodel.Match(c.Alone, &docs[i]))
		var g *readmodel.Repeats
		if has {
			g = groups[numbers[0]]
		}
		if g == nil {
			g = &readmodel.Repeats{First: calendar.NoWall, Last: calendar.NoWall}
			out = append(out, docs[i])
			out[len(out)-1].Repeats = g
		}
		if has {
			groups[numbers[0]] = g
		}
		g.Add(r.ID, r.Fields.Wall("start_date"))
	}
	return out
}
