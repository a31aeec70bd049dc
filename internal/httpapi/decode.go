package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/canonjson"
)

// readBody reads the body of a request; more than the limit is 413.
func readBody(writer http.ResponseWriter, request *http.Request, limit int64) ([]byte, error) {
	if request.ContentLength > limit {
		return nil, calendar.Fail(calendar.CodeBodyTooLarge, 0)
	}
	if request.Body == nil || request.ContentLength == 0 {
		return nil, nil
	}
	var buffer bytes.Buffer
	if request.ContentLength > 0 {
		buffer.Grow(int(request.ContentLength) + bytes.MinRead)
	}
	if _, err := buffer.ReadFrom(http.MaxBytesReader(writer, request.Body, limit)); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, calendar.Fail(calendar.CodeBodyTooLarge, 0)
		}
		// After a body that is late or cut, the context has ended too; the client may
		// still be there.
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, badBody("the body did not come in time")
		case request.Context().Err() != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil, request.Context().Err()
		}
		return nil, badBody("the body ended early")
	}
	return buffer.Bytes(), nil
}

// badBody refuses a body that cannot be read.
func badBody(detail string) *calendar.Error {
	return &calendar.Error{Code: calendar.CodeInvalidJSON, Detail: detail}
}

// decodeBody reads a body by its media type (2.1); a body of another type than
// JSON and the two forms is ignored.
func decodeBody(contentType string, body []byte, read func([]pair) calendar.Input) (calendar.Input, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) && strings.TrimSpace(contentType) != "" {
		return nil, nil // an unreadable type is another type: the body is ignored
	}
	switch {
	case media == "", media == "application/json", strings.HasSuffix(media, "+json"):
		return decodeJSON(body)
	case media == "application/x-www-form-urlencoded":
		return formInput(parsePairs(string(body)), read)
	case media == "multipart/form-data":
		pairs, err := readMultipart(body, params["boundary"])
		if err != nil {
			return nil, err
		}
		return formInput(pairs, read)
	default:
		return nil, nil
	}
}

func formInput(pairs []pair, read func([]pair) calendar.Input) (calendar.Input, error) {
	if invalidPairs(pairs) != nil {
		return nil, badBody("invalid UTF-8")
	}
	return read(pairs), nil
}

// decodeJSON reads one JSON object; an empty body is {}.
func decodeJSON(body []byte) (calendar.Input, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if !utf8.Valid(body) {
		return nil, badBody("invalid UTF-8")
	}
	value, err := canonjson.Value(string(body))
	if err != nil {
		return nil, badBody(jsonFault(body, err))
	}
	in, ok := value.(map[string]any)
	if !ok {
		return nil, badBody("the JSON value is no object")
	}
	return in, nil
}

// jsonFault returns what is wrong with a body in the words of encoding/json, which have no
// internals, and those of err where it finds nothing.
func jsonFault(body []byte, err error) string {
	decoder := json.NewDecoder(bytes.NewReader(body))
	var raw json.RawMessage
	fault := decoder.Decode(&raw)
	if syntaxError, ok := errors.AsType[*json.SyntaxError](fault); ok {
		return syntaxError.Error()
	}
	if fault != nil {
		return "the JSON value ended early"
	}
	if _, end := decoder.Token(); !errors.Is(end, io.EOF) {
		return "something follows the JSON value"
	}
	return err.Error()
}

// readMultipart returns the text parts of a multipart form; file parts are
// ignored.
func readMultipart(body []byte, boundary string) ([]pair, error) {
	if len(body) == 0 {
		return nil, nil
	}
	if boundary == "" {
		return nil, badBody("multipart form without a boundary")
	}
	var pairs []pair
	for parts := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF { //nolint:errorlint // a form that is cut gives a wrapped io.EOF
			return pairs, nil
		}
		if err != nil {
			return nil, badBody("malformed multipart form")
		}
		_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			return nil, badBody("malformed multipart form")
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, badBody("malformed multipart form")
		}
		if _, file := params["filename"]; file {
			continue
		}
		pairs = append(pairs, newPair(params["name"], string(value)))
	}
}

// merge puts the body over the query and takes out what only the path may say.
func merge(query, body calendar.Input) calendar.Input {
	input := make(calendar.Input, len(query)+len(body))
	maps.Copy(input, query)
	maps.Copy(input, body)
	delete(input, "id")
	return input
}
