package pages

import (
	"context"
	"net/http"
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

	Record     link
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
func (p *Pages) serveHistory(ctx context.Context, l *layout) (*Answer, error) {
	r, kind := l.r, l.r.Route.kind
	if !p.Past.Open(r.Caller) {
		return nil, notFound(kind)
	}
	v, err := p.Lists.Read(ctx, kind, 0, r.Route.slug, r.Caller, l.Lang, query.EmbedNone, nil)
	if err != nil {
		return p.missing(ctx, r, err)
	}
	l.Status = statusOf(kind, v.Status)
	page, from, to, err := p.askHistory(l)
	if err != nil {
		return nil, err
	}
	if _, err := p.head(l, &v); err != nil {
		return nil, err
	}
	path := l.Canonical
	b := &historyBody{Record: link{Href: l.Href(path), Label: l.Title, Lang: l.HeadingLang}, Shows: kind == calendar.KindEvent, First: page == 1, From: from, To: to}
	l.Title, l.Heading, l.HeadingLang = word("event.history", l.Lang)+l.colon()+l.Title, word("history.title", l.Lang), ""
	l.Canonical, l.Summary, l.NoIndex = path+"history/", "", true
	if l.Crumbs, err = p.wayTo(ctx, l, v.Record); err != nil {
		return nil, err
	}
	l.Crumbs = append(l.Crumbs, b.Record)
	if b.History, err = p.Past.History(ctx, r.reader(), v.Record, page, versionsPerPage); err != nil {
		return nil, hidden(kind, err)
	}
	if page > max(b.Pages, 1) {
		return nil, notFound(kind)
	}
	if b.Newest, err = p.Past.Checkpoint(ctx); err != nil {
		return nil, err
	}
	switch compares := from != 0 || to != 0; {
	case compares:
		if b.Difference, err = p.Past.Compare(ctx, r.reader(), v.Record, from, to); err != nil {
			return nil, hidden(kind, err)
		}
		b.From, b.To = b.Difference.From.Number, b.Difference.To.Number
	case b.Only && len(b.Told) > 0:
		b.Empty = &empty{Text: l.text("history.same", l.Date(b.Told[0].Time)), Links: []link{b.Record}}
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
	return p.render(l, http.StatusOK)
}

// askHistory reads the parameters of a history page; empty ones are not sent.
func (p *Pages) askHistory(l *layout) (page int, from, to int64, err error) {
	var bad calendar.Problems
	number := func(name string) int64 {
		text := calendar.Trim(l.r.Query.Get(name))
		if text == "" {
			return 0
		}
		l.own = append(l.own, query.LinkParam{Name: name, Value: text})
		n, ok := calendar.ParseNearestInt(text)
		switch {
		case !ok:
			bad.Add(name, calendar.ReasonTypeInteger)
		case n < 1:
			bad.Add(name, calendar.ReasonTooSmall, "1")
		}
		return n
	}
	page = int(min(max(number(paramPage), 1), 1<<31))
	from, to = number(paramFrom), number(paramTo)
	l.sel = &selection{page: page}
	var ok bool
	if l.sel.zone, ok = zoneOf(l.r.Query.Get(paramZone)); !ok {
		bad.Add(paramZone, calendar.ReasonZone, l.r.Query.Get(paramZone))
	}
	return page, from, to, bad.Err()
}

// Colon stands between a name and its value.
func (l *layout) Colon() string { return l.colon() }

// Date writes the day of a moment in the zone of the page.
func (l *layout) Date(t time.Time) string { return l.say.date(t.In(l.zoneOf().Location)) }

// Moment writes a moment on the clock of the site, or of the zone that was asked for.
func (l *layout) Moment(t time.Time) string {
	zone := l.zoneOf()
	t = t.In(zone.Location)
	return l.say.at(l.say.date(t), l.say.time(t)) + " " + zone.Abbreviation(t)
}

// Instant writes a moment for machines.
func (l *layout) Instant(t time.Time) string { return t.In(l.zoneOf().Location).Format(instantLayout) }

// Number writes a number, Count how many there are of a thing.
func (l *layout) Number(n any) string              { return l.say.number(whole(n)) }
func (l *layout) Count(thing string, n any) string { return l.count(thing, whole(n)) }

// whole reads a number of any type.
func whole(n any) int { return int(reflect.ValueOf(n).Convert(reflect.TypeFor[int]()).Int()) }

// Interface is the path of the interface in the language of the page.
func (l *layout) Interface() string { return l.Href(l.p.o.Namespace) }

// Rows writes changes for a table.
func (l *layout) Rows(changes []Change) []changeRow {
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
func (l *layout) value(c *Change, v Value) string {
	switch t := v.Clock.UTC(); {
	case v.Clock == calendar.NoWall && c.HTML:
		return l.p.Shown.Plain(v.Text)
	case v.Clock == calendar.NoWall:
		return v.Text
	case v.Day:
		return l.say.date(t)
	default:
		return l.say.at(l.say.date(t), l.say.time(t))
	}
}

// Outside reports whether pages link other services.
func (l *layout) Outside() bool { return !l.p.o.NoExternalLinks }
