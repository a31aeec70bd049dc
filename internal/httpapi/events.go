package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	"daybook/internal/param"
	"daybook/internal/render"
	"daybook/internal/texts"
	"daybook/query"
)

// Events in other formats than JSON: what they show of a view, and what stands around them.

// eventEncoder writes events by a writer of package formats.
type eventEncoder struct {
	w       formats.Writer
	records *render.Writer
	event   formats.Event
}

// openFeed opens the encoders of a format of events.
func openFeed(format *formats.Format) func(a *api, l *listing) encoder {
	return func(a *api, l *listing) encoder {
		return &eventEncoder{w: format.Open(&l.feed), records: l.writer(a, nil)}
	}
}

func (eventEncoder *eventEncoder) begin(data []byte) []byte { return eventEncoder.w.Begin(data) }
func (eventEncoder *eventEncoder) end(data []byte) []byte   { return eventEncoder.w.End(data) }

func (eventEncoder *eventEncoder) item(data []byte, view *query.View) ([]byte, error) {
	eventEncoder.records.Event(&eventEncoder.event, view)
	return eventEncoder.w.Item(data, &eventEncoder.event), nil
}

// recordLines writes each record of a JSON list in a line.
type recordLines struct {
	jsonList
}

func openNDJSON(api *api, listing *listing) encoder {
	return &recordLines{*openJSON(api, listing).(*jsonList)} //nolint:forcetypeassert // it makes nothing else
}

func (recordLines *recordLines) begin(data []byte) []byte { return data }
func (recordLines *recordLines) end(data []byte) []byte   { return data }

func (recordLines *recordLines) item(data []byte, view *query.View) ([]byte, error) {
	recordLines.n = 0 // no comma
	data, err := recordLines.jsonList.item(data, view)
	return append(data, '\n'), err
}

// uid returns the UUID of what has a name in the store. The store is known by then.
func (api *api) uid(name string) string { return formats.UID(*api.storeID.Load(), name) }

// knowStore finds out the UUID of the store.
func (api *api) knowStore(ctx context.Context) error {
	if api.storeID.Load() != nil {
		return nil
	}
	head, err := api.Records.HeadAt(ctx, 0)
	if err == nil {
		api.storeID.Store((*uuid.UUID)(&head.UUID))
	}
	return err
}

// findOf finds the record that the path names, whose events are listed; a single read of
// it would be refused with the same error.
func (call *call) findOf(ctx context.Context) (of query.Of, err error) {
	if call.route.of == 0 {
		return of, nil
	}
	view, err := call.Queries.Read(ctx, call.route.of, call.targetOf().id, "", call.caller, call.loc.lang, query.EmbedNone, nil)
	if err == nil {
		call.record = &view
		of = query.Of{Kind: view.Record.Kind, ID: view.Record.ID}
	}
	return of, err
}

// address is that of the list, without its query (4.3).
func (call *call) address() string {
	address := call.root.Collection(call.route.kind)
	if call.record != nil {
		address = call.root.Self(call.record.Record) + "/" + calendar.KindEvent.Collection()
	}
	if call.route.Ended {
		return address + "." + call.format.Name
	}
	return address + "/"
}

// askedFor begins the key of a list that is parsed. A feed shows how it was asked for,
// and since when it stands.
func (call *call) askedFor(criteria *query.Criteria) cache.Key {
	key := call.asked().Text(criteria.Key)
	if !call.feed() {
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
		key = key.Number(call.midnight(0).Unix())
	}
	return key
}

// midnight is when a day of the site begins: the present one, or one some days later.
func (api *api) midnight(later int) time.Time {
	y, month, d := api.o.Now().In(api.o.Site).Date()
	return calendar.WallToInstant(calendar.Wall(time.Date(y, month, d+later, 0, 0, 0, 0, time.UTC).Unix()), api.o.Site)
}

