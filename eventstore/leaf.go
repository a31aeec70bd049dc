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

// The first parts of what leaves and bodies are made from (HISTORY 13).
const (
	leafForm = "daybook entry 2"
	bodyForm = "daybook body 2"
)

// Salts are the random salts of the bodies of an entry: actor, cause, fields, state,
// secret. That of the secret is zero where there is none.
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
func newSalts(secret bool) Salts {
	b, _ := saltBatches.Get().(*saltBatch)
	s := b.all[b.used]
	if b.used++; b.used < len(b.all) {
		saltBatches.Put(b)
	}
	if !secret {
		s[len(s)-1] = [16]byte{}
	}
	return s
}

// Leaf returns the SHA-256 of all fields of an entry but the position, which the chain
// adds. Every part has a fixed length or is led by its length, so no two entries have one
// leaf. It stays when the entry is redacted.
func Leaf(e *Entry) [32]byte { return LeafBySum(e, SecretSum(e)) }

// SecretSum returns the SHA-256 of the secret that the change set, nil where it left it.
func SecretSum(e *Entry) *[32]byte {
	if e.Secret == nil {
		return nil
	}
	sum := sha256.Sum256(e.Secret)
	return &sum
}

// LeafBySum is Leaf of an entry whose secret is known by its SHA-256 only, nil where the
// change left the secret. So a leaf can be checked by those who must not see it.
func LeafBySum(e *Entry, secret *[32]byte) (leaf [32]byte) {
	h := takeHash()
	defer leafHashes.Put(h)
	bodies := bodyHashes(h, e, secret)
	h.text(leafForm)
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

// BodyHashes returns H_actor, H_cause, H_fields, H_state and H_secret of an entry, each of
// which can be opened, or erased, alone. Of a redacted one the last four are those that
// were kept.
func BodyHashes(e *Entry) [5][32]byte {
	h := takeHash()
	defer leafHashes.Put(h)
	return bodyHashes(h, e, SecretSum(e))
}

func bodyHashes(h *leafHash, e *Entry, secret *[32]byte) (bodies [5][32]byte) {
	begin := func(i int, name string) {
		h.text(bodyForm)
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
	if secret != nil {
		begin(4, "secret")
		h.bytes(secret[:])
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
func (a *Append) Entry(i int) Entry { return a.Drafts[i].Entry(a.Time, a.Actor, a.Cause) }

// Entry returns the entry that a draft becomes, without its position. Each call draws
// other salts, so it has another leaf.
func (d *Draft) Entry(at time.Time, actor calendar.ID, c Cause) Entry {
	return Entry{
		Kind:    d.Kind,
		ID:      d.ID,
		Version: d.Expected + 1,
		Time:    Moment(at),
		Actor:   actor,
		Cause:   c,
		Change:  d.Change,
		Fields:  d.Fields,
		State:   d.State,
		Secret:  d.Secret,
		Salts:   newSalts(d.Secret != nil),
	}
}

// Bytes returns the salts as stores keep them, one after the other.
func (s *Salts) Bytes() []byte { return s.Append(make([]byte, 0, len(s)*len(s[0]))) }

// Append adds the salts to bytes as stores keep them.
func (s *Salts) Append(b []byte) []byte {
	for i := range s {
		b = append(b, s[i][:]...)
	}
	return b
}

// SaltsOf returns the salts of their bytes. The error is ErrDamaged.
func SaltsOf(b []byte) (s Salts, err error) {
	if len(b) != len(s)*len(s[0]) {
		return s, fmt.Errorf("%w: %d bytes of salts", ErrDamaged, len(b))
	}
	for i := range s {
		b = b[copy(s[i][:], b):]
	}
	return s, nil
}
