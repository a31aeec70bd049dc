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
func openFeed(format *formats.Format) func(a *api, l *listing) encoder {
	return func(a *api, l *listing) encoder {
		e := &eventEncoder{w: format.Open(&l.feed), a: a, l: l}
		if format.Marks && l.list != nil { // a single event is not searched for
			e.marks = l.writer(a, nil)
		}
		return e
	}
}

func (e *eventEncoder) begin(data []byte) []byte { return e.w.Begin(data) }
func (e *eventEncoder) end(data []byte) []byte   { return e.w.End(data) }

func (e *eventEncoder) item(data []byte, view *query.View) ([]byte, error) {
	e.a.show(&e.event, e.l.root, e.l.feed.Lang, view)
	if e.marks != nil {
		e.event.More = e.marks.AppendHighlight(e.event.More, view)
	}
	return e.w.Item(data, &e.event), nil
}

// recordLines writes each record of a JSON list in a line.
type recordLines struct {
	jsonList
}

func openNDJSON(a *api, l *listing) encoder {
	return &recordLines{*openJSON(a, l).(*jsonList)} //nolint:forcetypeassert // it makes nothing else
}

func (e *recordLines) begin(data []byte) []byte { return data }
func (e *recordLines) end(data []byte) []byte   { return data }

func (e *recordLines) item(data []byte, view *query.View) ([]byte, error) {
	e.n = 0 // no comma
	data, err := e.jsonList.item(data, view)
	return append(data, '\n'), err
}

// timesOf gives when an event is; one that is shown blanked is not all-day.
func (a *api) timesOf(record *calendar.Record, blanked bool) formats.Times {
	fields := record.Fields
	return formats.Times{
		AllDay: fields.Bool("all_day") && !blanked, Zone: a.renderer.Zone(fields.String("timezone")),
		Start: fields.Wall("start_date"), End: fields.Wall("end_date"), UTCStart: fields.Wall("utc_start_date"), UTCEnd: fields.Wall("utc_end_date"),
	}
}

// uid returns the UUID of what has a name in the store. The store is known by then.
func (a *api) uid(name string) string { return formats.UID(*a.storeID.Load(), name) }

// knowStore finds out the UUID of the store.
func (a *api) knowStore(ctx context.Context) error {
	if a.storeID.Load() != nil {
		return nil
	}
	head, err := a.Records.HeadAt(ctx, 0)
	if err == nil {
		a.storeID.Store((*uuid.UUID)(&head.UUID))
	}
	return err
}

// show makes an event of a view. What it held before is used again.
func (a *api) show(event *formats.Event, root *root, l calendar.Lang, view *query.View) {
	record := view.Record
	fields := record.Fields
	title, lang := record.Name(l)
	*event = formats.Event{
		Times: a.timesOf(record, view.Blanked), ID: record.ID, UID: a.uid(record.ID.String()), Slug: record.Slug(), Blanked: view.Blanked, Status: view.Status, Version: record.Version,
		Touched: view.Touched, Distance: view.Distance, Date: fields.Wall("date_utc"), Modified: fields.Wall("modified_utc"),
		Title: title, EventStatus: fields.EventStatus(), URL: root.Page(record, view.Status), RestURL: root.Self(record), Lang: lang, Langs: record.Langs(),
		Categories: event.Categories[:0], Tags: event.Tags[:0], Venues: event.Venues[:0], Organizers: event.Organizers[:0], More: event.More[:0],
	}
	event.More = render.AppendRepeats(event.More, view.Repeats)
	if view.Blanked {
		return
	}
	description, _ := render.HTML(record, "description", l)
	excerpt, _ := render.HTML(record, "excerpt", l)
	event.Description, event.Excerpt = htmltext.AbsoluteLinks(description, event.URL), htmltext.AbsoluteLinks(excerpt, event.URL)
	event.Website, event.Image = fields.String("website"), fields.String("image_url")
	cost := calendar.ReadCost(fields.Strings("cost"), a.o.Currency)
	event.Cost, event.CostValues = cost.Text, cost.Values
	event.Ticketed, event.Featured = fields.Bool("ticketed"), fields.Bool("featured")
	if parent := fields.ID("post_parent"); parent != 0 {
		event.Parent = a.uid(parent.String())
	}
	event.Categories, event.Tags = appendTerms(event.Categories, view.Categories, l), appendTerms(event.Tags, view.Tags, l)
	for _, linked := range view.Venues {
		fields := linked.Record.Fields
		name, _ := linked.Record.Name(l)
		place := formats.Venue{
			ID: linked.Record.ID, Name: name, Address: fields.String("address"), City: fields.String("city"), StateProvince: render.StateProvince(fields),
			Zip: fields.String("zip"), Country: fields.String("country"), URL: root.Page(linked.Record, linked.Status),
		}
		place.Lat, place.Lng, place.HasPoint = render.Point(fields)
		event.Venues = append(event.Venues, place)
	}
	for _, linked := range view.Organizers {
		fields := linked.Record.Fields
		name, _ := linked.Record.Name(l)
		event.Organizers = append(event.Organizers, formats.Organizer{
			ID: linked.Record.ID, Name: name, Phone: fields.String("phone"), Email: fields.String("email"), Website: fields.String("website"),
			URL: root.Page(linked.Record, linked.Status),
		})
	}
}

