package elastic

import "daybook/query/readmodel"

// ranked is the query of a list; in an order by rank, the score of each document is that of
// readmodel.Relevance. Whole numbers, and no statistics of words.
func (c *compiler) ranked(q *readmodel.Query) object {
	query := live(c.query(q.Filter))
	if len(q.Sort) == 0 || q.Sort[0].Rank == nil {
		return query
	}
	of := q.Sort[0].Rank
	scores := c.scores(of.Text)
	if of.Title != nil {
		named := c.filter(of.Title)
		scores = list{
			object{"bool": object{"filter": list{not(named)}, "should": scores}},
			object{"bool": object{"filter": list{named}, "should": c.scores(of.InName())}},
		}
	}
	return object{"bool": object{"filter": list{query}, "should": scores}}
}

// scores weighs what a document fits.
func (c *compiler) scores(of readmodel.Text) list {
	out := list{}
	of.EachRank(func(weight int, search readmodel.Text) {
		out = append(out, object{"constant_score": object{"filter": c.text(search), "boost": weight}})
	})
	return out
}
