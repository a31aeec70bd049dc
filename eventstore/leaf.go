package eventstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"daybook/calendar"
)

// The first parts of what leaves and bodies are made from (docs/spec/history.md 13).
const (
	leafForm = "daybook entry 2"
	bodyForm = "daybook body 2"
)

// Salts are the random salts of the bodies of an entry: actor, cause, fields, state,
// secret. That of the secret is zero if none exists.
type Salts [5][16]byte

func newSalts(secret bool) (s Salts) {
	for i := range s {
		if secret || i < len(s)-1 {
			_, _ = rand.Read(s[i][:]) // it never fails
		}
	}
	return s
}

// Leaf returns the SHA-256 of all fields of an entry but the position, which the chain
// adds. Every part has a fixed length or is led by its length, so no two entries have one
// leaf. It stays when the entry is redacted.
func Leaf(e *Entry) [32]byte {
	var parts [512]byte
	b := appendText(parts[:0], leafForm)
	b = appendText(b, e.Kind.String())
	b = appendNumber(b, int64(e.ID))
	b = appendNumber(b, e.Version)
	b = appendNumber(b, e.Time.UnixMilli())
	b = appendText(b, e.Change)
	for _, h := range BodyHashes(e) {
		b = append(b, h[:]...)
	}
	return sha256.Sum256(b)
}

// SecretHash returns the SHA-256 of the secret that the change set, nil where it left it.
func (e *Entry) SecretHash() *[32]byte {
	if e.Secret == nil {
		return e.SecretSum
	}
	sum := sha256.Sum256(e.Secret)
	return &sum
}

// BodyHashes returns H_actor, H_cause, H_fields, H_state and H_secret of an entry. Each can
// be opened, or erased, alone. Of a redacted one the last four are those that were kept.
func BodyHashes(e *Entry) (bodies [5][32]byte) {
	b := make([]byte, 0, max(len(e.Fields), len(e.State))+128)
	body := func(i int, name string, text []byte) {
		b = appendText(appendText(b[:0], bodyForm), name)
		b = appendText(append(b, e.Salts[i][:]...), text)
		bodies[i] = sha256.Sum256(b)
	}
	body(0, "actor", appendNumber(nil, int64(e.Actor)))
	if e.Redacted != nil {
		copy(bodies[1:], e.Redacted.Hashes[:])
		return bodies
	}
	body(1, "cause", appendText(appendText(appendText(nil, e.Cause.Client), e.Cause.Request), e.Cause.Reason))
	body(2, "fields", e.Fields)
	body(3, "state", e.State)
	if secret := e.SecretHash(); secret != nil {
		body(4, "secret", secret[:])
	}
	return bodies
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

// appendText appends a text led by its length.
func appendText[T string | []byte](b []byte, text T) []byte {
	return append(appendNumber(b, int64(len(text))), text...)
}

// ChainHash returns the hash of a commit: SHA-256(hash of the commit before ‖ position of
// its first entry as 8 bytes big endian ‖ leaves in order). The commit before the first
// has a hash of zeros.
func ChainHash(before [32]byte, first calendar.Position, leaves [][32]byte) [32]byte {
	b := appendNumber(slices.Clone(before[:]), int64(first))
	for i := range leaves {
		b = append(b, leaves[i][:]...)
	}
	return sha256.Sum256(b)
}

// Moment returns a time as entries have it: UTC, whole milliseconds.
func Moment(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }

// Entry returns the entry that a draft of the Append becomes, without its position. Each
// call draws other salts, so it has another leaf.
func (a *Append) Entry(i int) Entry {
	d := &a.Drafts[i]
	return Entry{
		Kind: d.Kind, ID: d.ID, Version: d.Expected + 1, Time: Moment(a.Time), Actor: a.Actor, Cause: a.Cause,
		Change: d.Change, Fields: d.Fields, State: d.State, Secret: d.Secret, Salts: newSalts(d.Secret != nil),
	}
}

// Bytes returns the salts as stores keep them, one after the other.
func (s *Salts) Bytes() []byte {
	b, _ := binary.Append(nil, binary.BigEndian, s) // their size is fixed
	return b
}
