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
func answerChanges(ctx context.Context, call *call, pastQuery *pastQuery) (*answer, error) {
	page := historyPage{pastQuery: pastQuery, format: formatOf(pastQuery, call.request.Header), url: call.root.URL + "/changes", head: pastQuery.head.String()}
	page.To = min(int64(pastQuery.head), pastQuery.before-1)
	return call.entriesPage(ctx, &page)
}

// formatOf returns the format that a request asks for, by its parameter before Accept.
func formatOf(pastQuery *pastQuery, header http.Header) *entryFormat {
	best, most := entryFormats[0], 0
	for _, entryFormat := range entryFormats {
		if entryFormat.name == pastQuery.format {
			return entryFormat
		}
		if weight := weightIn(header, entryFormat.media); weight > most {
			best, most = entryFormat, weight
		}
	}
	return best
}
