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
func EncodeRecord(record *Record) ([]byte, error) {
	spec := SpecOf(record.Kind)
	if spec == nil || record.Home >= langCount {
		return nil, fmt.Errorf("encode record %d: unknown kind %d or language %d", record.ID, record.Kind, record.Home)
	}
	data := append(make([]byte, 0, 1536), `{"changed":"`...)
	data = append(record.Changed.UTC().AppendFormat(data, changedLayout), '"')
	if record.Deleted {
		data = append(data, `,"deleted":true`...)
	}
	if record.Erased {
		data = append(data, `,"erased":true`...)
	}
	data, err := spec.appendFields(append(data, `,"fields":`...), record.Fields, false)
	if err != nil {
		return nil, fmt.Errorf("encode record %d: %w", record.ID, err)
	}
	return fmt.Appendf(data, `,"home":"%s","id":%d,"kind":"%s","version":%d}`, record.Home, record.ID, record.Kind, record.Version), nil
}

// EncodeChange returns the canonical JSON of the fields of a change: values by
// name, null for removed ones. The secret of a change is not part of it.
func EncodeChange(change Change) ([]byte, error) {
	if _, err := change.verb(); err != nil {
		return nil, err
	}
	data, err := SpecOf(change.Kind).appendFields(make([]byte, 0, 512), change.Fields, true)
	if err != nil {
		return nil, fmt.Errorf("encode %s of record %d: %w", change.Name, change.ID, err)
	}
	return data, nil
}

// appendFields appends the object of the fields, by the sorted rows of the table.
func (spec *Spec) appendFields(data []byte, fields Fields, removals bool) ([]byte, error) {
	data = append(data, '{')
	left := len(fields)
	for _, field := range spec.stored {
		if left == 0 {
			break
		}
		value, ok := fields[field.Name]
		if !ok {
			continue
		}
		left--
		data = appendKey(data, field.Name)
		if value == nil && removals {
			data = append(data, "null"...)
			continue
		}
		var err error
		if data, err = appendValue(data, field.Stored, value); err != nil {
			return nil, fmt.Errorf("field %s: %w", field.Name, err)
		}
	}
	if left > 0 {
		for name := range fields {
			if field := spec.Field(name); field == nil || field.Stored == 0 {
				return nil, fmt.Errorf("unknown field %q of kind %s", name, spec.Kind)
			}
		}
	}
	return append(data, '}'), nil
}

// appendKey appends a key of an object, after a comma unless it is the first.
func appendKey(data []byte, key string) []byte {
	if data[len(data)-1] != '{' {
		data = append(data, ',')
	}
	return append(append(append(data, '"'), key...), `":`...)
}

func appendValue(data []byte, t Type, value any) (_ []byte, err error) {
	var is Type
	switch v := value.(type) {
	case string:
		data, is = canonjson.AppendString(data, v), TypeString
	case Text:
		data, is = appendText(data, v), TypeText
	case bool:
		data, is = strconv.AppendBool(data, v), TypeBool
	case float64:
		is = TypeNumber
		data, err = canonjson.AppendNumber(data, v)
	case ID:
		data, is = appendID(data, v), TypeID
	case []ID:
		data, is = appendList(data, v, appendID), TypeIDs
	case []string:
		data, is = appendList(data, v, canonjson.AppendString[string]), TypeStrings
	case Wall:
		is = TypeWall
		data, err = appendWall(data, v)
	}
	if is != t {
		return nil, fmt.Errorf("value of Go type %T does not fit the table", value)
	}
	return data, err
}

func appendID(data []byte, id ID) []byte { return strconv.AppendInt(data, int64(id), 10) }

func appendList[T any](data []byte, list []T, one func([]byte, T) []byte) []byte {
	data = append(data, '[')
	for i, value := range list {
		if i > 0 {
			data = append(data, ',')
		}
		data = one(data, value)
	}
	return append(data, ']')
}

// appendText appends the object of the languages that have a text, sorted by their names.
func appendText(data []byte, text Text) []byte {
	data = append(data, '{')
	for _, language := range [...]Lang{LangCN, LangEN, LangES, LangFR} {
		if text[language] != "" {
			data = canonjson.AppendString(appendKey(data, language.String()), text[language])
		}
	}
	return append(data, '}')
}

// The first and the last Wall that the stored form can hold, besides NoWall: those of the
// years 0001 and 9999.
const (
	minWall Wall = -62135596800
	maxWall Wall = 253402300799
)

func appendWall(data []byte, wall Wall) ([]byte, error) {
	if wall != NoWall && (wall < minWall || wall > maxWall) {
		return nil, fmt.Errorf("wall clock %d is not in the years 0001 to 9999", int64(wall))
	}
	return canonjson.AppendString(data, wall.String()), nil
}
