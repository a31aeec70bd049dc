package param

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"daybook/calendar"
	"daybook/internal/canonjson"
)

// BadBody refuses a body that cannot be read.
func BadBody(detail string) *calendar.Error {
	return &calendar.Error{Code: calendar.CodeInvalidJSON, Detail: detail}
}

// DecodeBody reads a body by its media type (interface 2.1); a body of another type than
// JSON and the two forms is ignored. Those of forms are gathered as by Pairs.Input.
func DecodeBody(contentType string, body []byte, isList func(string) bool, unsplit ...string) (calendar.Input, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) && strings.TrimSpace(contentType) != "" {
		return nil, nil // an unreadable type is another type: the body is ignored
	}
	var pairs Pairs
	switch {
	case media == "", media == "application/json", strings.HasSuffix(media, "+json"):
		return DecodeJSON(body)
	case media == "application/x-www-form-urlencoded":
		pairs = ParsePairs(string(body))
	case media == "multipart/form-data" && len(body) > 0:
		if pairs, err = readMultipart(body, params["boundary"]); err != nil {
			return nil, BadBody("malformed multipart form")
		}
	}
	if pairs.Invalid() != nil {
		return nil, BadBody("invalid UTF-8")
	}
	return pairs.Input(isList, unsplit...), nil
}

// DecodeJSON reads one JSON object; an empty body is {}.
func DecodeJSON(body []byte) (calendar.Input, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	value, err := canonjson.Value(string(body))
	if err != nil {
		var value any // in the words of encoding/json, where it finds something
		return nil, BadBody(cmp.Or(json.Unmarshal(body, &value), err).Error())
	}
	input, ok := value.(map[string]any)
	if !ok {
		return nil, BadBody("the JSON value is no object")
	}
	return input, nil
}

// readMultipart returns the text parts of a multipart form; file parts are
// ignored.
func readMultipart(body []byte, boundary string) (pairs Pairs, err error) {
	for parts := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF { //nolint:errorlint // a form that is cut gives a wrapped io.EOF
			return pairs, nil
		}
		if err != nil {
			return nil, err
		}
		_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil {
			return nil, err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		if _, file := params["filename"]; !file {
			pairs = append(pairs, newPair(params["name"], string(value)))
		}
	}
}
