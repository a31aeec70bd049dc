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
	formWords  = strings.Fields("none name detail html slug date status word zone bool cost url event_url email image terms links author parent latitude longitude password language")
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
func ReadField(row string) (f Field) {
	words := strings.Fields(row)
	index := func(known []string, word string) int {
		i := slices.Index(known, word)
		if i < 0 {
			panic("fields.txt: " + row)
		}
		return i
	}
	if form := index(formWords, words[1]); form < len(forms) {
		f = forms[form]
	} else {
		f.Form = Form(form)
	}
	f.Name = words[0]
	flags := map[string]*bool{
		"required": &f.Required, "extension": &f.Extension, "not_by_slug": &f.NotBySlug, "initial": &f.Initial, "filled": &f.Filled, "stays": &f.Stays,
	}
	for _, word := range words[2:] {
		switch column, value, _ := strings.Cut(word, "="); column {
		case "stored":
			f.Stored = Type(index(typeWords, value))
		case "declared":
			f.Declared = strings.ReplaceAll(value, "_", " ")
		case "default":
			f.Default = value
		case "empty":
			f.Empty = Empty(index(emptyWords, value))
		case "max":
			f.Max, _ = strconv.Atoi(value)
		case "enum":
			f.Enum = strings.Split(value, ",")
		case "shown":
			f.Shown = Shown(index(shownWords, value))
		case "links":
			f.Links = Kind(index(kindNames[:], value))
		default:
			*flags[column] = true
		}
	}
	return f
}

// newSpec makes the table of some fields.
func newSpec(k Kind, fields []Field) *Spec {
	s := &Spec{Kind: k, Fields: fields, byName: make(map[string]*Field, len(fields))}
	for i := range fields {
		f := &fields[i]
		s.byName[f.Name] = f
		if f.Stored != 0 {
			s.stored = append(s.stored, f)
		}
		if f.Stored == TypeText {
			s.texts = append(s.texts, f.Name)
		}
	}
	slices.SortFunc(s.stored, func(a, b *Field) int { return strings.Compare(a.Name, b.Name) })
	return s
}
