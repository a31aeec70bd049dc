package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/internal/httpapi/admit"
	"daybook/query"
)

// calendarSource answers the events of a range as an array for calendar widgets (LISTINGS 1.13).
func (call *call) calendarSource() error {
	call.format = &formats.Calendar
	return call.ask(query.Request{Caller: call.caller, Params: query.Params("source")}, nil, &question{streams: true, make: call.whole})
}

// whole makes the answer to a list of events over all pages.
func (call *call) whole(ctx context.Context) (*answer, error) {
	l := &listing{}
	if err := call.dress(ctx, l); err != nil {
		return nil, err
	}
	selection, err := call.Queries.Whole(ctx, call.criteria)
	if err != nil {
		return nil, err
	}
	limit := call.CalendarLimit
	if call.feed() {
		limit = call.ExportLimit
	}
	if selection.Total > limit {
		selection.Close()
		return nil, &calendar.Error{Code: calendar.CodeSelectionTooLarge, Total: selection.Total, Limit: limit}
	}
	l.list = &selection.List
	reply := call.listAnswer(l, nil, call.weakTag(call.cacheKey))
	reply.selection, reply.listing = selection, l
	return reply, nil
}

// survey finds out what stands before and behind the events, where the format needs it.
func (call *call) survey(listing *listing, selection *query.Selection) error {
	if !call.format.Surveys {
		return nil
	}
	err := selection.Records(call.client, func(record *calendar.Record) {
		times := call.renderer.Times(record, calendar.NeedsPassword(call.caller, record))
		listing.Zones.Add(&times)
	})
	if err != nil {
		return err
	}
	if call.TombstoneDays > 0 && !call.sends("status") && !call.sends("search") {
		err = selection.Gone(call.client, call.Now().AddDate(0, 0, -call.TombstoneDays), func(record *calendar.Record) {
			stone := formats.Tombstone{
				Times: call.renderer.Times(record, false), ID: record.ID, UID: formats.UID(listing.Store, record.ID.String()), Version: record.Version, Touched: record.Changed,
			}
			listing.Tombstones = append(listing.Tombstones, stone)
			listing.Zones.Add(&stone.Times)
		})
	}
	if listing.Total+len(listing.Tombstones) == 0 {
		listing.Zones.AddSite(call.Site, call.Now())
	}
	return err
}

// sendSelection sends an answer with a selection. One that fits into a buffer is sent as any
// other, and cached. It may take as long as the client takes it. An export takes a place among
// those that are sent, so neither HEAD nor a client that has it does.
func (call *call) sendSelection(answer *answer) error {
	selection, listing := answer.selection, answer.listing
	defer selection.Close()
	answer.selection, answer.listing = nil, nil
	if call.feed() && call.request.Method == http.MethodGet {
		if err := call.pass.Enter(admit.Whole, 1); err != nil {
			return err
		}
	}
	encoder := call.open(listing)
	if err := call.survey(listing, selection); err != nil {
		return err
	}
	sending := &streamedAnswer{call: call, reply: answer, data: encoder.Begin(make([]byte, 0, streamBytes))}
	err := selection.Each(call.client, func(view *query.View) (err error) {
		if sending.data, err = encoder.item(sending.data, view); err != nil || len(sending.data) < streamBytes {
			return err
		}
		return sending.flush()
	})
	if err == nil {
		sending.data = encoder.End(sending.data)
	}
	switch {
	case sending.control != nil:
		sending.close(err)
		return nil
	case err != nil:
		return err
	}
	if answer.body = newBody(sending.data); answer.key != "" {
		call.answers.Set(answer.key, answer)
	}
	return call.sendAnswer(answer)
}

// streamedAnswer sends an answer while it is made, to a client that may take its time, but neither
// stop nor be slower than takeRate for long. What fits into its buffer is left to the caller, so
// that short answers are sent as any other.
type streamedAnswer struct {
	*call
	reply   *answer                  // its headers
	data    []byte                   // not sent yet
	control *http.ResponseController // nil: nothing is sent
	encoder io.WriteCloser           // nil: the answer is sent as it is
	sent    int
	waited  time.Duration
	gone    bool // the client takes no more
}

const (
	// streamBytes is how much is gathered before it is sent.
	streamBytes = 64 << 10
	// takeTime is how long a client may take nothing, and how long sending may wait for it
	// next to the time that what it took needs at takeRate, in bytes a second.
	takeTime = 30 * time.Second
	takeRate = 10_000
	// takeBytes is how much is offered to a client at a time.
	takeBytes = 16 << 10
)

// errHead ends the writing of an answer whose headers are all that is wanted.
var errHead = errors.New("headers only")

// flush sends what is there, led by the headers.
func (sending *streamedAnswer) flush() (err error) {
	if sending.control == nil {
		sending.begin()
	}
	if sending.request.Method == http.MethodHead {
		return errHead
	}
	if sending.encoder != nil {
		_, err = sending.encoder.Write(sending.data)
	} else {
		_, err = sending.Write(sending.data)
	}
	sending.data = sending.data[:0]
	return err
}

// begin sends the headers.
func (sending *streamedAnswer) begin() {
	encoding := sending.acceptanceOf(len(sending.data)).best
	sending.setHeaders(sending.reply, sending.reply.etag)
	sending.header[headerType] = sending.reply.media
	if sending.setEncoding(encoding); encoding != encodingNone && sending.request.Method == http.MethodGet {
		sending.encoder = takeCompressor(encoding, sending)
	}
	if sending.pass.Stage == admit.Work {
		sending.pass.Leave() // sending holds no slot of those who are worked for
	}
	sending.control = http.NewResponseController(sending.writer)
	sending.writeStatus(http.StatusOK)
}

// close ends the sending. An answer that is not whole is cut off where the client sees it.
func (sending *streamedAnswer) close(err error) {
	if err == nil {
		err = sending.flush()
	}
	if err == nil && sending.encoder != nil {
		err = sending.encoder.Close()
	}
	if err != nil && !errors.Is(err, errHead) {
		if !sending.gone && sending.context.Err() == nil {
			sending.log().WarnContext(sending.context, "answer cut off", "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	_ = sending.control.SetWriteDeadline(time.Time{}) // the next answer has its own
}

// Write implements io.Writer.
func (sending *streamedAnswer) Write(data []byte) (count int, err error) {
	for count < len(data) {
		from := time.Now() // the deadline is of the connection, so by its clock
		left := takeTime + time.Duration(sending.sent)*time.Second/takeRate - sending.waited
		_ = sending.control.SetWriteDeadline(from.Add(min(takeTime, left)))
		index, err := sending.writer.Write(data[count:min(len(data), count+takeBytes)])
		sending.sent += index
		sending.waited += time.Since(from)
		if count += index; err != nil {
			sending.gone = true
			return count, err
		}
	}
	return count, nil
}
