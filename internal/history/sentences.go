package history

import (
	"cmp"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"daybook/calendar"
	"daybook/internal/texts"
)

// maxQuoted is how much of a text or a name a sentence quotes, in characters.
const maxQuoted = 100

// Names returns the name of a linked record in the language of a sentence, "" where it has
// none or is not shown.
type Names func(calendar.ID) string

// phrasing is how sentences are written.
type phrasing struct {
	lang  calendar.Lang
	names Names
	html  bool // as pages write them (PAGES.md P2.6)
}

// quote puts a text in quotation marks, in HTML in an element of its own direction.
func (p phrasing) quote(s string) string {
	n := 0
	for i := range s {
		if n == maxQuoted {
			s = s[:i] + "…"
			break
		}
		n++
	}
	if p.html {
		return "<bdi>" + html.EscapeString(s) + "</bdi>"
	}
	return word("quote", p.lang, texts.Isolated(s))
}

func (p phrasing) colon() string {
	if p.html {
		return word("page.colon", p.lang)
	}
	return word("colon", p.lang)
}

// Label names the field of a change as pages do, and the language of its text where that is
// not the one of the record.
func (c *Change) Label(l calendar.Lang) string {
	return capitalized(c.label(phrasing{lang: l, html: true}))
}

// IsDay reports whether the value before or after the change is a date without a clock.
func (c *Change) IsDay(after bool) bool {
	return c.isPeriod() && (after && c.allDay.after || !after && c.allDay.before)
}

// IsText reports whether the values are texts of several lines, in HTML.
func (c *Change) IsText() bool { return c.field.Form == calendar.FormHTML }

// Written returns a value of the change in a language, without quotation marks and in full;
// "" where there is none.
func (c *Change) Written(v any, l calendar.Lang) string {
	switch v := v.(type) {
	case []string:
		return inList(v, l)
	case []calendar.ID:
		return c.linked(v, l)
	case calendar.ID:
		if c.field.Form == calendar.FormParent {
			return c.linked([]calendar.ID{v}, l)
		}
	case string:
		if _, ok := c.status(v); !ok {
			return v
		}
	case bool:
		if c.field.Form == calendar.FormPassword {
			return word("password.came", l)
		}
	}
	return c.value(v, phrasing{lang: l, names: c.names})
}

func (c *Change) linked(ids []calendar.ID, l calendar.Lang) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = cmp.Or(c.names(id), "#"+id.String())
	}
	return inList(out, l)
}

// inList joins parts.
func inList(parts []string, l calendar.Lang) string {
	if len(parts) == 1 {
		return parts[0]
	}
	out := make([]string, len(parts))
	for i, text := range parts {
		out[i] = texts.Isolated(text)
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

// describe writes the sentence of the change in a language (HISTORY 6.2).
func (c *Change) describe(l calendar.Lang, names Names) {
	c.names = names
	p := phrasing{lang: l, names: names}
	c.Sentence = c.label(p) + p.colon() + c.phrase(p)
}

func (c *Change) label(p phrasing) string {
	label := labelOf(c.kind, c.field, p.lang)
	if c.Field == "cost" && p.html {
		label = word("page.cost", p.lang)
	}
	return label + c.selector()
}

// selector names the language of a text that is not the home language of the record.
func (c *Change) selector() string {
	if c.Language == "" || c.Language == c.home.String() {
		return ""
	}
	return " (" + c.Language + ")"
}

// step says whether a value came, turned into another one or went.
func (c *Change) step() string {
	switch {
	case c.Before == nil:
		return ".came"
	case c.After == nil:
		return ".went"
	}
	return ".turned"
}

func (c *Change) phrase(p phrasing) string {
	switch {
	case c.field.Stored == calendar.TypeIDs:
		added, removed := c.links(p)
		return linksPhrase(added, removed, p)
	case c.field.Form == calendar.FormHTML:
		return word("text"+c.step(), p.lang)
	case c.field.Form == calendar.FormPassword:
		return word("password"+c.step(), p.lang)
	}
	return word("value"+c.step(), p.lang, c.value(c.After, p), c.value(c.Before, p))
}

// links names the records that came and those that went.
func (c *Change) links(p phrasing) (added, removed string) {
	before, _ := c.Before.([]calendar.ID)
	after, _ := c.After.([]calendar.ID)
	return linked(without(after, before), p), linked(without(before, after), p)
}

func linksPhrase(added, removed string, p phrasing) string {
	var parts []string
	for _, part := range [...][2]string{{"links.added", added}, {"links.removed", removed}} {
		if part[1] != "" {
			parts = append(parts, word(part[0], p.lang, part[1]))
		}
	}
	if parts == nil {
		return word("links.order", p.lang)
	}
	return strings.Join(parts, word("comma", p.lang))
}

// pageSentence describes the change as pages do (docs/spec/pages.md P2.6).
func (c *Change) pageSentence(p phrasing) string {
	label, key := c.label(p), "page"+c.step()
	after, before := c.value(c.After, p), c.value(c.Before, p)
	switch {
	case c.field.Stored == calendar.TypeIDs:
		switch added, removed := c.links(p); {
		case removed == "" && added != "":
			return word("page.links.added", p.lang, label, added)
		case added == "" && removed != "":
			return word("page.links.removed", p.lang, label, removed)
		}
		return label + p.colon() + c.phrase(p)
	case c.field.Form == calendar.FormHTML:
		return word("page."+c.Field+c.step(), p.lang, c.selector())
	case c.field.Form == calendar.FormPassword:
		return label + p.colon() + c.phrase(p)
	case c.isPeriod():
		if c.step() == ".turned" {
			key = "page.moved"
		}
		if a, b := c.periods(p); a != b {
			after, before = a, b
		}
	}
	return word(key, p.lang, label, after, before)
}

// isPeriod reports whether the field is the start or the end of an event.
func (c *Change) isPeriod() bool { return c.Field == "start_date" || c.Field == "end_date" }

// periods writes start or end after and before: without the clock of an all-day event, and
// without the day where both have a clock on the same one.
func (c *Change) periods(p phrasing) (after, before string) {
	from, isFrom := c.Before.(calendar.Wall)
	to, isTo := c.After.(calendar.Wall)
	sameDay := isFrom && isTo && !c.IsDay(false) && !c.IsDay(true) && dayOf(from, p.lang) == dayOf(to, p.lang)
	write := func(w calendar.Wall, is, day bool) string {
		switch {
		case !is:
			return ""
		case day:
			return dayOf(w, p.lang)
		case sameDay:
			return clockOf(w)
		}
		return wall(w, p.lang)
	}
	return write(to, isTo, c.IsDay(true)), write(from, isFrom, c.IsDay(false))
}

// without returns the ids that others lack, in their order.
func without(ids, others []calendar.ID) []calendar.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool { return slices.Contains(others, id) })
}

