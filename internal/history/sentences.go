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

// phrasing is how sentences are written.
type phrasing struct {
	language calendar.Lang
	style    style
}

type style uint8

const (
	inHistory style = iota // docs/spec/history.md 6
	onPage                 // HTML (docs/spec/pages.md P2.6)
	alone                  // a value without quotation marks, in full
)

// quote puts a text in quotation marks, in HTML in an element of its own direction.
func (phrasing phrasing) quote(text string) string {
	if phrasing.style == alone {
		return text
	}
	if letters := []rune(text); len(letters) > maxQuoted {
		text = string(letters[:maxQuoted]) + "…"
	}
	if phrasing.style == onPage {
		return "<bdi>" + html.EscapeString(text) + "</bdi>"
	}
	return word("quote", phrasing.language, texts.Isolated(text))
}

// list joins the elements of a list.
func (phrasing phrasing) list(parts []string) string {
	if phrasing.style == alone && len(parts) > 1 {
		for i := range parts {
			parts[i] = texts.Isolated(parts[i])
		}
	}
	return strings.Join(parts, word("list", phrasing.language))
}

func (phrasing phrasing) colon() string {
	if phrasing.style == onPage {
		return word("page.colon", phrasing.language)
	}
	return word("colon", phrasing.language)
}

// Label names the field of a change as pages do, and the language of its text where that is
// not the one of the record.
func (change *Change) Label(language calendar.Lang) string {
	return capitalized(change.label(phrasing{language, onPage}))
}

// IsDay reports whether the value before or after the change is a date without a clock.
func (change *Change) IsDay(after bool) bool {
	record := change.before
	if after {
		record = change.after
	}
	return change.isPeriod() && record != nil && record.Fields.Bool("all_day")
}

// IsText reports whether the values are texts of several lines, in HTML.
func (change *Change) IsText() bool { return change.field.Form == calendar.FormHTML }

// Written returns a value of the change in a language, without quotation marks and in full;
// "" if none exists.
func (change *Change) Written(value any, language calendar.Lang) string {
	return change.value(value, phrasing{language, alone})
}

// labelOf names a field of a kind in sentences.
func labelOf(kind calendar.Kind, field *calendar.Field, language calendar.Lang) string {
	name := field.Name
	switch {
	case !kind.IsPost() && !kind.IsTerm():
		return name
	case field.Name == kind.NameField() && kind != calendar.KindEvent:
		name = "name" // "venue" of a venue
	}
	if label, ok := texts.Sentences["field."+name]; ok {
		return label[language]
	}
	return name
}

func (change *Change) label(phrasing phrasing) string {
	label := labelOf(change.after.Kind, change.field, phrasing.language)
	if change.Field == "cost" && phrasing.style == onPage {
		label = word("page.cost", phrasing.language)
	}
	return label + change.selector()
}

// selector names the language of a text that is not the home language of the record.
func (change *Change) selector() string {
	if change.Language == "" || change.Language == change.after.Home.String() {
		return ""
	}
	return " (" + change.Language + ")"
}

// sentence describes the change (HISTORY 6.2). Pages have texts of their own, in which the
// label stands.
func (change *Change) sentence(phrasing phrasing) string {
	step := ".turned"
	if change.Before == nil {
		step = ".came"
	} else if change.After == nil {
		step = ".went"
	}
	label, text, ofPage := change.label(phrasing), "value"+step, "page"+step
	after, before := change.value(change.After, phrasing), change.value(change.Before, phrasing)
	switch {
	case change.field.Stored == calendar.TypeIDs:
		text, ofPage, after, before = change.links(phrasing)
	case change.field.Form == calendar.FormHTML:
		text, ofPage = "text"+step, "page."+change.Field+step
		if phrasing.style == onPage {
			label = change.selector()
		}
	case change.field.Form == calendar.FormPassword:
		text, ofPage = "password"+step, ""
	case phrasing.style == onPage && change.isPeriod():
		if step == ".turned" {
			ofPage = "page.moved"
		}
		if first, second := change.periods(phrasing); first != second {
			after, before = first, second
		}
	}
	if phrasing.style == onPage && ofPage != "" {
		return word(ofPage, phrasing.language, label, after, before)
	}
	return label + phrasing.colon() + word(text, phrasing.language, after, before)
}

// links returns which texts describe a change of linked records, those of pages where they
// have one, and the records that came and went.
func (change *Change) links(phrasing phrasing) (text, ofPage, came, went string) {
	before, after := change.linked(change.Before), change.linked(change.After)
	came, went = change.value(without(after, before), phrasing), change.value(without(before, after), phrasing)
	switch {
	case came != "" && went != "":
		return "links.both", "", came, went
	case came != "":
		text = "links.added"
	case went != "":
		text = "links.removed"
	default:
		return "links.order", "", "", ""
	}
	return text, "page." + text, came, went
}

// isPeriod reports whether the field is the start or the end of an event.
func (change *Change) isPeriod() bool {
	return strings.HasSuffix(change.Field, "_date")
}

