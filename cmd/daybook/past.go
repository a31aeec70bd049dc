package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/texts"
)

// idleTail is how long a tail waits before it looks whether somebody reads it.
const idleTail = 5 * time.Second

func runHistory(ctx context.Context, c *console, s *settings, args []string) error {
	record := args
	switch {
	case len(args) == 5 && args[0] == "diff":
		record = args[1:3]
		for _, v := range args[3:] {
			if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 1 {
				return usageError("versions must be numbers above 0, not %q", v)
			}
		}
	case len(args) == 4 && args[0] == "at":
		record = args[1:3]
		if _, err := s.pointOf(args[3], true); err != nil {
			return err
		}
	case len(args) != 2:
		return usageError("usage: daybook history KIND ID, as daybook history event 12; history diff KIND ID FROM TO; history at KIND ID POINT")
	}
	if _, ok := calendar.ParseKind(record[0]); !ok {
		return usageError("KIND must be event, venue, organizer, category, tag, image or user, not %q", record[0])
	}
	if _, err := idArgument(record[1]); err != nil {
		return err
	}
	return runTask(ctx, withoutInput(c), s, "history", args)
}

// auditor is to whom the commands tell the past: all of it.
func (s *settings) auditor() history.Listener {
	l, _ := calendar.ParseLang(s.lang)
	return history.Listener{Caller: calendar.Caller{Role: calendar.Auditor}, Lang: l}
}

func historyTask(ctx context.Context, b *backend, c *console, s *settings, args []string) error {
	teller := history.New(b.events, time.Now)
	act := ""
	if len(args) > 2 {
		act, args = args[0], args[1:]
	}
	kind, _ := calendar.ParseKind(args[0])
	id, err := idArgument(args[1])
	if err != nil {
		return err
	}
	switch act {
	case "diff":
		err = printDiff(ctx, teller, c.out, s, kind, id, args[2:])
	case "at":
		err = printAt(ctx, b.events, c.out, s, kind, id, args[2])
	default:
		err = printHistory(ctx, teller, c.out, s, kind, id)
	}
	e, ok := errors.AsType[*calendar.Error](err)
	switch {
	case ok && e.Code == calendar.CodeNotFound:
		return fmt.Errorf("no %s has the id %d", kind, id)
	case ok:
		return errors.New(texts.Message(e, calendar.LangEN))
	default:
		return err
	}
}

func printHistory(ctx context.Context, t *history.Teller, w io.Writer, s *settings, k calendar.Kind, id calendar.ID) error {
	l := s.auditor()
	version, _, err := t.Present(ctx, l.Caller, k, id)
	if err != nil {
		return err
	}
	_, err = t.Walk(ctx, l, history.Walk{Record: id, From: 1, To: version, Ascending: true, Most: int(version), Page: pageSize}, printer(w, s.json))
	return err
}

// printer prints each entry that is told.
func printer(w io.Writer, asJSON bool) func(int64, *history.Entry) (bool, error) {
	return func(_ int64, e *history.Entry) (bool, error) {
		if e == nil {
			return true, nil
		}
		if asJSON {
			return true, printJSON(w, e)
		}
		return true, printEntry(w, e)
	}
}

