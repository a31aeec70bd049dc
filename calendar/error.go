package calendar

import (
	"slices"
	"strings"
)

// Code is the code of an error as clients match it (interface 7.3). The table
// in internal/httpapi gives each its status.
type Code string

// The codes that rules, commands and queries answer with.
const (
	CodeInvalidParam       Code = "rest_invalid_param"
	CodeMissingParam       Code = "rest_missing_callback_param"
	CodeInvalidJSON        Code = "rest_invalid_json"
	CodeUnauthorized       Code = "rest_unauthorized" // anonymous write: 401, shown as rest_forbidden
	CodeForbidden          Code = "rest_forbidden"    // 403
	CodeForbiddenOrigin    Code = "rest_forbidden_origin"
	CodeInvalidUsername    Code = "invalid_username"
	CodeIncorrectPassword  Code = "incorrect_password"
	CodeInvalidCredentials Code = "rest_invalid_credentials" //nolint:gosec // the name of an error, no credential
	CodePrecondition       Code = "rest_precondition_failed"
	CodeKeyReused          Code = "rest_idempotency_key_reused"
	CodeBodyTooLarge       Code = "rest_body_too_large"
	CodeURITooLong         Code = "rest_uri_too_long"
	CodeNoRoute            Code = "rest_no_route"
	CodeMethodNotAllowed   Code = "rest_method_not_allowed"
	CodeInvalidNamespace   Code = "rest_invalid_namespace"
	CodePositionNotReached Code = "rest_position_not_reached"
	CodeUnavailable        Code = "rest_unavailable"
	CodeTooManyRequests    Code = "rest_too_many_requests"
	CodeInternal           Code = "internal_server_error"
	CodeTermExists         Code = "term_exists"
	CodeNotHierarchical    Code = "rest_taxonomy_not_hierarchical"
	CodeNoLongerAvailable  Code = "event-no-longer-available" // 403, trashed event read
	CodeNotAccessible      Code = "not-accessible"            // 403, shown as <kind>-not-accessible
	CodePasswordProtected  Code = "event-password-protected"  // 403
	CodeInTrash            Code = "is-in-trash"               // 410, shown as <kind>-is-in-trash
	CodeNotFound           Code = "not-found"                 // 404, shown as <kind>-not-found, rest-event-not-found
	CodePageNotFound       Code = "archive-page-not-found"    // 404, shown as <kind>-archive-page-not-found
	CodeVersionNotFound    Code = "rest_version_not_found"    // 404, a record has no such version
	CodeErased             Code = "rest_record_erased"        // 410
	CodeNoCheckpoint       Code = "rest_no_checkpoint"        // 404, none was signed, or none of that size
	CodeNoTile             Code = "rest_tile_not_found"       // 404
	CodeAsOfTooLarge       Code = "rest_as_of_too_large"      // 422, a list of the past
	CodeAsOfNotReady       Code = "rest_as_of_not_ready"      // 503, a list of the past
	CodeSelectionTooLarge  Code = "rest_selection_too_large"  // 400, more events than one answer may have
	CodeQueryTooCostly     Code = "rest_query_too_costly"     // 400, the request asks for too much
)

// Reason says why a value is refused. Each has a message in every language.
type Reason string

// FieldError is one refused field or parameter.
type FieldError struct {
	Field  string
	Reason Reason
	Args   []string // what the message names: the entry, the limit, the allowed words
}

// Error is what a client may read. Everything that is no *Error is internal and
// is shown as nothing.
type Error struct {
	Code    Code
	Kind    Kind         // for codes whose text depends on the kind
	Fields  []FieldError // CodeInvalidParam
	Missing []string     // CodeMissingParam
	TermID  ID           // CodeTermExists
	Total   int          // CodeSelectionTooLarge: how many there are
	Cost    int          // CodeQueryTooCostly: of the request
	Limit   int          // how many there may be, or what it may cost
	Detail  string       // CodeInvalidJSON: what the decoder said, without internals
	// RetryAfter is for how many seconds a client is asked to wait, 0 for none given.
	RetryAfter int
}

// Error returns the code and the names of the fields, for logs.
func (problem *Error) Error() string {
	words := []string{string(problem.Code)}
	for _, fieldError := range problem.Fields {
		words = append(words, fieldError.Field+"="+string(fieldError.Reason))
	}
	return strings.Join(append(words, problem.Missing...), " ")
}

// Fail makes an Error with a code.
func Fail(code Code, kind Kind) *Error { return &Error{Code: code, Kind: kind} }

// Problems collects the refused fields of one request, so that all are named at
// once. The zero value is ready.
type Problems struct{ Fields []FieldError }

// Add notes a refused field. The first problem of a field counts.
func (problems *Problems) Add(field string, reason Reason, args ...string) {
	if !slices.ContainsFunc(problems.Fields, func(known FieldError) bool { return known.Field == field }) {
		problems.Fields = append(problems.Fields, FieldError{field, reason, args})
	}
}

// Err returns the error that names all refused fields, or nil.
func (problems *Problems) Err() error {
	if len(problems.Fields) == 0 {
		return nil
	}
	return &Error{Code: CodeInvalidParam, Fields: problems.Fields}
}
