package formats

import (
	"fmt"
	"slices"
	"strings"

	"daybook/calendar"
)

// csvCells returns the columns and the cells of an event in turns.
func csvCells(e *Event) []string {
	var venue Venue
	if len(e.Venues) > 0 {
		venue = e.Venues[0]
	}
	var latitude, longitude string
	if lat, lng, ok := e.Point(); ok {
		latitude, longitude = decimal(lat), decimal(lng)
	}
	return []string{
		"id", e.ID.String(),
		"uid", e.UID,
		"title", e.Title,
		"start_date", e.Start.String(),
		"end_date", e.End.String(),
		"timezone", e.Zone.Name,
		"all_day", fmt.Sprint(e.flag(e.AllDay, "")),
		"utc_start_date", e.UTCStart.String(),
		"utc_end_date", e.UTCEnd.String(),
		"status", string(e.Status),
		"event_status", string(e.EventStatus),
		"url", e.URL,
		"website", e.Website,
		"cost", e.Cost,
		"cost_values", strings.Join(e.CostValues, "; "),
		"ticketed", fmt.Sprint(e.flag(e.Ticketed, "")),
		"featured", fmt.Sprint(e.flag(e.Featured, "")),
		"categories", joinAll("; ", e.Categories, (*Term).name),
		"category_ids", joinAll(" ", e.Categories, (*Term).id),
		"tags", joinAll("; ", e.Tags, (*Term).name),
		"tag_ids", joinAll(" ", e.Tags, (*Term).id),
		"venues", joinAll("; ", e.Venues, (*Venue).name),
		"venue_ids", joinAll(" ", e.Venues, (*Venue).id),
		"address", venue.Address,
		"city", venue.City,
		"stateprovince", venue.StateProvince,
		"zip", venue.Zip,
		"country", venue.Country,
		"geo_lat", latitude,
		"geo_lng", longitude,
		"organizers", joinAll("; ", e.Organizers, (*Organizer).name),
		"organizer_ids", joinAll(" ", e.Organizers, (*Organizer).id),
		"excerpt", e.plainExcerpt(),
		"description", e.plainDescription(),
		"image", e.Image,
		"language", e.Lang.String(),
		"languages", joinAll("; ", e.Langs, func(l *calendar.Lang) any { return *l }),
		"date_utc", e.Date.String(),
		"modified_utc", e.Modified.String(),
	}
}

func (t *Term) name() any      { return t.Name }
func (t *Term) id() any        { return t.ID }
func (v *Venue) name() any     { return v.Name }
func (v *Venue) id() any       { return v.ID }
func (o *Organizer) name() any { return o.Name }
func (o *Organizer) id() any   { return o.ID }

func joinAll[T any](separator string, elements []T, value func(*T) any) string {
	texts := make([]string, len(elements))
	for i := range elements {
		texts[i] = fmt.Sprint(value(&elements[i]))
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
	return w.row(b, &Event{}, 0)
}

func (w *csvWriter) Item(b []byte, e *Event) []byte { return w.row(b, e, 1) }

// row writes the columns that were picked, or the first one where there are none of them:
// their names (0) or their cells (1).
func (w *csvWriter) row(b []byte, e *Event, part int) []byte {
	cells := csvCells(e)
	var row []byte
	for i := 0; i < len(cells); i += 2 {
		if column := cells[i]; w.f.Columns == nil || slices.Contains(w.f.Columns, column) {
			// A spreadsheet may take texts for formulas.
			guarded := part == 1 && !w.f.Raw && !strings.HasPrefix(column, "geo_")
			row = AppendCell(append(row, ','), cells[i+part], guarded)
		}
	}
	if row == nil {
		row = []byte("," + cells[part])
	}
	return append(append(b, row[1:]...), "\r\n"...)
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
