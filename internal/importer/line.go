package importer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	if number, err := strconv.ParseInt(text, 10, 64); err == nil {
		moment.Time = time.Unix(number, 0).UTC()
	} else if instant, err := time.Parse(`"`+time.RFC3339+`"`, text); err == nil {
		moment.Time = instant.UTC()
	} else {
		return fmt.Errorf("at: must be an RFC 3339 time or Unix seconds, not %s", text)
	}
	// The first year holds the moment that stands for no moment.
	if year := moment.Year(); year < 2 || year > 9999 {
		return fmt.Errorf("at: the year has to be 2 to 9999, not %d", year)
	}
	return nil
}

// refusef refuses a line before it becomes a command.
func refusef(format string, args ...any) error {
	return command.ImportError(fmt.Sprintf(format, args...))
}

// parse reads the text of a line and checks all that does not need the store.
func (line *line) parse() error {
	if _, err := canonjson.Value(string(line.text)); err != nil {
		return refusef("not a line of this form: %s", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(line.text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line.Line); err != nil {
		return refusef("not a line of this form: %s", formFault(err))
	}
	var known bool
	line.language, known = calendar.ParseLang(cmp.Or(line.Lang, "en"))
	line.kind, _ = calendar.ParseKind(line.Kind)
	switch {
	case !slices.Contains(calendar.Kinds[:], line.kind):
		return refusef("kind: must be event, venue, organizer, category or tag, not %q", line.Kind)
	case !known:
		return refusef("lang: must be cn, en, fr or es, not %q", line.Lang)
	case len(line.Key) > maxKey || strings.HasPrefix(line.Key, "#") || strings.ContainsFunc(line.Key, func(letter rune) bool { return letter < ' ' }):
		return refusef("key: must have at most %d bytes, no control characters, and not begin with #", maxKey)
	case line.Key != "" && line.ID != 0:
		return refusef("key and id: only one of them may be given")
	case line.ID < 0:
		return refusef("id: must be greater than 0")
	case line.Action == ActionCreate && line.ID != 0:
		return refusef("id: a new record gets its own")
	case line.Action == ActionPut && line.Key == "":
		return refusef("key: missing, put needs it")
	case !slices.Contains([]string{ActionCreate, ActionUpdate, ActionDelete, ActionPut}, line.Action):
		return refusef("action: must be create, update, delete or put, not %q", line.Action)
	case line.Action != ActionCreate && line.Key == "" && line.ID == 0:
		return refusef("key or id: missing, %s needs one of them", line.Action)
	}
	if line.key = line.Key; line.Action == ActionCreate && line.Key == "" {
		line.key = fmt.Sprintf("#%d", line.number)
	}
	// It names the content, however the line is spaced and in whatever order its members are.
	content, err := json.Marshal(line.Line)
	digest := sha256.Sum256(content)
	line.digest = hex.EncodeToString(digest[:6])
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

	number   int64 // number in the file
	text     []byte
	key      string // Key; a line that makes a record has one in any case, so that it is not made twice
	kind     calendar.Kind
	language calendar.Lang
	digest   string
	bad      error // why it is refused before it becomes a command
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

// links yields each value that names a record of a kind with routes, to be replaced in place.
func (line *line) links(yield func(field *calendar.Field, value *any) bool) {
	fields := calendar.SpecOf(line.kind).Fields
	for i := range fields {
		field := &fields[i]
		value := line.Fields[field.Name]
		if value == nil || !slices.Contains(calendar.Kinds[:], field.Links) {
			continue
		}
		list, isList := value.([]any)
		for i := range list {
			if !yield(field, &list[i]) {
				return
			}
		}
		if !isList {
			if !yield(field, &value) {
				return
			}
			line.Fields[field.Name] = value
		}
	}
}
