package memindex

import (
	"cmp"
	"context"
	"math"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// finding is what a filter found on the layers of a state.
type finding struct {
	layers  []*evaluation
	results []bitset
	counts  []int
	total   int
}

// find evaluates a filter on all layers of a kind. The finding has to be closed.
func (state *state) find(ctx context.Context, kind calendar.Kind, filter readmodel.Filter) *finding {
	layers := state.kinds[kind]
	all := &finding{layers: make([]*evaluation, len(layers)), results: make([]bitset, len(layers))}
	for i, layer := range layers {
		all.layers[i], all.results[i] = &evaluation{liveSegment: layer, ctx: ctx}, layer.live
	}
	return all.narrowed(filter)
}

// narrowed returns what another filter admits of what was found, to be closed as well.
func (search *finding) narrowed(filter readmodel.Filter) *finding {
	result := &finding{layers: search.layers, results: make([]bitset, len(search.layers)), counts: make([]int, len(search.layers))}
	for i, evaluation := range search.layers {
		docs := scratchOf(search.results[i])
		evaluation.narrow(docs, filter)
		result.results[i], result.counts[i] = docs, docs.count()
		result.total += result.counts[i]
	}
	return result
}

// close returns what the finding holds; its error is that of the context.
func (search *finding) close() (err error) {
	for i, evaluation := range search.layers {
		release(search.results[i])
		err = cmp.Or(err, evaluation.err)
	}
	return err
}

// hits returns the first hits of a query, in order.
func (search *finding) hits(ordering *ordering, limit int) (hits []hit) {
	for i, evaluation := range search.layers {
		if count := min(limit, search.counts[i]); count > 0 {
			hits = ordering.merge(hits, ordering.first(ordering.on(evaluation, search.results[i]), search.results[i], count), limit)
		}
	}
	return hits
}

// least returns the key of an order by the numbers of ids.
func (evaluation *evaluation) least(sort *readmodel.Sort) func(uint32) readmodel.Key {
	column := evaluation.Numbers[sort.Field]
	return func(ordinal uint32) readmodel.Key {
		places := column.of(ordinal)
		numbers := make([]int64, len(places))
		for i, place := range places {
			numbers[i] = column.Values[place]
		}
		return sort.KeyOf(numbers)
	}
}

// rank returns the score of documents in an order by relevance, see
// readmodel.Relevance.Score.
func (evaluation *evaluation) rank(relevance *readmodel.Relevance, docs bitset) func(uint32) readmodel.Key {
	scores := make([]int32, len(evaluation.Docs))
	add := func(among bitset, text readmodel.Text) {
		if among.empty() {
			return
		}
		text.EachRank(func(weight int, search readmodel.Text) {
			subset := scratchOf(among)
			evaluation.search(subset, search)
			for ordinal := range subset.each {
				scores[ordinal] += int32(weight)
			}
			release(subset)
		})
	}
	named, others := scratch(len(evaluation.Docs)), scratchOf(docs) // those that are ranked by their name, and the rest
	if relevance.Title != nil {
		copy(named, docs)
		evaluation.narrow(named, relevance.Title)
		others.andNot(named)
	}
	add(named, relevance.InName())
	add(others, relevance.Text)
	release(named)
	release(others)
	return func(ordinal uint32) readmodel.Key { return readmodel.Key{N: int64(scores[ordinal]), Has: true} }
}

// Search implements readmodel.View.
func (view *view) Search(ctx context.Context, query readmodel.Query) (readmodel.Page, error) {
	if err := ctx.Err(); err != nil {
		return readmodel.Page{}, err
	}
	page := readmodel.Page{Tallied: make([]readmodel.TallyAnswer, len(query.Tallies))}
	found := view.find(ctx, query.Kind, query.Filter)
	for i := range query.Tallies {
		some := found.narrowed(query.Tallies[i].Filter)
		page.Tallied[i] = some.tally(&query.Tallies[i])
		_ = some.close() // an error of the context stays
	}
	if query.Narrow != nil {
		all := found
		found = all.narrowed(query.Narrow)
		_ = all.close()
	}
	hits, repeats := found.page(&query)
	page.Total = found.total
	if err := found.close(); err != nil {
		return readmodel.Page{}, err
	}
	var err error
	page.Documents, err = view.documents(hits, repeats)
	return page, err
}

// page returns the hits of a page; of a query that collapses, with their groups.
func (search *finding) page(query *readmodel.Query) ([]hit, []*readmodel.Repeats) {
	order := newOrdering(query.Sort, query.After)
	if query.Collapse != nil {
		return search.collapse(order, query)
	}
	if query.Limit == 0 || query.Offset >= search.total {
		return nil, nil
	}
	hits := search.hits(order, min(query.Offset+min(query.Limit, search.total), search.total))
	return hits[min(query.Offset, len(hits)):], nil
}

// collapse returns the first hits of groups. The total is that of the groups then.
func (search *finding) collapse(order *ordering, query *readmodel.Query) (hits []hit, repeats []*readmodel.Repeats) {
	alone := map[*segment]bitset{}
	if query.Collapse.Alone != nil {
		for i, evaluation := range search.layers {
			docs := scratchOf(search.results[i])
			defer release(docs)
			evaluation.narrow(docs, query.Collapse.Alone)
			alone[evaluation.segment] = docs
		}
	}
	groups := map[int64]*readmodel.Repeats{}
	total, until := 0, query.Offset+min(query.Limit, search.total)
	for _, hit := range search.hits(order, search.total) {
		number, has := hit.ordered.Numbers[query.Collapse.Field].first(hit.at)
		single := !has || query.Collapse.Alone != nil && alone[hit.ordered.segment].has(hit.at)
		g, known := groups[number]
		if single || !known {
			g = nil
			if total >= query.Offset && total < until {
				g = &readmodel.Repeats{}
				hits, repeats = append(hits, hit), append(repeats, g)
			}
			total++
			if !single {
				groups[number] = g
			}
		}
		if g != nil {
			g.Add(hit.doc().ID, hit.ordered.Numbers[readmodel.FieldStart].key(hit.at))
		}
	}
	search.total = total
	return hits, repeats
}

// tally answers a tally about what was found.
func (search *finding) tally(tally *readmodel.Tally) readmodel.TallyAnswer {
	tallyAnswer := readmodel.TallyAnswer{Values: map[calendar.ID]int{}, Parts: make([]int, len(tally.Parts))}
	for index, evaluation := range search.layers {
		docs := search.results[index]
		if search.counts[index] == 0 {
			continue
		}
		if tally.Field != "" {
			count(evaluation.Numbers[tally.Field], docs, tallyAnswer.Values)
		}
		for part, filter := range tally.Parts {
			subset := scratchOf(docs)
			evaluation.narrow(subset, filter)
			tallyAnswer.Parts[part] += subset.count()
			release(subset)
		}
	}
	return tallyAnswer
}

// count adds how many of some documents have each value of a column.
func count(column *column[int64], docs bitset, to map[calendar.ID]int) {
	if docs.count() < len(column.Values) {
		for ordinal := range docs.each {
			for _, number := range column.of(ordinal) {
				to[calendar.ID(column.Values[number])]++
			}
		}
		return
	}
	counts := make([]int, len(column.Values))
	for ordinal := range docs.each {
		for _, number := range column.of(ordinal) {
			counts[number]++
		}
	}
	for number, count := range counts {
		if count > 0 {
			to[calendar.ID(column.Values[number])] += count
		}
	}
}

// Walk implements readmodel.View: documents are decoded when they are read.
func (view *view) Walk(ctx context.Context, query readmodel.Query, use func([]readmodel.Document) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	query.Offset, query.Limit, query.After, query.Tallies = 0, math.MaxInt, nil, nil
	found := view.find(ctx, query.Kind, readmodel.And{query.Narrow, query.Filter})
	hits, repeats := found.page(&query)
	if err := found.close(); err != nil {
		return err
	}
	for len(hits) > 0 {
		count := min(readmodel.WalkStep, len(hits))
		documents, err := view.documents(hits[:count], repeats)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = use(documents)
		}
		if err != nil {
			return err
		}
		hits, repeats = hits[count:], repeats[min(count, len(repeats)):]
	}
	return nil
}

// documents decodes hits; of a query that collapses, with their groups.
func (view *view) documents(hits []hit, repeats []*readmodel.Repeats) ([]readmodel.Document, error) {
	documents := make([]readmodel.Document, len(hits))
	for i := range hits {
		document, err := view.index.document(hits[i].doc())
		if err != nil {
			return nil, err
		}
		documents[i] = *document
		if repeats != nil {
			documents[i].Repeats = repeats[i]
		}
	}
	return documents, nil
}
