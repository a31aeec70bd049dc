package query

import "daybook/calendar"

// Param is one row of a parameter table of interface 4.
type Param struct {
	Name      string
	Declared  string // "integer", "string", "boolean", "number", "array of integer", "array of string", "" untyped
	Format    string // "double", "date-time", "" none
	Default   string // declared default as JSON text, "" none; the defaults of the window are made per day
	Enum      []string
	Extension bool
	Doc       [4]string // in the order of calendar.Langs: cn, en, fr, es
}

// Params gives the parameter table of a list, in the order of the interface.
func Params(k calendar.Kind) []Param { return nil }
