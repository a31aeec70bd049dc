package elastic

import "daybook/query/readmodel"

// ranked is the query of a list; in an order by rank, the score of each document is that of
// readmodel.Relevance. Whole numbers, and no statistics of words.
func (compiler *compiler) ranked(q *readmodel.Query) object {
	query := live(compiler.query(q.Filter))
	if len(q.Sort) == 0 || q.Sort[0].Rank == nil {
		return query
	}
	relevance := q.Sort[0].Rank
	scores := compiler.scores(relevance.Text)
	if relevance.Title != nil {
		named := compiler.filter(relevance.Title)
		scores = list{
			object{"bool": object{"filter": list{not(named)}, "should": scores}},
			object{"bool": object{"filter": list{named}, "should": compiler.scores(relevance.InName())}},
		}
	}
	return object{"bool": object{"filter": list{query}, "should": scores}}
}

// scores weighs what a document fits.
func (compiler *compiler) scores(text readmodel.Text) list {
	result := list{}
	text.EachRank(func(weight int, search readmodel.Text) {
		result = append(result, object{"constant_score": object{"filter": compiler.text(search), "boost": weight}})
	})
	return result
}
