package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
	"daybook/internal/httpapi/openapi"
)

// streamTable are the parameters of the stream of changes (HISTORY 11).
var streamTable = toldTable{kindRow, idRow, actorRow, actionRow, fieldRow, afterRow, languageRow}

func streamRoute() *route {
	return logRoute("/changes/stream", "stream", (*call).stream, openapi.Operation{
		Args: streamTable.Params(), Sends: []string{headerLastEvent}, Statuses: []int{403},
		Content: openapi.Content{eventStream: {Schema: openapi.Text()}},
	})
}

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
	if !c.pass.Enter(admit.Stream, 1) {
		if c.caller.Role == calendar.Anonymous && c.pass.Crowded(admit.Stream) {
			return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: 30}
		}
		return &calendar.Error{Code: calendar.CodeUnavailable, RetryAfter: 5}
	}
	if !c.countStream(1) {
		c.pass.Resume()
		return &calendar.Error{Code: calendar.CodeUnavailable, RetryAfter: 5}
	}
	return nil
}

func (c *call) leaveStream() {
	c.pass.Leave()
	c.countStream(-1)
}

// countStream adds to the number of open streams, unless there would be too many, and
// reports each number in turn.
func (a *api) countStream(by int) bool {
	s := &a.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open+by > a.o.Streams {
		return false
	}
	s.open += by
	if s.open == 0 {
		s.stretches = nil
	}
	if a.o.Streaming != nil {
		a.o.Streaming(s.open)
	}
	return true
}

// stream answers the changes as they come (HISTORY 11).
func (c *call) stream() error {
	c.fresh = valueNoStore
	if err := c.mayReadPast(); err != nil {
		return err
	}
	var problems calendar.Problems
	q, in := c.readTold(streamTable, &problems)
	from, err := c.streamBegin(q, in, &problems)
	if err != nil {
		return err
	}
	if err := c.enterStream(); err != nil {
		return err
	}
	defer c.leaveStream()
	h := c.w.Header()
	h[headerType] = []string{eventStream + "; charset=utf-8"}
	h[headerLanguage] = []string{c.lang.Tag()}
	h["X-Accel-Buffering"] = []string{"no"}
	c.writeStatus(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(c.client)
	defer cancel()
	control := http.NewResponseController(c.w)
	if c.o.Draining != nil {
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			select {
			case <-c.o.Draining:
				cancel()
				_ = control.SetWriteDeadline(time.Now().Add(streamEnd)) // a client that reads nothing holds nobody up
			case <-stop:
			}
		}()
	}
	s := stream{
		a: c.api, c: c, filter: q.filter, w: c.w, control: control, at: from, epoch: c.History.Epoch(),
		credentials: strings.Join(c.r.Header["Authorization"], ", "), client: c.pass.Address, sent: c.o.Now(), asked: fmt.Sprint(c.lang, c.root.URL, q.filter),
	}
	_ = s.control.SetReadDeadline(time.Time{}) // that of the request would end it
	if err := s.run(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errStreamEnds) {
		c.o.Log.WarnContext(ctx, "stream ended", "position", uint64(s.at), "error", err)
	}
	return nil
}

// streamBegin gives the position that a stream begins behind: that of Last-Event-ID, of
// after, or the head.
func (c *call) streamBegin(q *toldQuery, in calendar.Input, problems *calendar.Problems) (calendar.Position, error) {
	if text, _ := in["after"].(string); in["after"] != nil && !calendar.IsDigits(text) {
		problems.Add("after", calendar.ReasonTypeInteger)
	}
	last := c.r.Header.Get(headerLastEvent)
	if last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if !calendar.IsDigits(last) {
			problems.Add(headerLastEvent, calendar.ReasonHeaderPosition)
		} else if err != nil {
			n = noBefore
		}
		head, err := c.History.Head(c.r.Context())
		if err != nil {
			return 0, err
		}
		if n > int64(head) {
			problems.Add(headerLastEvent, calendar.ReasonAhead, head.String())
		}
		_, err = c.headFor(q, problems)
		return calendar.Position(n), err
	}
	head, err := c.headFor(q, problems)
	if in["after"] != nil {
		head = calendar.Position(q.after)
	}
	return head, err
}

// stream is one that is open.
type stream struct {
	a           *api
	c           *call
	filter      history.Filter
	w           http.ResponseWriter
	control     *http.ResponseController
	credentials string
	client      netip.Addr
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
		case s.a.History.Epoch() != s.epoch, head < s.at: // it has seen another log
			return errStreamEnds
		case idle, s.a.o.Now().Sub(s.sent) >= s.a.o.StreamBeat, s.skipped >= history.MaxLooked:
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
		case <-time.After(s.a.untilTick()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wait waits for the next entry until it is time to send something, and looks then
// whether the caller is still one. It gives the head, and whether nothing came.
func (s *stream) wait(ctx context.Context) (head calendar.Position, idle bool, err error) {
	within, cancel := context.WithTimeout(ctx, max(0, s.a.o.StreamBeat-s.a.o.Now().Sub(s.sent)))
	head, err = s.a.History.Wait(within, s.at)
	cancel()
	if idle = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; err != nil && !idle {
		return 0, false, err
	}
	work, cancel := context.WithTimeout(ctx, s.a.o.ReadDeadline)
	defer cancel()
	if idle {
		if head, err = s.a.History.Head(work); err != nil {
			return 0, false, err
		}
	}
	// Rights are those of the moment; who has none any more is sent nothing.
	caller, err := s.a.Users.Authenticate(work, s.credentials)
	if err == nil {
		s.c.caller = caller
		err = s.c.mayReadPast()
	}
	if _, refused := errors.AsType[*calendar.Error](err); refused || s.filter.Actors != nil && !s.c.caller.ReadsAll() {
		return 0, false, errStreamEnds
	}
	return head, idle, err
}

// send sends a text.
func (s *stream) send(ctx context.Context, text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.a.o.StreamLate)); err != nil { // of the connection, so by its clock
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
	s.sent, s.skipped = s.a.o.Now(), 0
	return nil
}
