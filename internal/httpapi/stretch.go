package httpapi

import (
	"context"
	"errors"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
)

// streamTick is the time between two looks of a stream that has come to the head. Streams
// look at the same moments and up to the same position, so that what they tell is told once
// for all of them, however many there are.
const streamTick = 100 * time.Millisecond

// streams are the open streams of a process.
type streams struct {
	reading chan struct{} // holds one for each that reads the log

	mu        sync.Mutex
	open      int
	tick      int64             // the one of head
	head      calendar.Position // that streams look up to in a tick
	stretches map[stretchKey]*stretch
}

// stretchKey tells a stretch of the log for one kind of listener.
type stretchKey struct {
	caller   calendar.Caller
	asked    string
	epoch    uint64
	from, to calendar.Position
	skipped  int
}

// stretch is what streams send of a stretch of the log.
type stretch struct {
	done    chan struct{} // closed when the rest is there
	until   time.Time     // rights are those of the moment: it is for who asks until then
	at      calendar.Position
	skipped int
	text    []byte
	err     error
}

// untilTick is how long it is until the next tick.
func (a *api) untilTick() time.Duration {
	return streamTick - time.Duration(a.o.Now().UnixNano())%streamTick
}

// upTo gives the position that a live stream looks up to: the same for all in a tick.
func (s *streams) upTo(now time.Time, at, head calendar.Position) calendar.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tick := now.UnixNano() / int64(streamTick); tick != s.tick {
		s.tick, s.head = tick, head
	}
	if at < s.head && s.head < head {
		return s.head
	}
	return head
}

// take gives the stretch of a key; own tells that the caller has to make it.
func (s *streams) take(key stretchKey, now time.Time) (t *stretch, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, t := range s.stretches {
		if now.After(t.until) {
			delete(s.stretches, k)
		}
	}
	if t := s.stretches[key]; t != nil {
		return t, false
	}
	if s.stretches == nil {
		s.stretches = map[stretchKey]*stretch{}
	}
	t = &stretch{done: make(chan struct{}), until: now.Add(streamTick)}
	s.stretches[key] = t
	return t, true
}

// made lets others have a stretch, unless it failed.
func (s *streams) made(key stretchKey, t *stretch) {
	if t.err != nil {
		s.mu.Lock()
		if s.stretches[key] == t {
			delete(s.stretches, key)
		}
		s.mu.Unlock()
	}
	close(t.done)
}

// look gives what is to be sent of the entries up to the head, no more than a piece. One
// that has not come to the head yet looks for itself: others may have looked when a record
// was public that no longer is.
func (s *stream) look(ctx context.Context, head calendar.Position) ([]byte, error) {
	all := &s.a.streams
	for {
		t, own := &stretch{done: make(chan struct{})}, true
		var key stretchKey
		if s.live {
			now := s.a.o.Now()
			head = all.upTo(now, s.at, head)
			key = stretchKey{s.c.caller, s.asked, s.epoch, s.at, head, s.skipped}
			t, own = all.take(key, now)
		}
		if own {
			t.err = errors.New("a stream was told nothing") // where a panic ends it
			func() {
				defer all.made(key, t)
				t.err = s.tell(ctx, t, head)
			}()
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if t.err == nil {
			s.at, s.skipped = t.at, t.skipped
			return t.text, nil
		}
		if own || !errors.Is(t.err, context.Canceled) { // who was to make it went away
			return nil, t.err
		}
	}
}

// tell reads entries up to the head.
func (s *stream) tell(ctx context.Context, t *stretch, head calendar.Position) error {
	// What was told before, it reads in the turns of its client. What is new may be for
	// others too, so that waits for no client.
	var pace *admit.Pace
	if !s.live && s.c.caller.Role == calendar.Anonymous {
		release, err := s.a.past.Acquire(ctx, s.client, false)
		if err != nil {
			return err
		}
		defer release()
		pace = s.c.pass.Pace(s.a.past, s.a.o.Now)
	}
	select {
	case s.a.streams.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.a.streams.reading }()
	work, cancel := context.WithTimeout(ctx, s.a.o.ReadDeadline)
	defer cancel()
	t.at, t.skipped = s.at, s.skipped
	walk := history.Walk{From: int64(s.at) + 1, To: int64(head), Ascending: true, Filter: s.filter, Limit: streamPage}
	for e, err := range s.a.History.Entries(work, s.c.viewer(), &walk) {
		if err != nil {
			return err
		}
		t.at = calendar.Position(walk.LookedTo)
		pace.Rest(work)
		t.skipped++
		if e != nil {
			t.skipped = 0
			t.text = append(t.text, "id: "+t.at.String()+"\nevent: change\ndata: "...)
			if t.text, err = appendJSON(t.text, e); err != nil {
				return err
			}
			t.text = append(t.text, "\n\n"...)
		}
		if t.skipped >= history.MaxLooked || len(t.text) >= streamPiece || work.Err() != nil {
			break
		}
	}
	return nil
}
