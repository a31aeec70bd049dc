package memindex

import (
	"context"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// layer is a segment with those of its documents that are current.
type layer struct {
	*segment
	live bitset
	n    int // current documents
}

// evaluation evaluates filters on a layer. What a search found is kept for the next filter.
type evaluation struct {
	layer
	ctx    context.Context
	err    error                  // of the context
	pieces map[string]*pieceFound // what the searches found so far
	near   [len(calendar.Langs)]map[string][readmodel.MaxTypos + 1][]uint32
}

func newEvaluation(ctx context.Context, l layer) *evaluation { return &evaluation{layer: l, ctx: ctx} }

// close returns what the evaluation holds. Its error is that of the context.
func (e *evaluation) close() error {
	for _, p := range e.pieces {
		release(p.docs)
		if p.seen != nil {
			release(p.seen)
		}
	}
	return e.err
}

// find returns the current documents that a filter admits, to be released.
func (e *evaluation) find(f readmodel.Filter) bitset {
	docs := scratchOf(e.live)
	e.narrow(docs, f)
	return docs
}

// narrow keeps the documents that a filter admits.
func (e *evaluation) narrow(docs bitset, f readmodel.Filter) {
	switch f := f.(type) {
	case readmodel.And:
		for _, searches := range []bool{false, true} { // they look into the documents that are left
			for _, part := range f {
				if readmodel.Searches(part) == searches {
					e.narrow(docs, part)
				}
			}
		}
	case readmodel.Or:
		narrowToAny(docs, f, e.narrow)
	case readmodel.Not:
		some := scratchOf(docs)
		e.narrow(some, f.Filter)
		docs.andNot(some)
		release(some)
	case readmodel.Term:
		if f.Value == "false" && e.schema.Field(f.Field).Type == readmodel.TypeBool {
			e.narrow(docs, readmodel.Not{Filter: readmodel.Term{Field: f.Field, Value: "true"}})
			return
		}
		e.Keywords[f.Field].narrow(docs, []string{f.Value})
	case readmodel.In:
		e.Numbers[f.Field].narrow(docs, numbersOf(f.IDs))
	case readmodel.Range:
		e.Numbers[f.Field].narrowBetween(docs, f.Min, f.Max)
	case readmodel.Contains:
		part := strings.ToLower(f.Value)
		narrowToAny(docs, f.Fields, func(some bitset, field string) {
			e.Keywords[field].narrowTo(some, func(v string) bool { return strings.Contains(strings.ToLower(v), part) })
		})
	case readmodel.Text:
		e.search(docs, f)
	case readmodel.Exists:
		e.narrowExisting(docs, f.Field)
	}
}

// narrowToAny keeps the documents that narrow keeps for one of some parts.
func narrowToAny[T any](docs bitset, parts []T, narrow func(some bitset, part T)) {
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

// narrowExisting keeps the documents that have a value in a field.
func (e *evaluation) narrowExisting(docs bitset, name string) {
	switch e.schema.Field(name).Type {
	case readmodel.TypeKeyword:
		docs.and(e.Keywords[name].has)
	case readmodel.TypeIDs, readmodel.TypeNumber, readmodel.TypeComputed:
		docs.and(e.Numbers[name].has)
	case readmodel.TypeText:
		narrowToAny(docs, calendar.Langs[:], func(some bitset, l calendar.Lang) { some.and(e.Texts[name][l].Has) })
	case readmodel.TypeBool:
		clear(docs)
	}
}

// search keeps the documents that a search finds.
func (e *evaluation) search(docs bitset, f readmodel.Text) {
	if f.Search.IsZero() {
		clear(docs)
		return
	}
	for _, inRow := range []bool{false, true} { // rows look into the documents that are left
		for _, p := range f.Search.Must {
			if p.InRow == inRow {
				e.fit(docs, f, p, p.Most(f.Typos))
			}
		}
	}
	for _, group := range f.Search.Not {
		some := scratchOf(docs)
		for _, p := range group {
			e.fit(some, f, p, 0)
		}
		docs.andNot(some)
		release(some)
	}
}

// pieceFound are the documents that a piece of a search fits.
type pieceFound struct {
	docs bitset
	seen bitset // documents that were looked into; nil: all
}

// fit keeps the documents whose shown texts a piece fits with at most so many typos.
func (e *evaluation) fit(docs bitset, f readmodel.Text, p readmodel.Piece, typos int) {
	e.fitBy(docs, f, &pattern{piece: p, typos: typos})
}

// pattern is what a text is searched for.
type pattern struct {
	piece readmodel.Piece
	whole bool // the word itself, without beginnings and stems
	typos int
}

func (e *evaluation) fitBy(docs bitset, f readmodel.Text, p *pattern) {
	key := patternKey(f, p)
	known := e.pieces[key]
	if known == nil {
		if e.pieces == nil {
			e.pieces = map[string]*pieceFound{}
		}
		known = &pieceFound{docs: scratch(len(docs) * 64)}
		e.pieces[key] = known
		if p.piece.InRow {
			known.seen = scratch(len(docs) * 64)
		} else {
			e.findWord(known.docs, f, p)
		}
	}
	if known.seen != nil {
		fresh := scratchOf(docs)
		fresh.andNot(known.seen)
		e.findRow(known.docs, fresh, f, p)
		known.seen.or(fresh)
		release(fresh)
	}
	docs.and(known.docs)
}

func patternKey(f readmodel.Text, p *pattern) string {
	b := make([]byte, 0, 64)
	b = append(b, byte(f.Search.Lang), byte(p.typos), 0, 0)
	if p.whole {
		b[2] = 1
	}
	if p.piece.InRow {
		b[3] = 1
	}
	for _, list := range [][]string{f.Fields, p.piece.Tokens} {
		for _, s := range list {
			b = append(append(b, s...), 0)
		}
		b = append(b, 0)
	}
	return string(b)
}

// shown keeps the documents that show a text of a field in language l to a request in
// another language, or the same.
func (e *evaluation) shown(docs bitset, column *textColumn, l, request calendar.Lang) {
	docs.and(column[l].Has)
	if l != request {
		docs.and(e.Home[l])
		docs.andNot(column[request].Has)
	}
}

// findWord adds the documents that a word fits.
func (e *evaluation) findWord(docs bitset, f readmodel.Text, p *pattern) {
	some := scratch(len(docs) * 64)
	defer release(some)
	for _, l := range calendar.Langs {
		ranges := e.fitting(l, p)
		if len(ranges) == 0 {
			continue
		}
		for _, name := range f.Fields {
			column := e.Texts[name]
			if column[l].Starts == nil {
				continue
			}
			clear(some)
			for _, r := range ranges {
				column[l].addTo(some, r)
			}
			e.shown(some, column, l, f.Search.Lang)
			docs.or(some)
		}
	}
	docs.and(e.live)
}

// wordRange is a range of numbers of words.
type wordRange struct{ from, to uint32 }

// fitting returns the words of a language that a single word fits.
func (e *evaluation) fitting(l calendar.Lang, p *pattern) (out []wordRange) {
	d, text := e.Words[l], p.piece.Tokens[0]
	if p.whole {
		if w, found := d.find(text); found {
			out = append(out, wordRange{w, w + 1})
		}
		return out
	}
	from, to := d.beginning(text)
	if from < to {
		out = append(out, wordRange{from, to})
	}
	single := func(words []uint32) {
		for _, w := range words {
			if w < from || w >= to {
				out = append(out, wordRange{w, w + 1})
			}
		}
	}
	single(d.withStem(readmodel.Stem(text, d.Lang), false))
	if p.typos > 0 {
		near, known := e.near[l][text]
		if !known {
			near = d.near(text, p.piece.Most(readmodel.MaxTypos))
			if e.near[l] == nil {
				e.near[l] = map[string][readmodel.MaxTypos + 1][]uint32{}
			}
			e.near[l][text] = near
		}
		for _, words := range near[:p.typos+1] {
			single(words)
		}
	}
	return out
}

// inRow returns for each token of a row the words that it fits; nil when there are none
// for one of them.
func (d *dictionary) inRow(tokens []string) [][]wordRange {
	out := make([][]wordRange, len(tokens))
	for i, token := range tokens {
		if token == readmodel.Break || readmodel.IsCJKToken(token) {
			if w, found := d.find(token); found {
				out[i] = []wordRange{{w, w + 1}}
			}
		} else {
			for _, w := range d.withStem(readmodel.Stem(token, d.Lang), true) {
				out[i] = append(out[i], wordRange{w, w + 1})
			}
		}
		if out[i] == nil {
			return nil
		}
	}
	return out
}

// lookEvery is the number of documents that are looked into between two looks at the
// context.
const lookEvery = 256

// findRow adds those of some documents that a row fits.
func (e *evaluation) findRow(docs, among bitset, f readmodel.Text, p *pattern) {
	some, one := scratch(len(docs)*64), scratch(len(docs)*64)
	defer release(some)
	defer release(one)
	for _, l := range calendar.Langs {
		row := e.Words[l].inRow(p.piece.Tokens)
		if row == nil {
			continue
		}
		for _, name := range f.Fields {
			column := e.Texts[name]
			if column[l].Starts == nil {
				continue
			}
			copy(some, among)
			some.andNot(docs)
			e.shown(some, column, l, f.Search.Lang)
			for i, ranges := range row {
				if p.piece.Tokens[i] == readmodel.Break {
					continue
				}
				clear(one)
				for _, r := range ranges {
					column[l].addTo(one, r)
				}
				some.and(one)
			}
			if len(row) > 1 {
				e.lookInto(some, &column[l], row)
			}
			docs.or(some)
		}
	}
}

// lookInto keeps the documents in whose text a row stands.
func (e *evaluation) lookInto(docs bitset, t *texts, row [][]wordRange) {
	n := 0
	docs.keep(func(o uint32) bool {
		if n++; n%lookEvery == 0 && e.err == nil {
			e.err = e.ctx.Err()
		}
		return e.err == nil && stands(t.of(o), row)
	})
}

// stands reports whether a row stands in a text.
func stands(stream []byte, row [][]wordRange) bool {
	for len(stream) > 0 {
		w, size := nextWord(stream)
		stream = stream[size:]
		if fits(w, row[0]) && continues(stream, row[1:]) {
			return true
		}
	}
	return false
}

func continues(stream []byte, row [][]wordRange) bool {
	for _, ranges := range row {
		if len(stream) == 0 {
			return false
		}
		w, size := nextWord(stream)
		if !fits(w, ranges) {
			return false
		}
		stream = stream[size:]
	}
	return true
}

func fits(w uint32, ranges []wordRange) bool {
	for _, r := range ranges {
		if w-r.from < r.to-r.from {
			return true
		}
	}
	return false
}
