package eventstore

import (
	"cmp"
	"time"

	"daybook/calendar"
)

// NewDraft returns the draft of a change of a record (nil before the first) at a moment,
// and the record after it.
func NewDraft(before *calendar.Record, change calendar.Change, instant time.Time) (Draft, *calendar.Record, error) {
	after, err := calendar.Apply(before, change, instant)
	if err != nil {
		return Draft{}, nil, err
	}
	fields, err := calendar.EncodeChange(change)
	state, stateErr := calendar.EncodeRecord(after)
	entry := Entry{Kind: change.Kind, ID: change.ID, Version: after.Version, Change: change.Name, Fields: fields, State: state, Secret: change.Secret}
	claims, names := holds(after, change.Secret)
	return Draft{entry, claims, names}, after, cmp.Or(err, stateErr)
}
