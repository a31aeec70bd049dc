package pages

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// Site maps (PAGES.md P3.1): an index, and files of events by the month of their start in
// the site zone, of venues, organizers, terms, and of the pages that are no record's.

const typeXML = "application/xml; charset=utf-8"

// mostURLs is how many a file of a site map holds.
const mostURLs = 50_000

// mostPerPage is how many records are read at once.
const mostPerPage = 100

// siteURL is one of a site map, in all its languages.
type siteURL struct {
	path    string
	langs   []calendar.Lang
	changed time.Time // zero: not told
}

// sitemap answers a path of the site map; nil for a file that there is not.
func (p *Pages) sitemap(ctx context.Context, r *Request) ([]byte, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.Route.file, "/sitemap/"), ".xml")
	if r.Route.file == "/sitemap.xml" {
		return p.sitemapIndex(ctx, r)
	}
	part := 1
	kind, rest, numbered := strings.Cut(name, "-")
	var urls []siteURL
	var err error
	switch {
	case name == "pages":
		if urls, err = p.plainURLs(ctx); err != nil {
			return nil, err
		}
	case kind == "events" && len(rest) >= len("2006-01"):
		month, ok := units[0].parse(rest[:len("2006-01")])
		if more := rest[len("2006-01"):]; more != "" {
			if part = number(strings.TrimPrefix(more, "-")); part < 2 || more[0] != '-' {
				return nil, nil
			}
		}
		if !ok {
			return nil, nil
		}
		if urls, err = p.eventURLs(ctx, month); err != nil {
			return nil, err
		}
	case numbered && slices.Contains([]string{"venues", "organizers", "terms"}, kind):
		if part = number(rest); part < 1 {
			return nil, nil
		}
		if urls, err = p.recordURLs(ctx, kind); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	if (part-1)*mostURLs >= len(urls) {
		return nil, nil
	}
	return writeURLs(r, urls[(part-1)*mostURLs:min(part*mostURLs, len(urls))]), nil
}

