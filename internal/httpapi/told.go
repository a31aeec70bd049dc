package httpapi

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/query"
)

// toldQuery is what is asked of the past: what the parameters of histories, changes and streams say
// (HISTORY 5, 10.1, 11).
type toldQuery struct {
	ascending     bool
	after, before int64 // before is math.MaxInt64 where it was not sent
	limit         int
	format        string // "" where it was not sent
	filter        history.Filter
	records       bool // of diff
	in            calendar.Input

	caller calendar.Caller
	lang   calendar.Lang
	now    time.Time
	site   *time.Location
}

// toldTable are the parameters of an operation on the past.
type toldTable = param.Table[toldQuery]

// toldRow is one of them.
type toldRow = param.Row[toldQuery]

// The bounds of pages.
const (
	toldLimit = 50   // entries of a page where none is sent
	toldMost  = 1000 // entries of a page
)

// readTold reads the parameters of a table, all problems at once.
func (c *call) readTold(table toldTable, problems *calendar.Problems) (*toldQuery, calendar.Input) {
	in := inputOf(c.query, table.IsList)
	q := &toldQuery{before: noBefore, limit: toldLimit, in: in, caller: c.caller, lang: c.loc.lang, now: c.o.Now(), site: c.o.Site}
	table.Read(param.NewValue(in, problems), q)
	c.lang = q.lang
	return q, in
}

// listText is a list of words or numbers as one comma text.
func listText(v any) string {
	list := calendar.ParseList(v)
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i], _ = e.(string)
	}
	return strings.Join(texts, ",")
}

const noBefore = 1<<63 - 1

// link is the URL of a page: what was sent, with one parameter replaced by a number.
func (q *toldQuery) link(address string, table toldTable, name string, n int64) string {
	var params []query.LinkParam
	for i := range table {
		p := &table[i]
		value, sent := q.in[p.Name].(string)
		switch {
		case p.Name == name:
			value, sent = strconv.FormatInt(n, 10), true
		case p.IsList() && q.in[p.Name] != nil:
			value, sent = listText(q.in[p.Name]), true
		}
		if sent {
			params = append(params, query.LinkParam{Name: p.Name, Value: value})
		}
	}
	links := query.LinksTo(address, params)
	return links.Page(1)
}

var (
	orderRow = toldRow{
		Param: param.Param{Name: "order", In: "query", Type: "string", Text: "arg.told.order", Default: `"desc"`, Enum: []string{"asc", "desc"}, Extension: true},
		Read:  func(q *toldQuery, v *param.Value) { q.ascending = wordOf(v) == "asc" },
	}
	afterRow  = param.From("arg.told.", "after", 0, func(q *toldQuery, n int64) { q.after = min(n, noBefore-1) }) // there is a number behind it
	beforeRow = param.From("arg.told.", "before", 0, func(q *toldQuery, n int64) { q.before = min(n, noBefore-1) })
	kindRow   = wordsRow("kind", func(c calendar.Caller) []string { return kindNames(kindsFor(c)) }, func(q *toldQuery, word string) {
		k, _ := calendar.ParseKind(word)
		q.filter.Kinds = append(q.filter.Kinds, k)
	})
	actionRow = wordsRow("action", func(calendar.Caller) []string { return actionNames() },
		func(q *toldQuery, word string) { q.filter.Actions = append(q.filter.Actions, history.Action(word)) })
	fieldRow = wordsRow("field", func(c calendar.Caller) []string { return history.FieldNames(kindsFor(c)...) },
		func(q *toldQuery, word string) { q.filter.Fields = append(q.filter.Fields, word) })
	idRow       = idsRow("id", 1, false, func(q *toldQuery) *[]calendar.ID { return &q.filter.IDs })
	actorRow    = idsRow("actor", 0, true, func(q *toldQuery) *[]calendar.ID { return &q.filter.Actors })
	languageRow = param.Language(func(q *toldQuery) *calendar.Lang { return &q.lang })
	limitRow    = toldRow{
		Param: param.Param{
			Name: "limit", In: "query", Type: "integer", Text: "arg.told.limit", Default: strconv.Itoa(toldLimit),
			Schema: object{"minimum": 1, "default": toldLimit}, Extension: true,
		},
		Read: func(q *toldQuery, v *param.Value) {
			if n, ok := v.From(1); ok {
				q.limit = int(min(n, toldMost))
			}
		},
	}
)

// toldParam is a parameter of the past as it is documented.
func toldParam(name, declared string) param.Param {
	return param.Param{Name: name, In: "query", Type: declared, Text: "arg.told." + name, Extension: true}
}

// wordOf reads one of the words of a parameter as it was sent; "" where none was.
func wordOf(v *param.Value) string {
	sent, ok := v.Sent()
	word, _ := sent.(string)
	if ok && !slices.Contains(v.Enum, word) {
		v.Refuse(calendar.ReasonWord, strings.Join(v.Enum, ", "))
	}
	return word
}

