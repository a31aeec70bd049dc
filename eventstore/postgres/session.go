package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sessionSettings are the parameters of a session that the store relies on. Each
// connection asks for them when it starts, which wins over what a role, a database or
// the server sets.
var sessionSettings = map[string]string{
	"bytea_output":                  "hex",            // what pgx reads in text form
	"client_encoding":               "UTF8",           // what Go writes
	"client_min_messages":           "warning",        // a wait for a standby that was cut off is told by a warning
	"datestyle":                     "ISO, MDY",       // what pgx reads in text form
	"default_transaction_isolation": "read committed", // the lock is taken before the statement that reads
	"intervalstyle":                 "postgres",       // what pgx reads in text form
	"row_security":                  "off",            // an error in place of rows that are left out silently
	"standard_conforming_strings":   "on",             // what pgx quotes for
}

// moreVerbose are the values of client_min_messages that pass warnings on, too.
const moreVerbose = "notice log debug debug1 debug2 debug3 debug4 debug5"

// refusedParameter is the SQLSTATE with which a pooler refuses a connection that asks
// for parameters it does not pass on.
const refusedParameter = "08P01"

// settingValue returns an expression for the value of a setting, $1 the schema. Row security
// that is on hides nothing, and counts as off, where no policy holds for the role.
func settingValue(name string) string {
	value := "current_setting('" + name + "')"
	if name == "row_security" {
		return "CASE WHEN EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text " +
			"AND c.relkind = 'r' AND row_security_active(c.oid)) THEN " + value + " ELSE 'off' END"
	}
	return value
}

// connect opens one connection and checks its session. Behind a pooler that takes no
// parameters, config loses them, and the session has to be right by itself.
func connect(ctx context.Context, config *pgx.ConnConfig, schema string) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if sqlState(err) == refusedParameter {
		for name := range sessionSettings {
			delete(config.RuntimeParams, name)
		}
		conn, err = pgx.ConnectConfig(ctx, config)
	}
	if err != nil {
		return nil, translate(ctx, err)
	}
	if err := translateOn(ctx, conn, checkSession(ctx, conn, schema)); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // it was not used
		return nil, err
	}
	return conn, nil
}

// dial is connect with a URL that is read now.
func dial(ctx context.Context, address, schema string) (*pgx.Conn, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	return connect(ctx, config.ConnConfig, schema)
}

// checkSession returns an error that names the first setting of a session that is not
// what the store relies on.
func checkSession(ctx context.Context, conn *pgx.Conn, schema string) error {
	names := slices.Sorted(maps.Keys(sessionSettings))
	found := make([]string, len(names))
	columns, into := make([]string, len(names)), make([]any, len(names))
	for i, name := range names {
		columns[i], into[i] = settingValue(name), &found[i]
	}
	if err := conn.QueryRow(ctx, "SELECT "+strings.Join(columns, ", "), schema).Scan(into...); err != nil {
		return err
	}
	for i, name := range names {
		got, want := found[i], sessionSettings[name]
		if got == want || name == "client_min_messages" && slices.Contains(strings.Fields(moreVerbose), got) ||
			name == "datestyle" && strings.HasPrefix(got, "ISO") {
			continue
		}
		return fmt.Errorf("the session has %s = %q, must be %q: the pooler between does not pass it on, so set it for the role, "+
			"ALTER ROLE … SET %s = '%s'",
			name, got, want, name, want)
	}
	return nil
}
