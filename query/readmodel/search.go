package readmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"daybook/calendar"
)

// Expression is a parsed search (interface 4.7).
type Expression struct {
	Query string        // as sent
	Lang  calendar.Lang // of the request

	// Must are the pieces that have to fit, each somewhere, without duplicates.
	Must []Piece
	// Ranked are those that count in the ranks 1, 4 and 5, in the order sent, duplicates
	// included, at most MaxRanked.
	Ranked []Piece
	// Not are the pieces of which none may fit.
	Not []Piece
	// Full are all tokens of the search in order except those after a minus, with Break
	// between two runs of characters.
	Full []string
}

// MaxWords is the limit of the words of a search, those of rows included (interface 9).
// What a search costs an index grows with them.
const MaxWords = 32

// Within reports whether the search keeps the limit.
func (e Expression) Within() bool {
	words := 0
	for _, pieces := range [][]Piece{e.Must, e.Not} {
		for _, p := range pieces {
			words += p.words()
		}
	}
	return words <= MaxWords
}

// Piece is what has to fit in one field: a word, a run of Chinese, Japanese or Korean
// characters, or a row of both. Its tokens have to stand in a row, each whole or by stem.
type Piece struct {
	// Tokens are as the function Tokens returns them: one for a word, one per character of
	// a run.
	Tokens []string
	// Open is false for quoted text. The last token of other pieces may also be the
	// beginning of a word.
	Open bool

	// neighbors are the words that a word makes together with the one before it and the
	// one behind it.
	neighbors []string
}

// IsWord reports whether the piece is a single word that was not quoted.
func (p Piece) IsWord() bool { return p.Open && len(p.Tokens) == 1 && !IsCJKToken(p.Tokens[0]) }

// IsRun reports whether the piece is a run of Chinese, Japanese or Korean characters.
func (p Piece) IsRun() bool {
	return !slices.ContainsFunc(p.Tokens, func(t string) bool { return !IsCJKToken(t) })
}

// Closed returns the piece with nothing but whole words and stems.
func (p Piece) Closed() Piece { return Piece{Tokens: p.Tokens} }

// words counts the words of the piece; a run is one.
func (p Piece) words() (n int) {
	run := false
	for _, t := range p.Tokens {
		character := IsCJKToken(t)
		if t != Break && (!character || !run) {
			n++
		}
		run = character
	}
	return n
}

// Spelling is how a text may differ from the words of a search (listings 3.3).
type Spelling struct {
	Typos  int  // that a word may have at most, 0 to MaxTypos; see Piece.Most
	Joined bool // joined spellings fit, too; each counts as a typo
}

// Within returns the part of the spelling that counts as at most so many typos.
func (s Spelling) Within(typos int) Spelling {
	return Spelling{min(s.Typos, typos), s.Joined && typos > 0}
}

// Worst returns the largest number of typos with which a piece fits.
func (s Spelling) Worst(p Piece) int {
	worst := p.Most(s.Typos)
	if s.Joined {
		worst = max(worst, 1)
	}
	return worst
}

// joinedFrom is the length in characters from which on a word also fits two words, and a
// run two runs.
const joinedFrom = 4

// Joined returns the joined spellings of the piece: rows of tokens that it also fits, each
// as it is, without stems.
func (p Piece) Joined() (rows [][]string) {
	switch n := len(p.Tokens); {
	case !p.Open:
	case p.IsWord():
		for _, word := range p.neighbors {
			rows = append(rows, []string{word})
		}
		word := p.Tokens[0]
		if utf8.RuneCountInString(word) >= joinedFrom {
			for at := range word {
				if at > 0 {
					rows = append(rows, []string{word[:at], word[at:]})
				}
			}
		}
	case p.IsRun():
		for at := 1; n >= joinedFrom && at < n; at++ {
			rows = append(rows, slices.Insert(slices.Clone(p.Tokens), at, Break))
		}
	case !slices.ContainsFunc(p.Tokens, func(t string) bool { return t != Break && !IsCJKToken(t) }):
		rows = append(rows, slices.DeleteFunc(slices.Clone(p.Tokens), func(t string) bool { return t == Break }))
	case !slices.ContainsFunc(p.Tokens, IsCJKToken):
		rows = append(rows, []string{strings.Join(p.Tokens, "")})
	}
	return rows
}

