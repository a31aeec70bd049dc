package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/lifecycle"
)

const (
	minPoll, maxPoll       = 5 * time.Millisecond, time.Second
	minBackOff, maxBackOff = 100 * time.Millisecond, 10 * time.Second
	quietLimit             = 15 * time.Second // without a notification
)

// poll asks for the head: soon after it moved, less and less often while it does
// not, and at once when a notification says so. It is what waiting relies on.
func (s *Store) poll(ctx context.Context) {
	pause := minPoll
	timer := time.NewTimer(pause)
	defer timer.Stop()
	outage := lifecycle.Outage{Log: s.o.Log, Message: "event store is not reached"}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		case <-timer.C:
		}
		before := s.signal.Head()
		head, err := s.Head(ctx)
		if ctx.Err() != nil || errors.Is(err, eventstore.ErrClosed) {
			return
		}
		outage.Note(ctx, err)
		if err == nil && head > before {
			pause = minPoll
		} else {
			pause = min(2*pause, maxPoll)
		}
		timer.Reset(pause)
	}
}

// listenAll keeps listening to what other processes append, on a connection of
// its own that is made again when it breaks.
func (s *Store) listenAll(ctx context.Context) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = minBackOff, maxBackOff
	outage := lifecycle.Outage{Log: s.o.Log, Message: "event store is not listened to, it is polled"}
	_, _ = backoff.Retry(ctx, func() (none struct{}, err error) { // it ends with the context
		err = s.listenOnce(ctx, func() {
			wait.Reset()
			outage.Note(ctx, nil)
		})
		if ctx.Err() == nil {
			outage.Note(ctx, err)
		}
		return none, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
}

// listenOnce calls listening when it listens, which it does until the connection breaks.
func (s *Store) listenOnce(ctx context.Context, listening func()) error {
	conn, err := connect(ctx, s.listen, s.o.Schema)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only listened
	if _, err := conn.PgConn().Exec(ctx, "LISTEN "+s.o.Schema+"_head").ReadAll(); err != nil {
		return translate(ctx, err, conn.IsClosed())
	}
	listening()
	s.ask() // for what came before
	for {
		n, err := s.notification(ctx, conn)
		if err != nil {
			return translate(ctx, err, true)
		}
		if n == nil {
			continue
		}
		if int64(n.PID) == s.writerPID.Load() {
			continue // our own
		}
		// Anyone in the database may notify, so what it says is only a reason to ask.
		if head, err := strconv.ParseUint(n.Payload, 10, 63); err != nil || calendar.Position(head) > s.signal.Head() {
			s.ask()
		}
	}
}

// notification waits for one. When none comes for a while it looks whether the
// server is still there, and gives none.
func (s *Store) notification(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	quiet, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	n, err := conn.WaitForNotification(quiet)
	if err == nil || quiet.Err() == nil || ctx.Err() != nil || conn.IsClosed() {
		return n, err
	}
	try, cancel := context.WithTimeout(ctx, tryLimit)
	defer cancel()
	return nil, s.check(try, conn)
}

// ask makes the poll ask at once.
func (s *Store) ask() {
	select {
	case s.kick <- struct{}{}:
	default: // it is about to
	}
}
