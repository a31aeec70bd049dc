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
func (f *Relevance) Score(r *calendar.Record) (score int) {
	text, e := f.Text, &f.Search
	if f.Title != nil && Match(f.Title, &Document{Record: r}) {
		text.Fields = text.Fields[:1]
	}
	texts := shownTexts(text, r)
	name := texts[:1]
	for _, p := range e.Ranked {
		score += WeightTypo * max(f.Worst(p)-texts.typos(p, f.Spelling), 0)
		if name.typos(p, f.Spelling) < never {
			score += WeightName
		}
		if texts.asSent(p) {
			score += WeightWhole
		}
	}
	if row, ok := e.Row(); ok && name.typos(row, Spelling{}) == 0 {
		score += WeightRow
		if slices.Equal(name[0].tokens, e.Full) {
			score += WeightExact
		}
	}
	return score
}

// asSent reports whether a piece stands in one of the texts as it was sent: a word whole,
// the last word of a row whole or by stem. Quoted texts and runs do in all documents that
// the search admits; they do not count.
func (t texts) asSent(p Piece) bool {
	switch {
	case !p.Open, p.IsRun():
		return false
	case p.IsWord():
		return slices.ContainsFunc(t, func(t shownText) bool { return slices.Contains(t.tokens, p.Tokens[0]) })
	default:
		return t.typos(p.Closed(), Spelling{}) == 0
	}
}
