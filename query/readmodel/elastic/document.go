package elastic

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/query/readmodel"
)

// check refuses what no index takes, with ErrRefused.
func check(d *readmodel.Document) error {
	switch {
	case d.Record == nil:
		return fmt.Errorf("%w: no record", readmodel.ErrRefused)
	case readmodel.SchemaOf(d.Record.Kind) == nil || d.Record.ID < 1 || d.Position == 0 || d.Position > math.MaxInt64:
		return fmt.Errorf("%w: kind %d, id %d, position %d", readmodel.ErrRefused, d.Record.Kind, d.Record.ID, d.Position)
	case len(d.Body) == 0 && !d.Record.Deleted:
		return fmt.Errorf("%w: %s %d has no body", readmodel.ErrRefused, d.Record.Kind, d.Record.ID)
	}
	return nil
}

// item makes the two lines of a document in a bulk request.
func (n names) item(g generation, d *readmodel.Document) []byte {
	r := d.Record
	b := make([]byte, 0, 512+4*len(d.Body))
	b = appendAction(b, n.write(collectionOf(r.Kind), g), r.ID.String(), d.Position)
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, int64(r.ID), 10)
	if collectionOf(r.Kind) == stateName {
		b = appendField(b, fieldWhat, r.Kind.String())
	}
	if collectionOf(r.Kind) != stateName {
		b = strconv.AppendUint(appendName(b, fieldAt), uint64(d.Position), 10)
	}
	if r.Deleted {
		return append(b, ",\"deleted\":true}\n"...)
	}
	b = append(b, `,"body":`...)
	b = canonjson.AppendString(b, d.Body)
	if collectionOf(r.Kind) != stateName {
		b = appendFields(b, readmodel.SchemaOf(r.Kind), r)
	}
	return append(b, "}\n"...)
}

// appendAction begins an item; version 0 is none.
func appendAction(b []byte, index, id string, version calendar.Position) []byte {
	b = append(b, `{"index":{"_index":"`...)
	b = append(b, index...)
	b = append(b, `","_id":"`...)
	b = append(b, id...)
	if version > 0 {
		b = append(b, `","version_type":"external","version":`...)
		b = strconv.AppendUint(b, uint64(version), 10)
		return append(b, "}}\n"...)
	}
	return append(b, "\"}}\n"...)
}

func appendField(b []byte, name, value string) []byte {
	b = appendName(b, name)
	return canonjson.AppendString(b, value)
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

// appendFields adds the values of the schema.
func appendFields(b []byte, s *readmodel.Schema, r *calendar.Record) []byte {
	var several list
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == readmodel.FieldID {
			continue
		}
		switch f.Type {
		case readmodel.TypeKeyword:
			if v := clip(f.Keyword(r)); v != "" {
				b = appendField(b, f.Name, v)
				if lower := clip(strings.ToLower(v)); lower != v {
					b = appendField(b, fieldLower+f.Name, lower)
				}
			}
		case readmodel.TypeBool:
			if f.Bool(r) {
				b = append(appendName(b, f.Name), "true"...)
			}
		case readmodel.TypeIDs:
			if ids := f.IDs(r); len(ids) > 0 {
				if len(ids) > 1 {
					several = append(several, f.Name)
				}
				b = append(appendName(b, f.Name), '[')
				for i, id := range ids {
					if slices.Contains(ids[:i], id) {
						continue // OpenSearch would count the document twice
					}
					if i > 0 {
						b = append(b, ',')
					}
					b = strconv.AppendInt(b, int64(id), 10)
				}
				b = append(b, ']')
			}
		case readmodel.TypeNumber, readmodel.TypeComputed:
			if n, ok := f.Number(r); ok {
				b = strconv.AppendInt(appendName(b, f.Name), n, 10)
			} else if f.Sort {
				b = strconv.AppendInt(appendName(b, fieldLacks+f.Name), int64(r.ID), 10)
			}
		case readmodel.TypeText:
			if s.Kind == calendar.KindEvent && f.Name == readmodel.TextName {
				for _, l := range calendar.Langs {
					words, in := readmodel.TitleOf(r, l)
					b = appendField(b, fieldTitle+l.String(), titleOf(in, words))
				}
			}
		}
	}
	if several != nil {
		b = append(appendName(b, fieldSeveral), encode(several)...)
	}
	return appendTexts(b, s, r)
}

// clip cuts a keyword to the length that an engine takes.
func clip(s string) string {
	if len(s) <= mostKeyword {
		return s
	}
	n := mostKeyword
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
