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

// The bounds of pages.
const (
	pageLimit    = 50   // entries of a page where none is sent
	maxPageLimit = 1000 // entries of a page
)

// entries answers a page of entries: of one record (HISTORY 5), or of the log (HISTORY 10). It
// ends early where it would become large or late.
func (call *call) entries(ctx context.Context) (*answer, error) {
	walk := history.Walk{From: call.numbers["after"] + 1, To: int64(call.head), Ascending: call.ascending, Filter: call.filter}
	format, address := call.entryFormat(), call.root.URL+"/changes"
	if kind := call.route.Kind; kind != 0 {
		versions, err := call.History.Present(ctx, call.viewer(), kind, call.target.ID)
		if err != nil {
			return nil, err
		}
		walk.Record, walk.To = versions.ID, versions.Version
		address = call.root.Self(versions.Record) + "/history"
	}
	if before, sent := call.numbers["before"]; sent {
		walk.To = min(walk.To, before-1)
	}
	limit := min(cmp.Or(int(call.numbers["limit"]), pageLimit), maxPageLimit)
	late, count := call.Now().Add(call.ReadDeadline/2), 0
	data := []byte(entryBegins[format])
	var named []calendar.ID // the records that sentences name
	rest := call.pass.Pace(call.past, call.Now)
	for entry, err := range call.History.Entries(ctx, call.viewer(), &walk) {
		if err != nil {
			return nil, err
		}
		rest(ctx)
		if entry != nil {
			switch linked := call.linked(entry); format {
			case &formats.CSVFormat:
				data = appendRow(data, linked)
			case &formats.NDJSON:
				data = append(formats.AppendJSON(data, linked), '\n')
			default:
				data = formats.AppendJSON(formats.AppendComma(data, count), linked)
			}
			count++
			named = append(named, entry.Named...)
		}
		if count == limit || len(data) >= call.MaxAnswer/2 || call.Now().After(late) {
			break
		}
	}
	next := ""
	if walk.More() {
		bound := "before"
		if walk.Ascending {
			bound = "after"
		}
		next = call.linkTo(address, bound, strconv.FormatInt(walk.LookedTo, 10))
	}
	if format == &formats.JSON {
		members := formats.Object{"rest_url", call.linkTo(address, "", ""), "next_rest_url", formats.OptionalText(next)}
		if walk.LookedTo > 0 {
			members = append(members, "looked_to", int(walk.LookedTo))
		}
		if walk.Record == 0 {
			members = append(members, "head", int(call.head))
		}
		data = append(formats.AppendMembers(append(data, ']'), members), '}')
	}
	answer := call.newAnswer(data, format.Header, call.weakTag(string(data)))
	if walk.Record == 0 {
		answer.add(headerPosition, call.head.String())
	} else {
		answer.name(walk.Record, named)
	}
	if next != "" {
		answer.add(headerLink, "<"+next+`>; rel="next"`)
	}
	return answer, nil
}

// viewer is who reads the past.
func (call *call) viewer() history.Viewer {
	return history.Viewer{Caller: call.caller, Lang: call.language}
}

// linkedEntry is an entry with its links.
type linkedEntry struct {
	*history.Entry
	URLs struct {
		Version string `json:"version,omitempty"`
		Diff    string `json:"diff,omitempty"`
	} `json:"urls,omitzero"`
}

// linked adds the links of an entry: the version, unless its point has no record, and its
// difference to the one before where that is open.
func (call *call) linked(entry *history.Entry) *linkedEntry {
	result := &linkedEntry{Entry: entry}
	kind, _ := calendar.ParseKind(entry.Kind)
	if !slices.Contains(calendar.Kinds[:], kind) || entry.Action == calendar.Erased || entry.Redacted != nil {
		return result
	}
	address := call.root.Collection(kind) + "/" + entry.ID.String()
	if entry.Action != calendar.Deleted {
		result.URLs.Version = permanentURL(address, entry.Version)
	}
	if entry.Compared {
		result.URLs.Diff = fmt.Sprintf("%s/diff?from=%d&to=%d", address, entry.Version-1, entry.Version)
	}
	return result
}

// entryFormats are the formats of changes (HISTORY 10.2), entryBegins what stands before the entries.
var (
	entryFormats = []*formats.Format{&formats.JSON, &formats.NDJSON, &formats.CSVFormat}
	entryBegins  = map[*formats.Format]string{
		&formats.JSON:      `{"entries":[`,
		&formats.CSVFormat: "position,time,kind,id,version,action,actor,actor_name,client,request,reason,name,fields,summary\r\n",
	}
)

// entryFormat returns the format that a request asks for, by its parameter before Accept; histories
// have the first.
func (call *call) entryFormat() *formats.Format {
	best, most := &formats.JSON, 0
	for _, format := range entryFormats {
		if format.Name == call.word {
			return format
		}
		if weight := weightIn(call.request.Header, format.Media...); weight > most && call.route.Kind == 0 {
			best, most = format, weight
		}
	}
	return best
}

// appendRow writes an entry as a row of CSV.
func appendRow(data []byte, entry *linkedEntry) []byte {
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
