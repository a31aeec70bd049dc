package readmodel

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/spanish"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"daybook/calendar"
)

// AnalysisVersion changes whenever the same record would give other tokens, stems
// or keys; it is part of Fingerprint.
const AnalysisVersion = "6"

// Break is the token between two runs of Chinese, Japanese or Korean characters
// that something separates. It takes a place of its own, so a run of a query
// never fits across it. It is no letter and no digit, so no word equals it.
const Break = "|"

// Fold returns a text without case and accents, in compatibility form and with the digits
// of every script as 0 to 9: the first step of the analysis in every language, before any
// stemmer, and the key by which names are sorted.
func Fold(text string) string {
	var folded strings.Builder
	folded.Grow(len(text) + 8)
	for len(text) > 0 {
		count := characterSize(text)
		folded.WriteString(foldCharacter(text[:count]))
		text = text[count:]
	}
	return folded.String()
}

// isAlone reports whether the first character of a text is a byte with nothing joined to it. It
// looks at two bytes only, and so misses some.
func isAlone(text string) bool {
	return len(text) == 1 || text[0] < utf8.RuneSelf && text[1] < utf8.RuneSelf
}

// characterSize returns the length of the first character of a text with all that is joined
// to it.
func characterSize(text string) int {
	if isAlone(text) {
		return 1
	}
	return norm.NFKC.NextBoundaryInString(text, true)
}

// foldedLow holds the folded form of each character below U+0700.
var foldedLow = func() (t [0x700]string) {
	for r := range t {
		t[r] = foldSlowly(string(rune(r)))
	}
	return t
}()

func foldCharacter(text string) string {
	switch letter, size := utf8.DecodeRuneInString(text); {
	case size < len(text): // what is joined to it may change it
	case int(letter) < len(foldedLow):
		return foldedLow[letter]
	case letter >= 0x4E00 && letter <= 0x9FFF || unicode.Is(unicode.Lo, letter) && norm.NFKC.IsNormalString(text): // Han and others, as they are
		return text
	}
	return foldSlowly(text)
}

// strokes are letters whose stroke or ligature Unicode does not decompose, and the keycap
// of ten.
var strokes = strings.NewReplacer(strings.Fields("ø o đ d ð d ł l ħ h ı i œ oe æ ae þ th ŧ t ƀ b ɨ i ʉ u 🔟 10")...)

// ignored is what makes no difference inside of a word: accents, but not the marks that make
// another letter of a kana or write a vowel in Indic scripts, soft hyphen, joiners, byte order
// mark, Arabic tatweel, variation selectors.
var ignored = regexp.MustCompile("[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F" +
	"\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u064B-\u065F\u0670" +
	"\u00AD\u0640\u200C\u200D\u2060\uFEFF\u180B-\u180D\u180F\uFE00-\uFE0F\U000E0100-\U000E01EF]")

func foldSlowly(text string) string {
	text = strings.Map(func(letter rune) rune {
		if !unicode.IsDigit(letter) {
			return letter
		}
		value := rune(0) // the digits of a script are in a row, from zero on
		for unicode.IsDigit(letter - value - 1) {
			value++
		}
		return '0' + value%10
	}, ignored.ReplaceAllString(norm.NFKD.String(text), ""))
	// NFC joins the marks of kana and the parts of Hangul again.
	return norm.NFC.String(strokes.Replace(cases.Fold().String(text)))
}

// isCJK reports whether a letter is compared by pairs of characters (interface 4.7).
func isCJK(letter rune) bool {
	return letter >= 0x1100 && (letter == 'ー' || unicode.In(letter, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo))
}

func isWordRune(letter rune) bool {
	return unicode.IsLetter(letter) || unicode.IsDigit(letter) || unicode.IsMark(letter)
}

// maxTokenRunes is how much of a word counts. Stemmers take quadratic time for
// some words, and engines limit the length of one.
const maxTokenRunes = 120

