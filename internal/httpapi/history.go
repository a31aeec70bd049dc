package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/history"
)

// history answers the entries of one record (HISTORY 5).
func (asked *readParams) history(ctx context.Context) (*answer, error) {
	id := asked.targetOf().id
	versions, err := asked.History.Present(ctx, asked.viewer(), asked.route.kind, id)
	if err != nil {
		return nil, err
	}
	page := historyPage{readParams: asked, format: entryFormats[0], url: asked.root.Collection(asked.route.kind) + "/" + id.String() + "/history"}
	page.Record, page.To = id, versions.Version
	ans, err := page.answer(ctx)
	if err == nil {
		ans.name(id, page.named)
	}
	return ans, err
}

// historyPage is a page of entries that is to be written.
type historyPage struct {
	*readParams
	history.Walk

	format *entryFormat
	url    string        // without parameters
	next   string        // URL of the next page, "" for none
	named  []calendar.ID // the records that sentences name
}

// answer makes the answer. It ends early where it would become large or late.
func (page *historyPage) answer(ctx context.Context) (*answer, error) {
	if before, sent := page.numbers["before"]; sent {
		page.To = min(page.To, before-1)
	}
	page.From, page.Ascending, page.Filter = page.numbers["after"]+1, page.ascending, page.filter
	limit := min(cmp.Or(int(page.numbers["limit"]), pageLimit), maxPageLimit)
	late, n := page.o.Now().Add(page.o.ReadDeadline/2), 0
	data := []byte(page.format.begin)
	rest := page.pass.Pace(page.past, page.o.Now)
	for entry, err := range page.History.Entries(ctx, page.viewer(), &page.Walk) {
		if err != nil {
			return nil, err
		}
		rest(ctx)
		if entry != nil {
			data = page.format.item(data, n, page.linked(entry))
			n++
			page.named = append(page.named, entry.Named...)
		}
		if n == limit || len(data) >= page.o.MaxAnswer/2 || page.o.Now().After(late) {
			break
		}
	}
	if page.More() {
		bound := "before"
		if page.ascending {
			bound = "after"
		}
		page.next = page.link(page.url, bound, strconv.FormatInt(page.LookedTo, 10))
	}
	if page.format == entryFormats[0] {
		data = page.end(data)
	}
	if err := page.fits(data); err != nil {
		return nil, err
	}
	ans := newAnswer(data, page.format.header, page.weakTag(string(data)), page.lang)
	if page.Record == 0 {
		ans.add(headerPosition, page.head.String())
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
func (page *historyPage) end(data []byte) []byte {
	members := formats.Object{"rest_url", page.link(page.url, "", ""), "next_rest_url", formats.OptionalText(page.next)}
	if page.LookedTo > 0 {
		members = append(members, "looked_to", int(page.LookedTo))
	}
	if page.Record == 0 {
		members = append(members, "head", int(page.head))
	}
	return append(formats.AppendMembers(append(data, ']'), members), '}')
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
