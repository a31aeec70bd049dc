package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/access"
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
