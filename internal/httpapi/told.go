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
	records       bool              // of diff
	links         []query.LinkParam // what was sent, in the order of the table

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
func (a *api) readTold(c *call, table toldTable, problems *calendar.Problems) (*toldQuery, calendar.Input) {
	in := inputOf(c.query, table.IsList)
	q := &toldQuery{before: noBefore, limit: toldLimit, caller: c.caller, lang: c.loc.lang, now: a.o.Now(), site: a.o.Site}
	table.Read(param.NewValue(in, problems), q)
	c.lang = q.lang
	for i := range table {
		p := &table[i]
		if v, sent := in[p.Name]; p.IsList() && sent {
			q.links = append(q.links, query.LinkParam{Name: p.Name, Value: listText(v)})
		} else if text, ok := v.(string); ok {
			q.links = append(q.links, query.LinkParam{Name: p.Name, Value: text})
		}
	}
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
	params := q.links
	if name != "" {
		place := func(name string) int {
			return slices.IndexFunc(table, func(p toldRow) bool { return p.Name == name })
		}
		at := 0
		for at < len(params) && place(params[at].Name) < place(name) {
			at++
		}
		params = slices.Clone(params)
		if at < len(params) && params[at].Name == name {
			params = slices.Delete(params, at, at+1)
		}
		params = slices.Insert(params, at, query.LinkParam{Name: name, Value: strconv.FormatInt(n, 10)})
	}
	links := query.LinksTo(address, params)
	return links.Page(1)
}

// The rows.

// toldParam is a parameter of the past as it is documented.
func toldParam(name, declared string) param.Param {
	return param.Param{Name: name, In: "query", Type: declared, Text: "arg.told." + name, Extension: true}
}

func orderRow() toldRow {
	p := toldParam("order", "string")
	p.Default, p.Enum = `"desc"`, []string{"asc", "desc"}
	return toldRow{Param: p, Read: func(q *toldQuery, v *param.Value) { q.ascending = wordOf(v) == "asc" }}
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

// numberRow is a whole number from least on.
func numberRow(name string, least int64, set func(q *toldQuery, n int64)) toldRow {
	return param.From("arg.told.", name, least, set)
}

func afterRow() toldRow {
	return numberRow("after", 0, func(q *toldQuery, n int64) { q.after = min(n, noBefore-1) }) // there is a number behind it
}

func beforeRow() toldRow {
	return numberRow("before", 0, func(q *toldQuery, n int64) { q.before = min(n, noBefore-1) })
}

func limitRow() toldRow {
	row := numberRow("limit", 1, func(q *toldQuery, n int64) { q.limit = int(min(n, toldMost)) })
	row.Default, row.Schema = strconv.Itoa(toldLimit), object{"minimum": 1, "default": toldLimit}
	return row
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
			word, ok := e.(string)
			if !ok || !slices.Contains(words, word) {
				v.Refuse(calendar.ReasonWord, strings.Join(words, ", "))
				return
			}
			add(q, word)
		}
	}}
}

func kindRow() toldRow {
	return wordsRow("kind", func(c calendar.Caller) []string {
		kinds := kindsFor(c)
		words := make([]string, len(kinds))
		for i, k := range kinds {
			words[i] = k.String()
		}
		return words
	}, func(q *toldQuery, word string) {
		k, _ := calendar.ParseKind(word)
		q.filter.Kinds = append(q.filter.Kinds, k)
	})
}

// kindsFor are the kinds whose past a caller may ask for.
func kindsFor(c calendar.Caller) []calendar.Kind {
	kinds := calendar.Kinds[:]
	if history.ReadsKept(c) {
		kinds = append(slices.Clip(kinds), calendar.KindImage, calendar.KindUser)
	}
	return kinds
}

func actionRow() toldRow {
	return wordsRow("action", func(calendar.Caller) []string {
		words := make([]string, len(history.Actions))
		for i, a := range history.Actions {
			words[i] = string(a)
		}
		return words
	}, func(q *toldQuery, word string) { q.filter.Actions = append(q.filter.Actions, history.Action(word)) })
}

func fieldRow() toldRow {
	return wordsRow("field", func(c calendar.Caller) []string { return history.FieldNames(kindsFor(c)...) },
		func(q *toldQuery, word string) { q.filter.Fields = append(q.filter.Fields, word) })
}

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

func idRow() toldRow {
	return idsRow("id", 1, false, func(q *toldQuery) *[]calendar.ID { return &q.filter.IDs })
}

func actorRow() toldRow {
	return idsRow("actor", 0, true, func(q *toldQuery) *[]calendar.ID { return &q.filter.Actors })
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

func languageRow() toldRow {
	return param.Language(func(q *toldQuery) *calendar.Lang { return &q.lang })
}

// appendJSON writes a value without escaping < > &.
func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := history.Marshal(v)
	return append(b, text...), err
}

// mayReadPast tells whether the setting lets a caller read the past (HISTORY 4.3): nil,
// CodeUnauthorized or CodeForbidden.
func (a *api) mayReadPast(c *call) error {
	switch {
	case a.o.PublicHistory == PublicHistoryAll || c.caller.ReadsAll():
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
