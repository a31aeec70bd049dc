package pages

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
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
	Total     int
	Count     string
	Quick     *quick
	Chips     []removable
	Zone      string // whose time it is
	Empty     *empty
	Exports   []export
	Subscribe []link // ways to follow it in a calendar
	Form      *filterForm
}

// selected makes what pages show of the selection; cards are those on the page.
func (p *Pages) selected(ctx context.Context, l *layout, cards []card, total int) (s selected, err error) {
	s = selected{Total: total, Count: l.count("events", total)}
	l.zones(cards)
	if l.sel.zone != nil {
		s.Zone = l.text("zone.told", l.sel.zone.Name)
	}
	if total == 0 {
		l.NoIndex = true
		s.Empty, err = p.nothing(ctx, l)
	}
	if err != nil || l.Embedded() {
		return s, err
	}
	s.Chips = l.chips(ctx)
	first := s.Empty != nil && s.Empty.First != nil
	if l.sel.of.ID == 0 && l.Page != pageSearch && !first {
		if s.Quick, err = p.quick(ctx, l); err != nil {
			return s, err
		}
	}
	if l.Page != pageHome {
		s.Exports = l.exports()
	}
	if s.Subscribe = l.subscribe(); !first {
		s.Form = l.form(nil)
	}
	return s, nil
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
func (l *layout) dayGroup(day, today time.Time) group {
	g := group{
		Date: day.Format(time.DateOnly), Heading: l.say.date(day), Href: l.Href(dayPath(day)), Today: day.Equal(today),
		Day: l.say.dayName("", day.Weekday()), Number: strconv.Itoa(day.Day()), Rest: l.say.monthName("", day.Month()),
	}
	switch {
	case g.Today:
		g.Day = word("today", l.Lang)
	case day.Equal(today.AddDate(0, 0, 1)):
		g.Day = word("tomorrow", l.Lang)
	}
	if day.Year() != today.Year() {
		g.Rest = l.say.month(day)
	}
	if l.Lang == calendar.LangCN {
		g.Day, g.Rest = g.Rest, g.Day
	}
	return g
}

// groupsOf puts cards of a list under their days, in their order. What began before today and
// runs stands first, what ended today first in its section.
func (p *Pages) groupsOf(l *layout, cards []card) []group {
	if !l.sel.byDays() {
		if len(cards) == 0 {
			return nil
		}
		return []group{{Heading: word("list.found", l.Lang), Cards: cards}}
	}
	today := p.today(l.sel.zone)
	date := today.Format(time.DateOnly)
	var out []group
	var earlier []card
	for _, c := range cards {
		first, last := c.span.ends()
		running := !l.sel.past && first.Before(today) && !c.Past && (len(out) == 0 || out[0].Date == "running" && len(out) == 1)
		c.inDay(l.say, running)
		if !l.sel.past && c.Past && last.Equal(today) {
			earlier = append(earlier, c)
			continue
		}
		g := l.dayGroup(first, today)
		if running {
			g = group{Date: "running", Heading: word("list.running", l.Lang)}
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
	out[at].Earlier, out[at].EarlierCount = earlier, l.say.number(len(earlier))
	return out
}

// quick are the links of the quick choice: dates, and categories that coming events have.
type quick struct {
	Dates      []link
	Categories []chip
}

// presets are the dates of the quick choice, and the words of when that they stand for.
var presets = []struct{ name, when string }{{"any", ""}, {"today", "today"}, {"weekend", "this_weekend"}, {"week", "next_7_days"}}

// comingCategories are the categories without a parent that coming events have, in a
// language, as of a state.
type comingCategories struct {
	state query.Generation
	today time.Time
	found []query.FacetValue
}

// maxQuick is how many categories the quick choice has.
const maxQuick = 12

// quick makes the quick choice. Links of the home page lead to the list.
func (p *Pages) quick(ctx context.Context, l *layout) (*quick, error) {
	out, s := &quick{}, *l.sel
	if l.Page == pageHome {
		s.path = l.Href("/events/")
	}
	if !s.over.set {
		asked := s.asked.without(window...).without(paramOverlap)
		for _, preset := range presets {
			at := link{Label: word("quick."+preset.name, l.Lang), Value: preset.name, Href: s.to(asked.without(paramWhen)), Current: strings.EqualFold(s.asked.value(paramWhen), preset.when) && !s.asked.has(dates...)}
			if preset.when != "" {
				at.Href = s.to(asked.with(paramWhen, preset.when))
			}
			out.Dates = append(out.Dates, at)
		}
	}
	found, err := p.categories(ctx, l.Lang)
	chosen := strings.Split(s.asked.value("categories"), ",")
	for _, v := range found {
		id, _ := calendar.ParseID(v.Value)
		others := slices.DeleteFunc(slices.Clone(chosen), func(c string) bool {
			c = calendar.Trim(c)
			return strings.EqualFold(c, v.Slug) || c == v.Value
		})
		c := chip{link{Label: v.Label, Lang: otherLang(v.In, l.Lang), Value: v.Slug, Current: len(others) < len(chosen)}, int(id % 8)}
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
	return out, err
}

// categories finds the categories of the quick choice, once for a state and a day.
func (p *Pages) categories(ctx context.Context, lang calendar.Lang) ([]query.FacetValue, error) {
	state, err := p.Lists.Generation(ctx)
	if err != nil {
		return nil, err
	}
	today := p.today(nil)
	if last := p.quickest[lang].Load(); last != nil && last.state == state && last.today.Equal(today) {
		return last.found, nil
	}
	in := calendar.Input{paramOverlap: "true", paramPerPage: "1", "facets": "categories", "facet_limit": "100"}
	c, err := p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: lang})
	if err != nil {
		return nil, err
	}
	list, err := p.Lists.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(list.Facets[0].Values), func(v query.FacetValue) bool { return v.Level > 0 })
	order := collator(lang)
	slices.SortStableFunc(found, func(a, b query.FacetValue) int { return order.CompareString(a.Label, b.Label) })
	found = found[:min(len(found), maxQuick)]
	p.quickest[lang].Store(&comingCategories{state, today, found})
	return found, nil
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
func (l *layout) facets(found []query.Facet) []facet {
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
				Name: sent, Value: v.Value, Label: l.facetLabel(f.Name, v), Count: l.say.number(v.Count), Number: v.Count, Selected: v.Selected,
				Share: (v.Count*20 + most - 1) / most, Children: children[id],
			}
			if v.Slug != "" {
				value.Lang = otherLang(v.In, l.Lang)
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
func (l *layout) facetLabel(name string, v query.FacetValue) string {
	switch name {
	case "month":
		if t, ok := units[0].parse(v.Value); ok {
			return l.say.month(t)
		}
	case "weekday":
		for day := time.Sunday; day <= time.Saturday; day++ {
			name, number := day.String(), strconv.Itoa((int(day)+6)%7+1)
			if v.Value == number || strings.EqualFold(v.Value, name) || strings.EqualFold(v.Value, name[:3]) {
				return l.say.dayName("", day)
			}
		}
	case "in_language":
		if lang, ok := calendar.ParseLang(v.Value); ok {
			return word("language.name", lang)
		}
	case "featured", "ticketed", "free", "geoloc", paramOverlap:
		if is, ok := calendar.ParseBool(v.Value); ok && is {
			return word("value.yes", l.Lang)
		} else if ok {
			return word("value.no", l.Lang)
		}
	}
	if v.Label != "" {
		return v.Label
	}
	if t, known := texts.Pages["value."+v.Value]; known {
		return t[l.Lang]
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
func (l *layout) pagerOf(total int, at func(page int) string) *pager {
	if total < 2 {
		return nil
	}
	current := l.sel.page
	p := &pager{Label: word("pager", l.Lang)}
	for n := 1; n <= total; n++ {
		switch {
		case n == 1 || n == total || n >= current-2 && n <= current+2:
			p.Pages = append(p.Pages, link{Href: at(n), Label: l.say.number(n), Current: n == current, Title: l.text("pager.page", l.say.number(n))})
		case len(p.Pages) > 0 && p.Pages[len(p.Pages)-1].Label != "…":
			p.Pages = append(p.Pages, link{Label: "…"})
		}
	}
	if current > 1 {
		p.Previous = &link{Href: at(current - 1), Label: word("pager.previous", l.Lang)}
	}
	if current < total {
		p.Next = &link{Href: at(current + 1), Label: word("pager.next", l.Lang)}
	}
	return p
}

// list makes the body of a page with a list of events.
func (p *Pages) list(ctx context.Context, l *layout) (*listBody, error) {
	found, err := p.Lists.Run(ctx, l.sel.criteria)
	if err != nil {
		return nil, err
	}
	l.Position = found.Position
	cards := p.cardsOf(l.r, found.Views, l.sel.zone)
	l.mark(cards, found)
	b := &listBody{Groups: p.groupsOf(l, cards), Pager: l.pagerOf(found.TotalPages, l.sel.toPage)}
	if b.selected, err = p.selected(ctx, l, cards, found.Total); err != nil {
		return nil, err
	}
	if l.Page == pageSearch {
		b.Facets = l.facets(found.Facets)
		b.Form = l.form(b.Facets)
	}
	switch {
	case l.Embedded():
	case l.sel.past:
		b.Past = &link{Href: l.sel.to(l.sel.asked.without(paramPast)), Label: word("list.coming", l.Lang)}
	case l.r.Route.past:
		b.Past = &link{Href: l.sel.to(l.sel.asked.with(paramPast, "true")), Label: word("list.past", l.Lang)}
	}
	return b, nil
}

// mark marks what the search fits in the cards of a list.
func (l *layout) mark(cards []card, found *query.List) {
	h := l.sel.criteria.Highlighter(found.Typos)
	if h == nil {
		return
	}
	for i := range found.Views {
		v := &found.Views[i]
		title, in := v.Record.Name(l.Lang)
		cards[i].Marked = template.HTML(h.Name(title, in)) //nolint:gosec // escaped but for its marks (LISTINGS 3.4)
		for _, field := range []string{"excerpt", "description"} {
			text, in := l.p.Shown.HTML(v.Record, field, l.Lang)
			if text == "" || v.Blanked || cards[i].Snippet != "" {
				continue
			}
			cards[i].Snippet = template.HTML(h.Snippet(l.p.Shown.Plain(text), in, l.sel.criteria.HighlightLength)) //nolint:gosec // as above
			cards[i].SnippetLang = otherLang(in, l.Lang)
		}
	}
}

// chips are the filters of the selection.
func (l *layout) chips(ctx context.Context) []removable {
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
		out = append(out, removable{Label: l.filterLabel(name), Value: l.valueName(ctx, name, value), Href: l.sel.to(but)})
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
func (l *layout) valueName(ctx context.Context, name, value string) string {
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
			parts[i] = l.recordName(ctx, kind, part)
		case slices.Contains(dates, name) && err == nil:
			parts[i] = l.say.dayOf(date, true)
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
func (l *layout) recordName(ctx context.Context, k calendar.Kind, text string) string {
	nobody := func(context.Context, calendar.ID) (bool, error) { return true, nil }
	if id, ok := calendar.ParseID(text); ok {
		if v, err := l.p.Lists.Read(ctx, k, id, "", l.r.Caller, l.Lang, query.EmbedNone, nobody); err == nil {
			name, _ := v.Record.Name(l.Lang)
			return name
		}
	}
	if v, err := l.p.Lists.Read(ctx, k, 0, text, l.r.Caller, l.Lang, query.EmbedNone, nobody); err == nil && text != "" {
		name, _ := v.Record.Name(l.Lang)
		return name
	}
	return text
}

// filterName is what people read for a parameter.
func (l *layout) filterName(name string) string {
	if t, known := texts.Pages["filter."+name]; known {
		return t[l.Lang]
	}
	return name
}

// filterLabel is what stands before the value of a filter.
func (l *layout) filterLabel(name string) string {
	if slices.Contains(around, name) {
		name = "around"
	}
	return l.filterName(name) + l.colon()
}

// colon stands between a name and its value.
func (l *layout) colon() string { return word("colon", l.Lang) }

// nothing is what a page without events says (PAGES.md P1.5).
func (p *Pages) nothing(ctx context.Context, l *layout) (*empty, error) {
	if has, err := p.anyEvent(ctx, l); err != nil || !has && l.sel.of.ID == 0 && l.Page != pageSearch && !l.Embedded() {
		return &empty{Text: word("empty.calendar", l.Lang), First: &firstEvent{p.firstCommand(l)}}, err
	}
	e := &empty{Text: word("empty.list", l.Lang)}
	past := link{Href: l.Href("/events/") + "?" + paramPast + "=true", Label: word("list.past", l.Lang)}
	if l.r.Route.past {
		past.Href = l.sel.to(l.sel.asked.with(paramPast, "true"))
	}
	all := link{Href: l.sel.path, Label: word("empty.all", l.Lang)}
	switch {
	case l.sel.over.set:
		if e.Text = word("empty.period", l.Lang); !l.sel.plain() {
			e.Links = []link{{Href: l.sel.path, Label: word("empty.unfiltered", l.Lang)}}
		}
	case l.sel.plain() && l.sel.past:
		e.Text, e.Links = word("empty.past", l.Lang), []link{all}
	case l.sel.plain():
		e.Links = []link{past}
	default:
		if e.Text, e.Links = word("empty.filtered", l.Lang), []link{all}; !l.sel.past && !l.sel.dated() && l.r.Route.past {
			e.Links = []link{past, all}
		}
	}
	var err error
	e.Drop, err = p.drops(ctx, l)
	return e, err
}

// anyEvent reports whether the calendar has a listed event, coming or past.
func (p *Pages) anyEvent(ctx context.Context, l *layout) (bool, error) {
	in := calendar.Input{"starts_after": "0001-01-01", paramPerPage: "1"}
	c, err := p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: in, Lang: l.Lang, Caller: l.r.Caller})
	if err != nil {
		return false, err
	}
	n, err := p.Lists.Count(ctx, c)
	return n > 0, err
}

// firstCommand adds an event.
func (p *Pages) firstCommand(l *layout) string {
	day := p.today(nil).AddDate(0, 0, 7).Format(time.DateOnly)
	return "curl -u USER:TOKEN " + l.absolute(l.Lang, p.o.Namespace+"/events") + " -d 'title=" + word("first.title", l.Lang) +
		"' -d 'start_date=" + day + " 19:00' -d 'end_date=" + day + " 21:00'"
}

// maxDrops bounds the parameters of which the page counts what there is without them.
const maxDrops = 12

// drops are the parameters without which there are events, the most events first.
func (p *Pages) drops(ctx context.Context, l *layout) (out []drop, err error) {
	tried := append([]string{paramStrict, paramOverlap, paramPast, paramZone}, shapes...)
	counted := 0
	for _, a := range l.sel.asked {
		name := baseName(a.Name)
		if slices.Contains(tried, name) || counted == maxDrops {
			continue
		}
		tried = append(tried, together(name)...)
		counted++
		less, but := *l.r, l.sel.less(name)
		less.Input = calendar.Input{}
		for param, v := range l.r.Input {
			if but.has(param) {
				less.Input[param] = v
			}
		}
		s, err := p.choose(ctx, &less, "", l.sel.over, l.sel.of)
		if err != nil {
			return nil, err
		}
		if s.bad != nil {
			continue
		}
		n, err := p.Lists.Count(ctx, s.criteria)
		if err != nil {
			return nil, err
		}
		if l.sel.over.set && n <= mostOnly { // some may be in its window, and on none of its days
			cards, _, err := p.allCards(ctx, &less, s)
			if err != nil {
				return nil, err
			}
			n = len(cards)
		}
		if n == 0 {
			continue
		}
		d := drop{link{Href: l.sel.to(but), Label: word("empty.without_words", l.Lang), Count: l.count("events", n)}, name, n}
		if name != "search" {
			d.Label, d.Value = l.text("empty.without", l.filterLabel(name)+"{1}"), l.valueName(ctx, name, l.sel.asked.value(name))
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b drop) int { return cmp.Compare(b.Number, a.Number) })
	return out, nil
}

// zones are the choices of the zone switch: each event's own, the site's, UTC, and those
// of the events shown.
func (l *layout) zones(cards []card) []option {
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
		out = []option{{Value: "event", Label: word("zone.event", l.Lang), Selected: chosen == "event"}}
	}
	add := func(name string) {
		if name != "" && !slices.ContainsFunc(out, func(o option) bool { return o.Value == name }) {
			out = append(out, option{Value: name, Label: name, Selected: name == chosen})
		}
	}
	add(l.p.o.SiteZone)
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
func (p *Pages) serveHome(ctx context.Context, l *layout) (*Answer, error) {
	if k, id, ok := byID(l.r); ok {
		return p.serveByID(ctx, l.r, k, id)
	}
	l.Title, l.Heading = p.o.Brand.Name, p.o.Brand.Name
	b, err := p.listOf(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := p.feature(ctx, l, b); err != nil {
		return nil, err
	}
	if b.Total > 0 {
		b.More = &link{Href: l.Href("/events/"), Label: word("empty.all", l.Lang)}
	}
	return p.render(l, http.StatusOK)
}

// serveList answers list, map and search.
func (p *Pages) serveList(ctx context.Context, l *layout) (*Answer, error) {
	l.Heading = word(l.r.Route.title, l.Lang)
	if isTrue(l.r.Query.Get(paramPast)) && l.r.Route.past {
		l.Heading = word("list.past", l.Lang)
	}
	l.Title = l.Heading
	if _, err := p.listOf(ctx, l); err != nil {
		return nil, err
	}
	return p.render(l, http.StatusOK)
}

// listOf makes the body of a page with a list of events.
func (p *Pages) listOf(ctx context.Context, l *layout) (*listBody, error) {
	if err := p.selectFor(ctx, l, l.r.Route.below(), period{}, query.Of{}); err != nil {
		return nil, err
	}
	b, err := p.list(ctx, l)
	if err == nil {
		l.Summary = l.Heading + l.colon() + b.Count
		l.Body = b
	}
	return b, err
}

// maxFeatured is how many featured events the home page shows.
const maxFeatured = 3

func (p *Pages) feature(ctx context.Context, l *layout, b *listBody) error {
	in := calendar.Input{"featured": "true", paramPerPage: strconv.Itoa(maxFeatured), "ends_after": p.o.Now().UTC().Format(time.RFC3339), paramStrict: "true"}
	c, err := p.forCards(ctx, query.Request{Kind: calendar.KindEvent, Lang: l.Lang, Caller: l.r.Caller, Input: in})
	if err != nil {
		return err
	}
	found, err := p.Lists.Run(ctx, c)
	if err != nil {
		return err
	}
	b.Featured = p.cardsOf(l.r, found.Views, l.sel.zone)
	l.zones(b.Featured)
	return nil
}
