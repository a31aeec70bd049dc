package elastic

import (
	"context"

	"daybook/query/readmodel"
)

// ranked is the query of a list; in an order by rank, the score of each document is that of
// readmodel.Relevance. Whole numbers, and no statistics of words.
func (c *compiler) ranked(ctx context.Context, q readmodel.Query) (object, error) {
	t := c.translation(ctx)
	query := c.live(t.filter(q.Filter))
	if len(q.Sort) > 0 && q.Sort[0].Rank != nil {
		query = object{"bool": object{"filter": list{query}, "should": t.scores(q.Sort[0].Rank)}}
	}
	return query, t.err
}

func weighted(weight int, q object) object {
	return object{"constant_score": object{"filter": q, "boost": weight}}
}

// scores weighs what a document fits.
func (t *translation) scores(of *readmodel.Relevance) list {
	name := of.Text
	name.Fields = of.Fields[:1]
	out := list{}
	for _, p := range of.Search.Ranked {
		out = append(out, weighted(readmodel.WeightName, t.piece(p, name)))
	}
	if row, ok := of.Search.Row(); ok {
		exact := inEither(&name, func(field string) object {
			return object{"match_phrase": object{field: nameStart + " " + plainRow(row.Tokens) + " " + nameEnd}}
		})
		out = append(out, weighted(readmodel.WeightRow, t.piece(row, name)), weighted(readmodel.WeightExact, exact))
	}
	if of.Title == nil {
		return append(out, t.fitting(of.Text)...)
	}
	named := t.filter(of.Title)
	return append(
		out,
		object{"bool": object{"filter": list{not(named)}, "should": t.fitting(of.Text)}},
		object{"bool": object{"filter": list{named}, "should": t.fitting(name)}},
	)
}

// fitting weighs how the pieces of a search fit anywhere.
func (t *translation) fitting(f readmodel.Text) list {
	out := list{}
	for _, p := range f.Search.Ranked {
		for typos := range f.Worst(p) {
			some := f
			some.Spelling = f.Within(typos)
			out = append(out, weighted(readmodel.WeightTypo, t.piece(p, some)))
		}
		switch {
		case !p.Open || p.IsRun(): // they stand as they were sent, or not at all
		case p.IsWord():
			whole := inEither(&f, func(field string) object { return term(field, string(markPlain)+p.Tokens[0]) })
			out = append(out, weighted(readmodel.WeightWhole, whole))
		default:
			f := f
			f.Spelling = readmodel.Spelling{}
			out = append(out, weighted(readmodel.WeightWhole, t.piece(p.Closed(), f)))
		}
	}
	return out
}
