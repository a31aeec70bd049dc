package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	"daybook/internal/htmltext"
	"daybook/internal/render"
	"daybook/internal/texts"
	"daybook/query"
)

// Events in other formats than JSON: what they show of a view, and what stands around them.

// eventEncoder writes events by a writer of package formats.
type eventEncoder struct {
	w     formats.Writer
	a     *api
	l     *listing
	event formats.Event
	marks *render.Writer // of formats that show what a search matches, else nil
}

// openFeed opens the encoders of a format of events.
func openFeed(f *formats.Format) func(a *api, l *listing) encoder {
	return func(a *api, l *listing) encoder {
		e := &eventEncoder{w: f.Open(&l.feed), a: a, l: l}
		if f.Marks && l.list != nil { // a single event is not searched for
			e.marks = l.writer(a, nil)
		}
		return e
	}
}

func (e *eventEncoder) begin(b []byte) []byte { return e.w.Begin(b) }
func (e *eventEncoder) end(b []byte) []byte   { return e.w.End(b) }

func (e *eventEncoder) item(b []byte, v *query.View) ([]byte, error) {
	e.a.show(&e.event, e.l.root, e.l.feed.Lang, v)
	if e.marks != nil {
		e.event.More = e.marks.AppendHighlight(e.event.More, v)
	}
	return e.w.Item(b, &e.event), nil
}

// recordLines writes each record of a JSON list in a line.
type recordLines struct {
	jsonList
}

func openNDJSON(a *api, l *listing) encoder {
	return &recordLines{*openJSON(a, l).(*jsonList)} //nolint:forcetypeassert // it makes nothing else
}

func (e *recordLines) begin(b []byte) []byte { return b }
func (e *recordLines) end(b []byte) []byte   { return b }

func (e *recordLines) item(b []byte, v *query.View) ([]byte, error) {
	e.n = 0 // no comma
	b, err := e.jsonList.item(b, v)
	return append(b, '\n'), err
}

// timesOf gives when an event is; one that is shown blanked is not all-day.
func (a *api) timesOf(r *calendar.Record, blanked bool) formats.Times {
	f := r.Fields
	return formats.Times{
		AllDay: f.Bool("all_day") && !blanked, Zone: a.renderer.Zone(f.String("timezone")),
		Start: f.Wall("start_date"), End: f.Wall("end_date"), UTCStart: f.Wall("utc_start_date"), UTCEnd: f.Wall("utc_end_date"),
	}
}

// uid returns the UUID of what has a name in the store. The store is known by then.
func (a *api) uid(name string) string { return formats.UID(*a.storeID.Load(), name) }

// knowStore finds out the UUID of the store.
func (a *api) knowStore(ctx context.Context) error {
	if a.storeID.Load() != nil {
		return nil
	}
	id, err := a.Records.StoreID(ctx)
	if err == nil {
		a.storeID.Store((*uuid.UUID)(&id))
	}
	return err
}

