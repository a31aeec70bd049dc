package httpapi

import (
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query"
)

// column is what a row of a field table is in answers, or something that no record keeps.
type column struct {
	key, more string // what stands before its values: `,"cost":` and `,"cost_details":`
	write     writer
	name      string
	field     *calendar.Field
	blanks    bool   // in blanked events it is blank:
	blank     string // all that stands there for it
}

// writer writes a column of a record with its keys.
type writer func(p *renderer, b []byte, c *column, s *subject) []byte

// shown is what answers make of fields that are shown in one way.
type shown struct {
	write writer
	keys  []key
}

// key is a key of a column, by what its name has after that of the row, and its value in a
// blanked event.
type key struct {
	end   string
	blank string
}

// subject is a record on its way, with what several of its columns need.
type subject struct {
	r       *calendar.Record
	f       calendar.Fields
	status  calendar.Status
	url     string
	count   int // of terms
	blanked bool
	view    *query.View   // of events
	cost    calendar.Cost // of events, once its column is written
}

// layouts are the columns of records in the order of their keys.
type layouts struct {
	of     [calendar.KindTag + 1][]column
	nested [calendar.KindTag + 1][]column // terms within an event
}

// orders are the orders of the keys (3.1.7, 3.2.2, 3.3.2, 3.4.2). The rows of a table that
// its order does not name stand where the dots are.
var orders = map[calendar.Kind]string{
	calendar.KindEvent: postOrder + "rest_url title description excerpt slug image all_day start_date end_date utc_start_date utc_end_date " +
		"timezone cost website … categories tags venue organizer custom_fields language collapsed",
	calendar.KindVenue:     postOrder + "venue slug description excerpt image … website stateprovince show_map show_map_link geo_lat geo_lng language",
	calendar.KindOrganizer: postOrder + "organizer slug description excerpt image … language",
	calendar.KindCategory:  "id name slug taxonomy description … count parent url language urls",
	calendar.KindTag:       "id name slug taxonomy description … count url language urls",
}

const (
	dots        = "…"
	postOrder   = "id global_id author status date date_utc modified modified_utc url "
	nestedOrder = "id name slug taxonomy description … count parent language urls"
)

func newLayouts() *layouts {
	l := &layouts{}
	for k, order := range orders {
		l.of[k] = columnsOf(calendar.SpecOf(k), order)
		if k.IsTerm() {
			l.nested[k] = columnsOf(calendar.SpecOf(k), nestedOrder)
		}
	}
	return l
}

// columnsOf makes the columns of a table in an order.
func columnsOf(s *calendar.Spec, order string) []column {
	names := strings.Fields(order)
	rows := map[string]*calendar.Field{}
	var others []string
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Shown == calendar.ShownNever {
			continue
		}
		rows[f.Name] = f
		if !slices.Contains(names, f.Name) {
			others = append(others, f.Name)
		}
	}
	at := slices.Index(names, dots)
	var out []column
	for _, name := range slices.Replace(names, at, at+1, others...) {
		if f := rows[name]; f != nil {
			out = append(out, newColumn(name, f, fieldsShown[f.Shown], s.Kind == calendar.KindEvent && !f.Stays))
		} else if as, ok := computed[name]; ok && s.Field(name) == nil {
			out = append(out, newColumn(name, &calendar.Field{}, as, false))
		}
	}
	out[0].key = "{" + out[0].key[1:]
	return out
}

func newColumn(name string, f *calendar.Field, as shown, blanks bool) column {
	c := column{name: name, field: f, write: as.write, blanks: blanks}
	for i, literal := range []*string{&c.key, &c.more}[:len(as.keys)] {
		*literal = `,"` + name + as.keys[i].end + `":`
		if blanks && !f.Filled {
			c.blank += *literal + as.keys[i].blank
		}
	}
	return c
}

// hash names what answers are made of.
func (l *layouts) hash() uint64 {
	h := calendar.HashStart
	for _, columns := range slices.Concat(l.of[:], l.nested[:]) {
		for i := range columns {
			c := &columns[i]
			h = h.Text(c.key).Text(c.more).Text(c.blank).Number(uint64(c.field.Shown))
		}
	}
	return uint64(h)
}

// appendColumns writes a record but for the end of its object.
func (p *renderer) appendColumns(b []byte, columns []column, s *subject) []byte {
	for i := range columns {
		c := &columns[i]
		if s.blanked && c.blanks {
			b = append(b, c.blank...)
		} else {
			b = c.write(p, b, c, s)
		}
	}
	return b
}
