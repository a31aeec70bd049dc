package readmodeltest

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// broken is a plain index with methods that are damaged; those without a hook are not.
type broken struct {
	*Plain
	write   func(b *readmodel.Batch) // before it is written
	written func(b readmodel.Batch)
	ask     func(q *readmodel.Query)
	answer  func(q readmodel.Query, page *readmodel.Page)
	wait    func(ctx context.Context, p calendar.Position) error
	visible func(s *readmodel.Shown)
	get     func(found map[calendar.ID]readmodel.Document)
	viewed  func(v *brokenView)
	stamp   func(s *uint64)
	walked  func(v *brokenView, use func([]readmodel.Document) error) func([]readmodel.Document) error
	anyway  bool // bad documents are taken
	views   map[*brokenView]bool
}

func (x *broken) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	if x.write != nil {
		x.write(&batch)
	}
	errs, err := x.Plain.Write(ctx, batch)
	if x.written != nil {
		x.written(batch)
	}
	if x.anyway {
		clear(errs)
	}
	return errs, err
}

func (x *broken) View(context.Context) (readmodel.View, error) {
	v := &brokenView{x.view(), x}
	if x.viewed != nil {
		x.viewed(v)
	}
	return v, nil
}

// brokenView is a view of a broken index.
type brokenView struct {
	*plainView
	x *broken
}

func (v *brokenView) Search(ctx context.Context, query readmodel.Query) (readmodel.Page, error) {
	asked := query
	if v.x.ask != nil {
		v.x.ask(&asked)
	}
	page, err := v.plainView.Search(ctx, asked)
	if v.x.answer != nil && err == nil {
		v.x.answer(query, &page)
	}
	return page, err
}

func (v *brokenView) Walk(ctx context.Context, query readmodel.Query, use func([]readmodel.Document) error) error {
	if v.x.ask != nil {
		v.x.ask(&query)
	}
	if v.x.walked != nil {
		use = v.x.walked(v, use)
	}
	return v.plainView.Walk(ctx, query, use)
}

func (v *brokenView) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	found, err := v.plainView.Get(ctx, ids)
	if v.x.get != nil {
		v.x.get(found)
	}
	return found, err
}

func (v *brokenView) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	s, err := v.plainView.Stamp(ctx, kind)
	return after(v.x.stamp, s, err)
}

func (x *broken) Wait(ctx context.Context, position calendar.Position) error {
	if x.wait != nil {
		return x.wait(ctx, position)
	}
	return x.Plain.Wait(ctx, position)
}

// after calls a hook with what a method gave.
func after[T any](hook func(*T), value T, err error) (T, error) {
	if hook != nil {
		hook(&value)
	}
	return value, err
}

func (x *broken) Visible(ctx context.Context) (readmodel.Shown, error) {
	shown, err := x.Plain.Visible(ctx)
	return after(x.visible, shown, err)
}

// replace has one form of filters replaced, for a document.
func replace[F readmodel.Filter](with func(f F, record *calendar.Record) readmodel.Filter) func(x *broken) {
	return func(x *broken) {
		x.match = func(f readmodel.Filter, document *readmodel.Document) bool {
			if whole, ok := f.(F); ok {
				return readmodel.Match(with(whole, document.Record), document)
			}
			switch f := f.(type) {
			case readmodel.And:
				return !slices.ContainsFunc(f, func(part readmodel.Filter) bool { return !x.match(part, document) })
			case readmodel.Or:
				return slices.ContainsFunc(f, func(part readmodel.Filter) bool { return x.match(part, document) })
			case readmodel.Not:
				return !x.match(f.Filter, document)
			}
			return readmodel.Match(f, document)
		}
	}
}

// admits is a filter that admits all or nothing.
func admits(all bool) readmodel.Filter {
	if all {
		return readmodel.And{}
	}
	return readmodel.Or{}
}

// withTexts returns a document of a record that has no other texts.
func withTexts(record *calendar.Record, names ...string) *readmodel.Document {
	some := *record
	some.Fields = maps.Clone(record.Fields)
	for _, name := range readmodel.SchemaOf(record.Kind).Texts() {
		if !slices.Contains(names, name) {
			delete(some.Fields, field(record, name).From[0])
		}
	}
	return &readmodel.Document{Record: &some}
}

