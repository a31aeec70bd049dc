package httpapi

import (
	"cmp"
	_ "embed"
	"fmt"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/param"
)

// parameter is one row of parameters.json: what a request may send that is no parameter of a
// list and no field of a record, under the name by which routes take it.
type parameter struct {
	param.Row[readParams]

	OfEvents bool // records of other kinds have none
}

// parametersFile has all that is known of parameters, but for their descriptions
// (internal/texts) and their readers.
//
//go:embed parameters.json
var parametersFile []byte

var parameters = func() (all map[string]*parameter) {
	decodeFile(parametersFile, &all)
	for name, row := range all {
		row.Name, row.In = cmp.Or(row.Name, name), cmp.Or(row.In, "query")
		row.Read = readers[row.Name]
		if row.Read == nil && row.Type == "integer" {
			row.Read = readNumber
		}
	}
	all["language"] = &parameter{Row: languageTable[0]}
	all["format"].Enum = formats.Names(func(format *formats.Format) bool { return format.Single || format.Disposition == "" })
	return all
}()

// languageTable are the parameters of what has a language only.
var languageTable = param.Table[readParams]{param.Language(func(asked *readParams) *calendar.Lang { return &asked.language })}

// readParams is what the parameters of a request say (section 5.2; HISTORY 5, 8.4, 9 to 12).
type readParams struct {
	*call
	numbers   map[string]int64 // those that were sent, by the names of their parameters
	ascending bool
	format    string // "" where it was not sent
	filter    history.Filter
	records   bool // of a difference
	password  string
	fields    []string // nil: all
	point     param.Point
	byHeader  bool              // Accept-Datetime names the point
	head      calendar.Position // of the log; of its routes
	input     calendar.Input
	problems  calendar.Problems
	missing   error
}

// readParams reads the parameters of a table.
func (call *call) readParams(table param.Table[readParams]) *readParams {
	asked := &readParams{call: call, input: call.query.Input(table.IsList)}
	call.language = call.location.language
	value := param.NewValue(asked.input, &asked.problems)
	table.Read(value, asked)
	asked.missing = value.Missing()
	return asked
}

// err names all that is wrong with a request.
func (asked *readParams) err() error { return cmp.Or(asked.missing, asked.problems.Err()) }

// readers are those of parameters by their names; what is listed alone has none.
var readers = map[string]func(asked *readParams, value *param.Value){
	"namespace": readText,
	"context":   readText,
	"password": func(asked *readParams, value *param.Value) {
		text, _ := value.Raw()
		asked.password = calendar.Trim(text) // as where it is set
		value.Fits(asked.password)
	},
	"_fields": func(asked *readParams, value *param.Value) { asked.fields = value.Fields() },
	"format":  func(asked *readParams, value *param.Value) { asked.format, _ = value.Word() },
	"order": func(asked *readParams, value *param.Value) {
		word, _ := value.Word()
		asked.ascending = word == "asc"
	},
	"kind": func(asked *readParams, value *param.Value) {
		for _, word := range value.WordsOf(words(kindsFor(asked.caller))) {
			kind, _ := calendar.ParseKind(word)
			asked.filter.Kinds = append(asked.filter.Kinds, kind)
		}
	},
	"action": func(asked *readParams, value *param.Value) {
		asked.filter.Actions = value.WordsOf(history.Actions[:])
	},
	"field": func(asked *readParams, value *param.Value) {
		asked.filter.Fields = value.WordsOf(history.FieldNames(kindsFor(asked.caller)...))
	},
	"id": func(asked *readParams, value *param.Value) { asked.filter.IDs = readIDs(value, 1) },
	"actor": func(asked *readParams, value *param.Value) { // 0 is the service itself
		if _, sent := value.Sent(); sent && !asked.caller.ReadsAll() {
			value.Refuse(calendar.ReasonReaders)
			return
		}
		asked.filter.Actors = readIDs(value, 0)
	},
	"since":   func(asked *readParams, value *param.Value) { asked.filter.Since = asked.readMoment(value) },
	"until":   func(asked *readParams, value *param.Value) { asked.filter.Until = asked.readMoment(value) },
	"records": func(asked *readParams, value *param.Value) { asked.records, _ = value.Bool() },
}

// readText checks that a parameter is a text.
func readText(_ *readParams, value *param.Value) { value.Raw() }

// noBefore is more than every version and position that requests name.
const noBefore = 1<<63 - 1

// readNumber reads a whole number from the least one on.
func readNumber(asked *readParams, value *param.Value) {
	if number, ok := value.Whole(); ok {
		if asked.numbers == nil {
			asked.numbers = map[string]int64{}
		}
		asked.numbers[value.Name] = min(number, noBefore-1)
	}
}

// kindsFor are the kinds whose past a caller may ask for.
func kindsFor(caller calendar.Caller) []calendar.Kind {
	if history.ReadsKept(caller) {
		return append(calendar.Kinds[:len(calendar.Kinds):len(calendar.Kinds)], calendar.KindImage, calendar.KindUser)
	}
	return calendar.Kinds[:]
}

// words are values as parameters name them.
func words[T any](values []T) []string {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = fmt.Sprint(value)
	}
	return names
}

// readIDs reads a list of ids from least on.
func readIDs(value *param.Value, least calendar.ID) (ids []calendar.ID) {
	for _, text := range value.List() {
		number, ok := calendar.ParseInt(text)
		if !calendar.IsDigits(text) || !ok || calendar.ID(number) < least {
			value.Refuse(calendar.ReasonEntry, text)
			return nil
		}
		ids = append(ids, calendar.ID(number))
	}
	return ids
}

// readMoment reads a moment of the log.
func (asked *readParams) readMoment(value *param.Value) time.Time {
	text, ok := value.Plain(calendar.ReasonDate)
	if !ok {
		return time.Time{}
	}
	instant, _, ok := param.ParseMoment(text, asked.Now(), asked.Site)
	if !ok {
		value.Refuse(calendar.ReasonDate)
	}
	return instant
}

// link is an address with the parameters that were sent, in the order of the route, and one of
// them with another value.
func (asked *readParams) link(address, replaced, value string) string {
	var params []param.LinkParam
	for i := range asked.route.params {
		row := &asked.route.params[i]
		sent, ok := asked.input[row.Name]
		if row.Name == replaced {
			sent, ok = value, true
		}
		if ok {
			params = row.AppendTo(params, sent)
		}
	}
	links := param.LinksTo(address, params)
	return links.Page(1)
}
