package openapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"strings"

	"daybook/calendar"
)

// Title is a word with a capital: "event" → "Event".
func Title(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// RecordName names the schema of records of a kind in answers.
func RecordName(kind calendar.Kind) string {
	if kind.IsTerm() {
		return "Term"
	}
	return Title(kind.String())
}

// recordsFile says what parameters of a type take; what answers show of a field by the word of the
// field tables, by what the keys have after the name of the field; what a body takes for it; and
// what records have besides.
//
//go:embed records.json
var recordsFile []byte

type recordRows struct {
	Types, Shown, Sent map[string]json.RawMessage
	Records            map[string]struct{ Required, Optional Object }
}

func readRows(values Object) (recordRows recordRows) {
	decode(recordsFile, values, &recordRows)
	return recordRows
}

// fieldRows are the rows of fields.
var fieldRows = readRows(nil)

// decode reads a part of the program, where a text that begins with $ stands for a value of the
// code.
func decode(part []byte, values Object, to any) {
	for name, value := range values {
		text, _ := json.Marshal(value) // texts and numbers cannot fail
		part = bytes.ReplaceAll(part, []byte(`"$`+name+`"`), text)
	}
	if err := json.Unmarshal(part, to); err != nil {
		panic(err)
	}
}

// ofField reads a row for a field.
func ofField(row []byte, field *calendar.Field, to any) {
	name := Title(field.Name)
	decode(row, Object{
		"enum": field.Enum, "min": -field.Max, "max": field.Max, "maxElements": calendar.MaxElements,
		"record": "#/components/schemas/" + name, "created": "#/components/schemas/" + name + "Create",
	}, to)
}

// Records are the components of records in answers; terms are as categories. Those of answers that
// name the wanted fields require none.
func Records() Object {
	result, rows := Object{}, readRows(Object{"languages": calendar.LangNames()}).Records
	for _, kind := range calendar.Kinds[:calendar.KindCategory] {
		name, fields := RecordName(kind), calendar.SpecOf(kind).Fields
		required, optional := merged(rows["all"].Required, rows[name].Required), merged(rows[name].Optional)
		for i := range fields {
			field, to := &fields[i], required
			if field.Filled {
				to = optional
			}
			for end, schema := range shown(field, kind == calendar.KindEvent && !field.Stays) {
				to[field.Name+end] = extended(schema, field.Extension)
			}
		}
		for name := range optional {
			delete(required, name)
		}
		result[name], result["Sparse"+name] = closed(required, optional), closed(nil, merged(required, optional))
	}
	return result
}

// shown are the schemas of what answers show of a field, by the ends of its keys. In a blanked
// event it may be blank.
func shown(field *calendar.Field, blanks bool) (result map[string]Object) {
	word, variant := field.Shown.String(), ""
	switch {
	case field.Filled:
		variant = " filled"
	case blanks:
		variant = " blank"
	}
	row := fieldRows.Shown[word+variant]
	if row == nil {
		row = fieldRows.Shown[word]
	}
	if row != nil {
		ofField(row, field, &result)
	}
	return result
}

// value reads a default.
func value(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// input is what a field takes in its own type. What else is read as that is no part of the
// schema: generators make nothing usable of several types.
func input(field *calendar.Field) Object {
	schema := Object{"type": cmp.Or(field.Declared, "string")}
	if row := fieldRows.Sent[field.Form.String()]; row != nil {
		schema = nil
		ofField(row, field, &schema)
	}
	if field.Max > 0 && schema["type"] == "string" {
		schema["maxLength"] = field.Max
	}
	if field.Required {
		schema["minLength"] = 1
	}
	if field.Empty == calendar.EmptyClears && schema["type"] != "string" && schema["type"] != "array" { // these have empty values
		schema["type"] = []any{schema["type"], "null"}
	}
	return schema
}
