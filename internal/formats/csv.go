package formats

import (
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
)

// csvCell is the cell of an event in a column. A spreadsheet may take texts for formulas.
type csvCell struct {
	column, text string
	guarded      bool
}

// csvCells returns the cells of an event in the order of the columns.
func csvCells(e *Event) []csvCell {
	flag := func(v bool) string {
		if e.Blanked {
			return ""
		}
		return strconv.FormatBool(v)
	}
	var venue Venue
	if len(e.Venues) > 0 {
		venue = e.Venues[0]
	}
	var latitude, longitude string
	if lat, lng, ok := e.Point(); ok {
		latitude, longitude = string(appendFloat(nil, lat)), string(appendFloat(nil, lng))
	}
	return []csvCell{
		{"id", e.ID.String(), false},
		{"uid", e.UID, false},
		{"title", e.Title, true},
		{"start_date", e.Start.String(), false},
		{"end_date", e.End.String(), false},
		{"timezone", e.Zone.Name, true},
		{"all_day", flag(e.AllDay), false},
		{"utc_start_date", e.UTCStart.String(), false},
		{"utc_end_date", e.UTCEnd.String(), false},
		{"status", string(e.Status), true},
		{"event_status", string(e.EventStatus), true},
		{"url", e.URL, true},
		{"website", e.Website, true},
		{"cost", e.Cost, true},
		{"cost_values", strings.Join(e.CostValues, "; "), true},
		{"ticketed", flag(e.Ticketed), false},
		{"featured", flag(e.Featured), false},
		{"categories", names(e.Categories, (*Term).name), true},
		{"category_ids", ids(e.Categories, (*Term).id), false},
		{"tags", names(e.Tags, (*Term).name), true},
		{"tag_ids", ids(e.Tags, (*Term).id), false},
		{"venues", names(e.Venues, (*Venue).name), true},
		{"venue_ids", ids(e.Venues, (*Venue).id), false},
		{"address", venue.Address, true},
		{"city", venue.City, true},
		{"stateprovince", venue.StateProvince, true},
		{"zip", venue.Zip, true},
		{"country", venue.Country, true},
		{"geo_lat", latitude, false},
		{"geo_lng", longitude, false},
		{"organizers", names(e.Organizers, (*Organizer).name), true},
		{"organizer_ids", ids(e.Organizers, (*Organizer).id), false},
		{"excerpt", e.plainExcerpt(), true},
		{"description", e.plainDescription(), true},
		{"image", e.Image, true},
		{"language", e.Lang.String(), true},
		{"languages", names(e.Langs, func(l *calendar.Lang) string { return l.String() }), true},
		{"date_utc", e.Date.String(), false},
		{"modified_utc", e.Modified.String(), false},
	}
}

func (t *Term) name() string         { return t.Name }
func (t *Term) id() calendar.ID      { return t.ID }
func (v *Venue) name() string        { return v.Name }
func (v *Venue) id() calendar.ID     { return v.ID }
func (o *Organizer) name() string    { return o.Name }
func (o *Organizer) id() calendar.ID { return o.ID }

func names[T any](list []T, name func(*T) string) string { return joinedBy("; ", list, name) }

func ids[T any](list []T, id func(*T) calendar.ID) string {
	return joinedBy(" ", list, func(v *T) string { return id(v).String() })
}

func joinedBy[T any](separator string, list []T, text func(*T) string) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = text(&list[i])
	}
	return strings.Join(texts, separator)
}

var csvFormat = Format{
	Name: "csv", Media: []string{"text/csv"}, Header: "text/csv; charset=utf-8; header=present",
	Disposition: attachment, Extension: "csv", Open: CSV,
}

// CSV writes RFC 4180 with a header row.
func CSV(f *Feed) Writer { return &csvWriter{f: f} }

type csvWriter struct{ f *Feed }

func (w *csvWriter) Begin(b []byte) []byte {
	if w.f.BOM {
		b = append(b, "\uFEFF"...)
	}
	return w.row(b, &Event{}, func(b []byte, c *csvCell) []byte { return append(b, c.column...) })
}

func (w *csvWriter) Item(b []byte, e *Event) []byte {
	return w.row(b, e, func(b []byte, c *csvCell) []byte { return AppendCell(b, c.text, c.guarded && !w.f.Raw) })
}

// row writes the columns that were picked; the first one where there are none of them.
func (w *csvWriter) row(b []byte, e *Event, write func([]byte, *csvCell) []byte) []byte {
	cells := csvCells(e)
	first := cells[0]
	if w.f.Columns != nil {
		cells = slices.DeleteFunc(cells, func(c csvCell) bool { return !slices.Contains(w.f.Columns, c.column) })
	}
	if len(cells) == 0 {
		cells = []csvCell{first}
	}
	for i := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(b, &cells[i])
	}
	return append(b, "\r\n"...)
}

func (w *csvWriter) End(b []byte) []byte { return b }

// AppendCell writes a cell. Guarded, what a spreadsheet takes for a formula gets an
// apostrophe in front: at the beginning of the cell, and behind a semicolon or a tab, where
// many of them split.
func AppendCell(b []byte, cell string, guarded bool) []byte {
	quoted := strings.ContainsAny(cell, ",;\"\r\n\t") || cell != strings.Trim(cell, " ")
	if quoted {
		b = append(b, '"')
	}
	var before byte
	for i, c := range []byte(cell) {
		if guarded && strings.IndexByte("=+-@", c) >= 0 && (i == 0 || before == ';' || before == '\t') || guarded && i == 0 && (c == '\t' || c == '\r') {
			b = append(b, '\'')
		}
		switch {
		case c == '"':
			b = append(b, '"', '"')
		case c == '\n' && before == '\r': // a line break is CRLF
		case c == '\n' || c == '\r':
			b = append(b, '\r', '\n')
		default:
			b = append(b, c)
		}
		before = c
	}
	if quoted {
		b = append(b, '"')
	}
	return b
}
