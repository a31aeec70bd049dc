package httpapi

import (
	"context"
	"net/http"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi/openapi"
)

// changesTable are the parameters of the log (HISTORY 10.1).
var changesTable = toldTable{
	kindRow, idRow, actorRow, actionRow, fieldRow,
	momentRow("since", func(q *toldQuery) *time.Time { return &q.filter.Since }),
	momentRow("until", func(q *toldQuery) *time.Time { return &q.filter.Until }),
	afterRow, beforeRow, orderRow, limitRow, formatRow("json", "ndjson", "csv"), languageRow,
}

func changesRoute() *route {
	return logRoute("/changes", "changes", (*call).changes, openapi.Operation{
		Args: changesTable.Params(), Headers: []string{"ETag", headerPosition, headerLink}, Statuses: []int{403},
		Content: openapi.Content{
			"application/json":     {Schema: openapi.Ref("ChangesPage")},
			"application/x-ndjson": {Schema: openapi.Text()}, "text/csv": {Schema: openapi.Text()},
		},
	})
}

// changes answers the log (HISTORY 10).
func (c *call) changes() error {
	c.fresh = valueAskBack
	if err := c.mayReadPast(); err != nil {
		return err
	}
	var problems calendar.Problems
	q, _ := c.readTold(changesTable, &problems)
	head, err := c.headFor(q, &problems)
	if err != nil {
		return err
	}
	return c.read(&question{turns: c.past, smaller: []string{"limit"}, make: func(ctx context.Context, _ stated) (*answer, error) {
		page := historyPage{q: q, table: changesTable, format: formatOf(q, c.r.Header), url: c.root.URL + "/changes", head: head.String()}
		page.From, page.To = q.after+1, min(int64(head), q.before-1)
		if err := c.readPage(ctx, &page); err != nil {
			return nil, err
		}
		return page.answer(c.api, c), nil
	}})
}

// headFor returns the head of the log, or all problems of a request that begins behind a
// position.
func (c *call) headFor(q *toldQuery, problems *calendar.Problems) (calendar.Position, error) {
	head, err := c.History.Head(c.r.Context())
	if err != nil {
		return 0, err
	}
	if q.after > int64(head) {
		problems.Add("after", calendar.ReasonAhead, head.String())
	}
	return head, problems.Err()
}

// formatOf returns the format that a request asks for, by its parameter before Accept.
func formatOf(q *toldQuery, h http.Header) *entryFormat {
	best, most := entryFormats[0], 0
	for _, f := range entryFormats {
		if f.name == q.format {
			return f
		}
		if weight := weightIn(h, f.media); weight > most {
			best, most = f, weight
		}
	}
	return best
}
