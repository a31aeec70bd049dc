package query

import (
	"encoding/json"
	"strconv"
)

// notOfSeveral are the parameters of the list of events that a search among several does
// not know (LISTINGS 5), and the one of the past, which other methods do not know.
var notOfSeveral = []string{"format", "features", "csv_bom", "csv_raw", "cursor", "as_of"}

var severalParams = eventParams().without(notOfSeveral)

// SeveralParams are the parameters of each of several searches of events. The caller must
// not change them.
func SeveralParams() Parameters { return severalParams }

// FromJSON gives what was sent for the parameter in JSON as a query string would have it;
// what no text of it means stays as it is, and is refused when it is read.
func (p *Param) FromJSON(v any) any {
	list, ok := v.([]any)
	switch {
	case !ok:
		return p.textOf(v)
	case !p.IsList() && len(list) == 1:
		return p.textOf(list[0])
	case !p.IsList():
		return v
	}
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = p.textOf(e)
	}
	return out
}

// textOf gives a value of JSON as text, where the type of the parameter has it.
func (p *Param) textOf(v any) any {
	switch v := v.(type) {
	case json.Number:
		if p.IsList() || p.Type != "string" && p.Type != "date" {
			return v.String()
		}
	case bool:
		if p.IsList() || p.Type == "boolean" || p.Type == "" {
			return strconv.FormatBool(v)
		}
	}
	return v
}
