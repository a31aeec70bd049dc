package main

import (
	"cmp"
	"context"
	"os/signal"
	"syscall"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/param"
	"daybook/internal/texts"
)

type historyCommands struct {
	storeSettings
	outputSettings
	zoneSettings
	languageSettings

	Show historyShow `cmd:"" default:"withargs" help:"print the history of a record: daybook history event 12"`
	Diff historyDiff `cmd:"" help:"print what differs between two versions"`
	At   historyAt   `cmd:"" help:"print the record as it was: at a date, position:N or version:N"`
}

// recordArguments name a record.
type recordArguments struct {
	Kind calendar.Kind `arg:"" type:"kind" help:"event, venue, organizer, category, tag, image or user"`
	ID   calendar.ID   `arg:"" name:"id" min:"1" max:"9223372036854775807" help:"id of the record"`
}

type historyShow struct{ recordArguments }

// work prints the history of a record.
func (historyShow *historyShow) work(ctx context.Context, console *console) error {
	versions, err := console.reader.Present(ctx, console.auditor(), historyShow.Kind, historyShow.ID)
	if err != nil {
		return err
	}
	return console.printEntries(ctx, &history.Walk{Record: historyShow.ID, From: 1, To: versions.Version, Ascending: true})
}

type historyDiff struct {
	recordArguments

	From int64 `arg:"" min:"1" max:"9223372036854775807" help:"version"`
	To   int64 `arg:"" min:"1" max:"9223372036854775807" help:"version"`
}

// work prints what differs between two versions.
func (historyDiff *historyDiff) work(ctx context.Context, console *console) error {
	diff, err := console.reader.Diff(ctx, console.auditor(), historyDiff.Kind, historyDiff.ID, historyDiff.From, historyDiff.To)
	if err != nil {
		return err
	}
	return console.print("diff", diff)
}

type historyAt struct {
	recordArguments

	Point string `arg:"" help:"a date, position:N or version:N"`
}

// auditor reads all of the past.
func (config *config) auditor() history.Viewer {
	language, _ := calendar.ParseLang(config.Lang)
	return history.Viewer{Caller: calendar.Caller{Role: calendar.Auditor}, Lang: language}
}

// printEntries prints the entries of a walk, and leaves it behind its end.
func (console *console) printEntries(ctx context.Context, walk *history.Walk) error {
	for walk.From <= walk.To {
		walk.LookedTo = walk.To // of what yields nothing
		for entry, err := range console.reader.Entries(ctx, console.auditor(), walk) {
			if err == nil && entry != nil {
				err = console.print("entry", entry)
			}
			if err != nil { // of writing as well: there may be more and more
				return err
			}
		}
		walk.From = walk.LookedTo + 1
	}
	return nil
}

// pointOf reads a point as as_of takes it, of one record or of all.
func (console *console) pointOf(ctx context.Context, text string, versions bool) (param.Point, error) {
	var problems calendar.Problems
	head, err := console.reader.Head(ctx)
	point := param.ParsePoint(text, versions, time.Now(), console.zone().Location, head, &problems)
	if err == nil && len(problems.Fields) > 0 {
		err = usageError("POINT %q: %s", text, texts.FieldMessage(problems.Fields[0], calendar.LangEN))
	}
	return point, err
}

// work prints a record as it was, in the version that counts at the point.
func (historyAt *historyAt) work(ctx context.Context, console *console) error {
	point, err := console.pointOf(ctx, historyAt.Point, true)
	if err != nil {
		return err
	}
	versions, err := console.reader.Versions(ctx, console.auditor(), historyAt.Kind, historyAt.ID)
	if err != nil {
		return err
	}
	version, err := versions.At(ctx, point.Version, eventstore.Point{Position: point.Position, Time: point.Time}, time.Now())
	if err != nil {
		return err
	}
	version.Members = history.MembersOf(version.Record)
	return console.print("version", version)
}

type changesCommands struct {
	storeSettings
	outputSettings

	Tail changesTail `cmd:"" help:"print entries as they arrive, until a signal"`
}

type changesTail struct {
	languageSettings

	From calendar.Position `placeholder:"N" min:"1" max:"9223372036854775807" help:"position of the first entry to print; empty: the next one that arrives"`
	Kind string            `placeholder:"KIND" choices:"event, venue, organizer, category, tag, image or user" help:"kind of the records whose entries to print; empty: all"`
}

// Run prints entries as they come, until a signal.
func (changesTail *changesTail) Run(ctx context.Context, console *console) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := perform(ctx, console, changesTail)
	if ctx.Err() != nil { // that is how it ends
		return nil
	}
	return err
}

func (changesTail *changesTail) work(ctx context.Context, console *console) error {
	head, err := console.reader.Head(ctx)
	walk := history.Walk{From: int64(cmp.Or(changesTail.From, head+1)), Ascending: true}
	if kind, ok := calendar.ParseKind(changesTail.Kind); ok {
		walk.Filter.Kinds = []calendar.Kind{kind}
	}
	for err == nil {
		walk.To = int64(head)
		if err = console.printEntries(ctx, &walk); err == nil {
			var reached eventstore.Head
			reached, err = eventstore.Wait(ctx, console.events, head)
			head = reached.Position
		}
	}
	return err
}
