package readmodeltest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// reference is an index that looks at every document: Match and Compare over a
// map. It passes the suite, and with one thing broken it must not; so it shows
// that each case of the suite finds what it is there for.
type reference struct {
	broken string // name of a breakage; "": none

	mu          sync.Mutex
	docs        map[calendar.ID]readmodel.Document // tombstones too
	was         map[calendar.ID]readmodel.Document // the state before, for one breakage
	quarantined map[calendar.ID]readmodel.Quarantined
	marks       readmodel.Marks
	heals       uint64
	moved       chan struct{}
}

var _ readmodel.Index = (*reference)(nil)

func newReference(broken string) *reference {
	x := &reference{broken: broken, moved: make(chan struct{})}
	x.empty()
	return x
}

func (x *reference) empty() {
	x.docs, x.was = map[calendar.ID]readmodel.Document{}, map[calendar.ID]readmodel.Document{}
	if x.broken != "reset keeps quarantine" || x.quarantined == nil {
		x.quarantined = map[calendar.ID]readmodel.Quarantined{}
	}
	if x.broken != "reset keeps the position" {
		x.marks = readmodel.Marks{}
	}
}

func (x *reference) Write(_ context.Context, b readmodel.Batch) ([]error, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	errs := make([]error, len(b.Documents))
	for i, d := range b.Documents {
		if d.Record == nil || d.Position == 0 || len(d.Body) == 0 && !d.Record.Deleted {
			if x.broken == "one bad document fails the batch" {
				return nil, readmodel.ErrRefused
			}
			if x.broken != "takes everything" {
				errs[i] = readmodel.ErrRefused
			}
			continue
		}
		x.apply(d)
	}
	if x.broken != "quarantine is never left" {
		for _, id := range b.Healed {
			delete(x.quarantined, id)
		}
	}
	if x.broken != "quarantine is lost" {
		for _, p := range b.Quarantined {
			x.quarantined[p.ID] = p
		}
	}
	if x.broken != "healing leaves the content" {
		x.heals += uint64(len(b.Healed))
	}
	if b.Reach.Position > x.marks.Reach.Position && x.broken != "reach is lost" || x.broken == "reach falls back" && b.Reach.Position != 0 {
		x.marks.Reach = b.Reach
	}
	if at := b.Mark.Position; at > x.marks.All.Position || x.broken == "position 0 resets" && at == 0 || x.broken == "position falls back" && at != 0 {
		x.marks.All = b.Mark
		if x.broken == "marks without hash" {
			x.marks.All.Hash = [32]byte{}
		}
		if x.marks.Reach.Position < at {
			x.marks.Reach = x.marks.All
		}
		close(x.moved)
		x.moved = make(chan struct{})
	}
	return errs, nil
}

func (x *reference) apply(d readmodel.Document) {
	held, known := x.docs[d.Record.ID]
	switch {
	case !known:
	case x.broken == "applies old positions" && d.Position < held.Position:
	case x.broken == "applies a position again" && d.Position == held.Position:
	case d.Position <= held.Position:
		return
	}
	if known {
		x.was[d.Record.ID] = held
	}
	if d.Record.Deleted && x.broken == "forgets tombstones" {
		delete(x.docs, d.Record.ID)
		return
	}
	d.Body = slices.Clone(d.Body)
	x.docs[d.Record.ID] = d
}

func (x *reference) Marks(context.Context) (readmodel.Marks, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.marks, nil
}

func (x *reference) Visible(context.Context) (readmodel.Shown, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken == "content never rests" {
		x.heals++
	}
	return readmodel.Shown{Mark: x.marks.All, Content: x.heals}, nil
}

func (x *reference) Wait(ctx context.Context, p calendar.Position) error {
	for {
		x.mu.Lock()
		there, moved := x.marks.All.Position >= p, x.moved
		x.mu.Unlock()
		if there || x.broken == "waits for nothing" {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			if x.broken == "gives up without an error" {
				return nil
			}
			return ctx.Err()
		}
	}
}

