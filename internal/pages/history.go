package pages

import (
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

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
	Kept       params
	Pager      *pager
	Difference *Difference
	Newest     Checkpoint
}

// changeRow is a field that differs: the words that went and those that came.
type changeRow struct{ Before, After []string }

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
	number := func(name string) int64 {
		text := calendar.Trim(l.Query.Get(name))
		if text == "" {
			return 0
		}
		l.own = append(l.own, query.LinkParam{Name: name, Value: text})
		n, ok := calendar.ParseNearestInt(text)
		if !ok {
			l.refuse(name, calendar.ReasonTypeInteger)
		} else if n < 1 {
			l.refuse(name, calendar.ReasonTooSmall, "1")
		}
		return n
	}
	page, from, to := int(min(max(number(paramPage), 1), 1<<31)), number(paramFrom), number(paramTo)
	l.readZone()
	if l.err = l.bad.Err(); l.err != nil {
		return
	}
	l.Status = v.Status
	l.head(v.Record)
	b := &historyBody{Record: *l.Record, Shows: kind == calendar.KindEvent, First: page == 1, From: from, To: to}
	l.Title, l.Heading = l.text("event.history")+l.colon()+l.Title, l.text("history.title")
	l.Canonical, l.NoIndex = l.Canonical+"history/", true
	l.Crumbs = append(l.Crumbs, b.Record)
	b.History, l.err = l.Past.History(l.ctx, l.reader(), v.Record, page, versionsPerPage)
	if l.err == nil && page > max(b.Pages, 1) {
		l.err = notFound(kind)
	}
	if l.err == nil {
		b.Newest, l.err = l.Past.Checkpoint(l.ctx)
	}
	switch {
	case l.err != nil:
	case from != 0 || to != 0:
		if b.Difference, l.err = l.Past.Compare(l.ctx, l.reader(), v.Record, from, to); l.err == nil {
			b.From, b.To = b.Difference.From.Number, b.Difference.To.Number
		}
	case len(b.Told) > 1:
		b.From, b.To = b.Told[1].Number, b.Told[0].Number
	}
	l.err = hidden(kind, l.err)
	if l.err != nil {
		return
	}
	if l.zone != nil {
		b.Kept = params{{Name: paramZone, Value: l.zone.Name}}
	}
	l.sel = &selection{page: page, zone: l.zone}
	pages := query.LinksTo(l.Href(l.Canonical), b.Kept)
	b.Pager = l.pagerOf(b.Pages, pages.Page)
	if page > 1 {
		number := params{{Name: paramPage, Value: strconv.Itoa(page)}}
		l.Canonical += number.String()
		b.Kept = append(b.Kept, number...)
	}
	l.Body = b
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

// Row writes a change for a table; of long texts only what changed.
func (l *look) Row(c Change) (row changeRow) {
	before, after := l.value(&c, c.Before), l.value(&c, c.After)
	if c.HTML || max(utf8.RuneCountInString(before), utf8.RuneCountInString(after)) > longText {
		row.Before, row.After = differ(before, after)
		return row
	}
	if before != "" {
		row.Before = []string{before}
	}
	if after != "" {
		row.After = []string{after}
	}
	return row
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
