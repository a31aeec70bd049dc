package pages

import (
	"reflect"
	"strconv"
	"time"

	"daybook/calendar"
	"daybook/query"
)

const (
	paramFrom = "from"
	paramTo   = "to"

	versionsPerPage = 50
)

// historyBody is the page of the past of a record.
type historyBody struct {
	*History

	Record     named
	Shows      bool  // its page as of each version can be seen
	First      bool  // it is the page of the newest versions
	From, To   int64 // the versions that are chosen for the comparison
	Kept       []query.LinkParam
	Empty      *empty
	Pager      *pager
	Difference *Difference
	Newest     Checkpoint
}

// changeRow is a field that differs: the words that went and those that came.
type changeRow struct {
	Field, Label  string
	Before, After []string
}

// serveHistory answers the past of a record (PAGES.md P2.6).
func (l *look) serveHistory() {
	kind := l.Route.kind
	if !l.Past.Open(l.Caller) {
		l.err = notFound(kind)
		return
	}
	v, err := l.Lists.Read(l.ctx, kind, 0, l.Route.slug, l.Caller, l.lang, query.EmbedNone, nil)
	if err != nil {
		l.missing(err)
		return
	}
	l.Status = statusOf(kind, v.Status)
	page, from, to := l.askHistory()
	if l.err != nil {
		return
	}
	l.head(&v)
	path := l.Canonical
	b := &historyBody{Record: *l.Record, Shows: kind == calendar.KindEvent, First: page == 1, From: from, To: to}
	l.Title, l.Heading, l.HeadingLang = l.text("event.history")+l.colon()+l.Title, l.text("history.title"), ""
	l.Canonical, l.Summary, l.NoIndex = path+"history/", "", true
	l.Crumbs = append(l.Crumbs, b.Record)
	if b.History, err = l.Past.History(l.ctx, l.reader(), v.Record, page, versionsPerPage); err != nil {
		l.err = hidden(kind, err)
		return
	}
	if page > max(b.Pages, 1) {
		l.err = notFound(kind)
		return
	}
	if b.Newest, err = l.Past.Checkpoint(l.ctx); err != nil {
		l.err = err
		return
	}
	switch compares := from != 0 || to != 0; {
	case compares:
		if b.Difference, err = l.Past.Compare(l.ctx, l.reader(), v.Record, from, to); err != nil {
			l.err = hidden(kind, err)
			return
		}
		b.From, b.To = b.Difference.From.Number, b.Difference.To.Number
	case b.Only && len(b.Told) > 0:
		b.Empty = &empty{Text: l.text("history.same", l.Date(b.Told[0].Time)), Links: []link{{Href: b.Record.Href(), Label: b.Record.Label()}}}
	case len(b.Told) > 1:
		b.From, b.To = b.Told[1].Number, b.Told[0].Number
	}
	if zone := l.sel.zone; zone != nil {
		b.Kept = []query.LinkParam{{Name: paramZone, Value: zone.Name}}
	}
	pages := query.LinksTo(l.Href(l.Canonical), b.Kept)
	b.Pager = l.pagerOf(b.Pages, pages.Page)
	if page > 1 {
		number := query.LinkParam{Name: paramPage, Value: strconv.Itoa(page)}
		l.Canonical += linkQuery([]query.LinkParam{number})
		b.Kept = append(b.Kept, number)
	}
	l.Body = b
}

// askHistory reads the parameters of a history page; empty ones are not sent.
func (l *look) askHistory() (page int, from, to int64) {
	number := func(name string) int64 {
		text := calendar.Trim(l.Query.Get(name))
		if text == "" {
			return 0
		}
		l.own = append(l.own, query.LinkParam{Name: name, Value: text})
		n, ok := calendar.ParseNearestInt(text)
		switch {
		case !ok:
			l.bad.Add(name, calendar.ReasonTypeInteger)
		case n < 1:
			l.bad.Add(name, calendar.ReasonTooSmall, "1")
		}
		return n
	}
	page = int(min(max(number(paramPage), 1), 1<<31))
	from, to = number(paramFrom), number(paramTo)
	l.sel = &selection{page: page}
	var ok bool
	if l.sel.zone, ok = zoneOf(l.Query.Get(paramZone)); !ok {
		l.bad.Add(paramZone, calendar.ReasonZone, l.Query.Get(paramZone))
	}
	l.err = l.bad.Err()
	return page, from, to
}

// Date writes the day of a moment in the zone of the page.
func (l *look) Date(t time.Time) string { return l.date(t.In(l.zoneOf().Location)) }

// Moment writes a moment on the clock of the site, or of the zone that was asked for.
func (l *look) Moment(t time.Time) string {
	zone := l.zoneOf()
	t = t.In(zone.Location)
	return l.at(l.date(t), l.time(t)) + " " + zone.Abbreviation(t)
}

// Instant writes a moment for machines.
func (l *look) Instant(t time.Time) string { return t.In(l.zoneOf().Location).Format(instantLayout) }

// Number writes a number, Count how many there are of a thing.
func (l *look) Number(n any) string              { return l.number(whole(n)) }
func (l *look) Count(thing string, n any) string { return l.count(thing, whole(n)) }

// whole reads a number of any type.
func whole(n any) int { return int(reflect.ValueOf(n).Convert(reflect.TypeFor[int]()).Int()) }

// Interface is the path of the interface in the language of the page.
func (l *look) Interface() string { return l.Href(l.o.Namespace) }

// Rows writes changes for a table.
func (l *look) Rows(changes []Change) []changeRow {
	out := make([]changeRow, len(changes))
	for i, c := range changes {
		before, after := l.value(&c, c.Before), l.value(&c, c.After)
		out[i] = changeRow{Field: c.Field, Label: c.Label}
		if c.HTML || isLong(before, after) {
			out[i].Before, out[i].After = differ(before, after)
			continue
		}
		if before != "" {
			out[i].Before = []string{before}
		}
		if after != "" {
			out[i].After = []string{after}
		}
	}
	return out
}

// value writes a value; a clock as it stands on the wall.
func (l *look) value(c *Change, v Value) string {
	switch t := v.Clock.UTC(); {
	case v.Clock == calendar.NoWall && c.HTML:
		return l.Shown.Plain(v.Text)
	case v.Clock == calendar.NoWall:
		return v.Text
	case v.Day:
		return l.date(t)
	default:
		return l.at(l.date(t), l.time(t))
	}
}

// Outside reports whether pages link other services.
func (l *look) Outside() bool { return !l.o.NoExternalLinks }
