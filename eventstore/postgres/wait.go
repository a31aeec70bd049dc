package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/lifecycle"
)

const (
	minPoll, maxPoll       = 5 * time.Millisecond, time.Second
	minBackOff, maxBackOff = 100 * time.Millisecond, 10 * time.Second
)

// poll asks for the head: soon after it moved, less and less often while it does not, and
// without delay when a notification says so. It is what waiting relies on.
func (store *Store) poll(ctx context.Context) {
	wait := minPoll
	timer := time.NewTimer(wait)
	defer timer.Stop()
	outage := lifecycle.Outage{Log: store.options.Log, Message: "event store is not reached"}
	for {
		select {
		case <-ctx.Done():
			return
		case <-store.poke:
		case <-timer.C:
		}
		before := store.signal.Head().Position
		err := store.request(ctx, nil)
		if ctx.Err() != nil || errors.Is(err, eventstore.ErrClosed) {
			return
		}
		outage.Note(ctx, err)
		if wait = min(2*wait, maxPoll); err == nil && store.signal.Head().Position > before {
			wait = minPoll
		}
		timer.Reset(wait)
	}
}

// listen listens to what other processes append, on a connection of its own that is made
// again when it breaks.
func (store *Store) listen(ctx context.Context) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = minBackOff, maxBackOff
	outage := lifecycle.Outage{Log: store.options.Log, Message: "event store is not listened to, it is polled"}
	_, _ = backoff.Retry(ctx, func() (none struct{}, err error) { // it ends with the context
		err = translate(ctx, store.listenOnce(ctx, func() {
			wait.Reset()
			outage.Note(ctx, nil)
		}))
		if ctx.Err() == nil {
			outage.Note(ctx, err)
		}
		return none, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
}

// listenOnce calls listening when it listens, which it does until the connection breaks.
func (store *Store) listenOnce(ctx context.Context, listening func()) error {
	conn, err := dial(ctx, store.listenURL, store.options.Schema)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only listened
	if _, err := conn.Exec(ctx, "LISTEN "+store.options.Schema+"_head"); err != nil {
		return err
	}
	listening()
	store.wakePoll() // for what came before
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		// Anyone in the database may notify, so what it says is only a reason to ask.
		if head, err := strconv.ParseUint(n.Payload, 10, 63); err != nil || calendar.Position(head) > store.signal.Head().Position {
			store.wakePoll()
		}
	}
}

func (store *Store) wakePoll() {
	select {
	case store.poke <- struct{}{}:
	default: // it is about to ask
	}
}