func (p *Pages) sitemapIndex(ctx context.Context, r *Request) ([]byte, error) {
	names := []string{"pages"}
	months, err := p.months(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, m := range months {
		for part := 1; (part-1)*mostURLs < m.events; part++ {
			name := "events-" + m.first.Format("2006-01")
			if part > 1 {
				name += "-" + strconv.Itoa(part)
			}
			names = append(names, name)
		}
	}
	for _, kind := range []string{"venues", "organizers", "terms"} {
		urls, err := p.recordURLs(ctx, kind)
		if err != nil {
			return nil, err
		}
		for part := 1; (part-1)*mostURLs < len(urls); part++ {
			names = append(names, kind+"-"+strconv.Itoa(part))
		}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header + `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, name := range names {
		fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>\n", escaped(r.Base+"/sitemap/"+name+".xml"))
	}
	b.WriteString("</sitemapindex>\n")
	return b.Bytes(), nil
}

// plainURLs are the pages that are no record's and may be found: lists that have events,
// directories that have entries, the months in which there are events.
func (p *Pages) plainURLs(ctx context.Context) ([]siteURL, error) {
	var paths []string
	for _, k := range []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag} {
		c, err := p.Lists.Parse(ctx, query.Request{Kind: k, Input: listed(k), Lang: calendar.LangEN})
		if err != nil {
			return nil, err
		}
		found, err := p.Lists.Run(ctx, c)
		if err != nil {
			return nil, err
		}
		if found.Total > 0 {
			paths = append(paths, "/"+k.Collection()+"/")
		}
	}
	paths = append(paths, "/docs/")
	c, err := p.coming(ctx)
	if err != nil {
		return nil, err
	}
	n, err := p.Lists.Count(ctx, c)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		paths = append([]string{"/", "/events/", "/events/map/"}, paths...)
	}
	months, err := p.months(ctx, true)
	if err != nil {
		return nil, err
	}
	for _, m := range months {
		paths = append(paths, monthPath(m.first))
	}
	out := make([]siteURL, 0, len(paths))
	for _, path := range paths {
		out = append(out, siteURL{path: path, langs: hreflangs})
	}
	return out, nil
}

// coming are the criteria of the list without parameters.
func (p *Pages) coming(ctx context.Context) (*query.Criteria, error) {
	in := calendar.Input{paramOverlap: "true", paramPerPage: strconv.Itoa(mostPerPage)}
	return p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: calendar.LangEN})
}

// linked are the records that coming events are of: their pages are not empty.
func (p *Pages) linked(ctx context.Context) (map[calendar.ID]bool, error) {
	c, err := p.coming(ctx)
	if err != nil {
		return nil, err
	}
	whole, err := p.Lists.Whole(ctx, c, query.Calendar{})
	if err != nil {
		return nil, err
	}
	defer whole.Close()
	out := map[calendar.ID]bool{}
	err = whole.Each(ctx, func(v *query.View) error {
		if v.Blanked {
			return nil
		}
		for _, list := range [][]query.LinkedView{v.Venues, v.Organizers} {
			for i := range list {
				out[list[i].Record.ID] = true
			}
		}
		for _, list := range [][]query.TermView{v.Categories, v.Tags} {
			for i := range list {
				out[list[i].Record.ID] = true
			}
		}
		return nil
	})
	return out, err
}

// monthOfEvents is a month in which events start.
type monthOfEvents struct {
	first  time.Time
	events int
}

// months are those in which listed events without a password start, in the site zone; with own set by the
// clock of each event, and those too that an event, protected or not, only goes on in. Stretches without any
// are left out at once, so that one event in a far year costs little.
func (p *Pages) months(ctx context.Context, own bool) ([]monthOfEvents, error) {
	var out []monthOfEvents
	var look func(from, months int) error
	month := func(n int) time.Time { return time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC).AddDate(0, n, 0) }
	look = func(from, months int) error {
		in := p.starting(month(from), month(from+months))
		in["duration_min"] = "0" // leaves out those with a password: no file names them
		if own {
			in = calendar.Input{
				paramOverlap: "true", paramStart: calendar.WallOf(month(from)).String(), paramEnd: (calendar.WallOf(month(from+months)) - 1).String(),
			}
		}
		c, err := p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: calendar.LangEN})
		if err != nil {
			return err
		}
		n, err := p.Lists.Count(ctx, c)
		switch {
		case err != nil || n == 0:
			return err
		case months == 1:
			out = append(out, monthOfEvents{month(from), n})
			return nil
		}
		if err := look(from, months/2); err != nil {
			return err
		}
		return look(from+months/2, months-months/2)
	}
	return out, look(0, 9999*12)
}

// starting are the parameters of the listed events that start from one day of the site on,
// before another.
func (p *Pages) starting(from, before time.Time) calendar.Input {
	begin, _ := calendar.Day(calendar.WallOf(from), p.o.Site)
	end, _ := calendar.Day(calendar.WallOf(before), p.o.Site)
	in := calendar.Input{paramStrict: "true", paramStart: boundText(begin), "starts_before": boundText(end), paramPerPage: strconv.Itoa(mostPerPage)}
	if end.Year() > 9999 {
		delete(in, "starts_before")
		in[paramEnd] = boundText(end)
	}
	return in
}

// eventURLs are the pages of the events that start in a month of the site zone.
func (p *Pages) eventURLs(ctx context.Context, first time.Time) ([]siteURL, error) {
	c, err := p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: p.starting(first, first.AddDate(0, 1, 0)), Lang: calendar.LangEN})
	if err != nil {
		return nil, err
	}
	whole, err := p.Lists.Whole(ctx, c, query.Calendar{})
	if err != nil {
		return nil, err
	}
	defer whole.Close()
	var out []siteURL
	err = whole.Each(ctx, func(v *query.View) error {
		if !v.Blanked && v.Record.Slug() != "" {
			out = append(out, siteURLOf(v.Record))
		}
		return nil
	})
	return out, err
}

func siteURLOf(r *calendar.Record) siteURL {
	return siteURL{path: recordPath(r.Kind, r.Slug()), langs: r.Langs(), changed: r.Changed}
}

// recordURLs are the pages of venues, organizers, or terms, without those that are empty.
func (p *Pages) recordURLs(ctx context.Context, name string) ([]siteURL, error) {
	kinds := map[string][]calendar.Kind{"venues": {calendar.KindVenue}, "organizers": {calendar.KindOrganizer}, "terms": {calendar.KindCategory, calendar.KindTag}}[name]
	linked, err := p.linked(ctx)
	if err != nil {
		return nil, err
	}
	var records []*calendar.Record
	for _, k := range kinds {
		in := calendar.Input{}
		if k.IsTerm() {
			in["hide_empty"] = "false"
		}
		_, err := p.eachOf(ctx, query.Request{Kind: k, Input: in, Lang: calendar.LangEN}, func(v *query.View) {
			records = append(records, v.Record)
		})
		if err != nil {
			return nil, err
		}
	}
	parents := map[calendar.ID]calendar.ID{}
	for _, r := range records {
		if r.Kind == calendar.KindCategory {
			parents[r.ID] = r.Fields.ID("parent")
		}
	}
	for id := range linked { // a category has the events of those below it
		for up, n := parents[id], 0; up != 0 && n < maxAncestors; up, n = parents[up], n+1 {
			linked[up] = true
		}
	}
	var out []siteURL
	for _, r := range records {
		if linked[r.ID] && r.Slug() != "" {
			out = append(out, siteURLOf(r))
		}
	}
	return out, nil
}

func writeURLs(r *Request, urls []siteURL) []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">` + "\n")
	for _, u := range urls {
		own := calendar.LangEN
		if !slices.Contains(u.langs, own) {
			own = u.langs[0]
		}
		fmt.Fprintf(&b, "<url><loc>%s</loc>", escaped(r.Base+segments[own]+u.path))
		if !u.changed.IsZero() {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", u.changed.UTC().Format("2006-01-02T15:04:05Z"))
		}
		for _, l := range hreflangs {
			if slices.Contains(u.langs, l) {
				fmt.Fprintf(&b, `<xhtml:link rel="alternate" hreflang="%s" href="%s"/>`, l.Tag(), escaped(r.Base+segments[l]+u.path))
			}
		}
		b.WriteString("</url>\n")
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // into memory
	return b.String()
}

// number reads digits as they are written; 0: it is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || s != strconv.Itoa(n) {
		return 0
	}
	return n
}
