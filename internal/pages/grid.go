package pages

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// periodBody is a month as a table, or a week or day as an hour grid over plain lists.
type periodBody struct {
	selected

	Step stepper

	// Of a month:
	Month, Caption string
	Heads          []weekdayHead
	Weeks          [][]dayCell
	Agenda         []group

	// Of a week or day:
	Class string // of the grid
	Days  []dayColumn
	Hours []hourRow
	From  int    // first hour of the grid
	Clock string // zone of today
}

// stepper leads to the time before and after.
type stepper struct{ Previous, Next, Today *link }

// weekdayHead is the head of a column.
type weekdayHead struct{ Short, Long string }

// dayCell is a day of a month.
type dayCell struct {
	Date, Label, Href  string
	Number             string
	Class              string
	Today, Muted, Past bool
	Bars               []entry
	Events             []entry
	More               string // "+2 more", "" for none
}

// entry is an event on a day of a month or week.
type entry struct {
	*card

	Class  string
	Tip    string // its time and title
	Time   string // "" in bars
	Place  string // classes of its place in a grid, "" for none
	onDay  time.Time
	before bool // it is on the day before as well, or after
	after  bool
}

// maxInDay is how many events a day of a month shows besides its bars, and a day of the list
// below it, maxAgenda.
const (
	maxInDay  = 3
	maxAgenda = 20
)

// byDay puts cards on each day that they are on, in the order of days: those that last 24
// hours or longer, then all-day ones, then by start and id.
func (l *look) byDay(cards []card, first, last time.Time) [][]entry {
	out := make([][]entry, int(last.Sub(first).Hours()/24)+1)
	month := len(out) > 7
	for i := range cards {
		c := &cards[i]
		e := entry{card: c, Time: l.time(c.span.start)}
		if c.AllDay {
			e.Time = l.text("event.all_day")
		}
		if month && !c.AllDay {
			e.Time = l.shortTime(c.span.start)
		}
		e.Tip = spaced(e.Time, c.span.zone, calendar.Isolated(c.Title))
		e.Class = "entry colour-" + strconv.Itoa(c.Colour) + c.states()
		for _, day := range c.span.days(first, last) {
			e.onDay, e.before, e.after = day, day.After(c.span.first()), day.Before(c.span.last())
			if n := int(day.Sub(first).Hours() / 24); !month || c.Long || !e.before || n == 0 {
				out[n] = append(out[n], e)
			}
		}
	}
	rank := func(e *entry) int {
		switch {
		case e.Long:
			return 0
		case e.AllDay:
			return 1
		}
		return 2
	}
	for _, day := range out {
		slices.SortStableFunc(day, func(a, b entry) int {
			order := cmp.Compare(calendar.WallOf(a.span.start), calendar.WallOf(b.span.start))
			if l.sel.zone != nil && !a.AllDay && !b.AllDay { // of one zone: also in the hour that comes twice
				order = a.span.start.Compare(b.span.start)
			}
			return cmp.Or(cmp.Compare(rank(&a), rank(&b)), order, cmp.Compare(a.ID, b.ID))
		})
	}
	return out
}

// bars puts entries that stand above others on days in a row into lanes. One that goes on
// writes its title on its first day there.
func bars(days [][]entry) [][]entry {
	out := make([][]entry, len(days))
	taken := map[calendar.ID]int{}
	on := make([]map[calendar.ID]bool, len(days)+2) // of each day, between the ones before and after
	for i, day := range days {
		on[i+1] = map[calendar.ID]bool{}
		for _, e := range day {
			on[i+1][e.ID] = true
		}
	}
	for i, day := range days {
		used := map[int]bool{}
		for _, e := range day {
			if on[i][e.ID] {
				used[taken[e.ID]] = true
			}
		}
		lane := 1
		for _, e := range day {
			e.Time, e.Class = "", e.Class+" bar-of"
			if e.before {
				e.Class += " joins-before"
			}
			if on[i][e.ID] {
				e.Class += " is-carried"
			} else {
				span := 1
				for used[lane] {
					lane++
				}
				for on[i+1+span][e.ID] {
					span++
				}
				used[lane], taken[e.ID] = true, lane
				e.Class += " span-" + strconv.Itoa(span)
				if !e.onDay.AddDate(0, 0, span-1).Equal(e.span.last()) {
					e.Class += " joins-after"
				}
			}
			e.Place = "lane-" + strconv.Itoa(taken[e.ID])
			out[i] = append(out[i], e)
		}
	}
	return out
}

