package readmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// Type says what the values of a field are, and so which filters take it.
type Type uint8

// The types.
const (
	TypeKeyword Type = iota + 1 // one text or none: Term, Contains
	TypeNumber                  // any number of them, ids too: In, Range
	TypeText                    // Text
)

// Field is one field of the index: its type and how it is made from a record.
type Field struct {
	Name string
	Type Type
	Sort bool     // a Sort may name it
	From []string // the rows of the field table that it is made from

	// Keyword returns the value of a keyword field, "" if none exists.
	Keyword func(*calendar.Record) string
	// Numbers returns the values of a field of numbers, each once.
	Numbers func(*calendar.Record) []int64
	// Text returns the plain text of a text field in each language. A field that is
	// not translatable has its text in the home language of the record: that is
	// shown, and analysed, whatever the language of the request.
	Text func(*calendar.Record) calendar.Text
}

// Schema is what the index keeps of the records of a kind.
type Schema struct {
	Kind   calendar.Kind
	Fields []Field

	byName map[string]*Field
}

// Field finds a field by name, nil if none exists.
func (schema *Schema) Field(name string) *Field { return schema.byName[name] }

// Texts returns the names of all text fields: where a search of the kind looks
// (interface 4.7).
func (schema *Schema) Texts() (names []string) {
	for _, field := range schema.Fields {
		if field.Type == TypeText {
			names = append(names, field.Name)
		}
	}
	return names
}

// SchemaOf returns the schema of a kind, nil for one that has no documents.
func SchemaOf(kind calendar.Kind) *Schema {
	if int(kind) >= len(schemas) {
		return nil
	}
	return schemas[kind]
}

var schemas = func() (all [calendar.KindTag + 1]*Schema) {
	fields := [len(all)][]Field{
		calendar.KindEvent:     append(postFields("title"), eventFields()...),
		calendar.KindVenue:     append(postFields("venue"), details(TextAddress, TextCity, TextCountry, TextProvince, TextState, TextStateProv, TextZip, TextPhone, TextWebsite)...),
		calendar.KindOrganizer: append(postFields("organizer"), details(TextPhone, TextEmail, TextWebsite)...),
		calendar.KindCategory:  append(termFields(), linkField(FieldParent)),
		calendar.KindTag:       termFields(),
	}
	for _, kind := range calendar.Kinds {
		field := numberField(FieldID, func(record *calendar.Record) (int64, bool) { return int64(record.ID), true })
		field.Sort = true
		schema := &Schema{kind, append([]Field{field}, fields[kind]...), map[string]*Field{}}
		for i := range schema.Fields {
			schema.byName[schema.Fields[i].Name] = &schema.Fields[i]
		}
		all[kind] = schema
	}
	return all
}()

// postFields are the fields that all posts have.
func postFields(name string) []Field {
	return []Field{
		linkField(FieldAuthor), stringField(FieldStatus), wallField(FieldDate), wallField(FieldPublished),
		nameField(name), htmlField(TextDescription), htmlField(TextExcerpt),
	}
}

func eventFields() []Field {
	fields := []Field{
		linksField(FieldCategories), linksField(FieldTags), linksField(FieldVenue), linksField(FieldOrganizer), linkField(FieldPostParent),
		wallField(FieldStart), wallField(FieldEnd), wallField(FieldUTCStart), wallField(FieldUTCEnd), wallField(FieldModified),
		lackField(FieldPublished), lackField(FieldModified),
		keywordField(FieldEventStatus, func(record *calendar.Record) string { return string(record.Fields.EventStatus()) }, FieldEventStatus),
		numberField(FieldCost, lowestCost, "cost"),
		numberField(FieldRepeats, repeats, "title", "venue"),
		numberField(FieldMonth, month, "start_date"),
		numberField(FieldWeekday, weekday, "start_date"),
		numberField(FieldMinute, minute, "start_date", "all_day"),
		numberField(FieldDuration, duration, "start_date", "end_date", "utc_start_date", "utc_end_date", "all_day"),
		{Name: FieldLanguages, Type: TypeNumber, From: []string{"title", "description", "excerpt"}, Numbers: languages},
	}
	for _, name := range []string{FieldHidden, FieldFeatured, FieldTicketed, FieldProtected, FieldAllDay} {
		fields = append(fields, keywordField(name, func(record *calendar.Record) string {
			if record.Fields.Bool(name) {
				return "true"
			}
			return ""
		}, name))
	}
	for _, lang := range calendar.Langs {
		fields = append(fields, numberField(FieldTitleKey(lang), func(record *calendar.Record) (int64, bool) {
			name, _ := record.Name(lang)
			return keyNumber(foldTitle(name))
		}, "title"))
	}
	return fields
}

