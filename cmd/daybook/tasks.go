package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/command"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/internal/access"
	"daybook/internal/httpapi"
	"daybook/internal/status"
	"daybook/projector/upkeep"
)

type rebuildCommand struct {
	storeSettings
	indexSettings

	Back bool `help:"restore the read model that the last rebuild replaced"`
}

// work fills a new read model from the present state next to the old one, compares it with
// the store and puts it in its place.
func (rebuildCommand *rebuildCommand) work(ctx context.Context, console *console) error {
	if rebuildCommand.Back {
		err := console.withModel(ctx, func(m *upkeep.Upkeep) error { return m.Back(ctx) })
		return console.finish(err, "the former read model is in its place again\n")
	}
	show, end := progress[int](console, "rebuild", "records")
	count := 0
	err := console.withModel(ctx, func(m *upkeep.Upkeep) (err error) {
		count, err = m.Rebuild(ctx, show)
		return err
	})
	end()
	return console.finish(err, "the read model holds %d records and agrees with the event store\n", count)
}

type retryCommand struct {
	storeSettings
	indexSettings

	ID calendar.ID `arg:"" min:"1" max:"9223372036854775807" help:"id of the record; daybook health lists quarantined records"`
}

// work projects a quarantined record again.
func (retryCommand *retryCommand) work(ctx context.Context, console *console) error {
	if console.status == nil && console.localIndex() {
		return errors.New("nothing serves from the data directory, so nothing is quarantined: a start projects every record")
	}
	err := console.withModel(ctx, func(m *upkeep.Upkeep) error { return m.Retry(ctx, retryCommand.ID) })
	return console.finish(err, "record %d is projected\n", retryCommand.ID)
}

// ---- users ----

type userCommands struct {
	storeSettings
	outputSettings

	Add    userAdd    `cmd:"" makes:"" help:"make a user and print the token"`
	List   userList   `cmd:"" help:"list the users"`
	Token  userToken  `cmd:"" help:"withdraw the token of a user and print a new one"`
	Revoke userRevoke `cmd:"" help:"withdraw the token of a user"`
}

type userAdd struct {
	Name string `arg:"" help:"name of the user"`
	Role string `required:"" commandline:"" choices:"subscriber, contributor, author, editor, administrator or auditor" placeholder:"ROLE" help:"subscriber, contributor, author, editor, administrator or auditor"`
	*LogOptions
}

// work adds a user, and makes a store if none exists.
func (userAdd *userAdd) work(ctx context.Context, console *console) error {
	if userAdd.NewLog {
		if head, err := console.events.Head(ctx, eventstore.Point{}); err != nil || head.Position > 0 {
			return cmp.Or(err, usageError("--new-log: the store has a log of %s", counted(head.Position, "entry", "entries")))
		}
	}
	role, _ := calendar.ParseRole(userAdd.Role)
	_, token, err := console.users.Add(ctx, userAdd.Name, role, 0)
	return console.finish(err, "%s\n", token)
}

type userToken struct {
	Name string `arg:"" help:"name of the user"`
}

// work gives a user a new token.
func (userToken *userToken) work(ctx context.Context, console *console) error {
	_, token, err := console.users.NewToken(ctx, userToken.Name, 0)
	return console.finish(err, "%s\n", token)
}

type userRevoke struct {
	Name string `arg:"" help:"name of the user"`
}

// work withdraws the token of a user.
func (userRevoke *userRevoke) work(ctx context.Context, console *console) error {
	user, err := console.users.Revoke(ctx, userRevoke.Name, 0)
	if err == nil {
		fmt.Fprintf(console.err, "the token of %s is withdrawn\n", user.Name)
	}
	return err
}

type userList struct{}

// work lists the users.
func (*userList) work(ctx context.Context, console *console) error {
	users, err := console.users.List(ctx)
	if err != nil {
		return err
	}
	writer := tabwriter.NewWriter(console.output, 0, 0, 2, ' ', 0)
	table := *console
	table.output = writer
	err = table.print("users", append([]access.User{}, users...)) // [], not null
	return errors.Join(err, writer.Flush())
}

// ---- health ----

type healthCommand struct {
	storeSettings
	feedSettings
	indexSettings
	outputSettings
}

