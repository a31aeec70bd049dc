// Package param has the one kind of parameter: what a request may send under a name, as it
// is read, documented and listed.
package param

import (
	"strings"
	"time"

	"daybook/calendar"
)

// Param is what a request may send under one name, as it is checked, documented and listed.
type Param struct {
	Name string
	In   string // "path", "query", "header", "body"
	// Type is the declared one: "integer", "string", "date" (a text of interface 2.4),
	// "boolean", "number", "array of integer", "array of string", "" untyped.
	Type    string
	Format  string // "double", "date-time", "" none
	Default string // as JSON text, "" none
	Text    string // key of its description in internal/texts
	Enum    []string

	Required  bool
	Extension bool
	Many      bool // takes several values, though it is declared as one
	Named     bool // the entries of the list may be slugs or names besides ids
	// Schema are the further keywords of its schema in the documentation.
	Schema map[string]any
	// Moving returns the default that moves with the day; nil: none does.
	Moving func(now time.Time, site *time.Location) calendar.Wall
	// Field is the field of a record that a body carries; nil: it is none.
	Field *calendar.Field
}

// Element returns the type of the elements of a declared list.
func (param *Param) Element() (string, bool) { return strings.CutPrefix(param.Type, "array of ") }

// IsList reports whether the parameter takes several values: sent more than once, all of
// them count (interface 2.1).
func (param *Param) IsList() bool {
	_, list := param.Element()
	return list || param.Many
}

// Bound returns a limit of the parameter by its keyword in the schema; 0: it has none.
func (param *Param) Bound(keyword string) int64 {
	bound, _ := param.Schema[keyword].(float64)
	return int64(bound)
}

// Row is a parameter of a table and its reader, which puts what was sent into T. A reader
// is also called where nothing was sent. nil: the parameter is only listed.
type Row[T any] struct {
	Param

	Read func(to *T, value *Value)
}

// Table are the parameters of an operation, in the order of the documentation.
type Table[T any] []Row[T]

// IsList reports whether a name is that of a parameter that takes several values.
func (table Table[T]) IsList(name string) bool {
	for i := range table {
		if table[i].Name == name {
			return table[i].IsList()
		}
	}
	return false
}

// Params returns the rows as they are documented.
func (table Table[T]) Params() []Param {
	params := make([]Param, len(table))
	for i := range table {
		params[i] = table[i].Param
	}
	return params
}

// Read reads what was sent into to.
func (table Table[T]) Read(value *Value, to *T) {
	for i := range table {
		table[i].ReadFrom(value, to)
	}
}

// ReadFrom reads the parameter out of a request.
func (row *Row[T]) ReadFrom(value *Value, to *T) {
	value.Param = &row.Param
	if row.Required {
		if _, sent := value.Sent(); !sent {
			value.missing = append(value.missing, row.Name)
		}
	}
	if row.Read != nil {
		row.Read(to, value)
	}
}