// split parts the entries that a test holds for from the others.
func split(day []entry, is func(*entry) bool) (yes, no []entry) {
	for _, e := range day {
		if is(&e) {
			yes = append(yes, e)
		} else {
			no = append(no, e)
		}
	}
	return yes, no
}

// servePeriod answers a month, week or day.
func (l *look) servePeriod() {
	u, first := l.Route.unit, l.Route.first
	if l.Route.period == "" {
		zone, _ := zoneOf(l.Query.Get(paramZone)) // a bad one is refused with the selection
		if u.page == pageMonth {
			zone = nil // that of the site, whatever the zone of the page
		}
		first = u.start(l.today(zone))
	}
	l.choose(u.path(first), u.over(first), query.Of{})
	if l.err == nil && (first.Year() < 1 || first.Year() > 9999) {
		l.err = calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	}
	l.period(u)
}

// period makes the page of the period of a selection.
func (l *look) period(u *unit) {
	if l.err != nil {
		return
	}
	over, b := l.sel.over, &periodBody{}
	label := map[name]func(time.Time) string{pageMonth: l.month, pageDay: l.date}[u.page]
	if u.page == pageWeek {
		label = func(t time.Time) string { return l.days(t, t.AddDate(0, 0, 6)) }
	}
	l.Heading = label(over.first)
	if l.Title = l.Heading; u.page == pageMonth {
		l.Title = l.text("month.title") + l.colon() + l.Heading
	}
	cards := l.allCards()
	b.selected = l.selected(cards, len(cards))
	b.Clock = l.o.SiteZone
	if l.sel.zone != nil {
		b.Clock = l.sel.zone.Name
	}
	if b.Zone == "" {
		b.Zone = l.text("zone.note", cityOf(l.o.SiteZone))
		if slices.ContainsFunc(cards, func(c card) bool { return c.span.zone != "" }) {
			b.Zone = l.text("zone.each")
		}
	}
	l.Summary = l.Heading + l.comma() + b.Count
	b.Caption = l.Summary
	if u.page == pageMonth {
		b.Month = u.format(over.first)
		l.table(b, cards)
	} else {
		l.hourGrid(b, cards)
	}
	if !l.Embedded() || u.page == pageMonth {
		l.step(b, u, label)
	}
	l.Body = b
}

// cityOf is the place after which a zone is named.
func cityOf(zone string) string {
	return strings.ReplaceAll(zone[strings.LastIndexByte(zone, '/')+1:], "_", " ")
}

// table makes the table of a month, and the list of its days from today on.
func (l *look) table(b *periodBody, cards []card) {
	first, last := l.sel.over.first, l.sel.over.last
	begins := time.Monday
	if l.o.Sunday {
		begins = time.Sunday
	}
	for i := range 7 {
		day := (begins + time.Weekday(i)) % 7
		b.Heads = append(b.Heads, weekdayHead{l.dayName("short.", day), l.dayName("", day)})
	}
	days := l.byDay(cards, first, last)
	today, kept := l.today(l.sel.zone), l.sel.asked.String()
	from := first.AddDate(0, 0, -((int(first.Weekday()) - int(begins) + 7) % 7))
	for day := from; !day.After(last); {
		week, long := make([]dayCell, 7), make([][]entry, 7)
		for i := range week {
			cell := dayCell{Date: day.Format(time.DateOnly), Number: strconv.Itoa(day.Day()), Label: l.dayInYear(day), Today: day.Equal(today)}
			if day.Year() >= 1 && day.Year() <= 9999 {
				cell.Href = l.Href(dayPath(day)) + kept
			}
			if cell.Muted = day.Month() != first.Month(); !cell.Muted {
				of := days[day.Day()-1]
				cell.Past = day.Before(today)
				cell.Label += l.comma() + l.count("events", len(of))
				long[i], cell.Events = split(of, func(e *entry) bool { return e.Long })
				if more := len(cell.Events) - maxInDay; more > 0 {
					cell.Events, cell.More = cell.Events[:maxInDay], l.count("more", more)
				}
			}
			week[i] = cell
			day = day.AddDate(0, 0, 1)
		}
		for i, placed := range bars(long) {
			week[i].Bars = placed
		}
		b.Weeks = append(b.Weeks, week)
	}
	begin := first
	if today.After(first) && !today.After(last) {
		begin = today
	}
	for i, of := range days {
		day := first.AddDate(0, 0, i)
		g := l.dayGroup(day, today)
		for _, e := range of {
			if day.Before(begin) || e.before && day.After(begin) { // once, on its first day
				continue
			}
			c := *e.card
			c.inDay(l.speech, e.before)
			c.Start = "" // the links to events are those of the table
			g.Cards = append(g.Cards, c)
		}
		if more := len(g.Cards) - maxAgenda; more > 0 {
			g.Cards, g.More = g.Cards[:maxAgenda], l.count("more", more)
		}
		if g.Href += kept; len(g.Cards) > 0 {
			b.Agenda = append(b.Agenda, g)
		}
	}
}

