package query

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/query/readmodel"
)

// samples are for each row two query strings of it that have different answers, and one
// whose meaning moves with the moment or the store where that may be. Each may name
// further rows, which are then tested together.
func samples(k calendar.Kind, name string) []string {
	terms := map[string][]string{
		"include": {"include=30", "include=31", "include=jazz"}, "exclude": {"exclude=30", "exclude=31", "exclude=jazz"},
	}
	if k == calendar.KindTag {
		terms = map[string][]string{
			"include": {"include=40", "include=41", "include=ete"}, "exclude": {"exclude=40", "exclude=41", "exclude=ete"},
		}
	}
	if found := terms[name]; found != nil && k.IsTerm() {
		return found
	}
	if k == calendar.KindEvent && name == "order" {
		return []string{"order=asc&sort=published", "order=desc&sort=published"}
	}
	date := func() []string {
		return []string{name + "=2030-05-10", name + "=2030-05-11", name + "=now&strict_dates=1"}
	}
	return map[string][]string{
		"page": {"page=1", "page=2"}, "per_page": {"per_page=1", "per_page=2"},
		"multilang_language": {"multilang_language=en", "multilang_language=fr"}, "_fields": {"_fields=id", "_fields=slug"},
		"start_date": date(), "end_date": date(), "starts_before": date(), "starts_after": date(), "ends_before": date(), "ends_after": date(),
		"strict_dates": {"strict_dates=0", "strict_dates=1"},
		"search":       {"search=hidden phrase", "search=concert"},
		"categories":   {"categories=33", "categories=31", "categories=jazz"}, "tags": {"tags=41", "tags=40", "tags=ete"},
		"venue": {"venue=54", "venue=50"}, "organizer": {"organizer=60", "organizer=63"},
		"featured": {"featured=1", "featured=0"}, "ticketed": {"ticketed=1", "ticketed=0"}, "event_status": {"event_status=cancelled", "event_status=scheduled"},
		"status": {"status=publish", "status=draft"}, "geoloc": {"geoloc=1", "geoloc=0"},
		"geoloc_lat":    {"geoloc_lat=40.7&geoloc_lng=-74", "geoloc_lat=42&geoloc_lng=-74"},
		"geoloc_lng":    {"geoloc_lng=-74&geoloc_lat=40.7", "geoloc_lng=-71&geoloc_lat=40.7"},
		"geoloc_radius": {"geoloc_radius=5", "geoloc_radius=6"},
		"include":       {"include=106", "include=100"}, "post_parent": {"post_parent=100", "post_parent=101"},
		"event": {"event=100", "event=110", "event=100"}, "post": {"post=100", "post=110", "post=100"},
		"has_events": {"has_events=1", "has_events=0"}, "only_with_upcoming": {"only_with_upcoming=1", "only_with_upcoming=0", "only_with_upcoming=1"},
		"format": {"format=ics", "format=csv"}, "features": {"features=events", "features=venues"},
		"csv_bom": {"csv_bom=1", "csv_bom=0"}, "csv_raw": {"csv_raw=1", "csv_raw=0"},
		"overlap": {"overlap=1", "overlap=0"}, "when": {"when=today", "when=this_month", "when=today"}, "month": {"month=2030-05", "month=2030-06"}, "weekday": {"weekday=4", "weekday=fri"},
		"time_of_day": {"time_of_day=all_day", "time_of_day=morning"}, "duration_min": {"duration_min=1440", "duration_min=60"},
		"duration_max": {"duration_max=60", "duration_max=1440"}, "in_language": {"in_language=en", "in_language=fr"},
		"city": {"city=new york", "city=boston"}, "country": {"country=usa", "country=peru"},
		"bbox": {"bbox=-74.01,40,-74,41", "bbox=0,0,0,0"}, "free": {"free=1", "free=0"}, "cost_band": {"cost_band=free", "cost_band=unknown"},
		"sort":   {"sort=published", "sort=distance&geoloc_lat=40.7&geoloc_lng=-74"},
		"facets": {"facets=tags,city", "facets=month"}, "facet_limit": {"facet_limit=1", "facet_limit=100"},
		"facet_query": {"facets=city&facet_query=city:new", "facets=tags&facet_query=tags:e"}, "collapse": {"collapse=repeats", "collapse=repeats&page=2"},
		"typos": {"typos=on", "typos=auto"}, "highlight": {"highlight=true", "highlight=false"}, "highlight_length": {"highlight_length=40", "highlight_length=41"},
		"order": {"order=asc", "order=desc"}, "orderby": {"orderby=name", "orderby=id"},
		"hide_empty": {"hide_empty=1", "hide_empty=0"}, "parent": {"parent=30", "parent=31"}, "slug": {"slug=jazz", "slug=folk"},
		"as_of": {"as_of=2030-05-10", "as_of=position:3"}, "cursor": {"cursor=*", "cursor=" + sampleCursor()},
	}[name]
}