// work prints the health of a running service.
func (*healthCommand) work(ctx context.Context, console *console) error {
	if console.status == nil && console.localIndex() {
		return fmt.Errorf("nothing serves from %s", console.Data)
	}
	health, err := console.shownHealth(ctx)
	if err != nil {
		return err
	}
	_ = console.print("health", &health)
	if health.Status != status.OK {
		return fmt.Errorf("the service is %s", health.Status)
	}
	return nil
}

// ---- erasure ----

type eraseCommand struct {
	storeSettings
	feedSettings
	indexSettings
	*AddressOptions `group:"interface" json:"-"`
	outputSettings

	Kind    calendar.Kind `arg:"" optional:"" type:"kind" help:"event, venue, organizer, category, tag or user"`
	ID      calendar.ID   `arg:"" name:"id" optional:"" min:"1" max:"9223372036854775807" help:"id of the record"`
	Reason  string        `commandline:"" placeholder:"TEXT" help:"why the record is erased; the reason stays in the log, so it must not repeat what was erased"`
	By      string        `commandline:"" placeholder:"NAME" help:"administrator who erases the record; empty: the operator"`
	Yes     bool          `help:"do not ask for confirmation"`
	Compact bool          `help:"as the owner of a PostgreSQL event store: remove erased text from its files"`
}

// Run asks whether a record is to be erased, and erases it.
func (eraseCommand *eraseCommand) Run(ctx context.Context, console *console) error {
	if eraseCommand.Compact {
		return eraseCommand.compact(ctx, console)
	}
	switch count := utf8.RuneCountInString(calendar.PlainReason(eraseCommand.Reason)); {
	case eraseCommand.Kind == 0 || eraseCommand.ID == 0:
		return usageError("usage: daybook erase KIND ID --reason TEXT, as daybook erase venue 12 --reason \"asked for by its owner\"")
	case eraseCommand.Kind == calendar.KindImage:
		return usageError("an image is erased with the last record that shows it")
	case count == 0 || count > calendar.MaxReason:
		return usageError("erase needs --reason, 1 to %d characters", calendar.MaxReason)
	}
	if !eraseCommand.Yes {
		if !console.terminal || console.stdin == nil {
			return usageError("erase cannot be taken back: --yes says that it is meant")
		}
		fmt.Fprintf(console.err, "%s %d and all of its history will be erased for good. Type yes to go on: ", eraseCommand.Kind, eraseCommand.ID)
		var answer string
		if _, err := fmt.Fscanln(console.stdin, &answer); err != nil || answer != "yes" {
			return errors.New("nothing was erased")
		}
	}
	return perform(ctx, console, eraseCommand)
}

// place is where bytes of a record are, and what came of them: done, or what is left is the
// operator's.
type place struct {
	Place string `json:"place"`
	State string `json:"state"`
	Note  string `json:"note,omitempty"`
}

