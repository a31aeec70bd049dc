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
	}, after, nil
}

// Check refuses an Append with texts that no store takes, ErrMalformed: names of changes and
// what records and receipts are found by are not empty, and every engine can store UTF-8
// without NUL.
func (a *Append) Check() error {
	var names []string
	texts := []string{a.Cause.Client, a.Cause.Request, a.Cause.Reason}
	for i := range a.Drafts {
		d := &a.Drafts[i]
		names = append(names, d.Kind.String(), d.Change)
		for _, c := range slices.Concat(d.Claims, d.Names) {
			names = append(names, c.Space, c.Key)
		}
	}
	if a.Receipt != nil {
		names = append(names, a.Receipt.Key)
	}
	if c := a.Checkpoint; c != nil {
		names, texts = append(names, c.Origin, string(c.Note)), append(texts, c.Keys)
	}
	text := strings.Join(append(texts, names...), " ")
	if slices.Contains(names, "") || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return ErrMalformed
	}
	return nil
}
