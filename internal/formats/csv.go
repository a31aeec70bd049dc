package formats

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
)

// csvColumn is a column: its name, and its cell for an event. Texts may be taken for a
// formula by a spreadsheet; what else there is has no text.
type csvColumn struct {
	name string
	text bool
	cell func(b []byte, e *Event) []byte
}

// csvColumns are the columns in order.
var csvColumns = []csvColumn{
	{"id", false, func(b []byte, e *Event) []byte { return appendID(b, &e.ID) }},
	textColumn("uid", func(e *Event) string { return e.UID }).bare(),
	textColumn("title", func(e *Event) string { return e.Title }),
	wallColumn("start_date", func(e *Event) calendar.Wall { return e.Start }),
	wallColumn("end_date", func(e *Event) calendar.Wall { return e.End }),
	textColumn("timezone", func(e *Event) string { return e.Zone.Name }),
	boolColumn("all_day", func(e *Event) bool { return e.AllDay }),
	wallColumn("utc_start_date", func(e *Event) calendar.Wall { return e.UTCStart }),
	wallColumn("utc_end_date", func(e *Event) calendar.Wall { return e.UTCEnd }),
	textColumn("status", func(e *Event) string { return string(e.Status) }),
	textColumn("event_status", func(e *Event) string { return string(e.EventStatus) }),
	textColumn("url", func(e *Event) string { return e.URL }),
	textColumn("website", func(e *Event) string { return e.Website }),
	textColumn("cost", func(e *Event) string { return e.Cost }),
	textColumn("cost_values", func(e *Event) string { return strings.Join(e.CostValues, "; ") }),
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
	textColumn("excerpt", (*Event).plainExcerpt),
	textColumn("description", (*Event).plainDescription),
	textColumn("image", func(e *Event) string { return e.Image }),
	textColumn("language", func(e *Event) string { return e.Lang.String() }),
	textColumn("languages", func(e *Event) string {
		names := make([]string, len(e.Langs))
		for i, l := range e.Langs {
			names[i] = l.String()
		}
		return strings.Join(names, "; ")
	}),
	wallColumn("date_utc", func(e *Event) calendar.Wall { return e.Date }),
	wallColumn("modified_utc", func(e *Event) calendar.Wall { return e.Modified }),
}

func (t *Term) name() string         { return t.Name }
func (t *Term) id() calendar.ID      { return t.ID }
func (v *Venue) name() string        { return v.Name }
func (v *Venue) id() calendar.ID     { return v.ID }
func (o *Organizer) name() string    { return o.Name }
func (o *Organizer) id() calendar.ID { return o.ID }

func textColumn(name string, text func(*Event) string) csvColumn {
	return csvColumn{name, true, func(b []byte, e *Event) []byte { return append(b, text(e)...) }}
}

// bare says that the texts of a column are never taken for a formula.
func (c csvColumn) bare() csvColumn {
	c.text = false
	return c
}

func wallColumn(name string, wall func(*Event) calendar.Wall) csvColumn {
	return csvColumn{name, false, func(b []byte, e *Event) []byte { return append(b, wall(e).String()...) }}
}

func boolColumn(name string, flag func(*Event) bool) csvColumn {
	return csvColumn{name, false, func(b []byte, e *Event) []byte {
		if e.Blanked {
			return b
		}
		return strconv.AppendBool(b, flag(e))
	}}
}

// named is what a list column lists.
type named[T any] interface {
	*T
	name() string
	id() calendar.ID
}

func namesColumn[T any, P named[T]](column string, list func(*Event) []T) csvColumn {
	return csvColumn{column, true, func(b []byte, e *Event) []byte {
		for i, all := 0, list(e); i < len(all); i++ {
			if i > 0 {
				b = append(b, "; "...)
			}
			b = append(b, P(&all[i]).name()...)
		}
		return b
	}}
}

func idsColumn[T any, P named[T]](column string, list func(*Event) []T) csvColumn {
	return csvColumn{column, false, func(b []byte, e *Event) []byte {
		for i, all := 0, list(e); i < len(all); i++ {
			if i > 0 {
				b = append(b, ' ')
			}
			id := P(&all[i]).id()
			b = appendID(b, &id)
		}
		return b
	}}
}

func venueColumn(name string, text func(*Venue) string) csvColumn {
	return textColumn(name, func(e *Event) string {
		if len(e.Venues) == 0 {
			return ""
		}
		return text(&e.Venues[0])
	})
}

func pointColumn(name string, of func(lat, lng float64) float64) csvColumn {
	return csvColumn{name, false, func(b []byte, e *Event) []byte {
		if lat, lng, ok := e.Point(); ok {
			b = appendFloat(b, of(lat, lng))
		}
		return b
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
	cell    []byte
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
		w.cell = c.cell(w.cell[:0], e)
		b = AppendCell(b, w.cell, c.text && !w.f.Raw)
	}
	return append(b, "\r\n"...)
}

func (w *csvWriter) End(b []byte) []byte { return b }

// AppendCell writes a cell. Guarded, what a spreadsheet takes for a formula gets an
// apostrophe in front: at the beginning of the cell, and behind a semicolon or a tab, where
// many of them split.
func AppendCell(b, cell []byte, guarded bool) []byte {
	quoted := bytes.ContainsAny(cell, ",;\"\r\n\t") || len(cell) > 0 && (cell[0] == ' ' || cell[len(cell)-1] == ' ')
	if quoted {
		b = append(b, '"')
	}
	for i, c := range cell {
		if guarded && (i == 0 && strings.IndexByte("=+-@\t\r", c) >= 0 ||
			i > 0 && (cell[i-1] == ';' || cell[i-1] == '\t') && strings.IndexByte("=+-@", c) >= 0) {
			b = append(b, '\'')
		}
		switch {
		case c == '"':
			b = append(b, '"', '"')
		case c == '\n' && (i == 0 || cell[i-1] != '\r'):
			b = append(b, '\r', '\n')
		case c == '\r' && (i+1 == len(cell) || cell[i+1] != '\n'):
			b = append(b, '\r', '\n')
		default:
			b = append(b, c)
		}
	}
	if quoted {
		b = append(b, '"')
	}
	return b
}
