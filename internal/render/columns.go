package render

import (
	"cmp"
	"slices"
	"strings"

	"daybook/calendar"
)

// Column is what a field of a table, or something that no record stores, is in answers.
type Column struct {
	Name   string
	Field  *calendar.Field
	Second string // the name of its second key, "" for none
	Blanks bool   // it is blank in blanked events

	key, more string // what stands before the values: `,"cost":` and `,"cost_details":`
	blank     string // all that stands there in blanked events
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

// columnsOf makes the columns of a table in an order. What it names besides the fields is computed.
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
		field := cmp.Or(rows[name], &calendar.Field{Name: name, Stays: true})
		if field.Shown == calendar.ShownNever {
			continue
		}
		way := ways[field.Shown]
		column := Column{Name: name, Field: field, Blanks: spec.Kind == calendar.KindEvent && !field.Stays, key: `,"` + name + `":`}
		if ending := cmp.Or(way.ending, computedEndings[name]); ending != "" {
			column.Second = name + ending
			column.more = `,"` + column.Second + `":`
		}
		if column.Blanks && !field.Filled {
			column.blank = column.key + cmp.Or(way.blank, `""`) + column.more + way.secondBlank
		}
		columns = append(columns, column)
	}
	columns[0].key = "{" + columns[0].key[1:]
	return columns
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
