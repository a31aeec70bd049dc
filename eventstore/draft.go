package eventstore

import (
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
	if err != nil {
		return Draft{}, nil, err
	}
	state, err := calendar.EncodeRecord(after)
	if err != nil {
		return Draft{}, nil, err
	}
	return Draft{
		Kind: change.Kind, ID: change.ID, Expected: after.Version - 1, Change: change.Name, Fields: fields, State: state, Secret: change.Secret,
		Claims: calendar.Claims(after), Names: calendar.Names(after),
	}, after, nil
}
