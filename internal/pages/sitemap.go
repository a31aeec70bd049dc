package pages

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Site maps (PAGES.md P3.1): an index, and files of events by the month of their start in
// the site zone, of venues, organizers, terms, and of the pages that are no record's.

const typeXML = "application/xml; charset=utf-8"

// maxURLs is how many a file of a site map holds.
const maxURLs = 50_000

// mostPerPage is how many records are read at once.
const mostPerPage = 100

// siteURL is one of a site map, in all its languages. Paths need no escaping.
type siteURL struct {
	path    string
	langs   []calendar.Lang // that of loc first
	changed string          // lastmod, with its tags
}

// siteFile is a file of the site map. URLs of events are read when they are asked for.
type siteFile struct {
	name  string
	urls  []siteURL
	month time.Time // of events
	skip  int       // events of the month in the files before
}

// sitemap answers a path of the site map; nil for a file that there is not.
func (p *Pages) sitemap(ctx context.Context, r *Request) ([]byte, error) {
	l := p.look(ctx, r)
	files := l.siteFiles()
	if l.err != nil {
		return nil, l.err
	}
	base := escaped(r.Base)
	var b bytes.Buffer
	if r.Route.file == "/sitemap.xml" {
		b.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
		for _, f := range files {
			fmt.Fprintf(&b, "<sitemap><loc>%s/sitemap/%s.xml</loc></sitemap>\n", base, f.name)
		}
		b.WriteString("</sitemapindex>\n")
		return b.Bytes(), nil
	}
	at := slices.IndexFunc(files, func(f siteFile) bool { return r.Route.file == "/sitemap/"+f.name+".xml" })
	if at < 0 {
		return nil, nil
	}
	f := files[at]
	if f.urls == nil {
		whole, err := p.Lists.Whole(ctx, p.Lists.StartingIn(f.month), query.Calendar{})
		if err != nil {
			return nil, err
		}
		defer whole.Close()
		if err := whole.Each(ctx, func(v *query.View) error {
			f.urls = append(f.urls, siteURLOf(v.Record))
			return nil
		}); err != nil {
			return nil, err
		}
		f.urls = f.urls[min(f.skip, len(f.urls)):min(f.skip+maxURLs, len(f.urls))]
	}
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">` + "\n")
	for _, u := range f.urls {
		fmt.Fprintf(&b, "<url><loc>%s%s%s</loc>%s", base, segments[u.langs[0]], u.path, u.changed)
		for _, l := range u.langs {
			fmt.Fprintf(&b, `<xhtml:link rel="alternate" hreflang="%s" href="%s%s%s"/>`, l.Tag(), base, segments[l], u.path)
		}
		b.WriteString("</url>\n")
	}
	b.WriteString("</urlset>\n")
	return b.Bytes(), nil
}

// siteFiles returns the files of the present state on the present day, whatever the host.
func (l *look) siteFiles() []siteFile { return keep(l, &l.siteMap, (*look).makeSiteFiles) }

func (l *look) makeSiteFiles() []siteFile {
	months, err := l.Lists.Months(l.ctx)
	if err != nil {
		l.err = err
		return nil
	}
	coming := l.forCards(query.Request{Kind: calendar.KindEvent, Input: calendar.Input{paramOverlap: "true"}, Lang: calendar.LangEN})
	if l.err != nil {
		return nil
	}
	n, err := l.Lists.Count(l.ctx, coming)
	if err != nil {
		l.err = err
		return nil
	}
	plain := []string{"/docs/"}
	if n > 0 {
		plain = append(plain, "/", "/events/", "/events/map/")
	}
	records := l.recordURLs(coming)
	for _, k := range calendar.Kinds[1:] {
		if _, used := records[k]; used {
			plain = append(plain, "/"+k.Collection()+"/")
		}
	}
	for _, month := range months.Touched {
		plain = append(plain, monthPath(month))
	}
	pages := siteFile{name: "pages"}
	for _, path := range plain[:min(len(plain), maxURLs)] {
		pages.urls = append(pages.urls, siteURL{path, hreflangs, ""})
	}
	files := []siteFile{pages}
	for _, month := range months.Started {
		name := "events-" + month.First.Format("2006-01")
		for skip := 0; skip < month.Events; skip += maxURLs {
			f := siteFile{name: name, month: month.First, skip: skip}
			if skip > 0 {
				f.name += "-" + strconv.Itoa(skip/maxURLs+1)
			}
			files = append(files, f)
		}
	}
	add := func(name string, urls []siteURL) {
		for skip := 0; skip < len(urls); skip += maxURLs {
			files = append(files, siteFile{name: name + strconv.Itoa(skip/maxURLs+1), urls: urls[skip:min(skip+maxURLs, len(urls))]})
		}
	}
	add("venues-", records[calendar.KindVenue])
	add("organizers-", records[calendar.KindOrganizer])
	add("terms-", slices.Concat(records[calendar.KindCategory], records[calendar.KindTag]))
	return files
}

// recordURLs returns the pages of venues, organizers and terms that coming events link to; a
// kind of which no listed event has any is missing.
func (l *look) recordURLs(coming *query.Criteria) map[calendar.Kind][]siteURL {
	out := map[calendar.Kind][]siteURL{}
	linked, err := l.Lists.LinkedFrom(l.ctx, coming)
	if err != nil {
		l.err = err
		return out
	}
	for _, k := range calendar.Kinds[1:] {
		var records []*calendar.Record
		parents := map[calendar.ID]calendar.ID{}
		l.all(k, listed(k), func(v *query.View) {
			out[k] = []siteURL{}
			records = append(records, v.Record)
			parents[v.Record.ID] = v.Record.Fields.ID("parent")
		})
		for id := range parents { // a category has the events of those below it
			for up, n := parents[id], 0; linked[id] > 0 && up != 0 && n < maxAncestors; up, n = parents[up], n+1 {
				linked[up]++
			}
		}
		for _, r := range records {
			if linked[r.ID] > 0 {
				out[k] = append(out[k], siteURLOf(r))
			}
		}
	}
	return out
}

func siteURLOf(r *calendar.Record) siteURL {
	langs := r.Langs() // the home language first
	if at := slices.Index(langs, calendar.LangEN); at > 0 {
		langs[0], langs[at] = langs[at], langs[0]
	}
	return siteURL{recordPath(r), langs, r.Changed.UTC().Format("<lastmod>2006-01-02T15:04:05Z</lastmod>")}
}
