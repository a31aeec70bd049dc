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

// facet is how many events have each value.
type facet struct {
	Name, Label string
	Values      []facetValue
	More        []facetValue // folded
}

// facetValue is one value of a facet.
type facetValue struct {
	Value, Label, Count string
	Number              int
	Selected            bool
	Level               int
	Share               int // of the greatest count, in twentieths, for the bar
}

// shownValues is how many values of a facet are not folded.
const shownValues = 8

// facets makes the facets of a search.
func (l *layout) facets(found []query.Facet) []facet {
	out := make([]facet, 0, len(found))
	for _, f := range found {
		most := 1
		for _, v := range f.Values {
			most = max(most, v.Count)
		}
		shown := facet{Name: f.Name, Label: l.filterName(f.Name)}
		for i, v := range f.Values {
			value := facetValue{
				Value: v.Value, Label: l.facetLabel(f.Name, v), Count: l.say.number(v.Count), Number: v.Count, Selected: v.Selected, Level: v.Level,
				Share: (v.Count*20 + most - 1) / most,
			}
			if i < shownValues || v.Selected {
				shown.Values = append(shown.Values, value)
			} else {
				shown.More = append(shown.More, value)
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
		if n, err := strconv.Atoi(v.Value); err == nil && n >= 0 {
			return l.say.dayName("", time.Weekday(n%7))
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
	Links []link
}

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

// selected is what all pages of a selection tell of it.
type selected struct {
	Total     int
	Count     string
	Chips     []removable
	Zones     []option
	Zone      string // that times are told in, "" for each event's own
	Empty     *empty
	Exports   []export
	Subscribe []link // ways to follow it in a calendar
	Form      *filterForm
}

// selected tells of the selection on a path; cards are those on the page.
func (l *layout) selected(ctx context.Context, path string, cards []card, total int) selected {
	out := selected{Total: total, Count: l.count("events", total), Chips: l.chips(ctx, path), Zones: l.zones(cards)}
	if l.sel.zone != nil {
		out.Zone = l.sel.zone.Name
	}
	return out
}

// wholePeriod tells of all events of a month, week or day.
func (l *layout) wholePeriod(ctx context.Context, path string, cards []card) selected {
	out := l.selected(ctx, path, cards, len(cards))
	out.Exports, out.Subscribe, out.Form = l.exports(), l.subscribe(), l.form(path, nil)
	return out
}

// list makes the page of a list of events.
func (p *Pages) list(ctx context.Context, l *layout, path string) (*listBody, error) {
	found, err := p.Lists.Run(ctx, l.sel.criteria)
	if err != nil {
		return nil, err
	}
	l.Position = found.Position
	cards := p.cardsOf(l.r, found.Views, l.sel.zone)
	l.mark(cards, found)
	b := &listBody{selected: l.selected(ctx, path, cards, found.Total), Groups: p.groupsOf(l, cards), Pager: l.pagerOf(found.TotalPages, l.sel.toPage)}
	if found.Total == 0 {
		l.NoIndex = true
		b.Empty = l.nothing(ctx, path)
	}
	if l.r.Route.past {
		if l.sel.past {
			b.Past = &link{Href: l.sel.to(l.sel.asked.without(paramPast)), Label: word("list.coming", l.Lang)}
		} else {
			b.Past = &link{Href: l.sel.to(l.sel.asked.with(paramPast, "true")), Label: word("list.past", l.Lang)}
		}
	}
	if l.Page != pageHome {
		b.Exports, b.Subscribe = l.exports(), l.subscribe()
		b.Facets = l.facets(found.Facets)
		b.Form = l.form(path, b.Facets)
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
		}
	}
}

// chips are the filters of the selection.
func (l *layout) chips(ctx context.Context, path string) []removable {
	if l.Embedded() {
		return nil
	}
	many := len(l.sel.asked) > mostChips
	var out []removable
	for i, a := range l.sel.asked {
		name := baseName(a.Name)
		first := slices.IndexFunc(l.sel.asked, func(p query.LinkParam) bool { return baseName(p.Name) == name }) == i
		if slices.Contains(shapes, name) || name == paramStrict || name == paramPast || name == paramZone || many && !first {
			continue
		}
		value := a.Value
		if many {
			value = l.sel.asked.value(name)
		}
		but := l.sel.asked.without(name)
		if !many {
			but = slices.Delete(slices.Clone(l.sel.asked), i, i+1)
		}
		out = append(out, removable{Label: l.filterName(name) + l.colon(), Value: l.valueName(ctx, name, value), Href: l.sel.to(but)})
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
	if name == "search" {
		return value
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
	return strings.Join(parts, ", ")
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

// colon stands between a name and its value.
func (l *layout) colon() string { return word("colon", l.Lang) }

// nothing is what an empty list says (PAGES.md P1.5).
func (l *layout) nothing(ctx context.Context, path string) *empty {
	past := link{Href: l.sel.to(l.sel.asked.with(paramPast, "true")), Label: word("list.past", l.Lang)}
	if !l.r.Route.past {
		past.Href = l.Href("/events/") + "?" + paramPast + "=true"
	}
	coming := link{Href: l.Href(path), Label: word("empty.all", l.Lang)}
	switch {
	case l.sel.plain() && l.sel.past:
		return &empty{Text: word("empty.past", l.Lang), Links: []link{coming}}
	case l.sel.plain():
		return &empty{Text: word("empty.list", l.Lang), Links: []link{past}}
	}
	e := &empty{Text: word("empty.filtered", l.Lang)}
	for _, c := range l.chips(ctx, path) {
		e.Links = append(e.Links, link{Href: c.Href, Label: l.text("empty.without", c.Label+"{1}"), Value: c.Value})
	}
	if l.Search() != "" {
		e.Links = append(e.Links, link{Href: l.sel.to(l.sel.asked.without("search")), Label: word("empty.without_words", l.Lang)})
	}
	if !l.sel.past && !l.sel.dated() && l.r.Route.past {
		e.Links = append(e.Links, past)
	}
	e.Links = append(e.Links, coming)
	return e
}

// zoned are bodies of pages whose times may be told in a zone.
type zoned interface{ zoneChoices() []option }

func (b *listBody) zoneChoices() []option  { return b.Zones }
func (b *monthBody) zoneChoices() []option { return b.Zones }
func (b *daysBody) zoneChoices() []option  { return b.Zones }
func (b *eventBody) zoneChoices() []option { return b.Zones }
func (b *recordBody) zoneChoices() []option {
	if b.List == nil {
		return nil
	}
	return b.List.Zones
}

// Zones are the choices of the zone switch in the menu of the header.
func (l *layout) Zones() []option {
	if b, ok := l.Body.(zoned); ok {
		return b.zoneChoices()
	}
	return nil
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
	out := []option{{Value: "event", Label: word("zone.event", l.Lang), Selected: chosen == "event"}}
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
	return out
}

// Grids: month, week and day.

// mostInDay is how many events a day of a month shows.
const mostInDay = 3

// monthBody is a month as a table.
type monthBody struct {
	selected

	Month, Caption string
	Heads          []weekdayHead
	Weeks          [][]dayCell
	Agenda         []group
	Step           stepper
}

// weekdayHead is the head of a column.
type weekdayHead struct{ Short, Long string }

// dayCell is a day of a month.
type dayCell struct {
	Date, Label, Href string
	Number            string
	Today, Muted      bool
	Events            []card
	More              string // "+2 more", "" for none
}

// stepper leads to the time before and after.
type stepper struct{ Previous, Next, Today *link }

// month makes the page of a month.
func (p *Pages) month(ctx context.Context, l *layout, first time.Time) (*monthBody, error) {
	last := first.AddDate(0, 1, -1)
	cards, at, err := p.allCards(ctx, l.r, l.sel)
	if err != nil {
		return nil, err
	}
	l.Position = at
	path := monthPath(first)
	b := &monthBody{selected: l.wholePeriod(ctx, path, cards), Month: first.Format("2006-01")}
	b.Caption = l.say.month(first) + l.comma() + b.Count
	begins := time.Monday
	if p.o.Sunday {
		begins = time.Sunday
	}
	for i := range 7 {
		day := (begins + time.Weekday(i)) % 7
		b.Heads = append(b.Heads, weekdayHead{l.say.dayName("short.", day), l.say.dayName("", day)})
	}
	days := l.sel.byDay(cards, first, last)
	today := p.today(l.sel.zone)
	kept := l.sel.asked.String()
	from := first.AddDate(0, 0, -((int(first.Weekday()) - int(begins) + 7) % 7))
	for day := from; !day.After(last); {
		week := make([]dayCell, 7)
		for i := range week {
			cell := dayCell{Date: day.Format(time.DateOnly), Number: strconv.Itoa(day.Day()), Label: l.say.dayInYear(day), Today: day.Equal(today)}
			if day.Year() >= 1 && day.Year() <= 9999 {
				cell.Href = l.Href(dayPath(day)) + kept
			}
			if cell.Muted = day.Month() != first.Month(); !cell.Muted {
				of := days[day.Day()-1]
				cell.Label += l.comma() + l.count("events", len(of))
				cell.Events = of[:min(len(of), mostInDay)]
				if more := len(of) - mostInDay; more > 0 {
					cell.More = l.text("month.more", l.say.number(more))
				}
			}
			week[i] = cell
			day = day.AddDate(0, 0, 1)
		}
		b.Weeks = append(b.Weeks, week)
	}
	agenda := func(day time.Time, of []card) {
		if len(of) > 0 {
			b.Agenda = append(b.Agenda, group{Date: day.Format(time.DateOnly), Heading: l.say.date(day), Today: day.Equal(today), Cards: of})
		}
	}
	beside := func(from, to time.Time) { // see allCards
		for i, of := range l.sel.byDay(cards, from, to) {
			agenda(from.AddDate(0, 0, i), slices.DeleteFunc(of, func(c card) bool { return !c.span.first().After(last) && !c.span.last().Before(first) }))
		}
	}
	beside(first.AddDate(0, 0, -2), first.AddDate(0, 0, -1))
	for i, of := range days {
		agenda(first.AddDate(0, 0, i), of)
	}
	beside(last.AddDate(0, 0, 1), last.AddDate(0, 0, 2))
	return b, nil
}

// byDay puts cards on each day that they are on.
func (s *selection) byDay(cards []card, first, last time.Time) [][]card {
	out := make([][]card, int(last.Sub(first).Hours()/24)+1)
	for i := range cards {
		c := &cards[i]
		for _, day := range c.span.days(first, last) {
			n := int(day.Sub(first).Hours() / 24)
			on := *c
			on.Before, on.After = day.After(c.span.first()), day.Before(c.span.last())
			out[n] = append(out[n], on)
		}
	}
	for _, day := range out {
		slices.SortStableFunc(day, func(a, b card) int { return s.inDay(&a, &b) })
	}
	return out
}

// daysBody is a week or a day: an hour grid over plain lists.
type daysBody struct {
	selected

	Days    []dayColumn
	Hours   []hourRow
	Step    stepper
	Columns int
	From    int    // first hour of the grid
	Clock   string // zone of today
}

// dayColumn is a day of a week.
type dayColumn struct {
	Date, Heading, Short, Number, Href string
	Today                              bool
	Band                               []card   // all-day and long events
	Timed                              []placed // the others
	More                               string   // "+2 more", "" for none
	MoreHref                           string   // to the day; "" on its own page, where they are in Rest
	Rest                               []card   // for which there is no lane
}

// placed is an event in the grid: rows of a quarter of an hour, and one of the lanes.
type placed struct {
	Card card

	Row, Rows, Lane, Lanes int
}

// hourRow names an hour of the grid.
type hourRow struct {
	Label string
	Row   int
}

const (
	rowsOfHour   = 4
	firstHour    = 8
	lastHour     = 20
	mostLanes    = 4
	leastRows    = 2
	minutesOfRow = 60 / rowsOfHour
)

// days makes the page of some days from one on.
func (p *Pages) days(ctx context.Context, l *layout, first time.Time, n int, path string) (*daysBody, error) {
	cards, at, err := p.allCards(ctx, l.r, l.sel)
	if err != nil {
		return nil, err
	}
	l.Position = at
	last := first.AddDate(0, 0, n-1)
	b := &daysBody{selected: l.wholePeriod(ctx, path, cards), Columns: n}
	b.Clock = cmp.Or(b.Zone, p.o.SiteZone)
	today := p.today(l.sel.zone)
	from, to := firstHour, lastHour
	perDay := l.sel.byDay(cards, first, last)
	kept := l.sel.asked.String()
	for _, day := range perDay {
		for i := range day {
			if c := &day[i]; !c.inBand() {
				from = min(from, c.span.start.Hour())
				end := c.span.end.Hour()
				if c.span.end.Minute() > 0 {
					end++
				}
				if !sameDay(c.span.start, c.span.end) {
					end = 24
				}
				to = max(to, end)
			}
		}
	}
	b.From = from
	for h := from; h < to; h++ {
		b.Hours = append(b.Hours, hourRow{Label: l.say.time(time.Date(2000, 1, 1, h, 0, 0, 0, time.UTC)), Row: (h-from)*rowsOfHour + 1})
	}
	for i, day := range perDay {
		at := first.AddDate(0, 0, i)
		col := dayColumn{
			Date: at.Format(time.DateOnly), Heading: l.say.date(at), Short: l.say.dayName("short.", at.Weekday()), Number: strconv.Itoa(at.Day()),
			Href: l.Href(dayPath(at)) + kept, Today: at.Equal(today),
		}
		var timed []card
		for i := range day {
			if day[i].inBand() {
				col.Band = append(col.Band, day[i])
			} else {
				timed = append(timed, day[i])
			}
		}
		var rest []card
		if col.Timed, rest = lanes(timed, from); len(rest) > 0 {
			col.More = l.text("month.more", l.say.number(len(rest)))
			if n > 1 {
				col.MoreHref = col.Href
			} else {
				col.Rest = rest
			}
		}
		b.Days = append(b.Days, col)
	}
	return b, nil
}

// inBand tells that the event stands above the grid: it lasts the day, or over a night.
func (c *card) inBand() bool { return c.AllDay || c.Several }

// lanes puts the events of a day side by side, and gives those for which there is no lane
// left.
func lanes(cards []card, from int) (out []placed, rest []card) {
	var ends [mostLanes]int
	begin := 0 // of the present cluster in out
	until := 0
	settle := func() {
		most := 0
		for _, p := range out[begin:] {
			most = max(most, p.Lane)
		}
		for i := range out[begin:] {
			out[begin+i].Lanes = most
		}
		begin = len(out)
		ends = [mostLanes]int{}
	}
	for i := range cards {
		s := cards[i].span
		row := (s.start.Hour()-from)*rowsOfHour + s.start.Minute()/minutesOfRow + 1
		end := calendar.WallOf(s.end)
		if !sameDay(s.start, s.end) { // it ends with the day
			end = calendar.WallOf(midnight(s.start).AddDate(0, 0, 1))
		}
		minutes := s.start.Minute()%minutesOfRow + int(end-calendar.WallOf(s.start)+59)/60
		rows := max(leastRows, (minutes+minutesOfRow-1)/minutesOfRow)
		if row >= until {
			settle()
			until = 0
		}
		lane := slices.IndexFunc(ends[:], func(end int) bool { return end <= row })
		if lane < 0 {
			rest = append(rest, cards[i])
			continue
		}
		ends[lane] = row + rows
		until = max(until, row+rows)
		out = append(out, placed{Card: cards[i], Row: row, Rows: rows, Lane: lane + 1})
	}
	settle()
	return out, rest
}

// comma joins two parts of a sentence.
func (l *layout) comma() string { return word("comma", l.Lang) }

// edges finds the days of the nearest events before and after a period: of those that are
// selected, or of all that are listed. What goes on beyond the period counts as after it.
func (p *Pages) edges(ctx context.Context, l *layout, over period, selected bool) (before, after *time.Time, err error) {
	zone := l.sel.zone
	nearest := func(name, bound, order string) (*span, error) {
		input := calendar.Input{}
		if selected {
			for k, v := range l.r.Input {
				if l.r.Route.takes(k, true) && !slices.Contains(shapes, k) && !slices.Contains(dates, k) && k != paramStrict && !isEmpty(v) {
					input[k] = v
				}
			}
		}
		input[name], input[paramStrict], input[paramPerPage], input[paramSort], input[paramOrder] = bound, "true", "1", "start", order
		c, err := p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: input, Lang: l.Lang, Caller: l.r.Caller, Of: l.sel.of})
		if err != nil {
			return nil, err
		}
		found, err := p.Lists.Run(ctx, c)
		if err != nil || len(found.Views) == 0 {
			return nil, err
		}
		s := p.spanOf(found.Views[0].Record, found.Views[0].Blanked, zone)
		return &s, nil
	}
	first, last := edgesOf(calendar.WallOf(over.first), calendar.WallOf(over.last), zone)
	s, err := nearest("starts_before", first, "desc")
	if err != nil {
		return nil, nil, err
	}
	if s != nil {
		day := s.first()
		before = &day
	}
	next := over.last.AddDate(0, 0, 1)
	if next.Year() > 9999 {
		return before, nil, nil
	}
	if s, err = nearest("starts_after", last, "asc"); err != nil {
		return nil, nil, err
	}
	if s != nil {
		day := s.first()
		return before, &day, nil
	}
	onward, _ := edgesOf(calendar.WallOf(next), calendar.WallOf(next), zone)
	if s, err = nearest("ends_after", onward, "asc"); err == nil && s != nil {
		after = &next
	}
	return before, after, err
}
