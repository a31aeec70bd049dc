package pages

import (
	"cmp"
	"errors"
	"html/template"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/internal/param"
	"daybook/internal/proof"
)

const (
	paramFrom = "from"
	paramTo   = "to"

	versionsPerPage = 50
)

// historyBody is the page of the past of a record.
type historyBody struct {
	Entries    []entryRow
	Only       bool
	Page       int
	From, To   int64 // the versions that are chosen for the comparison
	Kept       params
	Pager      *pager
	Difference *difference           // nil where none was asked for
	Newest     eventstore.Checkpoint // of size 0: there is none
}

// entryRow is a version of the record.
type entryRow struct {
	*history.Entry

	Summary template.HTML // what changed
	Actor   string        // "" where it is not shown
	Changes []changeRow
}

// difference is what differs between two versions.
type difference struct {
	*history.Diff

	Changes []changeRow
}

// changeRow is a field that differs: the words that went and those that came.
type changeRow struct {
	Field, Label  string
	Before, After []string
}

// serveHistory answers the past of a record (PAGES.md P2.6).
func (builder *pageBuilder) serveHistory() {
	kind := builder.Route.kind
	if !builder.readsPast() {
		builder.err = notFound(kind)
		return
	}
	view, locked := builder.readRecord()
	if locked && builder.err == nil {
		builder.err = notFound(kind)
	}
	if builder.done() {
		return
	}
	number := func(name string) int64 {
		text := calendar.Trim(builder.Query.Get(name))
		if text == "" {
			return 0
		}
		builder.own = append(builder.own, param.LinkParam{Name: name, Value: text})
		count, ok := calendar.ParseNearestInt(text)
		if !ok {
			builder.refuse(name, calendar.ReasonTypeInteger)
		} else if count < 1 {
			builder.refuse(name, calendar.ReasonTooSmall, "1")
		}
		return count
	}
	page, from, until := int(min(max(number(paramPage), 1), 1<<31)), number(paramFrom), number(paramTo)
	builder.readZone()
	if builder.err = builder.bad.Err(); builder.err != nil {
		return
	}
	builder.head(view.Record)
	builder.Title, builder.Heading = builder.text("event.history")+builder.colon()+builder.Title, builder.text("history.title")
	builder.Crumbs, builder.NoIndex = append(builder.Crumbs, *builder.Record), true
	body := &historyBody{Page: page, From: from, To: until, Kept: builder.asked().without(paramFrom, paramTo)}
	builder.Body = body
	var pages int
	if pages, builder.err = builder.readEntries(body, view.Record); builder.err == nil && page > max(pages, 1) {
		builder.err = notFound(kind)
	}
	if builder.err == nil {
		body.Newest, builder.err = builder.Proofs.Checkpoint(builder.ctx, 0)
	}
	if errors.Is(builder.err, proof.ErrNoCheckpoint) {
		builder.err = nil
	}
	switch {
	case builder.err != nil:
	case from != 0 || until != 0:
		var diff *history.Diff
		if diff, builder.err = builder.History.Diff(builder.ctx, builder.viewer(), kind, view.Record.ID, from, until); builder.err == nil {
			body.Difference = &difference{diff, builder.changeRows(diff.Changes)}
			body.From, body.To = diff.From.Number, diff.To.Number
		}
	case len(body.Entries) > 1:
		body.From, body.To = body.Entries[1].Version, body.Entries[0].Version
	}
	if builder.err = hidden(kind, builder.err); builder.err != nil {
		return
	}
	links := param.LinksTo(builder.Href(builder.Canonical+"history/"), body.Kept.without(paramPage))
	body.Pager = builder.pagerOf(page, pages, links.Page)
	builder.Canonical = params(nil).link(builder.Canonical+"history/", page)
}

// maxCounted is up to how many versions a history is paged by the open ones. Pages of a
// longer one have as many versions, of which some may not be open.
const maxCounted = 1000

