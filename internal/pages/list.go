package pages

import (
	"cmp"
	"context"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/texts"
	"daybook/query"
)

// listBody is what list, search, home and the pages of records show of a selection.
type listBody struct {
	selected

	Groups   []group
	Featured []card
	Pager    *pager
	Past     *link // to what has ended, or back
	Facets   []facet
	More     *link // to the whole list, of the home page
}

// selected is what all pages of a selection show of it.
type selected struct {
	Total int
	Count string
	Quick *quick
	Chips []removable
	Zone  string // whose time it is
	Empty *empty
	Form  *filterForm
}

// selected makes what pages show of the selection; cards are those on the page.
func (l *look) selected(cards []card, total int) selected {
	s := selected{Total: total, Count: l.count("events", total)}
	l.zones(cards)
	if l.sel.zone != nil {
		s.Zone = l.text("zone.told", l.sel.zone.Name)
	}
	if total == 0 {
		l.NoIndex = true
		s.Empty = l.nothing()
	}
	if l.Embedded() {
		return s
	}
	s.Chips = l.chips()
	first := s.Empty != nil && s.Empty.First != nil
	if l.sel.of.ID == 0 && l.Page != pageSearch && !first {
		s.Quick = l.quick()
	}
	if l.Drawer = l.drawer(); !first {
		s.Form = l.form(nil)
	}
	return s
}

// group is the events of a day in a list.
type group struct {
	Date              string // data-date: a day, or "running"
	Href              string // of the day, "" for none
	Heading           string // the whole date
	Day, Number, Rest string // its parts; Number "" where there is only a heading
	Today             bool
	Earlier           []card // those that ended today
	EarlierCount      string
	Cards             []card
	More              string // "+2 more", "" for none
}

// dayGroup makes the group of a day.
func (l *look) dayGroup(day, today time.Time) group {
	g := group{
		Date: day.Format(time.DateOnly), Heading: l.date(day), Href: l.Href(dayPath(day)), Today: day.Equal(today),
		Day: l.dayName("", day.Weekday()), Number: strconv.Itoa(day.Day()), Rest: l.monthName("", day.Month()),
	}
	switch {
	case g.Today:
		g.Day = l.text("today")
	case day.Equal(today.AddDate(0, 0, 1)):
		g.Day = l.text("tomorrow")
	}
	if day.Year() != today.Year() {
		g.Rest = l.month(day)
	}
	if l.lang == calendar.LangCN {
		g.Day, g.Rest = g.Rest, g.Day
	}
	return g
}

// groupsOf puts cards of a list under their days, in their order. What began before today and
// runs stands first, what ended today first in its section.
func (l *look) groupsOf(cards []card) []group {
	if !l.sel.byDays() {
		if len(cards) == 0 {
			return nil
		}
		return []group{{Heading: l.text("list.found"), Cards: cards}}
	}
	today := l.today(l.sel.zone)
	date := today.Format(time.DateOnly)
	var out []group
	var earlier []card
	for _, c := range cards {
		first, last := c.span.ends()
		running := !l.sel.past && first.Before(today) && !c.Past && (len(out) == 0 || out[0].Date == "running" && len(out) == 1)
		c.inDay(l.speech, running)
		if !l.sel.past && c.Past && last.Equal(today) {
			earlier = append(earlier, c)
			continue
		}
		g := l.dayGroup(first, today)
		if running {
			g = group{Date: "running", Heading: l.text("list.running")}
		}
		if n := len(out); n == 0 || out[n-1].Date != g.Date {
			out = append(out, g)
		}
		out[len(out)-1].Cards = append(out[len(out)-1].Cards, c)
	}
	if len(earlier) == 0 {
		return out
	}
	at := slices.IndexFunc(out, func(g group) bool { return g.Date == date })
	if at < 0 {
		if at = slices.IndexFunc(out, func(g group) bool { return g.Date != "running" && g.Date > date }); at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, l.dayGroup(today, today))
	}
	out[at].Earlier, out[at].EarlierCount = earlier, l.number(len(earlier))
	return out
}

// quick are the links of the quick choice: dates, and categories that coming events have.
type quick struct {
	Dates      []link
	Categories []chip
}

// presets are the dates of the quick choice, and the words of when that they stand for.
var presets = []struct{ name, when string }{{"any", ""}, {"today", "today"}, {"weekend", "this_weekend"}, {"week", "next_7_days"}}

// maxQuick is how many categories the quick choice has.
const maxQuick = 12

