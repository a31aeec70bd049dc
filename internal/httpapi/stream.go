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
	"daybook/eventstore"
	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
)

const eventStream = "text/event-stream"

const (
	pastAtOnce    = 16 // pages of the past that are made at once for anonymous callers
	streamsAtOnce = 4  // streams that read the log at once

	streamEnd = 500 * time.Millisecond // that a write under way has when the process drains

	streamPiece = 256 << 10 // bytes of entries that a stream reads before it sends them
)

// enterStream gives a request a place among the streams, in place of all else that it
// holds, or refuses it.
func (call *call) enterStream() error {
	switch {
	case call.pass.Enter(admit.Stream, 1):
		return nil
	case call.caller.Role == calendar.Anonymous && call.pass.Crowded(admit.Stream):
		return &calendar.Error{Code: calendar.CodeTooManyRequests, RetryAfter: 30}
	}
	return &calendar.Error{Code: calendar.CodeUnavailable, RetryAfter: 5}
}

// stream answers the changes as they come (HISTORY 11).
func (asked *readParams) stream() error {
	call := asked.call
	call.fresh = valueNoStore
	from := asked.begin()
	if err := asked.err(); err != nil {
		return err
	}
	if err := call.enterStream(); err != nil {
		return err
	}
	defer call.pass.Leave()
	header := call.w.Header()
	header[headerType] = []string{eventStream + "; charset=utf-8"}
	header[headerLanguage] = []string{call.lang.Tag()}
	header["X-Accel-Buffering"] = []string{"no"}
	call.writeStatus(http.StatusOK)
	if call.request.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(call.client)
	defer cancel()
	control := http.NewResponseController(call.w)
	if call.o.Draining != nil {
		go func() {
			select {
			case <-call.o.Draining:
				cancel()
				_ = control.SetWriteDeadline(time.Now().Add(streamEnd)) // a client that reads nothing holds nobody up
			case <-ctx.Done():
			}
		}()
	}
	s := stream{
		call: call, filter: asked.filter, control: control, position: from, epoch: call.History.Store.Epoch().History,
		credentials: strings.Join(call.request.Header["Authorization"], ", "), sent: call.o.Now(), asked: fmt.Sprint(call.lang, call.root.URL, asked.filter),
	}
	_ = s.control.SetReadDeadline(time.Time{}) // that of the request would end it
	if err := s.run(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errStreamEnds) {
		call.o.Log.WarnContext(ctx, "stream ended", "position", uint64(s.position), "error", err)
	}
	return nil
}

// begin returns the position that a stream begins behind: that of Last-Event-ID, of after,
// or the head.
func (asked *readParams) begin() calendar.Position {
	after, sent := asked.input["after"].(string)
	if sent && !calendar.IsDigits(after) {
		asked.problems.Add("after", calendar.ReasonTypeInteger)
	}
	last := asked.request.Header.Get(headerLastEvent)
	if last == "" {
		if sent {
			return calendar.Position(asked.numbers["after"])
		}
		return asked.head
	}
	number, err := strconv.ParseUint(last, 10, 63)
	switch {
	case !calendar.IsDigits(last):
		asked.problems.Add(headerLastEvent, calendar.ReasonHeaderPosition)
	case err != nil, calendar.Position(number) > asked.head:
		asked.problems.Add(headerLastEvent, calendar.ReasonAhead, asked.head.String())
	}
	return calendar.Position(number)
}

// stream is one that is open.
type stream struct {
	*call
	filter      history.Filter
	control     *http.ResponseController
	credentials string
	epoch       uint64
	position    calendar.Position // looked at up to here
	sent        time.Time         // when something was sent last
	skipped     int               // entries since then
	asked       string            // what makes one stream tell other things than another one of the same caller
	live        bool              // it has come to the head
}

// errStreamEnds says that a stream has ended as it has to.
var errStreamEnds = errors.New("the stream ends")

