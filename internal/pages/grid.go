package pages

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// day is a day that a page shows: a section of a list, a cell of a month, a column of a week.
type day struct {
	*pageBuilder

	Date      time.Time
	Ahead     int    // how many days it is from today; below 0: before it
	Href      string // "" for none
	Name      string // what stands in place of the date
	OtherYear bool   // it is not in the present one
	Muted     bool   // it is of another month
	Cards     []card
	Earlier   []card // those that ended today
	Events    int    // in a grid
	Bars      []*entry
	Entries   []*entry
	Rest      []*entry // for which there is no lane
	More      int      // what is not shown
}

// day makes a day. In a period its link keeps the selection.
func (builder *pageBuilder) day(date time.Time) day {
	today := builder.today(builder.zone)
	d := day{pageBuilder: builder, Date: date, Ahead: int(date.Sub(today).Hours() / 24), OtherYear: date.Year() != today.Year()}
	if year := date.Year(); year >= 1 && year <= 9999 {
		d.Href = builder.Href(dayPath(date))
		if builder.selection.over.set {
			d.Href += builder.selection.asked.String()
		}
	}
	return d
}

// entry is an event on a day of a month or week, or the link to those for which there is no lane.
type entry struct {
	*card

	Clock         string // its time
	Before, After bool   // it is on the day before as well, or after its bar
	Bar           bool   // it stands above others
	Span          int    // days of its bar, 0 but on the first one
	Lane, Lanes   int
	Row, Rows     int
	Others        int // that the link leads to

	on time.Time
}

// maxInDay is how many events a day of a month shows besides its bars, and a day of the list
// below it, maxAgenda.
const (
	maxInDay  = 3
	maxAgenda = 20
)

// spread puts cards on each day of the period that they are on, in the order of days: those
// that last 24 hours or longer, then all-day ones, then by start and id.
func (builder *pageBuilder) spread(cards []card) []day {
	over := builder.selection.over
	days := make([]day, int(over.last.Sub(over.first).Hours()/24)+1)
	for i := range days {
		days[i] = builder.day(over.first.AddDate(0, 0, i))
	}
	month, clock := len(days) > 7, builder.time
	if month {
		clock = builder.shortTime
	}
	for i := range cards {
		card := &cards[i]
		e := entry{card: card, Clock: clock(card.Begins), Bar: card.Long || card.AllDay && !month}
		if card.AllDay {
			e.Clock = builder.text("event.all_day")
		}
		first, last := card.edges()
		for _, on := range card.days(over.first, over.last) {
			e.on, e.Before, e.After = on, on.After(first), on.Before(last)
			if d := &days[int(on.Sub(over.first).Hours()/24)]; !month || card.Long || !e.Before || on.Equal(over.first) {
				one := e
				d.Entries, d.Events = append(d.Entries, &one), d.Events+1
			}
		}
	}
	rank := func(item *entry) int {
		switch {
		case item.Long:
			return 0
		case item.AllDay:
			return 1
		}
		return 2
	}
	for _, d := range days {
		slices.SortFunc(d.Entries, func(a, b *entry) int {
			order := cmp.Compare(calendar.WallOf(a.Begins), calendar.WallOf(b.Begins))
			if builder.zone != nil && !a.AllDay && !b.AllDay { // of one zone: also in the hour that comes twice
				order = a.Begins.Compare(b.Begins)
			}
			return cmp.Or(cmp.Compare(rank(a), rank(b)), order, cmp.Compare(a.ID, b.ID))
		})
	}
	return days
}

// bars takes the entries that stand above others out of some days, each into a lane that is
// free on all its days.
func bars(days []day) {
	var ends []time.Time // last day of each lane
	begun := map[calendar.ID]*entry{}
	for i := range days {
		day := &days[i]
		rest := day.Entries[:0:0]
		for _, item := range day.Entries {
			if !item.Bar {
				rest = append(rest, item)
				continue
			}
			first := begun[item.ID]
			if first == nil {
				first, begun[item.ID] = item, item
				if item.Lane = slices.IndexFunc(ends, day.Date.After) + 1; item.Lane == 0 {
					ends = append(ends, day.Date)
					item.Lane = len(ends)
				}
				_, ends[item.Lane-1] = item.edges()
			}
			first.Span, first.After, item.Lane = first.Span+1, item.After, first.Lane
			day.Bars = append(day.Bars, item)
		}
		day.Entries = rest
	}
}

// servePeriod answers a month, week or day.
func (builder *pageBuilder) servePeriod() {
	unit, first := builder.Route.unit, builder.Route.first
	if builder.Route.period == "" {
		builder.readZone()
		zone := builder.zone
		if unit.page == pageMonth {
			zone = nil // that of the site, whatever the zone of the page
		}
		first = unit.start(builder.today(zone))
	}
	builder.choose(unit.path(first), unit.over(first), query.Of{})
	if builder.err == nil && (first.Year() < 1 || first.Year() > 9999) {
		builder.err = calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	}
	builder.period(unit)
}

