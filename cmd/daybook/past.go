package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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

type historyCommands struct {
	storeSettings
	outputSettings
	zoneSettings

	Lang string `default:"en" choices:"cn,en,fr,es" placeholder:"LANG" help:"language of sentences: cn, en, fr or es"`

	Show historyShow `cmd:"" default:"withargs" help:"print the history of a record: daybook history event 12"`
	Diff historyDiff `cmd:"" help:"print what differs between two versions"`
	At   historyAt   `cmd:"" help:"print the record as it was: at a date, position:N or version:N"`
}

// recordArguments name a record.
type recordArguments struct {
	Kind string `arg:"" help:"event, venue, organizer, category, tag, image or user"`
	ID   string `arg:"" name:"id" help:"id of the record"`
}

func (r *recordArguments) read() (calendar.Kind, calendar.ID, error) {
	kind, ok := calendar.ParseKind(r.Kind)
	if !ok {
		return kind, 0, usageError("KIND must be event, venue, organizer, category, tag, image or user, not %q", r.Kind)
	}
	id, err := idArgument(r.ID)
	return kind, id, err
}

type historyShow struct {
	recordArguments

	Lang string `kong:"-"`
}

// Run prints the history of a record.
func (cmd *historyShow) Run(ctx context.Context, c *console, s *config, all *historyCommands) error {
	cmd.Lang = all.Lang
	if _, _, err := cmd.read(); err != nil {
		return err
	}
	return perform(ctx, c, s, cmd, nil)
}

func (cmd *historyShow) work(ctx context.Context, b *backend, c *console, s *config) error {
	kind, id, err := cmd.read()
	if err != nil {
		return err
	}
	return pastError(printHistory(ctx, history.New(b.events, time.Now), c.out, s, auditor(cmd.Lang), kind, id), kind, id)
}

type historyDiff struct {
	recordArguments

	From string `arg:"" help:"version"`
	To   string `arg:"" help:"version"`
	Lang string `kong:"-"`
}

// Run prints what differs between two versions.
func (cmd *historyDiff) Run(ctx context.Context, c *console, s *config, all *historyCommands) error {
	cmd.Lang = all.Lang
	for _, v := range []string{cmd.From, cmd.To} {
		if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 1 {
			return usageError("versions must be numbers above 0, not %q", v)
		}
	}
	if _, _, err := cmd.read(); err != nil {
		return err
	}
	return perform(ctx, c, s, cmd, nil)
}

func (cmd *historyDiff) work(ctx context.Context, b *backend, c *console, s *config) error {
	kind, id, err := cmd.read()
	if err != nil {
		return err
	}
	return pastError(cmd.print(ctx, history.New(b.events, time.Now), c.out, s, kind, id), kind, id)
}

type historyAt struct {
	recordArguments

	Point string `arg:"" help:"a date, position:N or version:N"`
}

// Run prints a record as it was.
func (cmd *historyAt) Run(ctx context.Context, c *console, s *config) error {
	if _, err := s.pointOf(cmd.Point, true); err != nil {
		return err
	}
	if _, _, err := cmd.read(); err != nil {
		return err
	}
	return perform(ctx, c, s, cmd, nil)
}

func (cmd *historyAt) work(ctx context.Context, b *backend, c *console, s *config) error {
	kind, id, err := cmd.read()
	if err != nil {
		return err
	}
	return pastError(printAt(ctx, b.events, c.out, s, kind, id, cmd.Point), kind, id)
}

// auditor reads all of the past.
func auditor(lang string) history.Viewer {
	l, _ := calendar.ParseLang(lang)
	return history.Viewer{Caller: calendar.Caller{Role: calendar.Auditor}, Lang: l}
}

