// Package param has the one kind of parameter: what a request may send under a name, as it
// is read, documented and listed.
package param

import (
	"encoding/json"
	"strconv"
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
	// Lists are the lists of query/params.json that have it.
	Lists []string
	// Hides reports that a filter by it leaves out the events that the caller gets blanked:
	// they do not show what it asks for.
	Hides bool
	// Free reports that it may change from step to step of a walk, or that it stands in what
	// a cursor belongs to by another name.
	Free bool
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

// Standard returns the default as a query string would have it.
func (param *Param) Standard() string { return strings.Trim(param.Default, `"`) }

// IsDefault reports whether a value says what holds without it.
func (param *Param) IsDefault(value string) bool {
	standard := param.Standard()
	is, ok := calendar.ParseBool(value)
	return standard != "" && (value == standard || standard == "false" && ok && !is)
}

// FromJSON returns what was sent for the parameter in JSON as a query string would have it;
// what no text of it means stays as it is, and is refused when it is read.
func (param *Param) FromJSON(value any) any {
	list, isList := value.([]any)
	switch {
	case isList && param.IsList():
		result := make([]any, len(list))
		for i, element := range list {
			result[i] = param.textOf(element)
		}
		return result
	case len(list) == 1:
		value = list[0]
	}
	return param.textOf(value)
}

// textOf returns a value of JSON as text, where the type of the parameter has it.
func (param *Param) textOf(value any) any {
	switch v := value.(type) {
	case json.Number:
		if param.IsList() || param.Type != "string" && param.Type != "date" {
			return v.String()
		}
	case bool:
		if param.IsList() || param.Type == "boolean" || param.Type == "" {
			return strconv.FormatBool(v)
		}
	}
	return value
}

// Row is a parameter of a table and its reader, which puts what was sent into T. A reader
// is also called where nothing was sent. nil: it is read by its name, see Value.Of.
type Row[T any] struct {
	Param

	Read func(to *T, value *Value)
}

// Table are the parameters of an operation, in the order of the documentation.
type Table[T any] []Row[T]

// Find returns the parameter of a name; nil: there is none.
func (table Table[T]) Find(name string) *Param {
	for i := range table {
		if table[i].Name == name {
			return &table[i].Param
		}
	}
	return nil
}

// IsList reports whether a name is that of a parameter that takes several values.
func (table Table[T]) IsList(name string) bool {
	param := table.Find(name)
	return param != nil && param.IsList()
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
	if value.Of(&row.Param); row.Read != nil {
		row.Read(to, value)
	}
}
