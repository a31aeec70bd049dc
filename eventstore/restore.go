package eventstore

import (
	"cmp"
	"context"
	"fmt"
	"iter"
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
	// Receipts of the other store; nil: none.
	Receipts iter.Seq2[Receipt, error]
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
func Restore(ctx context.Context, insert func(context.Context, *Group) error, c *Copy) error {
	head, err := c.From.Head(ctx, Point{})
	if err == nil && c.Until.Position > head.Position {
		err = ErrAhead
	}
	if err != nil {
		return err
	}
	whole, greatest := c.Until == Point{}, map[calendar.ID]int64{} // versions that are taken
	c.UUID, c.Entries, c.Same = head.UUID, 0, 0
	g := NewGroup(Epoch{}, nil)
	var redacted []Entry
	for commit, err := range Log(ctx, c.From, head.Position) {
		if err != nil {
			return err
		}
		for _, e := range commit.Entries {
			if _, known := greatest[e.ID]; !known && !whole {
				last, err := c.From.At(ctx, c.Until, e.ID)
				if err != nil {
					return err
				}
				if greatest[e.ID] = last[0].Version; last[0].Redacted != nil {
					greatest[e.ID] = math.MaxInt64
				}
			}
			if !whole && e.Version > greatest[e.ID] {
				continue
			}
			if c.Entries++; e.Position == c.Entries {
				c.Same = c.Entries
			}
			d := Draft{Kind: e.Kind, ID: e.ID, Expected: e.Version - 1}
			if e.Redacted != nil { // what it left of its record is not known
				redacted = append(redacted, Entry{ID: e.ID, Position: c.Entries, Redacted: e.Redacted})
			} else if d.Claims, d.Names, err = Holds(&e.after(cmp.Or(g.Records[e.ID], &Held{})).State); err != nil {
				return Damaged(e.Position, "state: %v", err)
			}
			if res := g.decide(&Item{Append: Append{Drafts: []Draft{d}}, Entries: []Entry{e}}); res.Err != nil {
				return res.Err
			}
		}
		g.end()
		if len(g.Entries) >= restorePage || commit.Last == head.Position {
			if err := insert(ctx, g); err != nil {
				return err
			}
			g.Entries, g.Commits, g.Slugs, g.ended = nil, nil, nil, 0
			for id := range g.before {
				g.Records[id].Record = nil // what it holds is still needed
			}
			clear(g.before)
		}
		if c.Progress != nil {
			c.Progress(commit.Last, head.Position)
		}
	}
	for _, e := range redacted {
		by := g.Records[e.ID]
		if !by.Erased {
			return fmt.Errorf("%w: entry %d was erased meanwhile", ErrUnavailable, e.Position)
		}
		e.Redacted = &Redacted{By: by.Position, Hashes: e.Redacted.Hashes} // nothing follows an erasure
		g.Redacted = append(g.Redacted, e)
	}
	if c.Receipts != nil {
		for r, err := range c.Receipts {
			if err != nil {
				return err
			}
			g.Stored = append(g.Stored, &r)
		}
	}
	if whole {
		for signed, err := range Checkpoints(ctx, c.From, head.Position) {
			if err != nil {
				return err
			}
			g.Signs[signed.Size] = *signed
		}
	}
	if c.From.Epoch() != head.Epoch {
		return fmt.Errorf("%w: something was erased meanwhile", ErrUnavailable)
	}
	return insert(ctx, g)
}