// dress fills in what a feed says besides its events.
func (call *call) dress(ctx context.Context, listing *listing, generation query.Generation) error {
	if err := call.knowStore(ctx); err != nil {
		return err
	}
	head, err := call.Records.HeadAt(ctx, generation.Position)
	if err != nil {
		return err
	}
	modified := head.Time
	later := func(instant time.Time) {
		if instant.After(modified) {
			modified = instant
		}
	}
	if generation.Due != 0 {
		later(time.Unix(generation.Due, 0))
	}
	if listing.criteria.Moves {
		later(call.midnight(0))
	}
	lang := listing.criteria.Lang
	sent := param.LinksTo(listing.address, listing.criteria.Sent)
	self := sent.Page(listing.criteria.Page)
	name := call.o.CalendarName
	if name == "" {
		name = texts.Messages.In("feed.events", lang)
	}
	listing.feed = formats.Feed{
		Title: name, Calendar: name, Root: listing.root.URL, Home: listing.root.Site + "/", Self: self,
		ID: "urn:uuid:" + call.uid(self[len(listing.root.Base):]), Lang: lang, Modified: modified, Refresh: call.o.FeedRefresh, Site: call.o.Site,
		Zone: listing.criteria.Zone, Columns: listing.criteria.Fields, Venues: listing.criteria.Venues, BOM: listing.criteria.BOM, Raw: listing.criteria.Raw,
	}
	listing.name = calendar.KindEvent.Collection()
	if view := call.record; view != nil {
		of, _ := view.Record.Name(lang)
		listing.feed.Title = of + " – " + name
		listing.feed.Home = listing.root.Page(view.Record, view.Status)
		listing.name = cmp.Or(view.Record.Slug(), view.Record.Kind.String()+"-"+view.Record.ID.String())
	}
	return nil
}

// closeSurvey ends the look at the events of a calendar: one that has nothing else has
// the zone of the site.
func (api *api) closeSurvey(feed *formats.Feed, events int) {
	slices.SortFunc(feed.Tombstones, func(x, y formats.Tombstone) int { return cmp.Compare(x.ID, y.ID) })
	if events+len(feed.Tombstones) == 0 {
		feed.Zones.AddSite(api.o.Site, api.o.Now())
	}
}

// settled is how old a moment has to be to stand in Last-Modified: until then there may
// be another change in its second.
const settled = 2 * time.Second

// modifiedShown is the value of Last-Modified of a feed, "" for none.
func (call *call) modifiedShown(modified time.Time) string {
	if modified.IsZero() || call.o.Now().Sub(modified) < settled {
		return ""
	}
	return modified.UTC().Format(http.TimeFormat)
}

// unmodified reports whether If-Modified-Since says that the client has a feed.
func (call *call) unmodified(modified time.Time) bool {
	since := call.request.Header["If-Modified-Since"]
	if len(since) == 0 || len(call.request.Header["If-None-Match"]) > 0 {
		return false
	}
	shown := call.modifiedShown(modified)
	instant, err := http.ParseTime(since[0])
	return shown != "" && err == nil && instant.UTC().Format(http.TimeFormat) == shown
}

// singleEvent makes the answer of a single event in another format than JSON: a list of one.
func (call *call) singleEvent(ctx context.Context, view *query.View) (*answer, error) {
	if err := call.knowStore(ctx); err != nil {
		return nil, err
	}
	head, err := call.Records.Head(ctx)
	if err != nil {
		return nil, err
	}
	key := cache.Key(nil).Text(call.format.Name).Text(call.recordTag(call.root, call.lang, view, nil)).Number(view.Touched.UnixNano())
	return call.encode(&listing{
		root: call.root, criteria: &query.Criteria{Lang: call.lang}, list: &query.List{Views: []query.View{*view}, Position: head},
		feed: formats.Feed{Single: true, Lang: call.lang, Site: call.o.Site, Root: call.root.URL, Modified: view.Touched},
		name: cmp.Or(view.Record.Slug(), "event-"+view.Record.ID.String()),
	}, call.weakTag(key.String()))
}
