package memindex

import (
	"context"
	"errors"
	"slices"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/query/readmodel"
)

// The lock of an Index is held for a moment at a time: what takes longer is done
// in several holds, or outside of it over bytes that never change.
const (
	fewDocs   = 64 // changed documents that one hold catches up with
	scanBlock = 64 // documents that are scanned between two looks at the context
)

// errAnew says that what was found so far is of no use: the index was emptied, or
// more has changed than it remembers.
var errAnew = errors.New("the index has changed too much")

// reading is one answer of a kind. It finds the documents of each piece of the
// searches first, in as many holds of the lock as that takes; then one hold looks
// again into the documents that have changed since, and evaluates the filter. So
// the answer is that of one moment.
type reading struct {
	x       *Index
	k       *kindIndex
	seq     uint64 // of the changes that all pieces know of
	filters []readmodel.Filter
	by      string // see evaluation
	rank    *rank  // of a list that is asked for by relevance

	searches map[string]*search
	pieces   map[string]*piece
	order    []*piece // as they were met
	near     [len(calendar.Langs)]map[string]nearWords

	steps int // of the present hold
	work  int // steps in all: words of sets, entries of lists, words of texts
}

// search is a search of the filter.
type search struct {
	must []*piece // beginnings first: rows look into documents, into those that are left
	not  [][]*piece
}

// piece is a piece of a search in some fields as a language shows them.
type piece struct {
	key    string
	lang   calendar.Lang
	fields []string
	tokens []string
	form   form
	typos  int // of a beginning, that it may have

	set  bitset // documents in which it fits
	kept bool   // the set is kept for others too, and not changed

	// Of rows, until the documents were looked into:
	maybe  bitset // documents that have all the words
	wanted bitset // those of them that have to be looked into
	parts  []*rowPart
}

// form is what a piece fits.
type form uint8

const (
	formBeginning form = iota // words that begin as it, or their stems; see readmodel.Piece
	formWhole                 // the word itself
	formRow                   // a row of words
)

// answer evaluates a filter and calls use with the documents that it admits; the lock is
// held meanwhile, and use must be quick. The error is that of ctx.
func (x *Index) answer(ctx context.Context, kind calendar.Kind, f readmodel.Filter, use func(k *kindIndex, res result)) error {
	return x.answers(ctx, kind, []readmodel.Filter{f}, readmodel.Sort{}, func(e *evaluation, _ int, res result) { use(e.k, res) })
}