// pastError says what is wrong with a read of a record.
func pastError(err error, kind calendar.Kind, id calendar.ID) error {
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

func printHistory(ctx context.Context, t *history.Reader, w io.Writer, s *config, l history.Viewer, k calendar.Kind, id calendar.ID) error {
	version, err := t.Present(ctx, l.Caller, k, id)
	if err != nil {
		return err
	}
	walk := history.Walk{Record: id, From: 1, To: version, Ascending: true, Limit: pageSize}
	for looked := int64(-1); err == nil && looked < walk.LookedTo; walk.From = walk.LookedTo + 1 {
		looked = walk.LookedTo
		err = printEntries(w, t.Entries(ctx, l, &walk), s.JSON)
	}
	return err
}

func printEntries(w io.Writer, entries iter.Seq2[*history.Entry, error], asJSON bool) error {
	for e, err := range entries {
		switch {
		case err != nil || e == nil:
		case asJSON:
			err = printJSON(w, e)
		default:
			err = printEntry(w, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

func (cmd *historyDiff) print(ctx context.Context, t *history.Reader, w io.Writer, s *config, k calendar.Kind, id calendar.ID) error {
	from, _ := strconv.ParseInt(cmd.From, 10, 64)
	to, _ := strconv.ParseInt(cmd.To, 10, 64)
	d, err := t.Diff(ctx, auditor(cmd.Lang), k, id, from, to)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(w, d)
	}
	for _, c := range d.Changes {
		if _, err := fmt.Fprintln(w, c.Sentence); err != nil {
			return err
		}
	}
	return nil
}

// pointOf reads a point as as_of takes it, of one record or of all.
func (s *config) pointOf(text string, versions bool) (history.Point, error) {
	var p calendar.Problems
	point := history.ParsePoint(text, versions, time.Now(), s.Timezone.site(), &p)
	if len(p.Fields) > 0 {
		return point, usageError("POINT %q: %s", text, texts.FieldMessage(p.Fields[0], calendar.LangEN))
	}
	return point, nil
}

// printAt prints a record as it was.
func printAt(ctx context.Context, store eventstore.Store, w io.Writer, s *config, k calendar.Kind, id calendar.ID, text string) error {
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
	if s.JSON {
		return printJSON(w, struct {
			Version  int64             `json:"version"`
			Position calendar.Position `json:"position"`
			Time     string            `json:"time"`
			Record   history.Members   `json:"record"`
		}{e.Version, e.Position, e.Time.Format(history.TimeLayout), history.MembersOf(r)})
	}
	if _, err := fmt.Fprintf(w, "version %d  position %d  %s\n", e.Version, e.Position, e.Time.Format(history.TimeLayout)); err != nil {
		return err
	}
	for _, m := range history.MembersOf(r) {
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

type changesCommands struct {
	storeSettings
	outputSettings

	Tail changesTail `cmd:"" help:"print entries as they come, until a signal"`
}

type changesTail struct {
	Lang string            `default:"en" choices:"cn,en,fr,es" placeholder:"LANG" help:"language of sentences: cn, en, fr or es"`
	From calendar.Position `placeholder:"N" type:"position" help:"position of the first entry that is printed; empty: the next one that comes"`
	Kind string            `placeholder:"KIND" choices:"event,venue,organizer,category,tag,image,user" help:"kind of the records whose entries are printed; empty: all"`
}

// Run prints entries as they come, until a signal.
func (cmd *changesTail) Run(ctx context.Context, c *console, s *config) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := perform(ctx, c, s, cmd, nil)
	if ctx.Err() != nil { // that is how it ends
		return nil
	}
	return err
}

func (cmd *changesTail) work(ctx context.Context, b *backend, c *console, s *config) error {
	reader := history.New(b.events, time.Now)
	head, err := reader.Head(ctx)
	if err != nil {
		return err
	}
	after := head
	if cmd.From > 0 {
		after = cmd.From - 1
	}
	walk := history.Walk{Ascending: true, Limit: pageSize}
	if k, ok := calendar.ParseKind(cmd.Kind); ok {
		walk.Filter.Kinds = []calendar.Kind{k}
	}
	for {
		for after < head {
			walk.From, walk.To, walk.LookedTo = int64(after)+1, int64(head), 0
			if err := printEntries(c.out, reader.Entries(ctx, auditor(cmd.Lang), &walk), s.JSON); err != nil || walk.LookedTo == 0 {
				return err
			}
			after = calendar.Position(walk.LookedTo)
		}
		if head, err = reader.Wait(ctx, after); err != nil {
			return err
		}
	}
}
