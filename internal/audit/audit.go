// Package audit has the form in which entries of the log are exported.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// Entry is an entry as export shows it.
type Entry struct {
	Position calendar.Position `json:"position"`
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Time     time.Time         `json:"time"`
	Actor    calendar.ID       `json:"actor"` // user, 0 the service itself
	// A redacted entry has no cause, fields and state.
	Cause  *eventstore.Cause `json:"cause,omitempty"`
	Change string            `json:"change"`
	Fields json.RawMessage   `json:"fields,omitempty"` // what changed
	State  json.RawMessage   `json:"state,omitempty"`  // the record after it
	// SecretSum is the SHA-256 of the secret that the change set, in hexadecimal:
	// the form in which it takes part in the leaf of the entry.
	SecretSum string `json:"secret_sha256,omitempty"`
}

// Whole gives all that the leaf of an entry is made from, so that a copy of the
// log can be checked against the chain. Hashes of passwords and tokens are not
// in it.
func Whole(e *eventstore.Entry) Entry {
	x := Entry{
		Position: e.Position, Kind: e.Kind.String(), ID: e.ID, Version: e.Version, Time: e.Time, Actor: e.Actor,
		Change: e.Change, Fields: e.Fields, State: e.State,
	}
	if e.Redacted == nil {
		x.Cause = &e.Cause
	}
	if e.Secret != nil {
		sum := sha256.Sum256(e.Secret)
		x.SecretSum = hex.EncodeToString(sum[:])
	}
	return x
}
