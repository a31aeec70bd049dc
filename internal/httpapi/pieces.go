package httpapi

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
	"unsafe"

	"github.com/klauspost/compress/s2"

	"daybook/calendar"
)

// pieceForm is what a piece is a rendering of.
type pieceForm uint8

const (
	formEvent  pieceForm = iota + 1 // an event without the records that it embeds
	formPost                        // a venue or organizer
	formTerm                        // a term by itself
	formNested                      // a term within an event
)

// pieceKey names a rendered record alone, without what it embeds: everything that
// its bytes depend on. So a change of one record, or of the count of a term, makes
// no other piece wrong.
type pieceKey struct {
	id      calendar.ID
	version int64
	sum     uint64 // calendar.Record.Sum
	count   int    // terms
	root    uint64 // secret of the root
	status  calendar.Status
	form    pieceForm
	lang    calendar.Lang
	blanked bool
}

// pieceParts are the parts of a piece; between them stands what does not depend
// on the record alone.
type pieceParts [4][]byte

// cut cuts a piece at the ends of its parts; the last part goes to the end.
func cut(b []byte, ends *[3]int) pieceParts {
	return pieceParts{b[:ends[0]], b[ends[0]:ends[1]], b[ends[1]:ends[2]], b[ends[2]:]}
}

// piece is a rendered record as it is kept. It is never changed.
type piece struct {
	key  pieceKey
	ends [3]int
	body []byte
	dict *s2.Dict // body is compressed against it; nil: it is not
}

func (p *piece) cost() int64 { return int64(unsafe.Sizeof(*p)) + int64(cap(p.body)) }

// pieceTable keeps pieces up to a number of bytes, those of events compressed:
// there are many, and a calendar's are much alike. A piece has two places; what
// has to go is not what was used last, but finding and keeping take no lock. A nil
// table keeps nothing.
type pieceTable struct {
	seed   maphash.Seed
	places []atomic.Pointer[piece] // a power of two
	limit  int64
	bytes  atomic.Int64
	hand   atomic.Uint64 // the next place to be emptied
	turn   atomic.Uint64 // which of two places is taken
	// dict is the sample that events are compressed against: the first that came.
	dict atomic.Pointer[s2.Dict]
}

// typicalPiece is what a piece takes, about; there is a place for each half.
const typicalPiece = 512

// newPieceTable makes a table for a number of bytes; negative: none.
func newPieceTable(limit int) *pieceTable {
	if limit < 0 {
		return nil
	}
	n := 64
	for n < limit/(typicalPiece/2) {
		n *= 2
	}
	return &pieceTable{seed: maphash.MakeSeed(), places: make([]atomic.Pointer[piece], n), limit: int64(limit)}
}

// get gives the parts of a piece. They may lie in scratch, which grows as needed.
func (t *pieceTable) get(key pieceKey, scratch *[]byte) (pieceParts, bool) {
	if t == nil {
		return pieceParts{}, false
	}
	p := t.find(key)
	if p == nil {
		return pieceParts{}, false
	}
	body := p.body
	if p.dict != nil {
		var err error
		if body, err = p.dict.Decode((*scratch)[:0], p.body); err != nil {
			return pieceParts{}, false // it is rendered again
		}
		*scratch = body
	}
	return cut(body, &p.ends), true
}

// has tells whether a piece is there.
func (t *pieceTable) has(key pieceKey) bool { return t != nil && t.find(key) != nil }

func (t *pieceTable) find(key pieceKey) *piece {
	at := maphash.Comparable(t.seed, key) & uint64(len(t.places)-1)
	if p := t.places[at].Load(); p != nil && p.key == key {
		return p
	}
	if p := t.places[at^1].Load(); p != nil && p.key == key {
		return p
	}
	return nil
}

// set keeps a piece; body is copied.
func (t *pieceTable) set(key pieceKey, body []byte, ends [3]int) {
	if t == nil {
		return
	}
	p := &piece{key: key, ends: ends}
	if key.form == formEvent {
		if p.dict = t.dict.Load(); p.dict == nil {
			if d := s2.MakeDict(bytes.Clone(body), nil); d != nil { // it holds on to its sample
				t.dict.CompareAndSwap(nil, d)
			}
			p.dict = t.dict.Load()
		}
	}
	if p.dict != nil {
		p.body = bytes.Clone(p.dict.Encode(nil, body))
	} else {
		p.body = bytes.Clone(body)
	}
	at := maphash.Comparable(t.seed, key) & uint64(len(t.places)-1)
	switch first, second := t.places[at].Load(), t.places[at^1].Load(); {
	case first == nil || first.key == key:
	case second == nil || second.key == key || t.turn.Add(1)&1 == 0:
		at ^= 1
	}
	t.change(at, p)
	for t.bytes.Load() > t.limit {
		t.change(t.hand.Add(1)&uint64(len(t.places)-1), nil)
	}
}

// change puts a piece in a place, or empties it.
func (t *pieceTable) change(at uint64, p *piece) {
	n := int64(0)
	if p != nil {
		n = p.cost()
	}
	if old := t.places[at].Swap(p); old != nil {
		n -= old.cost()
	}
	t.bytes.Add(n)
}
