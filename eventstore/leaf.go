package eventstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"sync"
	"time"

	"daybook/calendar"
)

// The first parts of what leaves and bodies are made from. A new canonical form of
// entries gets new ones; the old forms are read for ever.
const (
	leafForm1 = "daybook entry 1"
	leafForm2 = "daybook entry 2"
	bodyForm2 = "daybook body 2"
)

// Salts are the random salts of the bodies of an entry of form 2: actor, cause, fields,
// state, secret; that of the secret is zero where there is none.
type Salts [5][16]byte

// saltBatch are salts that are drawn at once.
type saltBatch struct {
	all  [64]Salts
	used int
}

// saltBatches has a batch for each processor. A common one would need a lock, which is
// held while the next one is drawn.
var saltBatches = sync.Pool{New: func() any {
	b := &saltBatch{}
	var drawn [len(b.all) * len(Salts{}) * len(Salts{}[0])]byte
	_, _ = rand.Read(drawn[:]) // never fails
	left := drawn[:]
	for i := range b.all {
		for j := range b.all[i] {
			left = left[copy(b.all[i][j][:], left):]
		}
	}
	return b
}}

// newSalts gives the salts of an entry to be.
func newSalts(secret bool) *Salts {
	b, _ := saltBatches.Get().(*saltBatch)
	s := &b.all[b.used]
	if b.used++; b.used < len(b.all) {
		saltBatches.Put(b)
	}
	if !secret {
		s[len(s)-1] = [16]byte{}
	}
	return s
}

// Leaf gives the SHA-256 of the canonical form of an entry: all of its fields but the
// position, which the chain adds. Every part has a fixed length or is led by its
// length, so no two entries share a form. With Salts it is of form 2 (HISTORY 13),
// also when the entry is redacted; of a redacted entry of form 1 there is none, it
// gives zeros.
func Leaf(e *Entry) [32]byte {
	h := takeHash()
	defer leafHashes.Put(h)
	switch {
	case e.Salts != nil:
		bodies := bodyHashes(h, e)
		return leaf2(h, e, &bodies)
	case e.Redacted != nil:
		return [32]byte{}
	case e.Secret == nil:
		return leaf1(h, e, nil)
	default:
		sum := sha256.Sum256(e.Secret)
		return leaf1(h, e, &sum)
	}
}

// leaf1 hashes the parts one after the other. The secret takes part by its own SHA-256,
// so a leaf can be checked by those who must not see it.
func leaf1(h *leafHash, e *Entry, secret *[32]byte) (leaf [32]byte) {
	h.text(leafForm1)
	h.text(e.Kind.String())
	h.number(int64(e.ID))
	h.number(e.Version)
	h.number(e.Time.UnixMilli())
	h.number(int64(e.Actor))
	h.text(e.Cause.Client)
	h.text(e.Cause.Request)
	h.text(e.Cause.Reason)
	h.text(e.Change)
	h.bytes(e.Fields)
	h.bytes(e.State)
	if secret == nil {
		h.number(0)
	} else {
		h.number(1)
		h.bytes(secret[:])
	}
	h.sum(&leaf)
	return leaf
}

// leaf2 hashes the head of an entry and the hashes of its bodies, each of which can be
// opened, or erased, alone.
func leaf2(h *leafHash, e *Entry, bodies *[5][32]byte) (leaf [32]byte) {
	h.text(leafForm2)
	h.text(e.Kind.String())
	h.number(int64(e.ID))
	h.number(e.Version)
	h.number(e.Time.UnixMilli())
	h.text(e.Change)
	for i := range bodies {
		h.raw(bodies[i][:])
	}
	h.sum(&leaf)
	return leaf
}

// BodyHashes gives H_actor, H_cause, H_fields, H_state and H_secret of an entry of form
// 2; of a redacted one the last four are those that were kept.
func BodyHashes(e *Entry) [5][32]byte {
	h := takeHash()
	defer leafHashes.Put(h)
	return bodyHashes(h, e)
}