// sampleCursor is one of the list without parameters.
func sampleCursor() string {
	c := cursor{start: calendar.NoWall, end: calendar.NoWall, window: newWindow(), lap: newWindow(), at: []readmodel.Key{{N: 1, Has: true}, {}, {N: 100, Has: true}}}
	return c.encode(cache.Key(nil).Number(int64(calendar.LangEN)).Text("").Number(0).Number(0).String())
}

// wrongRows says what is wrong with the row of a table: which of its columns does not
// say what its reader does.
func wrongRows(t *testing.T, k calendar.Kind, rows table, name string) (wrong []string) {
	t.Helper()
	of := samples(k, name)
	if len(of) < 2 {
		return []string{"no samples"}
	}
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	s, store, _, now := setup(t, world(t))
	parse := func(sent string) *Criteria {
		in := calendar.Input{}
		values, err := url.ParseQuery(sent)
		for name := range values {
			in[name] = values.Get(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.parse(t.Context(), Request{Kind: k, Input: in, Caller: editor, Lang: calendar.LangEN}, rows)
		if err != nil {
			t.Fatalf("%s %s: %v", k, sent, err)
		}
		return c
	}
	keys := map[string]bool{}
	for _, sent := range of[:2] {
		store.loaded, store.looked = 0, 0
		c := parse(sent)
		if asked := store.loaded+store.looked > 0; asked != c.LooksUp {
			say("%s: asks the store %t, is marked %t", sent, asked, c.LooksUp)
		}
		keys[c.Key] = true
		links := LinksTo("", c.Links)
		link := strings.TrimPrefix(links.Page(c.Page), "?")
		carried, _ := url.ParseQuery(link)
		values, _ := url.ParseQuery(sent)
		for p := range values {
			if carried.Get(p) != values.Get(p) && (p != "page" || c.Page != 1) {
				say("%s: the link has %s=%q", sent, p, carried.Get(p))
			}
		}
		if again := parse(link); !again.same(c) {
			say("%s: %s is another list", sent, link)
		}
	}
	if len(keys) != 2 {
		say("two values have one key")
	}
	if len(of) > 2 {
		before := parse(of[2])
		for _, slugs := range [][2]calendar.ID{{31, 33}, {40, 41}} { // they change names
			a, b := store.byID[slugs[0]], store.byID[slugs[1]]
			store.byID[a.ID] = record(t, a.Kind, a.ID, "A", fields{"slug": b.Slug()})
			store.byID[b.ID] = record(t, b.Kind, b.ID, "B", fields{"slug": a.Slug()})
		}
		store.byID[100] = event(t, 100, "Quay concert", "2030-05-10", "2030-05-10", fields{
			"venue": ids(53), "organizer": ids(63), "categories": ids(34), "tags": ids(43),
		})
		step := time.Second
		if name == "when" {
			step = 24 * time.Hour
		}
		*now = now.Add(step)
		after := parse(of[2])
		if before.same(after) {
			t.Fatalf("%s: means the same a moment later", of[2])
		}
		if before.Key == after.Key {
			say("%s: means another thing and has the same key", of[2])
		}
	}
	if k == calendar.KindEvent {
		wrong = append(wrong, showsBlanked(t, rows, of[0])...)
	}
	return wrong
}

// same tells whether two criteria have the same answer at one generation.
func (c *Criteria) same(o *Criteria) bool {
	a, b := c.run, o.run
	if a.walk != nil && b.walk != nil { // whose cursors know whether the window was sent
		if !slices.Equal(a.walk.at, b.walk.at) {
			return false
		}
		a.walk, b.walk = nil, nil
	}
	return c.Page == o.Page && c.PerPage == o.PerPage && c.Lang == o.Lang && slices.Equal(c.Fields, o.Fields) && reflect.DeepEqual(a, b)
}

// showsBlanked compares lists over an event that the caller gets blanked with those over
// one that shows the same and has nothing else: no filter is to tell them apart.
func showsBlanked(t *testing.T, rows table, sent string) (wrong []string) {
	t.Helper()
	records := world(t)
	at := slices.IndexFunc(records, func(r *calendar.Record) bool { return r.ID == 106 })
	full := records[at]
	lists := func(protected bool) (out [2][]calendar.ID) {
		for i := range out {
			f := fields{"author": full.Author()}
			if i == 0 {
				maps.Copy(f, full.Fields)
			}
			f["protected"] = protected
			other := slices.Clone(records)
			other[at] = event(t, full.ID, "Secret jam", "2030-05-16 09:00:00", "2030-05-16 10:00:00", f)
			s, _, _, _ := setup(t, other)
			c, err := s.parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Lang: calendar.LangEN}, rows)
			if err != nil {
				return out // not for everybody
			}
			c.Page, c.PerPage = 1, 50
			l, err := s.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = idsOf(l)
		}
		return out
	}
	if l := lists(true); !slices.Equal(l[0], l[1]) {
		wrong = append(wrong, fmt.Sprintf("%s tells what a blanked event has: %v, %v", sent, l[0], l[1]))
	}
	marked := false
	for _, p := range rows.params {
		marked = marked || p.Hides && strings.Contains("&"+sent, "&"+p.Name+"=")
	}
	if l := lists(false); marked && slices.Equal(l[0], l[1]) {
		wrong = append(wrong, sent+" leaves blanked events out for nothing")
	}
	return wrong
}