func field(record *calendar.Record, name string) *readmodel.Field {
	return readmodel.SchemaOf(record.Kind).Field(name)
}

// search has searches replaced.
func search(with func(text *readmodel.Text, record *calendar.Record)) func(x *broken) {
	return replace(func(text readmodel.Text, record *calendar.Record) readmodel.Filter {
		with(&text, record)
		return text
	})
}

// misspelt has a word with typos fit a token of a shown text where a function says so.
func misspelt(fits func(word, token string, most int) bool) func(x *broken) {
	return replace(func(f readmodel.Text, record *calendar.Record) readmodel.Filter {
		expression := f.Search
		if f.Typos == 0 || len(expression.Must) != 1 || !expression.Must[0].IsWord() || len(expression.Not) > 0 {
			return f
		}
		most := expression.Must[0].Most(f.Typos)
		f.Typos = 0
		found := false
		for _, name := range f.Fields {
			text, _ := field(record, name).Text(record).In(expression.Lang, record.Home)
			for _, token := range readmodel.Tokens(text) {
				found = found || fits(expression.Must[0].Tokens[0], token, most)
			}
		}
		return readmodel.Or{f, admits(found)}
	})
}

// order has documents compared in another order.
func order(with func(by []readmodel.Sort, a, b *readmodel.Document) []readmodel.Sort) func(x *broken) {
	return func(x *broken) {
		x.compare = func(by []readmodel.Sort, a, b *readmodel.Document) int {
			return readmodel.Compare(with(slices.Clone(by), a, b), a, b)
		}
	}
}

// ranks has documents ranked by another score.
func ranks(score func(relevance readmodel.Relevance, record *calendar.Record) int) func(x *broken) {
	return func(x *broken) {
		x.compare = func(by []readmodel.Sort, a, b *readmodel.Document) int {
			if len(by) == 0 || by[0].Rank == nil {
				return readmodel.Compare(by, a, b)
			}
			if c := score(*by[0].Rank, b.Record) - score(*by[0].Rank, a.Record); c != 0 {
				return c
			}
			return readmodel.Compare(by[1:], a, b)
		}
	}
}

// without is a score without one of its weights.
func without(weight int) func(x *broken) {
	weights := []int{readmodel.WeightTypo, readmodel.WeightExact, readmodel.WeightRow, readmodel.WeightName, readmodel.WeightWhole}
	return ranks(func(relevance readmodel.Relevance, record *calendar.Record) (score int) {
		n := relevance.Score(record)
		for _, w := range weights {
			if w != weight {
				score += n / w * w
			}
			n %= w
		}
		return score
	})
}

// has reports whether a record has a value of the first key.
func has(by []readmodel.Sort, document *readmodel.Document) bool {
	return readmodel.Place(by[:1], document.Record)[0].Has
}

// documents changes documents before they are written.
func documents(change func(x *broken, document *readmodel.Document)) func(x *broken) {
	return func(x *broken) {
		x.write = func(batch *readmodel.Batch) {
			batch.Documents = slices.Clone(batch.Documents)
			for i := range batch.Documents {
				if batch.Documents[i].Body != nil {
					change(x, &batch.Documents[i])
				}
			}
		}
	}
}

// tallies changes the selections of a query.
func tallies(change func(query *readmodel.Query, of *readmodel.Tally)) func(x *broken) {
	return func(x *broken) {
		x.ask = func(query *readmodel.Query) {
			query.Tallies = slices.Clone(query.Tallies)
			for i := range query.Tallies {
				change(query, &query.Tallies[i])
			}
		}
	}
}

// tallied changes the answers to tallies.
func tallied(change func(of readmodel.Tally, got *readmodel.Tallied)) func(x *broken) {
	return func(x *broken) {
		x.answer = func(query readmodel.Query, page *readmodel.Page) {
			for i := range query.Tallies {
				change(query.Tallies[i], &page.Tallied[i])
			}
		}
	}
}

func asks(change func(query *readmodel.Query)) func(x *broken) {
	return func(x *broken) { x.ask = change }
}

func answers(change func(query readmodel.Query, page *readmodel.Page)) func(x *broken) {
	return func(x *broken) { x.answer = change }
}

// mutant is a way to break an index, and the case that has to find it.
type mutant struct {
	name, by string
	damage   func(x *broken)
}

