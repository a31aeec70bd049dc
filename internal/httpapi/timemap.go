package httpapi

import (
	"context"
	"strings"

	"daybook/internal/history"
)

// maxMementos is how many versions a page of a TimeMap has.
const maxMementos = 1000

var valueLinks = []string{linkFormat}

// timeMapRead is a TimeMap (HISTORY 8.4).
var timeMapRead = pastRead{table: pastTable{afterRow, formatRow("link", "json"), languageRow}, answer: answerTimeMap}

// timeMap answers the versions of a record that the caller may open.
func answerTimeMap(ctx context.Context, c *call, q *pastQuery) (*answer, error) {
	id := c.targetOf().id
	found, err := c.History.TimeMap(ctx, c.viewer(), c.route.kind, id, q.after, maxMementos)
	if err != nil {
		return nil, err
	}
	m := timeMapPage{TimeMap: found, url: c.root.Collection(c.route.kind) + "/" + id.String()}
	m.self = q.link(m.url+"/timemap", "", 0)
	if found.After > 0 {
		m.next = q.link(m.url+"/timemap", "after", found.After)
	}
	body, media := []byte(m.links()), valueLinks
	if q.format == "json" || q.format == "" && accepts(c.r.Header, "application/json") && !accepts(c.r.Header, linkFormat) {
		media = valueJSON
		if body, err = history.Marshal(m.object()); err != nil {
			return nil, err
		}
	}
	ans := newAnswer(body, media, c.weakTag(string(body)), c.lang)
	ans.name(id, nil)
	return ans, nil
}

// timeMapPage is a page of a TimeMap that is to be written.
type timeMapPage struct {
	*history.TimeMap
	url, self, next string // of the record, of the page, of the next one
}

// links writes it as application/link-format (RFC 6690).
func (m *timeMapPage) links() string {
	var builder strings.Builder
	builder.WriteString(originalLink(m.url) + ",\n<" + m.self + `>; rel="self"; type="` + linkFormat + `"`)
	if n := len(m.Versions); n > 0 {
		builder.WriteString(`; from="` + mementoTime(m.Versions[0].Time.Time) + `"; until="` + mementoTime(m.Versions[n-1].Time.Time) + `"`)
	}
	for _, version := range m.Versions {
		builder.WriteString(",\n")
		rels := ""
		if version.Number == m.First.Number {
			rels = "first "
		}
		if version.Number == m.Last.Number {
			rels += "last "
		}
		writeMemento(&builder, m.url, version, rels)
	}
	if m.next != "" {
		builder.WriteString(",\n<" + m.next + `>; rel="timemap"; type="` + linkFormat + `"`)
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
func (m *timeMapPage) object() *timeMapObject {
	o := &timeMapObject{m.url, m.url, m.url + "/timemap", make([]mementoObject, len(m.Versions)), m.next}
	for i, version := range m.Versions {
		o.Mementos[i] = mementoObject{version.Number, version.Time, permanentURL(m.url, version.Number)}
	}
	return o
}
