package readmodel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// Field is one field of the index and how it is made from a record: by one of Keyword, Numbers
// and Text, which says what filters take it.
type Field struct {
	Name string
	Sort bool // a Sort may name it

	// Keyword returns the one text that the field has, "" for none: Term, Contains.
	Keyword func(*calendar.Record) string
	// Numbers returns any number of values, ids too, each once: In, Range.
	Numbers func(*calendar.Record) []int64
	// Text returns the plain text in each language. A field that is not translatable has its
	// text in the home language of the record: that is shown, and analysed, whatever the
	// language of the request.
	Text func(*calendar.Record) calendar.Text
}

// Schema is what the index keeps of the records of a kind.
type Schema struct {
	Kind   calendar.Kind
	Fields []Field
	// Texts are the names of all text fields: where a search of the kind looks
	// (interface 4.7).
	Texts []string

	byName map[string]*Field
}

// Field finds a field by name, nil if none exists.
func (schema *Schema) Field(name string) *Field { return schema.byName[name] }

// SchemaOf returns the schema of a kind, nil for one that has no documents.
func SchemaOf(kind calendar.Kind) *Schema { return schemas[kind] }

var schemas = func() (all [1 << 8]*Schema) { // by kind
	for _, kind := range calendar.Kinds {
		schema := &Schema{Kind: kind, Fields: derivedFields(kind), byName: map[string]*Field{}}
		for name := range strings.FieldsSeq(storedNames[kind]) {
			schema.Fields = append(schema.Fields, storedField(kind, name))
		}
		for i := range schema.Fields {
			field := &schema.Fields[i]
			if schema.byName[field.Name] = field; field.Text != nil {
				schema.Texts = append(schema.Texts, field.Name)
			}
		}
		all[kind] = schema
	}
	return all
}()

// storedNames are the rows of the field tables that lists filter, order or search by;
// TextName is the one of the name.
var storedNames = [...]string{
	calendar.KindEvent: ofPosts + "categories tags venue organizer post_parent start_date end_date utc_start_date utc_end_date modified_utc event_status " +
		"hide_from_listings featured ticketed protected all_day",
	calendar.KindVenue:     ofPosts + "address city country province state stateprovince zip phone website",
	calendar.KindOrganizer: ofPosts + "phone email website",
	calendar.KindCategory:  "slug name parent",
	calendar.KindTag:       "slug name",
}

const ofPosts = "author status date date_utc name description excerpt "

// storedField is the field of a row of the field table of a kind.
func storedField(kind calendar.Kind, name string) Field {
	spec := calendar.SpecOf(kind)
	row := spec.Field(name)
	if name == TextName {
		row = spec.Field(kind.NameField())
	}
	field := Field{Name: name, Sort: name == FieldSlug || row.Stored == calendar.TypeWall}
	switch row.Form {
	case calendar.FormName, calendar.FormHTML, calendar.FormDetail, calendar.FormURL, calendar.FormEmail:
		field.Text = func(record *calendar.Record) calendar.Text {
			text := record.Fields.Text(row.Name)
			if row.Stored == calendar.TypeString {
				text[record.Home] = record.Fields.String(row.Name)
			}
			for language := range text {
				if row.Form == calendar.FormHTML {
					text[language] = htmltext.PlainText(text[language])
				}
			}
			return text
		}
	default:
		switch row.Stored {
		case calendar.TypeString, calendar.TypeBool:
			standard := ""
			if row.Enum != nil {
				standard = row.Enum[0]
			}
			field.Keyword = func(record *calendar.Record) string {
				if record.Fields.Bool(row.Name) {
					return "true"
				}
				return cmp.Or(record.Fields.String(row.Name), standard)
			}
		default:
			field.Numbers = func(record *calendar.Record) []int64 { return numbersOf(record.Fields[row.Name]) }
		}
	}
	return field
}

// numbersOf returns the numbers of a stored value, each once.
func numbersOf(value any) (numbers []int64) {
	switch value := value.(type) {
	case calendar.ID:
		if value != 0 {
			numbers = append(numbers, int64(value))
		}
	case calendar.Wall:
		if value != calendar.NoWall {
			numbers = append(numbers, int64(value))
		}
	case []calendar.ID:
		for _, id := range value {
			if !slices.Contains(numbers, int64(id)) { // a record may name one twice
				numbers = append(numbers, int64(id))
			}
		}
	}
	return numbers
}

// derivedFields are the fields of a kind that are no row of its field table.
func derivedFields(kind calendar.Kind) []Field {
	fields := []Field{{Name: FieldID, Sort: true, Numbers: idOf}}
	if kind == calendar.KindEvent {
		fields = append(fields,
			lackField(FieldPublished), lackField(FieldModified), ofStart(FieldMonth, MonthOf),
			ofStart(FieldWeekday, func(start time.Time) int64 { return int64(start.Weekday()+6)%7 + 1 }),
			ofStart(FieldMinute, func(start time.Time) int64 { return int64(60*start.Hour() + start.Minute()) }),
			Field{Name: FieldCost, Numbers: lowestCost}, Field{Name: FieldRepeats, Numbers: repeats},
			Field{Name: FieldDuration, Numbers: duration}, Field{Name: FieldLanguages, Numbers: languagesOf},
		)
	}
	for _, language := range calendar.Langs {
		name := func(record *calendar.Record) string {
			text, _ := record.Name(language)
			return text
		}
		switch {
		case kind == calendar.KindEvent:
			fields = append(fields, Field{Name: FieldTitleKey.In(language), Numbers: func(record *calendar.Record) []int64 { return keyNumber(FoldTitle(name(record))) }})
		case kind.IsTerm():
			fields = append(fields,
				Field{Name: FieldNameLower.In(language), Keyword: func(record *calendar.Record) string { return htmltext.NameKey(name(record)) }},
				Field{Name: FieldNameKey.In(language), Sort: true, Keyword: func(record *calendar.Record) string { return Fold(name(record)) }},
				Field{Name: FieldDescriptionKey.In(language), Sort: true, Keyword: func(record *calendar.Record) string {
					text, _ := record.Fields.Text("description").In(language, record.Home)
					// The first sign keeps the key of an empty one from being no value, so that it stands
					// before all others, and engines limit the length of a keyword.
					return "=" + firstRunes(Fold(htmltext.PlainText(text)), 256)
				}},
			)
		}
	}
	return fields
}

// firstRunes returns the first characters of a text.
func firstRunes(text string, count int) string {
	for i := range text {
		if count == 0 {
			return text[:i]
		}
		count--
	}
	return text
}

func idOf(record *calendar.Record) []int64 { return []int64{int64(record.ID)} }

// lackField is the id of documents that have no wall clock in a field.
func lackField(name string) Field {
	return Field{Name: FieldLack(name), Sort: true, Numbers: func(record *calendar.Record) []int64 {
		if record.Fields.Wall(name) != calendar.NoWall {
			return nil
		}
		return idOf(record)
	}}
}

// Fingerprint describes the schemas and names the analysis: what an engine keeps under
// another one has to be rebuilt.
func Fingerprint() string {
	fingerprint := fmt.Appendln(nil, AnalysisVersion)
	for _, kind := range calendar.Kinds {
		for _, field := range SchemaOf(kind).Fields {
			fingerprint = fmt.Appendln(fingerprint, kind, field.Name, field.Keyword != nil, field.Numbers != nil, field.Sort)
		}
	}
	return string(fingerprint)
}
