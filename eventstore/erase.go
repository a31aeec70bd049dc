package eventstore

import (
	"encoding/binary"

	"daybook/calendar"
)

// Redacted is what an entry has in the place of what was erased: cause, fields, state,
// secret and their salts are gone, the rest of it stays.
type Redacted struct {
	By calendar.Position // of the entry that erased the record
	// Hashes are H_cause, H_fields, H_state and H_secret of the entry.
	Hashes [4][32]byte
}

// ErasedChange is the name of the change that erases a record.
func ErasedChange(kind calendar.Kind) string { return kind.String() + "." + calendar.Erased }

// Blank reports whether nothing is left in an entry of what an erasure takes.
func (entry *Entry) Blank() bool {
	return entry.Cause == (Cause{}) && len(entry.Fields)+len(entry.State) == 0 && entry.Secret == nil && entry.Salts == entry.Salts.redact()
}

// Redact takes from an entry what an erasure takes from it.
func (entry *Entry) Redact(position calendar.Position) {
	bodies := BodyHashes(entry)
	entry.Redacted = &Redacted{By: position, Hashes: [4][32]byte(bodies[1:])}
	entry.Cause, entry.Fields, entry.State, entry.Secret, entry.Salts = Cause{}, nil, nil, nil, entry.Salts.redact()
}

// Bytes returns the hashes as stores keep them, one after the other.
func (redacted *Redacted) Bytes() []byte {
	data, _ := binary.Append(nil, binary.BigEndian, &redacted.Hashes) // their size is fixed
	return data
}
