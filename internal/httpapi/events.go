package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/ground/cache"
	"daybook/internal/param"
	"daybook/internal/texts"
	"daybook/query"
)

// findOf finds the record that the path names, whose events are listed; a single read of
// it would be refused with the same error.
func (call *call) findOf() error {
	if call.route.Of == 0 {
		return nil
	}
	view, err := call.Queries.Read(call.context, call.route.Of, call.target.ID, "", call.caller, call.location.language, query.EmbedNone, nil)
	if err == nil {
		call.record = &view
	}
	return err
}

// askedFor begins the key of a list that is parsed. A feed shows how it was asked for, and since when
// it stands.
func (call *call) askedFor() cache.Key {
	key := call.asked().Text(call.criteria.Key)
	if !call.feed() {
		return key
	}
	if key = key.Text(call.request.URL.RawQuery); call.criteria.Moves {
		key = key.Number(call.midnight(0).Unix())
	}
	return key
}

// midnight is when a day of the site begins: the present one, or one some days later.
func (api *api) midnight(later int) time.Time {
	year, month, days := api.Now().In(api.Site).Date()
	return calendar.WallToInstant(calendar.Wall(time.Date(year, month, days+later, 0, 0, 0, 0, time.UTC).Unix()), api.Site)
}

// dress fills in what a feed says besides its events.
func (call *call) dress(ctx context.Context, listing *listing) error {
	head, err := call.Records.HeadAt(ctx, call.state.Position)
	if err != nil {
		return err
	}
	criteria, moments := call.criteria, []time.Time{head.Time}
	if call.state.Due != 0 {
		moments = append(moments, time.Unix(call.state.Due, 0))
	}
	if criteria.Moves {
		moments = append(moments, call.midnight(0))
	}
	sent := param.LinksTo(call.address(), criteria.Sent)
	self, name := sent.Page(criteria.Page), cmp.Or(call.CalendarName, texts.Messages.In("feed.events", criteria.Lang))
	listing.Feed = formats.Feed{
		Title: name, Calendar: name, Root: call.root.URL, Home: call.root.Site + "/", Self: self,
		ID: "urn:uuid:" + formats.UID(head.UUID, self[len(call.root.Base):]), Lang: criteria.Lang, Modified: slices.MaxFunc(moments, time.Time.Compare), Refresh: call.FeedRefresh, Site: call.Site,
		Store: head.UUID, Zone: criteria.Zone, Columns: criteria.Fields, Venues: criteria.Venues, BOM: criteria.BOM, Raw: criteria.Raw,
	}
	listing.name = calendar.KindEvent.Collection()
	if view := call.record; view != nil {
		of, _ := view.Record.Name(criteria.Lang)
		listing.Title, listing.Home, listing.name = of+" – "+name, call.root.Page(view.Record, view.Status), fileOf(view.Record)
	}
	return nil
}

// fileOf names the file of a record.
func fileOf(record *calendar.Record) string {
	return cmp.Or(record.Slug(), record.Kind.String()+"-"+record.ID.String())
}

// settled is how old a moment has to be to stand in Last-Modified: until then there may
// be another change in its second.
const settled = 2 * time.Second

// modifiedShown is the value of Last-Modified of a feed, "" for none.
func (call *call) modifiedShown(modified time.Time) string {
	if modified.IsZero() || call.Now().Sub(modified) < settled {
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
	instant, err := http.ParseTime(since[0])
	return err == nil && call.modifiedShown(modified) != "" && instant.Unix() == modified.Unix()
}

// singleEvent makes the answer of a single event in another format than JSON: a list of one.
func (call *call) singleEvent(ctx context.Context, view *query.View) (*answer, error) {
	head, err := call.Records.HeadAt(ctx, 0)
	if err != nil {
		return nil, err
	}
	key := cache.Key(nil).Text(call.format.Name).Text(call.recordTag(&call.root, call.language, view, nil)).Number(view.Touched.UnixNano())
	call.criteria = &query.Criteria{Request: query.Request{Lang: call.language}}
	return call.encode(&listing{
		Feed: formats.Feed{Single: true, Lang: call.language, Site: call.Site, Root: call.root.URL, Modified: view.Touched, Store: head.UUID},
		list: &query.List{Views: []query.View{*view}, Position: head.Position}, name: fileOf(view.Record),
	}, call.weakTag(key.String()))
}