func (stream *stream) run(ctx context.Context) error {
	if err := stream.send(ctx, []byte("retry: 3000\n\n")); err != nil {
		return err
	}
	for {
		head, idle, err := stream.wait(ctx)
		if err != nil {
			return err
		}
		switch {
		case stream.History.Store.Epoch().History != stream.epoch, head < stream.position: // it has seen another log
			return errStreamEnds
		case idle, stream.o.Now().Sub(stream.sent) >= stream.o.StreamBeat, stream.skipped >= history.MaxLooked:
			if err := stream.send(ctx, []byte(": heartbeat\nid: "+stream.position.String()+"\n\n")); err != nil {
				return err
			}
		}
		if head == stream.position {
			continue
		}
		text, err := stream.look(ctx, head)
		if err != nil {
			return err
		}
		if len(text) > 0 {
			if err := stream.send(ctx, text); err != nil {
				return err
			}
		}
		if stream.position < head && !stream.live {
			continue
		}
		stream.live = true
		select {
		case <-time.After(stream.untilTick()):
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
	caller         calendar.Caller
	asked          string
	epoch          uint64
	from, position calendar.Position
	skipped        int
}

// piece is what streams send of a piece of the log.
type piece struct {
	once     sync.Once
	position calendar.Position
	skipped  int
	text     []byte
	err      error
}

// untilTick is how long it is until the next tick.
func (api *api) untilTick() time.Duration {
	return streamTick - time.Duration(api.o.Now().UnixNano())%streamTick
}

// share returns the piece of a key in the tick of now, and up to where it goes.
func (streams *streams) share(now time.Time, key pieceKey) (*piece, calendar.Position) {
	streams.mu.Lock()
	defer streams.mu.Unlock()
	if tick := now.UnixNano() / int64(streamTick); tick != streams.tick {
		streams.tick, streams.head, streams.pieces = tick, key.position, map[pieceKey]*piece{}
	}
	if key.from < streams.head && streams.head < key.position {
		key.position = streams.head
	}
	p := streams.pieces[key]
	if p == nil {
		p = &piece{err: errStreamEnds} // where a panic ends it
		streams.pieces[key] = p
	}
	return p, key.position
}

// look returns what is to be sent of the entries up to the head, no more than a piece. One
// that has not come to the head yet looks for itself: others may have looked when a record
// was public that no longer is.
func (stream *stream) look(ctx context.Context, head calendar.Position) ([]byte, error) {
	p := &piece{}
	if stream.live {
		p, head = stream.streams.share(stream.o.Now(), pieceKey{stream.caller, stream.asked, stream.epoch, stream.position, head, stream.skipped})
		ctx = context.WithoutCancel(ctx) // it is for others, too
	}
	p.once.Do(func() { p.err = stream.read(ctx, p, head) })
	if p.err == nil {
		stream.position, stream.skipped = p.position, p.skipped
	}
	return p.text, p.err
}

// read reads entries up to the head.
func (stream *stream) read(ctx context.Context, piece *piece, head calendar.Position) error {
	// What lies behind, it reads in the turns of its client. What is new may be for others,
	// too, so that waits for no client.
	var pace *admit.Pace
	if !stream.live && stream.caller.Role == calendar.Anonymous {
		release, err := stream.past.Acquire(ctx, stream.pass.Address, false)
		if err != nil {
			return err
		}
		defer release()
		pace = stream.pass.Pace(stream.past, stream.o.Now)
	}
	select {
	case stream.streams.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-stream.streams.reading }()
	work, cancel := context.WithTimeout(ctx, stream.o.ReadDeadline)
	defer cancel()
	piece.position, piece.skipped = stream.position, stream.skipped
	walk := history.Walk{From: int64(stream.position) + 1, To: int64(head), Ascending: true, Filter: stream.filter}
	for entry, err := range stream.History.Entries(work, stream.viewer(), &walk) {
		if err != nil {
			return err
		}
		piece.position = calendar.Position(walk.LookedTo)
		pace.Rest(work)
		piece.skipped++
		if entry != nil {
			piece.skipped = 0
			piece.text = append(piece.text, "id: "+piece.position.String()+"\nevent: change\ndata: "...)
			piece.text = append(formats.AppendJSON(piece.text, stream.linked(entry)), "\n\n"...)
		}
		if piece.skipped >= history.MaxLooked || len(piece.text) >= streamPiece || work.Err() != nil {
			break
		}
	}
	return nil
}

// wait waits for the next entry until it is time to send something, and looks then
// whether the caller is still one. It returns the head, and whether nothing came.
func (stream *stream) wait(ctx context.Context) (head calendar.Position, idle bool, err error) {
	within, cancel := context.WithTimeout(ctx, max(0, stream.o.StreamBeat-stream.o.Now().Sub(stream.sent)))
	reached, err := eventstore.Wait(within, stream.History.Store, stream.position)
	head = reached.Position
	cancel()
	if idle = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; err != nil && !idle {
		return 0, false, err
	}
	work, cancel := context.WithTimeout(ctx, stream.o.ReadDeadline)
	defer cancel()
	if idle {
		if head, err = stream.History.Head(work); err != nil {
			return 0, false, err
		}
	}
	// Rights are those of the moment; who has none any more is sent nothing.
	caller, err := stream.Users.Authenticate(work, stream.credentials)
	if err == nil {
		stream.caller = caller
		err = stream.mayReadPast()
	}
	if _, refused := errors.AsType[*calendar.Error](err); refused || stream.filter.Actors != nil && !stream.caller.ReadsAll() {
		return 0, false, errStreamEnds
	}
	return head, idle, err
}

// send sends a text.
func (stream *stream) send(ctx context.Context, text []byte) error {
	if err := stream.control.SetWriteDeadline(time.Now().Add(stream.o.StreamLate)); err != nil { // of the connection, so by its clock
		return err
	}
	if ctx.Err() != nil { // after the deadline: the one of the drain holds
		return ctx.Err()
	}
	_, err := stream.w.Write(text)
	if err == nil {
		err = stream.control.Flush()
	}
	if err != nil {
		return errStreamEnds // the client went away, or was too slow
	}
	stream.sent, stream.skipped = stream.o.Now(), 0
	return nil
}
