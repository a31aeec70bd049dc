package readmodel

import (
	"regexp"
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
	// Ranked are the places in Must of those that count in the ranks 1, 4 and 5, in the order
	// sent, duplicates included, at most MaxRanked.
	Ranked []int
	// Not are the pieces of which none may fit.
	Not []Piece
	// Full are all tokens of the search in order except those after a minus, with Break
	// between two runs of characters.
	Full []string
}

// MaxWords is the limit of the words of a search, those of rows included (interface 9).
// What a search costs an index grows with them.
const MaxWords = 32

// Within reports whether the search keeps the limit. A run of characters is one word.
func (expression Expression) Within() bool {
	words := 0
	for _, piece := range slices.Concat(expression.Must, expression.Not) {
		before := ""
		for _, token := range piece.Tokens {
			if token != Break && (!IsCJKToken(before) || !IsCJKToken(token)) {
				words++
			}
			before = token
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
	// Exact has the tokens stand as they are, without stems, and Whole as the whole text.
	Exact, Whole bool

	not bool // sent behind a minus
	// neighbors are the words that a word makes together with the one before it and the
	// one behind it.
	neighbors []string
}

// IsWord reports whether the piece is a single word that was not quoted.
func (piece Piece) IsWord() bool {
	return piece.Open && len(piece.Tokens) == 1 && !IsCJKToken(piece.Tokens[0])
}

// IsRun reports whether the piece is a run of Chinese, Japanese or Korean characters.
func (piece Piece) IsRun() bool {
	return !slices.ContainsFunc(piece.Tokens, func(text string) bool { return !IsCJKToken(text) })
}

// Spelling is how a text may differ from the words of a search (listings 3.3).
type Spelling struct {
	Typos  int  // that a word may have at most, 0 to MaxTypos; see Piece.Most
	Joined bool // joined spellings fit, too; each counts as a typo
}

// joinedFrom is the length in characters from which on a word also fits two words, and a
// run two runs.
const joinedFrom = 4

// Spelled returns the piece and the joined spellings that it also fits, of which each token
// stands as it is.
func (piece Piece) Spelled(spelling Spelling) []Piece {
	if spelling.Joined && piece.Open {
		return piece.spelled()
	}
	return []Piece{piece} // needs no memory where this is inlined
}

func (piece Piece) spelled() []Piece {
	all := []Piece{piece}
	join := func(tokens ...string) { all = append(all, Piece{Tokens: tokens, Exact: true}) }
	switch {
	case piece.IsWord():
		for _, word := range piece.neighbors {
			join(word)
		}
		word := piece.Tokens[0]
		for index := range word {
			if index > 0 && utf8.RuneCountInString(word) >= joinedFrom {
				join(word[:index], word[index:])
			}
		}
	case piece.IsRun():
		for index := range piece.Tokens {
			if index > 0 && len(piece.Tokens) >= joinedFrom {
				join(slices.Insert(slices.Clone(piece.Tokens), index, Break)...)
			}
		}
	case !slices.ContainsFunc(piece.Tokens, IsCJKToken):
		join(strings.Join(piece.Tokens, ""))
	default:
		unbroken := Piece{Tokens: slices.DeleteFunc(slices.Clone(piece.Tokens), func(token string) bool { return token == Break })}
		if unbroken.IsRun() {
			join(unbroken.Tokens...)
		}
	}
	return all
}

// IsZero reports whether the search has no word; it finds nothing then.
func (expression Expression) IsZero() bool {
	return len(expression.Must) == 0 && len(expression.Not) == 0
}

var quotes = strings.NewReplacer(strings.Fields(`“ " ” " „ " ‟ " « " » " ‹ " › " ＂ "`)...)

// searchParts finds the parts of a search: what stands between two quotes, what is typed
// without a blank and a quote, and a quote without a partner.
var searchParts = regexp.MustCompile(`-?"([^"]*)"|[^\s\v\x85\pZ"]+|"`)

// ParseSearch reads a search as sent. Single Latin letters and the common words of language, the
// language of the request, are left out while another word or row remains that has to fit;
// never in rows. A minus counts at the start or after white space, directly before a word
// or a quote; a quote without a partner, and every other character, separates.
func ParseSearch(query string, language calendar.Lang) Expression {
	expression := Expression{Query: query, Lang: language}
	pieces := expression.split(" " + quotes.Replace(query))
	omit := slices.ContainsFunc(pieces, func(piece Piece) bool { return !piece.not && !piece.isCommon(language) })
	for _, piece := range pieces {
		switch {
		case omit && piece.isCommon(language):
		case piece.not:
			expression.Not, _ = appendPiece(expression.Not, piece)
		default:
			var index int
			expression.Must, index = appendPiece(expression.Must, piece)
			if len(expression.Ranked) < MaxRanked {
				expression.Ranked = append(expression.Ranked, index)
			}
		}
	}
	return expression
}

// split returns the pieces of a search that begins with a blank, and fills Full.
func (expression *Expression) split(text string) (pieces []Piece) {
	var full strings.Builder
	not := false
	afterWord := false // the last piece is a word that has to fit, with only blanks behind it
	for _, indices := range searchParts.FindAllStringSubmatchIndex(text, -1) {
		part, isQuoted := text[indices[0]:indices[1]], indices[2] >= 0
		if before, _ := utf8.DecodeLastRuneInString(text[:indices[0]]); unicode.IsSpace(before) {
			rest, hasMinus := strings.CutPrefix(part, "-")
			first, _ := utf8.DecodeRuneInString(rest)
			if not = hasMinus && (isQuoted || isWordRune(first)); not {
				part = rest
			}
		}
		tokens := Tokens(part)
		piece := Piece{Tokens: tokens, Open: !isQuoted, not: not}
		if piece.Open && expression.Lang == calendar.LangFR {
			piece.Tokens = withoutElision(part)
		}
		isWord := !not && len(tokens) == 1 && piece.IsWord()
		folded := Fold(part)
		if isWord && afterWord && strings.HasPrefix(folded, tokens[0]) {
			before := &pieces[len(pieces)-1]
			piece.neighbors = []string{before.Tokens[0] + tokens[0]}
			before.neighbors = append(before.neighbors, piece.neighbors...)
		}
		afterWord = isWord && strings.HasSuffix(folded, tokens[0])
		if len(tokens) > 0 {
			pieces = append(pieces, piece)
		}
		if !not {
			full.WriteString(" " + part)
		}
		not = not && !isQuoted
	}
	expression.Full = Tokens(full.String())
	return pieces
}

// appendPiece adds a piece unless it is there, and returns its place. A word that is sent
// twice may have neighbors in both places.
func appendPiece(pieces []Piece, piece Piece) ([]Piece, int) {
	index := slices.IndexFunc(pieces, func(q Piece) bool { return piece.Open == q.Open && slices.Equal(piece.Tokens, q.Tokens) })
	if index < 0 {
		return append(pieces, piece), len(pieces)
	}
	pieces[index].neighbors = slices.Concat(pieces[index].neighbors, piece.neighbors)
	return pieces, index
}

// isCommon reports whether a piece counts only when nothing else remains: a single Latin
// letter or a common word (stop word) of a language. Chinese has none.
func (piece Piece) isCommon(language calendar.Lang) bool {
	if !piece.IsWord() {
		return false
	}
	text := piece.Tokens[0]
	letter, size := utf8.DecodeRuneInString(text)
	return size == len(text) && unicode.Is(unicode.Latin, letter) || stopWords[language][text]
}

// elision is what a text begins with that ends in a French word without its last letter.
var elision = regexp.MustCompile(`^[^\pL\pN'’‘]*(?:c|d|j|l|m|n|s|t|qu|jusqu|lorsqu|puisqu|quoiqu)[^\pL\pN\pM'’‘]*['’‘]`)

// withoutElision returns the tokens of a text without the elided words that it begins with,
// while others remain. One further in stays: the words around it do not stand in a row.
func withoutElision(text string) []string {
	folded := Fold(text)
	rest := elision.ReplaceAllString(folded, "")
	if rest != folded && len(Tokens(rest)) > 0 {
		return withoutElision(rest)
	}
	return Tokens(text)
}