// quick makes the quick choice. Links of the home page lead to the list.
func (l *look) quick() *quick {
	out, s := &quick{}, *l.sel
	if l.Page == pageHome {
		s.path = l.Href("/events/")
	}
	if !s.over.set {
		asked := s.asked.without(window...).without(paramOverlap)
		for _, preset := range presets {
			at := link{Label: l.text("quick." + preset.name), Value: preset.name, Href: s.to(asked.without(paramWhen)), Current: strings.EqualFold(s.asked.value(paramWhen), preset.when) && !s.asked.has(dates...)}
			if preset.when != "" {
				at.Href = s.to(asked.with(paramWhen, preset.when))
			}
			out.Dates = append(out.Dates, at)
		}
	}
	chosen := strings.Split(s.asked.value("categories"), ",")
	for _, v := range l.categories() {
		id, _ := calendar.ParseID(v.Value)
		others := slices.DeleteFunc(slices.Clone(chosen), func(c string) bool {
			c = calendar.Trim(c)
			return strings.EqualFold(c, v.Slug) || c == v.Value
		})
		c := chip{link{Label: v.Label, Lang: l.other(v.In), Value: v.Slug, Current: len(others) < len(chosen)}, int(id % 8)}
		switch but := s.asked.without("categories"); {
		case !c.Current:
			c.Href = s.to(but.with("categories", v.Slug))
		case len(others) > 0:
			c.Href = s.to(but.with("categories", strings.Join(others, ",")))
		default:
			c.Href = s.to(but)
		}
		out.Categories = append(out.Categories, c)
	}
	return out
}

// categories are those without a parent that coming events have, made once for a state and
// a day.
func (l *look) categories() []query.FacetValue {
	return keep(l, &l.quickest[l.lang], func(l *look) []query.FacetValue {
		found := l.ask(calendar.KindEvent, calendar.Input{paramOverlap: "true", paramPerPage: "1", "facets": "categories", "facet_limit": "100"})
		if l.err != nil {
			return nil
		}
		out := slices.DeleteFunc(slices.Clone(found.Facets[0].Values), func(v query.FacetValue) bool { return v.Level > 0 })
		order := collator(l.lang)
		slices.SortStableFunc(out, func(a, b query.FacetValue) int { return order.CompareString(a.Label, b.Label) })
		return out[:min(len(out), maxQuick)]
	})
}

// facet is how many events have each value.
type facet struct {
	Name, Label string
	Values      []facetValue
	More        []facetValue // folded
}

// facetValue is one value of a facet.
type facetValue struct {
	Name, Value, Label, Count string
	Lang                      string // of the label of a record, where it is not that of the page
	Number                    int
	Selected                  bool
	Share                     int          // of the greatest count, in twentieths, for the bar
	Children                  []facetValue // of a category
}

// shownValues is how many values of a facet are not folded.
const shownValues = 8

// facets makes the facets of a search.
func (l *look) facets(found []query.Facet) []facet {
	out := make([]facet, 0, len(found))
	for _, f := range found {
		most, sent := 1, f.Name
		if listParams[f.Name] {
			sent += "[]"
		}
		children := map[calendar.ID][]facetValue{}
		for _, v := range f.Values {
			most = max(most, v.Count)
		}
		for _, v := range slices.Backward(f.Values) { // children come after their parents
			id, _ := calendar.ParseID(v.Value)
			value := facetValue{
				Name: sent, Value: v.Value, Label: l.facetLabel(f.Name, v), Count: l.number(v.Count), Number: v.Count, Selected: v.Selected,
				Share: (v.Count*20 + most - 1) / most, Children: children[id],
			}
			if v.Slug != "" {
				value.Lang = l.other(v.In)
			}
			up := v.Parent
			if !slices.ContainsFunc(f.Values, func(v query.FacetValue) bool { return up != 0 && v.Value == up.String() }) {
				up = 0
			}
			if f.Name != "categories" {
				value.Children = nil
			}
			children[up] = slices.Insert(children[up], 0, value)
		}
		shown := facet{Name: f.Name, Label: l.filterName(f.Name)}
		for i, v := range children[0] {
			if i < shownValues || v.Selected {
				shown.Values = append(shown.Values, v)
			} else {
				shown.More = append(shown.More, v)
			}
		}
		if len(shown.Values) > 0 {
			out = append(out, shown)
		}
	}
	return out
}

