package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/command"
	"daybook/internal/canonjson"
)

// Line is one line of an import: a change to make. See the package comment for
// the form.
type Line struct {
	Action string         `json:"action"` // create, update, delete or put
	Kind   string         `json:"kind"`   // event, venue, organizer, category or tag
	Key    string         `json:"key,omitempty"`
	ID     calendar.ID    `json:"id,omitempty"`
	At     Moment         `json:"at,omitzero"`
	Author string         `json:"author,omitempty"`
	Lang   string         `json:"lang,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Fields map[string]any `json:"fields,omitempty"`
}

// The actions of a line.
const (
	ActionCreate = "create"
	ActionUpdate = "update"
	ActionDelete = "delete"
	ActionPut    = "put"
)

// maxKey is the longest key, in bytes. Keys that begin with # are those of lines
// without one.
const maxKey = 500

// Moment is a time that is read from RFC 3339 text or Unix seconds, and written
// as RFC 3339.
type Moment struct{ time.Time }

// UnmarshalJSON reads RFC 3339 text or Unix seconds.
func (moment *Moment) UnmarshalJSON(data []byte) error {
	text := string(data)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		moment.Time = time.Unix(n, 0).UTC()
	} else if instant, err := time.Parse(`"`+time.RFC3339+`"`, text); err == nil {
		moment.Time = instant.UTC()
	} else {
		return fmt.Errorf("at: must be an RFC 3339 time or Unix seconds, not %s", text)
	}
	// The first year holds the moment that stands for no moment.
	if y := moment.Year(); y < 2 || y > 9999 {
		return fmt.Errorf("at: the year has to be 2 to 9999, not %d", y)
	}
	return nil
}

// refusef refuses a line before it becomes a command.
func refusef(format string, args ...any) error {
	return command.ImportError(fmt.Sprintf(format, args...))
}

// parse reads a line and checks all that does not need the store.
func (line *line) parse(text []byte) error {
	if _, err := canonjson.Value(string(text)); err != nil {
		return refusef("not a line of this form: %s", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line.Line); err != nil {
		return refusef("not a line of this form: %s", formFault(err))
	}
	var ok bool
	if line.kind, ok = calendar.ParseKind(line.Kind); !ok || !line.kind.IsPost() && !line.kind.IsTerm() {
		return refusef("kind: must be event, venue, organizer, category or tag, not %q", line.Kind)
	}
	line.lang = calendar.LangEN
	if line.Lang != "" {
		if line.lang, ok = calendar.ParseLang(line.Lang); !ok {
			return refusef("lang: must be cn, en, fr or es, not %q", line.Lang)
		}
	}
	switch {
	case len(line.Key) > maxKey || strings.HasPrefix(line.Key, "#") || strings.ContainsFunc(line.Key, func(r rune) bool { return r < ' ' }):
		return refusef("key: must have at most %d bytes, no control characters, and not begin with #", maxKey)
	case line.Key != "" && line.ID != 0:
		return refusef("key and id: only one of them may be given")
	case line.ID < 0:
		return refusef("id: must be greater than 0")
	}
	switch line.Action {
	case ActionCreate:
		if line.ID != 0 {
			return refusef("id: a new record gets its own")
		}
	case ActionPut:
		if line.Key == "" {
			return refusef("key: missing, put needs it")
		}
	case ActionUpdate, ActionDelete:
		if line.Key == "" && line.ID == 0 {
			return refusef("key or id: missing, %s needs one of them", line.Action)
		}
	default:
		return refusef("action: must be create, update, delete or put, not %q", line.Action)
	}
	// It names the content, however the line is spaced and in whatever order its members are.
	content, err := json.Marshal(line.Line)
	sum := sha256.Sum256(content)
	line.digest = hex.EncodeToString(sum[:6])
	return err
}

// formFault says what is wrong with the form of a line, without the names of the
// program.
func formFault(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return strings.TrimPrefix(err.Error(), "json: ")
	case wrong.Field == "":
		return "must be an object, not " + wrong.Value
	default:
		return fmt.Sprintf("%s: a %s cannot stand here", wrong.Field, wrong.Value)
	}
}

// line is a line as it was read.
type line struct {
	Line

	n      int64 // number in the file
	kind   calendar.Kind
	lang   calendar.Lang
	digest string
	bad    error // why it is refused before it becomes a command
}

// newLine reads the line number n; long says that it is too long and was not read.
func newLine(n int64, text []byte, long bool) *line {
	l := &line{n: n}
	if long {
		l.bad = refusef("the line is longer than %d bytes", maxLine)
	} else if l.bad = l.parse(text); l.bad != nil {
		l.Line = Line{}
	}
	return l
}

// keyOf returns the key of {"key": "…"}.
func keyOf(value any) (string, bool) {
	m, ok := value.(map[string]any)
	if !ok || len(m) != 1 {
		return "", false
	}
	key, ok := m["key"].(string)
	return key, ok
}

// replaceLinks returns the fields with each value that names a record of a kind with routes
// replaced.
func (line *line) replaceLinks(replace func(field *calendar.Field, value any) (any, error)) (calendar.Input, error) {
	input := calendar.Input(maps.Clone(line.Fields))
	for i := range calendar.SpecOf(line.kind).Fields {
		field := &calendar.SpecOf(line.kind).Fields[i]
		if line.Fields[field.Name] == nil || !slices.Contains(calendar.Kinds[:], field.Links) {
			continue
		}
		list, isList := line.Fields[field.Name].([]any)
		if !isList {
			list = []any{line.Fields[field.Name]}
		}
		out := make([]any, len(list))
		for i, value := range list {
			var err error
			if out[i], err = replace(field, value); err != nil {
				return nil, err
			}
		}
		if input[field.Name] = out; !isList {
			input[field.Name] = out[0]
		}
	}
	return input, nil
}
