package httpapi

import (
	"context"
	"strconv"
	"strings"

	"daybook/internal/formats"
	"daybook/internal/history"
)

// maxMementos is how many versions a page of a TimeMap has.
const maxMementos = 1000

var valueLinks = []string{linkFormat}

// timeMap answers the versions of a record that the caller may open (HISTORY 8.4).
func (asked *readParams) timeMap(ctx context.Context) (*answer, error) {
	id := asked.targetOf().id
	found, err := asked.History.TimeMap(ctx, asked.viewer(), asked.route.kind, id, asked.numbers["after"], maxMementos)
	if err != nil {
		return nil, err
	}
	page := timeMapPage{TimeMap: found, url: asked.root.Collection(asked.route.kind) + "/" + id.String()}
	page.self = asked.link(page.url+"/timemap", "", "")
	if found.After > 0 {
		page.next = asked.link(page.url+"/timemap", "after", strconv.FormatInt(found.After, 10))
	}
	body, media := []byte(page.links()), valueLinks
	if asked.format == "json" || asked.format == "" && accepts(asked.request.Header, "application/json") && !accepts(asked.request.Header, linkFormat) {
		body, media = formats.AppendJSON(nil, page.object()), valueJSON
	}
	ans := newAnswer(body, media, asked.weakTag(string(body)), asked.lang)
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

// object is the TimeMap as JSON.
func (timeMapPage *timeMapPage) object() formats.Object {
	url := timeMapPage.url
	mementos := formats.ListOf(timeMapPage.Versions, func(version *history.Version) any {
		return formats.Object{"version", int(version.Number), "time", version.Time.String(), "url", permanentURL(url, version.Number)}
	})
	return formats.Object{
		"original", url, "timegate", url, "timemap", url + "/timemap", "mementos", formats.Whole(mementos), "next_rest_url", formats.OptionalText(timeMapPage.next),
	}
}
