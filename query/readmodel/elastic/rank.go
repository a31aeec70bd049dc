package elastic

import "daybook/query/readmodel"

// ranked is the query of a list; in an order by rank, the score of each document is that of
// readmodel.Relevance. Whole numbers, and no statistics of words.
func (c *compiler) ranked(q *readmodel.Query) object {
	query := live(c.query(q.Filter))
	if len(q.Sort) > 0 && q.Sort[0].Rank != nil {
		query = object{"bool": object{"filter": list{query}, "should": c.scores(q.Sort[0].Rank)}}
	}
	return query
}

func weighted(weight int, q object) object {
	return object{"constant_score": object{"filter": q, "boost": weight}}
}

// scores weighs what a document fits.
func (c *compiler) scores(of *readmodel.Relevance) list {
	name := of.Text
	name.Fields = of.Fields[:1]
	out := list{}
	for _, piece := range of.Search.Ranked {
		out = append(out, weighted(readmodel.WeightName, c.piece(piece, name)))
	}
	if row, ok := of.Search.Row(); ok {
		exact := inEither(&name, func(field string) object {
			return object{"match_phrase": object{field: nameStart + " " + plainRow(row.Tokens) + " " + nameEnd}}
		})
		out = append(out, weighted(readmodel.WeightRow, c.piece(row, name)), weighted(readmodel.WeightExact, exact))
	}
	if of.Title == nil {
		return append(out, c.fitting(of.Text)...)
	}
	named := c.filter(of.Title)
	return append(
		out,
		object{"bool": object{"filter": list{not(named)}, "should": c.fitting(of.Text)}},
		object{"bool": object{"filter": list{named}, "should": c.fitting(name)}},
	)
}

// fitting weighs how the pieces of a search fit anywhere.
func (c *compiler) fitting(text readmodel.Text) list {
	out := list{}
	for _, piece := range text.Search.Ranked {
		for typos := range text.Worst(piece) {
			some := text
			some.Spelling = text.Within(typos)
			out = append(out, weighted(readmodel.WeightTypo, c.piece(piece, some)))
		}
		switch {
		case !piece.Open || piece.IsRun(): // they stand as they were sent, or not at all
		case piece.IsWord():
			whole := inEither(&text, func(field string) object { return term(field, string(markPlain)+piece.Tokens[0]) })
			out = append(out, weighted(readmodel.WeightWhole, whole))
		default:
			text := text
			text.Spelling = readmodel.Spelling{}
			out = append(out, weighted(readmodel.WeightWhole, c.piece(piece.Closed(), text)))
		}
	}
	return out
}