func printJSON(w io.Writer, v any) error {
	b, err := history.Marshal(v)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// printEntry prints one entry for people: who did what when and why, and a sentence for
// each change.
func printEntry(w io.Writer, e *history.Entry) error {
	who := "the service"
	switch {
	case e.Actor.Name != "":
		who = fmt.Sprintf("%s (%d)", e.Actor.Name, e.Actor.ID)
	case e.Actor.ID != 0:
		who = "user " + e.Actor.ID.String()
	}
	lines := []string{fmt.Sprintf("version %d  position %d  %s  %s by %s", e.Version, e.Position, e.Time, e.Action, who)}
	if e.Reason != "" {
		lines = append(lines, e.Reason)
	}
	if e.Redacted != nil {
		lines = append(lines, e.Summary)
	}
	for _, c := range e.Changes {
		lines = append(lines, c.Sentence)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n    ")+"\n")
	return err
}

func printDiff(ctx context.Context, t *history.Teller, w io.Writer, s *settings, k calendar.Kind, id calendar.ID, versions []string) error {
	from, _ := strconv.ParseInt(versions[0], 10, 64)
	to, _ := strconv.ParseInt(versions[1], 10, 64)
	d, err := t.Diff(ctx, s.auditor(), k, id, from, to)
	if err != nil {
		return err
	}
	if s.json {
		return printJSON(w, d.Form(true))
	}
	for _, c := range d.Changes {
		if _, err := fmt.Fprintln(w, c.Sentence); err != nil {
			return err
		}
	}
	return nil
}

// pointOf reads a point as as_of takes it, of one record or of all.
func (s *settings) pointOf(text string, versions bool) (history.Point, error) {
	var p calendar.Problems
	point := history.ParsePoint(text, versions, time.Now(), s.site, &p)
	if len(p.Fields) > 0 {
		return point, usageError("POINT %q: %s", text, texts.FieldMessage(p.Fields[0], calendar.LangEN))
	}
	return point, nil
}

// printAt prints a record as it was.
func printAt(ctx context.Context, store eventstore.Store, w io.Writer, s *settings, k calendar.Kind, id calendar.ID, text string) error {
	point, err := s.pointOf(text, true)
	if err != nil {
		return err
	}
	e, err := entryAt(ctx, store, id, point)
	switch {
	case err != nil:
		return err
	case e.Version == 0 || e.Kind != k:
		return calendar.Fail(calendar.CodeNotFound, k)
	case e.Redacted != nil:
		return calendar.Fail(calendar.CodeErased, k)
	}
	r, err := calendar.DecodeRecord(e.State)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Position, err)
	}
	if r.Deleted {
		return calendar.Fail(calendar.CodeNotFound, k)
	}
	if s.json {
		return printJSON(w, struct {
			Version  int64             `json:"version"`
			Position calendar.Position `json:"position"`
			Time     string            `json:"time"`
			Record   *history.Shown    `json:"record"`
		}{e.Version, e.Position, e.Time.Format(history.TimeLayout), &history.Shown{Record: r}})
	}
	if _, err := fmt.Fprintf(w, "version %d  position %d  %s\n", e.Version, e.Position, e.Time.Format(history.TimeLayout)); err != nil {
		return err
	}
	for _, m := range history.Members(r) {
		b, err := history.Marshal(m.Value)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: %s\n", m.Name, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entryAt gives the entry of a record that counts last at a point; Version 0 for none.
func entryAt(ctx context.Context, store eventstore.Store, id calendar.ID, p history.Point) (eventstore.Entry, error) {
	if p.Form == history.ByVersion {
		entries, err := store.Read(ctx, eventstore.Range{Record: id, After: uint64(p.Version) - 1, Limit: 1})
		if err != nil || len(entries) == 0 || entries[0].Version != p.Version {
			return eventstore.Entry{}, errors.Join(err, calendar.Fail(calendar.CodeVersionNotFound, 0))
		}
		return entries[0], nil
	}
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return eventstore.Entry{}, err
	}
	if p.Position > head.Position {
		return eventstore.Entry{}, usageError("position %d is above the newest one, %d", p.Position, head.Position)
	}
	entries, err := store.At(ctx, eventstore.Point{Position: p.Position, Time: p.Time}, id)
	if err != nil {
		return eventstore.Entry{}, err
	}
	return entries[0], nil
}

func runChanges(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) != 1 || args[0] != "tail" {
		return usageError("usage: daybook changes tail")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := runTask(ctx, withoutInput(c), s, "changes", args)
	if ctx.Err() != nil { // that is how it ends
		return nil
	}
	return err
}

// changesTask prints entries as they come.
func changesTask(ctx context.Context, b *backend, c *console, s *settings, _ []string) error {
	teller := history.New(b.events, time.Now)
	head, err := teller.Head(ctx)
	if err != nil {
		return err
	}
	after := head
	if s.from > 0 {
		after = s.from - 1
	}
	walk := history.Walk{Ascending: true, Most: pageSize, Page: pageSize}
	if k, ok := calendar.ParseKind(s.kind); ok {
		walk.Filter.Kinds = []calendar.Kind{k}
	}
	for {
		for after < head {
			walk.From, walk.To = int64(after)+1, int64(head)
			looked, err := teller.Walk(ctx, s.auditor(), walk, printer(c.out, s.json))
			if err != nil || looked == 0 {
				return err
			}
			after = calendar.Position(looked)
		}
		within, cancel := context.WithTimeout(ctx, idleTail)
		next, err := teller.Wait(within, after)
		cancel()
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return err
		}
		if err == nil {
			head = next
		} else if _, err := c.out.Write(nil); err != nil { // nobody reads
			return err
		}
	}
}
