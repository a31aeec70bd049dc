package postgres_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"sync/atomic"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

// TestMain runs four tests at once, also on two cores, as most of them wait for servers, and
// fewer random sequences than the stores do that need none.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4")
	_ = flag.Set("rapid.checks", "30")
	os.Exit(m.Run())
}

// twoProcesses are two stores on one schema that answer in turns.
type twoProcesses struct {
	*postgres.Store
	other *postgres.Store
	turn  atomic.Int64
}

func (twoProcesses *twoProcesses) next() *postgres.Store {
	if twoProcesses.turn.Add(1)%2 == 0 {
		return twoProcesses.Store
	}
	return twoProcesses.other
}

// Append appends in one of them, erasures in the first one, whose epoch counts them, and lets
// that one learn of it.
func (twoProcesses *twoProcesses) Append(ctx context.Context, addition eventstore.Append) eventstore.Result {
	store := twoProcesses.next()
	if addition.Redact != nil {
		store = twoProcesses.Store
	}
	result := store.Append(ctx, addition)
	_, _ = twoProcesses.Head(ctx, eventstore.Point{}) // what fails here fails again
	return result
}

func (twoProcesses *twoProcesses) Load(ctx context.Context, ids ...calendar.ID) ([]eventstore.State, error) {
	return twoProcesses.next().Load(ctx, ids...)
}

func (twoProcesses *twoProcesses) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	return twoProcesses.next().Read(ctx, r)
}

func (twoProcesses *twoProcesses) Close() error {
	return errors.Join(twoProcesses.Store.Close(), twoProcesses.other.Close())
}

// TestStore: the store keeps the promises of the port: in two processes, one of them as behind
// a pooler by transactions, and without listening.
func TestStore(t *testing.T) {
	t.Parallel()
	at := server(t)
	pooled := with(t, at, "default_query_exec_mode=exec")
	for name, open := range map[string]func(tb testing.TB, schema string) storetest.Store{
		"two processes": func(tb testing.TB, schema string) storetest.Store {
			tb.Helper()
			options := postgres.Options{Schema: schema}
			processes := &twoProcesses{Store: open(tb, at, options)}
			options.ListenURL = at
			processes.other = open(tb, pooled, options)
			return processes
		},
		"simple protocol": func(tb testing.TB, schema string) storetest.Store {
			tb.Helper()
			return open(tb, with(tb, at, "default_query_exec_mode=simple_protocol"), postgres.Options{Schema: schema, PollOnly: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, harness(open))
		})
	}
}
