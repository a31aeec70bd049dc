package pages

import (
	"context"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// listBody is what list, search, home and the pages of records show of a selection.
type listBody struct {
	Total    int
	Count    string
	Groups   []group
	Featured []card
	Pager    *pager
	Chips    []removable
	Empty    *empty
	Zones    []option
	Zone     string // that times are told in, "" for each event's own
	Past     *link  // to what has ended, or back
	Feeds    []feed
	Facets   []facet
	Action   string // of the form of facets
	Kept     []query.LinkParam
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
		if t, ok := readPeriod(pageMonth, v.Value); ok {
			return l.say.month(t)
		}
	case "weekday":
		if n, err := strconv.Atoi(v.Value); err == nil {
			return l.say.names().days[n%7]
		}
	case "in_language":
		if lang, ok := calendar.ParseLang(v.Value); ok {
			return langNames[lang]
		}
	}
	if v.Label != "" {
		return v.Label
	}
	if t, known := words["value."+v.Value]; known {
		return t[l.Lang]
	}
	return v.Value
}

// unfaceted are the parameters that the form of facets sends along.
func (l *layout) unfaceted() []query.LinkParam {
	return slices.DeleteFunc(slices.Clone(l.Kept()), func(p query.LinkParam) bool {
		return slices.Contains(strings.Split(searchFacets, ","), strings.TrimSuffix(p.Name, "[]"))
	})
}