// IsZero reports whether the search has no word; it finds nothing then.
func (e Expression) IsZero() bool { return len(e.Must) == 0 && len(e.Not) == 0 }

var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "‹", `"`, "›", `"`, "＂", `"`)

// ParseSearch reads a search as sent. Single Latin letters and the common words of l, the
// language of the request, are left out while another word or row remains that has to fit;
// never in rows. A minus counts at the start or after white space, directly before a word
// or a quote; a quote without a partner, and every other character, separates.
func ParseSearch(query string, l calendar.Lang) Expression {
	p := searchParser{lang: l, rest: quotes.Replace(query)}
	p.quotes = strings.Count(p.rest, `"`)
	p.parse()
	e := Expression{Query: query, Lang: l, Full: p.full}
	omit := slices.ContainsFunc(p.pieces, func(s sentPiece) bool { return !s.not && !s.isCommon(l) })
	var ranked []int
	for _, s := range p.pieces {
		switch {
		case omit && s.isCommon(l):
		case s.not:
			e.Not, _ = appendPiece(e.Not, s.Piece)
		default:
			var at int
			e.Must, at = appendPiece(e.Must, s.Piece)
			ranked = append(ranked, at)
		}
	}
	for _, at := range ranked[:min(len(ranked), MaxRanked)] {
		e.Ranked = append(e.Ranked, e.Must[at])
	}
	return e
}

// appendPiece adds a piece unless it is there, and returns its place. A word that is sent
// twice may have neighbors in both places.
func appendPiece(to []Piece, p Piece) ([]Piece, int) {
	at := slices.IndexFunc(to, func(q Piece) bool { return p.Open == q.Open && slices.Equal(p.Tokens, q.Tokens) })
	if at < 0 {
		return append(to, p), len(to)
	}
	to[at].neighbors = slices.Concat(to[at].neighbors, p.neighbors)
	return to, at
}

// isCommon reports whether a piece counts only when nothing else remains.
func (p Piece) isCommon(l calendar.Lang) bool {
	if !p.IsWord() {
		return false
	}
	w := p.Tokens[0]
	r, size := utf8.DecodeRuneInString(w)
	return size == len(w) && unicode.Is(unicode.Latin, r) || IsCommon(w, l)
}

// sentPiece is a piece of a search as it was sent.
type sentPiece struct {
	Piece
	not bool
}

type searchParser struct {
	lang   calendar.Lang
	rest   string
	quotes int // still to come
	pieces []sentPiece
	full   []string // see Expression
	word   bool     // the last piece is a word that has to fit, with only blanks behind it
}

func (p *searchParser) parse() {
	var row strings.Builder // what is typed without a blank and a quote
	not := false            // it stands behind a minus
	flush := func() {
		p.typed(row.String(), not)
		row.Reset()
	}
	afterBlank := true // or at the start
	for p.rest != "" {
		r, size := utf8.DecodeRuneInString(p.rest)
		switch {
		case r == '"' && p.quotes >= 2:
			flush()
			quoted, rest, _ := strings.Cut(p.rest[1:], `"`)
			tokens := Tokens(quoted)
			p.add(tokens, Piece{Tokens: tokens}, not)
			p.rest, p.quotes, p.word = rest, p.quotes-2, false
			not, afterBlank = false, false
			continue
		case r == '"':
			flush()
			p.quotes, p.word, afterBlank = p.quotes-1, false, false
		case unicode.IsSpace(r):
			flush()
			not, afterBlank = false, true
		case r == '-' && afterBlank && p.minusCounts(p.rest[size:]):
			not, afterBlank, p.word = true, false, false
		default:
			row.WriteString(p.rest[:size])
			afterBlank = false
		}
		p.rest = p.rest[size:]
	}
	flush()
}

