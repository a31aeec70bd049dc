package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
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
func answerHistory(ctx context.Context, call *call, pastQuery *pastQuery) (*answer, error) {
	id := call.targetOf().id
	versions, err := call.History.Present(ctx, call.viewer(), call.route.kind, id)
	if err != nil {
		return nil, err
	}
	page := historyPage{pastQuery: pastQuery, format: entryFormats[0], url: call.root.Collection(call.route.kind) + "/" + id.String() + "/history"}
	page.Record, page.To = id, min(versions.Version, pastQuery.before-1)
	ans, err := call.entriesPage(ctx, &page)
	if err == nil {
		ans.name(id, page.named)
	}
	return ans, err
}

// historyPage is a page of entries that is to be written.
type historyPage struct {
	history.Walk

	pastQuery *pastQuery
	format    *entryFormat
	url       string // without parameters
	head      string // of the log, "" for the history of a record

	next  string        // URL of the next page, "" for none
	named []calendar.ID // the records that sentences name
}

// entriesPage makes a page. It ends early where it would become large or late.
func (call *call) entriesPage(ctx context.Context, page *historyPage) (*answer, error) {
	pastQuery, n := page.pastQuery, 0
	page.From, page.Ascending, page.Filter = pastQuery.after+1, pastQuery.ascending, pastQuery.filter
	late := call.o.Now().Add(call.o.ReadDeadline / 2)
	data := []byte(page.format.begin)
	pace := call.pass.Pace(call.past, call.o.Now)
	for entry, err := range call.History.Entries(ctx, call.viewer(), &page.Walk) {
		if err != nil {
			return nil, err
		}
		pace.Rest(ctx)
		if entry != nil {
			data = page.format.item(data, n, call.linked(entry))
			n++
			page.named = append(page.named, entry.Named...)
		}
		if n == int(pastQuery.limit) || len(data) >= call.o.MaxAnswer/2 || call.o.Now().After(late) {
			break
		}
	}
	if page.More() {
		bound := "before"
		if pastQuery.ascending {
			bound = "after"
		}
		page.next = pastQuery.link(page.url, bound, page.LookedTo)
	}
	if page.format == entryFormats[0] {
		data = page.end(data)
	}
	if err := call.fits(data); err != nil {
		return nil, err
	}
	ans := newAnswer(data, page.format.header, call.weakTag(string(data)), call.lang)
	if page.head != "" {
		ans.add(headerPosition, page.head)
	}
	if page.next != "" {
		ans.add(headerLink, "<"+page.next+`>; rel="next"`)
	}
	return ans, nil
}

// viewer is who reads the past.
func (call *call) viewer() history.Viewer {
	return history.Viewer{Caller: call.caller, Lang: call.lang}
}

// linkedEntry is an entry with its links.
type linkedEntry struct {
	*history.Entry
	URLs entryURLs `json:"urls,omitzero"`
}

type entryURLs struct {
	Version string `json:"version,omitempty"`
	Diff    string `json:"diff,omitempty"`
}

// linked adds the links of an entry: the version, unless its point has no record, and its
// difference to the one before where that is open.
func (call *call) linked(entry *history.Entry) *linkedEntry {
	out := &linkedEntry{Entry: entry}
	kind, _ := calendar.ParseKind(entry.Kind)
	if !slices.Contains(calendar.Kinds[:], kind) || entry.Action == calendar.Erased || entry.Redacted != nil {
		return out
	}
	url := call.root.Collection(kind) + "/" + entry.ID.String()
	if entry.Action != calendar.Deleted {
		out.URLs.Version = permanentURL(url, entry.Version)
	}
	if entry.Compared {
		out.URLs.Diff = fmt.Sprintf("%s/diff?from=%d&to=%d", url, entry.Version-1, entry.Version)
	}
	return out
}

// entryFormat is a form in which entries are answered.
type entryFormat struct {
	name   string
	media  []string // the members of Accept that ask for it, in lower case; the first is its own
	header []string // value of Content-Type
	begin  string
	item   func(data []byte, n int, entry *linkedEntry) []byte // n entries stand before it
}

// entryFormats are the formats of changes (HISTORY 10.2); histories have the first.
var entryFormats = []*entryFormat{
	{
		name: "json", media: []string{"application/json", "application/*", "*/*"}, header: valueJSON, begin: `{"entries":[`,
		item: func(data []byte, n int, entry *linkedEntry) []byte {
			return formats.AppendJSON(formats.AppendComma(data, n), entry)
		},
	},
	{
		name: "ndjson", media: []string{"application/x-ndjson"}, header: []string{"application/x-ndjson; charset=utf-8"},
		item: func(data []byte, _ int, entry *linkedEntry) []byte {
			return append(formats.AppendJSON(data, entry), '\n')
		},
	},
	{
		name: "csv", media: []string{"text/csv"}, header: []string{"text/csv; charset=utf-8; header=present"},
		begin: "position,time,kind,id,version,action,actor,actor_name,client,request,reason,name,fields,summary\r\n",
		item:  func(data []byte, _ int, entry *linkedEntry) []byte { return appendRow(data, entry.Entry) },
	},
}

// end ends a page in JSON.
func (historyPage *historyPage) end(data []byte) []byte {
	data = formats.AppendMembers(append(data, ']'), formats.Object{
		"rest_url", historyPage.pastQuery.link(historyPage.url, "", 0), "next_rest_url", formats.OptionalText(historyPage.next),
	})
	if historyPage.LookedTo > 0 {
		data = formats.AppendMembers(data, formats.Object{"looked_to", int(historyPage.LookedTo)})
	}
	data = formats.AppendMembers(data, formats.Object{"head", json.RawMessage(historyPage.head)})
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
		entry.Position.String(), entry.Time.String(), entry.Kind, entry.ID.String(), strconv.FormatInt(entry.Version, 10), entry.Action, actor, name,
		entry.Client, entry.Request, entry.Reason, entry.Name, strings.Join(fields, ";"), entry.Summary,
	} {
		data = formats.AppendCell(formats.AppendComma(data, i), cell, true)
	}
	return append(data, "\r\n"...)
}
