package query

import (
	_ "embed"
	"encoding/json"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/param"
)

// Parameters are those of a list, in the order of the interface.
type Parameters = param.Table[Criteria]

// Params returns the parameters of a list: of a collection, the "source" of calendar widgets
// (LISTINGS 1.13), a "map" (1.11), each of "several" searches (5) or "suggest" (4); nil for
// others. The caller must not change them.
func Params(list string) Parameters { return tables[list] }

// paramsFile has a row for each parameter: all that is known of it stands there, but for its
// description (internal/texts) and what it does (parser.read).
//
//go:embed params.json
var paramsFile []byte

// words are the words of parameters that other tables have.
var words = map[string][]string{
	"event_status":       calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum,
	"facets":             Facets,
	"format":             formats.Names(func(*formats.Format) bool { return true }),
	"in_language":        calendar.LangNames(),
	"multilang_language": calendar.LangNames(),
	"when":               param.Days,
}

var tables = func() map[string]Parameters {
	var rows Parameters
	if err := json.Unmarshal(paramsFile, &rows); err != nil {
		panic(err)
	}
	tables := map[string]Parameters{}
	for _, row := range rows {
		if row.Enum == nil {
			row.Enum = words[row.Name]
		}
		switch row.Name {
		case "start_date":
			row.Moving = param.StartOfWindow
		case "end_date":
			row.Moving = param.EndOfWindow
		}
		for _, list := range row.Lists {
			tables[list] = append(tables[list], row)
		}
	}
	return tables
}()
