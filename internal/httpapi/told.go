package httpapi

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/texts"
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
	now    time.Time
	site   *time.Location
}

// toldParam is a parameter of the past: its row in the documentation and its reader, which
// is given what was sent.
type toldParam struct {
	argument
	read func(q *toldQuery, v any, bad func(calendar.Reason, ...string))
}

// The bounds of pages.
const (
	toldLimit    = 50   // entries of a page where none is sent
	toldMost     = 1000 // entries of a page
	mostLookedAt = 5000 // entries that a page looks at
)

// isList tells whether the parameter takes several values.
func (p *toldParam) isList() bool {
	_, list := elementType(p.declared)
	return list
}

// readTold reads the parameters of a table, all problems at once.
func (a *api) readTold(c *call, table []toldParam, problems *calendar.Problems) (*toldQuery, calendar.Input) {
	in := inputOf(c.query, func(name string) bool {
		return slices.ContainsFunc(table, func(p toldParam) bool { return p.name == name && p.isList() })
	})
	q := &toldQuery{before: noBefore, limit: toldLimit, caller: c.caller, now: a.o.Now(), site: a.o.Site}
	for i := range table {
		p := &table[i]
		v, sent := in[p.name]
		if !sent {
			continue
		}
		if text, ok := v.(string); ok && !p.isList() {
			q.links = append(q.links, query.LinkParam{Name: p.name, Value: text})
		}
		refused := false
		bad := func(r calendar.Reason, args ...string) {
			refused = true
			problems.Add(p.name, r, args...)
		}
		if p.read == nil {
			continue
		}
		p.read(q, v, bad)
		if p.isList() && !refused {
			q.links = append(q.links, query.LinkParam{Name: p.name, Value: listText(v)})
		}
	}
	c.lang = calendar.Language(in, c.loc.lang, problems)
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
func (q *toldQuery) link(address string, table []toldParam, name string, n int64) string {
	params := q.links
	if name != "" {
		place := func(name string) int {
			return slices.IndexFunc(table, func(p toldParam) bool { return p.name == name })
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

func orderRow() toldParam {
	return toldParam{
		argument{name: "order", in: "query", declared: "string", description: texts.Documentation["arg.told.order"], fallback: `"desc"`, enum: []string{"asc", "desc"}, extension: true},
		func(q *toldQuery, v any, bad func(calendar.Reason, ...string)) {
			if v != "asc" && v != "desc" {
				bad(calendar.ReasonWord, "asc, desc")
			}
			q.ascending = v == "asc"
		},
	}
}

// numberRow is a whole number from least on.
func numberRow(name string, least int64, take func(q *toldQuery, n int64)) toldParam {
	return toldParam{
		argument{name: name, in: "query", declared: "integer", description: texts.Documentation["arg.told."+name], schema: object{"minimum": least}, extension: true},
		func(q *toldQuery, v any, bad func(calendar.Reason, ...string)) {
			switch n, ok := calendar.ParseNearestInt(v); {
			case !ok:
				bad(calendar.ReasonTypeInteger)
			case n < least:
				bad(calendar.ReasonTooSmall, strconv.FormatInt(least, 10))
			default:
				take(q, n)
			}
		},
	}
}

func boundRow(name string, to func(q *toldQuery) *int64) toldParam {
	return numberRow(name, 0, func(q *toldQuery, n int64) { *to(q) = min(n, noBefore-1) }) // there is a number behind it
}

func afterRow() toldParam {
	return boundRow("after", func(q *toldQuery) *int64 { return &q.after })
}

func beforeRow() toldParam {
	return boundRow("before", func(q *toldQuery) *int64 { return &q.before })
}

func limitRow() toldParam {
	row := numberRow("limit", 1, func(q *toldQuery, n int64) { q.limit = int(min(n, toldMost)) })
	row.fallback, row.schema = strconv.Itoa(toldLimit), object{"minimum": 1, "default": toldLimit}
	return row
}

// wordsRow is a list of words of which all have to be known.
func wordsRow(name string, known func(c calendar.Caller) []string, take func(q *toldQuery, word string)) toldParam {
	return toldParam{
		argument{name: name, in: "query", declared: "array of string", description: texts.Documentation["arg.told."+name], extension: true},
		func(q *toldQuery, v any, bad func(calendar.Reason, ...string)) {
			words, list := known(q.caller), calendar.ParseList(v)
			if len(list) == 0 {
				bad(calendar.ReasonEmpty)
			}
			for _, e := range list {
				word, ok := e.(string)
				if !ok || !slices.Contains(words, word) {
					bad(calendar.ReasonWord, strings.Join(words, ", "))
					return
				}
				take(q, word)
			}
		},
	}
}

func kindRow() toldParam {
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

func actionRow() toldParam {
	return wordsRow("action", func(calendar.Caller) []string {
		words := make([]string, len(history.Actions))
		for i, a := range history.Actions {
			words[i] = string(a)
		}
		return words
	}, func(q *toldQuery, word string) { q.filter.Actions = append(q.filter.Actions, history.Action(word)) })
}

func fieldRow() toldParam {
	return wordsRow("field", func(c calendar.Caller) []string { return history.FieldNames(kindsFor(c)...) },
		func(q *toldQuery, word string) { q.filter.Fields = append(q.filter.Fields, word) })
}

// idsRow is a list of numbers from least on.
func idsRow(name string, least int64, readers bool, to func(q *toldQuery) *[]calendar.ID) toldParam {
	return toldParam{
		argument{name: name, in: "query", declared: "array of integer", description: texts.Documentation["arg.told."+name], extension: true},
		func(q *toldQuery, v any, bad func(calendar.Reason, ...string)) {
			list := calendar.ParseList(v)
			switch {
			case readers && !q.caller.ReadsAll():
				bad(calendar.ReasonReaders)
				return
			case len(list) == 0:
				bad(calendar.ReasonEmpty)
				return
			case len(list) > calendar.MaxElements:
				bad(calendar.ReasonTooMany, strconv.Itoa(calendar.MaxElements))
				return
			}
			for _, e := range list {
				n, ok := calendar.ParseInt(e)
				if text, _ := e.(string); !calendar.IsDigits(text) && least > 0 || !ok || n < least {
					bad(calendar.ReasonEntry, text)
					return
				}
				*to(q) = append(*to(q), calendar.ID(n))
			}
		},
	}
}

func idRow() toldParam {
	return idsRow("id", 1, false, func(q *toldQuery) *[]calendar.ID { return &q.filter.IDs })
}

func actorRow() toldParam {
	return idsRow("actor", 0, true, func(q *toldQuery) *[]calendar.ID { return &q.filter.Actors })
}

func momentRow(name string, to func(q *toldQuery) *time.Time) toldParam {
	return toldParam{
		argument{name: name, in: "query", declared: "date", description: texts.Documentation["arg.told."+name], extension: true},
		func(q *toldQuery, v any, bad func(calendar.Reason, ...string)) {
			text, _ := v.(string)
			at, _, ok := history.ParseMoment(calendar.Trim(text), q.now, q.site)
			if !ok {
				bad(calendar.ReasonDate)
			}
			*to(q) = at
		},
	}
}

func languageRow() toldParam { return toldParam{argument: languageArgument()} }

// arguments are the rows as the documentation shows them.
func arguments(rt *route, table []toldParam) []argument {
	var args []argument
	if rt.kind != 0 {
		args = append(args, pathArgument(rt))
	}
	for i := range table {
		args = append(args, table[i].argument)
	}
	return args
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
