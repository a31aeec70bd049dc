package history

import (
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

// Names are the names of linked records in the language of a sentence, of those that have one
// and are shown.
type Names map[calendar.ID]string

// phrasing is how sentences are written.
type phrasing struct {
	lang  calendar.Lang
	style style
}

type style uint8

const (
	inHistory style = iota // docs/spec/history.md 6
	onPage                 // HTML (docs/spec/pages.md P2.6)
	alone                  // a value without quotation marks, in full
)

// quote puts a text in quotation marks, in HTML in an element of its own direction.
func (p phrasing) quote(text string) string {
	if p.style == alone {
		return text
	}
	if letters := []rune(text); len(letters) > maxQuoted {
		text = string(letters[:maxQuoted]) + "…"
	}
	if p.style == onPage {
		return "<bdi>" + html.EscapeString(text) + "</bdi>"
	}
	return word("quote", p.lang, texts.Isolated(text))
}

// list joins the elements of a list.
func (p phrasing) list(parts []string) string {
	if p.style == alone && len(parts) > 1 {
		for i := range parts {
			parts[i] = texts.Isolated(parts[i])
		}
	}
	return strings.Join(parts, word("list", p.lang))
}

func (p phrasing) colon() string {
	if p.style == onPage {
		return word("page.colon", p.lang)
	}
	return word("colon", p.lang)
}

// Label names the field of a change as pages do, and the language of its text where that is
// not the one of the record.
func (c *Change) Label(lang calendar.Lang) string {
	return capitalized(c.label(phrasing{lang, onPage}))
}

// IsDay reports whether the value before or after the change is a date without a clock.
func (c *Change) IsDay(after bool) bool {
	return c.isPeriod() && (after && c.allDay.after || !after && c.allDay.before)
}

// IsText reports whether the values are texts of several lines, in HTML.
func (c *Change) IsText() bool { return c.field.Form == calendar.FormHTML }

// Written returns a value of the change in a language, without quotation marks and in full;
// "" if none exists.
func (c *Change) Written(value any, lang calendar.Lang) string {
	return c.value(value, phrasing{lang, alone})
}

// labelOf names a field of a kind in sentences.
func labelOf(kind calendar.Kind, field *calendar.Field, lang calendar.Lang) string {
	name := field.Name
	switch {
	case !kind.IsPost() && !kind.IsTerm():
		return name
	case field.Name == kind.NameField() && kind != calendar.KindEvent:
		name = "name" // "venue" of a venue
	}
	if label, ok := texts.Sentences["field."+name]; ok {
		return label[lang]
	}
	return name
}

// describe writes the sentence of the change in a language.
func (c *Change) describe(l calendar.Lang, names Names) {
	c.names = names
	c.Sentence = c.sentence(phrasing{lang: l})
}

func (c *Change) label(p phrasing) string {
	label := labelOf(c.kind, c.field, p.lang)
	if c.Field == "cost" && p.style == onPage {
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

// sentence describes the change (HISTORY 6.2). Pages have texts of their own, in which the
// label stands.
func (c *Change) sentence(p phrasing) string {
	step := ".turned"
	if c.Before == nil {
		step = ".came"
	} else if c.After == nil {
		step = ".went"
	}
	label, text, ofPage := c.label(p), "value"+step, "page"+step
	after, before := c.value(c.After, p), c.value(c.Before, p)
	switch {
	case c.field.Stored == calendar.TypeIDs:
		text, ofPage, after, before = c.linked(p)
	case c.field.Form == calendar.FormHTML:
		text, ofPage = "text"+step, "page."+c.Field+step
		if p.style == onPage {
			label = c.selector()
		}
	case c.field.Form == calendar.FormPassword:
		text, ofPage = "password"+step, ""
	case p.style == onPage && c.isPeriod():
		if step == ".turned" {
			ofPage = "page.moved"
		}
		if a, b := c.periods(p); a != b {
			after, before = a, b
		}
	}
	if p.style == onPage && ofPage != "" {
		return word(ofPage, p.lang, label, after, before)
	}
	return label + p.colon() + word(text, p.lang, after, before)
}

// linked returns which texts describe a change of linked records, those of pages where they
// have one, and the records that came and went.
func (c *Change) linked(p phrasing) (text, ofPage, came, went string) {
	before, _ := c.Before.([]calendar.ID)
	after, _ := c.After.([]calendar.ID)
	came, went = c.value(without(after, before), p), c.value(without(before, after), p)
	switch {
	case came != "" && went != "":
		return "links.both", "", came, went
	case came != "":
		return "links.added", "page.links.added", came, went
	case went != "":
		return "links.removed", "page.links.removed", came, went
	}
	return "links.order", "", came, went
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

// value writes a value (HISTORY 6.3), "" for none.
func (c *Change) value(v any, p phrasing) string {
	var list []string
	switch v := v.(type) {
	case bool:
		switch {
		case c.field.Form == calendar.FormPassword:
			return word("password.came", p.lang)
		case v:
			return word("yes", p.lang)
		}
		return word("no", p.lang)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64) // as in JSON
	case calendar.Wall:
		return wall(v, p.lang)
	case calendar.ID:
		if c.field.Form == calendar.FormParent {
			return c.value([]calendar.ID{v}, p)
		}
		return "#" + v.String()
	case string:
		if status, ok := texts.Sentences["status."+v]; ok && (c.field.Form == calendar.FormStatus || c.field.Form == calendar.FormWord) {
			return status[p.lang]
		}
		return p.quote(v)
	case []string:
		for _, text := range v {
			list = append(list, p.quote(text))
		}
	case []calendar.ID:
		for _, id := range v {
			name := "#" + id.String()
			if known := c.names[id]; known != "" {
				name = p.quote(known)
			}
			list = append(list, name)
		}
	}
	return p.list(list)
}

// wall writes a wall clock.
func wall(w calendar.Wall, lang calendar.Lang) string { return dayOf(w, lang) + " " + clockOf(w) }

// dayOf writes a day without leading zeros.
func dayOf(wall calendar.Wall, lang calendar.Lang) string {
	t := wall.UTC()
	return word("date", lang, strconv.Itoa(t.Day()), word("month."+strconv.Itoa(int(t.Month())), lang), strconv.Itoa(t.Year()))
}

// clockOf writes a time of day, without seconds where they are 0.
func clockOf(wall calendar.Wall) string {
	t := wall.UTC()
	if t.Second() != 0 {
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}

// Summary describes an entry in one line (HISTORY 6.1): of an update all sentences, of what
// came to be the name, "" for none.
func Summary(action Action, name string, changes []Change, l calendar.Lang) string {
	return phrasing{lang: l}.summary(action, name, changes)
}

func (p phrasing) summary(action Action, name string, changes []Change) string {
	text := word("action."+string(action), p.lang)
	switch {
	case (action == Created || action == Published) && name != "":
		text += p.colon() + p.quote(name)
	case action == Updated && len(changes) > 0:
		sentences := make([]string, len(changes))
		for i := range changes {
			sentences[i] = changes[i].Sentence
		}
		text += p.colon() + strings.Join(sentences, word("semicolon", p.lang))
	}
	return text
}

// maxSentences is how many changes of an entry pages describe one by one.
const maxSentences = 3

// SummaryHTML describes an entry as pages do (docs/spec/pages.md P2.6): of an update a
// sentence for each change, of many the first ones and how many there are more.
func (e *Entry) SummaryHTML(lang calendar.Lang) string {
	p := phrasing{lang, onPage}
	switch {
	case e.Redacted != nil:
		return p.complete(BlankSummary(lang))
	case e.Action != Updated || len(e.Changes) == 0:
		return p.complete(p.summary(e.Action, e.Name, nil))
	}
	var sentences []string
	for i := range e.Changes[:min(len(e.Changes), maxSentences)] {
		sentences = append(sentences, p.complete(e.Changes[i].sentence(p)))
	}
	if more := len(e.Changes) - maxSentences; more > 0 {
		key := "page.more.other"
		if more == 1 {
			key = "page.more.one"
		}
		sentences = append(sentences, p.complete(word(key, lang, strconv.Itoa(more))))
	}
	if lang == calendar.LangCN {
		return strings.Join(sentences, "")
	}
	return strings.Join(sentences, " ")
}

// complete makes a sentence begin with a capital letter and end with a full stop.
func (p phrasing) complete(text string) string {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text, "</bdi>"))
	if !strings.ContainsRune(".。…!?", last) {
		text += word("page.stop", p.lang)
	}
	return capitalized(text)
}

func capitalized(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

// BlankSummary is the Summary of a redacted entry.
func BlankSummary(lang calendar.Lang) string { return word("blank", lang) }

// NameOf is the name of a record in a language, "" for none; of a user his name.
func NameOf(record *calendar.Record, lang calendar.Lang) string {
	if record.Kind == calendar.KindUser {
		return record.Fields.String("name")
	}
	name, _ := record.Name(lang)
	return name
}