// removable is a filter that can be taken away.
type removable struct {
	Label, Href string
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

// pageHref is the path of a page of the selection.
func (l *layout) pageHref(path string) func(int) string {
	return func(n int) string {
		number := ""
		if n > 1 {
			number = strconv.Itoa(n)
		}
		return l.Href(path) + l.sel.encoded(map[string]string{paramPage: number})
	}
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
	b := &listBody{
		Total: found.Total, Count: l.count("events", found.Total), Groups: p.groupsOf(l.say, cards, l.sel.zone, l.sel.past),
		Pager: l.pagerOf(found.TotalPages, l.pageHref(path)), Chips: l.chips(path), Zones: l.zones(cards),
	}
	if l.sel.zone != nil {
		b.Zone = l.sel.zone.Name
	}
	if found.Total == 0 {
		l.NoIndex = true
		b.Empty = l.nothing(path)
	}
	if !l.sel.dated() {
		if l.sel.past {
			b.Past = &link{Href: l.Href(path) + l.sel.encoded(map[string]string{paramPast: "", paramPage: ""}), Label: word("list.coming", l.Lang)}
		} else {
			b.Past = &link{Href: l.Href(path) + l.sel.encoded(map[string]string{paramPast: "true", paramPage: ""}), Label: word("list.past", l.Lang)}
		}
	}
	b.Feeds = l.Feeds
	if l.Page == pageSearch {
		b.Facets, b.Action, b.Kept = l.facets(found.Facets), l.Href(path), l.unfaceted()
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
func (l *layout) chips(path string) []removable {
	var out []removable
	done := map[string]bool{}
	for _, a := range l.sel.asked {
		if done[a.Name] || a.Name == paramPerPage || a.Name == paramSort || a.Name == paramOrder {
			continue
		}
		done[a.Name] = true
		out = append(out, removable{Label: l.filterName(a.Name) + l.colon() + a.Value, Href: l.Href(path) + l.sel.encoded(map[string]string{a.Name: "", paramPage: ""})})
	}
	return out
}

// filterName is what people read for a parameter.
func (l *layout) filterName(name string) string {
	if t, known := words["filter."+name]; known {
		return t[l.Lang]
	}
	return name
}

// colon stands between a name and its value.
func (l *layout) colon() string {
	switch l.Lang {
	case calendar.LangCN:
		return "："
	case calendar.LangFR:
		return noBreak + ": "
	case calendar.LangEN, calendar.LangES:
	}
	return ": "
}

// nothing is what an empty list says (PAGES.md P1.5).
func (l *layout) nothing(path string) *empty {
	if l.sel.plain() {
		return &empty{Text: word("empty.list", l.Lang), Links: []link{{Href: l.Href(path) + "?" + paramPast + "=true", Label: word("list.past", l.Lang)}}}
	}
	e := &empty{Text: word("empty.filtered", l.Lang)}
	for _, c := range l.chips(path) {
		e.Links = append(e.Links, link{Href: c.Href, Label: l.text("empty.without", c.Label)})
	}
	if l.Search() != "" && len(l.sel.asked) > 1 {
		e.Links = append(e.Links, link{Href: l.Href(path) + l.sel.encoded(map[string]string{"search": "", paramPage: ""}), Label: word("empty.without_words", l.Lang)})
	}
	if !l.sel.past && !l.sel.dated() {
		e.Links = append(e.Links, link{Href: l.Href(path) + l.sel.encoded(map[string]string{paramPast: "true", paramPage: ""}), Label: word("list.past", l.Lang)})
	}
	return &empty{Text: e.Text, Links: append(e.Links, link{Href: l.Href(path), Label: word("empty.all", l.Lang)})}
}

// zones are the choices of the zone switch: each event's own, the site's, UTC, and those
// of the events shown.
func (l *layout) zones(cards []card) []option {
	chosen := "event"
	if l.sel != nil && l.sel.zone != nil {
		chosen = l.sel.zone.Name
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
	Month, Caption string
	Total          int
	Count          string
	Heads          []weekdayHead
	Weeks          [][]dayCell
	Agenda         []group
	Step           stepper
	Chips          []removable
	Zones          []option
	Zone           string
	Empty          *empty
	Feeds          []feed
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
	cards, at, err := p.allCards(ctx, l.r, l.sel)
	if err != nil {
		return nil, err
	}
	l.Position = at
	last := first.AddDate(0, 1, -1)
	b := &monthBody{
		Month: first.Format("2006-01"), Caption: l.say.month(first) + l.comma() + l.count("events", len(cards)), Total: len(cards), Count: l.count("events", len(cards)),
		Chips: l.chips(monthPath(first)), Zones: l.zones(cards), Feeds: l.Feeds,
	}
	if l.sel.zone != nil {
		b.Zone = l.sel.zone.Name
	}
	begins := time.Monday
	if p.o.Sunday {
		begins = time.Sunday
	}
	for i := range 7 {
		day := (int(begins) + i) % 7
		b.Heads = append(b.Heads, weekdayHead{l.say.names().shortDays[day], l.say.names().days[day]})
	}
	days := byDay(cards, first, last)
	today := p.today(l.sel.zone)
	from := first.AddDate(0, 0, -((int(first.Weekday()) - int(begins) + 7) % 7))
	for day := from; !day.After(last); {
		week := make([]dayCell, 7)
		for i := range week {
			cell := dayCell{Date: day.Format(time.DateOnly), Number: strconv.Itoa(day.Day()), Href: l.Href(dayPath(day)), Today: day.Equal(today)}
			if cell.Muted = day.Month() != first.Month(); cell.Muted {
				cell.Label = l.say.date(day)
			} else {
				of := days[day.Day()-1]
				cell.Label = l.say.date(day) + l.comma() + l.count("events", len(of))
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
	for i, of := range days {
		if len(of) > 0 {
			day := first.AddDate(0, 0, i)
			b.Agenda = append(b.Agenda, group{Date: day.Format(time.DateOnly), Heading: l.say.date(day), Today: day.Equal(today), Cards: of})
		}
	}
	return b, nil
}

// byDay puts cards on each day that they are on.
func byDay(cards []card, first, last time.Time) [][]card {
	out := make([][]card, int(last.Sub(first).Hours()/24)+1)
	for i := range cards {
		c := &cards[i]
		from, to := c.span.first(), c.span.last()
		if from.Before(first) {
			from = first
		}
		if to.After(last) {
			to = last
		}
		for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
			n := int(day.Sub(first).Hours() / 24)
			out[n] = append(out[n], *c)
		}
	}
	for _, day := range out {
		slices.SortStableFunc(day, func(a, b card) int { return inDay(&a, &b) })
	}
	return out
}

// daysBody is a week or a day: an hour grid over plain lists.
type daysBody struct {
	Total   int
	Count   string
	Days    []dayColumn
	Hours   []hourRow
	Step    stepper
	Chips   []removable
	Zones   []option
	Zone    string
	Empty   *empty
	Feeds   []feed
	Columns int
}

// dayColumn is a day of a week.
type dayColumn struct {
	Date, Heading, Short, Number, Href string
	Today                              bool
	Band                               []card   // all-day and long events
	Timed                              []placed // the others
	More                               string
	MoreHref                           string
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
	b := &daysBody{Total: len(cards), Count: l.count("events", len(cards)), Chips: l.chips(path), Zones: l.zones(cards), Feeds: l.Feeds, Columns: n}
	if l.sel.zone != nil {
		b.Zone = l.sel.zone.Name
	}
	today := p.today(l.sel.zone)
	from, to := firstHour, lastHour
	perDay := byDay(cards, first, last)
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
	for h := from; h < to; h++ {
		b.Hours = append(b.Hours, hourRow{Label: l.say.time(time.Date(2000, 1, 1, h, 0, 0, 0, time.UTC)), Row: (h-from)*rowsOfHour + 1})
	}
	for i, day := range perDay {
		at := first.AddDate(0, 0, i)
		col := dayColumn{
			Date: at.Format(time.DateOnly), Heading: l.say.date(at), Short: l.say.names().shortDays[at.Weekday()], Number: strconv.Itoa(at.Day()),
			Href: l.Href(dayPath(at)), Today: at.Equal(today),
		}
		var timed []card
		for i := range day {
			if day[i].inBand() {
				col.Band = append(col.Band, day[i])
			} else {
				timed = append(timed, day[i])
			}
		}
		var more int
		col.Timed, more = lanes(timed, from)
		if more > 0 && n > 1 {
			col.More, col.MoreHref = l.text("month.more", l.say.number(more)), l.Href(dayPath(at))
		}
		b.Days = append(b.Days, col)
	}
	return b, nil
}

// inBand tells that the event stands above the grid: it lasts the day, or over a night.
func (c *card) inBand() bool { return c.AllDay || c.Several }

// lanes puts the events of a day side by side. What has no lane left is counted.
func lanes(cards []card, from int) (out []placed, more int) {
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
		rows := max(leastRows, int(s.end.Sub(s.start).Minutes()+minutesOfRow-1)/minutesOfRow)
		if row >= until {
			settle()
			until = 0
		}
		lane := slices.IndexFunc(ends[:], func(end int) bool { return end <= row })
		if lane < 0 {
			more++
			continue
		}
		ends[lane] = row + rows
		until = max(until, row+rows)
		out = append(out, placed{Card: cards[i], Row: row, Rows: rows, Lane: lane + 1})
	}
	settle()
	return out, more
}

// comma joins two parts of a sentence.
func (l *layout) comma() string {
	if l.Lang == calendar.LangCN {
		return "，"
	}
	return ", "
}

// edges finds the start of the nearest events before and after a time.
func (p *Pages) edges(ctx context.Context, l *layout, over period) (before, after *time.Time, err error) {
	in := func(name, value, order string) (*time.Time, error) {
		input := calendar.Input{name: value, paramStrict: "true", paramPerPage: "1", paramSort: "start", paramOrder: order}
		c, err := p.Lists.Parse(ctx, query.Request{Kind: calendar.KindEvent, Input: input, Lang: l.Lang, Caller: l.r.Caller, Of: l.sel.of})
		if err != nil {
			return nil, err
		}
		found, err := p.Lists.Run(ctx, c)
		if err != nil || len(found.Views) == 0 {
			return nil, err
		}
		s := p.spanOf(found.Views[0].Record, found.Views[0].Blanked, l.sel.zone)
		day := s.first()
		return &day, nil
	}
	if before, err = in("starts_before", p.bound(over.first, l.sel.zone), "desc"); err != nil {
		return nil, nil, err
	}
	after, err = in("starts_after", p.bound(over.last.AddDate(0, 0, 1).Add(-time.Second), l.sel.zone), "asc")
	return before, after, err
}
