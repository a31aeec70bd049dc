package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
)

// streamRead is the stream of changes (HISTORY 11).
var streamRead = pastRead{table: pastTable{kindRow, idRow, actorRow, actionRow, fieldRow, afterRow, languageRow}, stream: (*call).stream}

const eventStream = "text/event-stream"

const (
	pastAtOnce    = 16 // pages of the past that are made at once for anonymous callers
	streamsAtOnce = 4  // streams that read the log at once

	streamEnd = 500 * time.Millisecond // that a write under way has when the process drains

	streamPiece = 256 << 10 // bytes of entries that a stream reads before it sends them
	streamPage  = 64        // entries that it looks at first
)

// enterStream gives a request a place among the streams, in place of all else that it
// holds, or refuses it.
func (c *call) enterStream() error {
	switch {
	case c.pass.Enter(admit.Stream, 1):
		return nil
	case c.caller.Role == calendar.Anonymous && c.pass.Crowded(admit.Stream):
		return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: 30}
	}
	return &calendar.Error{Code: calendar.CodeUnavailable, RetryAfter: 5}
}

// stream answers the changes as they come.
func (c *call) stream(q *pastQuery) error {
	c.fresh = valueNoStore
	from := q.begin(c.r)
	if err := q.err(); err != nil {
		return err
	}
	if err := c.enterStream(); err != nil {
		return err
	}
	defer c.pass.Leave()
	header := c.w.Header()
	header[headerType] = []string{eventStream + "; charset=utf-8"}
	header[headerLanguage] = []string{c.lang.Tag()}
	header["X-Accel-Buffering"] = []string{"no"}
	c.writeStatus(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(c.client)
	defer cancel()
	control := http.NewResponseController(c.w)
	if c.o.Draining != nil {
		go func() {
			select {
			case <-c.o.Draining:
				cancel()
				_ = control.SetWriteDeadline(time.Now().Add(streamEnd)) // a client that reads nothing holds nobody up
			case <-ctx.Done():
			}
		}()
	}
	s := stream{
		call: c, filter: q.filter, control: control, at: from, epoch: c.History.Epoch(),
		credentials: strings.Join(c.r.Header["Authorization"], ", "), sent: c.o.Now(), asked: fmt.Sprint(c.lang, c.root.URL, q.filter),
	}
	_ = s.control.SetReadDeadline(time.Time{}) // that of the request would end it
	if err := s.run(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errStreamEnds) {
		c.o.Log.WarnContext(ctx, "stream ended", "position", uint64(s.at), "error", err)
	}
	return nil
}

// begin returns the position that a stream begins behind: that of Last-Event-ID, of after,
// or the head.
func (q *pastQuery) begin(request *http.Request) calendar.Position {
	after, sent := q.in["after"].(string)
	if sent && !calendar.IsDigits(after) {
		q.problems.Add("after", calendar.ReasonTypeInteger)
	}
	last := request.Header.Get(headerLastEvent)
	if last == "" {
		if sent {
			return calendar.Position(q.after)
		}
		return q.head
	}
	n, err := strconv.ParseUint(last, 10, 63)
	switch {
	case !calendar.IsDigits(last):
		q.problems.Add(headerLastEvent, calendar.ReasonHeaderPosition)
	case err != nil, calendar.Position(n) > q.head:
		q.problems.Add(headerLastEvent, calendar.ReasonAhead, q.head.String())
	}
	return calendar.Position(n)
}

// stream is one that is open.
type stream struct {
	*call
	filter      history.Filter
	control     *http.ResponseController
	credentials string
	epoch       uint64
	at          calendar.Position // looked at up to here
	sent        time.Time         // when something was sent last
	skipped     int               // entries since then
	asked       string            // what makes one stream tell other things than another one of the same caller
	live        bool              // it has come to the head
}

// errStreamEnds says that a stream has ended as it has to.
var errStreamEnds = errors.New("the stream ends")

func (s *stream) run(ctx context.Context) error {
	if err := s.send(ctx, []byte("retry: 3000\n\n")); err != nil {
		return err
	}
	for {
		head, idle, err := s.wait(ctx)
		if err != nil {
			return err
		}
		switch {
		case s.History.Epoch() != s.epoch, head < s.at: // it has seen another log
			return errStreamEnds
		case idle, s.o.Now().Sub(s.sent) >= s.o.StreamBeat, s.skipped >= history.MaxLooked:
			if err := s.send(ctx, []byte(": heartbeat\nid: "+s.at.String()+"\n\n")); err != nil {
				return err
			}
		}
		if head == s.at {
			continue
		}
		text, err := s.look(ctx, head)
		if err != nil {
			return err
		}
		if len(text) > 0 {
			if err := s.send(ctx, text); err != nil {
				return err
			}
		}
		if s.at < head && !s.live {
			continue
		}
		s.live = true
		select {
		case <-time.After(s.untilTick()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// streamTick is the time between two looks of a stream that has come to the head. Streams
// look at the same moments and up to the same position, so that what they send is read once
// for all of them, however many there are.
const streamTick = 100 * time.Millisecond

// streams are what the open streams of a process share.
type streams struct {
	reading chan struct{} // holds one for each that reads the log

	mu     sync.Mutex
	tick   int64
	head   calendar.Position // that streams look up to in the tick
	pieces map[pieceKey]*piece
}

// pieceKey names a piece of the log in a tick for one kind of listener.
type pieceKey struct {
	caller   calendar.Caller
	asked    string
	epoch    uint64
	from, to calendar.Position
	skipped  int
}

// piece is what streams send of a piece of the log.
type piece struct {
	once    sync.Once
	at      calendar.Position
	skipped int
	text    []byte
	err     error
}

// untilTick is how long it is until the next tick.
func (a *api) untilTick() time.Duration {
	return streamTick - time.Duration(a.o.Now().UnixNano())%streamTick
}

// share returns the piece of a key in the tick of now, and up to where it goes.
func (s *streams) share(now time.Time, key pieceKey) (*piece, calendar.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tick := now.UnixNano() / int64(streamTick); tick != s.tick {
		s.tick, s.head, s.pieces = tick, key.to, map[pieceKey]*piece{}
	}
	if key.from < s.head && s.head < key.to {
		key.to = s.head
	}
	p := s.pieces[key]
	if p == nil {
		p = &piece{err: errStreamEnds} // where a panic ends it
		s.pieces[key] = p
	}
	return p, key.to
}

// look returns what is to be sent of the entries up to the head, no more than a piece. One
// that has not come to the head yet looks for itself: others may have looked when a record
// was public that no longer is.
func (s *stream) look(ctx context.Context, head calendar.Position) ([]byte, error) {
	p := &piece{}
	if s.live {
		p, head = s.streams.share(s.o.Now(), pieceKey{s.caller, s.asked, s.epoch, s.at, head, s.skipped})
		ctx = context.WithoutCancel(ctx) // it is for others, too
	}
	p.once.Do(func() { p.err = s.read(ctx, p, head) })
	if p.err == nil {
		s.at, s.skipped = p.at, p.skipped
	}
	return p.text, p.err
}

// read reads entries up to the head.
func (s *stream) read(ctx context.Context, p *piece, head calendar.Position) error {
	// What lies behind, it reads in the turns of its client. What is new may be for others,
	// too, so that waits for no client.
	var pace *admit.Pace
	if !s.live && s.caller.Role == calendar.Anonymous {
		release, err := s.past.Acquire(ctx, s.pass.Address, false)
		if err != nil {
			return err
		}
		defer release()
		pace = s.pass.Pace(s.past, s.o.Now)
	}
	select {
	case s.streams.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.streams.reading }()
	work, cancel := context.WithTimeout(ctx, s.o.ReadDeadline)
	defer cancel()
	p.at, p.skipped = s.at, s.skipped
	walk := history.Walk{From: int64(s.at) + 1, To: int64(head), Ascending: true, Filter: s.filter, Limit: streamPage}
	for entry, err := range s.History.Entries(work, s.viewer(), &walk) {
		if err != nil {
			return err
		}
		p.at = calendar.Position(walk.LookedTo)
		pace.Rest(work)
		p.skipped++
		if entry != nil {
			p.skipped = 0
			p.text = append(p.text, "id: "+p.at.String()+"\nevent: change\ndata: "...)
			if p.text, err = appendJSON(p.text, entry); err != nil {
				return err
			}
			p.text = append(p.text, "\n\n"...)
		}
		if p.skipped >= history.MaxLooked || len(p.text) >= streamPiece || work.Err() != nil {
			break
		}
	}
	return nil
}

// wait waits for the next entry until it is time to send something, and looks then
// whether the caller is still one. It returns the head, and whether nothing came.
func (s *stream) wait(ctx context.Context) (head calendar.Position, idle bool, err error) {
	within, cancel := context.WithTimeout(ctx, max(0, s.o.StreamBeat-s.o.Now().Sub(s.sent)))
	head, err = s.History.Wait(within, s.at)
	cancel()
	if idle = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; err != nil && !idle {
		return 0, false, err
	}
	work, cancel := context.WithTimeout(ctx, s.o.ReadDeadline)
	defer cancel()
	if idle {
		if head, err = s.History.Head(work); err != nil {
			return 0, false, err
		}
	}
	// Rights are those of the moment; who has none any more is sent nothing.
	caller, err := s.Users.Authenticate(work, s.credentials)
	if err == nil {
		s.caller = caller
		err = s.mayReadPast()
	}
	if _, refused := errors.AsType[*calendar.Error](err); refused || s.filter.Actors != nil && !s.caller.ReadsAll() {
		return 0, false, errStreamEnds
	}
	return head, idle, err
}

// send sends a text.
func (s *stream) send(ctx context.Context, text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.o.StreamLate)); err != nil { // of the connection, so by its clock
		return err
	}
	if ctx.Err() != nil { // after the deadline: the one of the drain holds
		return ctx.Err()
	}
	_, err := s.w.Write(text)
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		return errStreamEnds // the client went away, or was too slow
	}
	s.sent, s.skipped = s.o.Now(), 0
	return nil
}
