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
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
		case <-timer.C:
		}
		before := s.signal.Head()
		head, err := s.Head(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, eventstore.ErrClosed):
			return
		case err != nil && !failing:
			s.o.Log.Warn("event store is not reached", "error", err)
		case err == nil && failing:
			s.o.Log.Info("event store is reached again")
		}
		failing = err != nil
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
	_, _ = backoff.Retry(ctx, func() (none struct{}, err error) { // it ends with the context
		listened, err := s.listenOnce(ctx)
		if listened {
			wait.Reset()
		}
		return none, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, d time.Duration) {
		s.o.Log.Warn("event store is not listened to, it is polled", "error", err, "retry_in", d)
	}))
}

// listenOnce listens until the connection breaks, and tells whether it came to
// that.
func (s *Store) listenOnce(ctx context.Context) (listened bool, err error) {
	conn, err := connect(ctx, s.listen, s.o.Schema)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only listened
	if _, err := conn.PgConn().Exec(ctx, "LISTEN "+s.o.Schema+"_head").ReadAll(); err != nil {
		return false, translate(ctx, err, conn.IsClosed())
	}
	s.ask() // for what came before
	for {
		n, err := s.notification(ctx, conn)
		if err != nil {
			return true, translate(ctx, err, true)
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
