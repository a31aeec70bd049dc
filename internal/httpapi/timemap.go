package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi/openapi"
	"daybook/internal/render"
	"daybook/query/past"
)

// mostMementos is how many versions a page of a TimeMap has.
const mostMementos = 1000

var valueLinks = []string{linkFormat}

// timeMapTable are the parameters of a TimeMap (HISTORY 8.4).
var timeMapTable = toldTable{afterRow(), formatRow("link", "json"), languageRow()}

func timeMapRoute(k calendar.Kind) *route {
	return pastRoute(k, "timemap", (*api).timeMap, openapi.Operation{
		Args: timeMapTable.Params(), Headers: []string{"ETag", headerEncoding, headerGroups},
		Content: openapi.Content{linkFormat: {Schema: openapi.Text()}, "application/json": {Schema: openapi.Ref("TimeMap")}},
	})
}

// timeMap answers the versions of a record that the caller may open (HISTORY 8.4).
func (a *api) timeMap(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	c.fresh = valueAskBack
	if err := a.mayReadPast(c); err != nil {
		return err
	}
	var problems calendar.Problems
	q, _ := a.readTold(c, timeMapTable, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	asJSON := q.format == "json"
	if q.format == "" {
		asJSON = accepts(r.Header, "application/json") && !accepts(r.Header, linkFormat)
	}
	id := c.targetOf().id
	return a.read(w, r, c, &question{turns: a.past, make: func(ctx context.Context, _ stated) (*answer, error) {
		found, err := a.Past.TimeMap(ctx, c.route.kind, id, c.caller, q.after, mostMementos)
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
			body, media = m.appendJSON(nil), valueJSON
		}
		ans := newAnswer(body, media, a.weakTag(string(body)), c.lang)
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

func (m *timeMapPage) appendJSON(b []byte) []byte {
	b = render.AppendString(append(b, `{"original":`...), m.url)
	b = render.AppendString(append(b, `,"timegate":`...), m.url)
	b = render.AppendString(append(b, `,"timemap":`...), m.url+"/timemap")
	b = append(b, `,"mementos":[`...)
	for i, v := range m.Versions {
		b = append(render.AppendComma(b, i), `{"version":`...)
		b = strconv.AppendInt(b, v.Number, 10)
		b = render.AppendString(append(b, `,"time":`...), v.Time.UTC().Format(history.TimeLayout))
		b = render.AppendString(append(b, `,"url":`...), permanentURL(m.url, v.Number))
		b = append(b, '}')
	}
	b = append(b, ']')
	return append(render.AppendFilled(b, `,"next_rest_url":`, m.next), '}')
}
