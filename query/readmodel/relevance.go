package readmodel

import (
	"slices"

	"daybook/calendar"
)

// Relevance tells how well documents fit a search (LISTINGS 3.2). It is for those that the
// search admits, and depends on nothing but the document.
type Relevance struct {
	Text // of which the first field is TextName
	// Title admits the documents that are ranked by their name alone, as they are searched
	// by it alone; nil: none.
	Title Filter
}

// MaxRanked is how many pieces of a search count in the ranks 1, 4 and 5.
const MaxRanked = 10

// The weights of the ranks: one step of a rank outweighs all that are below it. A sum of
// them is below 2^24, so that it is exact in the numbers of every engine.
const (
	WeightWhole = 1                            // rank 5: for each piece that stands somewhere as it was sent
	WeightName  = MaxRanked + 1                // rank 4: for each piece that fits in the name
	WeightRow   = WeightName * (MaxRanked + 1) // rank 3: the name has the full text in a row
	WeightExact = 2 * WeightRow                // rank 2: it is the name
	WeightTypo  = 2 * WeightExact              // rank 1: for each typo that is not needed
)

// Row is the full text as a piece; false for a search without one.
func (e Expression) Row() (Piece, bool) { return Piece{Tokens: e.Full}, len(e.Full) > 0 }

// Score is greater the better a document fits. It is the same on every engine, as cursors
// hold it.
func (f *Relevance) Score(record *calendar.Record) (score int) {
	text, expression := f.Text, &f.Search
	if f.Title != nil && Match(f.Title, &Document{Record: record}) {
		text.Fields = text.Fields[:1]
	}
	texts := shownTexts(text, record)
	name := texts[:1]
	for _, piece := range expression.Ranked {
		score += WeightTypo * max(f.Worst(piece)-texts.typos(piece, f.Spelling), 0)
		if name.typos(piece, f.Spelling) < never {
			score += WeightName
		}
		if texts.asSent(piece) {
			score += WeightWhole
		}
	}
	if row, ok := expression.Row(); ok && name.typos(row, Spelling{}) == 0 {
		score += WeightRow
		if slices.Equal(name[0].tokens, expression.Full) {
			score += WeightExact
		}
	}
	return score
}

// asSent reports whether a piece stands in one of the texts as it was sent: a word whole,
// the last word of a row whole or by stem. Quoted texts and runs do in all documents that
// the search admits; they do not count.
func (t texts) asSent(piece Piece) bool {
	switch {
	case !piece.Open, piece.IsRun():
		return false
	case piece.IsWord():
		return slices.ContainsFunc(t, func(t shownText) bool { return slices.Contains(t.tokens, piece.Tokens[0]) })
	default:
		return t.typos(piece.Closed(), Spelling{}) == 0
	}
}
