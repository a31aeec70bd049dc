package formats

import (
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
)

// csvColumn is a column: its name, and its cell for an event. A spreadsheet may take texts for
// formulas.
type csvColumn struct {
	name string
	text bool
	cell func(*Event) string
}

// csvColumns are the columns in order.
var csvColumns = []csvColumn{
	{"id", false, func(e *Event) string { return e.ID.String() }},
	{"uid", false, func(e *Event) string { return e.UID }},
	{"title", true, func(e *Event) string { return e.Title }},
	{"start_date", false, func(e *Event) string { return e.Start.String() }},
	{"end_date", false, func(e *Event) string { return e.End.String() }},
	{"timezone", true, func(e *Event) string { return e.Zone.Name }},
	boolColumn("all_day", func(e *Event) bool { return e.AllDay }),
	{"utc_start_date", false, func(e *Event) string { return e.UTCStart.String() }},
	{"utc_end_date", false, func(e *Event) string { return e.UTCEnd.String() }},
	{"status", true, func(e *Event) string { return string(e.Status) }},
	{"event_status", true, func(e *Event) string { return string(e.EventStatus) }},
	{"url", true, func(e *Event) string { return e.URL }},
	{"website", true, func(e *Event) string { return e.Website }},
	{"cost", true, func(e *Event) string { return e.Cost }},
	{"cost_values", true, func(e *Event) string { return strings.Join(e.CostValues, "; ") }},
	boolColumn("ticketed", func(e *Event) bool { return e.Ticketed }),
	boolColumn("featured", func(e *Event) bool { return e.Featured }),
	namesColumn("categories", func(e *Event) []Term { return e.Categories }),
	idsColumn("category_ids", func(e *Event) []Term { return e.Categories }),
	namesColumn("tags", func(e *Event) []Term { return e.Tags }),
	idsColumn("tag_ids", func(e *Event) []Term { return e.Tags }),
	namesColumn("venues", func(e *Event) []Venue { return e.Venues }),
	idsColumn("venue_ids", func(e *Event) []Venue { return e.Venues }),
	venueColumn("address", func(v *Venue) string { return v.Address }),
	venueColumn("city", func(v *Venue) string { return v.City }),
	venueColumn("stateprovince", func(v *Venue) string { return v.StateProvince }),
	venueColumn("zip", func(v *Venue) string { return v.Zip }),
	venueColumn("country", func(v *Venue) string { return v.Country }),
	pointColumn("geo_lat", func(lat, _ float64) float64 { return lat }),
	pointColumn("geo_lng", func(_, lng float64) float64 { return lng }),
	namesColumn("organizers", func(e *Event) []Organizer { return e.Organizers }),
	idsColumn("organizer_ids", func(e *Event) []Organizer { return e.Organizers }),
	{"excerpt", true, (*Event).plainExcerpt},
	{"description", true, (*Event).plainDescription},
	{"image", true, func(e *Event) string { return e.Image }},
	{"language", true, func(e *Event) string { return e.Lang.String() }},
	{"languages", true, func(e *Event) string {
		return joinedBy("; ", e.Langs, func(l *calendar.Lang) string { return l.String() })
	}},
	{"date_utc", false, func(e *Event) string { return e.Date.String() }},
	{"modified_utc", false, func(e *Event) string { return e.Modified.String() }},
}

func (t *Term) name() string         { return t.Name }
func (t *Term) id() calendar.ID      { return t.ID }
func (v *Venue) name() string        { return v.Name }
func (v *Venue) id() calendar.ID     { return v.ID }
func (o *Organizer) name() string    { return o.Name }
func (o *Organizer) id() calendar.ID { return o.ID }

func boolColumn(name string, flag func(*Event) bool) csvColumn {
	return csvColumn{name, false, func(e *Event) string {
		if e.Blanked {
			return ""
		}
		return strconv.FormatBool(flag(e))
	}}
}

// named is what a list column lists.
type named[T any] interface {
	*T
	name() string
	id() calendar.ID
}

func namesColumn[T any, P named[T]](column string, list func(*Event) []T) csvColumn {
	return csvColumn{column, true, func(e *Event) string {
		return joinedBy("; ", list(e), func(v *T) string { return P(v).name() })
	}}
}

func idsColumn[T any, P named[T]](column string, list func(*Event) []T) csvColumn {
	return csvColumn{column, false, func(e *Event) string {
		return joinedBy(" ", list(e), func(v *T) string { return P(v).id().String() })
	}}
}

func joinedBy[T any](separator string, list []T, text func(*T) string) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = text(&list[i])
	}
	return strings.Join(texts, separator)
}

func venueColumn(name string, text func(*Venue) string) csvColumn {
	return csvColumn{name, true, func(e *Event) string {
		if len(e.Venues) == 0 {
			return ""
		}
		return text(&e.Venues[0])
	}}
}

func pointColumn(name string, of func(lat, lng float64) float64) csvColumn {
	return csvColumn{name, false, func(e *Event) string {
		lat, lng, ok := e.Point()
		if !ok {
			return ""
		}
		return string(appendFloat(nil, of(lat, lng)))
	}}
}

var csvFormat = Format{
	Name: "csv", Media: []string{"text/csv"}, Header: "text/csv; charset=utf-8; header=present",
	Disposition: attachment, Extension: "csv", Open: CSV,
}

// CSV writes RFC 4180 with a header row.
func CSV(f *Feed) Writer {
	w := &csvWriter{f: f, columns: csvColumns}
	if f.Columns != nil {
		w.columns = nil
		for _, c := range csvColumns {
			if slices.Contains(f.Columns, c.name) {
				w.columns = append(w.columns, c)
			}
		}
		if w.columns == nil {
			w.columns = csvColumns[:1]
		}
	}
	return w
}

type csvWriter struct {
	f       *Feed
	columns []csvColumn
}

func (w *csvWriter) Begin(b []byte) []byte {
	if w.f.BOM {
		b = append(b, "\uFEFF"...)
	}
	for i := range w.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, w.columns[i].name...)
	}
	return append(b, "\r\n"...)
}

func (w *csvWriter) Item(b []byte, e *Event) []byte {
	for i := range w.columns {
		if i > 0 {
			b = append(b, ',')
		}
		c := &w.columns[i]
		b = AppendCell(b, c.cell(e), c.text && !w.f.Raw)
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