// facetLabel is what people read for a value.
func (l *look) facetLabel(name string, v query.FacetValue) string {
	switch name {
	case "month":
		if t, ok := units[0].parse(v.Value); ok {
			return l.month(t)
		}
	case "weekday":
		for day := time.Sunday; day <= time.Saturday; day++ {
			name, number := day.String(), strconv.Itoa((int(day)+6)%7+1)
			if v.Value == number || strings.EqualFold(v.Value, name) || strings.EqualFold(v.Value, name[:3]) {
				return l.dayName("", day)
			}
		}
	case "in_language":
		if lang, ok := calendar.ParseLang(v.Value); ok {
			return word("language.name", lang)
		}
	case "featured", "ticketed", "free", "geoloc", paramOverlap:
		if is, ok := calendar.ParseBool(v.Value); ok && is {
			return l.text("value.yes")
		} else if ok {
			return l.text("value.no")
		}
	}
	if v.Label != "" {
		return v.Label
	}
	if t, known := texts.Pages["value."+v.Value]; known {
		return t[l.lang]
	}
	return v.Value
}

// removable is a filter that can be taken away.
type removable struct {
	Label, Value, Href string // Label: what stands before the value
}

// empty is what stands where nothing was found.
type empty struct {
	Text  string
	Drop  []drop
	Links []link
	First *firstEvent // in a calendar without events
}

// drop is a parameter that could be left out, and how many events there are then.
type drop struct {
	link

	Param  string
	Number int
}

// firstEvent tells who runs a calendar how its first event is added.
type firstEvent struct{ Command string }

// pager leads through the pages of a list.
type pager struct {
	Label          string
	Pages          []link
	Previous, Next *link
}

// option is one of a choice.
type option struct {
	Value, Label string
	Selected     bool
}

// pagerOf makes the pager of a list; nil for one page.
func (l *look) pagerOf(total int, at func(page int) string) *pager {
	if total < 2 {
		return nil
	}
	current := l.sel.page
	p := &pager{Label: l.text("pager")}
	for n := 1; n <= total; n++ {
		switch {
		case n == 1 || n == total || n >= current-2 && n <= current+2:
			p.Pages = append(p.Pages, link{Href: at(n), Label: l.number(n), Current: n == current, Title: l.text("pager.page", l.number(n))})
		case len(p.Pages) > 0 && p.Pages[len(p.Pages)-1].Label != "…":
			p.Pages = append(p.Pages, link{Label: "…"})
		}
	}
	if current > 1 {
		p.Previous = &link{Href: at(current - 1), Label: l.text("pager.previous")}
	}
	if current < total {
		p.Next = &link{Href: at(current + 1), Label: l.text("pager.next")}
	}
	return p
}

// list makes the body of a page with a list of events.
func (l *look) list() *listBody {
	b := &listBody{}
	if l.err != nil {
		return b
	}
	found := l.run(l.sel.criteria)
	cards := l.cards(found)
	l.mark(cards, found)
	b.Groups, b.Pager, b.selected = l.groupsOf(cards), l.pagerOf(found.TotalPages, l.sel.toPage), l.selected(cards, found.Total)
	if l.Page == pageSearch {
		b.Facets = l.facets(found.Facets)
		b.Form = l.form(b.Facets)
	}
	switch {
	case l.Embedded():
	case l.sel.past:
		b.Past = &link{Href: l.sel.to(l.sel.asked.without(paramPast)), Label: l.text("list.coming")}
	case l.Route.past:
		b.Past = &link{Href: l.sel.to(l.sel.asked.with(paramPast, "true")), Label: l.text("list.past")}
	}
	return b
}

// mark marks what the search fits in the cards of a list.
func (l *look) mark(cards []card, found *query.List) {
	h := l.sel.criteria.Highlighter(found.Typos)
	if h == nil {
		return
	}
	for i := range found.Views {
		v := &found.Views[i]
		title, in := v.Record.Name(l.lang)
		cards[i].Marked = template.HTML(h.Name(title, in)) //nolint:gosec // escaped but for its marks (LISTINGS 3.4)
		for _, field := range []string{"excerpt", "description"} {
			text, in := l.Shown.HTML(v.Record, field, l.lang)
			if text == "" || v.Blanked || cards[i].Snippet != "" {
				continue
			}
			cards[i].Snippet = template.HTML(h.Snippet(l.Shown.Plain(text), in, l.sel.criteria.HighlightLength)) //nolint:gosec // as above
			cards[i].SnippetLang = l.other(in)
		}
	}
}

