package pages

import (
	"cmp"
	"html/template"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/query"
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
	Difference *difference // nil where none was asked for
	Newest     Checkpoint
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
func (l *pageBuilder) serveHistory() {
	kind := l.Route.kind
	if !l.Past.Open(l.Caller) {
		l.err = notFound(kind)
		return
	}
	view, locked := l.readRecord()
	if locked && l.err == nil {
		l.err = notFound(kind)
	}
	if l.done() {
		return
	}
	number := func(name string) int64 {
		text := calendar.Trim(l.Query.Get(name))
		if text == "" {
			return 0
		}
		l.own = append(l.own, query.LinkParam{Name: name, Value: text})
		n, ok := calendar.ParseNearestInt(text)
		if !ok {
			l.refuse(name, calendar.ReasonTypeInteger)
		} else if n < 1 {
			l.refuse(name, calendar.ReasonTooSmall, "1")
		}
		return n
	}
	page, from, to := int(min(max(number(paramPage), 1), 1<<31)), number(paramFrom), number(paramTo)
	l.readZone()
	if l.err = l.bad.Err(); l.err != nil {
		return
	}
	l.head(view.Record)
	l.Title, l.Heading = l.text("event.history")+l.colon()+l.Title, l.text("history.title")
	l.Crumbs, l.NoIndex = append(l.Crumbs, *l.Record), true
	body := &historyBody{Page: page, From: from, To: to, Kept: l.asked().without(paramFrom, paramTo)}
	l.Body = body
	var pages int
	if pages, l.err = l.readEntries(body, view.Record); l.err == nil && page > max(pages, 1) {
		l.err = notFound(kind)
	}
	if l.err == nil {
		body.Newest, l.err = l.Past.Checkpoint(l.ctx)
	}
	switch {
	case l.err != nil:
	case from != 0 || to != 0:
		var diff *history.Diff
		if diff, l.err = l.Past.Diff(l.ctx, l.viewer(), kind, view.Record.ID, from, to); l.err == nil {
			body.Difference = &difference{diff, l.changeRows(diff.Changes)}
			body.From, body.To = diff.From.Number, diff.To.Number
		}
	case len(body.Entries) > 1:
		body.From, body.To = body.Entries[1].Version, body.Entries[0].Version
	}
	if l.err = hidden(kind, l.err); l.err != nil {
		return
	}
	links := query.LinksTo(l.Href(l.Canonical+"history/"), body.Kept.without(paramPage))
	body.Pager = l.pagerOf(page, pages, links.Page)
	l.Canonical = params(nil).link(l.Canonical+"history/", page)
}

// readEntries reads a page of versions, and returns how many pages there are. Of each
// version only what the page shows stays in memory.
func (l *pageBuilder) readEntries(historyBody *historyBody, record *calendar.Record) (pages int, err error) {
	h, err := l.Past.History(l.ctx, l.viewer(), record, historyBody.Page, versionsPerPage)
	if err != nil {
		return 0, err
	}
	historyBody.Only = h.Only
	for entry, err := range h.Entries {
		if err != nil {
			return 0, err
		}
		if entry == nil {
			continue
		}
		shown := history.Entry{Version: entry.Version, Position: entry.Position, Time: entry.Time, Reason: strings.Clone(entry.Reason)}
		historyBody.Entries = append(historyBody.Entries, entryRow{&shown, template.HTML(entry.SummaryHTML(l.Route.lang)), actorOf(entry.Actor), l.changeRows(entry.Changes)}) //nolint:gosec // escaped by the history
	}
	return h.Pages, nil
}

// actorOf names who made a change, "" where that is not shown.
func actorOf(actor *history.Actor) string {
	if actor == nil || actor.ID == 0 {
		return ""
	}
	return cmp.Or(actor.Name, "#"+actor.ID.String())
}

// Date writes the day of a moment in the zone of the page.
func (l *pageBuilder) Date(instant time.Time) string { return l.date(l.inZone(instant)) }

// Moment writes a moment on the clock of the site, or of the zone that was asked for.
func (l *pageBuilder) Moment(instant time.Time) string {
	instant = l.inZone(instant)
	return l.at(l.date(instant), l.time(instant)) + instant.Format(" MST")
}

// Instant writes a moment for machines.
func (l *pageBuilder) Instant(instant time.Time) string {
	return l.inZone(instant).Format(instantLayout)
}

// Number writes a number, Count how many there are of a thing.
func (l *pageBuilder) Number(n any) string              { return l.number(whole(n)) }
func (l *pageBuilder) Count(thing string, n any) string { return l.count(thing, whole(n)) }

// whole reads a number of any type.
func whole(n any) int { return int(reflect.ValueOf(n).Convert(reflect.TypeFor[int]()).Int()) }

// Interface is the path of the interface in the language of the page.
func (l *pageBuilder) Interface() string { return l.Href(l.options.Namespace) }

// changeRows writes changes for a table; of long texts only what changed.
func (l *pageBuilder) changeRows(changes []history.Change) []changeRow {
	rows := make([]changeRow, len(changes))
	for i := range changes {
		change := &changes[i]
		row := changeRow{Field: change.Field, Label: change.Label(l.Route.lang)}
		before, after := l.value(change, change.Before, false), l.value(change, change.After, true)
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
func (l *pageBuilder) value(change *history.Change, value any, after bool) string {
	if clock, ok := value.(calendar.Wall); ok {
		if change.IsDay(after) {
			return l.date(clock.UTC())
		}
		return l.at(l.date(clock.UTC()), l.time(clock.UTC()))
	}
	text := change.Written(value, l.Route.lang)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	if change.IsText() {
		return l.Shown.Plain(text)
	}
	return text
}

// Outside reports whether pages link other services.
func (l *pageBuilder) Outside() bool { return !l.options.NoExternalLinks }
