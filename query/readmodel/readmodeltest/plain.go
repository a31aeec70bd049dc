package readmodeltest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Plain is an index that looks at every document: what the port means, in plain Go.
type Plain struct {
	// match and compare are those of readmodel; the tests of the suite break them.
	match   func(readmodel.Filter, *calendar.Record) bool
	compare func(order []readmodel.Sort, document, b *readmodel.Document) int

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
		match: readmodel.Match, compare: Compare, advanced: make(chan struct{}),
		documents: map[calendar.ID]readmodel.Document{}, quarantined: map[calendar.ID]readmodel.Quarantined{},
	}
}

func (plain *Plain) lock() (unlock func()) {
	plain.mu.Lock()
	return plain.mu.Unlock
}

// Write implements readmodel.Index.
func (plain *Plain) Write(_ context.Context, batch readmodel.Batch) ([]error, error) {
	defer plain.lock()()
	errs := make([]error, len(batch.Documents))
	for i, document := range batch.Documents {
		if document.Record == nil || document.Position == 0 || len(document.Body) == 0 {
			errs[i] = readmodel.ErrRefused
		} else if document.Position > plain.documents[document.Record.ID].Position {
			plain.documents[document.Record.ID] = document
		}
	}
	for _, id := range batch.Healed {
		delete(plain.quarantined, id)
		plain.healed++
	}
	for _, quarantined := range batch.Quarantined {
		plain.quarantined[quarantined.ID] = quarantined
	}
	for _, mark := range []calendar.Mark{batch.Reach, batch.Mark} {
		if mark.Position > plain.marks.Reach.Position {
			plain.marks.Reach = mark
		}
	}
	if batch.Mark.Position > plain.marks.All.Position {
		plain.marks.All = batch.Mark
		close(plain.advanced)
		plain.advanced = make(chan struct{})
	}
	return errs, nil
}

// Marks implements readmodel.Index.
func (plain *Plain) Marks(context.Context) (readmodel.Marks, error) {
	defer plain.lock()()
	return plain.marks, nil
}

// Visible implements readmodel.Index.
func (plain *Plain) Visible(context.Context) (readmodel.VisibleState, error) {
	return plain.view().shown, nil
}

