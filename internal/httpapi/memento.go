package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/param"
)

// acceptDatetime reads Accept-Datetime (HISTORY 8.2): an IMF-fixdate in GMT, which means
// the whole second. One ahead of the present second is the present.
func acceptDatetime(text string, now time.Time, problems *calendar.Problems) param.Point {
	instant, err := time.Parse(http.TimeFormat, text)
	if err != nil || instant.Format(http.TimeFormat) != text { // the day of the week has to be right
		problems.Add(headerAcceptTime, calendar.ReasonHeaderTime)
		return param.Point{}
	}
	if instant.After(now) {
		instant = now.UTC().Truncate(time.Second)
	}
	return param.Point{Time: instant.Add(time.Second - time.Millisecond)}
}

// mementoTime is a moment in whole seconds, as headers and links have it.
func mementoTime(instant time.Time) string {
	return instant.UTC().Truncate(time.Second).Format(http.TimeFormat)
}

// permanentURL is the URL of a version of a record (HISTORY 7.1).
func permanentURL(url string, version int64) string {
	return url + "?" + param.AsOf + "=version%3A" + strconv.FormatInt(version, 10)
}

// originalLink is the first of the links of a memento.
func originalLink(url string) string { return "<" + url + `>; rel="original timegate"` }

const linkFormat = "application/link-format"

// resourceLinks are the links of every single read by id.
func resourceLinks(url string) string {
	return originalLink(url) + ", <" + url + `/timemap>; rel="timemap"; type="` + linkFormat + `"`
}

// mementoLinks are the links of a single read of the past: resourceLinks, and the versions
// around it by number. Equal ones are one link.
func mementoLinks(url string, mementos *history.Mementos) string {
	var versions []history.Version
	rels := map[int64]string{}
	add := func(version history.Version, rel string) {
		if version.Number == 0 {
			return
		}
		if _, known := rels[version.Number]; !known {
			versions = append(versions, version)
		}
		rels[version.Number] += rel
	}
	add(mementos.First, "first ")
	add(mementos.Prev, "prev ")
	add(mementos.Shown, "")
	add(mementos.Next, "next ")
	add(mementos.Last, "last ")
	slices.SortFunc(versions, func(a, b history.Version) int { return int(a.Number - b.Number) })
	var builder strings.Builder
	builder.WriteString(resourceLinks(url))
	for _, version := range versions {
		builder.WriteString(", ")
		writeMemento(&builder, url, version, rels[version.Number])
	}
	return builder.String()
}

// writeMemento writes the link to a version; rels are those before "memento", each with a
// space behind it.
func writeMemento(builder *strings.Builder, url string, version history.Version, rels string) {
	builder.WriteString("<" + permanentURL(url, version.Number) + `>; rel="` + rels + `memento"; datetime="` + mementoTime(version.Time.Time) + `"`)
}
