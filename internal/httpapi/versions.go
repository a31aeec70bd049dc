package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/param"
)

const (
	linkFormat = "application/link-format"
	jsonPatch  = "application/json-patch+json"

	maxMementos = 1000 // versions on a page of a TimeMap
)

// diff answers the difference of two versions (HISTORY 9).
func (call *call) diff(ctx context.Context) (*answer, error) {
	id, from, until := call.target.ID, call.numbers["from"], call.numbers["to"]
	diff, err := call.History.Diff(ctx, call.viewer(), call.route.Kind, id, from, until)
	if err != nil {
		return nil, err
	}
	if !call.records {
		diff.From.Members, diff.To.Members = nil, nil
	}
	media, shown := valueJSON, any(diff)
	if call.prefers(jsonPatch) {
		media, shown = []string{jsonPatch}, diff.Patch
	}
	body := formats.AppendJSON(nil, shown)
	answer := call.newAnswer(body, media, call.weakTag(string(body)))
	if answer.name(id, diff.Named) && from > 0 && until > 0 {
		call.fresh = call.permanent
	}
	return answer, nil
}

// timeMap answers the versions of a record that the caller may open (HISTORY 8.4).
func (call *call) timeMap(ctx context.Context) (*answer, error) {
	id := call.target.ID
	found, err := call.History.TimeMap(ctx, call.viewer(), call.route.Kind, id, call.numbers["after"], maxMementos)
	if err != nil {
		return nil, err
	}
	address, next := call.root.Collection(call.route.Kind)+"/"+id.String(), ""
	if found.After > 0 {
		next = call.linkTo(address+"/timemap", "after", strconv.FormatInt(found.After, 10))
	}
	var body []byte
	media := []string{linkFormat}
	if call.word == "json" || call.word == "" && accepts(call.request.Header, "application/json") && !accepts(call.request.Header, linkFormat) {
		mementos := formats.ListOf(found.Versions, func(version *history.Version) any {
			return formats.Object{"version", int(version.Number), "time", version.Time.String(), "url", permanentURL(address, version.Number)}
		})
		media, body = valueJSON, formats.AppendJSON(nil, formats.Object{
			"original", address, "timegate", address, "timemap", address + "/timemap", "mementos", formats.Whole(mementos), "next_rest_url", formats.OptionalText(next),
		})
	} else {
		body = timeMapLinks(found, address, call.linkTo(address+"/timemap", "", ""), next)
	}
	answer := call.newAnswer(body, media, call.weakTag(string(body)))
	answer.name(id, nil)
	return answer, nil
}

// timeMapLinks is the page of a TimeMap at self as application/link-format (RFC 6690), "" for no
// next one.
func timeMapLinks(page *history.TimeMap, address, self, next string) []byte {
	links := []string{originalLink(address), "<" + self + `>; rel="self"; type="` + linkFormat + `"`}
	if count := len(page.Versions); count > 0 {
		links[1] += `; from="` + mementoTime(page.Versions[0].Time.Time) + `"; until="` + mementoTime(page.Versions[count-1].Time.Time) + `"`
	}
	links = append(links, mementoLinks(address, &history.Mementos{First: page.First, Last: page.Last}, page.Versions...)...)
	if next != "" {
		links = append(links, "<"+next+`>; rel="timemap"; type="`+linkFormat+`"`)
	}
	return []byte(strings.Join(links, ",\n"))
}

// aroundLinks are the links of a single read of the past: resourceLinks, and the versions around
// it.
func aroundLinks(address string, around *history.Mementos) string {
	links := mementoLinks(address, around, around.First, around.Prev, around.Shown, around.Next, around.Last)
	return resourceLinks(address) + ", " + strings.Join(links, ", ")
}

// mementoLinks are the links to versions, which ascend: of equal ones to the first, and to none where
// none is there. They say which of the mementos they are.
func mementoLinks(address string, mementos *history.Mementos, versions ...history.Version) (links []string) {
	before := int64(0)
	for _, version := range versions {
		if version.Number <= before {
			continue
		}
		before = version.Number
		var rels []string
		for i, memento := range []history.Version{mementos.First, mementos.Prev, mementos.Next, mementos.Last} {
			if memento.Number == version.Number {
				rels = append(rels, [...]string{"first", "prev", "next", "last"}[i])
			}
		}
		links = append(links, "<"+permanentURL(address, version.Number)+`>; rel="`+strings.Join(append(rels, "memento"), " ")+`"; datetime="`+mementoTime(version.Time.Time)+`"`)
	}
	return links
}

// originalLink is the first of the links of a memento.
func originalLink(address string) string { return "<" + address + `>; rel="original timegate"` }

// resourceLinks are the links of every single read by id.
func resourceLinks(address string) string {
	return originalLink(address) + ", <" + address + `/timemap>; rel="timemap"; type="` + linkFormat + `"`
}

// permanentURL is the URL of a version of a record (HISTORY 7.1).
func permanentURL(address string, version int64) string {
	return address + "?" + param.AsOf + "=version%3A" + strconv.FormatInt(version, 10)
}

// mementoTime is a moment in whole seconds, as headers and links have it.
func mementoTime(instant time.Time) string { return instant.UTC().Format(http.TimeFormat) }