// show makes an event of a view. What it held before is used again.
func (a *api) show(e *formats.Event, root *root, l calendar.Lang, v *query.View) {
	r := v.Record
	f := r.Fields
	title, lang := r.Name(l)
	*e = formats.Event{
		Times: a.timesOf(r, v.Blanked), ID: r.ID, UID: a.uid(r.ID.String()), Slug: r.Slug(), Blanked: v.Blanked, Status: v.Status, Version: r.Version,
		Touched: v.Touched, Distance: v.Distance, Date: f.Wall("date_utc"), Modified: f.Wall("modified_utc"),
		Title: title, EventStatus: f.EventStatus(), URL: root.Page(r, v.Status), RestURL: root.Self(r), Lang: lang, Langs: r.Langs(),
		Categories: e.Categories[:0], Tags: e.Tags[:0], Venues: e.Venues[:0], Organizers: e.Organizers[:0], More: e.More[:0],
	}
	e.More = render.AppendRepeats(e.More, v.Repeats)
	if v.Blanked {
		return
	}
	description, _ := render.HTML(r, "description", l)
	excerpt, _ := render.HTML(r, "excerpt", l)
	e.Description, e.Excerpt = htmltext.AbsoluteLinks(description, e.URL), htmltext.AbsoluteLinks(excerpt, e.URL)
	e.Website, e.Image = f.String("website"), f.String("image_url")
	cost := calendar.ReadCost(f.Strings("cost"), a.o.Currency)
	e.Cost, e.CostValues = cost.Text, cost.Values
	e.Ticketed, e.Featured = f.Bool("ticketed"), f.Bool("featured")
	if parent := f.ID("post_parent"); parent != 0 {
		e.Parent = a.uid(parent.String())
	}
	e.Categories, e.Tags = appendTerms(e.Categories, v.Categories, l), appendTerms(e.Tags, v.Tags, l)
	for _, linked := range v.Venues {
		f := linked.Record.Fields
		name, _ := linked.Record.Name(l)
		place := formats.Venue{
			ID: linked.Record.ID, Name: name, Address: f.String("address"), City: f.String("city"), StateProvince: render.StateProvince(f),
			Zip: f.String("zip"), Country: f.String("country"), URL: root.Page(linked.Record, linked.Status),
		}
		place.Lat, place.Lng, place.HasPoint = render.Point(f)
		e.Venues = append(e.Venues, place)
	}
	for _, linked := range v.Organizers {
		f := linked.Record.Fields
		name, _ := linked.Record.Name(l)
		e.Organizers = append(e.Organizers, formats.Organizer{
			ID: linked.Record.ID, Name: name, Phone: f.String("phone"), Email: f.String("email"), Website: f.String("website"),
			URL: root.Page(linked.Record, linked.Status),
		})
	}
}

func appendTerms(to []formats.Term, terms []query.LinkedView, l calendar.Lang) []formats.Term {
	for _, t := range terms {
		name, _ := t.Record.Name(l)
		to = append(to, formats.Term{ID: t.Record.ID, Slug: t.Record.Slug(), Name: name})
	}
	return to
}

// findOf finds the record that the path names, whose events are listed; a single read of
// it would be refused with the same error.
func (c *call) findOf(ctx context.Context) (of query.Of, err error) {
	if c.route.of == 0 {
		return of, nil
	}
	v, err := c.Queries.Read(ctx, c.route.of, c.targetOf().id, "", c.caller, c.loc.lang, query.EmbedNone, nil)
	if err == nil {
		c.record = &v
		of = query.Of{Kind: v.Record.Kind, ID: v.Record.ID}
	}
	return of, err
}

// address is that of the list, without its query (4.3).
func (c *call) address() string {
	address := c.root.Collection(c.route.kind)
	if c.record != nil {
		address = c.root.Self(c.record.Record) + "/" + calendar.KindEvent.Collection()
	}
	if c.route.Ended {
		return address + "." + c.format.Name
	}
	return address + "/"
}

// askedFor begins the key of a list that is parsed. A feed shows how it was asked for,
// and since when it stands.
func (c *call) askedFor(criteria *query.Criteria) cache.Key {
	k := c.asked().Text(criteria.Key)
	if !c.feed() {
		return k
	}
	paged := int64(0)
	if criteria.Paged {
		paged = 1
	}
	k = k.Number(paged).Number(int64(len(criteria.Sent)))
	for _, p := range criteria.Sent {
		k = k.Text(p.Name).Text(p.Value)
	}
	if criteria.Moves {
		k = k.Number(c.today().Unix())
	}
	return k
}

// today is when the day of the site began.
func (a *api) today() time.Time {
	y, m, d := a.o.Now().In(a.o.Site).Date()
	return calendar.WallToInstant(calendar.Wall(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()), a.o.Site)
}