func appendTerms(to []formats.Term, terms []query.LinkedView, lang calendar.Lang) []formats.Term {
	for _, t := range terms {
		name, _ := t.Record.Name(lang)
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
	view, err := c.Queries.Read(ctx, c.route.of, c.targetOf().id, "", c.caller, c.loc.lang, query.EmbedNone, nil)
	if err == nil {
		c.record = &view
		of = query.Of{Kind: view.Record.Kind, ID: view.Record.ID}
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
	key := c.asked().Text(criteria.Key)
	if !c.feed() {
		return key
	}
	paged := int64(0)
	if criteria.Paged {
		paged = 1
	}
	key = key.Number(paged).Number(int64(len(criteria.Sent)))
	for _, linkParam := range criteria.Sent {
		key = key.Text(linkParam.Name).Text(linkParam.Value)
	}
	if criteria.Moves {
		key = key.Number(c.today().Unix())
	}
	return key
}

// today is when the day of the site began.
func (a *api) today() time.Time {
	y, month, d := a.o.Now().In(a.o.Site).Date()
	return calendar.WallToInstant(calendar.Wall(time.Date(y, month, d, 0, 0, 0, 0, time.UTC).Unix()), a.o.Site)
}

// dress fills in what a feed says besides its events.
func (c *call) dress(ctx context.Context, l *listing, generation query.Generation) error {
	if err := c.knowStore(ctx); err != nil {
		return err
	}
	head, err := c.Records.HeadAt(ctx, generation.Position)
	if err != nil {
		return err
	}
	modified := head.Time
	later := func(t time.Time) {
		if t.After(modified) {
			modified = t
		}
	}
	if generation.Due != 0 {
		later(time.Unix(generation.Due, 0))
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
	if view := c.record; view != nil {
		of, _ := view.Record.Name(lang)
		l.feed.Title = of + " – " + name
		l.feed.Home = l.root.Page(view.Record, view.Status)
		l.name = cmp.Or(view.Record.Slug(), view.Record.Kind.String()+"-"+view.Record.ID.String())
	}
	return nil
}

// closeSurvey ends the look at the events of a calendar: one that has nothing else has
// the zone of the site.
func (a *api) closeSurvey(feed *formats.Feed, events int) {
	slices.SortFunc(feed.Tombstones, func(x, y formats.Tombstone) int { return cmp.Compare(x.ID, y.ID) })
	if events+len(feed.Tombstones) == 0 {
		feed.Zones.AddSite(a.o.Site, a.o.Now())
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
func (c *call) singleEvent(ctx context.Context, view *query.View) (*answer, error) {
	if err := c.knowStore(ctx); err != nil {
		return nil, err
	}
	head, err := c.Records.Head(ctx)
	if err != nil {
		return nil, err
	}
	l := &listing{root: c.root, criteria: &query.Criteria{Lang: c.lang}, feed: formats.Feed{Single: true, Lang: c.lang, Site: c.o.Site, Root: c.root.URL}}
	l.feed.Zones.Add(new(c.timesOf(view.Record, view.Blanked)))
	encoder := c.format.open(c.api, l)
	data, err := encoder.item(encoder.begin(nil), view)
	if err != nil {
		return nil, err
	}
	if data = encoder.end(data); len(data) > c.o.MaxAnswer {
		return nil, query.ErrTooLarge
	}
	key := cache.Key(nil).Text(c.format.Name).Text(c.recordTag(c.root, c.lang, view, nil)).Number(view.Touched.UnixNano())
	ans := newAnswer(data, c.format.header, c.weakTag(key.String()), c.lang)
	ans.modified = view.Touched
	ans.add(headerPosition, head.String())
	ans.add(headerDisposition, c.format.disposition(cmp.Or(view.Record.Slug(), "event-"+strconv.FormatInt(int64(view.Record.ID), 10))))
	return ans, nil
}
