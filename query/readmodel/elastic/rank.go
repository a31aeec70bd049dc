package elastic

import (
	"context"
	"slices"

	"daybook/query/readmodel"
)

// ranked is the query of a list; in an order by rank, the score of each document is that of
// readmodel.Relevance.
func (c *compiler) ranked(ctx context.Context, q readmodel.Query) (object, error) {
	query, err := c.query(ctx, q.Filter)
	if err != nil || len(q.Sort) == 0 || q.Sort[0].Rank == nil {
		return query, err
	}
	rank := q.Sort[0].Rank
	scores := list{c.scores(rank, rank.Fields, matchAll)}
	if rank.Title != nil {
		named, err := c.compile(ctx, rank.Title)
		if err != nil {
			return nil, err
		}
		scores = list{c.scores(rank, rank.Fields, not(named)), c.scores(rank, rank.Fields[:1], named)}
	}
	return object{"bool": object{"filter": list{query}, "should": scores}}, nil
}

// scores gives the documents of a query the sum of the weights of what they fit. Whole
// numbers, and no statistics of words.
func (c *compiler) scores(f *readmodel.Relevance, fields []string, of object) object {
	e := &f.Search
	slots := []string{slotAny, e.Lang.String()}
	all := &textCompiler{schema: c.schema, fields: fields, slots: slots}
	name := &textCompiler{schema: c.schema, fields: f.Fields[:1], slots: slots}
	should := list{}
	add := func(q object, weight int) {
		should = append(should, object{"constant_score": object{"filter": q, "boost": weight}})
	}
	for _, p := range e.Ranked {
		add(name.piece(p, f.Spelling), readmodel.WeightName)
		switch {
		case p.IsWord():
			add(all.whole(p.Tokens[0]), readmodel.WeightWhole)
		case p.Open && !p.IsRun():
			add(all.piece(p.Closed(), readmodel.Spelling{}), readmodel.WeightWhole)
		}
		for typos := range f.Worst(p) {
			add(all.piece(p, f.Within(typos)), readmodel.WeightTypo)
		}
	}
	if row, ok := e.Row(); ok {
		add(name.piece(row, readmodel.Spelling{}), readmodel.WeightRow)
		exact := make(list, 0, len(slots))
		for _, slot := range slots {
			exact = append(exact, term(fieldName+slot, nameOf(e.Full)))
		}
		add(any1(exact), readmodel.WeightExact)
	}
	return object{"bool": object{"filter": list{of}, "should": should}}
}

// whole admits documents that have a word as it is.
func (t *textCompiler) whole(word string) object {
	parts := make(list, 0, len(t.slots))
	for _, slot := range t.slots {
		words := make([]string, len(t.fields))
		for i, field := range t.fields {
			words[i] = string([]byte{fieldCode(t.schema, field), markWord}) + word
		}
		slices.Sort(words)
		parts = append(parts, object{"terms": object{fieldWords + slot: words}})
	}
	return any1(parts)
}
