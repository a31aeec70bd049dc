package httpapi

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/history"
)

// historyRead is the history of a record (HISTORY 5).
var historyRead = pastRead{table: pastTable{orderRow, afterRow, beforeRow, limitRow, actionRow, fieldRow, languageRow}, answer: answerHistory, smaller: []string{"limit"}}

// history answers the entries of one record.
func answerHistory(ctx context.Context, c *call, q *pastQuery) (*answer, error) {
	id := c.targetOf().id
	version, err := c.History.Present(ctx, c.caller, c.route.kind, id)
	if err != nil {
		return nil, err
	}
	page := historyPage{q: q, format: entryFormats[0], url: c.root.Collection(c.route.kind) + "/" + id.String() + "/history"}
	page.Record, page.To = id, min(version, q.before-1)
	ans, err := c.entriesPage(ctx, &page)
	if err == nil {
		ans.name(id, page.named)
	}
	return ans, err
}

// historyPage is a page of entries that is to be written.
type historyPage struct {
	history.Walk

	q      *pastQuery
	format *entryFormat
	url    string // without parameters
	head   string // of the log, "" for the history of a record

	next  string        // URL of the next page, "" for none
	named []calendar.ID // the records that sentences name
}

// entriesPage makes a page. It ends early where it would become large or late.
func (c *call) entriesPage(ctx context.Context, page *historyPage) (*answer, error) {
	pastQuery, n := page.q, 0
	page.From, page.Ascending, page.Filter, page.Limit = pastQuery.after+1, pastQuery.ascending, pastQuery.filter, int(pastQuery.limit)
	late := c.o.Now().Add(c.o.ReadDeadline / 2)
	data := []byte(page.format.begin)
	pace := c.pass.Pace(c.past, c.o.Now)
	for entry, err := range c.History.Entries(ctx, c.viewer(), &page.Walk) {
		if err != nil {
			return nil, err
		}
		pace.Rest(ctx)
		if entry != nil {
			if data, err = page.format.item(data, n, entry); err != nil {
				return nil, err
			}
			n++
			page.named = append(page.named, entry.Named...)
		}
		if n == page.Limit || len(data) >= c.o.MaxAnswer/2 || c.o.Now().After(late) {
			break
		}
	}
	if page.LookedTo > 0 && page.More() {
		bound := "before"
		if pastQuery.ascending {
			bound = "after"
		}
		page.next = pastQuery.link(page.url, bound, page.LookedTo)
	}
	if page.format == entryFormats[0] {
		data = page.end(data)
	}
	if err := c.fits(data); err != nil {
		return nil, err
	}
	ans := newAnswer(data, page.format.header, c.weakTag(string(data)), c.lang)
	if page.head != "" {
		ans.add(headerPosition, page.head)
	}
	if page.next != "" {
		ans.add(headerLink, "<"+page.next+`>; rel="next"`)
	}
	return ans, nil
}

// viewer is who reads the past.
func (c *call) viewer() history.Viewer {
	return history.Viewer{Caller: c.caller, Lang: c.lang, Collection: c.root.Collection}
}

// entryFormat is a form in which entries are answered.
type entryFormat struct {
	name   string
	media  []string // the members of Accept that ask for it, in lower case; the first is its own
	header []string // value of Content-Type
	begin  string
	item   func(b []byte, n int, e *history.Entry) ([]byte, error) // n entries stand before it
}

// entryFormats are the formats of changes (HISTORY 10.2); histories have the first.
var entryFormats = []*entryFormat{
	{
		name: "json", media: []string{"application/json", "application/*", "*/*"}, header: valueJSON, begin: `{"entries":[`,
		item: func(b []byte, n int, e *history.Entry) ([]byte, error) {
			return appendJSON(formats.AppendComma(b, n), e)
		},
	},
	{
		name: "ndjson", media: []string{"application/x-ndjson"}, header: []string{"application/x-ndjson; charset=utf-8"},
		item: func(b []byte, _ int, e *history.Entry) ([]byte, error) {
			b, err := appendJSON(b, e)
			return append(b, '\n'), err
		},
	},
	{
		name: "csv", media: []string{"text/csv"}, header: []string{"text/csv; charset=utf-8; header=present"},
		begin: "position,time,kind,id,version,action,actor,actor_name,client,request,reason,name,fields,summary\r\n",
		item:  func(b []byte, _ int, e *history.Entry) ([]byte, error) { return appendRow(b, e), nil },
	},
}

// end ends a page in JSON.
func (p *historyPage) end(data []byte) []byte {
	data = formats.AppendMembers(append(data, ']'), formats.Object{
		"rest_url", p.q.link(p.url, "", 0), "next_rest_url", formats.Filled(p.next),
	})
	if p.LookedTo > 0 {
		data = formats.AppendMembers(data, formats.Object{"looked_to", int(p.LookedTo)})
	}
	data = formats.AppendMembers(data, formats.Object{"head", json.RawMessage(p.head)})
	return append(data, '}')
}

// appendRow writes an entry as a row of CSV (HISTORY 10.2).
func appendRow(data []byte, entry *history.Entry) []byte {
	var actor, name string
	if entry.Actor != nil {
		actor, name = entry.Actor.ID.String(), entry.Actor.Name
	}
	var fields []string
	for i := range entry.Changes {
		if field := entry.Changes[i].Field; !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	for i, cell := range []string{
		entry.Position.String(), entry.Time.String(), entry.Kind, entry.ID.String(), strconv.FormatInt(entry.Version, 10), string(entry.Action), actor, name,
		entry.Client, entry.Request, entry.Reason, entry.Name, strings.Join(fields, ";"), entry.Summary,
	} {
		data = formats.AppendCell(formats.AppendComma(data, i), cell, true)
	}
	return append(data, "\r\n"...)
}
