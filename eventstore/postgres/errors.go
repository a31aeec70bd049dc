package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"daybook/eventstore"
)

// translate turns errors of the driver into those of the port, by SQLSTATE or
// type; lost reports that the connection was. One of the port is left as it is.
func translate(ctx context.Context, err error, lost bool) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, eventstore.ErrDamaged) || errors.Is(err, eventstore.ErrClosed) {
		return err
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case passing(e.Code):
			return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
		case e.Code == "XX001" || e.Code == "XX002": // data or index corrupted
			return fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
		}
		return err
	}
	_, network := errors.AsType[net.Error](err)
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	if lost || network || connect {
		return fmt.Errorf("%w: %w", eventstore.ErrUnavailable, err)
	}
	return err
}

// readOnly is the SQLSTATE of a write on a server that takes none.
const readOnly = "25006"

// passing tells whether a SQLSTATE is of the server's state rather than of what
// was asked.
func passing(code string) bool {
	switch code {
	case readOnly, // the server is no primary any more
		"3F000", "42P01", "42883", // no schema, table or function: a backup is being put back
		"25P03", // idle in transaction for too long
		"40001", "40P01", "55P03",
		"57014": // cancelled, by a statement_timeout or by hand
		return true
	}
	switch code[:min(len(code), 2)] {
	case "08", // connection
		"53", // resources: disk full, out of memory, too many connections
		"58": // system
		return true
	case "57": // shutdown, crash, starting up, database dropped, idle session
		return true
	}
	return false
}