// dayColumn is a day of a week.
type dayColumn struct {
	Date, Heading, Short, Number, Href string
	Today                              bool
	Band                               []entry // all-day and long events
	Timed                              []entry // the others
	More                               []moreHere
	Now                                string  // class of the row of now, "" for none
	Rest                               []entry // for which there is no lane, on the page of the day
}

// moreHere leads to the events for which there is no lane.
type moreHere struct{ Place, Label, Href string }

// hourRow names an hour of the grid.
type hourRow struct{ Label, Class string }

const (
	rowsOfHour   = 4
	firstHour    = 8
	lastHour     = 20
	lanesOfWeek  = 2
	lanesOfDay   = 4
	minRows      = 2
	minutesOfRow = 60 / rowsOfHour
)

// rows are the first row of an entry in the grid of a day that begins with an hour, and the
// one after it.
func (e *entry) rows(from int) (first, after int) {
	minute := func(t time.Time) int { return (t.Hour()-from)*60 + t.Minute() }
	begin, end := 0-from*60, (24-from)*60
	if !e.before {
		begin = minute(e.span.start)
	}
	if !e.after && (e.before || sameDay(e.span.start, e.span.end)) {
		end = minute(e.span.end)
	}
	ends := (24-from)*rowsOfHour + 1
	first = min(begin/minutesOfRow+1, ends-minRows)
	return first, max(first+minRows, (end+minutesOfRow-1)/minutesOfRow+1)
}

// hourGrid makes the hour grid of some days.
func (l *look) hourGrid(b *periodBody, cards []card) {
	first, last := l.sel.over.first, l.sel.over.last
	perDay := l.byDay(cards, first, last)
	today, kept := l.today(l.sel.zone), l.sel.asked.String()
	limit := lanesOfWeek
	if len(perDay) == 1 {
		limit = lanesOfDay
	}
	from, to := firstHour, lastHour
	inBand := func(e *entry) bool { return e.AllDay || e.Long }
	band := make([][]entry, len(perDay))
	for i, day := range perDay {
		band[i], perDay[i] = split(day, inBand)
		for _, e := range perDay[i] {
			begin, after := e.rows(0)
			from, to = min(from, (begin-1)/rowsOfHour), max(to, min(24, (after-1+rowsOfHour-1)/rowsOfHour))
		}
	}
	b.From = from
	placed := bars(band)
	now := l.o.Now().In(l.o.Site)
	if l.sel.zone != nil {
		now = now.In(l.sel.zone.Location)
	}
	nowRow := (now.Hour()-from)*rowsOfHour + now.Minute()/minutesOfRow + 1
	shown := !today.Before(first) && !today.After(last) && now.Hour() >= from && now.Hour() < to
	for h := from; h < to; h++ {
		if off := h*60 - now.Hour()*60 - now.Minute(); !shown || off <= -20 || off >= 20 {
			b.Hours = append(b.Hours, hourRow{l.hour(h), "row-" + strconv.Itoa((h-from)*rowsOfHour+1)})
		}
	}
	if shown {
		l.minute(l.o.Now())
		b.Hours = append(b.Hours, hourRow{l.time(now), "now-at row-" + strconv.Itoa(nowRow)})
	}
	b.Class = "grid columns-" + strconv.Itoa(len(perDay))
	for i, day := range perDay {
		at := first.AddDate(0, 0, i)
		col := dayColumn{
			Date: at.Format(time.DateOnly), Heading: l.date(at), Short: l.dayName("short.", at.Weekday()), Number: strconv.Itoa(at.Day()),
			Href: l.Href(dayPath(at)) + kept, Today: at.Equal(today), Band: placed[i],
		}
		var wide bool
		var rest []entry
		if col.Timed, rest, col.More, wide = l.lanes(day, from, limit, col.Href); limit == lanesOfDay {
			col.Rest = rest
		} else if wide {
			b.Class += " wide-" + strconv.Itoa(i+1)
		}
		if shown && col.Today {
			col.Now = "now-line row-" + strconv.Itoa(nowRow)
		}
		b.Days = append(b.Days, col)
	}
}

