package httpapi

import (
	"strings"

	"daybook/calendar"
)

// pages are the public pages of each kind, below the site (2.7).
var pages = [...]string{
	calendar.KindEvent: "/event/", calendar.KindVenue: "/venue/", calendar.KindOrganizer: "/organizer/",
	calendar.KindCategory: "/events/category/", calendar.KindTag: "/events/tag/",
}

// page gives the URL of the public page of a record whose status is status
// ("" for terms).
func (r *root) page(rec *calendar.Record, status calendar.Status) string {
	slug := rec.Slug()
	if rec.Kind.IsPost() {
		switch status {
		case calendar.StatusPublish, calendar.StatusFuture, calendar.StatusPrivate:
		default:
			slug = ""
		}
		if slug == "" {
			return r.base + "/?" + rec.Kind.String() + "=" + rec.ID.String()
		}
	}
	return r.site + pages[rec.Kind] + slug + "/"
}

// self gives the URL of a record.
func (r *root) self(rec *calendar.Record) string {
	return r.collection(rec.Kind) + "/" + rec.ID.String()
}

// globalID gives the text that names a record everywhere.
func (r *root) globalID(id calendar.ID) string { return r.global + "?id=" + id.String() }

// extension gives the ending of the last path segment of an image URL: lower
// case, without its dot, letters and digits only; else "" (3.5).
func extension(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	_, url, _ = strings.Cut(url, "://")
	_, path, ok := strings.Cut(url, "/")
	if !ok {
		return ""
	}
	segment := path[strings.LastIndexByte(path, '/')+1:]
	i := strings.LastIndexByte(segment, '.')
	if i < 0 {
		return ""
	}
	ext := segment[i+1:]
	for j := range len(ext) {
		if !isAlphanumeric(ext[j]) {
			return ""
		}
	}
	return strings.ToLower(ext)
}
