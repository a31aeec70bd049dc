package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/formats"
	"daybook/internal/history"
	"daybook/internal/httpapi/admit"
)

const (
	pastAtOnce    = 16 // pages of the past that are made at once for anonymous callers
	streamsAtOnce = 4  // streams that read the log at once

	streamEnd = 500 * time.Millisecond // that a write under way has when the process drains

	streamPiece = 256 << 10 // bytes of entries that a stream reads before it sends them

	// streamTick is the time between two looks of a stream that has come to the head. Streams
	// look at the same moments, so that what they send is read once for all of them, however
	// many there are.
	streamTick = 100 * time.Millisecond
)

// stream is one that is open.
type stream struct {
	*call

	control     *http.ResponseController
	credentials string
	epoch       uint64
	position    calendar.Position // looked at up to here
	sent        time.Time         // when something was sent last
	told        calendar.Position // where the stream was then
	live        bool              // it has come to the head
}

// errStreamEnds says that a stream has ended as it has to.
var errStreamEnds = errors.New("the stream ends")

// stream answers the changes as they come (HISTORY 11).
func (call *call) stream() error {
	if err := call.readPast(); err != nil {
		return err
	}
	call.fresh = valueNoStore
	from := call.streamStart()
	if err := call.invalid(); err != nil {
		return err
	}
	if err := call.pass.Enter(admit.Stream, 1); err != nil { // in place of all else that it holds
		return err
	}
	defer call.pass.Leave()
	call.header[headerType] = []string{"text/event-stream; charset=utf-8"}
	call.header[headerLanguage] = []string{call.language.Tag()}
	call.header["X-Accel-Buffering"] = []string{"no"}
	call.writeStatus(http.StatusOK)
	if call.request.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithCancel(call.client)
	defer cancel()
	control := http.NewResponseController(call.writer)
	go func() {
		select {
		case <-call.Draining:
			cancel()
			_ = control.SetWriteDeadline(time.Now().Add(streamEnd)) // a client that reads nothing holds nobody up
		case <-ctx.Done():
		}
	}()
	s := stream{
		call: call, control: control, position: from, told: from, epoch: call.History.Store.Epoch().History,
		credentials: strings.Join(call.request.Header["Authorization"], ", "), sent: call.Now(),
	}
	_ = s.control.SetReadDeadline(time.Time{}) // that of the request would end it
	if err := s.run(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errStreamEnds) {
		call.Log.WarnContext(ctx, "stream ended", "position", uint64(s.position), "error", err)
	}
	return nil
}

// streamStart returns the position that a stream begins behind: that of Last-Event-ID, of after,
// or the head.
func (call *call) streamStart() calendar.Position {
	after, sent := call.input["after"].(string)
	if sent && !calendar.IsDigits(after) {
		call.problems.Add("after", calendar.ReasonTypeInteger)
	}
	if call.request.Header.Get(headerLastEvent) == "" {
		if sent {
			return calendar.Position(call.numbers["after"])
		}
		return call.head
	}
	position := call.readPosition(headerLastEvent)
	if position > call.head {
		call.problems.Add(headerLastEvent, calendar.ReasonAhead, call.head.String())
	}
	return position
}

func (stream *stream) run(ctx context.Context) error {
	for text := []byte("retry: 3000\n\n"); ; {
		if err := stream.send(ctx, text); err != nil {
			return err
		}
		if stream.live {
			select {
			case <-time.After(streamTick - time.Duration(stream.Now().UnixNano())%streamTick):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		head, idle, err := stream.wait(ctx)
		if err != nil {
			return err
		}
		text = nil
		switch {
		case stream.History.Store.Epoch().History != stream.epoch, head < stream.position: // it has seen another log
			return errStreamEnds
		case idle, stream.Now().Sub(stream.sent) >= stream.StreamBeat, stream.position-stream.told >= history.MaxLooked:
			text = []byte(": heartbeat\nid: " + stream.position.String() + "\n\n")
		}
		if stream.position < head {
			piece, err := stream.look(ctx, head)
			if err != nil {
				return err
			}
			stream.position = piece.position
			text = append(text, piece.bytes...)
		}
		stream.live = stream.live || stream.position == head
	}
}

// look returns what is to be sent of the entries up to the head, no more than a piece, and how
// far that goes. One that has not come to the head yet looks for itself: others may have looked
// when a record was public that no longer is.
func (stream *stream) look(ctx context.Context, head calendar.Position) (*answer, error) {
	if !stream.live {
		return stream.read(ctx, head)
	}
	key := string(streamKey) + fmt.Sprintf("%d %v %v %q %v %d %d %d", stream.Now().UnixNano()/int64(streamTick),
		stream.caller, stream.language, stream.root.URL, stream.filter, stream.epoch, stream.position, head)
	piece, _, err := stream.once(ctx, key, func(ctx context.Context) (*answer, error) { return stream.read(ctx, head) })
	return piece, err
}

// read reads entries up to the head, or until a heartbeat is due. What lies behind, it reads in
// the turns of its client. What is new may be for others, too, so that waits for no client.
func (stream *stream) read(ctx context.Context, head calendar.Position) (*answer, error) {
	shared := stream.live || stream.caller.Role != calendar.Anonymous
	release, err := stream.streams.Acquire(ctx, stream.pass.Address, shared)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, stream.ReadDeadline)
	defer cancel()
	piece, rest := &answer{position: stream.position}, stream.pass.Pace(stream.streams, stream.Now)
	walk := history.Walk{From: int64(stream.position) + 1, To: int64(min(head, stream.told+history.MaxLooked)), Ascending: true, Filter: stream.filter}
	for entry, err := range stream.History.Entries(ctx, stream.viewer(), &walk) {
		if err != nil {
			return nil, err
		}
		piece.position = calendar.Position(walk.LookedTo)
		if !shared {
			rest(ctx)
		}
		if entry != nil {
			piece.bytes = append(piece.bytes, "id: "+piece.position.String()+"\nevent: change\ndata: "...)
			piece.bytes = append(formats.AppendJSON(piece.bytes, stream.linked(entry)), "\n\n"...)
		}
		if len(piece.bytes) >= streamPiece || ctx.Err() != nil {
			break
		}
	}
	return piece, nil
}

// wait waits for the next entry until it is time to send something, and looks then
// whether the caller is still one. It returns the head, and whether nothing came.
func (stream *stream) wait(ctx context.Context) (head calendar.Position, idle bool, err error) {
	within, cancel := context.WithTimeout(ctx, max(0, stream.StreamBeat-stream.Now().Sub(stream.sent)))
	reached, err := eventstore.Wait(within, stream.History.Store, stream.position)
	head = reached.Position
	cancel()
	work, cancel := context.WithTimeout(ctx, stream.ReadDeadline)
	defer cancel()
	if idle = errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil; idle {
		head, err = stream.History.Head(work)
	}
	if err != nil {
		return 0, false, err
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

// send sends a text, if any.
func (stream *stream) send(ctx context.Context, text []byte) error {
	if text == nil {
		return nil
	}
	if err := stream.control.SetWriteDeadline(time.Now().Add(stream.StreamLate)); err != nil { // of the connection, so by its clock
		return err
	}
	if ctx.Err() != nil { // after the deadline: the one of the drain holds
		return ctx.Err()
	}
	_, err := stream.writer.Write(text)
	if err == nil {
		err = stream.control.Flush()
	}
	if err != nil {
		return errStreamEnds // the client went away, or was too slow
	}
	stream.sent, stream.told = stream.Now(), stream.position
	return nil
}
