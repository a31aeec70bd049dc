package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
	"daybook/internal/param"
)

// receive reads the body of a request, without a slot: it may be long in coming. More than the
// limit is 413.
func (call *call) receive(limit int64) ([]byte, error) {
	size := call.request.ContentLength
	switch {
	case size > limit:
		return nil, refusal(calendar.CodeBodyTooLarge)
	case size == 0:
		return nil, nil
	case size < 0:
		size = limit
	}
	if err := call.pass.Enter(admit.Body, max(size, admit.LeastBody)); err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	buffer.Grow(int(size) + bytes.MinRead)
	_, err := buffer.ReadFrom(http.MaxBytesReader(call.writer, call.request.Body, limit))
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch late := call.context.Err(); {
	case err == nil:
		return buffer.Bytes(), call.pass.Enter(admit.Work, 1)
	case large:
		return nil, refusal(calendar.CodeBodyTooLarge)
	// After a body that is late or cut, the context has ended too; the client may
	// still be there.
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, param.BadBody("the body did not come in time")
	case late != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, late
	}
	return nil, param.BadBody("the body ended early")
}