// periodBody is a month as a table, or a week or day as an hour grid over plain lists.
type periodBody struct {
	selectionSummary

	First   time.Time // day of it
	Caption string
	Step    struct{ Previous, Next, Today *link }
	City    string // whose time it is
	Each    bool   // times are of several zones

	Weeks  [][]day // of a month
	Agenda []day

	Days  []day          // of a week or day
	From  int            // first hour of the grid
	Hours map[int]string // by their rows
	Wide  []int          // numbers of days whose events stand side by side
	Clock string         // zone of the present time
}

// period makes the page of the period of a selection.
func (builder *pageBuilder) period(unit *unit) {
	if builder.err != nil {
		return
	}
	builder.Heading = unit.label(builder.locale, builder.selection.over.first)
	if builder.Title = builder.Heading; unit.page == pageMonth {
		builder.Title = builder.text("month.title") + builder.colon() + builder.Heading
	}
	cards := builder.allCards()
	body := &periodBody{selectionSummary: builder.selected(cards, len(cards)), First: builder.selection.over.first, Clock: builder.options.SiteZone}
	body.City = strings.ReplaceAll(path.Base(builder.options.SiteZone), "_", " ")
	body.Each = slices.ContainsFunc(cards, func(c card) bool { return c.Zone != "" })
	if builder.zone != nil {
		body.Clock = builder.zone.Name
	}
	builder.Summary = builder.Heading + builder.comma() + body.Count
	body.Caption = builder.Summary
	if unit.page == pageMonth {
		builder.table(body, builder.spread(cards))
	} else {
		builder.hours(body, builder.spread(cards))
	}
	builder.step(body, unit)
	builder.Body = body
}

// table makes the table of a month, and the list of its days from today on.
func (builder *pageBuilder) table(periodBody *periodBody, days []day) {
	from := max(0, -days[0].Ahead)
	if from >= len(days) {
		from = 0
	}
	for i, d := range days[from:] {
		for _, entry := range d.Entries {
			if i == 0 || !entry.Before { // once, on its first day
				card := *entry.card
				card.InDay, card.Running, card.Again = true, entry.Before, true
				d.Cards = append(d.Cards, card)
			}
		}
		if more := len(d.Cards) - maxAgenda; more > 0 {
			d.Cards, d.More = d.Cards[:maxAgenda], more
		}
		if d.Cards != nil {
			periodBody.Agenda = append(periodBody.Agenda, d)
		}
	}
	begins := time.Monday
	if builder.options.WeekStart == "sunday" {
		begins = time.Sunday
	}
	beside := func(d day, count int) day {
		result := builder.day(d.Date.AddDate(0, 0, count))
		result.Muted = true
		return result
	}
	for days[0].Date.Weekday() != begins {
		days = slices.Insert(days, 0, beside(days[0], -1))
	}
	for len(days)%7 > 0 {
		days = append(days, beside(days[len(days)-1], 1))
	}
	for week := range slices.Chunk(days, 7) {
		bars(week)
		for i := range week {
			d := &week[i]
			if more := len(d.Entries) - maxInDay; more > 0 {
				d.Entries, d.More = d.Entries[:maxInDay], more
			}
		}
		periodBody.Weeks = append(periodBody.Weeks, week)
	}
}

const (
	rowsOfHour   = 4
	firstHour    = 8
	lastHour     = 20
	lanesOfWeek  = 2
	lanesOfDay   = 4
	minRows      = 2
	minutesOfRow = 60 / rowsOfHour
)

// rows gives an entry its rows in an hour grid that begins at midnight.
func (entry *entry) rows() {
	begin, end := 0, 24*60
	if !entry.Before {
		begin = entry.Begins.Hour()*60 + entry.Begins.Minute()
	}
	if midnight(entry.Ends).Equal(entry.on) {
		end = entry.Ends.Hour()*60 + entry.Ends.Minute()
	}
	entry.Row = min(begin/minutesOfRow, 24*rowsOfHour-minRows)
	entry.Rows = max(minRows, (end+minutesOfRow-1)/minutesOfRow-entry.Row)
}

// hours makes the hour grid of some days.
func (builder *pageBuilder) hours(periodBody *periodBody, days []day) {
	bars(days)
	lanes := lanesOfWeek
	if len(days) == 1 {
		lanes = lanesOfDay
	}
	from, until := firstHour, lastHour
	for _, day := range days {
		for _, entry := range day.Entries {
			entry.rows()
			from, until = min(from, entry.Row/rowsOfHour), max(until, (entry.Row+entry.Rows+rowsOfHour-1)/rowsOfHour)
		}
	}
	periodBody.Days, periodBody.From, periodBody.Hours = days, from, map[int]string{}
	for hour := from; hour < until; hour++ {
		periodBody.Hours[(hour-from)*rowsOfHour+1] = builder.hour(hour)
	}
	for i := range days {
		if days[i].lanes(lanes, from*rowsOfHour) > 1 {
			periodBody.Wide = append(periodBody.Wide, i+1)
		}
	}
}

