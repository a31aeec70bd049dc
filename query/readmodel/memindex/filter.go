package memindex

import (
	"context"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// liveSegment is a segment with those of its documents that are current.
type liveSegment struct {
	*segment
	live   bitset
	number int // current documents
}

// evaluation evaluates filters on a layer.
type evaluation struct {
	liveSegment
	ctx  context.Context
	err  error // of the context
	near byLanguage[map[string][readmodel.MaxTypos + 1][]uint32]
}

// narrow keeps the documents that a filter admits.
func (evaluation *evaluation) narrow(docs bitset, filter readmodel.Filter) {
	switch f := filter.(type) {
	case readmodel.And:
		for _, part := range f { // a search, the last one, looks into the documents that are left
			if !docs.empty() {
				evaluation.narrow(docs, part)
			}
		}
	case readmodel.Or:
		narrowToAny(docs, f, evaluation.narrow)
	case readmodel.Not:
		subset := scratchOf(docs)
		evaluation.narrow(subset, f.Filter)
		docs.andNot(subset)
		release(subset)
	case readmodel.Term:
		evaluation.Keywords[f.Field].narrow(docs, []string{f.Value})
	case readmodel.In:
		evaluation.Numbers[f.Field].narrow(docs, numbersOf(f.IDs))
	case readmodel.Range:
		evaluation.Numbers[f.Field].narrowBetween(docs, f.Min, f.Max)
	case readmodel.Contains:
		narrowToAny(docs, f.Fields, func(subset bitset, field string) {
			all := evaluation.Keywords[field]
			all.narrow(subset, slices.DeleteFunc(slices.Clone(all.Values), func(text string) bool { return !strings.Contains(text, f.Value) }))
		})
	case readmodel.Text:
		evaluation.search(docs, f)
	}
}

// narrowToAny keeps the documents that narrow keeps for one of some parts.
func narrowToAny[T any](docs bitset, parts []T, narrow func(subset bitset, part T)) {
	found, some := scratch(len(docs)*64), scratch(len(docs)*64)
	for _, part := range parts {
		copy(some, docs)
		narrow(some, part)
		found.or(some)
	}
	copy(docs, found)
	release(found)
	release(some)
}

// search keeps the documents that a search finds.
func (evaluation *evaluation) search(docs bitset, text readmodel.Text) {
	if text.Search.IsZero() {
		clear(docs)
		return
	}
	for _, words := range []bool{true, false} { // rows look into the documents that are left
		for _, piece := range text.Search.Must {
			if piece.IsWord() == words {
				evaluation.fit(docs, text, piece)
			}
		}
	}
	text.Spelling = readmodel.Spelling{}
	for _, piece := range text.Search.Not {
		subset := scratchOf(docs)
		evaluation.fit(subset, text, piece)
		docs.andNot(subset)
		release(subset)
	}
}

// fit keeps the documents whose shown texts a piece of a search fits.
func (evaluation *evaluation) fit(docs bitset, text readmodel.Text, piece readmodel.Piece) {
	found := scratch(len(docs) * 64)
	evaluation.findRows(found, docs, text, piece)
	docs.and(found)
	release(found)
}

// shown keeps the documents that show a text of a field in a language to a request in
// another language, or the same.
func (evaluation *evaluation) shown(docs bitset, column *textColumn, language, request calendar.Lang) {
	if language != request {
		docs.and(evaluation.Home[language])
		docs.andNot(column[request].Has)
	}
}

// wordRange is a range of numbers of words.
type wordRange struct{ from, to uint32 }

// row are the words that fit at each place of words next to each other.
type row [][]wordRange

// rows returns the rows of words of a language that a piece fits.
func (evaluation *evaluation) rows(language calendar.Lang, piece readmodel.Piece, spelling readmodel.Spelling) (rows []row) {
	dictionary := evaluation.Words[language]
	if len(dictionary.Words) == 0 {
		return nil
	}
spellings:
	for _, piece := range piece.Spelled(spelling) {
		row := make(row, len(piece.Tokens))
		for i, token := range piece.Tokens {
			switch {
			case piece.Exact:
				row[i] = dictionary.exactly(token)
			case piece.Open && i == len(row)-1:
				row[i] = evaluation.beginning(dictionary, piece, spelling.Typos)
			default:
				row[i] = singly(nil, dictionary.withStem(readmodel.Stem(token, language)))
			}
			if row[i] == nil {
				continue spellings
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// beginning returns the words that the last token of a piece fits: those that begin with
// it, those with its stem, and those with typos.
func (evaluation *evaluation) beginning(dictionary *dictionary, piece readmodel.Piece, typos int) (wordRanges []wordRange) {
	text := piece.Tokens[len(piece.Tokens)-1]
	begins := dictionary.beginning(text)
	if begins.from < begins.to {
		wordRanges = append(wordRanges, begins)
	}
	wordRanges = singly(wordRanges, dictionary.withStem(readmodel.Stem(text, dictionary.Lang)))
	if typos = piece.Most(typos); typos > 0 {
		near, known := evaluation.near[dictionary.Lang][text]
		if !known {
			near = dictionary.near(text, piece.Most(readmodel.MaxTypos))
			if evaluation.near[dictionary.Lang] == nil {
				evaluation.near[dictionary.Lang] = map[string][readmodel.MaxTypos + 1][]uint32{}
			}
			evaluation.near[dictionary.Lang][text] = near
		}
		for _, words := range near[:typos+1] {
			wordRanges = singly(wordRanges, words)
		}
	}
	return wordRanges
}

// singly adds words.
func singly(wordRanges []wordRange, words []uint32) []wordRange {
	for _, word := range words {
		wordRanges = append(wordRanges, wordRange{word, word + 1})
	}
	return wordRanges
}

// lookEvery is the number of documents that are looked into between two looks at the
// context.
const lookEvery = 256

// findRows adds those of some documents that a piece of a search fits, and others.
func (evaluation *evaluation) findRows(docs, among bitset, text readmodel.Text, piece readmodel.Piece) {
	subset, one := scratch(len(docs)*64), scratch(len(docs)*64)
	defer release(subset)
	defer release(one)
	for _, language := range calendar.Langs {
		for _, row := range evaluation.rows(language, piece, text.Spelling) {
			for _, name := range text.Fields {
				column := evaluation.Texts[name]
				if column[language].Starts == nil {
					continue
				}
				single := len(row) == 1 && !piece.Whole
				if single && language == text.Search.Lang { // it is shown to all
					column[language].addTo(docs, row[0])
					continue
				}
				clear(subset)
				column[language].addTo(subset, row[0])
				evaluation.shown(subset, column, language, text.Search.Lang)
				subset.and(among)
				if !single {
					subset.andNot(docs)
					for _, words := range row[1:] {
						clear(one)
						column[language].addTo(one, words)
						subset.and(one)
					}
					evaluation.lookInto(subset, &column[language], row, piece.Whole)
				}
				docs.or(subset)
			}
		}
	}
}

// lookInto keeps the documents in whose text a row stands, or of which it is the whole text.
func (evaluation *evaluation) lookInto(docs bitset, texts *texts, row row, whole bool) {
	count := 0
	docs.keep(func(ordinal uint32) bool {
		if count++; count%lookEvery == 0 && evaluation.err == nil {
			evaluation.err = evaluation.ctx.Err()
		}
		if whole {
			rest, begins := row.begins(texts.of(ordinal))
			return begins && len(rest) == 0
		}
		return evaluation.err == nil && row.standsIn(texts.of(ordinal))
	})
}

// standsIn reports whether a row stands in a text.
func (row row) standsIn(stream []byte) bool {
	for len(stream) > 0 {
		word, rest := nextWord(stream)
		stream = rest
		if fits(word, row[0]) {
			if _, begins := row[1:].begins(stream); begins {
				return true
			}
		}
	}
	return false
}

// begins reports whether a text begins with a row, and returns what stands behind that.
func (row row) begins(stream []byte) (behind []byte, begins bool) {
	for _, words := range row {
		if len(stream) == 0 {
			return nil, false
		}
		word, rest := nextWord(stream)
		if !fits(word, words) {
			return nil, false
		}
		stream = rest
	}
	return stream, true
}

func fits(word uint32, ranges []wordRange) bool {
	return slices.ContainsFunc(ranges, func(r wordRange) bool { return word-r.from < r.to-r.from })
}