// readEntries reads a page of versions, and returns how many pages there are. Of each
// version only what the page shows stays in memory.
func (builder *pageBuilder) readEntries(historyBody *historyBody, record *calendar.Record) (pages int, err error) {
	viewer := builder.viewer()
	present, err := builder.History.Present(builder.ctx, viewer, record.Kind, record.ID)
	if err != nil {
		return 0, err
	}
	version, limit := present.Version, 1
	if version <= maxCounted {
		limit = maxCounted
	}
	open, err := builder.History.TimeMap(builder.ctx, viewer, record.Kind, record.ID, 0, limit)
	if err != nil {
		return 0, err
	}
	historyBody.Only = open.First.Number == open.Last.Number
	total, number := int(version-open.First.Number+1), func(i int) int64 { return open.First.Number + int64(i) }
	if version <= maxCounted {
		total, number = len(open.Versions), func(i int) int64 { return open.Versions[i].Number }
	}
	last := total - (historyBody.Page-1)*versionsPerPage
	if pages = (total + versionsPerPage - 1) / versionsPerPage; last <= 0 {
		return pages, nil
	}
	walk := &history.Walk{Record: record.ID, From: number(max(last-versionsPerPage, 0)), To: number(last - 1)}
	for entry, err := range builder.History.Entries(builder.ctx, viewer, walk) {
		if err != nil {
			return 0, err
		}
		if entry == nil {
			continue
		}
		row := entryRow{entry, template.HTML(entry.SummaryHTML(builder.Route.language)), actorOf(entry.Actor), builder.changeRows(entry.Changes)} //nolint:gosec // escaped by the history
		entry.Name, entry.Changes, entry.Reason = "", nil, strings.Clone(entry.Reason)
		historyBody.Entries = append(historyBody.Entries, row)
	}
	return pages, nil
}

// actorOf names who made a change, "" where that is not shown.
func actorOf(actor *history.Actor) string {
	if actor == nil || actor.ID == 0 {
		return ""
	}
	return cmp.Or(actor.Name, "#"+actor.ID.String())
}

// Date writes the day of a moment in the zone of the page.
func (builder *pageBuilder) Date(instant time.Time) string {
	return builder.date(builder.inZone(instant))
}

// Moment writes a moment on the clock of the site, or of the zone that was asked for.
func (builder *pageBuilder) Moment(instant time.Time) string {
	instant = builder.inZone(instant)
	return builder.at(builder.date(instant), builder.time(instant)) + instant.Format(" MST")
}

// Instant writes a moment for machines.
func (builder *pageBuilder) Instant(instant time.Time) string {
	return builder.inZone(instant).Format(instantLayout)
}

// Number writes a number, Count how many there are of a thing.
func (builder *pageBuilder) Number(number any) string { return builder.number(whole(number)) }

func (builder *pageBuilder) Count(thing string, number any) string {
	return builder.count(thing, whole(number))
}

// whole reads a number of any type.
func whole(number any) int { return int(reflect.ValueOf(number).Convert(reflect.TypeFor[int]()).Int()) }

// Interface is the path of the interface in the language of the page.
func (builder *pageBuilder) Interface() string { return builder.Href(builder.options.Namespace) }

// changeRows writes changes for a table; of long texts only what changed.
func (builder *pageBuilder) changeRows(changes []history.Change) []changeRow {
	rows := make([]changeRow, len(changes))
	for i := range changes {
		change := &changes[i]
		row := changeRow{Field: change.Field, Label: change.Label(builder.Route.language)}
		before, after := builder.value(change, change.Before, false), builder.value(change, change.After, true)
		if change.IsText() || max(utf8.RuneCountInString(before), utf8.RuneCountInString(after)) > longText {
			row.Before, row.After = differ(before, after)
		} else {
			row.Before, row.After = wordOf(before), wordOf(after)
		}
		rows[i] = row
	}
	return rows
}

func wordOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{strings.Clone(text)}
}

// value writes a value before or after a change; a clock as it stands on the wall.
func (builder *pageBuilder) value(change *history.Change, value any, after bool) string {
	if clock, ok := value.(calendar.Wall); ok {
		if change.IsDay(after) {
			return builder.date(clock.UTC())
		}
		return builder.at(builder.date(clock.UTC()), builder.time(clock.UTC()))
	}
	text := change.Written(value, builder.Route.language)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	if change.IsText() {
		return htmltext.PlainText(text)
	}
	return text
}

// Outside reports whether pages link other services.
func (builder *pageBuilder) Outside() bool { return builder.options.ExternalLinks }
