package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// facetNames are all facets.
var facetNames = strings.Fields("categories tags venue organizer city country month weekday time_of_day in_language ticketed featured free cost_band")

// facets are lines LISTINGS 8.35, 8.36, 8.37, 8.42, 8.43 and 8.44 as far as facets go.
func facets(s *scene) {
	caller := s.editor
	text := newWord()
	tag := caller.add("tags", text)
	music := caller.add("categories", "Music "+text)
	jazz := caller.create("categories", obj{"name": "Jazz & blues " + text, "parent": music.id()})
	folk := caller.create("categories", obj{"name": "Folk " + text, "parent": music.id()})
	caller.under("fr").update(folk, obj{"name": "Chanson " + text})
	hall := caller.create("venues", obj{"venue": "Hall " + text, "city": "München", "country": "Germany"})
	club := caller.create("venues", obj{"venue": "Club " + text, "city": "MUNCHEN"})
	gone := caller.create("venues", obj{"venue": "Gone " + text, "city": "Suva"})
	room := caller.create("venues", obj{"venue": "Room " + text, "city": "Rome", "status": "private"})
	at := func(title, day string, more obj) {
		body := obj{"start_date": day + " 19:00:00", "end_date": day + " 20:00:00", "tags": tag.idText()}
		maps.Copy(body, more)
		caller.event(title, body)
	}
	at("Two of one parent", "2026-06-10", obj{"categories": []int64{jazz.id(), folk.id()}, "venue": []int64{hall.id(), club.id()}, "cost": "0", "featured": true})
	at("In a trashed venue", "2026-06-11", obj{"categories": folk.id(), "venue": gone.id(), "cost": "12"})
	at("In a private room", "2026-07-11", obj{"venue": room.id(), "cost": "ask", "ticketed": true})
	at("Blanked "+text, "2026-07-12", obj{"categories": jazz.id(), "venue": hall.id(), "cost": "30", "password": "x"})
	at("All day", "2026-06-10", obj{"all_day": true, "venue": club.id()})
	caller.remove(gone)

	path := tag.path() + "/events"
	all := "?facets=" + strings.Join(facetNames, ",")
	shown := s.nobody.read(path + all)
	count := func(a *answer, facet string, want ...any) {
		s.t.Helper()
		values, _ := a.at("facets." + facet + ".values").([]any)
		var got []any
		for i := range values {
			got = append(got, a.str(fmt.Sprintf("facets.%s.values.%d.value", facet, i)), int(a.num(fmt.Sprintf("facets.%s.values.%d.count", facet, i))))
		}
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			s.t.Errorf("%s: %s (-want +got):\n%s", a.request, facet, diff)
		}
	}
	count(shown, "categories", music.idText(), 2, folk.idText(), 2, jazz.idText(), 1)
	count(shown, "venue", club.idText(), 2, hall.idText(), 1)
	count(shown, "city", "munchen", 2)
	count(shown, "country", "germany", 1)
	count(s.nobody.read("/events?facets=month,weekday,free&search=blanked%20"+text), "month", "2026-07", 1) // what it shows
	count(s.nobody.read("/events?facets=month,weekday,free&search=blanked%20"+text), "free")
	count(shown, "cost_band", "free", 1, "10-25", 1, "unknown", 2)
	shown.field("facets.city.values.0.label", "MUNCHEN").field("facets.categories.values.2.label", "Jazz & blues "+text).
		fields(obj{"facets.categories.values.1.level": 1, "facets.categories.values.1.parent": music.id(), "facets.categories.values.1.slug": folk.str("slug")}).
		field("facets.weekday.values.0.label", "Wednesday").field("facets.venue.values.0.city", "MUNCHEN").field("facets.tags.total", 1)
	count(caller.read(path+all), "city", "munchen", 3, "rome", 1)

	// Each count is the total of the list with the value alone, whatever else is sent.
	checked := 0
	for _, sent := range []string{"", "&categories=" + music.idText() + "&city=munchen", "&month=2026-07&free=false&search=in"} {
		for _, who := range []string{"", "editor"} {
			with := s.as(who).read(path + all + sent)
			for _, facet := range facetNames {
				values, _ := with.at("facets." + facet + ".values").([]any)
				for i := range values {
					value := with.str(fmt.Sprintf("facets.%s.values.%d.value", facet, i))
					query, _ := url.ParseQuery(strings.TrimPrefix(sent, "&"))
					query.Set(facet, value)
					one := s.as(who).read(path + "?" + query.Encode())
					if n := with.num(fmt.Sprintf("facets.%s.values.%d.count", facet, i)); n != one.num("total") {
						s.t.Errorf("%s: %s=%s counts %d, the list has %d", with.request, facet, value, n, one.num("total"))
					}
					checked++
				}
			}
		}
	}
	if checked < 60 {
		s.t.Errorf("%d counts are checked only", checked)
	}

	// Chosen values stay, in the words of the language; ids and counts are the same.
	for language, words := range map[string][3]string{"en": {"Wednesday", "Free", "Folk " + text}, "fr": {"mercredi", "Gratuit", "Chanson " + text}, "es": {"miércoles", "Gratis", "Folk " + text}, "cn": {"星期三", "免费", "Folk " + text}} {
		a := s.nobody.under(language).read(path + "?facets=weekday,cost_band,categories,city&facet_limit=1&weekday=wed&cost_band=free,5-6&categories=" + jazz.idText() + "&city=Nowhere")
		count(a, "weekday", "3", 0)
		count(a, "cost_band", "free", 0, "5-6", 0)
		count(a, "categories", jazz.idText(), 0)
		count(a, "city", "munchen", 1, "nowhere", 0)
		a.fields(obj{
			"facets.weekday.values.0.label": words[0], "facets.weekday.values.0.selected": true, "facets.cost_band.values.0.label": words[1],
			"facets.city.total": 1, "facets.city.values.0.selected": false, "facets.city.values.1.selected": true, "total": 0,
		})
		if !strings.Contains(a.str("rest_url"), "facet_limit=1") || !strings.Contains(a.str("rest_url"), "facets=weekday%2Ccost_band") {
			s.t.Errorf("%s: rest_url %s", a.request, a.str("rest_url"))
		}
		a = s.nobody.under(language).read(path + "?facets=categories&facet_query=categories:" + url.QueryEscape(strings.ToUpper(words[2][:3])))
		count(a, "categories", folk.idText(), 2)
	}
	s.nobody.read(path + ".jsonfeed?facets=free").fields(obj{"_daybook.facets.free.values.0.count": 1, "_daybook.facets.free.values.0.label": "Yes"})
	s.nobody.read(path+".jsonfeed?facets=free&per_page=1").field("_daybook.facets.free.values.1.count", 3)
	s.nobody.read(path + ".geojson?facets=free").without("facets")
	for param, sent := range map[string]string{
		"facets": "facets=places", "facet_limit": "facet_limit=101", "facet_query": "facet_query=city:m", "collapse": "collapse=true",
	} {
		s.nobody.get("/events?" + sent).bad(param)
		s.nobody.get("/events?" + param + "=").bad(param)
		s.nobody.get("/events.ics?" + sent).bad(param)
		s.nobody.read("/venues?" + sent)
	}
}
