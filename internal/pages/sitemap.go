package pages

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Site maps (PAGES.md P3.1): an index, and files of events by the month of their start in
// the site zone, of venues, organizers, terms, and of the pages that are no record's.

const mediaXML = "application/xml; charset=utf-8"

// maxURLs is how many a file of a site map holds.
const maxURLs = 50_000

// siteURL is one of a site map, in all its languages. Paths need no escaping.
type siteURL struct {
	Path    string
	Langs   []calendar.Lang // that of loc first
	Changed string          // lastmod
}

// In is the path in a language.
func (siteURL siteURL) In(language calendar.Lang) string { return segments[language] + siteURL.Path }

// siteFile is a file of the site map. URLs of events are read when they are asked for.
type siteFile struct {
	Name  string
	urls  []siteURL
	month time.Time // of events
	skip  int       // what is in the files before
}

// serveSiteFile answers a file of the site map.
func (builder *pageBuilder) serveSiteFile() {
	files := keep(builder, &builder.siteMap, (*pageBuilder).makeSiteFiles)
	i := slices.IndexFunc(files, func(file siteFile) bool { return file.Name == builder.Route.slug })
	if builder.err == nil && i < 0 {
		builder.err = calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	}
	if builder.err != nil {
		return
	}
	urls, skip := files[i].urls, files[i].skip
	if urls == nil {
		builder.each(builder.Lists.StartingIn(files[i].month), math.MaxInt, func(view *query.View) { urls = append(urls, siteURLOf(view.Record)) })
	}
	builder.write("urls.xml", urls[min(skip, len(urls)):min(skip+maxURLs, len(urls))])
}

// makeSiteFiles returns the files of the present state on the present day, whatever the host.
func (builder *pageBuilder) makeSiteFiles() (files []siteFile) {
	coming := builder.forCards(query.Request{Kind: calendar.KindEvent, Input: calendar.Input{paramOverlap: "true"}, Lang: builder.language})
	paths := []string{"/docs/"}
	if builder.run(coming).Total > 0 {
		paths = append(paths, "/", "/events/", "/events/map/")
	}
	if builder.err != nil {
		return nil
	}
	months, err := builder.Lists.Months(builder.ctx)
	linked, linkedErr := builder.Lists.LinkedFrom(builder.ctx, coming)
	if builder.err = cmp.Or(err, linkedErr); builder.err != nil {
		return nil
	}
	records := map[string][]siteURL{}
	for _, kind := range calendar.Kinds[1:] {
		used, name := false, kind.Collection()
		if kind.IsTerm() {
			name = "terms"
		}
		builder.all(kind, listed(kind), func(view *query.View) {
			if used = true; linked[view.Record.ID] {
				records[name] = append(records[name], siteURLOf(view.Record))
			}
		})
		if used {
			paths = append(paths, "/"+kind.Collection()+"/")
		}
	}
	for _, month := range months.Touched {
		paths = append(paths, monthPath(month))
	}
	pages := siteFile{Name: "pages.xml"}
	for _, path := range paths {
		pages.urls = append(pages.urls, siteURL{Path: path, Langs: hreflangs})
	}
	files = []siteFile{pages}
	add := func(file siteFile, name string, count int) { // as many files as it takes
		for part := 1; file.skip < count; part++ {
			file.Name = name + "-" + strconv.Itoa(part) + ".xml"
			if part == 1 && file.urls == nil {
				file.Name = name + ".xml"
			}
			files = append(files, file)
			file.skip += maxURLs
		}
	}
	for _, monthCount := range months.Started {
		add(siteFile{month: monthCount.First}, "events-"+monthCount.First.Format("2006-01"), monthCount.Events)
	}
	for _, name := range []string{"venues", "organizers", "terms"} {
		add(siteFile{urls: records[name]}, name, len(records[name]))
	}
	return files
}

func siteURLOf(record *calendar.Record) siteURL {
	langs := record.Langs() // the home language first
	if index := slices.Index(langs, calendar.LangEN); index > 0 {
		langs[0], langs[index] = langs[index], langs[0]
	}
	return siteURL{recordPath(record), langs, record.Changed.UTC().Format(time.RFC3339)}
}
