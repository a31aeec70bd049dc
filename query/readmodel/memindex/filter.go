package memindex

import (
	"context"
	"slices"
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

// evaluation evaluates filters on a layer.
type evaluation struct {
	layer
	ctx  context.Context
	err  error // of the context
	near [len(calendar.Langs)]map[string][readmodel.MaxTypos + 1][]uint32
}

// narrow keeps the documents that a filter admits.
func (e *evaluation) narrow(docs bitset, f readmodel.Filter) {
	switch f := f.(type) {
	case readmodel.And:
		for _, searches := range []bool{false, true} { // they look into the documents that are left
			for _, part := range f {
				if readmodel.Searches(part) == searches && !docs.empty() {
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
		e.Keywords[f.Field].narrow(docs, []string{f.Value})
	case readmodel.In:
		e.Numbers[f.Field].narrow(docs, numbersOf(f.IDs))
	case readmodel.Range:
		e.Numbers[f.Field].narrowBetween(docs, f.Min, f.Max)
	case readmodel.Contains:
		narrowToAny(docs, f.Fields, func(some bitset, field string) {
			all := e.Keywords[field]
			all.narrow(some, slices.DeleteFunc(slices.Clone(all.Values), func(text string) bool { return !strings.Contains(text, f.Value) }))
		})
	case readmodel.Text:
		e.search(docs, f)
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

// search keeps the documents that a search finds.
func (e *evaluation) search(docs bitset, text readmodel.Text) {
	if text.Search.IsZero() {
		clear(docs)
		return
	}
	for _, words := range []bool{true, false} { // rows look into the documents that are left
		for _, p := range text.Search.Must {
			if p.IsWord() == words {
				e.fit(docs, text, p)
			}
		}
	}
	text.Spelling = readmodel.Spelling{}
	for _, p := range text.Search.Not {
		some := scratchOf(docs)
		e.fit(some, text, p)
		docs.andNot(some)
		release(some)
	}
}

// fit keeps the documents whose shown texts a piece of a search fits.
func (e *evaluation) fit(docs bitset, text readmodel.Text, p readmodel.Piece) {
	found := scratch(len(docs) * 64)
	e.findRows(found, docs, text, p)
	copy(docs, found)
	release(found)
}

// shown keeps the documents that show a text of a field in language lang to a request in
// another language, or the same.
func (e *evaluation) shown(docs bitset, column *textColumn, lang, request calendar.Lang) {
	docs.and(column[lang].Has)
	if lang != request {
		docs.and(e.Home[lang])
		docs.andNot(column[request].Has)
	}
}

// wordRange is a range of numbers of words.
type wordRange struct{ from, to uint32 }

// row are the words that fit at each place of words next to each other.
type row [][]wordRange

// rows returns the rows of words of a language that a piece fits.
func (e *evaluation) rows(lang calendar.Lang, p readmodel.Piece, spelling readmodel.Spelling) (out []row) {
	dictionary, tokens := e.Words[lang], p.Tokens
	add := func(tokens []string, fitting func(i int) []wordRange) {
		r := make(row, len(tokens))
		for i := range tokens {
			if r[i] = fitting(i); r[i] == nil {
				return
			}
		}
		out = append(out, r)
	}
	add(tokens, func(i int) []wordRange {
		switch {
		case p.Exact:
			return dictionary.exactly(tokens[i])
		case p.Open && i == len(tokens)-1:
			return e.beginning(dictionary, p, spelling.Typos)
		default:
			return singly(nil, dictionary.withStem(readmodel.Stem(tokens[i], lang)))
		}
	})
	if spelling.Joined {
		for _, tokens := range p.Joined() {
			add(tokens, func(i int) []wordRange { return dictionary.exactly(tokens[i]) })
		}
	}
	return out
}

// beginning returns the words that the last token of a piece fits: those that begin with
// it, those with its stem, and those with typos.
func (e *evaluation) beginning(d *dictionary, p readmodel.Piece, typos int) (out []wordRange) {
	text := p.Tokens[len(p.Tokens)-1]
	begins := d.beginning(text)
	if begins.from < begins.to {
		out = append(out, begins)
	}
	out = singly(out, d.withStem(readmodel.Stem(text, d.Lang)))
	if typos = p.Most(typos); typos > 0 {
		near, known := e.near[d.Lang][text]
		if !known {
			near = d.near(text, p.Most(readmodel.MaxTypos))
			if e.near[d.Lang] == nil {
				e.near[d.Lang] = map[string][readmodel.MaxTypos + 1][]uint32{}
			}
			e.near[d.Lang][text] = near
		}
		for _, words := range near[:typos+1] {
			out = singly(out, words)
		}
	}
	return out
}

// singly adds words.
func singly(to []wordRange, words []uint32) []wordRange {
	for _, w := range words {
		to = append(to, wordRange{w, w + 1})
	}
	return to
}

// lookEvery is the number of documents that are looked into between two looks at the
// context.
const lookEvery = 256

// findRows adds those of some documents that a piece of a search fits.
func (e *evaluation) findRows(docs, among bitset, text readmodel.Text, p readmodel.Piece) {
	some, one := scratch(len(docs)*64), scratch(len(docs)*64)
	defer release(some)
	defer release(one)
	for _, lang := range calendar.Langs {
		for _, row := range e.rows(lang, p, text.Spelling) {
			for _, name := range text.Fields {
				column := e.Texts[name]
				if column[lang].Starts == nil {
					continue
				}
				clear(some)
				column[lang].addTo(some, row[0])
				e.shown(some, column, lang, text.Search.Lang)
				some.and(among)
				if len(row) > 1 || p.Whole {
					some.andNot(docs)
					for _, words := range row[1:] {
						clear(one)
						column[lang].addTo(one, words)
						some.and(one)
					}
					e.lookInto(some, &column[lang], row, p.Whole)
				}
				docs.or(some)
			}
		}
	}
}

// lookInto keeps the documents in whose text a row stands, or of which it is the whole text.
func (e *evaluation) lookInto(docs bitset, t *texts, r row, whole bool) {
	n := 0
	docs.keep(func(o uint32) bool {
		if n++; n%lookEvery == 0 && e.err == nil {
			e.err = e.ctx.Err()
		}
		if whole {
			rest, begins := r.begins(t.of(o))
			return begins && len(rest) == 0
		}
		return e.err == nil && r.standsIn(t.of(o))
	})
}

// standsIn reports whether a row stands in a text.
func (r row) standsIn(stream []byte) bool {
	for len(stream) > 0 {
		w, size := nextWord(stream)
		stream = stream[size:]
		if fits(w, r[0]) {
			if _, begins := r[1:].begins(stream); begins {
				return true
			}
		}
	}
	return false
}

// begins reports whether a text begins with a row, and returns what stands behind that.
func (r row) begins(stream []byte) (rest []byte, begins bool) {
	for _, words := range r {
		if len(stream) == 0 {
			return nil, false
		}
		w, size := nextWord(stream)
		if !fits(w, words) {
			return nil, false
		}
		stream = stream[size:]
	}
	return stream, true
}

func fits(w uint32, ranges []wordRange) bool {
	return slices.ContainsFunc(ranges, func(r wordRange) bool { return w-r.from < r.to-r.from })
}