func bodyHashes(h *leafHash, e *Entry) (bodies [5][32]byte) {
	begin := func(i int, name string) {
		h.text(bodyForm2)
		h.text(name)
		h.raw(e.Salts[i][:])
	}
	begin(0, "actor")
	h.number(8)
	h.number(int64(e.Actor))
	h.sum(&bodies[0])
	if e.Redacted != nil {
		copy(bodies[1:], e.Redacted.Hashes[:])
		return bodies
	}
	begin(1, "cause")
	h.number(int64(3*8 + len(e.Cause.Client) + len(e.Cause.Request) + len(e.Cause.Reason)))
	h.text(e.Cause.Client)
	h.text(e.Cause.Request)
	h.text(e.Cause.Reason)
	h.sum(&bodies[1])
	begin(2, "fields")
	h.bytes(e.Fields)
	h.sum(&bodies[2])
	begin(3, "state")
	h.bytes(e.State)
	h.sum(&bodies[3])
	if e.Secret != nil {
		begin(4, "secret")
		sum := sha256.Sum256(e.Secret)
		h.bytes(sum[:])
		h.sum(&bodies[4])
	}
	return bodies
}

// leafHash gathers small parts, so that the hash is fed in large ones.
type leafHash struct {
	h    hash.Hash
	n    int
	room [192]byte
	out  [32]byte
}

// leafHashes are those that nobody uses.
var leafHashes = sync.Pool{New: func() any { return &leafHash{h: sha256.New()} }}

func takeHash() *leafHash {
	h, _ := leafHashes.Get().(*leafHash)
	return h
}

func (l *leafHash) flush() {
	l.h.Write(l.room[:l.n])
	l.n = 0
}

func (l *leafHash) number(n int64) {
	if l.n+8 > len(l.room) {
		l.flush()
	}
	binary.BigEndian.PutUint64(l.room[l.n:], uint64(n))
	l.n += 8
}

// raw adds a salt or a hash.
func (l *leafHash) raw(b []byte) {
	if l.n+len(b) > len(l.room) {
		l.flush()
	}
	l.n += copy(l.room[l.n:], b)
}

func (l *leafHash) bytes(b []byte) {
	l.number(int64(len(b)))
	if len(b) > len(l.room)-l.n {
		l.flush()
		l.h.Write(b)
		return
	}
	l.n += copy(l.room[l.n:], b)
}

func (l *leafHash) text(s string) {
	l.number(int64(len(s)))
	for len(s) > 0 {
		if l.n == len(l.room) {
			l.flush()
		}
		n := copy(l.room[l.n:], s)
		l.n, s = l.n+n, s[n:]
	}
}

// sum gives the hash and begins another one.
func (l *leafHash) sum(to *[32]byte) {
	l.flush()
	l.h.Sum(l.out[:0])
	l.h.Reset()
	*to = l.out
}

// ChainHash gives the hash of a commit: SHA-256(hash of the commit before ‖
// position of its first entry as 8 bytes big endian ‖ leaves in order). The
// commit before the first has a hash of zeros.
func ChainHash(before [32]byte, first calendar.Position, leaves [][32]byte) [32]byte {
	h := sha256.New()
	h.Write(before[:])
	var pos [8]byte
	binary.BigEndian.PutUint64(pos[:], uint64(first))
	h.Write(pos[:])
	for i := range leaves {
		h.Write(leaves[i][:])
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// Moment gives a time as entries keep it: UTC, whole milliseconds.
func Moment(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }

// Entry gives the entry that a draft of the Append becomes, but for its position. Each
// call gives other salts, so another leaf.
func (a *Append) Entry(i int) Entry {
	d := &a.Drafts[i]
	return Entry{
		Kind:    d.Kind,
		ID:      d.ID,
		Version: d.Expected + 1,
		Time:    Moment(a.Time),
		Actor:   a.Actor,
		Cause:   a.Cause,
		Change:  d.Change,
		Fields:  d.Fields,
		State:   d.State,
		Secret:  d.Secret,
		Salts:   newSalts(d.Secret != nil),
	}
}

// Bytes gives the salts as stores keep them, one after the other; nil for none.
func (s *Salts) Bytes() []byte {
	if s == nil {
		return nil
	}
	return s.Append(make([]byte, 0, len(s)*len(s[0])))
}

// Append adds the salts to bytes as stores keep them.
func (s *Salts) Append(b []byte) []byte {
	if s == nil {
		return b
	}
	for i := range s {
		b = append(b, s[i][:]...)
	}
	return b
}

// SaltsOf gives the salts of their bytes, nil of none. The error is ErrDamaged.
func SaltsOf(b []byte) (*Salts, error) {
	var s Salts
	switch len(b) {
	case 0:
		return nil, nil //nolint:nilnil // form 1
	case len(s) * len(s[0]):
		for i := range s {
			b = b[copy(s[i][:], b):]
		}
		return &s, nil
	default:
		return nil, fmt.Errorf("%w: %d bytes of salts", ErrDamaged, len(b))
	}
}
