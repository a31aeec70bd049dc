package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/render"
	"daybook/internal/texts"
	"daybook/query"
	"daybook/query/readmodel"
)

// statuses gives each code its status (7.3); a code that is not here is 500.
var statuses = map[calendar.Code]int{
	calendar.CodeInvalidParam:       http.StatusBadRequest,
	calendar.CodeMissingParam:       http.StatusBadRequest,
	calendar.CodeInvalidJSON:        http.StatusBadRequest,
	calendar.CodeUnauthorized:       http.StatusUnauthorized,
	calendar.CodeForbidden:          http.StatusForbidden,
	calendar.CodeForbiddenOrigin:    http.StatusForbidden,
	calendar.CodeInvalidUsername:    http.StatusUnauthorized,
	calendar.CodeIncorrectPassword:  http.StatusUnauthorized,
	calendar.CodeInvalidCredentials: http.StatusUnauthorized,
	calendar.CodePrecondition:       http.StatusPreconditionFailed,
	calendar.CodeKeyReused:          http.StatusUnprocessableEntity,
	calendar.CodeBodyTooLarge:       http.StatusRequestEntityTooLarge,
	calendar.CodeURITooLong:         http.StatusRequestURITooLong,
	calendar.CodeNoRoute:            http.StatusNotFound,
	calendar.CodeMethodNotAllowed:   http.StatusMethodNotAllowed,
	calendar.CodeInvalidNamespace:   http.StatusNotFound,
	calendar.CodePositionNotReached: http.StatusServiceUnavailable,
	calendar.CodeUnavailable:        http.StatusServiceUnavailable,
	calendar.CodeTooManyRequests:    http.StatusTooManyRequests,
	calendar.CodeInternal:           http.StatusInternalServerError,
	calendar.CodeTermExists:         http.StatusBadRequest,
	calendar.CodeNotHierarchical:    http.StatusBadRequest,
	calendar.CodeNoLongerAvailable:  http.StatusForbidden,
	calendar.CodeNotAccessible:      http.StatusForbidden,
	calendar.CodePasswordProtected:  http.StatusForbidden,
	calendar.CodeInTrash:            http.StatusGone,
	calendar.CodeNotFound:           http.StatusNotFound,
	calendar.CodePageNotFound:       http.StatusNotFound,
	calendar.CodeVersionNotFound:    http.StatusNotFound,
	calendar.CodeErased:             http.StatusGone,
	calendar.CodeNoCheckpoint:       http.StatusNotFound,
	calendar.CodeNoTile:             http.StatusNotFound,
	calendar.CodeAsOfTooLarge:       http.StatusUnprocessableEntity,
	calendar.CodeAsOfNotReady:       http.StatusServiceUnavailable,
	calendar.CodeSelectionTooLarge:  http.StatusBadRequest,
	calendar.CodeQueryTooCostly:     http.StatusBadRequest,
}

// statusOf gives the status of a code.
func statusOf(c calendar.Code) int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// shownCode is the code as clients match it.
func shownCode(e *calendar.Error) string {
	switch e.Code {
	case calendar.CodeUnauthorized:
		return string(calendar.CodeForbidden)
	case calendar.CodeNotFound:
		if e.Kind == calendar.KindEvent {
			return "rest-event-not-found"
		}
		return e.Kind.String() + "-" + string(e.Code)
	case calendar.CodeNotAccessible, calendar.CodeInTrash, calendar.CodePageNotFound:
		return e.Kind.String() + "-" + string(e.Code)
	default:
		return string(e.Code)
	}
}

// publicError is what a client may read of an error: itself, "unavailable" when
// a part is out of reach, else "internal".
func publicError(err error) *calendar.Error {
	if e, ok := errors.AsType[*calendar.Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, eventstore.ErrUnavailable), errors.Is(err, eventstore.ErrClosed),
		errors.Is(err, readmodel.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return calendar.Fail(calendar.CodeUnavailable, 0)
	case errors.Is(err, eventstore.ErrKeyReused):
		return calendar.Fail(calendar.CodeKeyReused, 0)
	default:
		return calendar.Fail(calendar.CodeInternal, 0)
	}
}

// tooLarge is an error of a client when it says that the answer would be larger than it
// may: the parameters by which it could ask for less.
func (a *api) tooLarge(err error, params ...string) error {
	if !errors.Is(err, query.ErrTooLarge) {
		return err
	}
	e := &calendar.Error{Code: calendar.CodeInvalidParam}
	for _, name := range params {
		e.Fields = append(e.Fields, calendar.FieldError{Field: name, Reason: calendar.ReasonAnswerSize, Args: []string{strconv.Itoa(a.o.MaxAnswer)}})
	}
	return e
}

// fail answers an error, in the shape of section 7.1 or as problem details, and
// logs what is a fault of the service.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	c := callOf(r)
	e := publicError(err)
	status := statusOf(e.Code)
	c.code = e.Code
	if status >= http.StatusInternalServerError {
		if errors.Is(err, context.Canceled) && c.client.Err() != nil {
			status = statusClientGone // nobody reads it
		} else if e.Code == calendar.CodeInternal {
			a.o.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		} else if e.Code == calendar.CodeUnavailable && err.Error() != e.Error() { // there is a cause to tell
			a.o.Log.WarnContext(r.Context(), "part unavailable", "method", r.Method, "path", r.URL.Path, "error", err)
			if a.o.ListFailed != nil && errors.Is(err, readmodel.ErrUnavailable) {
				a.o.ListFailed(err)
			}
		}
	}
	h := w.Header()
	h[headerLanguage] = []string{c.lang.Tag()}
	delete(h, headerETag)
	if e.RetryAfter > 0 {
		h[headerRetry] = []string{strconv.Itoa(e.RetryAfter)}
	}
	if c.page != nil && status != statusClientGone {
		a.failPage(w, r, c, e, status)
		return
	}
	switch status {
	case http.StatusUnauthorized:
		h[headerChallenge] = challenges
	case http.StatusServiceUnavailable:
		if e.Code == calendar.CodeAsOfNotReady {
			h[headerRetry] = valueRetryLater
		} else if h[headerRetry] == nil {
			h[headerRetry] = valueRetry
		}
	}
	var b []byte
	if wantsProblem(r.Header) {
		h[headerType] = valueProblem
		b = appendProblem(make([]byte, 0, 512), e, status, c.lang, r.URL.EscapedPath())
	} else {
		h[headerType] = valueJSON
		b = appendError(make([]byte, 0, 512), e, status, c.lang)
	}
	a.send(w, r, status, b)
}

