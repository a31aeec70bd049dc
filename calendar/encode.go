package calendar

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// changedLayout is the form of Record.Changed: UTC with whole milliseconds.
const changedLayout = "2006-01-02T15:04:05.000Z"

// EncodeRecord gives the canonical JSON of a record: sorted keys, no white
// space, no escaping of < > &. A field that the table of the kind lacks, or a
// value of another Go type than its row says, is an error that names the field.
func EncodeRecord(r *Record) ([]byte, error) {
	state, _, err := encodeRecord(r)
	return state, err
}

// encodeRecord gives the record and the part of it that are its fields.
func encodeRecord(r *Record) (state, fields []byte, err error) {
	s := SpecOf(r.Kind)
	if s == nil {
		return nil, nil, fmt.Errorf("encode record %d: unknown kind %d", r.ID, r.Kind)
	}
	if r.Home >= langCount {
		return nil, nil, fmt.Errorf("encode record %d: unknown language %d", r.ID, r.Home)
	}
	b := make([]byte, 0, 1536)
	b = append(b, `{"changed":"`...)
	b = r.Changed.UTC().AppendFormat(b, changedLayout)
	b = append(b, '"')
	if r.Deleted {
		b = append(b, `,"deleted":true`...)
	}
	if r.Erased {
		b = append(b, `,"erased":true`...)
	}
	b = append(b, `,"fields":`...)
	from := len(b)
	if b, err = s.appendFields(b, r.Fields, false); err != nil {
		return nil, nil, fmt.Errorf("encode record %d: %w", r.ID, err)
	}
	end := len(b)
	b = append(b, `,"home":"`...)
	b = append(b, r.Home.String()...)
	b = append(b, `","id":`...)
	b = strconv.AppendInt(b, int64(r.ID), 10)
	b = append(b, `,"kind":"`...)
	b = append(b, r.Kind.String()...)
	b = append(b, `","version":`...)
	b = strconv.AppendInt(b, r.Version, 10)
	b = append(b, '}')
	return b, b[from:end:end], nil
}

// EncodeChange gives the canonical JSON of the fields of a change: values by
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

// EncodeBoth gives EncodeChange of a change and EncodeRecord of the record that Apply
// made with it. The fields of a new record are those that the change sets: they are
// written once and lie in the record.
func EncodeBoth(c Change, after *Record) (fields, state []byte, err error) {
	if state, fields, err = encodeRecord(after); err != nil {
		return nil, nil, err
	}
	if verb, err := c.verb(); err != nil || verb != Created || len(c.Fields) != len(after.Fields) {
		fields, err = EncodeChange(c)
		return fields, state, err
	}
	return fields, state, nil
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
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f.Name...)
		b = append(b, '"', ':')
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

func appendValue(b []byte, t Type, v any) ([]byte, error) {
	switch t {
	case TypeString:
		if v, ok := v.(string); ok {
			return AppendJSON(b, v), nil
		}
	case TypeText:
		if v, ok := v.(Text); ok {
			return appendText(b, v), nil
		}
	case TypeBool:
		if v, ok := v.(bool); ok {
			return strconv.AppendBool(b, v), nil
		}
	case TypeNumber:
		if v, ok := v.(float64); ok {
			return appendNumber(b, v)
		}
	case TypeID:
		if v, ok := v.(ID); ok {
			return strconv.AppendInt(b, int64(v), 10), nil
		}
	case TypeIDs:
		if v, ok := v.([]ID); ok {
			return appendList(b, v, func(b []byte, id ID) []byte { return strconv.AppendInt(b, int64(id), 10) }), nil
		}
	case TypeStrings:
		if v, ok := v.([]string); ok {
			return appendList(b, v, AppendJSON[string]), nil
		}
	case TypeWall:
		if v, ok := v.(Wall); ok {
			return appendWall(b, v)
		}
	}
	return nil, fmt.Errorf("value of Go type %T does not fit the table", v)
}

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

// textOrder are the languages in the order of their names, as canonical JSON has
// the keys of a Text.
var textOrder = func() []Lang {
	o := slices.Clone(Langs[:])
	slices.SortFunc(o, func(a, b Lang) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return o
}()

func appendText(b []byte, t Text) []byte {
	b = append(b, '{')
	for _, l := range textOrder {
		if t[l] == "" {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, l.String()...)
		b = append(b, '"', ':')
		b = AppendJSON(b, t[l])
	}
	return append(b, '}')
}

// The walls of the years 0001 and 9999: what the stored form can hold beside
// NoWall.
const (
	minWall Wall = -62135596800
	maxWall Wall = 253402300799
)

func appendWall(b []byte, w Wall) ([]byte, error) {
	if w != NoWall && (w < minWall || w > maxWall) {
		return nil, fmt.Errorf("wall clock %d lies outside of the years 0001 to 9999", int64(w))
	}
	b = append(b, '"')
	if w == NoWall {
		b = append(b, noWallText...)
	} else {
		b = w.UTC().AppendFormat(b, WallLayout)
	}
	return append(b, '"'), nil
}

// appendNumber writes a number as encoding/json does, so that the bytes stay the
// same whoever writes them.
func appendNumber(b []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errors.New("a number has to be finite")
	}
	if v == 0 {
		return append(b, '0'), nil // no -0
	}
	j, err := json.Marshal(v)
	return append(b, j...), err
}

// parseChanged reads the form of changedLayout.
func parseChanged(s string) (time.Time, error) {
	t, err := time.Parse(changedLayout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("not a moment: %q", s)
	}
	return t, nil
}
