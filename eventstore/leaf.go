package eventstore

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// The first parts of what leaves and bodies are made from (docs/spec/history.md 13).
const (
	leafForm = "daybook entry 2"
	bodyForm = "daybook body 2"
)

// Salts are the random salts of the bodies of an entry: actor, cause, fields, state,
// secret. That of the secret is zero if none exists.
type Salts [5 * saltSize]byte

const saltSize = 16

// Of returns the salt of a body.
func (salts *Salts) Of(body int) []byte { return salts[body*saltSize:][:saltSize] }

// redact leaves the salt of the actor.
func (salts Salts) redact() Salts {
	clear(salts[saltSize:])
	return salts
}

// Leaf returns the SHA-256 of all fields of an entry but the position, which the chain
// adds. Every part has a fixed length or is led by its length, so no two entries have one
// leaf. It stays when the entry is redacted.
func Leaf(entry *Entry) [32]byte {
	var parts [512]byte
	data := appendText(parts[:0], leafForm)
	data = appendText(data, entry.Kind.String())
	data = appendNumber(data, int64(entry.ID))
	data = appendNumber(data, entry.Version)
	data = appendNumber(data, entry.Time.UnixMilli())
	data = appendText(data, entry.Change)
	for _, h := range BodyHashes(entry) {
		data = append(data, h[:]...)
	}
	return sha256.Sum256(data)
}

// SecretHash returns the SHA-256 of the secret that the change set, nil where it left it.
func (entry *Entry) SecretHash() *[32]byte {
	if entry.Secret == nil {
		return entry.SecretSum
	}
	digest := sha256.Sum256(entry.Secret)
	return &digest
}

// BodyHashes returns H_actor, H_cause, H_fields, H_state and H_secret of an entry. Each can
// be opened, or erased, alone. Of a redacted one the last four are those that were kept.
func BodyHashes(entry *Entry) (bodies [5][32]byte) {
	data := make([]byte, 0, max(len(entry.Fields), len(entry.State))+128)
	body := func(i int, name string, text []byte) {
		data = appendText(appendText(data[:0], bodyForm), name)
		data = appendText(append(data, entry.Salts.Of(i)...), text)
		bodies[i] = sha256.Sum256(data)
	}
	body(0, "actor", appendNumber(nil, int64(entry.Actor)))
	if entry.Redacted != nil {
		copy(bodies[1:], entry.Redacted.Hashes[:])
		return bodies
	}
	body(1, "cause", appendText(appendText(appendText(nil, entry.Cause.Client), entry.Cause.Request), entry.Cause.Reason))
	body(2, "fields", entry.Fields)
	body(3, "state", entry.State)
	if secret := entry.SecretHash(); secret != nil {
		body(4, "secret", secret[:])
	}
	return bodies
}

func appendNumber(data []byte, number int64) []byte {
	return binary.BigEndian.AppendUint64(data, uint64(number))
}

// appendText appends a text led by its length.
func appendText[T string | []byte](data []byte, text T) []byte {
	return append(appendNumber(data, int64(len(text))), text...)
}

// ChainHash returns the hash of a commit of entries: SHA-256(hash of the commit before ‖
// position of the first entry as 8 bytes big endian ‖ leaves in order). The commit before the
// first has a hash of zeros.
func ChainHash(before [32]byte, entries []Entry) [32]byte {
	data := appendNumber(before[:], int64(entries[0].Position))
	for i := range entries {
		data = append(data, entries[i].Leaf[:]...)
	}
	return sha256.Sum256(data)
}

// Moment returns a time as entries have it: UTC, whole milliseconds.
func Moment(instant time.Time) time.Time { return time.UnixMilli(instant.UnixMilli()).UTC() }
