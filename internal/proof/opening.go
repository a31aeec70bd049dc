package proof

import (
	"context"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
)

// Opening is what the leaf of an entry is made from, as far as it is shown (docs/spec/history.md
// 12.5).
type Opening struct {
	Form    int         `json:"form"`
	Kind    string      `json:"kind"`
	ID      calendar.ID `json:"id"`
	Version int64       `json:"version"`
	Time    int64       `json:"time"` // milliseconds since 1970
	Change  string      `json:"change"`

	Bodies Bodies `json:"bodies"`
}

// Bodies are the bodies of a leaf.
type Bodies struct {
	Actor  Body `json:"actor"`
	Cause  Body `json:"cause"`
	Fields Body `json:"fields"`
	State  Body `json:"state"`
	Secret Body `json:"secret"`
}

// Body is a hash, or what the hash is made from.
type Body struct {
	Hash    []byte       `json:"hash,omitempty"`
	Salt    []byte       `json:"salt,omitempty"` // the body is open
	Actor   *calendar.ID `json:"actor,omitempty"`
	Client  *string      `json:"client,omitempty"`
	Request *string      `json:"request,omitempty"`
	Reason  *string      `json:"reason,omitempty"`
	Text    *string      `json:"text,omitempty"` // JSON as it is stored
}

// openingOf opens an entry: the state for everybody who gets the version, all but the
// secret for a reader of all.
func openingOf(entry *eventstore.Entry, all bool) *Opening {
	hashes := eventstore.BodyHashes(entry)
	body := func(i int, open bool, body Body) Body {
		if !open || entry.Redacted != nil {
			return Body{Hash: hashes[i][:]}
		}
		body.Salt = entry.Salts.Of(i)
		return body
	}
	return &Opening{
		Form: 2, Kind: entry.Kind.String(), ID: entry.ID, Version: entry.Version, Time: entry.Time.UnixMilli(), Change: entry.Change,
		Bodies: Bodies{
			Actor:  body(0, all, Body{Actor: &entry.Actor}),
			Cause:  body(1, all, Body{Client: &entry.Cause.Client, Request: &entry.Cause.Request, Reason: &entry.Cause.Reason}),
			Fields: body(2, all, Body{Text: new(string(entry.Fields))}),
			State:  body(3, true, Body{Text: new(string(entry.State))}),
			Secret: body(4, false, Body{}),
		},
	}
}

// Opening returns the opening of the entry at a position for a caller, nil when the caller
// gets none of it.
func (log *Log) Opening(ctx context.Context, reader *history.Reader, caller calendar.Caller, position calendar.Position) (*Opening, error) {
	entries, err := log.store.Read(ctx, eventstore.Range{After: uint64(position) - 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("entry %d: %w", position, eventstore.ErrAhead)
	}
	entry := &entries[0]
	all, open := caller.ReadsAll(), history.ReadsKept(caller)
	if entry.Kind.IsPost() || entry.Kind.IsTerm() {
		if open = all; !open && entry.Redacted == nil {
			open, err = reader.Opens(ctx, caller, entry)
		}
	}
	if err != nil || !open {
		return nil, err
	}
	return openingOf(entry, all), nil
}
