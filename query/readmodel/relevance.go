package readmodel

import "daybook/calendar"

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

// InName is the search in names alone.
func (text Text) InName() Text {
	text.Fields = text.Fields[:1]
	return text
}

// EachRank calls use with the searches that are ranked by: a document has the sum of the
// weights of those that admit it.
func (text Text) EachRank(use func(weight int, search Text)) {
	rank := func(weight int, in Text, piece Piece, spelling Spelling) {
		in.Search, in.Spelling = Expression{Lang: text.Search.Lang, Must: []Piece{piece}}, spelling
		use(weight, in)
	}
	for _, index := range text.Search.Ranked {
		piece := text.Search.Must[index]
		for typos := range MaxTypos {
			if typos < piece.Most(text.Typos) || typos == 0 && text.Joined {
				rank(WeightTypo, text, piece, Spelling{typos, typos > 0 && text.Joined})
			}
		}
		rank(WeightName, text.InName(), piece, text.Spelling)
		if piece.Open && !piece.IsRun() { // others stand as they were sent, or not at all
			rank(WeightWhole, text, Piece{Tokens: piece.Tokens, Exact: piece.IsWord()}, Spelling{})
		}
	}
	if full := text.Search.Full; len(full) > 0 {
		rank(WeightRow, text.InName(), Piece{Tokens: full}, Spelling{})
		rank(WeightExact, text.InName(), Piece{Tokens: full, Exact: true, Whole: true}, Spelling{})
	}
}

// Score is greater the better a document fits. It is the same on every engine, as cursors
// hold it.
func (relevance *Relevance) Score(record *calendar.Record) (score int) {
	text := relevance.Text
	if relevance.Title != nil && Match(relevance.Title, record) {
		text = text.InName()
	}
	texts := textsOf(text, record)
	text.EachRank(func(weight int, search Text) {
		if texts[:len(search.Fields)].fit(search) {
			score += weight
		}
	})
	return score
}
