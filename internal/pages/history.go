package pages

import (
	"reflect"
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

	Page       int
	From, To   int64 // the versions that are chosen for the comparison
	Kept       params
	Pager      *pager
	Difference *Difference // nil where none was asked for
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
	v, locked := l.readRecord()
	if locked && l.err == nil {
		l.err = notFound(kind)
	}
	if l.done() {
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
	l.head(v.Record)
	l.Title, l.Heading = l.text("event.history")+l.colon()+l.Title, l.text("history.title")
	l.Crumbs, l.NoIndex = append(l.Crumbs, *l.Record), true
	b := &historyBody{Page: page, From: from, To: to, Kept: l.asked().without(paramFrom, paramTo)}
	l.Body = b
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
		b.Difference, l.err = l.Past.Compare(l.ctx, l.reader(), v.Record, from, to)
	case len(b.Told) > 1:
		b.From, b.To = b.Told[1].Number, b.Told[0].Number
	}
	if l.err = hidden(kind, l.err); l.err != nil {
		return
	}
	pages := query.LinksTo(l.Href(l.Canonical+"history/"), b.Kept.without(paramPage))
	b.Pager = l.pagerOf(page, b.Pages, pages.Page)
	canonical := query.LinksTo(l.Canonical+"history/", nil)
	l.Canonical = canonical.Page(page)
}

// Date writes the day of a moment in the zone of the page.
func (l *look) Date(t time.Time) string { return l.date(l.inZone(t)) }

// Moment writes a moment on the clock of the site, or of the zone that was asked for.
func (l *look) Moment(t time.Time) string {
	t = l.inZone(t)
	return l.at(l.date(t), l.time(t)) + t.Format(" MST")
}

// Instant writes a moment for machines.
func (l *look) Instant(t time.Time) string { return l.inZone(t).Format(instantLayout) }

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
