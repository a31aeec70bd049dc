package elastic

import (
	"slices"
	"strings"
	"sync"

	"daybook/calendar"
	"daybook/internal/canonjson"
	"daybook/query/readmodel"
)

// The marks before a word in an index: as it is, or as its stem in a language.
// They are upper case, which no folded word is, so a word cannot be taken for
// another one with its mark.
const markWord = 'W'

var stemMarks = [...]byte{calendar.LangCN: markWord, calendar.LangEN: 'E', calendar.LangFR: 'F', calendar.LangES: 'S'}

// fieldCode is the letter before the mark: the place of a text field in its
// schema.
func fieldCode(s *readmodel.Schema, field string) byte {
	return byte('a' + slices.Index(s.Texts(), field))
}

// isWhole tells whether a token of a text has no stem of its own: characters, the
// break between them, and everything in Chinese.
func isWhole(token string, l calendar.Lang) bool {
	return stemMarks[l] == markWord || token == readmodel.Break || readmodel.IsCJKToken(token)
}

// rowToken is a token as rows hold it: two of them are equal exactly if the stems
// of the tokens are, in a text of the language.
func rowToken(token string, l calendar.Lang) string {
	if isWhole(token, l) {
		return string(markWord) + token
	}
	return string(rune(stemMarks[l])) + readmodel.Stem(token, l)
}

// appendTexts adds the words and rows of all texts: once when every language
// shows the same ones, else for each language.
func appendTexts(b []byte, s *readmodel.Schema, r *calendar.Record) []byte {
	names := s.Texts()
	if len(names) == 0 {
		return b
	}
	texts := make([]calendar.Text, len(names))
	var has []string
	alike := true
	for i, name := range names {
		texts[i] = s.Field(name).Text(r)
		if !texts[i].IsZero() {
			has = append(has, name)
		}
		for _, l := range calendar.Langs {
			alike = alike && (l == r.Home || texts[i][l] == "")
		}
	}
	if len(has) == 0 {
		return b
	}
	b = append(appendName(b, fieldHas), '[')
	for i, name := range has {
		if i > 0 {
			b = append(b, ',')
		}
		b = canonjson.AppendString(b, name)
	}
	b = append(b, ']')
	if alike {
		return appendSlot(b, slotAny, names, texts, r.Home, r.Home)
	}
	for _, l := range calendar.Langs {
		b = appendSlot(b, l.String(), names, texts, l, r.Home)
	}
	return b
}

// nameOf are the words of a name as one.
func nameOf(tokens []string) string { return clip(strings.Join(tokens, " ")) }

// appendSlot adds the texts that a language shows.
func appendSlot(b []byte, slot string, names []string, texts []calendar.Text, l, home calendar.Lang) []byte {
	v := vocabularies.Get().(*vocabulary) // the pool makes nothing else
	defer vocabularies.Put(v)
	return v.appendSlot(b, slot, names, texts, l, home)
}

func (v *vocabulary) appendSlot(b []byte, slot string, names []string, texts []calendar.Text, l, home calendar.Lang) []byte {
	all := v.all[:0] // the list of words
	for i, name := range names {
		text, in := texts[i].In(l, home)
		tokens := readmodel.Tokens(text)
		if len(tokens) == 0 {
			continue
		}
		if name == readmodel.TextName {
			b = appendField(b, fieldName+slot, nameOf(tokens))
		}
		v.field++
		code := byte('a' + i)
		b = append(appendName(b, fieldRows+name+"."+slot), '"')
		for n, t := range tokens {
			w := v.word(t, in)
			if n > 0 {
				b = append(b, ' ')
			}
			b = append(b, w.row.text...)
			if t == readmodel.Break {
				continue
			}
			all = v.add(all, code, w.plain)
			if w.row != w.plain {
				all = v.add(all, code, w.row)
			}
		}
		b = append(b, '"')
	}
	if len(all) > 0 {
		b = append(appendName(b, fieldWords+slot), '[')
		b = append(b, all...)
		b = append(b, ']')
	}
	v.all = all
	return b
}

// vocabulary keeps what words come to: they come again and again, and stems are most
// of what a document costs. It is for one goroutine.
type vocabulary struct {
	words [len(stemMarks)]map[string]word // by language
	marks map[string]*marked
	held  int
	most  int    // words that are held
	field uint64 // number of the field that is made now
	all   []byte
}

// word is a token: as it is, and as rows hold it.
type word struct{ plain, row *marked }

// marked is a word with its mark, as JSON has it without quotes.
type marked struct {
	text  string
	field uint64 // that it was added to last
}

// mostWords is how many words a vocabulary keeps.
const mostWords = 20_000

var vocabularies = sync.Pool{New: func() any { return newVocabulary(mostWords) }}

func newVocabulary(most int) *vocabulary { return &vocabulary{most: most, marks: map[string]*marked{}} }

func (v *vocabulary) word(token string, l calendar.Lang) word {
	if w, ok := v.words[l][token]; ok {
		return w
	}
	if v.held++; v.held > v.most {
		// Words of the present field may be told again then, which changes nothing.
		v.words, v.held = [len(v.words)]map[string]word{}, 1
		clear(v.marks)
	}
	if v.words[l] == nil {
		v.words[l] = map[string]word{}
	}
	w := word{v.marked(string(markWord) + token), v.marked(rowToken(token, l))}
	v.words[l][strings.Clone(token)] = w // not the text that it is from
	return w
}

func (v *vocabulary) marked(text string) *marked {
	m := v.marks[text]
	if m == nil {
		escaped := string(canonjson.AppendString(nil, text))
		m = &marked{text: escaped[1 : len(escaped)-1]}
		v.marks[text] = m
	}
	return m
}

// add adds a word to the list of a document, once for each field.
func (v *vocabulary) add(b []byte, code byte, m *marked) []byte {
	if m.field == v.field {
		return b
	}
	m.field = v.field
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(b, '"', code)
	b = append(b, m.text...)
	return append(b, '"')
}