// linked names records, "" for none.
func linked(ids []calendar.ID, p phrasing) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = "#" + id.String()
		if name := p.names(id); name != "" {
			out[i] = p.quote(name)
		}
	}
	return strings.Join(out, word("list", p.lang))
}

// value is a value in a sentence (HISTORY 6.3).
func (c *Change) value(v any, p phrasing) string {
	switch v := v.(type) {
	case bool:
		if v {
			return word("yes", p.lang)
		}
		return word("no", p.lang)
	case float64:
		return Number(v)
	case calendar.Wall:
		return wall(v, p.lang)
	case calendar.ID:
		if c.field.Form == calendar.FormParent {
			return linked([]calendar.ID{v}, p)
		}
		return "#" + v.String()
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = p.quote(s)
		}
		return strings.Join(quoted, word("list", p.lang))
	case string:
		if status, ok := c.status(v); ok {
			return status[p.lang]
		}
		return p.quote(v)
	default:
		return ""
	}
}

// status returns the text of a value of status or event_status.
func (c *Change) status(v string) (calendar.Text, bool) {
	text, ok := texts.Sentences["status."+v]
	return text, ok && (c.field.Form == calendar.FormStatus || c.field.Form == calendar.FormWord)
}

// Number writes a number as JSON does.
func Number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// wall writes a wall clock.
func wall(w calendar.Wall, l calendar.Lang) string { return dayOf(w, l) + " " + clockOf(w) }

// dayOf writes a day without leading zeros.
func dayOf(w calendar.Wall, l calendar.Lang) string {
	t := w.UTC()
	return word("date", l, strconv.Itoa(t.Day()), word("month."+strconv.Itoa(int(t.Month())), l), strconv.Itoa(t.Year()))
}

// clockOf writes a time of day, without seconds where they are 0.
func clockOf(w calendar.Wall) string {
	t := w.UTC()
	if t.Second() != 0 {
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}

// Summary describes an entry in one line (HISTORY 6.1): of an update all sentences, of what
// came to be the name, "" for none.
func Summary(a Action, name string, sentences []string, l calendar.Lang) string {
	return phrasing{lang: l}.summary(a, name, sentences)
}

func (p phrasing) summary(a Action, name string, sentences []string) string {
	text := word("action."+string(a), p.lang)
	switch a {
	case Created, Published:
		if name != "" {
			text += p.colon() + p.quote(name)
		}
	case Updated:
		if len(sentences) > 0 {
			text += p.colon() + strings.Join(sentences, word("semicolon", p.lang))
		}
	case Trashed, Restored, Deleted, Erased:
	}
	return text
}

// maxSentences is how many changes of an entry pages describe one by one.
const maxSentences = 3

// SummaryHTML describes an entry as pages do (docs/spec/pages.md P2.6): of an update a
// sentence for each change, of many the first ones and how many there are more.
func (e *Entry) SummaryHTML(l calendar.Lang) string {
	p := phrasing{lang: l, html: true}
	switch {
	case e.Redacted != nil:
		return p.complete(BlankSummary(l))
	case e.Action != Updated || len(e.Changes) == 0:
		return p.complete(p.summary(e.Action, e.Name, nil))
	}
	var sentences []string
	for i := range e.Changes[:min(len(e.Changes), maxSentences)] {
		p.names = e.Changes[i].names
		sentences = append(sentences, p.complete(e.Changes[i].pageSentence(p)))
	}
	if more := len(e.Changes) - maxSentences; more > 0 {
		key := "page.more.other"
		if more == 1 {
			key = "page.more.one"
		}
		sentences = append(sentences, p.complete(word(key, l, strconv.Itoa(more))))
	}
	if l == calendar.LangCN {
		return strings.Join(sentences, "")
	}
	return strings.Join(sentences, " ")
}

// complete makes a sentence begin with a capital letter and end with a full stop.
func (p phrasing) complete(s string) string {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(s, "</bdi>"))
	if !strings.ContainsRune(".。…!?", last) {
		s += word("page.stop", p.lang)
	}
	return capitalized(s)
}

func capitalized(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
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
