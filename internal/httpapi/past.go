package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/query"
)

// pastQuery is what a request asks of the past: what the parameters of histories,
// differences, changes, streams and proofs say (HISTORY 5, 8.4, 9 to 12).
type pastQuery struct {
	ascending     bool
	after, before int64 // before is noBefore where it was not sent
	limit         int64
	format        string // "" where it was not sent
	filter        history.Filter
	from, to      int64 // versions of a difference, sizes of a tree; 0: it was not sent
	position      int64 // of the entry of a proof
	records       bool  // of a difference
	table         pastTable
	input         calendar.Input
	caller        calendar.Caller
	lang          calendar.Lang
	o             *Options
	head          calendar.Position // of the log; of its routes
	problems      calendar.Problems
	missing       error
}

// err names all that is wrong with a request.
func (pastQuery *pastQuery) err() error { return cmp.Or(pastQuery.missing, pastQuery.problems.Err()) }

// pastTable are the parameters of a read of the past, pastRow is one of them.
type (
	pastTable = param.Table[pastQuery]
	pastRow   = param.Row[pastQuery]
)

// The bounds of pages.
const (
	pageLimit    = 50   // entries of a page where none is sent
	maxPageLimit = 1000 // entries of a page
	noBefore     = 1<<63 - 1
)

// pastRead is a read of the past: its parameters, and who answers it.
type pastRead struct {
	table   pastTable
	answer  func(ctx context.Context, c *call, q *pastQuery) (*answer, error)
	stream  func(c *call, q *pastQuery) error // in place of answer
	smaller []string                          // the parameters by which a client could ask for less
	proof   bool                              // of HISTORY 12
}

// serve answers a request.
func (pastRead *pastRead) serve(call *call) error {
	pastQuery, err := pastRead.query(call)
	if err == nil && pastRead.stream != nil {
		return pastRead.stream(call, pastQuery)
	}
	if err == nil {
		err = pastQuery.err()
	}
	if err != nil {
		return err
	}
	asked := &question{smaller: pastRead.smaller, make: func(ctx context.Context, _ answerState) (*answer, error) {
		return pastRead.answer(ctx, call, pastQuery)
	}}
	if !pastRead.proof {
		asked.turns = call.past
	}
	return call.read(asked)
}

// query reads the parameters of a caller who may read the past, all problems at once.
func (pastRead *pastRead) query(call *call) (*pastQuery, error) {
	call.fresh = valueAskBack
	if err := call.mayReadPast(); err != nil && (!pastRead.proof || call.o.PublicHistory != PublicHistoryProofs) {
		return nil, err
	}
	q := &pastQuery{table: pastRead.table, before: noBefore, limit: pageLimit, input: call.query.Input(pastRead.table.IsList), caller: call.caller, lang: call.loc.lang, o: &call.o}
	value := param.NewValue(q.input, &q.problems)
	pastRead.table.Read(value, q)
	q.limit = min(q.limit, maxPageLimit)
	call.lang, q.missing = q.lang, value.Missing()
	if call.route.kind != 0 || pastRead.proof {
		return q, nil
	}
	var err error
	if q.head, err = call.History.Head(call.request.Context()); q.after > int64(q.head) {
		q.problems.Add("after", calendar.ReasonAhead, q.head.String())
	}
	return q, err
}

// link is the URL of a page: what was sent, with one parameter replaced by a number.
func (pastQuery *pastQuery) link(address, name string, n int64) string {
	names := make([]string, len(pastQuery.table))
	for i := range pastQuery.table {
		names[i] = pastQuery.table[i].Name
	}
	return linkTo(address, pastQuery.input, names, name, strconv.FormatInt(n, 10))
}

// linkTo returns an address with the parameters of some names as they were sent, and one of them
// with another value.
func linkTo(address string, input calendar.Input, names []string, replaced, value string) string {
	var params []query.LinkParam
	for _, name := range names {
		text, sent := input[name].(string)
		if list, isList := input[name].([]any); isList {
			texts, _ := param.Texts(list)
			text, sent = strings.Join(texts, ","), true
		}
		if name == replaced {
			text, sent = value, true
		}
		if sent {
			params = append(params, query.LinkParam{Name: name, Value: text})
		}
	}
	links := query.LinksTo(address, params)
	return links.Page(1)
}

var (
	orderRow  = wordRow("order", `"desc"`, func(q *pastQuery, word string) { q.ascending = word == "asc" }, "asc", "desc")
	afterRow  = numberRow("after", 0, func(q *pastQuery) *int64 { return &q.after })
	beforeRow = numberRow("before", 0, func(q *pastQuery) *int64 { return &q.before })
	kindRow   = wordsRow("kind", kindsFor, func(q *pastQuery, word string) {
		kind, _ := calendar.ParseKind(word)
		q.filter.Kinds = append(q.filter.Kinds, kind)
	})
	actionRow = wordsRow("action", func(calendar.Caller) []history.Action { return history.Actions[:] },
		func(q *pastQuery, word string) { q.filter.Actions = append(q.filter.Actions, history.Action(word)) })
	fieldRow = wordsRow("field", func(caller calendar.Caller) []string { return history.FieldNames(kindsFor(caller)...) },
		func(q *pastQuery, word string) { q.filter.Fields = append(q.filter.Fields, word) })
	idRow       = idsRow("id", 1, func(q *pastQuery) *[]calendar.ID { return &q.filter.IDs })
	actorRow    = idsRow("actor", 0, func(q *pastQuery) *[]calendar.ID { return &q.filter.Actors })
	sinceRow    = momentRow("since", func(q *pastQuery) *time.Time { return &q.filter.Since })
	untilRow    = momentRow("until", func(q *pastQuery) *time.Time { return &q.filter.Until })
	languageRow = param.Language(func(q *pastQuery) *calendar.Lang { return &q.lang })
	limitRow    = withDefault(numberRow("limit", 1, func(q *pastQuery) *int64 { return &q.limit }), strconv.Itoa(pageLimit))
)

