package elastic

import (
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Texts are indexed as tokens made here, so that every engine splits, folds and stems
// alike. A word takes three positions: as it is, its stem, and joined with the word behind
// it. A character of Chinese, Japanese or Korean, and a break, take one.
//
// Marks say what a token is. They are upper case, which no folded word is.
const (
	markPlain  = 'W'
	markJoined = 'J'
)

// stemMarks are the marks of stems by the language of the text.
var stemMarks = [...]byte{calendar.LangCN: 'C', calendar.LangEN: 'E', calendar.LangFR: 'F', calendar.LangES: 'S'}

const (
	// hole takes a position without a token; in a query any may stand there.
	hole = "_"
	// nameStart and nameEnd are the tokens around those of a name.
	nameStart, nameEnd = "^", "$"
)

// isWord reports whether a token has a stem and can be joined.
func isWord(token string) bool { return token != readmodel.Break && !readmodel.IsCJKToken(token) }

// rowOf returns the tokens of the words of a text in a language, with a hole for each form
// of a word that is not asked for.
func rowOf(words []string, language calendar.Lang, asked func(i int, mark byte) bool) string {
	var builder strings.Builder
	add := func(mark byte, token string, asked bool) {
		if builder.Len() > 0 {
			builder.WriteByte(' ')
		}
		if !asked {
			builder.WriteString(hole)
			return
		}
		builder.WriteByte(mark)
		builder.WriteString(token)
	}
	for i, word := range words {
		if !isWord(word) {
			add(markPlain, word, true)
			continue
		}
		add(markPlain, word, asked(i, markPlain))
		add(stemMarks[language], readmodel.Stem(word, language), asked(i, stemMarks[language]))
		if i+1 < len(words) {
			add(markJoined, word+words[i+1], isWord(words[i+1]) && asked(i, markJoined))
		}
	}
	return builder.String()
}

// addTexts adds the rows of all texts and of the name: once when every language shows the
// same, else for each language.
func addTexts(fields object, record *calendar.Record) {
	schema := readmodel.SchemaOf(record.Kind)
	names := schema.Texts
	texts := make([]calendar.Text, len(names))
	alike := true
	for i, name := range names {
		texts[i] = schema.Field(name).Text(record)
		for _, language := range calendar.Langs {
			alike = alike && (language == record.Home || texts[i][language] == "")
		}
	}
	if alike {
		addSlot(fields, slotAny, texts, record.Home, record.Home)
		return
	}
	for _, language := range calendar.Langs {
		addSlot(fields, language.String(), texts, language, record.Home)
	}
}

// addSlot adds the texts that a language shows, of which the first is the name.
func addSlot(fields object, slot string, texts []calendar.Text, language, home calendar.Lang) {
	var rows []string
	for i := range texts {
		text, in := texts[i].In(language, home)
		row := rowOf(readmodel.Tokens(text), in, func(int, byte) bool { return true })
		if row == "" {
			continue
		}
		rows = append(rows, row)
		if i == 0 {
			fields[fieldName+slot] = nameStart + " " + row + " " + nameEnd
		}
	}
	if rows != nil {
		fields[fieldRows+slot] = rows
	}
}
