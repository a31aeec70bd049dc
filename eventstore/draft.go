package eventstore

import (
	"encoding/json"
	"time"

	"daybook/calendar"
)

// NewDraft returns the draft of a change of a record (nil before the first) at a moment,
// and the record after it.
func NewDraft(before *calendar.Record, c calendar.Change, at time.Time) (Draft, *calendar.Record, error) {
	after, err := calendar.Apply(before, c, at)
	if err != nil {
		return Draft{}, nil, err
	}
	fields, err := calendar.EncodeChange(c)
	if err != nil {
		return Draft{}, nil, err
	}
	state, err := calendar.EncodeRecord(after)
	if err != nil {
		return Draft{}, nil, err
	}
	return Draft{
		Kind: c.Kind, ID: c.ID, Expected: after.Version - 1, Change: c.Name, Fields: fields, State: state, Secret: c.Secret,
		Claims: calendar.Claims(after), Names: calendar.Names(after),
		encoded: [2][]byte{fields, state},
	}, after, nil
}

// isJSON reports whether fields and state are JSON; what NewDraft encoded is.
func (d *Draft) isJSON() (fields, state bool) {
	return same(d.Fields, d.encoded[0]) || json.Valid(d.Fields), same(d.State, d.encoded[1]) || json.Valid(d.State)
}

// same reports whether two texts are the same memory.
func same(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }
