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
	write   func(batch *readmodel.Batch) // before it is written
	written func(batch readmodel.Batch)
	ask     func(query *readmodel.Query)
	answer  func(query readmodel.Query, page *readmodel.Page)
	wait    func(ctx context.Context, position calendar.Position) error
	visible func(shown *readmodel.VisibleState)
	get     func(id calendar.ID, record **calendar.Record)
	viewed  func(view *brokenView)
	stamp   func(s *uint64)
	walked  func(view *brokenView, use func([]readmodel.Document) error) func([]readmodel.Document) error
	anyway  bool // bad documents are taken
	views   map[*brokenView]bool
}

func (broken *broken) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	if broken.write != nil {
		broken.write(&batch)
	}
	errs, err := broken.Plain.Write(ctx, batch)
	if broken.written != nil {
		broken.written(batch)
	}
	if broken.anyway {
		clear(errs)
	}
	return errs, err
}

func (broken *broken) View(context.Context) (readmodel.View, error) {
	view := &brokenView{broken.view(), broken}
	if broken.viewed != nil {
		broken.viewed(view)
	}
	return view, nil
}

// brokenView is a view of a broken index.
type brokenView struct {
	*plainView
	broken *broken
}

func (brokenView *brokenView) Search(ctx context.Context, query readmodel.Query) (readmodel.Page, error) {
	asked := query
	if brokenView.broken.ask != nil {
		brokenView.broken.ask(&asked)
	}
	page, err := brokenView.plainView.Search(ctx, asked)
	if brokenView.broken.answer != nil && err == nil {
		brokenView.broken.answer(query, &page)
	}
	return page, err
}

func (brokenView *brokenView) Walk(ctx context.Context, query readmodel.Query, use func([]readmodel.Document) error) error {
	if brokenView.broken.ask != nil {
		brokenView.broken.ask(&query)
	}
	if brokenView.broken.walked != nil {
		use = brokenView.broken.walked(brokenView, use)
	}
	return brokenView.plainView.Walk(ctx, query, use)
}

func (brokenView *brokenView) Get(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	found, err := brokenView.plainView.Get(ctx, ids...)
	for i, id := range ids {
		if brokenView.broken.get != nil {
			brokenView.broken.get(id, &found[i])
		}
	}
	return found, err
}

func (brokenView *brokenView) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	s, err := brokenView.plainView.Stamp(ctx, kind)
	return after(brokenView.broken.stamp, s, err)
}

func (broken *broken) Wait(ctx context.Context, position calendar.Position) error {
	if broken.wait != nil {
		return broken.wait(ctx, position)
	}
	return broken.Plain.Wait(ctx, position)
}

// after calls a hook with what a method gave.
func after[T any](hook func(*T), value T, err error) (T, error) {
	if hook != nil {
		hook(&value)
	}
	return value, err
}

func (broken *broken) Visible(ctx context.Context) (readmodel.VisibleState, error) {
	shown, err := broken.Plain.Visible(ctx)
	return after(broken.visible, shown, err)
}

// replace has one form of filters replaced, for a document.
func replace[F readmodel.Filter](with func(f F, record *calendar.Record) readmodel.Filter) func(x *broken) {
	return func(x *broken) {
		x.match = func(filter readmodel.Filter, record *calendar.Record) bool {
			if whole, ok := filter.(F); ok {
				return readmodel.Match(with(whole, record), record)
			}
			switch f := filter.(type) {
			case readmodel.And:
				return !slices.ContainsFunc(f, func(part readmodel.Filter) bool { return !x.match(part, record) })
			case readmodel.Or:
				return slices.ContainsFunc(f, func(part readmodel.Filter) bool { return x.match(part, record) })
			case readmodel.Not:
				return !x.match(f.Filter, record)
			}
			return readmodel.Match(filter, record)
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

// withTexts returns a record without other texts.
func withTexts(record *calendar.Record, names ...string) *calendar.Record {
	some := *record
	some.Fields = maps.Clone(record.Fields)
	for _, name := range readmodel.SchemaOf(record.Kind).Texts {
		if name == readmodel.TextName && !slices.Contains(names, name) {
			delete(some.Fields, record.Kind.NameField())
		} else if !slices.Contains(names, name) {
			delete(some.Fields, name)
		}
	}
	return &some
}

func field(record *calendar.Record, name string) *readmodel.Field {
	return readmodel.SchemaOf(record.Kind).Field(name)
}

// search has searches replaced.
func search(with func(text *readmodel.Text, record *calendar.Record)) func(broken *broken) {
	return replace(func(text readmodel.Text, record *calendar.Record) readmodel.Filter {
		with(&text, record)
		return text
	})
}

// misspelt has a word with typos fit a token of a shown text where a function says so.
func misspelt(fits func(word, token string, most int) bool) func(broken *broken) {
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
func order(with func(sorts []readmodel.Sort, document, b *readmodel.Document) []readmodel.Sort) func(x *broken) {
	return func(x *broken) {
		x.compare = func(sorts []readmodel.Sort, a, b *readmodel.Document) int {
			return Compare(with(slices.Clone(sorts), a, b), a, b)
		}
	}
}

// ranks has documents ranked by another score.
func ranks(score func(relevance readmodel.Relevance, record *calendar.Record) int) func(x *broken) {
	return func(x *broken) {
		x.compare = func(sorts []readmodel.Sort, a, b *readmodel.Document) int {
			if len(sorts) == 0 || sorts[0].Rank == nil {
				return Compare(sorts, a, b)
			}
			if c := score(*sorts[0].Rank, b.Record) - score(*sorts[0].Rank, a.Record); c != 0 {
				return c
			}
			return Compare(sorts[1:], a, b)
		}
	}
}

// without is a score without one of its weights.
func without(weight int) func(broken *broken) {
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
func has(sorts []readmodel.Sort, document *readmodel.Document) bool {
	return readmodel.Place(sorts[:1], document.Record)[0].Has
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
func tallies(change func(query *readmodel.Query, tally *readmodel.Tally)) func(x *broken) {
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
func tallied(change func(tally readmodel.Tally, got *readmodel.TallyAnswer)) func(x *broken) {
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
	{"quarantine is never left", events, func(x *broken) { x.write = func(batch *readmodel.Batch) { batch.Healed = nil } }},
	{"reach is lost", "random organizers", func(x *broken) { x.write = func(batch *readmodel.Batch) { batch.Reach = calendar.Mark{} } }},
	{"reach falls back", events, func(x *broken) {
		x.written = func(batch readmodel.Batch) {
			if batch.Reach.Position > 0 {
				x.marks.Reach = batch.Reach
			}
		}
	}},
	{"marks without hash", events, func(x *broken) { x.written = func(readmodel.Batch) { x.marks.All.Hash = [32]byte{} } }},
	{"position falls back", events, func(x *broken) {
		x.written = func(batch readmodel.Batch) {
			if batch.Mark.Position > 0 {
				x.marks.All = batch.Mark
			}
		}
	}},
	{"healing leaves the content", "content", func(x *broken) { x.visible = func(shown *readmodel.VisibleState) { shown.Content = 0 } }},
	{"applies old positions", events, documents(func(x *broken, document *readmodel.Document) { delete(x.documents, document.Record.ID) })},
	{"forgets tombstones", events, func(x *broken) {
		x.written = func(readmodel.Batch) {
			maps.DeleteFunc(x.documents, func(_ calendar.ID, document readmodel.Document) bool { return document.Record.Deleted })
		}
	}},
	{"keeps what is deleted", tags, documents(func(_ *broken, document *readmodel.Document) {
		record := *document.Record
		record.Deleted = false
		document.Record = &record
	})},
	{"keeps old values", "random categories", documents(func(x *broken, document *readmodel.Document) {
		if was, known := x.documents[document.Record.ID]; known {
			record := *document.Record
			record.Fields = maps.Clone(was.Record.Fields)
			maps.Copy(record.Fields, document.Record.Fields)
			document.Record = &record
		}
	})},
	{"bodies are lost", events, answers(func(_ readmodel.Query, page *readmodel.Page) {
		for i := range page.Documents {
			page.Documents[i].Body = nil
		}
	})},
	{"gets tombstones", events, func(x *broken) {
		x.get = func(id calendar.ID, record **calendar.Record) { *record = x.documents[id].Record }
	}},
	{"stamps of all kinds", "stamp", func(x *broken) { x.stamp = func(s *uint64) { *s += uint64(x.marks.All.Position) } }},
	{"stamps stay", "stamp", func(x *broken) { x.stamp = func(s *uint64) { *s = 0 } }},
	{"waits for nothing", "wait ends with the context", func(x *broken) { x.wait = func(context.Context, calendar.Position) error { return nil } }},
	{"waits in vain", "wait", func(x *broken) {
		x.wait = func(context.Context, calendar.Position) error { return context.DeadlineExceeded }
	}},

	{"offset counts pages", events, asks(func(query *readmodel.Query) { query.Offset *= max(query.Limit, 1) })},
	{"limit 0 is no limit", events, asks(func(query *readmodel.Query) {
		if query.Limit == 0 {
			query.Limit = math.MaxInt
		}
	})},
	{"total of the page", events, answers(func(_ readmodel.Query, page *readmodel.Page) { page.Total = len(page.Documents) })},
	{"totals up to 10,000", "exact totals", answers(func(_ readmodel.Query, page *readmodel.Page) { page.Total = min(page.Total, 10_000) })},
	{"pages begin with the place", events, asks(func(query *readmodel.Query) {
		if last := len(query.After) - 1; query.After != nil {
			query.After = slices.Clone(query.After)
			query.After[last].N += map[bool]int64{false: -1, true: 1}[query.Sort[last].Desc]
		}
	})},
	{"a place has all keys", "places without values", asks(func(query *readmodel.Query) {
		query.After = slices.Clone(query.After)
		for i := range query.After {
			query.After[i].Has = true
		}
	})},
	{"pages are not narrowed", events, asks(func(query *readmodel.Query) { query.Narrow = nil })},
	{"nothing is collapsed", events, asks(func(query *readmodel.Query) {
		if query.Collapse != nil {
			query.Collapse = &readmodel.Collapse{Field: query.Collapse.Field, Alone: readmodel.And{}}
		}
	})},
	{"nobody stands alone", events, asks(func(query *readmodel.Query) {
		if query.Collapse != nil {
			query.Collapse = &readmodel.Collapse{Field: query.Collapse.Field}
		}
	})},
	{"groups are of one", events, answers(func(_ readmodel.Query, page *readmodel.Page) {
		for i := range page.Documents {
			if repeats := page.Documents[i].Repeats; repeats != nil {
				page.Documents[i].Repeats = &readmodel.Repeats{Count: 1, IDs: repeats.IDs[:1], First: repeats.First, Last: repeats.First}
			}
		}
	})},
	{"tallies know the base only", events, tallies(func(_ *readmodel.Query, tally *readmodel.Tally) { tally.Filter = nil })},
	{"tallies are of the page's filter", events, tallies(func(query *readmodel.Query, tally *readmodel.Tally) {
		tally.Filter = readmodel.And{tally.Filter, query.Narrow}
	})},
	{"tallies of the state before", "tallies of the state of the page", tallied(func(_ readmodel.Tally, got *readmodel.TallyAnswer) { got.Parts[0]-- })},
	{"parts are sums of values", events, tallied(func(tally readmodel.Tally, got *readmodel.TallyAnswer) {
		for i, part := range tally.Parts {
			if in, is := part.(readmodel.In); is && in.Field == tally.Field {
				got.Parts[i] = 0
				for _, id := range in.IDs {
					got.Parts[i] += got.Values[id]
				}
			}
		}
	})},
	{"parts are missing", events, tallied(func(_ readmodel.Tally, got *readmodel.TallyAnswer) { clear(got.Parts) })},
	{"first value only", events, tallied(func(_ readmodel.Tally, got *readmodel.TallyAnswer) {
		values := slices.Sorted(maps.Keys(got.Values))
		for _, value := range values[min(1, len(values)):] {
			delete(got.Values, value)
		}
	})},
	{"filters are ignored", events, asks(func(query *readmodel.Query) { query.Filter = nil })},
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
			for view := range x.views {
				view.plainView = x.view()
			}
		}
		x.viewed = func(view *brokenView) { x.views[view] = true }
	}},
	{"a view shows what is written later", "views of one state", func(x *broken) {
		x.viewed = func(view *brokenView) { view.shown.Position += 2 }
	}},
	{"a walk of a view shows what is written meanwhile", "walks of a view", func(x *broken) {
		x.walked = func(_ *brokenView, use func([]readmodel.Document) error) func([]readmodel.Document) error {
			return func(some []readmodel.Document) error {
				now := x.Plain.view().documents
				return use(slices.DeleteFunc(slices.Clone(some), func(document readmodel.Document) bool { return now[document.Record.ID].Position != document.Position }))
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

	{"first key only", events, order(func(sorts []readmodel.Sort, _, _ *readmodel.Document) []readmodel.Sort {
		return sorts[:min(1, len(sorts))]
	})},
	{"never descends", events, order(func(sorts []readmodel.Sort, _, _ *readmodel.Document) []readmodel.Sort {
		for i := range sorts {
			sorts[i].Desc = sorts[i].Rank != nil
		}
		return sorts
	})},
	{"missing values first", events, func(x *broken) {
		x.compare = func(sorts []readmodel.Sort, a, b *readmodel.Document) int {
			if len(sorts) > 0 && has(sorts, a) != has(sorts, b) {
				return -Compare(sorts, a, b)
			}
			return Compare(sorts, a, b)
		}
	}},
	{"the first id is the least", events, order(func(sorts []readmodel.Sort, a, b *readmodel.Document) []readmodel.Sort {
		if len(sorts) > 0 && sorts[0].Least != nil {
			first := map[calendar.ID]int64{}
			for _, d := range []*readmodel.Document{a, b} {
				if ids := field(d.Record, sorts[0].Field).Numbers(d.Record); len(ids) > 0 {
					if n, known := sorts[0].Least[calendar.ID(ids[0])]; known {
						first[calendar.ID(ids[0])] = n
					}
				}
			}
			sorts[0].Least = first
		}
		return sorts
	})},

	{"not is ignored", events, replace(func(readmodel.Not, *calendar.Record) readmodel.Filter { return readmodel.And{} })},
	{"empty or admits", events, replace(func(or readmodel.Or, _ *calendar.Record) readmodel.Filter {
		if len(or) == 0 {
			return readmodel.And{}
		}
		return or
	})},
	{"empty and admits nothing", events, replace(func(and readmodel.And, _ *calendar.Record) readmodel.Filter {
		if len(and) == 0 {
			return readmodel.Or{}
		}
		return and
	})},
	{"upper bound is open", events, replace(func(f readmodel.Range, _ *calendar.Record) readmodel.Filter {
		if f.Max != readmodel.AllNumbers.Max {
			f.Max--
		}
		return f
	})},
	{"missing numbers are 0", events, replace(func(f readmodel.Range, record *calendar.Record) readmodel.Filter {
		if len(field(record, f.Field).Numbers(record)) == 0 {
			return admits(f.Min <= 0 && f.Max >= 0)
		}
		return f
	})},
	{"first id only", events, replace(func(f readmodel.In, record *calendar.Record) readmodel.Filter {
		if numbers := field(record, f.Field).Numbers(record); len(numbers) > 0 {
			return admits(slices.Contains(f.IDs, calendar.ID(numbers[0])))
		}
		return f
	})},
	{"contains begins with", tags, replace(func(contains readmodel.Contains, record *calendar.Record) readmodel.Filter {
		return admits(slices.ContainsFunc(contains.Fields, func(name string) bool { return strings.HasPrefix(field(record, name).Keyword(record), contains.Value) }))
	})},
	{"a range without bounds is for all", events, replace(func(f readmodel.Range, _ *calendar.Record) readmodel.Filter {
		if f.Span == readmodel.AllNumbers {
			return readmodel.And{}
		}
		return f
	})},

	{"minds case", english, search(func(text *readmodel.Text, _ *calendar.Record) {
		if text.Search.Query != strings.ToLower(text.Search.Query) {
			text.Fields = nil
		}
	})},
	{"minds accents", "phrases fr", search(func(text *readmodel.Text, _ *calendar.Record) {
		if lower := strings.ToLower(text.Search.Query); lower != readmodel.Fold(lower) {
			text.Fields = nil
		}
	})},
	{"details are not searched", venues, replace(func(text readmodel.Text, record *calendar.Record) readmodel.Filter {
		return admits(readmodel.Match(text, withTexts(record, readmodel.TextName, readmodel.TextDescription, readmodel.TextExcerpt)))
	})},
	{"whole words only", "phrases es", search(func(text *readmodel.Text, _ *calendar.Record) {
		text.Search.Must = slices.Clone(text.Search.Must)
		for i := range text.Search.Must {
			text.Search.Must[i].Open = false
		}
	})},
	{"any word will do", english, replace(func(text readmodel.Text, _ *calendar.Record) readmodel.Filter {
		out := readmodel.Or{}
		for _, piece := range text.Search.Must {
			text.Search.Must = []readmodel.Piece{piece}
			out = append(out, text)
		}
		return out
	})},
	{"one field for all words", events, replace(func(text readmodel.Text, record *calendar.Record) readmodel.Filter {
		return admits(slices.ContainsFunc(text.Fields, func(name string) bool {
			return readmodel.Match(text, withTexts(record, name))
		}))
	})},
	{"quotes are ignored", english, search(func(text *readmodel.Text, _ *calendar.Record) {
		text.Search = readmodel.ParseSearch(strings.ReplaceAll(text.Search.Query, `"`, " "), text.Search.Lang)
	})},
	{"minus is ignored", english, search(func(text *readmodel.Text, _ *calendar.Record) { text.Search.Not = nil })},
	{"characters anywhere", chinese, search(func(text *readmodel.Text, _ *calendar.Record) {
		var pieces []readmodel.Piece
		for _, piece := range text.Search.Must {
			for i := range piece.Tokens {
				pieces = append(pieces, readmodel.Piece{Tokens: piece.Tokens[i : i+1], Open: true})
			}
		}
		text.Search.Must = pieces
	})},
	{"common words have to fit", english, search(func(text *readmodel.Text, _ *calendar.Record) {
		text.Search.Must = slices.Clone(text.Search.Must)
		for _, token := range text.Search.Full {
			text.Search.Must = append(text.Search.Must, readmodel.Piece{Tokens: []string{token}, Open: true})
		}
	})},
	{"eight words at most", "the largest searches", search(func(text *readmodel.Text, _ *calendar.Record) {
		text.Search.Must, text.Search.Not = text.Search.Must[:min(8, len(text.Search.Must))], nil
	})},
	{"searches all languages", events, replace(func(text readmodel.Text, record *calendar.Record) readmodel.Filter {
		return admits(slices.ContainsFunc(calendar.Langs[:], func(lang calendar.Lang) bool {
			text.Search = readmodel.ParseSearch(text.Search.Query, lang)
			return readmodel.Match(text, record)
		}))
	})},
	{"searches the home language only", events, search(func(text *readmodel.Text, record *calendar.Record) {
		text.Search = readmodel.ParseSearch(text.Search.Query, record.Home)
	})},

	{"no typos", events, search(func(text *readmodel.Text, _ *calendar.Record) { text.Typos = 0 })},
	{"every step is two", events, search(func(text *readmodel.Text, _ *calendar.Record) { text.Typos = min(2*text.Typos, readmodel.MaxTypos) })},
	{"typos after a minus", events, replace(func(text readmodel.Text, _ *calendar.Record) readmodel.Filter {
		out := readmodel.And{text}
		text.Search.Must, text.Search.Not = text.Search.Not, nil
		for _, piece := range text.Search.Must {
			text.Search.Must = []readmodel.Piece{piece}
			out = append(out, readmodel.Not{Filter: text})
		}
		return out
	})},
	{"joined spellings after a minus", "joined spellings", replace(func(text readmodel.Text, _ *calendar.Record) readmodel.Filter {
		out := readmodel.And{text}
		for _, piece := range text.Search.Not {
			out = append(out, readmodel.Not{Filter: readmodel.Text{
				Fields: text.Fields, Search: readmodel.Expression{Lang: text.Search.Lang, Must: []readmodel.Piece{piece}}, Spelling: readmodel.Spelling{Joined: text.Joined},
			}})
		}
		return out
	})},
	{"no joined spellings", "joined spellings", search(func(text *readmodel.Text, _ *calendar.Record) { text.Joined = false })},
	{"typed rows are words", english, search(func(text *readmodel.Text, _ *calendar.Record) {
		var pieces []readmodel.Piece
		for _, p := range text.Search.Must {
			if !p.Open {
				pieces = append(pieces, p)
				continue
			}
			for i := range p.Tokens {
				pieces = append(pieces, readmodel.Piece{Tokens: p.Tokens[i : i+1], Open: true})
			}
		}
		text.Search.Must = pieces
	})},
	{"typos in short words", events, misspelt(func(word, token string, most int) bool {
		return readmodel.Typos([]rune(word), []rune(token), max(1, most)) <= max(1, most)
	})},
	{"the first letter stays", events, misspelt(func(word, token string, most int) bool {
		return word[0] == token[0] && readmodel.Typos([]rune(word), []rune(token), most) <= most
	})},
	{"typos in beginnings", events, misspelt(func(word, token string, most int) bool {
		for i := range token {
			if most > 0 && readmodel.Typos([]rune(word), []rune(token[:i]), most) <= most {
				return true
			}
		}
		return readmodel.Typos([]rune(word), []rune(token), most) <= most
	})},

	{"ranks are ignored", events, ranks(func(readmodel.Relevance, *calendar.Record) int { return 0 })},
	{"typos do not rank", events, without(readmodel.WeightTypo)},
	{"exact names do not rank", events, without(readmodel.WeightExact)},
	{"rows of names do not rank", events, without(readmodel.WeightRow)},
	{"names do not rank", events, without(readmodel.WeightName)},
	{"whole words do not rank", events, without(readmodel.WeightWhole)},
	{"ranks by names show all texts", events, ranks(func(relevance readmodel.Relevance, record *calendar.Record) int {
		relevance.Title = nil
		return relevance.Score(record)
	})},
}
