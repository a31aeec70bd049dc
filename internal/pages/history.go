package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

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
	Name, Language string
	Back           link
	Items          []toldItem
	Empty          *empty
	Pager          *pager
	Compare        compareForm
	Difference     *differenceBody
}

// toldItem is a version in the list.
type toldItem struct {
	Version    int64
	Position   calendar.Position
	Time, When string
	Label      string // version 3
	Sentence   string
	Actor      string
	Reason     string
	Changes    []changeRow
	Href       string // of the page as of the version, "" for none
}

// changeRow is a field that differs.
type changeRow struct {
	Field, Label  string
	Before, After valueCell
}

// valueCell is one value; of long texts Went or Came are what is shown.
type valueCell struct {
	Text       string
	Went, Came []string
}

// compareForm asks for two versions.
type compareForm struct {
	Action string
	Fields []compareField
	Kept   []query.LinkParam
}

type compareField struct{ Name, Label, Value, Problem string }

// tell puts a problem beside its field, where the form has it.
func (f *compareForm) tell(p *problem) bool {
	if f == nil {
		return false
	}
	i := slices.IndexFunc(f.Fields, func(c compareField) bool { return c.Name == p.Field })
	if i < 0 {
		return false
	}
	f.Fields[i].Problem = p.Message
	p.Label, p.compares = f.Fields[i].Label, true
	return true
}

// Colon stands between a name and its value.
func (l *layout) Colon() string { return l.colon() }

// differenceBody is what differs between two versions.
type differenceBody struct {
	Heading, Sentence string
	Changes           []changeRow
}

// serveHistory answers the past of a record (PAGES.md P2.6).
func (p *Pages) serveHistory(ctx context.Context, l *layout) (*Answer, error) {
	r, route := l.r, &l.r.Route
	if !p.Past.Open(r.Caller) {
		return nil, notFound(route.kind)
	}
	v, err := p.Lists.Read(ctx, route.kind, 0, route.slug, r.Caller, l.Lang, query.EmbedNone, nil)
	if err != nil {
		return p.missing(ctx, r, err)
	}
	asked, err := p.askHistory(l)
	if err != nil {
		return nil, err
	}
	rec := v.Record
	name, in := rec.Name(l.Lang)
	path := recordPath(rec.Kind, rec.Slug())
	b := &historyBody{
		Name: name, Language: otherLang(in, l.Lang), Back: link{Href: l.Href(path), Label: name, Lang: otherLang(in, l.Lang)},
		Compare: p.compareForm(l),
	}
	l.Title, l.Named = word("event.history", l.Lang)+l.colon()+name, name
	l.Heading, l.NoIndex = l.Title, true
	l.Canonical, l.Langs, l.Home = path+"history/", rec.Langs(), homeOf(rec, l.Lang)
	if l.Crumbs, err = p.wayToHistory(ctx, l, rec); err != nil {
		return nil, err
	}
	if asked.page > 1 {
		l.Canonical += "?" + paramPage + "=" + strconv.Itoa(asked.page)
	}
	told, err := p.Past.History(ctx, r.reader(), rec, asked.page, versionsPerPage)
	if err != nil {
		return nil, hidden(rec.Kind, err)
	}
	if asked.page > max(told.Pages, 1) {
		return nil, notFound(rec.Kind)
	}
	for i := range told.Told {
		b.Items = append(b.Items, p.toldItem(l, rec, &told.Told[i]))
	}
	if told.Only && len(told.Told) > 0 {
		since := told.Told[0].Time.In(p.zoneOf(l).Location)
		b.Empty = &empty{Text: l.text("history.same", l.say.date(since)), Links: []link{b.Back}}
	}
	b.Pager = l.pagerOf(told.Pages, func(n int) string { return l.Href(path+"history/") + l.historyQuery(n) })
	if asked.compares {
		d, err := p.Past.Compare(ctx, r.reader(), rec, asked.from, asked.to)
		if err != nil {
			return nil, hidden(rec.Kind, err)
		}
		b.Difference = &differenceBody{Heading: l.text("history.version", l.say.number(int(d.To.Number))), Sentence: d.Sentence, Changes: p.changeRows(l, d.Changes)}
		if d.From.Number > 0 {
			b.Difference.Heading = l.text("compare.heading", l.say.number(int(d.From.Number)), l.say.number(int(d.To.Number)))
		}
	}
	l.Body = b
	return p.render(l, http.StatusOK)
}

