package eventstore

import (
	"context"
	"math"

	"daybook/calendar"
)

// wholeRecord is the greatest version of a part's record of which all is taken.
const wholeRecord = math.MaxInt64

// NewPart returns the Copy of the entries that count at a point and of those of lower
// versions of the same records, without checkpoints. Of a record that was erased since
// then all is taken that is left, so that the entry that erased it comes along. It reads
// the log once; progress, when not nil, is called with how many entries were read.
// Errors: ErrMalformed, ErrAhead, those of the store.
func NewPart(ctx context.Context, from Store, at Point, progress func(done, total calendar.Position)) (*Copy, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	c, err := NewCopy(ctx, from)
	if err != nil {
		return nil, err
	}
	if at.Position > c.head {
		return nil, ErrAhead
	}
	c.at, c.versions = at, map[calendar.ID]int64{}
	for commit, err := range Log(ctx, from, c.head) {
		if err != nil {
			return nil, err
		}
		for i := range commit.Entries {
			switch e := &commit.Entries[i]; {
			case !at.Counts(e):
			case e.Redacted != nil:
				c.versions[e.ID] = wholeRecord
			default:
				c.versions[e.ID] = max(c.versions[e.ID], e.Version)
			}
		}
		if progress != nil {
			progress(commit.Last, c.head)
		}
	}
	return c, nil
}
