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
	"daybook/internal/proof"
	"daybook/internal/texts"
	"daybook/query/readmodel"
)

// statusesFile has the status of each code (7.3).
//
//go:embed statuses.json
var statusesFile []byte

// statuses are the statuses of codes; a code that is not here is 500.
var statuses = fromFile[map[calendar.Code]int](statusesFile)

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
		fallthrough
	case calendar.CodeNotAccessible, calendar.CodeInTrash, calendar.CodePageNotFound:
		return problem.Kind.String() + "-" + string(problem.Code)
	default:
		return string(problem.Code)
	}
}

// refusal is the error of a code that is of no kind of records.
func refusal(code calendar.Code) *calendar.Error { return calendar.Fail(code, 0) }

// publicCodes are the codes of errors of the parts.
var publicCodes = map[error]calendar.Code{
	eventstore.ErrUnavailable: calendar.CodeUnavailable, eventstore.ErrClosed: calendar.CodeUnavailable, readmodel.ErrUnavailable: calendar.CodeUnavailable,
	context.DeadlineExceeded: calendar.CodeUnavailable, eventstore.ErrKeyReused: calendar.CodeKeyReused,
	eventstore.ErrHistory: calendar.CodeUnavailable, // it goes over to another one just now
	proof.ErrNoCheckpoint: calendar.CodeNoCheckpoint, proof.ErrNoTile: calendar.CodeNoTile,
}

// publicError is what a client may read of an error: itself, what its code is by publicCodes, else
// "internal".
func publicError(err error) *calendar.Error {
	if problem, ok := errors.AsType[*calendar.Error](err); ok {
		return problem
	}
	for known, code := range publicCodes {
		if errors.Is(err, known) {
			return refusal(code)
		}
	}
	return refusal(calendar.CodeInternal)
}

// fail answers an error, and logs what is a fault of the service.
func (call *call) fail(err error) {
	if call.sentLastGood(err) {
		return
	}
	problem := publicError(err)
	status := statusOf(problem.Code)
	if status >= http.StatusInternalServerError {
		if errors.Is(err, context.Canceled) && call.client.Err() != nil {
			status = statusClientGone // nobody reads it
		} else if problem.Code == calendar.CodeInternal {
			call.log().ErrorContext(call.context, "request failed", "error", err)
		} else if problem.Code == calendar.CodeUnavailable && err.Error() != problem.Error() { // there is a cause to tell
			call.log().WarnContext(call.context, "part unavailable", "error", err)
			if call.ListFailed != nil && errors.Is(err, readmodel.ErrUnavailable) {
				call.ListFailed(err)
			}
		}
	}
	if call.page != nil && status != statusClientGone {
		_ = call.sendAnswer(call.errorPage(problem, status)) // what has a status is never refused
		return
	}
	media, instance := valueJSON, ""
	if accepts(call.request.Header, "application/problem+json") {
		media, instance = valueProblem, call.request.URL.EscapedPath()
	}
	answer := call.newAnswer(errorBody(problem, status, call.language, instance), media, "")
	answer.fail(problem, status, challenges)
	_ = call.sendAnswer(answer)
}

// statusClientGone is told to Observe for a request whose client went away.
const statusClientGone = 499

// fail makes an answer one of an error, with its headers.
func (answer *answer) fail(problem *calendar.Error, status int, challenges []string) {
	answer.status, answer.code = status, problem.Code
	switch {
	case problem.RetryAfter > 0:
		answer.add(headerRetry, strconv.Itoa(problem.RetryAfter))
	case problem.Code == calendar.CodeAsOfNotReady:
		answer.add(headerRetry, retryLater)
	case status == http.StatusServiceUnavailable:
		answer.add(headerRetry, retryAfter)
	case status == http.StatusUnauthorized:
		answer.headers[headerChallenge] = challenges
	}
}

// accepts reports whether Accept names a media type, given in lower case.
func accepts(header http.Header, media string) bool { return weightIn(header, media) > 0 }

// errorBody returns an error as JSON: as problem details of the path instance (RFC 9457), and
// without one in the shape of section 7.1.
func errorBody(problem *calendar.Error, status int, language calendar.Lang, instance string) []byte {
	code, message, facts := shownCode(problem), texts.Message(problem, language), factsOf(problem, language)
	if instance != "" {
		return formats.AppendJSON(nil, append(formats.Object{
			"type", "urn:daybook:error:" + code, "title", http.StatusText(status), "status", status, "detail", message, "instance", instance, "code", code,
		}, facts...))
	}
	return formats.AppendJSON(nil, formats.Object{"code", code, "message", message, "data", append(formats.Object{"status", status}, facts...)})
}

// factsOf are what errors of some codes have besides the status.
func factsOf(problem *calendar.Error, language calendar.Lang) (facts formats.Object) {
	switch problem.Code {
	case calendar.CodeInvalidParam:
		params, details := make(formats.Object, 0, 2*len(problem.Fields)), formats.Object{}
		for _, fieldError := range problem.Fields {
			name, message := fieldError.Field, texts.FieldMessage(fieldError, language)
			params = append(params, name, message)
			if code := fieldError.Reason.Detail(); code != "" {
				details = append(details, name, formats.Object{"code", code, "message", message, "data", formats.Object{"param", name}})
			}
		}
		facts = formats.Object{"params", params, "details", details}
		if len(details) == 0 {
			facts[3] = formats.List{} // as clients know it
		}
		return facts
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
