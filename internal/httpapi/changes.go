package httpapi

import (
	"context"
	"net/http"
)

// changesRead is the log (HISTORY 10).
var changesRead = pastRead{
	table: pastTable{
		kindRow, idRow, actorRow, actionRow, fieldRow, sinceRow, untilRow,
		afterRow, beforeRow, orderRow, limitRow, formatRow("json", "ndjson", "csv"), languageRow,
	},
	answer: answerChanges, smaller: []string{"limit"},
}

// changes answers the log.
func answerChanges(ctx context.Context, c *call, q *pastQuery) (*answer, error) {
	page := historyPage{q: q, format: formatOf(q, c.r.Header), url: c.root.URL + "/changes", head: q.head.String()}
	page.To = min(int64(q.head), q.before-1)
	return c.entriesPage(ctx, &page)
}

// formatOf returns the format that a request asks for, by its parameter before Accept.
func formatOf(q *pastQuery, header http.Header) *entryFormat {
	best, most := entryFormats[0], 0
	for _, f := range entryFormats {
		if f.name == q.format {
			return f
		}
		if weight := weightIn(header, f.media); weight > most {
			best, most = f, weight
		}
	}
	return best
}