// dress fills in what a feed says besides its events.
func (c *call) dress(ctx context.Context, l *listing, g query.Generation) error {
	if err := c.knowStore(ctx); err != nil {
		return err
	}
	modified, err := c.Records.LastChange(ctx, g.Position)
	if err != nil {
		return err
	}
	later := func(t time.Time) {
		if t.After(modified) {
			modified = t
		}
	}
	if g.Due != 0 {
		later(time.Unix(g.Due, 0))
	}
	if l.criteria.Moves {
		later(c.today())
	}
	lang := l.criteria.Lang
	sent := query.LinksTo(l.address, l.criteria.Sent)
	self := sent.Page(l.criteria.Page)
	name := c.o.CalendarName
	if name == "" {
		name = texts.Messages.In("feed.events", lang)
	}
	l.feed = formats.Feed{
		Title: name, Calendar: name, Root: l.root.URL, Home: l.root.Site + "/", Self: self,
		ID: "urn:uuid:" + c.uid(self[len(l.root.Base):]), Lang: lang, Modified: modified, Refresh: c.o.FeedRefresh, Site: c.o.Site,
		Columns: l.criteria.Fields, Venues: l.criteria.Venues, BOM: l.criteria.BOM, Raw: l.criteria.Raw,
	}
	l.name = calendar.KindEvent.Collection()
	if v := c.record; v != nil {
		of, _ := v.Record.Name(lang)
		l.feed.Title = of + " – " + name
		l.feed.Home = l.root.Page(v.Record, v.Status)
		l.name = cmp.Or(v.Record.Slug(), v.Record.Kind.String()+"-"+v.Record.ID.String())
	}
	return nil
}

// closeSurvey ends the look at the events of a calendar: one that has nothing else has
// the zone of the site.
func (a *api) closeSurvey(f *formats.Feed, events int) {
	slices.SortFunc(f.Tombstones, func(x, y formats.Tombstone) int { return cmp.Compare(x.ID, y.ID) })
	if events+len(f.Tombstones) == 0 {
		f.Zones.AddSite(a.o.Site, a.o.Now())
	}
}

// settled is how old a moment has to be to stand in Last-Modified: until then there may
// be another change in its second.
const settled = 2 * time.Second

// modifiedShown is the value of Last-Modified of a feed, "" for none.
func (c *call) modifiedShown(modified time.Time) string {
	if !c.feed() || modified.IsZero() || c.o.Now().Sub(modified) < settled {
		return ""
	}
	return modified.UTC().Format(http.TimeFormat)
}

// unmodified reports whether If-Modified-Since says that the client has a feed.
func (c *call) unmodified(modified time.Time) bool {
	since := c.r.Header["If-Modified-Since"]
	if len(since) == 0 || len(c.r.Header["If-None-Match"]) > 0 {
		return false
	}
	shown := c.modifiedShown(modified)
	t, err := http.ParseTime(since[0])
	return shown != "" && err == nil && t.UTC().Format(http.TimeFormat) == shown
}

// singleEvent makes the answer of a single event in another format than JSON.
func (c *call) singleEvent(ctx context.Context, v *query.View) (*answer, error) {
	if err := c.knowStore(ctx); err != nil {
		return nil, err
	}
	head, err := c.Records.Head(ctx)
	if err != nil {
		return nil, err
	}
	l := &listing{root: c.root, criteria: &query.Criteria{Lang: c.lang}, feed: formats.Feed{Single: true, Lang: c.lang, Site: c.o.Site, Root: c.root.URL}}
	l.feed.Zones.Add(new(c.timesOf(v.Record, v.Blanked)))
	e := c.format.open(c.api, l)
	b, err := e.item(e.begin(nil), v)
	if err != nil {
		return nil, err
	}
	if b = e.end(b); len(b) > c.o.MaxAnswer {
		return nil, query.ErrTooLarge
	}
	key := cache.Key(nil).Text(c.format.Name).Text(c.recordTag(c.root, c.lang, v, nil)).Number(v.Touched.UnixNano())
	ans := newAnswer(b, c.format.header, c.weakTag(key.String()), c.lang)
	ans.modified = v.Touched
	ans.add(headerPosition, head.String())
	ans.add(headerDisposition, c.format.disposition(cmp.Or(v.Record.Slug(), "event-"+strconv.FormatInt(int64(v.Record.ID), 10))))
	return ans, nil
}
