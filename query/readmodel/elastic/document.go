package elastic

import (
	"fmt"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/query/readmodel"
)

// item makes the two lines of a document in a bulk request.
func (n names) item(g generation, d *readmodel.Document) []byte {
	r := d.Record
	fields := object{readmodel.FieldID: r.ID}
	if r.Deleted {
		fields[fieldDeleted] = true
	} else {
		addFields(fields, r)
		addTexts(fields, r)
	}
	encoded := encode(fields)
	b := append(make([]byte, 0, 512+4*len(d.Body)), action(n.write(r.Kind.Collection(), g), r.ID.String(), d.Position)...)
	b = append(b, encoded[:len(encoded)-1]...)
	if !r.Deleted {
		b = append(b, `,"body":`...)
		b = canonjson.AppendString(b, d.Body)
	}
	return append(b, "}\n"...)
}

// action begins an item.
func action(index, id string, version calendar.Position) []byte {
	return fmt.Appendf(nil, `{"index":{"_index":"%s","_id":"%s","version_type":"external","version":%d}}`+"\n", index, id, version)
}

// addFields adds the values of the schema, except texts.
func addFields(fields object, r *calendar.Record) {
	s := readmodel.SchemaOf(r.Kind)
	for i := range s.Fields {
		f := &s.Fields[i]
		switch f.Type {
		case readmodel.TypeKeyword:
			if v := clip(f.Keyword(r)); v != "" {
				fields[f.Name] = v
			}
		case readmodel.TypeNumber:
			if numbers := f.Numbers(r); len(numbers) > 0 {
				fields[f.Name] = numbers
			}
		case readmodel.TypeText:
		}
	}
}

// clip cuts a keyword to the length that an engine takes.
func clip(s string) string {
	if len(s) <= maxKeyword {
		return s
	}
	n := maxKeyword
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
