package httpapi

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"
	"strconv"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/formats"
	"daybook/internal/texts"
	"daybook/query"
	"daybook/query/readmodel"
)

// statusesFile has the status of each code (7.3).
//
//go:embed statuses.json
var statusesFile []byte

// statuses are the statuses of codes; a code that is not here is 500.
var statuses = readStatuses()

func readStatuses() (out map[calendar.Code]int) {
	decodeFile(statusesFile, &out)
	return out
}

// statusOf returns the status of a code.
func statusOf(code calendar.Code) int { return cmp.Or(statuses[code], http.StatusInternalServerError) }

// shownCode is the code as clients match it.
func shownCode(problem *calendar.Error) string {
	switch problem.Code {
	case calendar.CodeUnauthorized:
		return string(calendar.CodeForbidden)
	case calendar.CodeNotFound:
		if problem.Kind == calendar.KindEvent {
			return "rest-event-not-found"
		}
		return problem.Kind.String() + "-" + string(problem.Code)
	case calendar.CodeNotAccessible, calendar.CodeInTrash, calendar.CodePageNotFound:
		return problem.Kind.String() + "-" + string(problem.Code)
	default:
		return string(problem.Code)
	}
}

// publicError is what a client may read of an error: itself, "unavailable" when
// a part is out of reach, else "internal".
func publicError(err error) *calendar.Error {
	if problem, ok := errors.AsType[*calendar.Error](err); ok {
		return problem
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
func (api *api) tooLarge(err error, params ...string) error {
	if !errors.Is(err, query.ErrTooLarge) {
		return err
	}
	problem := &calendar.Error{Code: calendar.CodeInvalidParam}
	for _, name := range params {
		problem.Fields = append(problem.Fields, calendar.FieldError{Field: name, Reason: calendar.ReasonAnswerSize, Args: []string{strconv.Itoa(api.o.MaxAnswer)}})
	}
	return problem
}

// fail answers an error, in the shape of section 7.1 or as problem details, and
// logs what is a fault of the service.
func (call *call) fail(err error) {
	if call.sentLastGood(err) {
		return
	}
	problem := publicError(err)
	status := statusOf(problem.Code)
	call.code = problem.Code
	if status >= http.StatusInternalServerError {
		if errors.Is(err, context.Canceled) && call.client.Err() != nil {
			status = statusClientGone // nobody reads it
		} else if problem.Code == calendar.CodeInternal {
			call.o.Log.ErrorContext(call.request.Context(), "request failed", "method", call.request.Method, "path", call.request.URL.Path, "error", err)
		} else if problem.Code == calendar.CodeUnavailable && err.Error() != problem.Error() { // there is a cause to tell
			call.o.Log.WarnContext(call.request.Context(), "part unavailable", "method", call.request.Method, "path", call.request.URL.Path, "error", err)
			if call.o.ListFailed != nil && errors.Is(err, readmodel.ErrUnavailable) {
				call.o.ListFailed(err)
			}
		}
	}
	header := call.w.Header()
	header[headerLanguage] = []string{call.lang.Tag()}
	delete(header, headerETag)
	if problem.RetryAfter > 0 {
		header[headerRetry] = []string{strconv.Itoa(problem.RetryAfter)}
	}
	if call.page != nil && status != statusClientGone {
		call.failPage(problem, status)
		return
	}
	switch status {
	case http.StatusUnauthorized:
		header[headerChallenge] = challenges
	case http.StatusServiceUnavailable:
		if problem.Code == calendar.CodeAsOfNotReady {
			header[headerRetry] = valueRetryLater
		} else if header[headerRetry] == nil {
			header[headerRetry] = valueRetry
		}
	}
	instance := ""
	if header[headerType] = valueJSON; accepts(call.request.Header, "application/problem+json") {
		header[headerType], instance = valueProblem, call.request.URL.EscapedPath()
	}
	call.send(status, errorBody(problem, status, call.lang, instance))
}

// statusClientGone is told to Observe for a request whose client went away.
const statusClientGone = 499

// send writes an answer whose other headers are set.
func (call *call) send(status int, data []byte) {
	call.sendAlways(status, &answer{body: newBody(data)})
}

// sendJSON writes an answer in JSON whose other headers are set.
func (call *call) sendJSON(status int, body []byte) {
	header := call.w.Header()
	header[headerLanguage], header[headerType] = []string{call.lang.Tag()}, valueJSON
	call.send(status, body)
}

// sendAlways writes an answer. It is never refused: where there is no turn to encode it, it is
// sent as it is, and where there is no room to send it keeps the slot.
func (call *call) sendAlways(status int, ans *answer) {
	encoding, shown := call.acceptanceOf(len(ans.bytes)).best, &ans.body
	if encoding != encodingNone {
		ctx, cancel := call.within(call.o.ReadDeadline)
		defer cancel()
		out, err := call.encodedBody(ctx, &call.pass, encoding, ans, false)
		if shown = out; err != nil {
			encoding, shown = encodingNone, &ans.body
		}
	}
	call.beginSending(shown.bytes)
	call.writeBody(status, encoding, shown)
}

// accepts reports whether Accept names a media type, given in lower case.
func accepts(header http.Header, media string) bool { return weightIn(header, []string{media}) > 0 }

// errorBody returns an error as JSON: as problem details of the path instance (RFC 9457), and
// without one in the shape of section 7.1.
func errorBody(problem *calendar.Error, status int, lang calendar.Lang, instance string) []byte {
	code, message, facts := shownCode(problem), texts.Message(problem, lang), factsOf(problem, lang)
	if instance != "" {
		return formats.AppendJSON(nil, append(formats.Object{
			"type", "urn:daybook:error:" + code, "title", http.StatusText(status), "status", status, "detail", message, "instance", instance, "code", code,
		}, facts...))
	}
	return formats.AppendJSON(nil, formats.Object{"code", code, "message", message, "data", append(formats.Object{"status", status}, facts...)})
}

// factsOf are what errors of some codes have besides the status.
func factsOf(problem *calendar.Error, lang calendar.Lang) (facts formats.Object) {
	switch problem.Code {
	case calendar.CodeInvalidParam:
		params, details := make(formats.Object, 0, 2*len(problem.Fields)), formats.Object(nil)
		for _, fieldError := range problem.Fields {
			name, message := fieldError.Field, texts.FieldMessage(fieldError, lang)
			params = append(params, name, message)
			if code := fieldError.Reason.Detail(); code != "" {
				details = append(details, name, formats.Object{"code", code, "message", message, "data", formats.Object{"param", name}})
			}
		}
		if details == nil {
			return formats.Object{"params", params, "details", formats.List{}}
		}
		return formats.Object{"params", params, "details", details}
	case calendar.CodeMissingParam:
		return formats.Object{"params", problem.Missing}
	case calendar.CodeInvalidJSON:
		return formats.Object{"json_error_code", 4, "json_error_message", problem.Detail}
	default:
		for i, number := range []int{int(problem.TermID), problem.Total, problem.Cost, problem.Limit} {
			if number != 0 {
				facts = append(facts, [...]string{"term_id", "total", "cost", "limit"}[i], number)
			}
		}
		return facts
	}
}
