package readmodel

import (
	"iter"
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

// Within reports whether the search keeps the limit.
func (expression Expression) Within() bool {
	words := 0
	for _, piece := range slices.Concat(expression.Must, expression.Not) {
		words += piece.words()
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

	// neighbors are the words that a word makes together with the one before it and the
	// one behind it.
	neighbors []string
	not       bool // sent behind a minus
}

// IsWord reports whether the piece is a single word that was not quoted.
func (piece Piece) IsWord() bool {
	return piece.Open && len(piece.Tokens) == 1 && !IsCJKToken(piece.Tokens[0])
}

// IsRun reports whether the piece is a run of Chinese, Japanese or Korean characters.
func (piece Piece) IsRun() bool {
	return !slices.ContainsFunc(piece.Tokens, func(text string) bool { return !IsCJKToken(text) })
}

// words counts the words of the piece; a run is one.
func (piece Piece) words() (count int) {
	run := false
	for _, text := range piece.Tokens {
		character := IsCJKToken(text)
		if text != Break && (!character || !run) {
			count++
		}
		run = character
	}
	return count
}

// Spelling is how a text may differ from the words of a search (listings 3.3).
type Spelling struct {
	Typos  int  // that a word may have at most, 0 to MaxTypos; see Piece.Most
	Joined bool // joined spellings fit, too; each counts as a typo
}

// Within returns the part of the spelling that counts as at most so many typos.
func (spelling Spelling) Within(typos int) Spelling {
	return Spelling{min(spelling.Typos, typos), spelling.Joined && typos > 0}
}

// Worst returns the largest number of typos with which a piece fits.
func (spelling Spelling) Worst(piece Piece) int {
	worst := piece.Most(spelling.Typos)
	if spelling.Joined {
		worst = max(worst, 1)
	}
	return worst
}

// joinedFrom is the length in characters from which on a word also fits two words, and a
// run two runs.
const joinedFrom = 4

// Joined returns the joined spellings of the piece: rows of tokens that it also fits, each
// as it is, without stems.
func (piece Piece) Joined() (rows [][]string) {
	unbroken := slices.DeleteFunc(slices.Clone(piece.Tokens), func(token string) bool { return token == Break })
	switch {
	case !piece.Open:
	case piece.IsWord():
		for _, word := range piece.neighbors {
			rows = append(rows, []string{word})
		}
		word := piece.Tokens[0]
		if utf8.RuneCountInString(word) >= joinedFrom {
			for index := range word {
				if index > 0 {
					rows = append(rows, []string{word[:index], word[index:]})
				}
			}
		}
	case piece.IsRun():
		for index := 1; len(piece.Tokens) >= joinedFrom && index < len(piece.Tokens); index++ {
			rows = append(rows, slices.Insert(slices.Clone(piece.Tokens), index, Break))
		}
	case (Piece{Tokens: unbroken}).IsRun():
		rows = append(rows, unbroken)
	case !slices.ContainsFunc(piece.Tokens, IsCJKToken):
		rows = append(rows, []string{strings.Join(piece.Tokens, "")})
	}
	return rows
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
	pieces := expression.split(quotes.Replace(query))
	omit := slices.ContainsFunc(pieces, func(piece Piece) bool { return !piece.not && !piece.isCommon(language) })
	for _, piece := range pieces {
		switch {
		case omit && piece.isCommon(language):
		case piece.not:
			expression.Not, _ = appendPiece(expression.Not, piece)
		default:
			var index int
			expression.Must, index = appendPiece(expression.Must, piece)
			expression.Ranked = append(expression.Ranked, index)
		}
	}
	expression.Ranked = expression.Ranked[:min(len(expression.Ranked), MaxRanked)]
	return expression
}

// split returns the pieces of a search, and fills Full.
func (expression *Expression) split(text string) (pieces []Piece) {
	not := false
	afterWord := false // the last piece is a word that has to fit, with only blanks behind it
	for _, indices := range searchParts.FindAllStringSubmatchIndex(text, -1) {
		part, isQuoted := text[indices[0]:indices[1]], indices[2] >= 0
		if before, _ := utf8.DecodeLastRuneInString(text[:indices[0]]); indices[0] == 0 || unicode.IsSpace(before) {
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
		if len(tokens) > 0 && !not {
			if count := len(expression.Full); count > 0 && IsCJKToken(expression.Full[count-1]) && IsCJKToken(tokens[0]) {
				expression.Full = append(expression.Full, Break)
			}
			expression.Full = append(expression.Full, tokens...)
		}
		not = not && !isQuoted
	}
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
	return size == len(text) && unicode.Is(unicode.Latin, letter) || stopWords()[language][text]
}

// elided are French words that lose their last letter before an apostrophe.
var elided = strings.Fields("c d j l m n s t qu jusqu lorsqu puisqu quoiqu")

var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "＇", "'")

// withoutElision returns the tokens of a text without the elided words that it begins with,
// while others remain. One further in stays: the words around it do not stand in a row.
func withoutElision(text string) []string {
	tokens, rest := Tokens(text), apostrophes.Replace(text)
	for {
		before, after, found := strings.Cut(rest, "'")
		word, others := Tokens(before), Tokens(after)
		if !found || len(word) != 1 || !slices.Contains(elided, word[0]) || len(others) == 0 {
			return tokens
		}
		tokens, rest = others, after
	}
}

// fits yields each place where the piece fits in the tokens of a text of language language,
// and their number there.
func (piece Piece) fits(tokens []string, language calendar.Lang, spelling Spelling) iter.Seq2[int, int] {
	return func(yield func(index, count int) bool) {
		if piece.Whole && len(tokens) != len(piece.Tokens) {
			return
		}
		stems := make([]string, len(piece.Tokens))
		for i, text := range piece.Tokens {
			stems[i] = Stem(text, language)
		}
		var joined [][]string
		if spelling.Joined {
			joined = piece.Joined()
		}
		most := piece.Most(spelling.Typos)
		for index := range tokens {
			fits := piece.begins(tokens[index:], stems, language) || most > 0 && Typos(piece.Tokens[0], tokens[index], most) <= most
			if fits && !yield(index, len(piece.Tokens)) {
				return
			}
			for _, row := range joined {
				if len(row) <= len(tokens)-index && slices.Equal(tokens[index:index+len(row)], row) && !yield(index, len(row)) {
					return
				}
			}
		}
	}
}

// begins reports whether some tokens begin with those of the piece, of which stems are given.
func (piece Piece) begins(tokens, stems []string, language calendar.Lang) bool {
	if len(tokens) < len(stems) {
		return false
	}
	for i, stem := range stems {
		text := tokens[i]
		begins := text == piece.Tokens[i] || piece.Open && i == len(stems)-1 && strings.HasPrefix(text, piece.Tokens[i])
		// A stem has the first letter of its word.
		if !begins && (piece.Exact || text[0] != stem[0] || Stem(text, language) != stem) {
			return false
		}
	}
	return true
}
