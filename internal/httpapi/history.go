package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/history"
)

// historyTable are the parameters of the history of a record (HISTORY 5).
var historyTable = toldTable{orderRow(), afterRow(), beforeRow(), limitRow(), actionRow(), fieldRow(), languageRow()}

func historyRoute(k calendar.Kind) *route {
	return pastRoute(k, "history", historyTable.Params(), operation{
		headers: []string{"ETag", headerEncoding, headerLink, headerGroups},
		content: jsonContent(schemaRef("HistoryPage")), work: (*api).history,
	})
}

// history answers the entries of one record (HISTORY 5).
func (a *api) history(w http.ResponseWriter, r *http.Request) error {
	c := callOf(r)
	c.fresh = valueAskBack
	if err := a.mayReadPast(c); err != nil {
		return err
	}
	var problems calendar.Problems
	q, _ := a.readTold(c, historyTable, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	id := c.targetOf().id
	return a.read(w, r, c, &question{turns: a.past, smaller: []string{"limit"}, make: func(ctx context.Context, _ stated) (*answer, error) {
		version, _, err := a.History.Present(ctx, c.caller, c.route.kind, id)
		if err != nil {
			return nil, err
		}
		page := toldPage{q: q, table: historyTable, format: toldFormats[0], url: c.root.collection(c.route.kind) + "/" + id.String() + "/history"}
		walk := history.Walk{Record: id, From: q.after + 1, To: min(version, q.before-1)}
		if err := a.look(ctx, r, c, &page, walk); err != nil {
			return nil, err
		}
		ans := page.answer(a, c)
		groups, _ := groupsOf(id, page.named)
		ans.add(headerGroups, groups)
		return ans, nil
	}})
}

// toldPage is a page of entries that is to be written.
type toldPage struct {
	q      *toldQuery
	table  toldTable
	format *toldFormat
	url    string // without parameters
	head   string // of the log, "" for the history of a record

	body     []byte
	entries  int
	lookedTo int64
	next     string        // URL of the next page, "" for none
	named    []calendar.ID // the records that sentences name
}

// look makes a page. It ends early where it would become large or late.
func (a *api) look(ctx context.Context, r *http.Request, c *call, page *toldPage, walk history.Walk) error {
	q := page.q
	walk.Ascending, walk.Filter, walk.Page, walk.Most = q.ascending, q.filter, q.limit, mostLookedAt
	from := a.o.Now()
	walk.Enough = func() bool { return a.o.Now().Sub(from) > a.o.ReadDeadline/2 }
	page.body = page.format.begin(nil)
	pace := c.pass.Pace(a.past, a.o.Now)
	var err error
	page.lookedTo, err = a.History.Walk(ctx, a.listener(c), walk, func(_ int64, e *history.Entry) (bool, error) {
		pace.Rest(ctx)
		if e == nil {
			return true, nil
		}
		if page.body, err = page.format.item(page.body, page.entries, e); err != nil {
			return false, err
		}
		page.entries++
		page.named = append(page.named, e.Named()...)
		return page.entries < q.limit && len(page.body) < a.o.MaxAnswer/2, nil
	})
	if err != nil {
		return err
	}
	if page.lookedTo > 0 && walk.Remains(page.lookedTo) {
		bound := "before"
		if q.ascending {
			bound = "after"
		}
		page.next = q.link(page.url, page.table, bound, page.lookedTo)
	}
	page.body = page.format.end(page.body, page)
	return a.fits(page.body)
}

// listener is to whom the past is told.
func (a *api) listener(c *call) history.Listener {
	return history.Listener{Caller: c.caller, Lang: c.lang, Collection: c.root.collection}
}

// answer gives the answer with the headers that all pages have.
func (p *toldPage) answer(a *api, c *call) *answer {
	ans := newAnswer(p.body, p.format.header, a.weakTag(string(p.body)), c.lang)
	if p.head != "" {
		ans.add(headerPosition, p.head)
	}
	if p.next != "" {
		ans.add(headerLink, "<"+p.next+`>; rel="next"`)
	}
	return ans
}

// toldFormat is a form in which entries are answered.
type toldFormat struct {
	name   string
	media  []string // the members of Accept that ask for it, in lower case; the first is its own
	header []string // value of Content-Type
	begin  func(b []byte) []byte
	item   func(b []byte, n int, e *history.Entry) ([]byte, error) // n entries stand before it
	end    func(b []byte, p *toldPage) []byte
}

// toldFormats are the formats of changes (HISTORY 10.2); histories have the first.
var toldFormats = []*toldFormat{
	{
		name: "json", media: []string{"application/json", "application/*", "*/*"}, header: valueJSON,
		begin: func(b []byte) []byte { return append(b, `{"entries":[`...) },
		item: func(b []byte, n int, e *history.Entry) ([]byte, error) {
			return appendJSON(appendComma(b, n), e)
		},
		end: endTold,
	},
	{
		name: "ndjson", media: []string{"application/x-ndjson"}, header: []string{"application/x-ndjson; charset=utf-8"},
		begin: func(b []byte) []byte { return b },
		item: func(b []byte, _ int, e *history.Entry) ([]byte, error) {
			b, err := appendJSON(b, e)
			return append(b, '\n'), err
		},
		end: func(b []byte, _ *toldPage) []byte { return b },
	},
	{
		name: "csv", media: []string{"text/csv"}, header: []string{"text/csv; charset=utf-8; header=present"},
		begin: func(b []byte) []byte { return appendRow(b, csvColumns) },
		item: func(b []byte, _ int, e *history.Entry) ([]byte, error) {
			return appendRow(b, csvRow(e)), nil
		},
		end: func(b []byte, _ *toldPage) []byte { return b },
	},
}

func endTold(b []byte, p *toldPage) []byte {
	b = append(b, `],"rest_url":`...)
	b = appendString(b, p.q.link(p.url, p.table, "", 0))
	b = appendFilled(b, `,"next_rest_url":`, p.next, plainText)
	if p.lookedTo > 0 {
		b = strconv.AppendInt(append(b, `,"looked_to":`...), p.lookedTo, 10)
	}
	if p.head != "" {
		b = append(append(b, `,"head":`...), p.head...)
	}
	return append(b, '}')
}

// csvColumns are the columns of changes (HISTORY 10.2).
var csvColumns = strings.Split("position,time,kind,id,version,action,actor,actor_name,client,request,reason,name,fields,summary", ",")

func csvRow(e *history.Entry) []string {
	var actor, name string
	if e.Actor != nil {
		actor, name = e.Actor.ID.String(), e.Actor.Name
	}
	var fields []string
	for _, c := range e.Changes {
		if !slices.Contains(fields, c.Field) {
			fields = append(fields, c.Field)
		}
	}
	return []string{
		e.Position.String(), e.Time, e.Kind, e.ID.String(), strconv.FormatInt(e.Version, 10), string(e.Action), actor, name,
		e.Client, e.Request, e.Reason, e.Name, strings.Join(fields, ";"), e.Summary,
	}
}

// appendRow writes a line of CSV (RFC 4180). What a spreadsheet would take for a formula
// gets an apostrophe before it.
func appendRow(b []byte, cells []string) []byte {
	for i, cell := range cells {
		b = appendComma(b, i)
		if cell != "" && strings.IndexByte("=+-@\t\r", cell[0]) >= 0 {
			cell = "'" + cell
		}
		if strings.ContainsAny(cell, "\",\r\n") {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		b = append(b, cell...)
	}
	return append(b, "\r\n"...)
}