// matching gives the live documents of a kind that a filter admits.
func (x *reference) matching(k calendar.Kind, f readmodel.Filter) []readmodel.Document {
	var out []readmodel.Document
	for id, d := range x.docs {
		if d.Record.Deleted && (x.broken != "lists tombstones" || x.was[id].Record == nil) {
			continue
		}
		if x.broken == "lists tombstones" && d.Record.Deleted {
			d = x.was[id]
		}
		if d.Record.Kind != k && x.broken != "mixes kinds" || d.Record.Kind.IsTerm() != k.IsTerm() || d.Record.Kind > calendar.KindTag && d.Record.Kind != k {
			continue
		}
		if x.match(f, &d) || x.broken == "keeps old values" && x.was[id].Record != nil && x.match(f, &readmodel.Document{Record: x.was[id].Record}) {
			out = append(out, d)
		}
	}
	return out
}

func (x *reference) Search(_ context.Context, q readmodel.Query) (readmodel.Page, error) {
	if err := readmodel.Check(q); err != nil && x.broken != "answers any query" {
		return readmodel.Page{}, err
	} else if err != nil {
		return readmodel.Page{}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	filter := readmodel.Both(q.Filter, q.Narrow)
	if x.broken == "pages are not narrowed" {
		filter = q.Filter
	}
	in := x.matching(q.Kind, filter)
	slices.SortFunc(in, func(a, b readmodel.Document) int { return x.compare(q.Sort, &a, &b) })
	if q.Collapse != nil {
		in = x.collapse(q.Collapse, in)
	}
	page := readmodel.Page{Total: len(in), Position: x.marks.All.Position, Tallied: x.tally(q)}
	switch x.broken {
	case "totals up to 10,000":
		page.Total = min(page.Total, 10_000)
	case "page without position":
		page.Position = 0
	case "offset counts pages":
		q.Offset *= q.Limit
	case "limit 0 is no limit":
		if q.Limit == 0 {
			q.Limit = math.MaxInt / 2
		}
	case "one more than the limit":
		q.Limit++
	}
	if q.After != nil {
		q.Offset = slices.IndexFunc(in, func(d readmodel.Document) bool {
			c := readmodel.ComparePlaces(q.Sort, readmodel.Place(q.Sort, d.Record), q.After)
			return c > 0 || c == 0 && x.broken == "pages begin with the place"
		})
		if q.Offset < 0 {
			q.Offset = len(in)
		}
		if x.broken == "total behind the place" {
			page.Total -= q.Offset
		}
	}
	lo := min(q.Offset, len(in))
	page.Documents = slices.Clone(in[lo:min(lo+q.Limit, len(in))])
	switch x.broken {
	case "total of the page":
		page.Total = len(page.Documents)
	case "bodies are lost":
		for i := range page.Documents {
			page.Documents[i].Body = nil
		}
	}
	return page, nil
}

func (x *reference) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	q.Offset, q.Limit, q.After = 0, math.MaxInt/2, nil
	page, err := x.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	w := &referenceWalk{x: x, q: q, page: page, spans: map[string]readmodel.Span{}}
	if q.Beside != nil {
		beside := readmodel.Query{Kind: q.Kind, Filter: q.Beside, Limit: q.Limit}
		if x.broken == "the walk has what stands beside" {
			beside.Filter = readmodel.And{q.Filter, q.Beside}
		}
		if w.beside, err = x.Search(ctx, beside); err != nil {
			return nil, err
		}
	}
	for i := range page.Documents {
		d := &page.Documents[i]
		zone := readmodel.SchemaOf(calendar.KindEvent).Field(readmodel.FieldZone)
		if q.Spans == nil || d.Record.Kind != calendar.KindEvent || zone.Keyword(d.Record) == "" || !readmodel.Match(q.Spans, d) && x.broken != "spans of all" {
			continue
		}
		s, known := w.spans[zone.Keyword(d.Record)]
		start, end := d.Record.Fields.Wall("start_date"), d.Record.Fields.Wall("end_date")
		if !known || x.broken == "spans of the last one" {
			s = readmodel.Span{Start: start, End: end}
		}
		w.spans[zone.Keyword(d.Record)] = readmodel.Span{Start: min(s.Start, start), End: max(s.End, end)}
	}
	return w, nil
}

func (w *referenceWalk) Spans() map[string]readmodel.Span { return w.spans }

func (w *referenceWalk) Beside(_ context.Context, use func([]readmodel.Document) error) error {
	if len(w.beside.Documents) == 0 {
		return nil
	}
	return use(w.beside.Documents)
}

func (x *reference) Still(ctx context.Context, read func(context.Context) error) error {
	for {
		before := x.position()
		if err := read(ctx); err != nil && x.broken != "errors of reads are lost" {
			return err
		}
		if x.position() == before || x.broken == "reads of several states" {
			return nil
		}
	}
}

