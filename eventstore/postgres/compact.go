package postgres

import (
	"context"
	"fmt"
)

// Compact writes the tables again that erasures leave dead rows in, so that nothing of
// them is in the files any more, and ends with a checkpoint, which removes the old files.
// It is for the role that owns the schema. left are the statements that this role may not
// run: a superuser runs them, or the server does what they do in time. Each table is
// locked while it is written, and takes its size again on the disk meanwhile.
func Compact(ctx context.Context, address string, options Options) (left []string, err error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	conn, err := dial(ctx, address, options.Schema)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was left undone
	run := func(statement string) error {
		err := heard(conn, func() error { _, err := conn.Exec(ctx, statement); return err })
		if err != nil {
			return fmt.Errorf("%s: %w", statement, translate(ctx, err))
		}
		return nil
	}
	for _, t := range []table{entries, records, names, claims, receipts, slugs} {
		if err := run("VACUUM (FULL) " + options.Schema + "." + t.name); err != nil {
			return nil, err
		}
	}
	const last = "CHECKPOINT"
	if err = run(last); sqlState(err) == refused {
		return []string{last}, nil
	}
	return nil, err
}
