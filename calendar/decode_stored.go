package calendar

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"daybook/internal/canonjson"
)

// DecodeRecord reads EncodeRecord. An unknown field, a field given twice, or a value that
// does not fit the table is an error that names the field. The strings of the record are
// parts of a copy of the text, or of the text if it is a string, so each of them retains it.
func DecodeRecord[T ~string | ~[]byte](stored T) (*Record, error) {
	text := string(stored)
	record, reader := &Record{}, canonjson.NewReader(text)
	// The kind, which says how to read the fields, follows them in canonical order.
	_, kind, _ := strings.Cut(text[strings.LastIndex(text, `"kind":"`)+1:], `kind":"`)
	kind, _, _ = strings.Cut(kind, `"`)
	record.Kind, _ = ParseKind(kind)
	var changed, home string
	err := reader.Object(func(key string) (err error) {
		var ok bool
		switch key {
		case "changed":
			if changed, err = reader.String(); err == nil {
				record.Changed, err = time.Parse(changedLayout, changed)
			}
		case "deleted":
			record.Deleted, err = reader.Bool()
		case "erased":
			record.Erased, err = reader.Bool()
		case "fields":
			if record.Kind == 0 {
				return fmt.Errorf("unknown kind %q", kind)
			}
			record.Fields, err = decodeFields(reader, SpecOf(record.Kind), false)
		case "home":
			home, err = reader.String()
			if record.Home, ok = ParseLang(home); err == nil && !ok {
				err = fmt.Errorf("unknown language %q", home)
			}
		case "id":
			record.ID, err = readID(reader)
		case "kind":
			_, err = reader.String() // known
		case "version":
			record.Version, err = reader.Int()
		default:
			return fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", key, err)
		}
		return err
	})
	if err == nil {
		err = reader.End()
	}
	if err == nil && (changed == "" || home == "" || record.Fields == nil || record.Version < 1 || record.ID < 1 || record.Erased && !record.Deleted) {
		err = errors.New("not a whole record")
	}
	if err != nil {
		return nil, fmt.Errorf("decode record %d: %w", record.ID, err)
	}
	record.Sum = SumOf(text)
	return record, nil
}

// DecodeChange reads a stored change by its name. home is the language of the
// record; only ".created" has it.
func DecodeChange(name string, id ID, home Lang, fields json.RawMessage) (Change, error) {
	change := Change{Name: name, ID: id}
	kind, _, _ := strings.Cut(name, ".")
	change.Kind, _ = ParseKind(kind)
	verb, err := change.verb()
	if err != nil {
		return Change{}, err
	}
	if verb == Created {
		change.Home = home
	}
	reader := canonjson.NewReader(string(fields))
	change.Fields, err = decodeFields(reader, SpecOf(change.Kind), true)
	if err = cmp.Or(err, reader.End()); err != nil {
		return Change{}, fmt.Errorf("decode %s of record %d: %w", name, id, err)
	}
	return change, nil
}

// decodeFields reads an object of fields.
func decodeFields(reader *canonjson.Reader, spec *Spec, removals bool) (Fields, error) {
	fields := make(Fields, len(spec.stored))
	err := reader.Object(func(key string) (err error) {
		field := spec.byName[key]
		if field == nil || field.Stored == 0 {
			return fmt.Errorf("unknown field %q of kind %s", key, spec.Kind)
		}
		var value any
		if !removals || !reader.Null() {
			if value, err = readValue(reader, field.Stored); err != nil {
				return fmt.Errorf("field %s: %w", field.Name, err)
			}
		}
		known := len(fields)
		if fields[field.Name] = value; len(fields) == known {
			return fmt.Errorf("field %s: given twice", field.Name)
		}
		return nil
	})
	return fields, err
}

// readValue reads a value of a stored type.
func readValue(reader *canonjson.Reader, t Type) (any, error) {
	switch t {
	case TypeString:
		return reader.String()
	case TypeText:
		var text Text
		err := reader.Object(func(key string) (err error) {
			language, ok := ParseLang(key)
			if !ok {
				return fmt.Errorf("unknown language %q", key)
			}
			text[language], err = reader.String()
			return err
		})
		return text, err
	case TypeBool:
		return reader.Bool()
	case TypeNumber:
		n, err := reader.Number()
		if err != nil {
			return nil, err
		}
		return n.Float64()
	case TypeID:
		return readID(reader)
	case TypeIDs:
		return readList(reader, readID)
	case TypeStrings:
		return readList(reader, (*canonjson.Reader).String)
	case TypeWall:
		text, err := reader.String()
		if err != nil {
			return nil, err
		}
		return ParseWall(text)
	default:
		return nil, fmt.Errorf("unknown type %d", t)
	}
}

func readID(reader *canonjson.Reader) (ID, error) {
	number, err := reader.Int()
	return ID(number), err
}

func readList[T any](reader *canonjson.Reader, one func(*canonjson.Reader) (T, error)) ([]T, error) {
	list := []T{}
	err := reader.List(func() error {
		value, err := one(reader)
		list = append(list, value)
		return err
	})
	return list, err
}