// chips are the filters of the selection.
func (l *look) chips() []removable {
	if l.Embedded() {
		return nil
	}
	many := len(l.sel.asked) > mostChips
	var out []removable
	for i, a := range l.sel.asked {
		name := baseName(a.Name)
		whole := many || name == "bbox" || slices.Contains(around, name)
		if slices.Contains(shapes, name) || name == paramStrict || name == paramPast || name == paramZone || whole && l.sel.asked[:i].has(together(name)...) {
			continue
		}
		value, but := a.Value, slices.Delete(slices.Clone(l.sel.asked), i, i+1)
		if whole {
			value, but = l.sel.asked.value(name), l.sel.less(name)
		}
		out = append(out, removable{Label: l.filterLabel(name), Value: l.valueName(name, value), Href: l.sel.to(but)})
	}
	return out
}

// mostChips is how many values have a chip of their own; of more, each parameter has one.
// Each chip holds all the others: a thousand would make a page of megabytes.
const mostChips = 20

// mostNamed is how many values of a filter are written.
const mostNamed = 8

// valueName is what people read for the value of a parameter: ids and slugs by the names
// of their records.
func (l *look) valueName(name, value string) string {
	switch {
	case name == "search":
		return value
	case name == "bbox":
		value = "this_area"
	case slices.Contains(around, name):
		return l.text("value.around", cmp.Or(l.sel.asked.value("geoloc_radius"), strconv.Itoa(query.DefaultRadius)))
	}
	kind := map[string]calendar.Kind{"venue": calendar.KindVenue, "organizer": calendar.KindOrganizer, "categories": calendar.KindCategory, "tags": calendar.KindTag, "post_parent": calendar.KindEvent}[name]
	parts := strings.Split(value, ",")
	if len(parts) > mostNamed {
		parts = append(parts[:mostNamed], "…")
	}
	for i, part := range parts {
		part = calendar.Trim(part)
		parts[i] = part
		switch date, err := time.Parse(time.DateOnly, part); {
		case kind != 0 && part != "…":
			parts[i] = l.recordName(kind, part)
		case slices.Contains(dates, name) && err == nil:
			parts[i] = l.dayOf(date, true)
		default:
			parts[i] = l.facetLabel(name, query.FacetValue{Value: part})
		}
		if len(parts) > 1 {
			parts[i] = calendar.Isolated(parts[i])
		}
	}
	return strings.Join(parts, l.comma())
}

// recordName is the name of a record by its id or slug, the text itself where it cannot be
// read.
func (l *look) recordName(k calendar.Kind, text string) string {
	nobody := func(context.Context, calendar.ID) (bool, error) { return true, nil }
	if id, ok := calendar.ParseID(text); ok {
		if v, err := l.Lists.Read(l.ctx, k, id, "", l.Caller, l.lang, query.EmbedNone, nobody); err == nil {
			name, _ := v.Record.Name(l.lang)
			return name
		}
	}
	if v, err := l.Lists.Read(l.ctx, k, 0, text, l.Caller, l.lang, query.EmbedNone, nobody); err == nil && text != "" {
		name, _ := v.Record.Name(l.lang)
		return name
	}
	return text
}

// filterName is what people read for a parameter.
func (l *look) filterName(name string) string {
	if t, known := texts.Pages["filter."+name]; known {
		return t[l.lang]
	}
	return name
}

// filterLabel is what stands before the value of a filter.
func (l *look) filterLabel(name string) string {
	if slices.Contains(around, name) {
		name = "around"
	}
	return l.filterName(name) + l.colon()
}

// nothing is what a page without events says (PAGES.md P1.5).
func (l *look) nothing() *empty {
	if l.sel.of.ID == 0 && l.Page != pageSearch && !l.Embedded() && !l.anyEvent() {
		return &empty{Text: l.text("empty.calendar"), First: &firstEvent{l.firstCommand()}}
	}
	e := &empty{Text: l.text("empty.list")}
	past := link{Href: l.Href("/events/") + "?" + paramPast + "=true", Label: l.text("list.past")}
	if l.Route.past {
		past.Href = l.sel.to(l.sel.asked.with(paramPast, "true"))
	}
	all := link{Href: l.sel.path, Label: l.text("empty.all")}
	switch {
	case l.sel.over.set:
		if e.Text = l.text("empty.period"); !l.sel.plain() {
			e.Links = []link{{Href: l.sel.path, Label: l.text("empty.unfiltered")}}
		}
	case l.sel.plain() && l.sel.past:
		e.Text, e.Links = l.text("empty.past"), []link{all}
	case l.sel.plain():
		e.Links = []link{past}
	default:
		if e.Text, e.Links = l.text("empty.filtered"), []link{all}; !l.sel.past && !l.sel.dated() && l.Route.past {
			e.Links = []link{past, all}
		}
	}
	e.Drop = l.drops()
	return e
}