// Wait implements readmodel.Index.
func (plain *Plain) Wait(ctx context.Context, position calendar.Position) error {
	for {
		plain.mu.Lock()
		at, advanced := plain.marks.All.Position, plain.advanced
		plain.mu.Unlock()
		if at >= position {
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
func (plain *Plain) View(context.Context) (readmodel.View, error) { return plain.view(), nil }

func (plain *Plain) view() *plainView {
	defer plain.lock()()
	view := &plainView{plain, readmodel.VisibleState{Mark: plain.marks.All, Content: plain.healed}, maps.Clone(plain.documents)}
	maps.DeleteFunc(view.documents, func(_ calendar.ID, document readmodel.Document) bool { return document.Record.Deleted })
	return view
}

// plainView holds the live documents of a moment.
type plainView struct {
	plain     *Plain // for its meaning of filters and orders
	shown     readmodel.VisibleState
	documents map[calendar.ID]readmodel.Document
}

// Shown implements readmodel.View.
func (plainView *plainView) Shown() readmodel.VisibleState { return plainView.shown }

// Close implements readmodel.View.
func (plainView *plainView) Close() {}

// find returns all that a query finds, in order.
func (plainView *plainView) find(query readmodel.Query) (documents []readmodel.Document) {
	for _, document := range plainView.documents {
		if document.Record.Kind == query.Kind && plainView.plain.match(query.Filter, document.Record) && plainView.plain.match(query.Narrow, document.Record) {
			documents = append(documents, document)
		}
	}
	slices.SortFunc(documents, func(a, b readmodel.Document) int { return plainView.plain.compare(query.Sort, &a, &b) })
	if query.Collapse != nil {
		documents = repeated(query.Collapse, documents)
	}
	return documents
}

// Search implements readmodel.View.
func (plainView *plainView) Search(_ context.Context, query readmodel.Query) (readmodel.Page, error) {
	all := plainView.find(query)
	page := readmodel.Page{Total: len(all)}
	if query.After != nil {
		all = slices.DeleteFunc(all, func(document readmodel.Document) bool {
			return readmodel.ComparePlaces(query.Sort, readmodel.Place(query.Sort, document.Record), query.After) <= 0
		})
	}
	from := min(query.Offset, len(all))
	page.Documents = all[from : from+min(query.Limit, len(all)-from)]
	schema := readmodel.SchemaOf(query.Kind)
	for _, tally := range query.Tallies {
		answer := readmodel.TallyAnswer{Values: map[calendar.ID]int{}, Parts: make([]int, len(tally.Parts))}
		for _, document := range plainView.find(readmodel.Query{Kind: query.Kind, Filter: query.Filter, Narrow: tally.Filter}) {
			for i, part := range tally.Parts {
				if readmodel.Match(part, document.Record) {
					answer.Parts[i]++
				}
			}
			if tally.Field != "" {
				for _, number := range schema.Field(tally.Field).Numbers(document.Record) {
					answer.Values[calendar.ID(number)]++
				}
			}
		}
		page.Tallied = append(page.Tallied, answer)
	}
	return page, nil
}

// Walk implements readmodel.View.
func (plainView *plainView) Walk(_ context.Context, query readmodel.Query, use func([]readmodel.Document) error) error {
	for subset := range slices.Chunk(plainView.find(query), readmodel.WalkStep) {
		if err := use(subset); err != nil {
			return err
		}
	}
	return nil
}

// Get implements readmodel.View.
func (plainView *plainView) Get(_ context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	records := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		records[i] = plainView.documents[id].Record
	}
	return records, nil
}

// Stamp implements readmodel.View.
func (plainView *plainView) Stamp(_ context.Context, kind calendar.Kind) (uint64, error) {
	stamp := calendar.HashStart
	for _, document := range plainView.documents {
		if document.Record.Kind == kind {
			stamp += calendar.HashStart.Number(uint64(document.Position)) // in any order
		}
	}
	return uint64(stamp), nil
}

// Quarantined implements readmodel.Index.
func (plain *Plain) Quarantined(context.Context) ([]readmodel.Quarantined, error) {
	defer plain.lock()()
	return slices.SortedFunc(maps.Values(plain.quarantined), func(a, b readmodel.Quarantined) int { return int(a.ID - b.ID) }), nil
}

// repeated returns the documents that a query with a Collapse finds of some in order, each
// with its group.
func repeated(collapse *readmodel.Collapse, docs []readmodel.Document) (documents []readmodel.Document) {
	groups := map[int64]*readmodel.Repeats{}
	for i := range docs {
		record := docs[i].Record
		numbers := readmodel.SchemaOf(record.Kind).Field(collapse.Field).Numbers(record)
		has := len(numbers) > 0 && (collapse.Alone == nil || !readmodel.Match(collapse.Alone, record))
		var repeats *readmodel.Repeats
		if has {
			repeats = groups[numbers[0]]
		}
		if repeats == nil {
			repeats = &readmodel.Repeats{}
			documents = append(documents, docs[i])
			documents[len(documents)-1].Repeats = repeats
		}
		if has {
			groups[numbers[0]] = repeats
		}
		repeats.Add(record.ID, readmodel.Place(readmodel.By(false, readmodel.FieldStart), record)[0])
	}
	return documents
}

// Compare orders two documents of one kind by the keys of a query: -1, 0 or 1.
// Documents that are equal by all keys stand by id ascending.
func Compare(order []readmodel.Sort, a, b *readmodel.Document) int {
	return cmp.Or(readmodel.ComparePlaces(order, readmodel.Place(order, a.Record), readmodel.Place(order, b.Record)), cmp.Compare(a.Record.ID, b.Record.ID))
}