// changed gives a table with other rows in place of some, of a sample.
func (t table) changed(sent string, change func(*Param)) table {
	params := slices.Clone(t.params)
	for i := range params {
		if strings.Contains("&"+sent, "&"+params[i].Name+"=") {
			change(&params[i])
		}
	}
	return newTable(params)
}

// TestRows: the columns of every row say what its reader does, and a row that is changed
// as a hasty hand would is found.
func TestRows(t *testing.T) {
	t.Parallel()
	unresolved := func(p *Param) {
		read := p.read
		p.read = func(ctx context.Context, q *parser, p *Param) {
			n := len(q.resolved)
			read(ctx, q, p)
			q.resolved = q.resolved[:n]
		}
	}
	for _, k := range calendar.Kinds {
		for _, p := range Params(k) {
			t.Run(k.String()+" "+p.Name, func(t *testing.T) {
				t.Parallel()
				for _, wrong := range wrongRows(t, k, tables[k], p.Name) {
					t.Error(wrong)
				}
				of := samples(k, p.Name)
				found := func(what, sent string, change func(*Param)) {
					t.Helper()
					if len(wrongRows(t, k, tables[k].changed(sent, change), p.Name)) == 0 {
						t.Error(what, "is not found")
					}
				}
				if p.Name != "page" {
					found("a row that is not in links and keys", of[0], func(p *Param) { p.link = linkNothing })
				}
				found("a look-up that is not marked, or one that is none", of[0], func(p *Param) { p.LooksUp = !p.LooksUp })
				if len(of) > 2 {
					found("a meaning that is not in the key", of[2], unresolved)
				}
				if p.Hides {
					found("a row that tells what is blanked", of[0], func(p *Param) { p.Hides = false })
				}
			})
		}
	}
}
