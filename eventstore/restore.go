package eventstore

import (
	"context"
	"fmt"
	"math"

	"daybook/calendar"
)

// Copy is what a store is filled with: the log of another one, or the part of it that
// counts at a point, and what follows from these entries.
type Copy struct {
	From Store
	// Until, when set, leaves out the checkpoints and the entries that do not count and are
	// of higher versions than those that do. Of a record that was erased since then all is
	// taken that is left, so that the entry that erased it comes along.
	Until Point
	// Receipts returns those of the other store; nil: none are copied.
	Receipts func(context.Context) ([]*Receipt, error)
	// Progress, when not nil, is called with how many entries of the other store are done.
	Progress func(done, total calendar.Position)

	// After Restore: the UUID of the other store, which the copy has too, the position of
	// the newest entry, and how many entries at the beginning have the position that they
	// had.
	UUID          [16]byte
	Entries, Same calendar.Position
}

// restorePage is about how many entries are copied at once.
const restorePage = 250

// Restore fills an empty store by a function that writes what a group holds; receipts have
// the times that they had. While no entry is left out the commits have the hashes that they
// had. Errors: ErrAhead; a *ClaimError where two records of a part hold the same;
// ErrUnavailable where something was erased meanwhile; those of both stores.
func Restore(ctx context.Context, insert func(context.Context, *Group) error, copied *Copy) error {
	head, err := copied.From.Head(ctx, Point{})
	if err == nil && copied.Until.Position > head.Position {
		err = ErrAhead
	}
	if err != nil {
		return err
	}
	copied.UUID, copied.Entries, copied.Same = head.UUID, 0, 0
	whole, versions := copied.Until == Point{}, map[calendar.ID]int64{} // that are taken of a part
	group := NewGroup(Epoch{}, nil)
	var redacted []Entry
	take := func(entry *Entry) (err error) {
		greatest, known := versions[entry.ID]
		if !known && !whole {
			then, err := copied.From.At(ctx, copied.Until, entry.ID)
			if err != nil {
				return err
			}
			if greatest = then[0].Version; then[0].Redacted != nil {
				greatest = math.MaxInt64
			}
			versions[entry.ID] = greatest
		}
		if !whole && entry.Version > greatest {
			return nil
		}
		if copied.Entries++; entry.Position == copied.Entries {
			copied.Same = copied.Entries
		}
		draft := Draft{Entry: *entry}
		held, err := entry.After(group.Records[entry.ID])
		if entry.Redacted != nil { // what it left of its record is not known
			redacted = append(redacted, Entry{ID: entry.ID, Position: copied.Entries, Redacted: entry.Redacted})
		} else if err == nil {
			draft.Claims, draft.Names, err = Holds(&held.State)
		}
		if err != nil {
			return entry.Damaged("%v", err)
		}
		return group.decide(&Item{Append: Append{Drafts: []Draft{draft}}}).Err
	}
	for entry, err := range Log(ctx, copied.From, head.Position) {
		if err == nil {
			err = take(entry)
		}
		if err != nil {
			return err
		}
		if entry.Position < entry.Commit.Last {
			continue
		}
		if group.end(); len(group.Entries) >= restorePage {
			if err := insert(ctx, group); err != nil {
				return err
			}
			group.Entries, group.Commits, group.Slugs, group.ended = nil, nil, nil, 0
			for id := range group.before {
				group.Records[id].Record = nil // what it holds is still needed
			}
			clear(group.before)
		}
		if copied.Progress != nil {
			copied.Progress(entry.Position, head.Position)
		}
	}
	for i := range redacted { // nothing follows an erasure
		entry := &redacted[i]
		entry.Redacted = &Redacted{By: group.Records[entry.ID].Position, Hashes: entry.Redacted.Hashes}
	}
	group.Redacted = redacted
	if copied.Receipts != nil {
		if group.Stored, err = copied.Receipts(ctx); err != nil {
			return err
		}
	}
	if whole {
		for signed, err := range Checkpoints(ctx, copied.From, head.Position) {
			if err != nil {
				return err
			}
			group.Signs[signed.Size] = *signed
		}
	}
	if copied.From.Epoch() != head.Epoch {
		return fmt.Errorf("%w: something was erased meanwhile", ErrUnavailable)
	}
	return insert(ctx, group)
}
