package render

import "daybook/calendar"

// Links are the URLs of records as a client reaches them.
type Links struct {
	Base   string // scheme, host and path of the base URL, no slash at the end
	Site   string // Base and the language segment: what public pages begin with
	URL    string // Site, prefix and namespace: {root}
	Global string // host, port and path of the base URL: what global ids begin with
	Secret uint64 // identifies the links within this process; no client can find others of the same
}

// pages are the public pages of each kind, below the site (2.7).
var pages = [...]string{
	calendar.KindEvent: "/event/", calendar.KindVenue: "/venue/", calendar.KindOrganizer: "/organizer/",
	calendar.KindCategory: "/events/category/", calendar.KindTag: "/events/tag/",
}

// Page returns the URL of the public page of a record whose status is status ("" for terms).
func (links *Links) Page(record *calendar.Record, status calendar.Status) string {
	slug := record.Slug()
	shown := status == calendar.StatusPublish || status == calendar.StatusFuture || status == calendar.StatusPrivate
	if record.Kind.IsPost() && (slug == "" || !shown) {
		return links.Base + "/?" + record.Kind.String() + "=" + record.ID.String()
	}
	return links.Site + pages[record.Kind] + slug + "/"
}

// Collection returns the URL of a collection, without a slash at the end.
func (links *Links) Collection(kind calendar.Kind) string { return links.URL + "/" + kind.Collection() }

// Self returns the URL of a record.
func (links *Links) Self(record *calendar.Record) string {
	return links.Collection(record.Kind) + "/" + record.ID.String()
}

// globalID returns the text that names a record everywhere.
func (links *Links) globalID(id calendar.ID) string { return links.Global + "?id=" + id.String() }
