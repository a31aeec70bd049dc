package httpapi

import (
	"context"
	"net/http"
)

// changes answers the log (HISTORY 10).
func (asked *readParams) changes(ctx context.Context) (*answer, error) {
	page := historyPage{readParams: asked, format: formatOf(asked.format, asked.request.Header), url: asked.root.URL + "/changes"}
	page.To = int64(asked.head)
	return page.answer(ctx)
}

// formatOf returns the format that a request asks for, by its parameter before Accept.
func formatOf(name string, header http.Header) *entryFormat {
	best, most := entryFormats[0], 0
	for _, entryFormat := range entryFormats {
		if entryFormat.name == name {
			return entryFormat
		}
		if weight := weightIn(header, entryFormat.media); weight > most {
			best, most = entryFormat, weight
		}
	}
	return best
}