// lanes puts the entries of a day side by side. Those for which there is no lane are in rest,
// and counted where they would stand.
func (l *look) lanes(day []entry, from, limit int, href string) (out, rest []entry, more []moreHere, wide bool) {
	var ends []int    // of the last entry of each lane
	var cluster []int // lanes of the entries in out that overlap each other, as a chain
	until, left := 0, 0
	settle := func() {
		for i, lane := range cluster {
			e := &out[len(out)-len(cluster)+i]
			e.Place += " lane-" + strconv.Itoa(lane) + "-" + strconv.Itoa(len(ends))
		}
		wide = wide || len(ends) > 1
		if left > 0 {
			m := moreHere{"more-here row-" + strconv.Itoa(until-minRows) + " rows-" + strconv.Itoa(minRows) + " lane-1-1", l.count("more", left), href}
			if limit == lanesOfDay {
				m.Href = "#rest"
			}
			more = append(more, m)
		}
		ends, cluster, left = nil, nil, 0
	}
	for _, e := range day {
		first, after := e.rows(from)
		if first >= until {
			settle()
		}
		lane := slices.IndexFunc(ends, func(end int) bool { return end <= first })
		if lane < 0 && len(ends) < limit {
			lane, ends = len(ends), append(ends, 0)
		}
		if lane < 0 {
			rest, left = append(rest, e), left+1
			continue
		}
		ends[lane], until = after, max(until, after)
		e.Place = "row-" + strconv.Itoa(first) + " rows-" + strconv.Itoa(after-first)
		out, cluster = append(out, e), append(cluster, lane+1)
	}
	settle()
	return out, rest, more, wide
}

// step leads to the period before and after, as far as there are events, and says where
// the nearest ones are when there is none here.
func (l *look) step(b *periodBody, u *unit, label func(time.Time) string) {
	over, kept := l.sel.over, l.sel.asked.String()
	before, after := l.edges(over, false)
	to := func(n int) *link {
		first := u.step(over.first, n)
		return &link{Href: l.Href(u.path(first)) + kept, Label: label(first)}
	}
	if before != nil {
		b.Step.Previous = to(-1)
	}
	if after != nil {
		b.Step.Next = to(1)
	}
	today := l.today(l.sel.zone)
	b.Step.Today = &link{Href: l.Href(u.path(today)) + kept, Label: l.text("today"), Current: !today.Before(over.first) && !today.After(over.last)}
	if b.Empty == nil || b.Empty.First != "" {
		return
	}
	rest := l.sel.asked.without(window...)
	if !l.sel.plain() {
		if b, a := l.edges(over, true); b == nil && a == nil {
			rest = nil // the nearest of all
		} else {
			before, after = b, a
		}
	}
	if after != nil {
		b.Empty.Links = append(b.Empty.Links, link{Href: l.Href(u.path(*after)) + rest.String(), Label: l.text("empty.next", l.date(*after))})
	}
	if before != nil {
		b.Empty.Links = append(b.Empty.Links, link{Href: l.Href(u.path(*before)) + rest.String(), Label: l.text("empty.last", l.date(*before))})
	}
}

// edges finds the days of the nearest events before and after a period: of those that are
// selected, or of all that are listed. What goes on beyond the period counts as after it.
func (l *look) edges(over period, selected bool) (before, after *time.Time) {
	nearest := func(name string, bound time.Time, order string) *time.Time {
		input := calendar.Input{}
		if selected {
			for k, v := range l.Input {
				if l.Route.takes(k, true) && !slices.Contains(shapes, k) && !slices.Contains(window, k) && !isEmpty(v) {
					input[k] = v
				}
			}
		}
		input[name], input[paramPerPage], input[paramSort], input[paramOrder] = bound.Format(calendar.WallLayout), "1", "start", order
		input[paramStrict] = strconv.FormatBool(name != "starts_after") // after the whole day
		found := l.run(l.forCards(query.Request{Kind: calendar.KindEvent, Input: input, Lang: l.lang, Caller: l.Caller, Of: l.sel.of, Sheet: query.Sheet{Zone: l.sel.sheet.Zone}}))
		if len(found.Views) == 0 {
			return nil
		}
		s := l.spanOf(found.Views[0].Record, found.Views[0].Blanked, l.sel.zone)
		day := s.first()
		return &day
	}
	before = nearest("starts_before", over.first, "desc")
	next := over.last.AddDate(0, 0, 1)
	if next.Year() > 9999 {
		return before, nil
	}
	if after = nearest("starts_after", over.last, "asc"); after != nil {
		return before, after
	}
	if nearest("ends_after", next, "asc") != nil {
		after = &next
	}
	return before, after
}
