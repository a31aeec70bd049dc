package httpapi

import (
	"context"
	"strings"

	"daybook/internal/formats"
	"daybook/internal/history"
)

// maxMementos is how many versions a page of a TimeMap has.
const maxMementos = 1000

var valueLinks = []string{linkFormat}

// timeMapRead is a TimeMap (HISTORY 8.4).
var timeMapRead = pastRead{table: pastTable{afterRow, formatRow("link", "json"), languageRow}, answer: answerTimeMap}

// timeMap answers the versions of a record that the caller may open.
func answerTimeMap(ctx context.Context, call *call, pastQuery *pastQuery) (*answer, error) {
	id := call.targetOf().id
	found, err := call.History.TimeMap(ctx, call.viewer(), call.route.kind, id, pastQuery.after, maxMementos)
	if err != nil {
		return nil, err
	}
	page := timeMapPage{TimeMap: found, url: call.root.Collection(call.route.kind) + "/" + id.String()}
	page.self = pastQuery.link(page.url+"/timemap", "", 0)
	if found.After > 0 {
		page.next = pastQuery.link(page.url+"/timemap", "after", found.After)
	}
	body, media := []byte(page.links()), valueLinks
	if pastQuery.format == "json" || pastQuery.format == "" && accepts(call.request.Header, "application/json") && !accepts(call.request.Header, linkFormat) {
		body, media = formats.AppendJSON(nil, page.object()), valueJSON
	}
	ans := newAnswer(body, media, call.weakTag(string(body)), call.lang)
	ans.name(id, nil)
	return ans, nil
}

// timeMapPage is a page of a TimeMap that is to be written.
type timeMapPage struct {
	*history.TimeMap
	url, self, next string // of the record, of the page, of the next one
}

// links writes it as application/link-format (RFC 6690).
func (timeMapPage *timeMapPage) links() string {
	var builder strings.Builder
	builder.WriteString(originalLink(timeMapPage.url) + ",\n<" + timeMapPage.self + `>; rel="self"; type="` + linkFormat + `"`)
	if n := len(timeMapPage.Versions); n > 0 {
		builder.WriteString(`; from="` + mementoTime(timeMapPage.Versions[0].Time.Time) + `"; until="` + mementoTime(timeMapPage.Versions[n-1].Time.Time) + `"`)
	}
	for _, version := range timeMapPage.Versions {
		builder.WriteString(",\n")
		rels := ""
		if version.Number == timeMapPage.First.Number {
			rels = "first "
		}
		if version.Number == timeMapPage.Last.Number {
			rels += "last "
		}
		writeMemento(&builder, timeMapPage.url, version, rels)
	}
	if timeMapPage.next != "" {
		builder.WriteString(",\n<" + timeMapPage.next + `>; rel="timemap"; type="` + linkFormat + `"`)
	}
	return builder.String()
}

type timeMapObject struct {
	Original string          `json:"original"`
	TimeGate string          `json:"timegate"`
	TimeMap  string          `json:"timemap"`
	Mementos []mementoObject `json:"mementos"`
	Next     string          `json:"next_rest_url,omitempty"`
}

type mementoObject struct {
	Version int64        `json:"version"`
	Time    history.Time `json:"time"`
	URL     string       `json:"url"`
}

// object is the TimeMap as JSON.
func (timeMapPage *timeMapPage) object() *timeMapObject {
	object := &timeMapObject{timeMapPage.url, timeMapPage.url, timeMapPage.url + "/timemap", make([]mementoObject, len(timeMapPage.Versions)), timeMapPage.next}
	for i, version := range timeMapPage.Versions {
		object.Mementos[i] = mementoObject{version.Number, version.Time, permanentURL(timeMapPage.url, version.Number)}
	}
	return object
}
