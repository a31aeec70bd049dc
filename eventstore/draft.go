package eventstore

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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

// Check refuses an Append with texts that no store takes, ErrMalformed: names of changes and
// what records and receipts are found by are not empty, and every engine can store UTF-8
// without NUL.
func (a *Append) Check() error {
	var names []string
	texts := []string{a.Cause.Client, a.Cause.Request, a.Cause.Reason}
	for i := range a.Drafts {
		draft := &a.Drafts[i]
		names = append(names, draft.Kind.String(), draft.Change)
		for _, claim := range slices.Concat(draft.Claims, draft.Names) {
			names = append(names, claim.Space, claim.Key)
		}
	}
	if a.Receipt != nil {
		names = append(names, a.Receipt.Key)
	}
	if checkpoint := a.Checkpoint; checkpoint != nil {
		names, texts = append(names, checkpoint.Origin, string(checkpoint.Note)), append(texts, checkpoint.Keys)
	}
	text := strings.Join(append(texts, names...), " ")
	if slices.Contains(names, "") || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return ErrMalformed
	}
	return nil
}