func termFields() []Field {
	slug := stringField(FieldSlug)
	slug.Sort = true
	fields := append(make([]Field, 0, 2+3*len(calendar.Langs)), slug, nameField("name"))
	for _, lang := range calendar.Langs {
		lower := keywordField(FieldNameLower(lang), func(record *calendar.Record) string {
			name, _ := record.Name(lang)
			return htmltext.NameKey(name)
		}, "name")
		key := keywordField(FieldNameKey(lang), func(record *calendar.Record) string {
			name, _ := record.Name(lang)
			return Fold(name)
		}, "name")
		description := keywordField(FieldDescriptionKey(lang), func(record *calendar.Record) string {
			text, _ := record.Fields.Text("description").In(lang, record.Home)
			return descriptionKeyStart + firstRunes(Fold(htmltext.PlainText(text)), descriptionKeyRunes)
		}, "description")
		key.Sort, description.Sort = true, true
		fields = append(fields, lower, key, description)
	}
	return fields
}

// descriptionKeyRunes is how much of a description orders terms; engines limit
// the length of a keyword.
const descriptionKeyRunes = 256

// descriptionKeyStart keeps the key of an empty description from being no value:
// it stands before all others, and behind them in descending order.
const descriptionKeyStart = "="

func firstRunes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func keywordField(name string, keyword func(*calendar.Record) string, from ...string) Field {
	return Field{Name: name, Type: TypeKeyword, From: from, Keyword: keyword}
}

func stringField(name string) Field {
	return keywordField(name, func(record *calendar.Record) string { return record.Fields.String(name) }, name)
}

// numberField is a field of one number or none.
func numberField(name string, number func(*calendar.Record) (n int64, has bool), from ...string) Field {
	return Field{Name: name, Type: TypeNumber, From: from, Numbers: func(record *calendar.Record) []int64 {
		if n, has := number(record); has {
			return []int64{n}
		}
		return nil
	}}
}

func linkField(name string) Field {
	return numberField(name, func(record *calendar.Record) (int64, bool) {
		id := record.Fields.ID(name)
		return int64(id), id != 0
	}, name)
}

func linksField(name string) Field {
	return Field{Name: name, Type: TypeNumber, From: []string{name}, Numbers: func(record *calendar.Record) (out []int64) {
		for _, id := range record.Fields.IDs(name) {
			if !slices.Contains(out, int64(id)) { // a record may name one twice
				out = append(out, int64(id))
			}
		}
		return out
	}}
}

func wallField(name string) Field {
	field := numberField(name, func(record *calendar.Record) (int64, bool) {
		wall := record.Fields.Wall(name)
		return int64(wall), wall != calendar.NoWall
	}, name)
	field.Sort = true
	return field
}

// lackField is the id of documents that have no wall clock in a field.
func lackField(name string) Field {
	field := numberField(FieldLack(name), func(record *calendar.Record) (int64, bool) {
		return int64(record.ID), record.Fields.Wall(name) == calendar.NoWall
	}, name)
	field.Sort = true
	return field
}

func textField(name, from string, text func(*calendar.Record) calendar.Text) Field {
	return Field{Name: name, Type: TypeText, From: []string{from}, Text: text}
}

func nameField(from string) Field {
	return textField(TextName, from, func(record *calendar.Record) calendar.Text { return record.Fields.Text(from) })
}

func htmlField(name string) Field {
	return textField(name, name, func(record *calendar.Record) calendar.Text {
		text := record.Fields.Text(name)
		for l := range text {
			text[l] = htmltext.PlainText(text[l])
		}
		return text
	})
}

func details(names ...string) (fields []Field) {
	for _, name := range names {
		fields = append(fields, textField(name, name, func(record *calendar.Record) (text calendar.Text) {
			text[record.Home] = record.Fields.String(name)
			return text
		}))
	}
	return fields
}

// Fingerprint names the schemas and the analysis: what an engine keeps under
// another one has to be rebuilt.
func Fingerprint() string {
	hash := sha256.New()
	fmt.Fprintln(hash, AnalysisVersion)
	for _, schema := range schemas[calendar.KindEvent:] {
		for _, field := range schema.Fields {
			fmt.Fprintln(hash, schema.Kind, field.Name, field.Type, field.Sort, field.From)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
