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

	keyword func(*calendar.Record) string // "": no value
	numbers func(*calendar.Record) []int64
	text    func(*calendar.Record) calendar.Text
}

// Keyword returns the value of a keyword field, "" if none exists.
func (f *Field) Keyword(r *calendar.Record) string { return f.keyword(r) }

// Numbers returns the values of a field of numbers, each once.
func (f *Field) Numbers(r *calendar.Record) []int64 { return f.numbers(r) }

// Text returns the plain text of a text field in each language. A field that is
// not translatable has its text in the home language of the record: that is
// shown, and analysed, whatever the language of the request.
func (f *Field) Text(r *calendar.Record) calendar.Text { return f.text(r) }

// Schema is what the index keeps of the records of a kind.
type Schema struct {
	Kind   calendar.Kind
	Fields []Field

	byName map[string]*Field
}

// Field finds a field by name, nil if none exists.
func (s *Schema) Field(name string) *Field { return s.byName[name] }

// Texts returns the names of all text fields: where a search of the kind looks
// (interface 4.7).
func (s *Schema) Texts() (names []string) {
	for _, f := range s.Fields {
		if f.Type == TypeText {
			names = append(names, f.Name)
		}
	}
	return names
}

// SchemaOf returns the schema of a kind, nil for one that has no documents.
func SchemaOf(k calendar.Kind) *Schema {
	if int(k) >= len(schemas) {
		return nil
	}
	return schemas[k]
}

var schemas = func() (all [calendar.KindTag + 1]*Schema) {
	fields := [len(all)][]Field{
		calendar.KindEvent:     append(postFields("title"), eventFields()...),
		calendar.KindVenue:     append(postFields("venue"), details(TextAddress, TextCity, TextCountry, TextProvince, TextState, TextStateProv, TextZip, TextPhone, TextWebsite)...),
		calendar.KindOrganizer: append(postFields("organizer"), details(TextPhone, TextEmail, TextWebsite)...),
		calendar.KindCategory:  append(termFields(), linkField(FieldParent)),
		calendar.KindTag:       termFields(),
	}
	for _, k := range calendar.Kinds {
		id := numberField(FieldID, func(r *calendar.Record) (int64, bool) { return int64(r.ID), true })
		id.Sort = true
		s := &Schema{k, append([]Field{id}, fields[k]...), map[string]*Field{}}
		for i := range s.Fields {
			s.byName[s.Fields[i].Name] = &s.Fields[i]
		}
		all[k] = s
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
		keywordField(FieldEventStatus, func(r *calendar.Record) string { return string(r.Fields.EventStatus()) }, FieldEventStatus),
		numberField(FieldCost, lowestCost, "cost"),
		numberField(FieldRepeats, repeats, "title", "venue"),
		numberField(FieldMonth, month, "start_date"),
		numberField(FieldWeekday, weekday, "start_date"),
		numberField(FieldMinute, minute, "start_date", "all_day"),
		numberField(FieldDuration, duration, "start_date", "end_date", "utc_start_date", "utc_end_date", "all_day"),
		{Name: FieldLanguages, Type: TypeNumber, From: []string{"title", "description", "excerpt"}, numbers: languages},
	}
	for _, name := range []string{FieldHidden, FieldFeatured, FieldTicketed, FieldProtected, FieldAllDay} {
		fields = append(fields, keywordField(name, func(r *calendar.Record) string {
			if r.Fields.Bool(name) {
				return "true"
			}
			return ""
		}, name))
	}
	for _, l := range calendar.Langs {
		fields = append(fields, numberField(FieldTitleKey(l), func(r *calendar.Record) (int64, bool) {
			name, _ := r.Name(l)
			return keyNumber(foldTitle(name))
		}, "title"))
	}
	return fields
}

func termFields() []Field {
	slug := stringField(FieldSlug)
	slug.Sort = true
	fields := append(make([]Field, 0, 2+3*len(calendar.Langs)), slug, nameField("name"))
	for _, l := range calendar.Langs {
		lower := keywordField(FieldNameLower(l), func(r *calendar.Record) string {
			name, _ := r.Name(l)
			return htmltext.NameKey(name)
		}, "name")
		key := keywordField(FieldNameKey(l), func(r *calendar.Record) string {
			name, _ := r.Name(l)
			return Fold(name)
		}, "name")
		description := keywordField(FieldDescriptionKey(l), func(r *calendar.Record) string {
			text, _ := r.Fields.Text("description").In(l, r.Home)
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

func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func keywordField(name string, keyword func(*calendar.Record) string, from ...string) Field {
	return Field{Name: name, Type: TypeKeyword, From: from, keyword: keyword}
}

func stringField(name string) Field {
	return keywordField(name, func(r *calendar.Record) string { return r.Fields.String(name) }, name)
}

// numberField is a field of one number or none.
func numberField(name string, number func(*calendar.Record) (n int64, has bool), from ...string) Field {
	return Field{Name: name, Type: TypeNumber, From: from, numbers: func(r *calendar.Record) []int64 {
		if n, has := number(r); has {
			return []int64{n}
		}
		return nil
	}}
}

func linkField(name string) Field {
	return numberField(name, func(r *calendar.Record) (int64, bool) {
		id := r.Fields.ID(name)
		return int64(id), id != 0
	}, name)
}

func linksField(name string) Field {
	return Field{Name: name, Type: TypeNumber, From: []string{name}, numbers: func(r *calendar.Record) (out []int64) {
		for _, id := range r.Fields.IDs(name) {
			if !slices.Contains(out, int64(id)) { // a record may name one twice
				out = append(out, int64(id))
			}
		}
		return out
	}}
}

func wallField(name string) Field {
	f := numberField(name, func(r *calendar.Record) (int64, bool) {
		w := r.Fields.Wall(name)
		return int64(w), w != calendar.NoWall
	}, name)
	f.Sort = true
	return f
}

// lackField is the id of documents that have no wall clock in a field.
func lackField(name string) Field {
	f := numberField(FieldLack(name), func(r *calendar.Record) (int64, bool) {
		return int64(r.ID), r.Fields.Wall(name) == calendar.NoWall
	}, name)
	f.Sort = true
	return f
}

func textField(name, from string, text func(*calendar.Record) calendar.Text) Field {
	return Field{Name: name, Type: TypeText, From: []string{from}, text: text}
}

func nameField(from string) Field {
	return textField(TextName, from, func(r *calendar.Record) calendar.Text { return r.Fields.Text(from) })
}

func htmlField(name string) Field {
	return textField(name, name, func(r *calendar.Record) calendar.Text {
		t := r.Fields.Text(name)
		for l := range t {
			t[l] = htmltext.PlainText(t[l])
		}
		return t
	})
}

func details(names ...string) (fields []Field) {
	for _, name := range names {
		fields = append(fields, textField(name, name, func(r *calendar.Record) (t calendar.Text) {
			t[r.Home] = r.Fields.String(name)
			return t
		}))
	}
	return fields
}

// Fingerprint names the schemas and the analysis: what an engine keeps under
// another one has to be rebuilt.
func Fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, AnalysisVersion)
	for _, s := range schemas[calendar.KindEvent:] {
		for _, f := range s.Fields {
			fmt.Fprintln(h, s.Kind, f.Name, f.Type, f.Sort, f.From)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
