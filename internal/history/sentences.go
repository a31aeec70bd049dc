package history

import (
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/internal/texts"
)

// maxQuoted is how much of a text or a name a sentence quotes, in characters.
const maxQuoted = 100

// Names gives the name of a linked record in the language of a sentence, "" where it has
// none or is not shown.
type Names func(calendar.ID) string

// quote puts a text in quotation marks.
func quote(s string, l calendar.Lang) string {
	n := 0
	for i := range s {
		if n == maxQuoted {
			s = s[:i] + "…"
			break
		}
		n++
	}
	return word("quote", l, calendar.Isolated(s))
}

// Label names the field of a change in a language, and the language of its text where
// that is not the one of the record.
func (c *ToldChange) Label(k calendar.Kind, l calendar.Lang) string { return c.change.label(k, l) }

// IsText tells whether the values are texts of several lines, in HTML.
func (c *ToldChange) IsText() bool { return c.change.Field.Form == calendar.FormHTML }

// Written gives the value before or after the change in a language, without quotation
// marks and in full; "" where there is none.
func (c *ToldChange) Written(after bool, l calendar.Lang) string {
	v := c.Before
	if after {
		v = c.After
	}
	switch v := v.(type) {
	case nil:
		return ""
	case []string:
		return inList(v, l)
	case []calendar.ID:
		return c.linked(v, l)
	case calendar.ID:
		if c.change.Field.Form == calendar.FormParent {
			return c.linked([]calendar.ID{v}, l)
		}
	case string:
		if _, told := texts.Sentences["status."+v]; !told || c.change.Field.Form != calendar.FormStatus {
			return v
		}
	case bool:
		if c.change.Field.Form == calendar.FormPassword {
			return word("password.came", l)
		}
	}
	return c.change.value(v, l, c.names)
}

func (c *ToldChange) linked(ids []calendar.ID, l calendar.Lang) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		if out[i] = c.names(id); out[i] == "" {
			out[i] = "#" + id.String()
		}
	}
	return inList(out, l)
}

// inList joins texts.
func inList(texts []string, l calendar.Lang) string {
	if len(texts) == 1 {
		return texts[0]
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = calendar.Isolated(text)
	}
	return strings.Join(out, word("list", l))
}

// labelOf names a field of a kind in sentences.
func labelOf(k calendar.Kind, f *calendar.Field, l calendar.Lang) string {
	name := f.Name
	switch {
	case !k.IsPost() && !k.IsTerm():
		return name
	case f.Name == k.NameField() && k != calendar.KindEvent:
		name = "name" // "venue" of a venue
	}
	if label, ok := texts.Sentences["field."+name]; ok {
		return label[l]
	}
	return name
}

// Sentence tells the change of a record of a kind in a language (HISTORY 6.2).
func (c *Change) Sentence(k calendar.Kind, l calendar.Lang, names Names) string {
	return c.label(k, l) + word("colon", l) + c.phrase(l, names)
}

func (c *Change) label(k calendar.Kind, l calendar.Lang) string {
	label := labelOf(k, c.Field, l)
	if c.Field.Stored == calendar.TypeText && c.Lang != c.Home {
		label += " (" + c.Lang.String() + ")"
	}
	return label
}

func (c *Change) phrase(l calendar.Lang, names Names) string {
	step := ".turned"
	switch {
	case c.Before == nil:
		step = ".came"
	case c.After == nil:
		step = ".went"
	}
	switch {
	case c.Field.Stored == calendar.TypeIDs:
		return c.links(l, names)
	case c.Field.Form == calendar.FormHTML:
		return word("text"+step, l)
	case c.Field.Form == calendar.FormPassword:
		return word("password"+step, l)
	}
	return word("value"+step, l, c.value(c.After, l, names), c.value(c.Before, l, names))
}

// links tells which ids came and went.
func (c *Change) links(l calendar.Lang, names Names) string {
	before, _ := c.Before.([]calendar.ID)
	after, _ := c.After.([]calendar.ID)
	var parts []string
	add := func(key, ids string) {
		if ids != "" {
			parts = append(parts, word(key, l, ids))
		}
	}
	add("links.added", linked(without(after, before), l, names))
	add("links.removed", linked(without(before, after), l, names))
	if parts == nil {
		return word("links.order", l)
	}
	return strings.Join(parts, word("comma", l))
}

// without gives the ids that others lack, in their order.
func without(ids, others []calendar.ID) []calendar.ID {
	there := make(map[calendar.ID]bool, len(others))
	for _, id := range others {
		there[id] = true
	}
	var out []calendar.ID
	for _, id := range ids {
		if !there[id] {
			out = append(out, id)
		}
	}
	return out
}

// linked names records, "" for none.
func linked(ids []calendar.ID, l calendar.Lang, names Names) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = "#" + id.String()
		if name := names(id); name != "" {
			out[i] = quote(name, l)
		}
	}
	return strings.Join(out, word("list", l))
}

// value is a value in a sentence (HISTORY 6.3).
func (c *Change) value(v any, l calendar.Lang, names Names) string {
	switch v := v.(type) {
	case bool:
		if v {
			return word("yes", l)
		}
		return word("no", l)
	case float64:
		return Number(v)
	case calendar.Wall:
		return wall(v, l)
	case calendar.ID:
		if c.Field.Form == calendar.FormParent {
			return linked([]calendar.ID{v}, l, names)
		}
		return "#" + v.String()
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = quote(s, l)
		}
		return strings.Join(quoted, word("list", l))
	case string:
		if status, ok := texts.Sentences["status."+v]; ok && c.Field.Form == calendar.FormStatus {
			return status[l]
		}
		return quote(v, l)
	default:
		return ""
	}
}

// Number writes a number as JSON does.
func Number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// wall tells a wall clock: without leading zeros of day and month, without seconds where
// they are 0.
func wall(w calendar.Wall, l calendar.Lang) string {
	t := w.UTC()
	clock := "15:04"
	if t.Second() != 0 {
		clock = "15:04:05"
	}
	month := word("month."+strconv.Itoa(int(t.Month())), l)
	return word("date", l, strconv.Itoa(t.Day()), month, strconv.Itoa(t.Year())) + " " + t.Format(clock)
}

// Summary tells an entry in one line (HISTORY 6.1): of an update all sentences, of what
// came to be the name, "" for none.
func Summary(a Action, name string, sentences []string, l calendar.Lang) string {
	text := word("action."+string(a), l)
	switch a {
	case Created, Published:
		if name != "" {
			text += word("colon", l) + quote(name, l)
		}
	case Updated:
		if len(sentences) > 0 {
			text += word("colon", l) + strings.Join(sentences, word("semicolon", l))
		}
	case Trashed, Restored, Deleted, Erased:
	}
	return text
}

// BlankSummary is the Summary of a redacted entry.
func BlankSummary(l calendar.Lang) string { return word("blank", l) }

// NameOf is the name of a record in a language, "" for none; of a user his name.
func NameOf(r *calendar.Record, l calendar.Lang) string {
	if r.Kind == calendar.KindUser {
		return r.Fields.String("name")
	}
	name, _ := r.Name(l)
	return name
}
