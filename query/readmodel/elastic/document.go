package elastic

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/query/readmodel"
)

// item makes the two lines of a document in a bulk request.
func (n names) item(g generation, d *readmodel.Document) []byte {
	r := d.Record
	collection := collectionOf(r.Kind)
	fields := object{readmodel.FieldID: r.ID}
	if collection == stateName {
		fields[fieldWhat] = r.Kind.String()
	} else {
		fields[fieldAt] = d.Position
	}
	switch {
	case r.Deleted:
		fields[fieldDeleted] = true
	case collection != stateName:
		addFields(fields, r)
		addTexts(fields, r)
	}
	encoded := encode(fields)
	b := make([]byte, 0, 512+4*len(d.Body))
	b = appendAction(b, n.write(collection, g), r.ID.String(), d.Position)
	b = append(b, encoded[:len(encoded)-1]...)
	if !r.Deleted {
		b = append(b, `,"body":`...)
		b = canonjson.AppendString(b, d.Body)
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

// addFields adds the values of the schema, except texts.
func addFields(fields object, r *calendar.Record) {
	s := readmodel.SchemaOf(r.Kind)
	var several []string
	for i := range s.Fields {
		f := &s.Fields[i]
		switch f.Type {
		case readmodel.TypeKeyword:
			if v := clip(f.Keyword(r)); v != "" {
				fields[f.Name] = v
				if lower := clip(strings.ToLower(v)); lower != v {
					fields[fieldLower+f.Name] = lower
				}
			}
		case readmodel.TypeNumber:
			numbers := f.Numbers(r)
			if len(numbers) > 0 {
				fields[f.Name] = numbers
			}
			if len(numbers) > 1 {
				several = append(several, f.Name)
			}
		case readmodel.TypeText:
		}
	}
	if several != nil {
		fields[fieldSeveral] = several
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
