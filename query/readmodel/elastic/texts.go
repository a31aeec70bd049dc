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
func rowOf(words []string, l calendar.Lang, asked func(i int, mark byte) bool) string {
	var b strings.Builder
	add := func(mark byte, token string, asked bool) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if !asked {
			b.WriteString(hole)
			return
		}
		b.WriteByte(mark)
		b.WriteString(token)
	}
	for i, word := range words {
		if !isWord(word) {
			add(markPlain, word, true)
			continue
		}
		add(markPlain, word, asked(i, markPlain))
		add(stemMarks[l], readmodel.Stem(word, l), asked(i, stemMarks[l]))
		if i+1 < len(words) {
			add(markJoined, word+words[i+1], isWord(words[i+1]) && asked(i, markJoined))
		}
	}
	return b.String()
}

// addTexts adds the rows of all texts and of the name: once when every language shows the
// same, else for each language.
func addTexts(fields object, r *calendar.Record) {
	s := readmodel.SchemaOf(r.Kind)
	names := s.Texts()
	texts := make([]calendar.Text, len(names))
	alike := true
	for i, name := range names {
		texts[i] = s.Field(name).Text(r)
		for _, l := range calendar.Langs {
			alike = alike && (l == r.Home || texts[i][l] == "")
		}
	}
	if alike {
		addSlot(fields, slotAny, texts, r.Home, r.Home)
		return
	}
	for _, l := range calendar.Langs {
		addSlot(fields, l.String(), texts, l, r.Home)
	}
}

// addSlot adds the texts that a language shows, of which the first is the name.
func addSlot(fields object, slot string, texts []calendar.Text, l, home calendar.Lang) {
	var rows []string
	for i := range texts {
		text, in := texts[i].In(l, home)
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