// statusClientGone is told to Observe for a request whose client went away.
const statusClientGone = 499

// send writes an answer whose other headers are set. It is never refused: where there
// is no room to send it keeps the slot.
func (a *api) send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	c := callOf(r)
	e, body := a.encodedOnce(r, c, body)
	sendStage(&c.pass, r, body)
	h := w.Header()
	if e != encodingNone {
		h[headerEncoding] = valuesEncoding[e]
	}
	h[headerLength] = []string{strconv.Itoa(len(body))}
	a.status(w, r, status)
	if r.Method != http.MethodHead {
		writeBody(w, body)
	}
}

// wantsProblem tells whether Accept names application/problem+json.
func wantsProblem(h http.Header) bool { return accepts(h, "application/problem+json") }

// accepts tells whether Accept names a media type, given in lower case.
func accepts(h http.Header, media string) bool {
	for _, v := range h.Values("Accept") {
		for part := range strings.SplitSeq(v, ",") {
			name, params, _ := strings.Cut(part, ";")
			if weight, ok := weightOf(params); strings.EqualFold(strings.TrimSpace(name), media) && (weight > 0 || !ok) {
				return true
			}
		}
	}
	return false
}

// appendError writes the shape of section 7.1.
func appendError(b []byte, e *calendar.Error, status int, l calendar.Lang) []byte {
	b = append(b, `{"code":`...)
	b = render.AppendString(b, shownCode(e))
	b = append(b, `,"message":`...)
	b = render.AppendString(b, texts.Message(e, l))
	b = append(b, `,"data":{"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = appendErrorData(b, e, l)
	return append(b, "}}"...)
}

// appendProblem writes problem details (RFC 9457) with the same facts.
func appendProblem(b []byte, e *calendar.Error, status int, l calendar.Lang, instance string) []byte {
	code := shownCode(e)
	b = append(b, `{"type":`...)
	b = render.AppendString(b, "urn:daybook:error:"+code)
	b = append(b, `,"title":`...)
	b = render.AppendString(b, http.StatusText(status))
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, `,"detail":`...)
	b = render.AppendString(b, texts.Message(e, l))
	b = append(b, `,"instance":`...)
	b = render.AppendString(b, instance)
	b = append(b, `,"code":`...)
	b = render.AppendString(b, code)
	b = appendErrorData(b, e, l)
	return append(b, '}')
}

// appendErrorData writes the members that the code has beside the status, each
// with a comma before it.
func appendErrorData(b []byte, e *calendar.Error, l calendar.Lang) []byte {
	switch e.Code {
	case calendar.CodeInvalidParam:
		b = append(b, `,"params":{`...)
		for i, f := range e.Fields {
			b = render.AppendComma(b, i)
			b = render.AppendString(b, f.Field)
			b = append(b, ':')
			b = render.AppendString(b, texts.FieldMessage(f, l))
		}
		b = append(b, `},"details":`...)
		b = appendDetails(b, e.Fields, l)
	case calendar.CodeMissingParam:
		b = append(b, `,"params":`...)
		b = render.AppendStrings(b, e.Missing)
	case calendar.CodeTermExists:
		b = append(b, `,"term_id":`...)
		b = strconv.AppendInt(b, int64(e.TermID), 10)
	case calendar.CodeAsOfTooLarge:
		b = append(b, `,"limit":`...)
		b = strconv.AppendInt(b, int64(e.Limit), 10)
	case calendar.CodeSelectionTooLarge:
		b = strconv.AppendInt(append(b, `,"total":`...), int64(e.Total), 10)
		b = strconv.AppendInt(append(b, `,"limit":`...), int64(e.Limit), 10)
	case calendar.CodeQueryTooCostly:
		b = strconv.AppendInt(append(b, `,"cost":`...), int64(e.Cost), 10)
		b = strconv.AppendInt(append(b, `,"limit":`...), int64(e.Limit), 10)
	case calendar.CodeInvalidJSON:
		b = append(b, `,"json_error_code":4,"json_error_message":`...)
		b = render.AppendString(b, e.Detail)
	default:
	}
	return b
}

// appendDetails writes the structured reasons, [] when there is none.
func appendDetails(b []byte, fields []calendar.FieldError, l calendar.Lang) []byte {
	n := 0
	for _, f := range fields {
		code := f.Reason.Detail()
		if code == "" {
			continue
		}
		if n == 0 {
			b = append(b, '{')
		}
		b = render.AppendComma(b, n)
		n++
		b = render.AppendString(b, f.Field)
		b = append(b, `:{"code":`...)
		b = render.AppendString(b, code)
		b = append(b, `,"message":`...)
		b = render.AppendString(b, texts.FieldMessage(f, l))
		b = append(b, `,"data":{"param":`...)
		b = render.AppendString(b, f.Field)
		b = append(b, "}}"...)
	}
	if n == 0 {
		return append(b, "[]"...)
	}
	return append(b, '}')
}
