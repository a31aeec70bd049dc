package memindex

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// rank is the order of a list by relevance (readmodel.Relevance). What it asks of documents
// are pieces like those of the search, found with them.
type rank struct {
	of     *readmodel.Relevance
	weighs [2][]weight                 // of documents, and of those that are ranked by their name
	named  bitset                      // the latter; nil: there are none
	row    *piece                      // the full text in a row in the name; nil: it has no word
	exact  [len(calendar.Langs)][]byte // by language: the stream of a name that is the full text; nil: there is none
}

// weight is what documents that a piece fits score for it.
type weight struct {
	of *piece
	n  int
}

// rankBy adds the pieces of an order.
func (r *reading) rankBy(of *readmodel.Relevance) {
	e, name := &of.Search, of.Text
	name.Fields = of.Fields[:1]
	k := &rank{of: of}
	for i, text := range []readmodel.Text{of.Text, name} {
		for _, p := range e.Ranked {
			k.weighs[i] = append(k.weighs[i], weight{r.pieceOf(name, p, of.Typos), readmodel.WeightName})
			if p.InRow {
				continue // it fits as it was sent, or not at all
			}
			k.weighs[i] = append(k.weighs[i], weight{r.piece(text, p.Tokens, formWhole, 0), readmodel.WeightWhole})
			for most := range p.Most(of.Typos) {
				k.weighs[i] = append(k.weighs[i], weight{r.pieceOf(text, p, most), readmodel.WeightTypo})
			}
		}
		if of.Title == nil {
			break
		}
	}
	if row, ok := e.Row(); ok {
		k.row = r.pieceOf(name, row, 0)
	}
	if of.Title != nil {
		r.parse(of.Title)
	}
	r.rank = k
}

// want has the rows of the order note the documents of an upper bound that have to be
// looked into.
func (k *rank) want(e *evaluation, res result) {
	some := e.k.scratch()
	defer e.k.release(some)
	fit := func(p *piece) {
		if p.form == formRow {
			some.copyFrom(res.bitset)
			e.fit(some, p)
		}
	}
	for _, weights := range k.weighs {
		for _, w := range weights {
			fit(w.of)
		}
	}
	if k.row != nil {
		fit(k.row)
	}
}

// ready finds out what else depends on the documents as they are now.
func (k *rank) ready(e *evaluation) {
	if k.of.Title != nil {
		k.named = e.k.scratch()
		e.evalInto(k.named, k.of.Title, e.k.live)
	}
	if k.row == nil {
		return
	}
	for l, d := range e.k.texts.dicts {
		stream := []byte{}
		for _, token := range k.row.tokens {
			id, ok := d.ids.get(token)
			if !ok {
				stream = nil
				break
			}
			stream = binary.AppendUvarint(stream, uint64(id))
		}
		k.exact[l] = stream
	}
}

// score is readmodel.Relevance.Score.
func (k *rank) score(x *kindIndex, o uint32) (n int) {
	weights := k.weighs[0]
	if k.named.has(o) {
		weights = k.weighs[1]
	}
	for _, w := range weights {
		if w.of.set.has(o) {
			n += w.n
		}
	}
	if k.row != nil && k.row.set.has(o) {
		n += readmodel.WeightRow
		d := &x.docs[o]
		field := x.texts.fields[readmodel.TextName].number
		s, ok := findSection(d.texts(), field, k.of.Search.Lang)
		if !ok {
			s, ok = findSection(d.texts(), field, d.home)
		}
		if exact := k.exact[s.lang]; ok && exact != nil && string(s.stream) == string(exact) {
			n += readmodel.WeightExact
		}
	}
	return n
}

type scored struct {
	o     uint32
	score int
}

var scoredPool = sync.Pool{New: func() any { return new([]scored) }}

// rankedPage is pageOf in an order by rank. Of the documents only those are put in order
// that may stand on the page: of equals at its ends as many as it shows.
func (e *evaluation) rankedPage(res result, total int, q *readmodel.Query) []uint32 {
	k, by, limit := e.k, q.Sort[1:], min(q.Limit, total)
	if q.After != nil && !q.After[0].Has {
		return nil // all have a score
	}
	rank := e.r.rank
	rank.ready(e)
	if rank.named != nil {
		defer k.release(rank.named)
	}
	buffer := scoredPool.Get().(*[]scored) //nolint:forcetypeassert // nothing else is put in
	defer scoredPool.Put(buffer)
	all := (*buffer)[:0]
	counts := map[int]int{}
	last, run := -1, 0 // many have one score after the other
	res.each(func(o uint32) bool {
		n := rank.score(k, o)
		all = append(all, scored{o, n})
		if n != last {
			if run > 0 {
				counts[last] += run
			}
			last, run = n, 0
		}
		run++
		return true
	})
	counts[last] += run
	*buffer = all
	if len(counts) == 1 && q.After == nil { // as of most beginnings of words
		return k.page(res, total, by, q.Offset, limit)
	}
	scores := slices.SortedFunc(maps.Keys(counts), func(a, b int) int { return cmp.Compare(b, a) })
	out := make([]uint32, 0, limit)
	// Those with scores from best down to least, of which the page shows some.
	add := func(best, least int, show func(some result) []uint32) {
		some := k.emptyScratch()
		defer k.release(some)
		score := map[uint32]int{}
		for _, d := range all {
			if d.score <= best && d.score >= least {
				some.put(d.o)
				if best > least {
					score[d.o] = d.score
				}
			}
		}
		ords := show(result{bitset: some})
		if best > least {
			slices.SortStableFunc(ords, func(a, b uint32) int { return cmp.Compare(score[b], score[a]) })
		}
		out = append(out, ords...)
	}
	next, ahead := 0, 0
	if q.After != nil {
		after := int(q.After[0].N)
		for next < len(scores) && scores[next] > after {
			next++
		}
		if next < len(scores) && scores[next] == after {
			add(after, after, func(some result) []uint32 { return k.pageBehind(some, counts[after], by, q.After[1:], limit) })
			next++
		}
	}
	for ; next < len(scores) && len(out) < limit; next++ {
		n := counts[scores[next]]
		if ahead+n <= q.Offset {
			ahead += n
			continue
		}
		first := next
		if ahead >= q.Offset { // all of it, and of those behind it as far as they stand on the page as a whole
			for next+1 < len(scores) && len(out)+n+counts[scores[next+1]] <= limit {
				next++
				n += counts[scores[next]]
			}
		}
		from := max(0, q.Offset-ahead)
		add(scores[first], scores[next], func(some result) []uint32 { return k.page(some, n, by, from, min(n-from, limit-len(out))) })
		ahead += n
	}
	return out
}
