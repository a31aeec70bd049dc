package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/httpapi/openapi"
)

// historyTable are the parameters of the history of a record (HISTORY 5).
var historyTable = toldTable{orderRow, afterRow, beforeRow, limitRow, actionRow, fieldRow, languageRow}

func historyRoute(k calendar.Kind) *route {
	return pastRoute(k, "history", (*api).history, openapi.Operation{
		Args: historyTable.Params(), Headers: []string{"ETag", headerLink, headerGroups},
		Content: openapi.JSON(openapi.Ref("HistoryPage")),
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
		version, err := a.History.Present(ctx, c.caller, c.route.kind, id)
		if err != nil {
			return nil, err
		}
		page := historyPage{q: q, table: historyTable, format: entryFormats[0], url: c.root.Collection(c.route.kind) + "/" + id.String() + "/history"}
		page.Record, page.From, page.To = id, q.after+1, min(version, q.before-1)
		if err := a.readPage(ctx, c, &page); err != nil {
			return nil, err
		}
		ans := page.answer(a, c)
		groups, _ := groupsOf(id, page.named)
		ans.add(headerGroups, groups)
		return ans, nil
	}})
}

// historyPage is a page of entries that is to be written.
type historyPage struct {
	history.Walk

	q      *toldQuery
	table  toldTable
	format *entryFormat
	url    string // without parameters
	head   string // of the log, "" for the history of a record

	body    []byte
	entries int
	next    string        // URL of the next page, "" for none
	named   []calendar.ID // the records that sentences name
}

// readPage makes a page. It ends early where it would become large or late.
func (a *api) readPage(ctx context.Context, c *call, page *historyPage) error {
	q := page.q
	page.Ascending, page.Filter, page.Limit = q.ascending, q.filter, q.limit
	late := a.o.Now().Add(a.o.ReadDeadline / 2)
	b := page.format.begin(nil)
	pace := c.pass.Pace(a.past, a.o.Now)
	for e, err := range a.History.Entries(ctx, a.viewer(c), &page.Walk) {
		if err != nil {
			return err
		}
		pace.Rest(ctx)
		if e != nil {
			if b, err = page.format.item(b, page.entries, e); err != nil {
				return err
			}
			page.entries++
			page.named = append(page.named, e.Named...)
		}
		if page.entries == q.limit || len(b) >= a.o.MaxAnswer/2 || a.o.Now().After(late) {
			break
		}
	}
	if page.LookedTo > 0 && page.More() {
		bound := "before"
		if q.ascending {
			bound = "after"
		}
		page.next = q.link(page.url, page.table, bound, page.LookedTo)
	}
	page.body = page.format.end(b, page)
	return a.fits(page.body)
}

// viewer is who reads the past.
func (a *api) viewer(c *call) history.Viewer {
	return history.Viewer{Caller: c.caller, Lang: c.lang, Collection: c.root.Collection}
}

// answer returns the answer with the headers that all pages have.
func (p *historyPage) answer(a *api, c *call) *answer {
	ans := newAnswer(p.body, p.format.header, a.weakTag(string(p.body)), c.lang)
	if p.head != "" {
		ans.add(headerPosition, p.head)
	}
	if p.next != "" {
		ans.add(headerLink, "<"+p.next+`>; rel="next"`)
	}
	return ans
}

// entryFormat is a form in which entries are answered.
type entryFormat struct {
	name   string
	media  []string // the members of Accept that ask for it, in lower case; the first is its own
	header []string // value of Content-Type
	begin  func(b []byte) []byte
	item   func(b []byte, n int, e *history.Entry) ([]byte, error) // n entries stand before it
	end    func(b []byte, p *historyPage) []byte
}

func endNothing(b []byte, _ *historyPage) []byte { return b }

// entryFormats are the formats of changes (HISTORY 10.2); histories have the first.
var entryFormats = []*entryFormat{
	{
		name: "json", media: []string{"application/json", "application/*", "*/*"}, header: valueJSON,
		begin: func(b []byte) []byte { return append(b, `{"entries":[`...) },
		item: func(b []byte, n int, e *history.Entry) ([]byte, error) {
			return appendJSON(formats.AppendComma(b, n), e)
		},
		end: endPage,
	},
	{
		name: "ndjson", media: []string{"application/x-ndjson"}, header: []string{"application/x-ndjson; charset=utf-8"},
		begin: func(b []byte) []byte { return b },
		item: func(b []byte, _ int, e *history.Entry) ([]byte, error) {
			b, err := appendJSON(b, e)
			return append(b, '\n'), err
		},
		end: endNothing,
	},
	{
		name: "csv", media: []string{"text/csv"}, header: []string{"text/csv; charset=utf-8; header=present"},
		begin: func(b []byte) []byte {
			return append(b, "position,time,kind,id,version,action,actor,actor_name,client,request,reason,name,fields,summary\r\n"...)
		},
		item: func(b []byte, _ int, e *history.Entry) ([]byte, error) { return appendRow(b, e), nil },
		end:  endNothing,
	},
}

func endPage(b []byte, p *historyPage) []byte {
	b = formats.AppendMembers(append(b, ']'), formats.Object{
		"rest_url", p.q.link(p.url, p.table, "", 0), "next_rest_url", formats.Filled(p.next),
	})
	if p.LookedTo > 0 {
		b = formats.AppendMembers(b, formats.Object{"looked_to", int(p.LookedTo)})
	}
	b = formats.AppendMembers(b, formats.Object{"head", json.RawMessage(p.head)})
	return append(b, '}')
}

// appendRow writes an entry as a row of CSV (HISTORY 10.2).
func appendRow(b []byte, e *history.Entry) []byte {
	var actor, name string
	if e.Actor != nil {
		actor, name = e.Actor.ID.String(), e.Actor.Name
	}
	var fields []string
	for i := range e.Changes {
		if field := e.Changes[i].Field; !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	for i, cell := range []string{
		e.Position.String(), e.Time.String(), e.Kind, e.ID.String(), strconv.FormatInt(e.Version, 10), string(e.Action), actor, name,
		e.Client, e.Request, e.Reason, e.Name, strings.Join(fields, ";"), e.Summary,
	} {
		b = formats.AppendCell(formats.AppendComma(b, i), cell, true)
	}
	return append(b, "\r\n"...)
}
