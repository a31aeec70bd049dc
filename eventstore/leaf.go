package eventstore

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"time"

	"daybook/calendar"
)

// leafForm is the first part of what a leaf is made from. A new canonical form
// of entries gets a new one; the old form is read for ever.
const leafForm = "daybook entry 1"

// Leaf gives the SHA-256 of the canonical form of an entry: all of its fields
// but the position, which the chain adds. Every part has a fixed length or is
// led by its length, so no two entries share a form. The secret takes part by
// its own SHA-256, so a leaf can be checked by those who must not see it.
func Leaf(e *Entry) [32]byte {
	h := leafHash{h: sha256.New()}
	h.text(leafForm)
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
	if e.Secret == nil {
		h.number(0)
	} else {
		h.number(1)
		sum := sha256.Sum256(e.Secret)
		h.bytes(sum[:])
	}
	var leaf [32]byte
	h.h.Sum(leaf[:0])
	return leaf
}

type leafHash struct {
	h   hash.Hash
	buf [128]byte
}

func (l *leafHash) number(n int64) {
	binary.BigEndian.PutUint64(l.buf[:], uint64(n))
	l.h.Write(l.buf[:8])
}

func (l *leafHash) bytes(b []byte) {
	l.number(int64(len(b)))
	l.h.Write(b)
}

func (l *leafHash) text(s string) {
	l.number(int64(len(s)))
	for len(s) > 0 {
		n := copy(l.buf[:], s)
		l.h.Write(l.buf[:n])
		s = s[n:]
	}
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

// Entry gives the entry that a draft of the Append becomes, but for its
// position.
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
	}
}