// anyEvent reports whether the calendar has a listed event, coming or past.
func (l *look) anyEvent() bool {
	return l.ask(calendar.KindEvent, calendar.Input{"starts_after": "0001-01-01", paramPerPage: "1"}).Total > 0
}

// firstCommand adds an event.
func (l *look) firstCommand() string {
	day := l.today(nil).AddDate(0, 0, 7).Format(time.DateOnly)
	return "curl -u USER:TOKEN " + l.absolute(l.lang, l.o.Namespace+"/events") + " -d 'title=" + l.text("first.title") +
		"' -d 'start_date=" + day + " 19:00' -d 'end_date=" + day + " 21:00'"
}

// maxDrops bounds the parameters of which the page counts what there is without them.
const maxDrops = 12

// drops are the parameters without which there are events, the most events first.
func (l *look) drops() (out []drop) {
	tried := append([]string{paramStrict, paramOverlap, paramPast, paramZone}, shapes...)
	counted := 0
	for _, a := range l.sel.asked {
		name := baseName(a.Name)
		if slices.Contains(tried, name) || counted == maxDrops {
			continue
		}
		tried = append(tried, together(name)...)
		counted++
		less, request, but := *l, *l.Request, l.sel.less(name)
		less.Request, request.Input = &request, calendar.Input{}
		for param, v := range l.Input {
			if but.has(param) {
				request.Input[param] = v
			}
		}
		if less.choose("", l.sel.over, l.sel.of); less.err != nil {
			continue
		}
		n, err := l.Lists.Count(l.ctx, less.sel.criteria)
		if err != nil {
			l.err = err
			return nil
		}
		if l.sel.over.set && n <= mostOnly { // some may be in its window, and on none of its days
			n = len(less.allCards())
		}
		if n == 0 {
			continue
		}
		d := drop{link{Href: l.sel.to(but), Label: l.text("empty.without_words"), Count: l.count("events", n)}, name, n}
		if name != "search" {
			d.Label, d.Value = l.text("empty.without", l.filterLabel(name)+"{1}"), l.valueName(name, l.sel.asked.value(name))
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b drop) int { return cmp.Compare(b.Number, a.Number) })
	return out
}

// zones are the choices of the zone switch: each event's own, the site's, UTC, and those
// of the events shown.
func (l *look) zones(cards []card) []option {
	if l.Embedded() {
		return nil
	}
	chosen, zone := "event", l.zone
	if l.sel != nil {
		zone = l.sel.zone
	}
	if zone != nil {
		chosen = zone.Name
	}
	out := l.Zones
	if out == nil {
		out = []option{{Value: "event", Label: l.text("zone.event"), Selected: chosen == "event"}}
	}
	add := func(name string) {
		if name != "" && !slices.ContainsFunc(out, func(o option) bool { return o.Value == name }) {
			out = append(out, option{Value: name, Label: name, Selected: name == chosen})
		}
	}
	add(l.o.SiteZone)
	add("UTC")
	if chosen != "event" {
		add(chosen)
	}
	for i := range cards {
		add(cards[i].zoneName)
	}
	l.Zones = out
	return out
}

// serveHome answers the home page, or sends to the record that is named by its id.
func (l *look) serveHome() {
	if k, id, ok := byID(l.Request); ok {
		l.serveByID(k, id)
		return
	}
	l.Title, l.Heading = l.o.Brand.Name, l.o.Brand.Name
	b := l.listOf()
	if l.err != nil {
		return
	}
	b.Featured = l.cards(l.ask(calendar.KindEvent, calendar.Input{
		"featured": "true", paramPerPage: strconv.Itoa(maxFeatured), "ends_after": l.o.Now().UTC().Format(time.RFC3339), paramStrict: "true",
	}))
	l.zones(b.Featured)
	if b.Total > 0 {
		b.More = &link{Href: l.Href("/events/"), Label: l.text("empty.all")}
	}
}

// serveList answers list, map and search.
func (l *look) serveList() {
	l.Heading = l.text(l.Route.title)
	if isTrue(l.Query.Get(paramPast)) && l.Route.past {
		l.Heading = l.text("list.past")
	}
	l.Title = l.Heading
	l.listOf()
}

// listOf makes the body of a page with a list of events.
func (l *look) listOf() *listBody {
	l.choose(l.Route.below(), period{}, query.Of{})
	b := l.list()
	l.Body, l.Summary = b, l.Heading+l.colon()+b.Count
	return b
}

// maxFeatured is how many featured events the home page shows.
const maxFeatured = 3