// answers is answer for several filters in one state; use gets their places. It may begin
// anew after some. A list asks for the first in an order of which the first key is by, a
// zero one for none; tallies are about the others.
func (x *Index) answers(ctx context.Context, kind calendar.Kind, filters []readmodel.Filter, by readmodel.Sort, use func(e *evaluation, i int, res result)) error {
	for {
		r := newReading(x, kind, filters)
		if r.by = by.Field; by.Rank != nil {
			r.rankBy(by.Rank)
		}
		err := r.run(ctx, use)
		r.release()
		if !errors.Is(err, errAnew) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func newReading(x *Index, kind calendar.Kind, filters []readmodel.Filter) *reading {
	r := &reading{x: x, filters: filters}
	for _, f := range filters {
		r.parse(f)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	r.k = x.kinds[kind]
	r.seq = r.k.seq
	return r
}

// parse finds the pieces of the searches in a filter.
func (r *reading) parse(f readmodel.Filter) {
	switch f := f.(type) {
	case readmodel.And:
		for _, part := range f {
			r.parse(part)
		}
	case readmodel.Or:
		for _, part := range f {
			r.parse(part)
		}
	case readmodel.Not:
		r.parse(f.Filter)
	case readmodel.Text:
		r.parseText(f)
	}
}

func (r *reading) parseText(f readmodel.Text) {
	key := searchKey(f)
	if r.searches[key] != nil {
		return
	}
	if r.searches == nil {
		r.searches = map[string]*search{}
	}
	e, s := &f.Search, &search{}
	r.searches[key] = s
	for _, inRow := range []bool{false, true} {
		for _, p := range e.Must {
			if p.InRow == inRow {
				s.must = append(s.must, r.pieceOf(f, p, f.Typos))
			}
		}
	}
	for _, group := range e.Not {
		pieces := make([]*piece, len(group))
		for i, p := range group {
			pieces[i] = r.pieceOf(f, p, 0)
		}
		s.not = append(s.not, pieces)
	}
}

func searchKey(f readmodel.Text) string {
	return textKey(f).Text(f.Search.Query).Number(int64(f.Typos)).String()
}

func textKey(f readmodel.Text) cache.Key {
	return cache.Key(nil).Number(int64(f.Search.Lang)).Texts(f.Fields)
}

// pieceOf gives the documents that a piece of a search fits at a step.
func (r *reading) pieceOf(f readmodel.Text, p readmodel.Piece, step int) *piece {
	if p.InRow {
		return r.piece(f, p.Tokens, formRow, 0)
	}
	return r.piece(f, p.Tokens, formBeginning, p.Most(step))
}

func (r *reading) piece(f readmodel.Text, tokens []string, as form, typos int) *piece {
	key := textKey(f).Number(int64(as)).Number(int64(typos)).Texts(tokens).String()
	if known := r.pieces[key]; known != nil {
		return known
	}
	if r.pieces == nil {
		r.pieces = map[string]*piece{}
	}
	out := &piece{key: key, lang: f.Search.Lang, fields: f.Fields, tokens: tokens, form: as, typos: typos}
	r.pieces[key] = out
	r.order = append(r.order, out)
	return out
}

// run finds what the pieces fit and then answers. The caller holds no lock.
func (r *reading) run(ctx context.Context, use func(e *evaluation, i int, res result)) error {
	rows := false
	for _, p := range r.order {
		if p.form == formRow {
			rows = true
		} else if err := r.begin(ctx, p); err != nil {
			return err
		}
	}
	if !rows {
		return r.finish(ctx, use)
	}
	if done, err := r.findRows(ctx, use); err != nil || done {
		return err
	}
	return r.finish(ctx, use)
}

// findRows finds what the rows fit, or answers at once where no text has to be read.
func (r *reading) findRows(ctx context.Context, use func(e *evaluation, i int, res result)) (done bool, err error) {
	select {
	case r.x.scans <- struct{}{}:
		defer func() { <-r.x.scans }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	texts, done, err := r.collect(use)
	if err != nil || done {
		return done, err
	}
	return false, r.scan(ctx, texts)
}

// finish answers as soon as it has caught up with the changes.
func (r *reading) finish(ctx context.Context, use func(e *evaluation, i int, res result)) error {
	for {
		if done, err := r.tryFinish(use); err != nil || done {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (r *reading) tryFinish(use func(e *evaluation, i int, res result)) (done bool, err error) {
	if err := r.hold(); err != nil {
		return false, err
	}
	defer r.x.mu.RUnlock()
	if !r.catchUp() {
		return false, nil
	}
	r.evaluate(use)
	return true, nil
}

func (r *reading) evaluate(use func(e *evaluation, i int, res result)) {
	e := &evaluation{k: r.k, r: r, by: r.by}
	for i, f := range r.filters {
		e.evaluate(f, func(res result) { use(e, i, res) })
		e.by = byTallies
	}
}

// hold takes the lock; with an error it is not held.
func (r *reading) hold() error {
	r.x.mu.RLock()
	if r.x.kinds[r.k.schema.Kind] != r.k || r.k.seq-r.seq > keptChanges {
		r.x.mu.RUnlock()
		return errAnew
	}
	r.work += r.steps
	r.steps = 0
	return nil
}

// pause lets writers in. With an error the lock is not held any more.
func (r *reading) pause(ctx context.Context) error {
	r.x.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.hold()
}

// catchUp looks again into some documents that have changed, and tells whether
// it knows all of them now.
func (r *reading) catchUp() bool {
	for range fewDocs {
		if r.seq == r.k.seq {
			return true
		}
		o := r.k.changes[r.seq%keptChanges]
		r.seq++
		for _, p := range r.order {
			r.look(p, o)
		}
		if r.steps > r.x.mostSteps {
			break
		}
	}
	return r.seq == r.k.seq
}

// look finds out anew whether a piece fits in a document.
func (r *reading) look(p *piece, o uint32) {
	r.steps += len(r.k.docs[o].texts())
	if p.kept {
		p.set, p.kept = append(r.k.scratch()[:0], p.set...), false
		r.steps += len(p.set)
	}
	if r.k.fits(o, p) {
		p.set = p.set.set(o)
	} else {
		p.set.clear(o)
	}
}

// release gives the sets back.
func (r *reading) release() {
	for _, p := range r.order {
		if p.kept {
			p.set = nil
		}
		for _, set := range []bitset{p.set, p.maybe, p.wanted} {
			if set != nil {
				r.k.release(set)
			}
		}
		for _, part := range p.parts {
			r.k.release(part.in)
		}
	}
}

// grown gives a set that is as long as there are ordinals now.
func (r *reading) grown(b bitset) bitset {
	if n := wordsFor(len(r.k.docs)); n > len(b) {
		b = append(b, make(bitset, n-len(b))...)
	}
	return b
}

// begin finds the documents that have a word with a beginning. Words and
// documents may come and go between two holds: what that changes is looked at
// again when the reading catches up.
func (r *reading) begin(ctx context.Context, p *piece) error {
	if err := r.hold(); err != nil {
		return err
	}
	k := r.k
	if r.remembered(p) {
		r.x.mu.RUnlock()
		return nil
	}
	p.set = k.emptyScratch()
	seq, steps := k.seq, r.work
	scratch := k.emptyScratch()
	var found bitset // of a language whose texts are shown where there is no other
	defer func() {
		k.release(scratch)
		if found != nil {
			k.release(found)
		}
	}()
	for _, l := range calendar.Langs {
		ids := r.fitting(l, p)
		if len(ids) == 0 {
			continue
		}
		for _, name := range p.fields {
			field := k.texts.fields[name]
			if len(field.langs[l].postings) == 0 {
				continue
			}
			into := &p.set
			if l != p.lang {
				if found == nil {
					found = k.scratch()
				}
				found = r.grown(found)
				clear(found)
				into = &found
			}
			for _, id := range ids {
				if r.steps > r.x.mostSteps {
					if err := r.pause(ctx); err != nil {
						return err
					}
					*into, scratch = r.grown(*into), r.grown(scratch)
				}
				if in := &field.langs[l]; int(id) < len(in.postings) {
					r.steps += in.postings[id].orInto(*into, scratch)
				}
			}
			if l != p.lang {
				p.set = r.grown(p.set)
				k.onlyShown(found, field, l, p.lang)
				p.set.or(found)
				r.steps += 5 * len(found)
			}
		}
	}
	if r.work+r.steps-steps > manySteps {
		k.texts.fits.put(p.key, slices.Clone(p.set), seq)
	}
	r.x.mu.RUnlock()
	return nil
}

// remembered takes what another reading found, where little has changed since.
func (r *reading) remembered(p *piece) bool {
	set, seq := r.k.texts.fits.get(p.key)
	if set == nil || r.k.seq-seq > fewDocs {
		return false
	}
	p.set, p.kept = set, true
	if seq == r.k.seq {
		return true
	}
	for ; seq < r.k.seq; seq++ {
		r.look(p, r.k.changes[seq%keptChanges])
	}
	p.kept = true
	r.k.texts.fits.put(p.key, p.set, seq)
	return true
}

// docTexts are the texts of a document. The bytes are never changed.
type docTexts struct {
	ordinal uint32
	texts   []byte
}

// collect finds the documents that have to be looked into for rows. Where there
// is none, it answers in the same hold.
func (r *reading) collect(use func(e *evaluation, i int, res result)) (texts []docTexts, done bool, err error) {
	if err := r.hold(); err != nil {
		return nil, false, err
	}
	defer r.x.mu.RUnlock()
	e := &evaluation{k: r.k, r: r, upper: true}
	for i, f := range r.filters {
		e.evaluate(f, func(res result) { // the rows note what they want
			if r.rank != nil && i == 0 {
				r.rank.want(e, res)
			}
		})
	}
	res := r.k.emptyScratch()
	defer r.k.release(res)
	for _, p := range r.order {
		if p.wanted != nil {
			res.or(p.wanted)
		}
	}
	n := res.count()
	r.steps += len(res)
	if n == 0 {
		if done = r.catchUp(); done {
			r.evaluate(use)
		}
		return nil, done, nil
	}
	texts = make([]docTexts, 0, n)
	res.each(func(o uint32) bool {
		texts = append(texts, docTexts{o, r.k.docs[o].texts()})
		return true
	})
	r.steps += n
	for _, p := range r.order {
		for _, part := range p.parts {
			if part.roots == nil && part.to-part.from < len(part.stems) {
				r.share(part)
			}
		}
	}
	return texts, false, nil
}

// share gives all parts of a language the stems of the words as of now.
func (r *reading) share(first *rowPart) {
	roots := slices.Clone(r.k.texts.dicts[first.lang].roots)
	r.steps += len(roots) / 8
	for _, p := range r.order {
		for _, part := range p.parts {
			if part.lang == first.lang {
				part.roots = roots
			}
		}
	}
}