const (
	events, venues, tags = "random events", "random venues", "random tags"
	english, chinese     = "phrases en", "phrases cn"
)

var mutants = []mutant{
	{"takes every document", events, func(x *broken) { x.anyway = true }},
	{"quarantine is never left", events, func(x *broken) { x.write = func(b *readmodel.Batch) { b.Healed = nil } }},
	{"reach is lost", "random organizers", func(x *broken) { x.write = func(b *readmodel.Batch) { b.Reach = calendar.Mark{} } }},
	{"reach falls back", events, func(x *broken) {
		x.written = func(b readmodel.Batch) {
			if b.Reach.Position > 0 {
				x.marks.Reach = b.Reach
			}
		}
	}},
	{"marks without hash", events, func(x *broken) { x.written = func(readmodel.Batch) { x.marks.All.Hash = [32]byte{} } }},
	{"position falls back", events, func(x *broken) {
		x.written = func(b readmodel.Batch) {
			if b.Mark.Position > 0 {
				x.marks.All = b.Mark
			}
		}
	}},
	{"healing leaves the content", "content", func(x *broken) { x.visible = func(s *readmodel.Shown) { s.Content = 0 } }},
	{"applies old positions", events, documents(func(x *broken, d *readmodel.Document) { delete(x.documents, d.Record.ID) })},
	{"forgets tombstones", events, func(x *broken) {
		x.written = func(readmodel.Batch) {
			maps.DeleteFunc(x.documents, func(_ calendar.ID, d readmodel.Document) bool { return d.Record.Deleted })
		}
	}},
	{"keeps what is deleted", tags, documents(func(_ *broken, d *readmodel.Document) {
		r := *d.Record
		r.Deleted = false
		d.Record = &r
	})},
	{"keeps old values", "random categories", documents(func(x *broken, d *readmodel.Document) {
		if was, known := x.documents[d.Record.ID]; known {
			r := *d.Record
			r.Fields = maps.Clone(was.Record.Fields)
			maps.Copy(r.Fields, d.Record.Fields)
			d.Record = &r
		}
	})},
	{"bodies are lost", events, answers(func(_ readmodel.Query, page *readmodel.Page) {
		for i := range page.Documents {
			page.Documents[i].Body = nil
		}
	})},
	{"gets tombstones", events, func(x *broken) {
		x.get = func(found map[calendar.ID]readmodel.Document) { maps.Copy(found, x.documents) }
	}},
	{"stamps of all kinds", "stamp", func(x *broken) { x.stamp = func(s *uint64) { *s += uint64(x.marks.All.Position) } }},
	{"stamps stay", "stamp", func(x *broken) { x.stamp = func(s *uint64) { *s = 0 } }},
	{"waits for nothing", "wait ends with the context", func(x *broken) { x.wait = func(context.Context, calendar.Position) error { return nil } }},
	{"waits in vain", "wait", func(x *broken) {
		x.wait = func(context.Context, calendar.Position) error { return context.DeadlineExceeded }
	}},

	{"offset counts pages", events, asks(func(q *readmodel.Query) { q.Offset *= max(q.Limit, 1) })},
	{"limit 0 is no limit", events, asks(func(q *readmodel.Query) {
		if q.Limit == 0 {
			q.Limit = math.MaxInt
		}
	})},
	{"total of the page", events, answers(func(_ readmodel.Query, page *readmodel.Page) { page.Total = len(page.Documents) })},
	{"totals up to 10,000", "exact totals", answers(func(_ readmodel.Query, page *readmodel.Page) { page.Total = min(page.Total, 10_000) })},
	{"pages begin with the place", events, asks(func(q *readmodel.Query) {
		if last := len(q.After) - 1; q.After != nil {
			q.After = slices.Clone(q.After)
			q.After[last].N += map[bool]int64{false: -1, true: 1}[q.Sort[last].Desc]
		}
	})},
	{"pages are not narrowed", events, asks(func(q *readmodel.Query) { q.Narrow = nil })},
	{"nothing is collapsed", events, asks(func(q *readmodel.Query) {
		if q.Collapse != nil {
			q.Collapse = &readmodel.Collapse{Field: q.Collapse.Field, Alone: readmodel.And{}}
		}
	})},
	{"nobody stands alone", events, asks(func(q *readmodel.Query) {
		if q.Collapse != nil {
			q.Collapse = &readmodel.Collapse{Field: q.Collapse.Field}
		}
	})},
	{"groups are of one", events, answers(func(_ readmodel.Query, page *readmodel.Page) {
		for i := range page.Documents {
			if r := page.Documents[i].Repeats; r != nil {
				page.Documents[i].Repeats = &readmodel.Repeats{Count: 1, IDs: r.IDs[:1], First: r.First, Last: r.First}
			}
		}
	})},
	{"tallies know the base only", events, tallies(func(_ *readmodel.Query, of *readmodel.Tally) { of.Filter = nil })},
	{"tallies are of the page's filter", events, tallies(func(q *readmodel.Query, of *readmodel.Tally) { of.Filter = readmodel.Both(of.Filter, q.Narrow) })},
	{"tallies of the state before", "tallies of the state of the page", tallied(func(_ readmodel.Tally, got *readmodel.Tallied) { got.Parts[0]-- })},
	{"parts are sums of values", events, tallied(func(of readmodel.Tally, got *readmodel.Tallied) {
		for i, part := range of.Parts {
			if in, is := part.(readmodel.In); is && in.Field == of.Field {
				got.Parts[i] = 0
				for _, id := range in.IDs {
					got.Parts[i] += got.Values[id]
				}
			}
		}
	})},
	{"parts are missing", events, tallied(func(_ readmodel.Tally, got *readmodel.Tallied) { clear(got.Parts) })},
	{"first value only", events, tallied(func(_ readmodel.Tally, got *readmodel.Tallied) {
		values := slices.Sorted(maps.Keys(got.Values))
		for _, value := range values[min(1, len(values)):] {
			delete(got.Values, value)
		}
	})},
	{"filters are ignored", events, asks(func(q *readmodel.Query) { q.Filter = nil })},
	{"walk ends with its first step", "walks of a view", func(x *broken) {
		x.walked = func(_ *brokenView, use func([]readmodel.Document) error) func([]readmodel.Document) error {
			steps := 0
			return func(some []readmodel.Document) error {
				if steps++; steps > 1 {
					return nil
				}
				return use(some)
			}
		}
	}},
	{"a view moves between its reads", "views of one state", func(x *broken) {
		x.written = func(readmodel.Batch) {
			for v := range x.views {
				v.plainView = x.view()
			}
		}
		x.viewed = func(v *brokenView) { x.views[v] = true }
	}},
	{"a view shows what is written later", "views of one state", func(x *broken) {
		x.viewed = func(v *brokenView) { v.shown.Position += 2 }
	}},
	{"a walk of a view shows what is written meanwhile", "walks of a view", func(x *broken) {
		x.walked = func(_ *brokenView, use func([]readmodel.Document) error) func([]readmodel.Document) error {
			return func(some []readmodel.Document) error {
				now := x.Plain.view().documents
				return use(slices.DeleteFunc(slices.Clone(some), func(d readmodel.Document) bool { return now[d.Record.ID].Position != d.Position }))
			}
		}
	}},
	{"a walk of a view goes on after an error", "walks of a view", func(x *broken) {
		x.walked = func(_ *brokenView, use func([]readmodel.Document) error) func([]readmodel.Document) error {
			var failed error
			return func(some []readmodel.Document) error {
				failed = errors.Join(failed, use(some))
				return nil
			}
		}
	}},

	{"first key only", events, order(func(by []readmodel.Sort, _, _ *readmodel.Document) []readmodel.Sort { return by[:min(1, len(by))] })},
	{"never descends", events, order(func(by []readmodel.Sort, _, _ *readmodel.Document) []readmodel.Sort {
		for i := range by {
			by[i].Desc = by[i].Rank != nil
		}
		return by
	})},
	{"missing values first", events, func(x *broken) {
		x.compare = func(by []readmodel.Sort, a, b *readmodel.Document) int {
			if len(by) > 0 && has(by, a) != has(by, b) {
				return -readmodel.Compare(by, a, b)
			}
			return readmodel.Compare(by, a, b)
		}
	}},
	{"the first id is the least", events, order(func(by []readmodel.Sort, a, b *readmodel.Document) []readmodel.Sort {
		if len(by) > 0 && by[0].Least != nil {
			first := map[calendar.ID]int64{}
			for _, d := range []*readmodel.Document{a, b} {
				if ids := field(d.Record, by[0].Field).Numbers(d.Record); len(ids) > 0 {
					if n, known := by[0].Least[calendar.ID(ids[0])]; known {
						first[calendar.ID(ids[0])] = n
					}
				}
			}
			by[0].Least = first
		}
		return by
	})},

	{"not is ignored", events, replace(func(readmodel.Not, *calendar.Record) readmodel.Filter { return readmodel.And{} })},
	{"empty or admits", events, replace(func(f readmodel.Or, _ *calendar.Record) readmodel.Filter {
		if len(f) == 0 {
			return readmodel.And{}
		}
		return f
	})},
	{"empty and admits nothing", events, replace(func(f readmodel.And, _ *calendar.Record) readmodel.Filter {
		if len(f) == 0 {
			return readmodel.Or{}
		}
		return f
	})},
	{"upper bound is open", events, replace(func(f readmodel.Range, _ *calendar.Record) readmodel.Filter {
		if f.Max != readmodel.AllNumbers.Max {
			f.Max--
		}
		return f
	})},
	{"missing numbers are 0", events, replace(func(f readmodel.Range, r *calendar.Record) readmodel.Filter {
		if len(field(r, f.Field).Numbers(r)) == 0 {
			return admits(f.Min <= 0 && f.Max >= 0)
		}
		return f
	})},
	{"first id only", events, replace(func(f readmodel.In, r *calendar.Record) readmodel.Filter {
		if numbers := field(r, f.Field).Numbers(r); len(numbers) > 0 {
			return admits(slices.Contains(f.IDs, calendar.ID(numbers[0])))
		}
		return f
	})},
	{"contains begins with", tags, replace(func(f readmodel.Contains, r *calendar.Record) readmodel.Filter {
		return admits(slices.ContainsFunc(f.Fields, func(name string) bool { return strings.HasPrefix(field(r, name).Keyword(r), f.Value) }))
	})},
	{"a range without bounds is for all", events, replace(func(f readmodel.Range, _ *calendar.Record) readmodel.Filter {
		if f.Span == readmodel.AllNumbers {
			return readmodel.And{}
		}
		return f
	})},

	{"minds case", english, search(func(f *readmodel.Text, _ *calendar.Record) {
		if f.Search.Query != strings.ToLower(f.Search.Query) {
			f.Fields = nil
		}
	})},
	{"minds accents", "phrases fr", search(func(f *readmodel.Text, _ *calendar.Record) {
		if lower := strings.ToLower(f.Search.Query); lower != readmodel.Fold(lower) {
			f.Fields = nil
		}
	})},
	{"details are not searched", venues, replace(func(f readmodel.Text, r *calendar.Record) readmodel.Filter {
		return admits(readmodel.Match(f, withTexts(r, readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt)))
	})},
	{"whole words only", "phrases es", search(func(f *readmodel.Text, _ *calendar.Record) {
		f.Search.Must = slices.Clone(f.Search.Must)
		for i := range f.Search.Must {
			f.Search.Must[i].Open = false
		}
	})},
	{"any word will do", english, replace(func(f readmodel.Text, _ *calendar.Record) readmodel.Filter {
		out := readmodel.Or{}
		for _, piece := range f.Search.Must {
			f.Search.Must = []readmodel.Piece{piece}
			out = append(out, f)
		}
		return out
	})},
	{"one field for all words", events, replace(func(f readmodel.Text, r *calendar.Record) readmodel.Filter {
		return admits(slices.ContainsFunc(f.Fields, func(name string) bool {
			return readmodel.Match(f, withTexts(r, name))
		}))
	})},
	{"quotes are ignored", english, search(func(f *readmodel.Text, _ *calendar.Record) {
		f.Search = readmodel.ParseSearch(strings.ReplaceAll(f.Search.Query, `"`, " "), f.Search.Lang)
	})},
	{"minus is ignored", english, search(func(f *readmodel.Text, _ *calendar.Record) { f.Search.Not = nil })},
	{"characters anywhere", chinese, search(func(f *readmodel.Text, _ *calendar.Record) {
		var pieces []readmodel.Piece
		for _, piece := range f.Search.Must {
			for i := range piece.Tokens {
				pieces = append(pieces, readmodel.Piece{Tokens: piece.Tokens[i : i+1], Open: true})
			}
		}
		f.Search.Must = pieces
	})},
	{"common words have to fit", english, search(func(f *readmodel.Text, _ *calendar.Record) {
		f.Search.Must = slices.Clone(f.Search.Must)
		for _, token := range f.Search.Full {
			f.Search.Must = append(f.Search.Must, readmodel.Piece{Tokens: []string{token}, Open: true})
		}
	})},
	{"eight words at most", "the largest searches", search(func(f *readmodel.Text, _ *calendar.Record) {
		f.Search.Must, f.Search.Not = f.Search.Must[:min(8, len(f.Search.Must))], nil
	})},
	{"searches all languages", events, replace(func(f readmodel.Text, r *calendar.Record) readmodel.Filter {
		return admits(slices.ContainsFunc(calendar.Langs[:], func(l calendar.Lang) bool {
			f.Search = readmodel.ParseSearch(f.Search.Query, l)
			return readmodel.Match(f, &readmodel.Document{Record: r})
		}))
	})},
	{"searches the home language only", events, search(func(f *readmodel.Text, r *calendar.Record) { f.Search = readmodel.ParseSearch(f.Search.Query, r.Home) })},

	{"no typos", events, search(func(f *readmodel.Text, _ *calendar.Record) { f.Typos = 0 })},
	{"every step is two", events, search(func(f *readmodel.Text, _ *calendar.Record) { f.Typos = min(2*f.Typos, readmodel.MaxTypos) })},
	{"typos after a minus", events, replace(func(f readmodel.Text, _ *calendar.Record) readmodel.Filter {
		out := readmodel.And{f}
		f.Search.Must, f.Search.Not = f.Search.Not, nil
		for _, piece := range f.Search.Must {
			f.Search.Must = []readmodel.Piece{piece}
			out = append(out, readmodel.Not{Filter: f})
		}
		return out
	})},
	{"joined spellings after a minus", "joined spellings", replace(func(f readmodel.Text, _ *calendar.Record) readmodel.Filter {
		out := readmodel.And{f}
		for _, piece := range f.Search.Not {
			out = append(out, readmodel.Not{Filter: readmodel.Text{
				Fields: f.Fields, Search: readmodel.Expression{Lang: f.Search.Lang, Must: []readmodel.Piece{piece}}, Spelling: readmodel.Spelling{Joined: f.Joined},
			}})
		}
		return out
	})},
	{"no joined spellings", "joined spellings", search(func(f *readmodel.Text, _ *calendar.Record) { f.Joined = false })},
	{"typed rows are words", english, search(func(f *readmodel.Text, _ *calendar.Record) {
		var pieces []readmodel.Piece
		for _, p := range f.Search.Must {
			if !p.Open {
				pieces = append(pieces, p)
				continue
			}
			for i := range p.Tokens {
				pieces = append(pieces, readmodel.Piece{Tokens: p.Tokens[i : i+1], Open: true})
			}
		}
		f.Search.Must = pieces
	})},
	{"typos in short words", events, misspelt(func(word, token string, most int) bool {
		return readmodel.Typos(word, token, max(1, most)) <= max(1, most)
	})},
	{"the first letter stays", events, misspelt(func(word, token string, most int) bool {
		return word[0] == token[0] && readmodel.Typos(word, token, most) <= most
	})},
	{"typos in beginnings", events, misspelt(func(word, token string, most int) bool {
		for i := range token {
			if most > 0 && readmodel.Typos(word, token[:i], most) <= most {
				return true
			}
		}
		return readmodel.Typos(word, token, most) <= most
	})},

	{"ranks are ignored", events, ranks(func(readmodel.Relevance, *calendar.Record) int { return 0 })},
	{"typos do not rank", events, without(readmodel.WeightTypo)},
	{"exact names do not rank", events, without(readmodel.WeightExact)},
	{"rows of names do not rank", events, without(readmodel.WeightRow)},
	{"names do not rank", events, without(readmodel.WeightName)},
	{"whole words do not rank", events, without(readmodel.WeightWhole)},
	{"ranks by names show all texts", events, ranks(func(f readmodel.Relevance, r *calendar.Record) int {
		f.Title = nil
		return f.Score(r)
	})},
}
