package readmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

// Type is how a field of the index is kept and asked for.
type Type uint8

// The types, with the filters that take them.
const (
	TypeKeyword  Type = iota + 1 // Term, Contains, Exists
	TypeBool                     // Term
	TypeIDs                      // In, Counts, Exists
	TypeNumber                   // Range, Exists
	TypeText                     // Text
	TypeComputed                 // In, Range, Exists: a number that follows from Times
)

// Field is one field of the index: its type and how it is made from a record.
type Field struct {
	Name string
	Type Type
	Sort bool     // a Sort may name it
	From []string // the rows of the field table that it is made from

	keyword func(*calendar.Record) string // "": no value
	boolean func(*calendar.Record) bool
	ids     func(*calendar.Record) []calendar.ID
	number  func(*calendar.Record) (int64, bool)
	compute func(Times) (int64, bool)
	text    func(*calendar.Record) calendar.Text
}

// Keyword returns the value of a keyword field, "" when there is none.
func (f *Field) Keyword(r *calendar.Record) string { return f.keyword(r) }

// Bool returns the value of a boolean field.
func (f *Field) Bool(r *calendar.Record) bool { return f.boolean(r) }

// IDs returns the values of an id field; they must not be changed.
func (f *Field) IDs(r *calendar.Record) []calendar.ID { return f.ids(r) }

// Number returns the value of a number and whether there is one.
func (f *Field) Number(r *calendar.Record) (int64, bool) {
	if f.compute != nil {
		return f.compute(timesOf(r))
	}
	return f.number(r)
}

// Compute returns the value of a computed number from what it follows from, so that an
// index that has the times at hand need not keep it.
func (f *Field) Compute(t Times) (int64, bool) { return f.compute(t) }

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

// Field finds a field by name, nil when there is none.
func (s *Schema) Field(name string) *Field { return s.byName[name] }

// Texts returns the names of all text fields: where a search of the kind looks
// (interface 4.7).
func (s *Schema) Texts() []string {
	var out []string
	for i := range s.Fields {
		if s.Fields[i].Type == TypeText {
			out = append(out, s.Fields[i].Name)
		}
	}
	return out
}

// SchemaOf returns the schema of a kind, nil for an unknown kind. Images and users
// are kept by id only.
func SchemaOf(k calendar.Kind) *Schema {
	if int(k) >= len(schemas) {
		return nil
	}
	return schemas[k]
}

var schemas = func() (all [calendar.KindUser + 1]*Schema) {
	for _, s := range []*Schema{
		eventSchema(), venueSchema(), organizerSchema(),
		termSchema(calendar.KindCategory), termSchema(calendar.KindTag),
		{Kind: calendar.KindImage, Fields: []Field{idField()}},
		{Kind: calendar.KindUser, Fields: []Field{idField()}},
	} {
		s.byName = make(map[string]*Field, len(s.Fields))
		for i := range s.Fields {
			s.byName[s.Fields[i].Name] = &s.Fields[i]
		}
		all[s.Kind] = s
	}
	return all
}()

func eventSchema() *Schema {
	fields := append(
		postFields(calendar.KindEvent),
		idsField(FieldCategories), idsField(FieldTags), idsField(FieldVenue), idsField(FieldOrganizer),
		oneIDField(FieldPostParent),
		boolField(FieldHidden), boolField(FieldFeatured), boolField(FieldTicketed), boolField(FieldProtected), boolField(FieldAllDay),
		wallField(FieldStart), wallField(FieldEnd), wallField(FieldUTCStart), wallField(FieldUTCEnd), wallField(FieldModified),
		Field{Name: FieldEventStatus, Type: TypeKeyword, From: []string{FieldEventStatus}, keyword: func(r *calendar.Record) string { return string(r.Fields.EventStatus()) }},
		costField(), languagesField(), zoneField(), repeatsField(),
		titleKey(calendar.LangEN), titleKey(calendar.LangFR), titleKey(calendar.LangES), titleKey(calendar.LangCN),
		computedField(FieldMonth, month, "start_date"), computedField(FieldWeekday, weekday, "start_date"),
		computedField(FieldMinute, minute, "start_date", "all_day"),
		computedField(FieldDuration, duration, "start_date", "end_date", "utc_start_date", "utc_end_date", "all_day"),
	)
	return &Schema{Kind: calendar.KindEvent, Fields: fields}
}

func venueSchema() *Schema {
	fields := postFields(calendar.KindVenue)
	for _, name := range []string{
		TextAddress, TextCity, TextCountry, TextProvince, TextState, TextStateProv, TextZip, TextPhone, TextWebsite,
	} {
		fields = append(fields, detailField(name))
	}
	return &Schema{Kind: calendar.KindVenue, Fields: fields}
}

