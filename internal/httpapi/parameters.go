package httpapi

import (
	"cmp"
	_ "embed"
	"math"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/param"
)

// parametersFile has what a request may send that is no parameter of a list and no field of a
// record, under the names by which routes take it, but for descriptions (internal/texts) and
// readers.
//
//go:embed parameters.json
var parametersFile []byte

var parameters = func() map[string]*param.Row[call] {
	all := fromFile[map[string]*param.Row[call]](parametersFile)
	for _, row := range all {
		row.Read = (*call).readParam
	}
	all["language"] = &languageTable[0]
	all["format"].Enum = formats.Names(func(format *formats.Format) bool { return format.Single || format.Disposition == "" })
	return all
}()

// languageTable are the parameters of what has a language only.
var languageTable = param.Table[call]{param.Language(func(call *call) *calendar.Lang { return &call.language })}

// sentParams is what the parameters of a request say (section 5.2; HISTORY 5, 8.4, 9 to 12).
type sentParams struct {
	numbers   map[string]int64 // those that were sent, by the names of their parameters
	ascending bool
	word      string // the format; "" where it was not sent
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

// readParams reads the parameters of a table, and names all that is wrong with them.
func (call *call) readParams(table param.Table[call]) error {
	call.input, call.language = call.query.Input(table.IsList), call.location.language
	value := param.NewValue(call.input, &call.problems)
	table.Read(value, call)
	call.missing = value.Missing()
	return call.invalid()
}

// invalid names all that was found to be wrong with a request.
func (call *call) invalid() error { return cmp.Or(call.missing, call.problems.Err()) }

// readParam reads a parameter; what is listed alone is not read.
func (call *call) readParam(value *param.Value) {
	switch value.Name {
	case "namespace", "context":
		value.Raw() // a text
	case "password":
		text, _ := value.Raw()
		call.password = calendar.Trim(text) // as where it is set
		value.Fits(call.password)
	case "_fields":
		call.fields = value.Fields()
	case "format":
		call.word, _ = value.Word()
	case "order":
		word, _ := value.Word()
		call.ascending = word == "asc"
	case "kind":
		for _, word := range value.WordsOf(words(kindsFor(call.caller))) {
			kind, _ := calendar.ParseKind(word)
			call.filter.Kinds = append(call.filter.Kinds, kind)
		}
	case "action":
		call.filter.Actions = value.WordsOf(history.Actions[:])
	case "field":
		call.filter.Fields = value.WordsOf(history.FieldNames(kindsFor(call.caller)...))
	case "id":
		call.filter.IDs = readIDs(value, 1)
	case "actor": // 0 is the service itself
		if _, sent := value.Sent(); sent && !call.caller.ReadsAll() {
			value.Refuse(calendar.ReasonReaders)
			return
		}
		call.filter.Actors = readIDs(value, 0)
	case "since":
		call.filter.Since = call.readMoment(value)
	case "until":
		call.filter.Until = call.readMoment(value)
	case "records":
		call.records, _ = value.Bool()
	default:
		call.readNumber(value)
	}
}

// readNumber reads a whole number from the least one on.
func (call *call) readNumber(value *param.Value) {
	if value.Type != "integer" {
		return
	}
	if number, ok := value.Whole(); ok {
		if call.numbers == nil {
			call.numbers = map[string]int64{}
		}
		call.numbers[value.Name] = min(number, math.MaxInt64-1) // so that it has a next one
	}
}

// kindsFor are the kinds whose past a caller may ask for.
func kindsFor(caller calendar.Caller) []calendar.Kind {
	if history.ReadsKept(caller) {
		return append(calendar.Kinds[:len(calendar.Kinds):len(calendar.Kinds)], calendar.KindImage, calendar.KindUser)
	}
	return calendar.Kinds[:]
}

// words are kinds as parameters name them.
func words(kinds []calendar.Kind) (names []string) {
	for _, kind := range kinds {
		names = append(names, kind.String())
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
func (call *call) readMoment(value *param.Value) time.Time {
	text, ok := value.Plain(calendar.ReasonDate)
	if !ok {
		return time.Time{}
	}
	instant, _, ok := param.ParseMoment(text, call.Now(), call.Site)
	if !ok {
		value.Refuse(calendar.ReasonDate)
	}
	return instant
}

// linkTo is an address with the parameters that were sent, in the order of the route, and one of
// them with another value.
func (call *call) linkTo(address, replaced, value string) string {
	var params []param.LinkParam
	for i := range call.route.params {
		row := &call.route.params[i]
		sent, ok := call.input[row.Name]
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
