package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"daybook/eventstore"
)

// known is what the process knows of the log. Whatever a call gave of an epoch lies
// at or before the mark of that epoch, so a log that holds the mark holds all of it.
type known struct {
	mu    sync.Mutex
	mark  eventstore.Mark // of the last commit that was seen; zero: of none
	uuid  *[16]byte       // of the store that the mark is of; nil: nothing was seen
	given int64           // the greatest id that NewIDs gave since the last connection was made
	dials int             // connections that were made
}

// view is what was known when something was sent to the server.
type view struct {
	epoch uint64
	mark  eventstore.Mark
	given int64
	dials int
}

func (s *Store) view() view {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	return view{epoch: s.signal.Epoch(), mark: s.known.mark, given: s.known.given, dials: s.known.dials}
}

// told is what a server says of its log.
type told struct {
	head    eventstore.Mark // of the last commit
	there   eventstore.Mark // of the commit in which the position of the view lies, or the last one before it
	uuid    *[16]byte       // nil: the row is missing or hidden
	standby bool
}

// queueCheck adds the statement that asks how the log stands to what is known.
func (s *Store) queueCheck(b *pgx.Batch, v view, t *told) {
	b.Queue(s.q.check, number(v.mark.Position)).QueryRow(func(r pgx.Row) error {
		var head, there []byte
		if err := r.Scan(&t.standby, &t.head.Position, &head, &t.there.Position, &there, &t.uuid); err != nil {
			return err
		}
		for _, m := range []struct {
			hash []byte
			to   *eventstore.Mark
		}{{head, &t.head}, {there, &t.there}} {
			if m.to.Position == 0 {
				continue
			}
			var err error
			if m.to.Hash, err = digest(m.hash); err != nil {
				return err
			}
		}
		return nil
	})
}

// check asks how the log stands to what is known, on one connection.
func (s *Store) check(ctx context.Context, c *pgx.Conn) error {
	v := s.view()
	var t told
	b := &pgx.Batch{}
	s.queueCheck(b, v, &t)
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	return s.see(v, &t)
}

// see learns from what a server told. Where its log does not hold what was known,
// the store goes over to the history that it has. A standby that has not come so
// far yet is no other history: it is not asked.
func (s *Store) see(v view, t *told) error {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.signal.Epoch() != v.epoch {
		return nil // what was asked by another history tells nothing of this one
	}
	if v.mark.Position > 0 && t.there != v.mark {
		if t.standby && t.there.Position < v.mark.Position {
			return fmt.Errorf("%w: the server is a standby that has not come to entry %d", eventstore.ErrUnavailable, v.mark.Position)
		}
		if t.head.Position == 0 && (t.uuid == nil || s.known.uuid != nil && *t.uuid == *s.known.uuid) {
			return fmt.Errorf("%w: the log is empty but still the one that had entry %d: rights or row-level security may hide it",
				eventstore.ErrUnavailable, v.mark.Position)
		}
		s.o.Log.Error("the event store holds another history than before: what was known of it is dropped",
			"known", s.known.mark.String(), "present", t.head.String())
		s.known.mark, s.known.uuid, s.known.given = t.head, t.uuid, 0
		s.signal.Reset(t.head.Position)
		s.distrust() // what is open leads to where the other history is, perhaps
		return nil
	}
	if t.uuid != nil {
		s.known.uuid = t.uuid
	}
	s.learn(t.head)
	return nil
}

// learn takes a newer mark of the present history; known.mu is held.
func (s *Store) learn(m eventstore.Mark) {
	if m.Position > s.known.mark.Position {
		s.known.mark = m
	}
	s.signal.Move(m.Position)
}

// wrote learns of a commit of this process, and tells whether the history is still
// that of the view which it was written by.
func (s *Store) wrote(v view, m eventstore.Mark) bool {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.signal.Epoch() != v.epoch {
		return false
	}
	s.learn(m)
	return true
}

// gave notes the greatest id that the database gave. Where a connection was made
// meanwhile, it may lead to another server, which does not know of the id.
func (s *Store) gave(v view, id int64) {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if s.known.dials == v.dials && s.signal.Epoch() == v.epoch {
		s.known.given = max(s.known.given, id)
	}
}

// dialled notes that a connection was made, perhaps to another server than before,
// which may not know what ids were given.
func (s *Store) dialled() {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	s.known.dials++
	s.known.given = 0
}