// withDefault documents a default, as JSON.
func withDefault(row pastRow, value string) pastRow {
	row.Default = value
	return row
}

// pastRowOf is a parameter of the past.
func pastRowOf(name, declared string, read func(pastQuery *pastQuery, value *param.Value)) pastRow {
	return pastRow{Param: param.Param{Name: name, In: "query", Type: declared, Text: "arg.told." + name, Extension: true}, Read: read}
}

// numberRow is a number from least on; above it there is another one.
func numberRow(name string, least int64, to func(q *pastQuery) *int64) pastRow {
	return param.From("arg.told.", name, least, func(q *pastQuery, n int64) { *to(q) = min(n, noBefore-1) })
}

// wordRow is one of some words.
func wordRow(name, otherwise string, set func(q *pastQuery, word string), words ...string) pastRow {
	row := pastRowOf(name, "string", func(q *pastQuery, value *param.Value) {
		if word, ok := value.Word(); ok {
			set(q, word)
		}
	})
	row.Enum = words
	return withDefault(row, otherwise)
}

// formatRow is the choice of a format by name.
func formatRow(names ...string) pastRow {
	return wordRow("format", "", func(q *pastQuery, word string) { q.format = word }, names...)
}

// wordsRow is a list of words of which all have to be known to the caller.
func wordsRow[T any](name string, known func(caller calendar.Caller) []T, add func(q *pastQuery, word string)) pastRow {
	return pastRowOf(name, "array of string", func(q *pastQuery, value *param.Value) {
		own := *value.Param
		for _, word := range known(q.caller) {
			own.Enum = append(own.Enum, fmt.Sprint(word))
		}
		value.Param = &own
		for _, word := range value.Words() {
			add(q, word)
		}
	})
}

// kindsFor are the kinds whose past a caller may ask for.
func kindsFor(caller calendar.Caller) []calendar.Kind {
	if history.ReadsKept(caller) {
		return append(slices.Clip(calendar.Kinds[:]), calendar.KindImage, calendar.KindUser)
	}
	return calendar.Kinds[:]
}

// idsRow is a list of ids from least on; 0, the service itself, only for callers who read
// all.
func idsRow(name string, least calendar.ID, to func(q *pastQuery) *[]calendar.ID) pastRow {
	return pastRowOf(name, "array of integer", func(q *pastQuery, value *param.Value) {
		if _, sent := value.Sent(); sent && least == 0 && !q.caller.ReadsAll() {
			value.Refuse(calendar.ReasonReaders)
			return
		}
		for _, text := range value.List() {
			n, ok := calendar.ParseInt(text)
			if !calendar.IsDigits(text) || !ok || calendar.ID(n) < least {
				value.Refuse(calendar.ReasonEntry, text)
				return
			}
			*to(q) = append(*to(q), calendar.ID(n))
		}
	})
}

func momentRow(name string, to func(q *pastQuery) *time.Time) pastRow {
	return pastRowOf(name, "date", func(q *pastQuery, value *param.Value) {
		text, ok := value.Plain(calendar.ReasonDate)
		if !ok {
			return
		}
		if *to(q), _, ok = history.ParseMoment(text, q.o.Now(), q.o.Site); !ok {
			value.Refuse(calendar.ReasonDate)
		}
	})
}

// appendJSON writes a value without escaping < > &.
func appendJSON(data []byte, value any) ([]byte, error) {
	text, err := history.Marshal(value)
	return append(data, text...), err
}

// mayReadPast reports whether the setting lets a caller read the past (HISTORY 4.3): nil,
// CodeUnauthorized or CodeForbidden.
func (call *call) mayReadPast() error {
	switch {
	case call.o.PublicHistory == PublicHistoryAll || call.caller.ReadsAll():
		return nil
	case call.caller.Role == calendar.Anonymous:
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	default:
		return calendar.Fail(calendar.CodeForbidden, 0)
	}
}

// maxGroups bounds the header Cache-Groups, in bytes.
const maxGroups = 4 << 10

// name names a record that the answer is of and those that its sentences name, and reports
// whether all of them found room. What does not name all is not kept without being asked for.
func (ans *answer) name(id calendar.ID, named []calendar.ID) bool {
	slices.Sort(named)
	groups := cacheGroups(slices.Insert(slices.Compact(named), 0, id)...)
	whole := len(groups) <= maxGroups
	if !whole {
		groups = cacheGroups(id)
	}
	ans.add(headerGroups, groups)
	return whole
}

// cacheGroups names the records that an answer shows (RFC 9875).
func cacheGroups(ids ...calendar.ID) string {
	var builder strings.Builder
	for i, id := range ids {
		if i > 0 {
			builder.WriteString(", ")
		}
		builder.WriteString(`"daybook-` + id.String() + `"`)
	}
	return builder.String()
}

// fits refuses what is larger than an answer may be.
func (call *call) fits(body []byte) error {
	if len(body) > call.o.MaxAnswer {
		return query.ErrTooLarge
	}
	return nil
}
