package httpapi

import (
	"context"
	"strings"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi/openapi"
	"daybook/query/past"
)

// mostMementos is how many versions a page of a TimeMap has.
const mostMementos = 1000

var valueLinks = []string{linkFormat}

// timeMapTable are the parameters of a TimeMap (HISTORY 8.4).
var timeMapTable = toldTable{afterRow, formatRow("link", "json"), languageRow}

func timeMapRoute(k calendar.Kind) *route {
	return pastRoute(k, "timemap", (*call).timeMap, openapi.Operation{
		Args: timeMapTable.Params(), Headers: []string{"ETag", headerGroups},
		Content: openapi.Content{linkFormat: {Schema: openapi.Text()}, "application/json": {Schema: openapi.Ref("TimeMap")}},
	})
}

// timeMap answers the versions of a record that the caller may open (HISTORY 8.4).
func (c *call) timeMap() error {
	c.fresh = valueAskBack
	if err := c.mayReadPast(); err != nil {
		return err
	}
	var problems calendar.Problems
	q, _ := c.readTold(timeMapTable, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	asJSON := q.format == "json"
	if q.format == "" {
		asJSON = accepts(c.r.Header, "application/json") && !accepts(c.r.Header, linkFormat)
	}
	id := c.targetOf().id
	return c.read(&question{turns: c.past, make: func(ctx context.Context, _ stated) (*answer, error) {
		found, err := c.Past.TimeMap(ctx, c.route.kind, id, c.caller, q.after, mostMementos)
		if err != nil {
			return nil, err
		}
		m := timeMapPage{TimeMap: found, url: c.root.Collection(c.route.kind) + "/" + id.String()}
		m.self = q.link(m.url+"/timemap", timeMapTable, "", 0)
		if found.After > 0 {
			m.next = q.link(m.url+"/timemap", timeMapTable, "after", found.After)
		}
		body, media := []byte(m.links()), valueLinks
		if asJSON {
			media = valueJSON
			if body, err = history.Marshal(m.object()); err != nil {
				return nil, err
			}
		}
		ans := newAnswer(body, media, c.weakTag(string(body)), c.lang)
		ans.add(headerGroups, cacheGroups(id))
		return ans, nil
	}})
}

// timeMapPage is a page of a TimeMap that is to be written.
type timeMapPage struct {
	*past.TimeMap
	url, self, next string // of the record, of the page, of the next one
}

// links writes it as application/link-format (RFC 6690).
func (m *timeMapPage) links() string {
	var b strings.Builder
	b.WriteString(originalLink(m.url) + ",\n<" + m.self + `>; rel="self"; type="` + linkFormat + `"`)
	if n := len(m.Versions); n > 0 {
		b.WriteString(`; from="` + mementoTime(m.Versions[0].Time) + `"; until="` + mementoTime(m.Versions[n-1].Time) + `"`)
	}
	for _, v := range m.Versions {
		b.WriteString(",\n")
		rels := ""
		if v.Number == m.First.Number {
			rels = "first "
		}
		if v.Number == m.Last.Number {
			rels += "last "
		}
		writeMemento(&b, m.url, v, rels)
	}
	if m.next != "" {
		b.WriteString(",\n<" + m.next + `>; rel="timemap"; type="` + linkFormat + `"`)
	}
	return b.String()
}

type timeMapObject struct {
	Original string          `json:"original"`
	TimeGate string          `json:"timegate"`
	TimeMap  string          `json:"timemap"`
	Mementos []mementoObject `json:"mementos"`
	Next     string          `json:"next_rest_url,omitempty"`
}

type mementoObject struct {
	Version int64  `json:"version"`
	Time    string `json:"time"`
	URL     string `json:"url"`
}

// object is the TimeMap as JSON.
func (m *timeMapPage) object() *timeMapObject {
	o := &timeMapObject{m.url, m.url, m.url + "/timemap", make([]mementoObject, len(m.Versions)), m.next}
	for i, v := range m.Versions {
		o.Mementos[i] = mementoObject{v.Number, v.Time.UTC().Format(history.TimeLayout), permanentURL(m.url, v.Number)}
	}
	return o
}