// periods writes start or end after and before: without the clock of an all-day event, and
// without the day where both have a clock on the same one.
func (change *Change) periods(phrasing phrasing) (after, before string) {
	write := func(value any, isDay bool) (day, clock string) {
		wall, is := value.(calendar.Wall)
		if !is {
			return "", ""
		}
		if !isDay {
			clock = clockOf(wall)
		}
		return dayOf(wall, phrasing.language), clock
	}
	day, clock := write(change.After, change.IsDay(true))
	oldDay, oldClock := write(change.Before, change.IsDay(false))
	if day == oldDay && clock != "" && oldClock != "" {
		return clock, oldClock
	}
	return strings.TrimSpace(day + " " + clock), strings.TrimSpace(oldDay + " " + oldClock)
}

// without returns the ids that others lack, in their order.
func without(ids, others []calendar.ID) []calendar.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id calendar.ID) bool { return slices.Contains(others, id) })
}

// value writes a value (HISTORY 6.3), "" for none.
func (change *Change) value(value any, phrasing phrasing) string {
	var list []string
	switch v := value.(type) {
	case bool:
		switch {
		case change.field.Form == calendar.FormPassword:
			return word("password.came", phrasing.language)
		case v:
			return word("yes", phrasing.language)
		}
		return word("no", phrasing.language)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64) // as in JSON
	case calendar.Wall:
		return wall(v, phrasing.language)
	case calendar.ID:
		if ids := change.linked(v); ids != nil {
			return change.value(ids, phrasing)
		}
		return "#" + v.String()
	case string:
		if status, ok := texts.Sentences["status."+v]; ok && (change.field.Form == calendar.FormStatus || change.field.Form == calendar.FormWord) {
			return status[phrasing.language]
		}
		return phrasing.quote(v)
	case []string:
		for _, text := range v {
			list = append(list, phrasing.quote(text))
		}
	case []calendar.ID:
		for _, id := range v {
			name := "#" + id.String()
			if known := change.names[id]; known != "" {
				name = phrasing.quote(known)
			}
			list = append(list, name)
		}
	}
	return phrasing.list(list)
}

// wall writes a wall clock.
func wall(wall calendar.Wall, language calendar.Lang) string {
	return dayOf(wall, language) + " " + clockOf(wall)
}

// dayOf writes a day without leading zeros.
func dayOf(wall calendar.Wall, language calendar.Lang) string {
	instant := wall.UTC()
	return word("date", language, strconv.Itoa(instant.Day()), word("month."+strconv.Itoa(int(instant.Month())), language), strconv.Itoa(instant.Year()))
}

// clockOf writes a time of day, without seconds where they are 0.
func clockOf(wall calendar.Wall) string {
	return strings.TrimSuffix(wall.UTC().Format("15:04:05"), ":00")
}

// summary describes an entry in one line (HISTORY 6.1): of an update all sentences, of what
// came to be the name, "" for none.
func (phrasing phrasing) summary(entry *Entry) string {
	if entry.Redacted != nil {
		return word("blank", phrasing.language)
	}
	text := word("action."+entry.Action, phrasing.language)
	switch entry.Action {
	case calendar.Created, Published:
		if entry.Name != "" {
			text += phrasing.colon() + phrasing.quote(entry.Name)
		}
	case calendar.Updated:
		sentences := make([]string, len(entry.Changes))
		for i := range sentences {
			sentences[i] = entry.Changes[i].Sentence
		}
		if len(sentences) > 0 {
			text += phrasing.colon() + strings.Join(sentences, word("semicolon", phrasing.language))
		}
	}
	return text
}

// maxSentences is how many changes of an entry pages describe one by one.
const maxSentences = 3

// SummaryHTML describes an entry as pages do (docs/spec/pages.md P2.6): of an update a
// sentence for each change, of many the first ones and how many there are more.
func (entry *Entry) SummaryHTML(language calendar.Lang) string {
	p := phrasing{language, onPage}
	if entry.Action != calendar.Updated || len(entry.Changes) == 0 {
		return p.complete(p.summary(entry))
	}
	var sentences []string
	for i := range entry.Changes[:min(len(entry.Changes), maxSentences)] {
		sentences = append(sentences, p.complete(entry.Changes[i].sentence(p)))
	}
	if more := len(entry.Changes) - maxSentences; more > 0 {
		key := "page.more.other"
		if more == 1 {
			key = "page.more.one"
		}
		sentences = append(sentences, p.complete(word(key, language, strconv.Itoa(more))))
	}
	if language == calendar.LangCN {
		return strings.Join(sentences, "")
	}
	return strings.Join(sentences, " ")
}

// complete makes a sentence begin with a capital letter and end with a full stop.
func (phrasing phrasing) complete(text string) string {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text, "</bdi>"))
	if !strings.ContainsRune(".。…!?", last) {
		text += word("page.stop", phrasing.language)
	}
	return capitalized(text)
}

func capitalized(text string) string {
	first, count := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[count:]
}

// NameOf is the name of a record in a language, "" for none; of a user his name.
func NameOf(record *calendar.Record, language calendar.Lang) string {
	if record.Kind == calendar.KindUser {
		return record.Fields.String("name")
	}
	name, _ := record.Name(language)
	return name
}