// formatRow is the choice of a format by name.
func formatRow(names ...string) toldRow {
	p := toldParam("format", "string")
	p.Enum = names
	return toldRow{Param: p, Read: func(q *toldQuery, v *param.Value) { q.format = wordOf(v) }}
}

// wordsRow is a list of words of which all have to be known to the caller.
func wordsRow(name string, known func(c calendar.Caller) []string, add func(q *toldQuery, word string)) toldRow {
	return toldRow{Param: toldParam(name, "array of string"), Read: func(q *toldQuery, v *param.Value) {
		sent, ok := v.Sent()
		words, list := known(q.caller), calendar.ParseList(sent)
		if ok && len(list) == 0 {
			v.Refuse(calendar.ReasonEmpty)
		}
		for _, e := range list {
			word, _ := e.(string)
			if !slices.Contains(words, word) {
				v.Refuse(calendar.ReasonWord, strings.Join(words, ", "))
				return
			}
			add(q, word)
		}
	}}
}

func kindNames(kinds []calendar.Kind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return names
}

func actionNames() []string {
	names := make([]string, len(history.Actions))
	for i, a := range history.Actions {
		names[i] = string(a)
	}
	return names
}

// kindsFor are the kinds whose past a caller may ask for.
func kindsFor(c calendar.Caller) []calendar.Kind {
	if history.ReadsKept(c) {
		return allKinds
	}
	return calendar.Kinds[:]
}

var allKinds = append(slices.Clip(calendar.Kinds[:]), calendar.KindImage, calendar.KindUser)

// idsRow is a list of numbers from least on; readers: only of callers who read all.
func idsRow(name string, least int64, readers bool, to func(q *toldQuery) *[]calendar.ID) toldRow {
	return toldRow{Param: toldParam(name, "array of integer"), Read: func(q *toldQuery, v *param.Value) {
		sent, ok := v.Sent()
		list := calendar.ParseList(sent)
		switch {
		case !ok:
			return
		case readers && !q.caller.ReadsAll():
			v.Refuse(calendar.ReasonReaders)
			return
		case len(list) == 0:
			v.Refuse(calendar.ReasonEmpty)
			return
		case len(list) > calendar.MaxElements:
			v.Refuse(calendar.ReasonTooMany, strconv.Itoa(calendar.MaxElements))
			return
		}
		for _, e := range list {
			n, ok := calendar.ParseInt(e)
			if text, _ := e.(string); !calendar.IsDigits(text) && least > 0 || !ok || n < least {
				v.Refuse(calendar.ReasonEntry, text)
				return
			}
			*to(q) = append(*to(q), calendar.ID(n))
		}
	}}
}

func momentRow(name string, to func(q *toldQuery) *time.Time) toldRow {
	return toldRow{Param: toldParam(name, "date"), Read: func(q *toldQuery, v *param.Value) {
		sent, ok := v.Sent()
		if !ok {
			return
		}
		text, _ := sent.(string)
		if *to(q), _, ok = history.ParseMoment(calendar.Trim(text), q.now, q.site); !ok {
			v.Refuse(calendar.ReasonDate)
		}
	}}
}

// appendJSON writes a value without escaping < > &.
func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := history.Marshal(v)
	return append(b, text...), err
}

// mayReadPast tells whether the setting lets a caller read the past (HISTORY 4.3): nil,
// CodeUnauthorized or CodeForbidden.
func (c *call) mayReadPast() error {
	switch {
	case c.o.PublicHistory == PublicHistoryAll || c.caller.ReadsAll():
		return nil
	case c.caller.Role == calendar.Anonymous:
		return calendar.Fail(calendar.CodeUnauthorized, 0)
	default:
		return calendar.Fail(calendar.CodeForbidden, 0)
	}
}

// maxGroups bounds the header Cache-Groups, in bytes.
const maxGroups = 4 << 10

// groupsOf names a record and those that sentences name; whole tells that all of them
// found room. What does not name all is not kept without being asked for.
func groupsOf(id calendar.ID, named []calendar.ID) (groups string, whole bool) {
	named = slices.Clone(named)
	slices.Sort(named)
	all := cacheGroups(append([]calendar.ID{id}, slices.Compact(named)...)...)
	if len(all) > maxGroups {
		return cacheGroups(id), false
	}
	return all, true
}

// cacheGroups names the records that an answer shows (RFC 9875).
func cacheGroups(ids ...calendar.ID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"daybook-` + id.String() + `"`)
	}
	return b.String()
}

// fits refuses what is larger than an answer may be.
func (a *api) fits(body []byte) error {
	if len(body) > a.o.MaxAnswer {
		return query.ErrTooLarge
	}
	return nil
}
