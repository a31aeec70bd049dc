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
func (e *Entry) Blank() bool {
	return e.Cause == (Cause{}) && len(e.Fields)+len(e.State) == 0 && e.Secret == nil && e.Salts == Salts{e.Salts[0]}
}

// Redact takes from an entry what an erasure takes from it.
func (e *Entry) Redact(by calendar.Position) {
	bodies := BodyHashes(e)
	e.Redacted = &Redacted{By: by, Hashes: [4][32]byte(bodies[1:])}
	e.Cause, e.Fields, e.State, e.Secret, e.Salts = Cause{}, nil, nil, nil, Salts{e.Salts[0]}
}

// Bytes returns the hashes as stores keep them, one after the other.
func (r *Redacted) Bytes() []byte {
	data, _ := binary.Append(nil, binary.BigEndian, &r.Hashes) // their size is fixed
	return data
}
