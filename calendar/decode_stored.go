package calendar

import (
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
	r, s := &Record{}, canonjson.NewReader(text)
	// The kind, which says how to read the fields, follows them in canonical order.
	var fields canonjson.Reader
	var changed, home, kind string
	count := -1
	err := s.Object(func(key string) (err error) {
		var ok bool
		switch key {
		case "changed":
			if changed, err = s.String(); err == nil {
				r.Changed, err = time.Parse(changedLayout, changed)
			}
		case "deleted":
			r.Deleted, err = s.Bool()
		case "erased":
			r.Erased, err = s.Bool()
		case "fields":
			fields, count = *s, 0
			err = s.Object(func(string) error {
				count++
				_, err := s.Raw()
				return err
			})
		case "home":
			home, err = s.String()
			if r.Home, ok = ParseLang(home); err == nil && !ok {
				err = fmt.Errorf("unknown language %q", home)
			}
		case "id":
			r.ID, err = readID(s)
		case "kind":
			kind, err = s.String()
			if r.Kind, ok = ParseKind(kind); err == nil && !ok {
				err = fmt.Errorf("unknown kind %q", kind)
			}
		case "version":
			r.Version, err = s.Int()
		default:
			return fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", key, err)
		}
		return err
	})
	if err == nil {
		err = s.End()
	}
	if err == nil && (changed == "" || home == "" || kind == "" || count < 0 || r.Version < 1 || r.ID < 1 || r.Erased && !r.Deleted) {
		err = errors.New("not a whole record")
	}
	if err == nil {
		r.Fields, err = decodeFields(&fields, SpecOf(r.Kind), count, false)
	}
	if err != nil {
		return nil, fmt.Errorf("decode record %d: %w", r.ID, err)
	}
	r.Sum = SumOf(text)
	return r, nil
}

// DecodeChange reads a stored change by its name. home is the language of the
// record; only ".created" has it.
func DecodeChange(name string, id ID, home Lang, fields json.RawMessage) (Change, error) {
	c := Change{Name: name, ID: id}
	kind, _, _ := strings.Cut(name, ".")
	c.Kind, _ = ParseKind(kind)
	verb, err := c.verb()
	if err != nil {
		return Change{}, err
	}
	if verb == Created {
		c.Home = home
	}
	s := canonjson.NewReader(string(fields))
	if c.Fields, err = decodeFields(s, SpecOf(c.Kind), 4, true); err == nil {
		err = s.End()
	}
	if err != nil {
		return Change{}, fmt.Errorf("decode %s of record %d: %w", name, id, err)
	}
	return c, nil
}

// decodeFields reads an object of about so many fields.
func decodeFields(s *canonjson.Reader, spec *Spec, about int, removals bool) (Fields, error) {
	fields := make(Fields, about)
	err := s.Object(func(key string) (err error) {
		f := spec.byName[key]
		if f == nil || f.Stored == 0 {
			return fmt.Errorf("unknown field %q of kind %s", key, spec.Kind)
		}
		if _, ok := fields[f.Name]; ok {
			return fmt.Errorf("field %s: given twice", f.Name)
		}
		var v any
		if !removals || !s.Null() {
			if v, err = readValue(s, f.Stored); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
		}
		fields[f.Name] = v
		return nil
	})
	return fields, err
}

// readValue reads a value of a stored type.
func readValue(s *canonjson.Reader, t Type) (any, error) {
	switch t {
	case TypeString:
		return s.String()
	case TypeText:
		var text Text
		err := s.Object(func(key string) (err error) {
			l, ok := ParseLang(key)
			if !ok {
				return fmt.Errorf("unknown language %q", key)
			}
			text[l], err = s.String()
			return err
		})
		return text, err
	case TypeBool:
		return s.Bool()
	case TypeNumber:
		n, err := s.Number()
		if err != nil {
			return nil, err
		}
		return n.Float64()
	case TypeID:
		return readID(s)
	case TypeIDs:
		return readList(s, readID)
	case TypeStrings:
		return readList(s, (*canonjson.Reader).String)
	case TypeWall:
		text, err := s.String()
		if err != nil {
			return nil, err
		}
		return ParseWall(text)
	default:
		return nil, fmt.Errorf("unknown type %d", t)
	}
}

func readID(s *canonjson.Reader) (ID, error) {
	n, err := s.Int()
	return ID(n), err
}

func readList[T any](s *canonjson.Reader, one func(*canonjson.Reader) (T, error)) ([]T, error) {
	list := []T{}
	err := s.List(func() error {
		v, err := one(s)
		list = append(list, v)
		return err
	})
	return list, err
}