func (x *reference) Titles(_ context.Context, q readmodel.Titles) ([]readmodel.Title, calendar.Position, error) {
	if err := readmodel.CheckTitles(q); err != nil {
		return nil, 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	docs := x.matching(q.Kind, q.Filter)
	switch x.broken {
	case "the first that was written stands for a name":
		q.Sort = byID
	case "names by their order alone":
		q.Sort = slices.DeleteFunc(slices.Clone(q.Sort), func(s readmodel.Sort) bool { return s.Rank != nil })
	}
	out := readmodel.TitlesOf(q, docs)
	if x.broken == "a name stands for one" {
		for i := range out {
			out[i].Count = 1
		}
	}
	return out, x.marks.All.Position, nil
}

func (x *reference) position() calendar.Position {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.marks.All.Position
}

type referenceWalk struct {
	x    *reference
	q    readmodel.Query
	page readmodel.Page

	beside readmodel.Page
	spans  map[string]readmodel.Span
}

func (w *referenceWalk) Total() int                  { return w.page.Total }
func (w *referenceWalk) Position() calendar.Position { return w.page.Position }
func (w *referenceWalk) Close()                      {}

func (w *referenceWalk) Each(ctx context.Context, use func([]readmodel.Document) error) error {
	documents := w.page.Documents
	switch w.x.broken {
	case "walk shows what is written meanwhile":
		page, err := w.x.Search(ctx, w.q)
		if err != nil {
			return err
		}
		documents = page.Documents
	case "walk ends with its first step":
		documents = documents[:min(len(documents), readmodel.WalkStep)]
	}
	for some := range slices.Chunk(documents, readmodel.WalkStep) {
		if err := use(some); err != nil && w.x.broken != "walk goes on after an error" {
			return err
		}
	}
	return nil
}

func (x *reference) Get(_ context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := map[calendar.ID]readmodel.Document{}
	for _, id := range ids {
		d, ok := x.docs[id]
		if ok && (!d.Record.Deleted || x.broken == "gets tombstones") || x.broken == "gets unknown documents" {
			out[id] = d
		}
	}
	return out, nil
}

func (x *reference) Counts(_ context.Context, k calendar.Kind, field string, f readmodel.Filter) (map[calendar.ID]int, error) {
	if err := readmodel.CheckCounts(k, field, f); err != nil {
		return nil, err
	}
	if x.broken == "counts ignore the filter" {
		f = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	out := map[calendar.ID]int{}
	for _, d := range x.matching(k, f) {
		ids := readmodel.SchemaOf(k).Field(field).IDs(d.Record)
		if x.broken == "counts the first id only" && len(ids) > 1 {
			ids = ids[:1]
		}
		ids = slices.Clone(ids) // a document carries an id or not, however often it names it
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			out[id]++
		}
	}
	return out, nil
}

// collapse is readmodel.Repeated with what is broken.
func (x *reference) collapse(c *readmodel.Collapse, in []readmodel.Document) []readmodel.Document {
	switch x.broken {
	case "nothing is collapsed":
		c = &readmodel.Collapse{Field: c.Field, Alone: readmodel.And{}}
	case "nobody stands alone":
		c = &readmodel.Collapse{Field: c.Field}
	case "the last of a group stands for it":
		slices.Reverse(in)
		defer slices.Reverse(in)
	}
	return readmodel.Repeated(c, in)
}

// tally answers the tallies of a query.
func (x *reference) tally(q readmodel.Query) (out [][]readmodel.Tallied) {
	for i := range q.Tallies {
		of := &q.Tallies[i]
		f := readmodel.Both(q.Filter, of.Filter)
		switch x.broken {
		case "tallies know the base only":
			f = q.Filter
		case "tallies are of the page's filter":
			f = readmodel.Both(f, q.Narrow)
		}
		in := slices.DeleteFunc(x.matching(q.Kind, f), func(d readmodel.Document) bool {
			return d.Record.Kind != q.Kind || x.broken == "tallies of the state before" && d.Position == x.marks.All.Position
		})
		out = append(out, nil)
		for j := range of.Tallies {
			got := readmodel.TallyOf(&of.Tallies[j], in)
			switch x.broken {
			case "groups are sums":
				for at, group := range of.Tallies[j].Groups {
					got.Groups[at] = 0
					for _, v := range got.Values {
						if slices.Contains(group, calendar.ID(v.Value)) {
							got.Groups[at] += v.N
						}
					}
				}
			case "parts are of all":
				got.Parts = readmodel.TallyOf(&of.Tallies[j], x.matching(q.Kind, nil)).Parts
				if len(in) > 0 && len(got.Parts) > 0 {
					got.Parts[0]++
				}
			case "first value only":
				got.Values = got.Values[:min(1, len(got.Values))]
			}
			out[i] = append(out[i], got)
		}
	}
	return out
}

func (x *reference) Stamp(_ context.Context, k calendar.Kind) (s readmodel.Stamp, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken == "stamps of all kinds" {
		return readmodel.Stamp{Changed: uint64(x.marks.All.Position)}, nil
	}
	for _, d := range x.docs {
		if d.Record.Kind == k && (!d.Record.Deleted || x.broken != "stamps of the living") {
			s.Changed = max(s.Changed, uint64(d.Position))
		}
	}
	return s, nil
}

func (x *reference) Quarantined(context.Context) ([]readmodel.Quarantined, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.SortedFunc(maps.Values(x.quarantined), func(a, b readmodel.Quarantined) int { return int(a.ID - b.ID) }), nil
}

func (x *reference) Digest(context.Context) (readmodel.Digest, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := readmodel.Digest{Counts: map[calendar.Kind]int{}}
	for id, d := range x.docs {
		if d.Record.Deleted && x.broken != "digest of tombstones" {
			continue
		}
		out.Counts[d.Record.Kind]++
		text := fmt.Sprintf("%s %d %d %s", d.Record.Kind, id, d.Record.Version, d.Body)
		if x.broken == "digest of ids only" {
			text = id.String()
		}
		for i, b := range sha256.Sum256([]byte(text)) {
			out.Sum[i] ^= b
		}
	}
	return out, nil
}

func (x *reference) Reset(context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken != "reset does nothing" {
		x.empty()
	}
	return nil
}

func (x *reference) compare(by []readmodel.Sort, a, b *readmodel.Document) int {
	if len(by) > 0 && by[0].Rank != nil {
		if c := x.score(*by[0].Rank, b.Record) - x.score(*by[0].Rank, a.Record); c != 0 && x.broken != "ranks are ignored" {
			return c
		}
		by = by[1:]
	}
	switch x.broken {
	case "mixes kinds":
		by = nil
	case "first key only":
		by = by[:min(1, len(by))]
	case "never descends":
		by = slices.Clone(by)
		for i := range by {
			by[i].Desc = false
		}
	case "sorts by the name as it is written":
		for _, k := range by {
			if strings.HasPrefix(k.Field, "name_key") {
				x, _ := a.Record.Name(calendar.LangEN)
				y, _ := b.Record.Name(calendar.LangEN)
				return strings.Compare(x, y)
			}
		}
	case "the first id is the least":
		if len(by) > 0 && by[0].Least != nil {
			first := func(d *readmodel.Document) readmodel.Key {
				ids := d.Record.Fields.IDs(by[0].Field)
				n, ok := by[0].Least[append(ids, 0)[0]]
				return readmodel.Key{N: n, Has: ok}
			}
			if c := by[0].Compare(first(a), first(b)); c != 0 {
				return c
			}
		}
	case "the tail is ordered as the rest":
		by = slices.Clone(by)
		for i := range by {
			by[i].Tail = false
		}
	case "missing values first":
		if len(by) > 0 {
			if hasA, hasB := x.has(by[0], a), x.has(by[0], b); hasA != hasB {
				return map[bool]int{true: 1, false: -1}[hasA]
			}
		}
	case "missing values are lowest":
		if len(by) > 0 && by[0].Desc == false {
			if hasA, hasB := x.has(by[0], a), x.has(by[0], b); hasA != hasB {
				return map[bool]int{true: 1, false: -1}[hasA]
			}
		}
	}
	return readmodel.Compare(by, a, b)
}

func (x *reference) has(k readmodel.Sort, d *readmodel.Document) bool {
	f := readmodel.SchemaOf(d.Record.Kind).Field(k.Field)
	if f.Type == readmodel.TypeKeyword {
		return f.Keyword(d.Record) != ""
	}
	return k.Key(d.Record).Has
}
