package calendar

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

//go:embed fields.txt
var fieldTables string

// specs are the field tables of all kinds; they are never changed.
var specs = readSpecs(fieldTables)

// The words of the field tables, in the order of their constants.
var (
	typeWords  = strings.Fields("- string text bool number id ids strings wall")
	formWords  = strings.Fields("none name detail html slug date status word zone bool cost url event_url email image terms links author parent degrees password language")
	emptyWords = strings.Fields("refused clears null")
	shownWords = strings.Fields("- never text name html time moment status word zone bool id author coordinate region cost website image terms posts first")
)

// The limits of interface 9: of elements of a list, links of an event and cost
// values; and of a password and of the name of a term, in characters.
const (
	MaxElements = 1000
	MaxPassword = 255
	maxName     = 1000
)

// forms are the rows of all forms, of which other rows say how they differ.
var forms []Field

// readSpecs reads the field tables: a line of one word is a kind, or "forms"; the others are
// its fields.
func readSpecs(text string) (tables [KindUser + 1]*Spec) {
	var kind Kind
	var fields [KindUser + 1][]Field
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case len(words) == 1:
			kind, _ = ParseKind(words[0])
		case kind == 0:
			forms = append(forms, ReadField(line))
		default:
			fields[kind] = append(fields[kind], ReadField(line))
		}
	}
	for k := KindEvent; k <= KindUser; k++ {
		tables[k] = newSpec(k, fields[k])
	}
	return tables
}

// ReadField reads the row of a field: its name, its form and what is not that of the form. A
// word that the tables cannot have is a mistake in them.
func ReadField(row string) (field Field) {
	words := strings.Fields(row)
	index := func(known []string, word string) int {
		i := slices.Index(known, word)
		if i < 0 {
			panic("fields.txt: " + row)
		}
		return i
	}
	if form := index(formWords, words[1]); form < len(forms) {
		field = forms[form]
	} else {
		field.Form = Form(form)
	}
	field.Name = words[0]
	flags := map[string]*bool{
		"required": &field.Required, "extension": &field.Extension, "not_by_slug": &field.NotBySlug, "initial": &field.Initial, "filled": &field.Filled, "stays": &field.Stays,
	}
	for _, word := range words[2:] {
		switch column, value, _ := strings.Cut(word, "="); column {
		case "stored":
			field.Stored = Type(index(typeWords, value))
		case "declared":
			field.Declared = strings.ReplaceAll(value, "_", " ")
		case "default":
			field.Default = value
		case "empty":
			field.Empty = Empty(index(emptyWords, value))
		case "max":
			field.Max, _ = strconv.Atoi(value)
		case "enum":
			field.Enum = strings.Split(value, ",")
		case "shown":
			field.Shown = Display(index(shownWords, value))
		case "links":
			field.Links = Kind(index(kindNames[:], value))
		default:
			*flags[column] = true
		}
	}
	return field
}

// newSpec makes the table of some fields.
func newSpec(kind Kind, fields []Field) *Spec {
	spec := &Spec{Kind: kind, Fields: fields, byName: make(map[string]*Field, len(fields))}
	for i := range fields {
		field := &fields[i]
		spec.byName[field.Name] = field
		if field.Stored != 0 {
			spec.stored = append(spec.stored, field)
		}
		if field.Stored == TypeText {
			spec.texts = append(spec.texts, field.Name)
		}
	}
	slices.SortFunc(spec.stored, func(a, b *Field) int { return strings.Compare(a.Name, b.Name) })
	return spec
}
