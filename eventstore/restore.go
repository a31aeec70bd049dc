package eventstore

import (
	"context"
	"fmt"
	"iter"
	"math"

	"daybook/calendar"
)

// Copy is what a store is filled with: the log of another one, or the part of it that
// counts at a point, and what follows from these entries.
type Copy struct {
	UUID [16]byte // of the other store, which the copy has too
	// Receipts of the other store; NewCopy leaves them out.
	Receipts iter.Seq2[Receipt, error]
	// Progress, when not nil, is called with how many entries of the other store are done.
	Progress func(done, total calendar.Position)

	// After Restore: the position of the newest entry, and how many entries at the
	// beginning have the position that they had.
	Entries, Same calendar.Position

	from     Store
	head     Head
	versions map[calendar.ID]int64 // greatest ones that are taken; nil: all, and the checkpoints
}

// NewCopy returns the Copy of all that a store holds, but for its receipts.
func NewCopy(ctx context.Context, from Store) (*Copy, error) {
	h, err := from.Head(ctx, Point{})
	if err != nil {
		return nil, err
	}
	return &Copy{UUID: h.UUID, Receipts: func(func(Receipt, error) bool) {}, from: from, head: h}, nil
}

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
	if at.Position > c.head.Position {
		return nil, ErrAhead
	}
	c.versions = map[calendar.ID]int64{}
	for commit, err := range Log(ctx, from, c.head.Position) {
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
			progress(commit.Last, c.head.Position)
		}
	}
	return c, nil
}

// restorePage is about how many entries are copied at once.
const restorePage = 250

// Restore fills an empty store by a function that writes what a group holds; receipts have
// the times that they had. While no entry is left out the commits have the hashes that they
// had. Errors: a *ClaimError where two records of a part hold the same; ErrUnavailable where
// something was erased meanwhile; those of both stores.
func Restore(ctx context.Context, insert func(context.Context, *Group) error, c *Copy) error {
	c.Entries, c.Same = 0, 0
	g := NewGroup(Epoch{})
	var redacted []Entry
	for commit, err := range Log(ctx, c.from, c.head.Position) {
		if err != nil {
			return err
		}
		for i, e := range commit.Entries {
			if c.versions != nil && e.Version > c.versions[e.ID] {
				continue
			}
			c.Entries++
			if e.Position == c.Entries {
				c.Same = c.Entries
			}
			e.Position = c.Entries
			if e.Redacted != nil {
				redacted = append(redacted, Entry{ID: e.ID, Position: e.Position, Redacted: e.Redacted})
			}
			if err := g.Take(Leafed{e, commit.Leaves[i]}); err != nil {
				return err
			}
		}
		g.End()
		if c.Same == commit.Last && g.Mark.Hash != commit.Hash {
			return Damaged(commit.Last, "the leaves do not give the hash of its commit")
		}
		if len(g.Entries) >= restorePage || commit.Last == c.head.Position {
			if err := insert(ctx, g); err != nil {
				return err
			}
			g.written()
		}
		if c.Progress != nil {
			c.Progress(commit.Last, c.head.Position)
		}
	}
	for _, e := range redacted {
		h := g.Records[e.ID]
		if h == nil {
			return fmt.Errorf("%w: entry %d was erased meanwhile", ErrUnavailable, e.Position)
		}
		e.Redacted = &Redacted{By: h.Position, Hashes: e.Redacted.Hashes} // nothing follows an erasure
		g.Redacted = append(g.Redacted, e)
	}
	for r, err := range c.Receipts {
		if err != nil {
			return err
		}
		g.Stored = append(g.Stored, &r)
	}
	if c.versions == nil {
		for signed, err := range Checkpoints(ctx, c.from, c.head.Position) {
			if err != nil {
				return err
			}
			g.Signs = append(g.Signs, signed)
		}
	}
	if c.from.Epoch() != c.head.Epoch {
		return fmt.Errorf("%w: something was erased meanwhile", ErrUnavailable)
	}
	return insert(ctx, g)
}
