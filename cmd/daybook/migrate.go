package main

import (
	"context"
	"fmt"

	"daybook/eventstore/postgres"
)

// runMigrate brings the schema of a PostgreSQL event store to the present form as
// the role that owns it, so that the service can run as one that owns nothing.
func runMigrate(ctx context.Context, c *console, s *settings, args []string) error {
	switch {
	case len(args) != 0:
		return usageError("takes no argument, not %q", args)
	case s.store == "":
		return usageError("needs --store postgres://…; the event store in a data directory is brought to the present form when it is opened")
	}
	o := postgres.Options{Schema: s.storeSchema, ServiceRole: s.serviceRole}
	if err := postgres.Migrate(ctx, s.store, o); err != nil {
		return fmt.Errorf("schema %s: %w", s.storeSchema, err)
	}
	if s.serviceRole == "" {
		_, err := fmt.Fprintf(c.out, "schema %s has the present form\n", s.storeSchema)
		return err
	}
	_, err := fmt.Fprintf(c.out, "schema %s has the present form, and role %s its rights\n", s.storeSchema, s.serviceRole)
	return err
}
