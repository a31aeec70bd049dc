package calendar

import (
	"fmt"
	"strconv"

	"daybook/internal/canonjson"
)

// changedLayout is the form of Record.Changed: UTC with whole milliseconds.
const changedLayout = "2006-01-02T15:04:05.000Z"

// EncodeRecord returns the canonical JSON of a record: sorted keys, no white
// space, no escaping of < > &. A field that the table of the kind lacks, or a
// value of another Go type than its row says, is an error that names the field.
func EncodeRecord(r *Record) ([]byte, error) {
	s := SpecOf(r.Kind)
	if s == nil || r.Home >= langCount {
		return nil, fmt.Errorf("encode record %d: unknown kind %d or language %d", r.ID, r.Kind, r.Home)
	}
	b := append(make([]byte, 0, 1536), `{"changed":"`...)
	b = append(r.Changed.UTC().AppendFormat(b, changedLayout), '"')
	if r.Deleted {
		b = append(b, `,"deleted":true`...)
	}
	if r.Erased {
		b = append(b, `,"erased":true`...)
	}
	b, err := s.appendFields(append(b, `,"fields":`...), r.Fields, false)
	if err != nil {
		return nil, fmt.Errorf("encode record %d: %w", r.ID, err)
	}
	return fmt.Appendf(b, `,"home":"%s","id":%d,"kind":"%s","version":%d}`, r.Home, r.ID, r.Kind, r.Version), nil
}

// EncodeChange returns the canonical JSON of the fields of a change: values by
// name, null for removed ones. The secret of a change is not part of it.
func EncodeChange(c Change) ([]byte, error) {
	if _, err := c.verb(); err != nil {
		return nil, err
	}
	b, err := SpecOf(c.Kind).appendFields(make([]byte, 0, 512), c.Fields, true)
	if err != nil {
		return nil, fmt.Errorf("encode %s of record %d: %w", c.Name, c.ID, err)
	}
	return b, nil
}

// appendFields appends the object of the fields, by the sorted rows of the table.
func (s *Spec) appendFields(b []byte, fields Fields, removals bool) ([]byte, error) {
	b = append(b, '{')
	left := len(fields)
	for _, f := range s.stored {
		if left == 0 {
			break
		}
		v, ok := fields[f.Name]
		if !ok {
			continue
		}
		left--
		b = appendKey(b, f.Name)
		if v == nil && removals {
			b = append(b, "null"...)
			continue
		}
		var err error
		if b, err = appendValue(b, f.Stored, v); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	if left > 0 {
		for name := range fields {
			if f := s.Field(name); f == nil || f.Stored == 0 {
				return nil, fmt.Errorf("unknown field %q of kind %s", name, s.Kind)
			}
		}
	}
	return append(b, '}'), nil
}

// appendKey appends a key of an object, after a comma unless it is the first.
func appendKey(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), key...), `":`...)
}

func appendValue(b []byte, t Type, v any) (_ []byte, err error) {
	var is Type
	switch v := v.(type) {
	case string:
		b, is = canonjson.AppendString(b, v), TypeString
	case Text:
		b, is = appendText(b, v), TypeText
	case bool:
		b, is = strconv.AppendBool(b, v), TypeBool
	case float64:
		is = TypeNumber
		b, err = canonjson.AppendNumber(b, v)
	case ID:
		b, is = appendID(b, v), TypeID
	case []ID:
		b, is = appendList(b, v, appendID), TypeIDs
	case []string:
		b, is = appendList(b, v, canonjson.AppendString[string]), TypeStrings
	case Wall:
		is = TypeWall
		b, err = appendWall(b, v)
	}
	if is != t {
		return nil, fmt.Errorf("value of Go type %T does not fit the table", v)
	}
	return b, err
}

func appendID(b []byte, id ID) []byte { return strconv.AppendInt(b, int64(id), 10) }

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

// appendText appends the object of the languages that have a text, sorted by their names.
func appendText(b []byte, t Text) []byte {
	b = append(b, '{')
	for _, l := range [...]Lang{LangCN, LangEN, LangES, LangFR} {
		if t[l] != "" {
			b = canonjson.AppendString(appendKey(b, l.String()), t[l])
		}
	}
	return append(b, '}')
}

// The first and the last Wall that the stored form can hold, besides NoWall: those of the
// years 0001 and 9999.
const (
	minWall Wall = -62135596800
	maxWall Wall = 253402300799
)

func appendWall(b []byte, w Wall) ([]byte, error) {
	if w != NoWall && (w < minWall || w > maxWall) {
		return nil, fmt.Errorf("wall clock %d is not in the years 0001 to 9999", int64(w))
	}
	return canonjson.AppendString(b, w.String()), nil
}