// wayToHistory are the crumbs of a history page.
func (p *Pages) wayToHistory(ctx context.Context, l *layout, r *calendar.Record) (way []link, err error) {
	if r.Kind == calendar.KindEvent {
		name, in := r.Name(l.Lang)
		way = []link{
			{Href: l.Href("/"), Label: word("nav.home", l.Lang)},
			{Href: l.Href("/events/"), Label: word("nav.list", l.Lang)},
			{Href: l.Href(recordPath(r.Kind, r.Slug())), Label: name, Lang: otherLang(in, l.Lang)},
		}
	} else if way, err = p.wayTo(ctx, l, r); err != nil {
		return nil, err
	}
	way[len(way)-1].Current = false
	return append(way, link{Href: l.Href(l.r.Route.below()), Label: word("event.history", l.Lang), Current: true}), nil
}

// askedHistory are the parameters of a history page.
type askedHistory struct {
	page     int
	from, to int64
	compares bool
}

// askHistory reads the parameters of a history page; empty ones are not sent.
func (p *Pages) askHistory(l *layout) (asked askedHistory, err error) {
	var bad calendar.Problems
	number := func(name string) int64 {
		text := calendar.Trim(l.r.Query.Get(name))
		if text == "" {
			return 0
		}
		n, ok := calendar.ParseNearestInt(text)
		switch {
		case !ok:
			bad.Add(name, calendar.ReasonTypeInteger)
		case n < 1:
			bad.Add(name, calendar.ReasonTooSmall, "1")
		}
		return n
	}
	l.sel = &selection{}
	var ok bool
	if l.sel.zone, ok = zoneOf(l.r.Query.Get(paramZone)); !ok {
		bad.Add(paramZone, calendar.ReasonZone, l.r.Query.Get(paramZone))
	}
	for _, name := range []string{paramPage, paramFrom, paramTo} {
		if v := l.r.Query.Get(name); v != "" {
			l.own = append(l.own, query.LinkParam{Name: name, Value: v})
		}
	}
	asked.page = int(min(max(number(paramPage), 1), 1<<31))
	asked.from, asked.to = number(paramFrom), number(paramTo)
	asked.compares = asked.from != 0 || asked.to != 0
	l.sel.page = asked.page
	return asked, bad.Err()
}

// historyQuery is the query of a page of the history.
func (l *layout) historyQuery(page int) string {
	q := url.Values{}
	if page > 1 {
		q.Set(paramPage, strconv.Itoa(page))
	}
	if l.sel.zone != nil {
		q.Set(paramZone, l.sel.zone.Name)
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// compareForm makes the form with what was sent.
func (p *Pages) compareForm(l *layout) compareForm {
	out := compareForm{Action: l.Href(l.r.Route.below())}
	for _, name := range []string{paramFrom, paramTo} {
		out.Fields = append(out.Fields, compareField{Name: name, Label: word("compare."+name, l.Lang), Value: l.r.Query.Get(name)})
	}
	if v := l.r.Query.Get(paramZone); v != "" {
		out.Kept = append(out.Kept, query.LinkParam{Name: paramZone, Value: v})
	}
	return out
}

func (p *Pages) toldItem(l *layout, r *calendar.Record, t *Told) toldItem {
	in := t.Time.In(p.zoneOf(l).Location)
	item := toldItem{
		Version: t.Number, Position: t.Position, Time: in.Format(instantLayout), When: p.momentOf(l, t.Time),
		Label: l.text("history.version", l.say.number(int(t.Number))), Sentence: t.Sentence, Changes: p.changeRows(l, t.Changes),
		Actor: t.Actor, Reason: t.Reason,
	}
	if r.Kind == calendar.KindEvent {
		item.Href = l.Href(recordPath(r.Kind, r.Slug())) + "?" + paramAsOf + "=version%3A" + strconv.FormatInt(t.Number, 10)
	}
	return item
}

func (p *Pages) changeRows(l *layout, changes []Change) []changeRow {
	out := make([]changeRow, len(changes))
	for i, c := range changes {
		out[i] = changeRow{Field: c.Field, Label: c.Label, Before: p.valueCell(l, c.Before), After: p.valueCell(l, c.After)}
		if c.Before.Clock != calendar.NoWall || c.After.Clock != calendar.NoWall {
			continue
		}
		before, after := c.Before.Text, c.After.Text
		if c.HTML {
			before, after = p.Shown.Plain(before), p.Shown.Plain(after)
		}
		if c.HTML || isLong(before, after) {
			out[i].Before, out[i].After = valueCell{}, valueCell{}
			out[i].Before.Went, out[i].After.Came = differ(before, after)
		}
	}
	return out
}

// valueCell writes a value; a clock as it stands on the wall.
func (p *Pages) valueCell(l *layout, v Value) valueCell {
	if v.Clock == calendar.NoWall {
		return valueCell{Text: v.Text}
	}
	t := v.Clock.UTC()
	return valueCell{Text: l.say.at(l.say.date(t), l.say.time(t))}
}