// minusCounts reports whether a minus stands directly before a word or a quote that has a
// partner.
func (p *searchParser) minusCounts(after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return isWordRune(r) || r == '"' && p.quotes >= 2
}

// typed adds what was typed without a blank and a quote.
func (p *searchParser) typed(text string, not bool) {
	if text == "" {
		return
	}
	tokens := Tokens(text)
	piece := Piece{Tokens: tokens, Open: true}
	if p.lang == calendar.LangFR {
		piece.Tokens = withoutElision(text)
	}
	isWord := !not && len(tokens) == 1 && piece.IsWord()
	text = Fold(text)
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if isWord && p.word && isWordRune(first) {
		before := &p.pieces[len(p.pieces)-1]
		piece.neighbors = []string{before.Tokens[0] + tokens[0]}
		before.neighbors = append(before.neighbors, piece.neighbors...)
	}
	p.word = isWord && isWordRune(last)
	p.add(tokens, piece, not)
}

// add adds a piece, unless it has no word, and all its tokens to the full text.
func (p *searchParser) add(tokens []string, piece Piece, not bool) {
	if len(tokens) == 0 {
		return
	}
	p.pieces = append(p.pieces, sentPiece{piece, not})
	if not {
		return
	}
	if n := len(p.full); n > 0 && IsCJKToken(p.full[n-1]) && IsCJKToken(tokens[0]) {
		p.full = append(p.full, Break)
	}
	p.full = append(p.full, tokens...)
}

// elided are French words that lose their last letter before an apostrophe.
var elided = map[string]bool{
	"c": true, "d": true, "j": true, "l": true, "m": true, "n": true, "s": true, "t": true,
	"qu": true, "jusqu": true, "lorsqu": true, "puisqu": true, "quoiqu": true,
}

var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "＇", "'")

// withoutElision returns the tokens of a text without the elided words that it begins with,
// while others remain. One further in stays: the words around it do not stand in a row.
func withoutElision(text string) []string {
	tokens, rest := Tokens(text), apostrophes.Replace(text)
	for {
		before, after, found := strings.Cut(rest, "'")
		word, others := Tokens(before), Tokens(after)
		if !found || len(word) != 1 || !elided[word[0]] || len(others) == 0 {
			return tokens
		}
		tokens, rest = others, after
	}
}

// at returns the test whether the piece fits the first tokens of a text of language l.
func (p Piece) at(l calendar.Lang) func(tokens []string) bool {
	stems := make([]string, len(p.Tokens))
	for i, t := range p.Tokens {
		stems[i] = Stem(t, l)
	}
	return func(tokens []string) bool {
		if len(tokens) < len(stems) {
			return false
		}
		for i, stem := range stems {
			t := tokens[i]
			begins := p.Open && i == len(stems)-1 && strings.HasPrefix(t, p.Tokens[i])
			// A stem has the first letter of its word.
			if !begins && (t[0] != stem[0] || Stem(t, l) != stem) {
				return false
			}
		}
		return true
	}
}

// never is the number of typos of a piece that does not fit.
const never = MaxTypos + 1

// typos returns the fewest typos with which the piece fits in the tokens of a text of
// language l, or never.
func (p Piece) typos(tokens []string, l calendar.Lang, s Spelling) int {
	fits := p.at(l)
	for i := range tokens {
		if fits(tokens[i:]) {
			return 0
		}
	}
	if s.Joined {
		for _, row := range p.Joined() {
			for i := range tokens {
				if startsWith(tokens[i:], row) {
					return 1
				}
			}
		}
	}
	least, limit := never, p.Most(s.Typos)
	for i := 0; i < len(tokens) && limit > 0; i++ {
		if n := Typos(p.Tokens[0], tokens[i], limit); n <= limit {
			least, limit = n, n-1
		}
	}
	return least
}

func startsWith(tokens, row []string) bool {
	return len(tokens) >= len(row) && slices.Equal(tokens[:len(row)], row)
}
