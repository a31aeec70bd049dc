package eventstore

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

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
	head     calendar.Position
	at       Point
	versions map[calendar.ID]int64 // greatest ones that are taken; nil: all, and the checkpoints

	records  map[calendar.ID]*copied
	redacted []Entry // ID, position and Redacted
}

// copied is what is known of a record that was copied.
type copied struct {
	position calendar.Position // of its last entry
	secret   []byte
	erased   *Entry // its last entry, which erased it
}

// NewCopy returns the Copy of all that a store holds, but for its receipts.
func NewCopy(ctx context.Context, from Store) (*Copy, error) {
	h, err := from.Head(ctx, Point{})
	if err != nil {
		return nil, err
	}
	return &Copy{UUID: h.UUID, Receipts: func(func(Receipt, error) bool) {}, from: from, head: h.Position, at: Point{Position: h.Position}}, nil
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

// restorePage is about how many entries and records are copied at once.
const restorePage = 250

// Restore fills an empty store by a function that writes what a group holds; receipts have
// the times that they had. Errors: a *ClaimError where two records of a part hold the same;
// ErrUnavailable where something was erased meanwhile; those of both stores.
func Restore(ctx context.Context, insert func(context.Context, *Group) error, from *Copy) error {
	if err := from.commits(ctx, insert); err != nil {
		return err
	}
	if err := from.states(ctx, insert); err != nil {
		return err
	}
	rest := NewGroup(Epoch{})
	for _, e := range from.redacted {
		e.Redacted = &Redacted{By: from.records[e.ID].position, Hashes: e.Redacted.Hashes} // nothing follows an erasure
		rest.Redacted = append(rest.Redacted, e)
	}
	for r, err := range from.Receipts {
		if err != nil {
			return err
		}
		rest.Stored = append(rest.Stored, &r)
	}
	if from.versions == nil {
		for c, err := range Checkpoints(ctx, from.from, from.head) {
			if err != nil {
				return err
			}
			rest.Signs = append(rest.Signs, c)
		}
	}
	return insert(ctx, rest)
}

// commits copies the entries. While none is left out the commits have the hashes that
// they had.
func (c *Copy) commits(ctx context.Context, insert func(context.Context, *Group) error) error {
	c.Entries, c.Same, c.redacted, c.records = 0, 0, nil, map[calendar.ID]*copied{}
	g := NewGroup(Epoch{})
	for commit, err := range Log(ctx, c.from, c.head) {
		if err != nil {
			return err
		}
		for i := range commit.Entries {
			e := commit.Entries[i]
			if c.versions != nil && e.Version > c.versions[e.ID] {
				continue
			}
			c.take(&e)
			if err := g.Take(Leafed{e, commit.Leaves[i]}); err != nil {
				return err
			}
		}
		g.End()
		if c.Same == commit.Last && g.Mark.Hash != commit.Hash {
			return Damaged(commit.Last, "the leaves do not give the hash of its commit")
		}
		if len(g.Entries) >= restorePage || commit.Last == c.head {
			if err := insert(ctx, g); err != nil {
				return err
			}
			end := g.Mark
			g = NewGroup(Epoch{})
			g.Mark = end
		}
		if c.Progress != nil {
			c.Progress(commit.Last, c.head)
		}
	}
	return nil
}

// take sets the position of an entry.
func (c *Copy) take(e *Entry) {
	c.Entries++
	if e.Position == c.Entries {
		c.Same = c.Entries
	}
	e.Position = c.Entries
	if e.Redacted != nil {
		c.redacted = append(c.redacted, Entry{ID: e.ID, Position: e.Position, Redacted: e.Redacted})
	}
	r := c.records[e.ID]
	if r == nil {
		r = &copied{}
		c.records[e.ID] = r
	}
	if r.position = e.Position; e.Secret != nil {
		r.secret = e.Secret
	}
	if e.Change == ErasedChange(e.Kind) {
		r.erased = e
	}
}

// states copies records as their last entries leave them.
func (c *Copy) states(ctx context.Context, insert func(context.Context, *Group) error) error {
	g := NewGroup(Epoch{})
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(c.records)), restorePage) {
		entries, err := c.from.At(ctx, c.at, ids...)
		if err != nil {
			return err
		}
		clear(g.before)
		for i, id := range ids {
			e, r := &entries[i], c.records[id]
			if r.erased != nil { // it may not count, and is copied all the same
				e = r.erased
			}
			if e.Redacted != nil {
				return fmt.Errorf("%w: entry %d was erased meanwhile", ErrUnavailable, e.Position)
			}
			h := &Held{
				State:  State{Kind: e.Kind, ID: id, Version: e.Version, Position: r.position, Record: e.State, Secret: r.secret},
				Erased: r.erased != nil,
			}
			if h.Claims, h.Names, err = Holds(&h.State); err != nil {
				return Damaged(e.Position, "state: %v", err)
			}
			for _, claim := range h.Claims {
				if other := g.Holders[claim]; other != 0 {
					return &ClaimError{Claim: claim, Holder: other}
				}
				g.Holders[claim] = id
			}
			g.Records[id], g.before[id] = h, nil
		}
		if err := insert(ctx, g); err != nil {
			return err
		}
		clear(g.Records)
	}
	return nil
}
