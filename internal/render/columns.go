package render

import (
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// Column is what a field of a table, or something that no record stores, is in answers.
type Column struct {
	Name   string
	Field  *calendar.Field
	Keys   []string // one or two
	Blanks bool     // it is blank in blanked events

	key, more string // what stands before the values: `,"cost":` and `,"cost_details":`
	blank     string // all that stands there in blanked events
	write     writer
}

// writer appends a column of a record with its keys.
type writer func(w *Writer, data []byte, column *Column, s *subject) []byte

// subject is a record that is written, with what several of its columns need.
type subject struct {
	*calendar.Record
	status  calendar.Status
	address string
	count   int // of terms
	blanked bool
	view    *query.View   // of events
	cost    calendar.Cost // of events, once its column is written
}

// Layouts are the columns of records in the order of their keys.
type Layouts struct {
	Of     [calendar.KindTag + 1][]Column
	Nested [calendar.KindTag + 1][]Column // terms within an event
}

// orders are the orders of the keys (3.1.7, 3.2.2, 3.3.2, 3.4.2). The fields that
// the order of their table does not name stand where the dots are.
var orders = map[calendar.Kind]string{
	calendar.KindEvent: postOrder + "rest_url title description excerpt slug image all_day start_date end_date utc_start_date utc_end_date " +
		"timezone cost website … categories tags venue organizer custom_fields language collapsed",
	calendar.KindVenue:     postOrder + "venue slug description excerpt image … website stateprovince show_map show_map_link geo_lat geo_lng language",
	calendar.KindOrganizer: postOrder + "organizer slug description excerpt image … language",
	calendar.KindCategory:  "id name slug taxonomy description … count parent url language urls",
	calendar.KindTag:       "id name slug taxonomy description … count url language urls",
}

const (
	postOrder   = "id global_id author status date date_utc modified modified_utc url "
	nestedOrder = "id name slug taxonomy description … count parent language urls"
)

// NewLayouts returns the layouts of the field tables.
func NewLayouts() *Layouts {
	layouts := &Layouts{}
	for kind, order := range orders {
		layouts.Of[kind] = columnsOf(calendar.SpecOf(kind), order)
		if kind.IsTerm() {
			layouts.Nested[kind] = columnsOf(calendar.SpecOf(kind), nestedOrder)
		}
	}
	return layouts
}

// columnsOf makes the columns of a table in an order.
func columnsOf(spec *calendar.Spec, order string) (columns []Column) {
	before, behind, _ := strings.Cut(order, "…")
	names, rows := strings.Fields(before), map[string]*calendar.Field{}
	for i := range spec.Fields {
		field := &spec.Fields[i]
		if rows[field.Name] = field; !slices.Contains(strings.Fields(order), field.Name) {
			names = append(names, field.Name)
		}
	}
	for _, name := range append(names, strings.Fields(behind)...) {
		switch field, shown := rows[name], computed[name]; {
		case field == nil && shown.write != nil:
			columns = append(columns, newColumn(spec.Kind, &calendar.Field{Name: name, Stays: true}, shown))
		case field != nil && field.Shown != calendar.ShownNever:
			columns = append(columns, newColumn(spec.Kind, field, fieldsShown[field.Shown]))
		}
	}
	columns[0].key = "{" + columns[0].key[1:]
	return columns
}

func newColumn(kind calendar.Kind, field *calendar.Field, shown shown) Column {
	name, blanks := field.Name, kind == calendar.KindEvent && !field.Stays
	column := Column{Name: name, Field: field, Keys: []string{name}, Blanks: blanks, key: `,"` + name + `":`, write: shown.write}
	if shown.ending != "" {
		column.Keys = append(column.Keys, name+shown.ending)
		column.more = `,"` + name + shown.ending + `":`
	}
	if blanks && !field.Filled {
		column.blank = column.key + shown.blank + column.more + shown.secondBlank
	}
	return column
}

// Hash identifies what answers are made of.
func (layouts *Layouts) Hash() uint64 {
	hash := calendar.HashStart
	for _, columns := range slices.Concat(layouts.Of[:], layouts.Nested[:]) {
		for i := range columns {
			column := &columns[i]
			hash = hash.Text(column.key).Text(column.more).Text(column.blank).Number(uint64(column.Field.Shown))
		}
	}
	return uint64(hash)
}

// appendColumns writes a record but for the end of its object.
func (writer *Writer) appendColumns(data []byte, columns []Column, subject *subject) []byte {
	for i := range columns {
		column := &columns[i]
		if subject.blanked && column.Blanks {
			data = append(data, column.blank...)
		} else {
			data = column.write(writer, data, column, subject)
		}
	}
	return data
}
