package eventstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"daybook/calendar"
)

// Redacted is what an entry has in the place of what was erased: cause, fields, state,
// secret and their salts are gone, the rest of it stays.
type Redacted struct {
	By calendar.Position // of the entry that erased the record
	// Hashes are H_cause, H_fields, H_state and H_secret of the entry.
	Hashes [4][32]byte
}

// Erasure is the erasure of a whole record. The record after it has a State that says
// so, see calendar.Record.Erased, and holds nothing but Claims.
type Erasure struct {
	Kind     calendar.Kind
	ID       calendar.ID
	Expected int64 // version before
	Time     time.Time
	Actor    calendar.ID
	Cause    Cause
	State    json.RawMessage  // canonical JSON
	Claims   []calendar.Claim // on the hashed marks of imports
	Also     []Erasure        // of other records, at the same time
}

// Eraser is a store that can erase.
type Eraser interface {
	// Erase erases records, all of them or none, in one commit. Each gets an entry
	// "<kind>.erased" with Fields {}, its earlier entries become Redacted, and its
	// secret, claims, names and past slugs go. Of receipts of it, and of those whose
	// answers name it, the answers go. What was not erased of a record with such an
	// entry is erased now: then the entry stays the one that it has. Result.Position
	// is that of the entry of the first record. Errors: ErrMalformed, ErrNotFound (of
	// another kind too), ErrConflict for another version, *ClaimError, ErrUnavailable,
	// ErrClosed.
	Erase(ctx context.Context, e Erasure) Result
}

// Check tells what is wrong with the form of an Erasure: ErrMalformed. Stores call it
// first.
func (e *Erasure) Check() error {
	for _, one := range e.All() {
		a := one.Append()
		if err := a.Check(); err != nil {
			return err
		}
	}
	return nil
}

// All gives the erasure of each record, without others.
func (e *Erasure) All() []Erasure {
	one := *e
	one.Also = nil
	return append([]Erasure{one}, e.Also...)
}

// Append gives what the erasure of one record adds to the log.
func (e *Erasure) Append() Append {
	return Append{
		Time: e.Time, Actor: e.Actor, Cause: e.Cause,
		Drafts: []Draft{{
			Kind: e.Kind, ID: e.ID, Expected: e.Expected, Change: ErasedChange(e.Kind), Fields: json.RawMessage(`{}`), State: e.State,
			Secret: []byte{}, Claims: e.Claims,
		}},
	}
}

// ErasedChange is the name of the change that erases a record.
func ErasedChange(k calendar.Kind) string { return k.String() + "." + calendar.Erased }

// NamesID tells whether an answer names the id of a record: has it among its numbers.
func NamesID(answer []byte, id calendar.ID) bool {
	digits := []byte(id.String())
	isDigit := func(at int) bool { return at >= 0 && at < len(answer) && answer[at]-'0' <= 9 }
	for from := 0; ; {
		at := bytes.Index(answer[from:], digits)
		if at < 0 {
			return false
		}
		at += from
		if !isDigit(at-1) && !isDigit(at+len(digits)) {
			return true
		}
		from = at + 1
	}
}

// Blank tells whether nothing is left in an entry of what an erasure takes.
func (e *Entry) Blank() bool {
	return e.Cause == (Cause{}) && len(e.Fields)+len(e.State) == 0 && e.Secret == nil && e.Salts == Salts{e.Salts[0]}
}

// Redact takes from an entry what an erasure takes from it.
func (e *Entry) Redact(by calendar.Position) {
	bodies := BodyHashes(e)
	e.Redacted = &Redacted{By: by, Hashes: [4][32]byte(bodies[1:])}
	e.Cause, e.Fields, e.State, e.Secret, e.Salts = Cause{}, nil, nil, nil, Salts{e.Salts[0]}
}

// Bytes gives the hashes as stores keep them, one after the other.
func (r *Redacted) Bytes() []byte {
	out := make([]byte, 0, len(r.Hashes)*len(r.Hashes[0]))
	for i := range r.Hashes {
		out = append(out, r.Hashes[i][:]...)
	}
	return out
}

// RedactedOf gives what is left of an entry that one at a position erased, with the
// bytes of the hashes. The error is ErrDamaged.
func RedactedOf(by calendar.Position, hashes []byte) (*Redacted, error) {
	r := &Redacted{By: by}
	if len(hashes) != len(r.Hashes)*len(r.Hashes[0]) {
		return nil, fmt.Errorf("%w: %d bytes of hashes", ErrDamaged, len(hashes))
	}
	for i := range r.Hashes {
		hashes = hashes[copy(r.Hashes[i][:], hashes):]
	}
	return r, nil
}