func organizerSchema() *Schema {
	fields := append(postFields(calendar.KindOrganizer), detailField(TextPhone), detailField(TextEmail), detailField(TextWebsite))
	return &Schema{Kind: calendar.KindOrganizer, Fields: fields}
}

// postFields are the fields that all posts have.
func postFields(k calendar.Kind) []Field {
	return []Field{
		idField(), oneIDField(FieldAuthor),
		stringField(FieldStatus, false), stringField(FieldFormerStatus, false),
		wallField(FieldDate), wallField(FieldPublished),
		nameField(k), htmlField(TextDescription), htmlField(TextExcerpt),
	}
}

func termSchema(k calendar.Kind) *Schema {
	fields := []Field{idField(), stringField(FieldSlug, true), nameField(k)}
	if k == calendar.KindCategory {
		fields = append(fields, oneIDField(FieldParent))
	}
	for _, l := range calendar.Langs {
		fields = append(
			fields,
			Field{
				Name: FieldNameLower(l), Type: TypeKeyword, From: []string{"name"},
				keyword: func(r *calendar.Record) string {
					name, _ := r.Name(l)
					return htmltext.NameKey(name)
				},
			},
			Field{
				Name: FieldNameKey(l), Type: TypeKeyword, Sort: true, From: []string{"name"},
				keyword: func(r *calendar.Record) string {
					name, _ := r.Name(l)
					return Fold(name)
				},
			},
			Field{
				Name: FieldDescriptionKey(l), Type: TypeKeyword, Sort: true, From: []string{"description"},
				keyword: func(r *calendar.Record) string {
					text, _ := r.Fields.Text("description").In(l, r.Home)
					return descriptionKeyStart + firstRunes(Fold(htmltext.PlainText(text)), descriptionKeyRunes)
				},
			},
		)
	}
	return &Schema{Kind: k, Fields: fields}
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

func idField() Field {
	return Field{
		Name: FieldID, Type: TypeIDs, Sort: true,
		ids:    func(r *calendar.Record) []calendar.ID { return []calendar.ID{r.ID} },
		number: func(r *calendar.Record) (int64, bool) { return int64(r.ID), true },
	}
}

func idsField(name string) Field {
	return Field{
		Name: name, Type: TypeIDs, From: []string{name},
		ids: func(r *calendar.Record) []calendar.ID { return r.Fields.IDs(name) },
	}
}

func oneIDField(name string) Field {
	return Field{
		Name: name, Type: TypeIDs, From: []string{name},
		ids: func(r *calendar.Record) []calendar.ID {
			if id := r.Fields.ID(name); id != 0 {
				return []calendar.ID{id}
			}
			return nil
		},
	}
}

func stringField(name string, sort bool) Field {
	return Field{
		Name: name, Type: TypeKeyword, Sort: sort, From: []string{name},
		keyword: func(r *calendar.Record) string { return r.Fields.String(name) },
	}
}

func boolField(name string) Field {
	return Field{
		Name: name, Type: TypeBool, From: []string{name},
		boolean: func(r *calendar.Record) bool { return r.Fields.Bool(name) },
	}
}

func wallField(name string) Field {
	return Field{
		Name: name, Type: TypeNumber, Sort: true, From: []string{name},
		number: func(r *calendar.Record) (int64, bool) {
			w := r.Fields.Wall(name)
			return int64(w), w != calendar.NoWall
		},
	}
}

func nameField(k calendar.Kind) Field {
	name := k.NameField()
	return Field{
		Name: TextName, Type: TypeText, From: []string{name},
		text: func(r *calendar.Record) calendar.Text { return r.Fields.Text(name) },
	}
}

func htmlField(name string) Field {
	return Field{
		Name: name, Type: TypeText, From: []string{name},
		text: func(r *calendar.Record) calendar.Text {
			t := r.Fields.Text(name)
			for l := range t {
				t[l] = htmltext.PlainText(t[l])
			}
			return t
		},
	}
}

func detailField(name string) Field {
	return Field{
		Name: name, Type: TypeText, From: []string{name},
		text: func(r *calendar.Record) (t calendar.Text) {
			t[r.Home] = r.Fields.String(name)
			return t
		},
	}
}

// Fingerprint names the schemas and the analysis: what an engine keeps under
// another one has to be rebuilt.
func Fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, AnalysisVersion)
	for _, s := range schemas {
		if s == nil {
			continue
		}
		for i := range s.Fields {
			f := &s.Fields[i]
			fmt.Fprintln(h, s.Kind, f.Name, f.Type, f.Sort, f.From)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Check reports whether a query fits the schema of its kind: known fields of the
// type that each filter takes, sortable fields, no negative offset or limit. An
// engine refuses a query that does not with this error, ErrQuery.
func Check(q Query) error {
	s := SchemaOf(q.Kind)
	if s == nil {
		return fmt.Errorf("%w: kind %d", ErrQuery, q.Kind)
	}
	if q.Offset < 0 || q.Limit < 0 {
		return fmt.Errorf("%w: offset %d, limit %d", ErrQuery, q.Offset, q.Limit)
	}
	for i, k := range q.Sort {
		f := s.Field(k.Field)
		switch {
		case k.Rank != nil && i == 0 && k.Field == "" && k.Desc && !k.Tail && k.Least == nil:
			if err := k.Rank.check(s); err != nil {
				return err
			}
		case f != nil && k.Least != nil && i == 0 && !k.Tail && f.Type == TypeIDs && f.Name != FieldID:
		case f == nil || k.Rank != nil || k.Least != nil || !f.Sort || k.Tail && f.Type != TypeNumber || q.After != nil && f.Type == TypeKeyword:
			return fmt.Errorf("%w: %s cannot be sorted by %q", ErrQuery, q.Kind.Collection(), k.Field)
		}
	}
	if n := len(q.After); q.After != nil && (n == 0 || n != len(q.Sort) || q.Sort[n-1].Field != FieldID || !q.After[n-1].Has || q.Offset != 0) {
		return fmt.Errorf("%w: no place in the order", ErrQuery)
	}
	if c := q.Collapse; c != nil {
		if Searches(c.Alone) || q.After != nil {
			return fmt.Errorf("%w: a group is told by no search, and has no place in the order", ErrQuery)
		}
		if err := s.check(c.Alone); err != nil {
			return err
		}
		if err := s.want(c.Field, TypeNumber); err != nil || q.Kind != calendar.KindEvent {
			return fmt.Errorf("%w: %s are not collapsed by %q", ErrQuery, q.Kind.Collection(), c.Field)
		}
	}
	if err := s.checkTallies(q.Tallies); err != nil {
		return err
	}
	if err := s.check(q.Narrow); err != nil {
		return err
	}
	return s.check(q.Filter)
}

// CheckCounts is Check for Index.Counts.
func CheckCounts(k calendar.Kind, field string, f Filter) error {
	if err := Check(Query{Kind: k, Filter: f}); err != nil {
		return err
	}
	return SchemaOf(k).want(field, TypeIDs)
}

func (s *Schema) check(f Filter) error {
	switch f := f.(type) {
	case nil:
		return nil
	case And:
		return s.checkAll(f)
	case Or:
		return s.checkAll(f)
	case Not:
		if f.Filter == nil {
			return fmt.Errorf("%w: empty part", ErrQuery)
		}
		return s.check(f.Filter)
	case Term:
		if field := s.Field(f.Field); field != nil && field.Type == TypeBool && f.Value != "true" && f.Value != "false" {
			return fmt.Errorf("%w: %q is no value of %s", ErrQuery, f.Value, f.Field)
		}
		return s.want(f.Field, TypeKeyword, TypeBool)
	case In:
		return s.want(f.Field, TypeIDs, TypeComputed)
	case Range:
		return s.want(f.Field, TypeNumber, TypeComputed)
	case Contains:
		return s.wantAll(f.Fields, TypeKeyword)
	case Text:
		if l := f.Search.Lang; int(l) >= len(calendar.Langs) {
			return fmt.Errorf("%w: language %d", ErrQuery, l)
		}
		if f.Typos < 0 || f.Typos > MaxTypos {
			return fmt.Errorf("%w: %d typos", ErrQuery, f.Typos)
		}
		if !f.Search.Within() {
			return fmt.Errorf("%w: a search of more than %d words", ErrQuery, MaxWords)
		}
		if texts := s.Texts(); len(texts) == 0 || !slices.Equal(f.Fields, texts) && !slices.Equal(f.Fields, texts[:1]) {
			return fmt.Errorf("%w: %s are not searched in %q", ErrQuery, s.Kind.Collection(), f.Fields)
		}
		return nil
	case Exists:
		return s.want(f.Field, TypeKeyword, TypeIDs, TypeNumber, TypeComputed)
	default:
		return fmt.Errorf("%w: filter %T", ErrQuery, f)
	}
}

func (s *Schema) checkAll(parts []Filter) error {
	for _, f := range parts {
		if f == nil {
			return fmt.Errorf("%w: empty part", ErrQuery)
		}
		if err := s.check(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) wantAll(names []string, types ...Type) error {
	for _, name := range names {
		if err := s.want(name, types...); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) want(name string, types ...Type) error {
	if f := s.Field(name); f != nil {
		if slices.Contains(types, f.Type) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s have no such field %q for this filter", ErrQuery, s.Kind.Collection(), name)
}