// work erases a record and then takes what is left of it out of every place that
// is not the operator's. Run again it does what is missing.
func (eraseCommand *eraseCommand) work(ctx context.Context, console *console) error {
	kind, id := eraseCommand.Kind, eraseCommand.ID
	request := command.Request{Kind: kind, Target: command.Target{ID: id}, Cause: eventstore.Cause{Reason: calendar.PlainReason(eraseCommand.Reason)}}
	if eraseCommand.By != "" {
		users, err := console.users.List(ctx)
		if err != nil {
			return err
		}
		by := slices.IndexFunc(users, func(user access.User) bool {
			return user.Name == eraseCommand.By && user.Role == calendar.Administrator
		})
		if by < 0 {
			return fmt.Errorf("--by: no administrator has the name %q", eraseCommand.By)
		}
		request.Caller.ID = users[by].ID
	}
	erased, err := console.command.Erase(ctx, request)
	if err != nil {
		return err
	}
	if console.file != nil {
		err = console.file.Compact(ctx)
	}
	if err == nil {
		err = console.renewStream(ctx, erased.Position)
	}
	if err == nil {
		show, end := progress[int](console, "read model", "records")
		err = console.withModel(ctx, func(m *upkeep.Upkeep) error { return m.Erase(ctx, show) })
		end()
	}
	var reasons []*eventstore.Entry
	if err == nil {
		reasons, err = console.reasonsOf(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("%s %d is erased at position %d, but not yet in every place: %w; run the command again", kind, id, erased.Position, err)
	}
	group := "daybook-" + id.String()
	var text bytes.Buffer
	var places []place
	_ = outputs.ExecuteTemplate(&text, "places", map[string]any{"embedded": console.file != nil, "schema": console.Database.Schema, "reasons": reasons, "group": group})
	if err := json.Unmarshal(text.Bytes(), &places); err != nil {
		return err
	}
	return console.print("erased", map[string]any{
		"kind": kind.String(), "id": id, "position": erased.Position, "before": erased.Before,
		"images": append([]calendar.ID{}, erased.Images...), "places": places, "group": group, "urls": console.urlsOf(kind, id, erased.Slugs),
	})
}

// streamWait is how long the stream may take to be made again.
const streamWait = 20 * time.Second

// renewStream waits until the stream was made again: a relay does it when it reads the entry of
// an erasure. Where none serves this is one for a while.
func (backend *backend) renewStream(ctx context.Context, erasure calendar.Position) (err error) {
	jetStream := backend.feed
	if jetStream == nil {
		if backend.Feed == "" {
			return nil // there is none
		}
		if jetStream, err = backend.openFeed(); err != nil { //nolint:contextcheck // its log lines come long after this call
			return err
		}
		defer jetStream.Conn().Close()
		_, work, _ := backend.relay(jetStream)
		within, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- work(within) }()
		defer func() {
			stop()
			err = errors.Join(err, <-done)
		}()
	}
	_, err = backend.published(ctx, jetStream, erasure, streamWait)
	return err
}

// reasonsOf finds reasons that were given with changes of a record and stay: the entries of
// other records that the same write made have them too, and are not erased. What is left of
// an erased entry to know the write by are its commit, its time and who made it.
func (backend *backend) reasonsOf(ctx context.Context, id calendar.ID) (reasons []*eventstore.Entry, err error) {
	for erased, err := range eventstore.Entries(ctx, backend.events, id) {
		if err != nil {
			return nil, err
		}
		if erased.Redacted == nil {
			continue
		}
		for after, last := uint64(erased.Commit.First-1), uint64(erased.Commit.Last); after < last; {
			page, err := backend.events.Read(ctx, eventstore.Range{After: after, Limit: int(last - after)})
			if err != nil || len(page) == 0 {
				return reasons, err
			}
			for i := range page {
				if entry := &page[i]; entry.ID != erased.ID && entry.Cause.Reason != "" && entry.Actor == erased.Actor && entry.Time.Equal(erased.Time) {
					reasons = append(reasons, entry)
				}
			}
			after += uint64(len(page))
		}
	}
	return reasons, nil
}

// urlsOf returns those that showed a record.
func (config *config) urlsOf(kind calendar.Kind, id calendar.ID, slugs []string) []string {
	urls := []string{}
	if kind == calendar.KindUser {
		return urls
	}
	for _, language := range []string{"", "/cn", "/es", "/fr"} {
		root := config.BaseURL + language + "/" + config.APIPrefix + "/" + httpapi.Namespace + "/" + kind.Collection()
		urls = append(urls, root+"/"+id.String())
		if kind.IsTerm() { // they are not read by slug
			continue
		}
		for _, slug := range slugs {
			urls = append(urls, root+"/by-slug/"+url.PathEscape(slug))
		}
	}
	return urls
}

// compact takes what was erased out of the files of PostgreSQL, as their owner.
func (eraseCommand *eraseCommand) compact(ctx context.Context, console *console) error {
	switch {
	case eraseCommand.Kind != 0:
		return usageError("--compact takes no argument, not %q", eraseCommand.Kind)
	case console.Store == "":
		return usageError("--compact needs --store postgres://…, with the URL of the owner; the event store in a data directory is compacted when a record is erased")
	}
	left, err := postgres.Compact(ctx, console.Store, console.Database)
	if err != nil {
		return err
	}
	fmt.Fprintf(console.output, "what was erased is out of the tables of schema %s; WAL, standbys and archives are the operator's\n", console.Database.Schema)
	for _, statement := range left {
		fmt.Fprintf(console.output, "left to a superuser of the database, else done by the server in time: %s\n", statement)
	}
	return nil
}