// Tokens splits plain text into its words: runs of letters and digits without case and
// accents; of a longer one the first 120 characters count. Each Chinese, Japanese or Korean
// character is a token of its own, with Break between two runs of them; so a run is found
// as its characters in a row.
func Tokens(text string) []string {
	names := make([]string, 0, len(text)/6+1)
	eachToken(text, func(token string, _ textSpan) { names = append(names, token) })
	return names
}

// textSpan is a part of a text, in characters.
type textSpan struct{ from, until int }

// eachToken calls use with each token of a text and the place of its word in it; that of a
// Break is empty.
func eachToken(text string, use func(token string, span textSpan)) {
	var words strings.Builder // folded
	words.Grow(len(text))
	var span textSpan // of the present word
	begin := 0        // of it in words
	afterCJK := false // the last word is one of these characters
	gap := false      // something separates since then
	endWord := func() {
		if word := words.String()[begin:]; word != "" {
			use(firstRunes(word, maxTokenRunes), span)
			begin, afterCJK = words.Len(), false
		}
	}
	for from := 0; text != ""; {
		size := characterSize(text)
		character := text[:size]
		text = text[size:]
		until := from + utf8.RuneCountInString(character)
		for _, letter := range foldCharacter(character) {
			switch {
			case !isWordRune(letter):
				endWord()
				gap = true
			case isCJK(letter):
				endWord()
				if afterCJK && gap {
					use(Break, textSpan{from, from})
				}
				use(string(letter), textSpan{from, until})
				afterCJK, gap = true, false
			case words.Len() > begin:
				words.WriteRune(letter)
				span.until = until
			case !unicode.IsMark(letter):
				words.WriteRune(letter)
				span = textSpan{from, until}
			}
		}
		from = until
	}
	endWord()
}

// IsCJKToken reports whether a token of Tokens is a single Chinese, Japanese or
// Korean character.
func IsCJKToken(token string) bool {
	letter, size := utf8.DecodeRuneInString(token)
	return size == len(token) && isCJK(letter)
}

// languages are those with stems and common words, by what holds these.
var languages = [...]struct {
	stem     func(*snowballstem.Env) bool
	stopList []byte
}{
	calendar.LangEN: {english.Stem, en.EnglishStopWords},
	calendar.LangFR: {french.Stem, fr.FrenchStopWords},
	calendar.LangES: {spanish.Stem, es.SpanishStopWords},
}

// word is a word of a language.
type word struct {
	text     string
	language calendar.Lang
}

// stemPool caches stems for a while: the collector takes what a pool holds, and with it the
// words of records that were erased.
var stemPool = sync.Pool{New: func() any { return map[word]string{} }}

// Stem returns the stem of a token (Snowball: English, French, Spanish) in the
// language of the text that it is from. Chinese has no stems: there the word is
// its own stem, and so is every word without a Latin letter.
func Stem(token string, language calendar.Lang) string {
	if len(token) < 3 || languages[language].stem == nil {
		return token
	}
	stems := stemPool.Get().(map[word]string) // the pool makes nothing else
	defer stemPool.Put(stems)
	stem := stems[word{token, language}]
	if stem == "" {
		token = strings.Clone(token) // without the text that it is from
		env := snowballstem.NewEnv(token)
		languages[language].stem(env)
		stem = cmp.Or(env.Current(), token)
		if len(stems) == 60_000 {
			clear(stems)
		}
		stems[word{token, language}] = stem
	}
	return stem
}

// keptWords are words of the stop lists that carry meaning in a calendar once they
// are without accents: "été" is the summer too.
var keptWords = strings.Fields("ete etes etee etees")

// stopWords are the common words by language.
var stopWords = func() (all [len(languages)]map[string]bool) {
	for language := range languages {
		all[language] = map[string]bool{}
		for line := range strings.Lines(string(languages[language].stopList)) {
			line, _, _ = strings.Cut(line, "|")
			// A contraction ("don't") is several words; none of them is common by itself.
			if t := Tokens(line); len(t) == 1 && !slices.Contains(keptWords, t[0]) {
				all[language][t[0]] = true
			}
		}
	}
	return all
}()
