package formats

import (
	"fmt"
	"slices"
	"strings"

	"daybook/calendar"
)

// csvCells returns the columns and the cells of an event in turns.
func csvCells(event *Event) []string {
	var place calendar.Fields
	if len(event.Venues) > 0 {
		place = event.Venues[0].Fields
	}
	var latitude, longitude string
	if lat, lng, ok := event.Point(); ok {
		latitude, longitude = decimal(lat), decimal(lng)
	}
	return []string{
		"id", event.ID.String(),
		"uid", event.UID,
		"title", event.Title,
		"start_date", event.Start.String(),
		"end_date", event.End.String(),
		"timezone", event.Zone.Name,
		"all_day", fmt.Sprint(event.flag(event.AllDay, "")),
		"utc_start_date", event.UTCStart.String(),
		"utc_end_date", event.UTCEnd.String(),
		"status", string(event.Status),
		"event_status", string(event.EventStatus),
		"url", event.URL,
		"website", event.Website,
		"cost", event.Cost,
		"cost_values", strings.Join(event.CostValues, "; "),
		"ticketed", fmt.Sprint(event.flag(event.Ticketed, "")),
		"featured", fmt.Sprint(event.flag(event.Featured, "")),
		"categories", joinAll("; ", event.Categories, (*Linked).name),
		"category_ids", joinAll(" ", event.Categories, (*Linked).id),
		"tags", joinAll("; ", event.Tags, (*Linked).name),
		"tag_ids", joinAll(" ", event.Tags, (*Linked).id),
		"venues", joinAll("; ", event.Venues, (*Linked).name),
		"venue_ids", joinAll(" ", event.Venues, (*Linked).id),
		"address", place.String("address"),
		"city", place.String("city"),
		"stateprovince", StateProvince(place),
		"zip", place.String("zip"),
		"country", place.String("country"),
		"geo_lat", latitude,
		"geo_lng", longitude,
		"organizers", joinAll("; ", event.Organizers, (*Linked).name),
		"organizer_ids", joinAll(" ", event.Organizers, (*Linked).id),
		"excerpt", event.plainExcerpt(),
		"description", event.plainDescription(),
		"image", event.Image,
		"language", event.Lang.String(),
		"languages", joinAll("; ", event.Langs, func(lang *calendar.Lang) any { return *lang }),
		"date_utc", event.Date.String(),
		"modified_utc", event.Modified.String(),
	}
}

func (linked *Linked) name() any { return linked.Name }
func (linked *Linked) id() any   { return linked.ID }

func joinAll[T any](separator string, elements []T, value func(*T) any) string {
	texts := make([]string, len(elements))
	for i := range elements {
		texts[i] = fmt.Sprint(value(&elements[i]))
	}
	return strings.Join(texts, separator)
}

// CSVFormat has a row for each event.
var CSVFormat = Format{
	Name: "csv", Media: []string{"text/csv"}, Header: []string{"text/csv; charset=utf-8; header=present"},
	Disposition: attachment, Extension: "csv", Open: CSV,
}

// CSV writes RFC 4180 with a header row.
func CSV(feed *Feed) Writer { return &csvWriter{feed: feed} }

type csvWriter struct{ feed *Feed }

func (csvWriter *csvWriter) Begin(data []byte) []byte {
	if csvWriter.feed.BOM {
		data = append(data, "\uFEFF"...)
	}
	return csvWriter.row(data, &Event{}, 0)
}

func (csvWriter *csvWriter) Item(data []byte, event *Event) []byte {
	return csvWriter.row(data, event, 1)
}

// row writes the columns that were picked, or the first one where there are none of them:
// their names (0) or their cells (1).
func (csvWriter *csvWriter) row(data []byte, event *Event, part int) []byte {
	cells := csvCells(event)
	var row []byte
	for i := 0; i < len(cells); i += 2 {
		if column := cells[i]; csvWriter.feed.Columns == nil || slices.Contains(csvWriter.feed.Columns, column) {
			// A spreadsheet may take texts for formulas.
			guarded := part == 1 && !csvWriter.feed.Raw && !strings.HasPrefix(column, "geo_")
			row = AppendCell(append(row, ','), cells[i+part], guarded)
		}
	}
	if row == nil {
		row = []byte("," + cells[part])
	}
	return append(append(data, row[1:]...), "\r\n"...)
}

func (csvWriter *csvWriter) End(data []byte) []byte { return data }

// AppendCell writes a cell. Guarded, what a spreadsheet takes for a formula gets an
// apostrophe in front: at the beginning of the cell, and behind a semicolon or a tab, where
// many of them split.
func AppendCell(data []byte, cell string, guarded bool) []byte {
	quoted := strings.ContainsAny(cell, ",;\"\r\n\t") || cell != strings.Trim(cell, " ")
	if quoted {
		data = append(data, '"')
	}
	var before byte
	for i, letter := range []byte(cell) {
		if guarded && strings.IndexByte("=+-@", letter) >= 0 && (i == 0 || before == ';' || before == '\t') || guarded && i == 0 && (letter == '\t' || letter == '\r') {
			data = append(data, '\'')
		}
		switch {
		case letter == '"':
			data = append(data, '"', '"')
		case letter == '\n' && before == '\r': // a line break is CRLF
		case letter == '\n' || letter == '\r':
			data = append(data, '\r', '\n')
		default:
			data = append(data, letter)
		}
		before = letter
	}
	if quoted {
		data = append(data, '"')
	}
	return data
}
