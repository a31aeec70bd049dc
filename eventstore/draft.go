package eventstore

import (
	"fmt"
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

// Check refuses an Append whose form no store takes: ErrMalformed.
func (a *Append) Check() error {
	for i := range a.Drafts {
		if d := &a.Drafts[i]; d.Kind.String() == "" || d.ID <= 0 || d.Expected < 0 || d.Change == "" || len(d.Fields) == 0 || len(d.State) == 0 ||
			!isText(d.Change) || slices.ContainsFunc(d.Claims, noText) || slices.ContainsFunc(d.Names, noText) {
			return fmt.Errorf("%w: draft %d", ErrMalformed, i)
		}
	}
	switch r, c := a.Receipt, a.Checkpoint; {
	case !isText(a.Cause.Client) || !isText(a.Cause.Request) || !isText(a.Cause.Reason):
		return fmt.Errorf("%w: cause", ErrMalformed)
	case len(a.Drafts) == 0 && len(a.Guards) > 0:
		return fmt.Errorf("%w: guards without drafts", ErrMalformed)
	case r != nil && (r.Key == "" || !isText(r.Key) || len(a.Drafts) == 0 && r.Record <= 0):
		return fmt.Errorf("%w: receipt", ErrMalformed)
	case c != nil && (c.Size == 0 || c.Origin == "" || !isText(c.Origin) || !isText(c.Keys) || len(c.Note) == 0):
		return fmt.Errorf("%w: checkpoint", ErrMalformed)
	}
	return nil
}

func noText(c calendar.Claim) bool {
	return c.Space == "" || c.Key == "" || !isText(c.Space) || !isText(c.Key)
}

// isText reports whether every engine can store s: UTF-8 without NUL.
func isText(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// maxIDs bounds how many ids one call of NewIDs returns.
const maxIDs = 1_000_000

// CheckCount refuses a number of ids that NewIDs does not return: ErrMalformed.
func CheckCount(n int) error {
	if n < 1 || n > maxIDs {
		return fmt.Errorf("%w: %d ids at once, must be 1 to %d", ErrMalformed, n, maxIDs)
	}
	return nil
}