// lanes puts the entries of a day side by side, below a row that is the first one of the grid.
// A link to those for which there is no lane stands below the others.
func (day *day) lanes(most, begin int) (used int) {
	var entries, chain []*entry // entries of a chain overlap, one the next
	var ends []int              // of the last entry of each lane
	until, left := 0, 0
	put := func(item *entry, lane int) {
		ends[lane], item.Lane, item.Row = item.Row+item.Rows, lane+1, item.Row-begin+1
		until, chain = max(until, ends[lane]), append(chain, item)
	}
	settle := func(row int) {
		if row >= until && left > 0 {
			end := slices.Min(ends)
			put(&entry{Row: end, Rows: minRows, Others: left}, slices.Index(ends, end))
			left = 0
		}
		if row >= until {
			for _, item := range chain {
				item.Lanes = len(ends)
			}
			used, entries, chain, ends = max(used, len(ends)), append(entries, chain...), nil, nil
		}
	}
	for _, item := range day.Entries {
		settle(item.Row)
		lane := slices.IndexFunc(ends, func(end int) bool { return end <= item.Row })
		if lane < 0 && len(ends) < most {
			lane, ends = len(ends), append(ends, 0)
		}
		if lane < 0 {
			day.Rest, left = append(day.Rest, item), left+1
		} else {
			put(item, lane)
		}
	}
	settle(math.MaxInt)
	day.Entries = entries
	return used
}

// step leads to the period before and after, as far as there are events, and says where
// the nearest ones are if none exists here.
func (builder *pageBuilder) step(periodBody *periodBody, unit *unit) {
	over, kept, today := builder.selection.over, builder.selection.asked.String(), builder.today(builder.zone)
	to := func(day time.Time) *link {
		return &link{Href: builder.Href(unit.path(day)) + kept, Label: unit.label(builder.locale, day), Current: !day.Before(over.first) && !day.After(over.last)}
	}
	before, after := builder.nearest(false)
	if periodBody.Step.Today = to(today); before != nil {
		periodBody.Step.Previous = to(unit.step(over.first, -1))
	}
	if after != nil {
		periodBody.Step.Next = to(unit.step(over.first, 1))
	}
	if periodBody.Empty == nil || periodBody.Empty.First != "" {
		return
	}
	rest := builder.selection.asked.without(window...)
	if !builder.selection.plain() {
		if x, y := builder.nearest(true); x == nil && y == nil {
			rest = nil // the nearest of all
		} else {
			before, after = x, y
		}
	}
	for _, near := range []struct {
		day  *time.Time
		text string
	}{{after, "empty.next"}, {before, "empty.last"}} {
		if near.day != nil {
			periodBody.Empty.Links = append(periodBody.Empty.Links, link{Href: builder.Href(unit.path(*near.day)) + rest.String(), Label: builder.text(near.text, builder.date(*near.day))})
		}
	}
}

// nearest finds the days of the nearest events before and after the period: of those that
// are selected, or of all that are listed. What goes on beyond the period counts as after it.
func (builder *pageBuilder) nearest(selected bool) (before, after *time.Time) {
	one := func(input calendar.Input, order string) *time.Time {
		if selected {
			for _, linkParam := range builder.selection.selecting().without(window...).without(paramOverlap) {
				name := baseName(linkParam.Name)
				input[name] = builder.Input[name]
			}
		}
		input[paramStrict], input[paramPerPage], input[paramSort], input[paramOrder] = "true", "1", "start", order
		found := builder.run(builder.forCards(query.Request{Kind: calendar.KindEvent, Input: input, Lang: builder.language, Caller: builder.Caller, Sheet: query.Sheet{Zone: builder.selection.sheet.Zone}}))
		if len(found.Views) == 0 {
			return nil
		}
		when := builder.whenOf(found.Views[0].Record, found.Views[0].Blanked, builder.zone)
		day, _ := when.edges()
		return &day
	}
	over := builder.selection.over
	before = one(calendar.Input{"starts_before": over.first.Format(calendar.WallLayout)}, "desc")
	if next := over.last.AddDate(0, 0, 1); next.Year() <= 9999 {
		after = one(calendar.Input{paramStart: next.Format(calendar.WallLayout), paramEnd: "9999-12-31T23:59:59", paramOverlap: "true"}, "asc")
		if after != nil && after.Before(next) {
			after = &next
		}
	}
	return before, after
}
