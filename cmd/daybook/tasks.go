package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/projector/upkeep"
)

// pageSize is how many entries one read takes.
const pageSize = 500

func runRebuild(ctx context.Context, c *console, s *settings, args []string) error {
	if s.back {
		return runPlain(ctx, c, s, "back", args)
	}
	return runPlain(ctx, c, s, "rebuild", args)
}

// runPlain runs a task that takes no argument and no input.
func runPlain(ctx context.Context, c *console, s *settings, name string, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	return runTask(ctx, withoutInput(c), s, name, nil)
}

func withoutInput(c *console) *console {
	d := *c
	d.in = nil
	return &d
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// rebuildTask fills a new read model from the present state next to the old one,
// compares it with the store and puts it in its place.
func rebuildTask(ctx context.Context, b *backend, c *console, _ *settings, _ []string) error {
	bar := newProgress(c, "rebuild", "records")
	n := 0
	err := b.withModel(ctx, func(m *upkeep.Upkeep) (err error) {
		n, err = m.Rebuild(ctx, bar.set)
		return err
	})
	bar.done()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "the read model holds %d records and agrees with the event store\n", n)
	return err
}

// backTask puts the read model that the last rebuild replaced in its place again.
func backTask(ctx context.Context, b *backend, c *console, _ *settings, _ []string) error {
	if err := b.withModel(ctx, func(m *upkeep.Upkeep) error { return m.Back(ctx) }); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.out, "the former read model is in its place again")
	return err
}

func runRetry(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) != 1 {
		return usageError("usage: daybook retry ID; daybook health tells which records are quarantined")
	}
	if _, err := idArgument(args[0]); err != nil {
		return err
	}
	return runTask(ctx, withoutInput(c), s, "retry", args)
}

// idArgument reads an id of the command line.
func idArgument(text string) (calendar.ID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, usageError("ID must be a number above 0, not %q", text)
	}
	return calendar.ID(n), nil
}

func retryTask(ctx context.Context, b *backend, c *console, s *settings, args []string) error {
	id, err := idArgument(args[0])
	if err != nil {
		return err
	}
	if b.live.Load() == nil && s.engine().local {
		return errors.New("nothing serves from the data directory, so nothing is quarantined: a start projects every record")
	}
	err = b.withModel(ctx, func(m *upkeep.Upkeep) error { return m.Retry(ctx, id) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "record %d is projected\n", id)
	return err
}

// ---- users ----

func runUser(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) == 0 {
		return usageError("usage: daybook user add NAME --role ROLE | list | token NAME | revoke NAME")
	}
	want := 2
	if args[0] == "list" {
		want = 1
	}
	switch args[0] {
	case "add", "list", "token", "revoke":
	default:
		return usageError("no act %q on users: add, list, token or revoke", args[0])
	}
	if len(args) != want {
		return usageError("usage: daybook user add NAME --role ROLE | list | token NAME | revoke NAME")
	}
	if args[0] == "add" && s.role == "" {
		return usageError("user add needs --role: subscriber, contributor, author, editor, administrator or auditor")
	}
	if args[0] == "add" && s.store == "" {
		if err := os.MkdirAll(s.data, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return runTask(ctx, withoutInput(c), s, "user", args)
}

func userTask(ctx context.Context, b *backend, c *console, s *settings, args []string) error {
	switch args[0] {
	case "add":
		if s.newLog {
			if head, err := b.events.Head(ctx, eventstore.Point{}); err != nil || head.Position > 0 {
				return cmp.Or(err, usageError("--new-log: the store has a log of %s", counted(int(head.Position), "entry", "entries")))
			}
		}
		role, _ := calendar.ParseRole(s.role)
		_, token, err := b.users.Add(ctx, args[1], role, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.out, token)
		return err
	case "token":
		_, token, err := b.users.NewToken(ctx, args[1], 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.out, token)
		return err
	case "revoke":
		u, err := b.users.Revoke(ctx, args[1], 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.err, "the token of %s is withdrawn\n", u.Name)
		return err
	default:
		return listUsers(ctx, b, c, s)
	}
}

func listUsers(ctx context.Context, b *backend, c *console, s *settings) error {
	users, err := b.users.List(ctx)
	if err != nil {
		return err
	}
	if s.json {
		type row struct {
			ID     calendar.ID `json:"id"`
			Name   string      `json:"name"`
			Role   string      `json:"role"`
			Active bool        `json:"active"`
		}
		rows := make([]row, len(users))
		for i, u := range users {
			rows[i] = row{u.ID, u.Name, u.Role.String(), u.Active}
		}
		return json.NewEncoder(c.out).Encode(rows)
	}
	tw := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tNAME\tROLE\tTOKEN")
	for _, u := range users {
		token := "none"
		if u.Active {
			token = "valid"
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\n", u.ID, u.Name, u.Role, token)
	}
	return tw.Flush()
}

// ---- health ----

func runHealth(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	if s.store != "" && !s.engine().local {
		return runTask(ctx, withoutInput(c), s, "health", nil)
	}
	lock, server, err := holdOrReach(ctx, s.data, false, holderWait, order{"health", nil, s.ordered(), c.terminal})
	if lock != nil {
		_ = lock.Close()
	}
	switch {
	case server != nil: // the answer keeps the deadline of the order: it is short
		return server.follow(ctx, withoutInput(c))
	case err != nil:
		return err
	}
	return fmt.Errorf("nothing serves from %s", s.data)
}

func healthTask(ctx context.Context, b *backend, c *console, s *settings, _ []string) error {
	h, err := b.shownHealth(ctx)
	if err != nil {
		return err
	}
	if s.json {
		if err := json.NewEncoder(c.out).Encode(h); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.out, "status: %s\nhead: %d\nvisible: %d\nquarantined: %d\n", h.Status, h.Head, h.Visible, len(h.Quarantined))
		if why := h.reason(); why != "" {
			fmt.Fprintf(c.out, "why: %s\n", why)
		}
		for _, q := range h.Quarantined {
			fmt.Fprintf(c.out, "  record %d since position %d: %s\n", q.ID, q.Position, q.Reason)
		}
	}
	if h.Status != statusOK {
		return fmt.Errorf("the service is %s", h.Status)
	}
	return nil
}
