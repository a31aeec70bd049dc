package eventstore

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"daybook/calendar"
)

// Part is a part of a log, as another store is filled with it: the entries that count
// at a Point, and those of lower versions of the same records. Of a record that was
// erased since then all is taken that is left of it, so that it is told who erased it.
type Part struct {
	from    Verifier
	head    calendar.Position
	last    map[calendar.ID]int64 // the greatest version that is taken
	secrets map[calendar.ID][]byte

	// What Commits has given.
	Entries calendar.Position // the newest position
	Same    calendar.Position // how many entries at the begin have the position that they had
	erasing map[calendar.Position]calendar.Position
	blank   []Entry
}

// Leafed is an entry with its leaf.
type Leafed struct {
	Entry

	Leaf [32]byte
}

// UUID gives the UUID of the store that the log is of.
func (p *Part) UUID(ctx context.Context) ([16]byte, error) { return p.from.UUID(ctx) }

// NewPart looks through a log for what counts. progress, when not nil, is told how many
// entries were looked at. Errors: ErrMalformed, ErrAhead, those of the store.
func NewPart(ctx context.Context, from Verifier, at Point, progress func(done, total calendar.Position)) (*Part, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	head, err := from.Head(ctx)
	if err != nil {
		return nil, err
	}
	if at.Position > head {
		return nil, ErrAhead
	}
	p := &Part{from: from, head: head, last: map[calendar.ID]int64{}}
	return p, p.pages(ctx, progress, func(entries []Entry, _ [][32]byte) error {
		for i := range entries {
			switch e := &entries[i]; {
			case !at.Counts(e):
			case e.Redacted != nil:
				p.last[e.ID] = math.MaxInt64
			default:
				p.last[e.ID] = max(p.last[e.ID], e.Version)
			}
		}
		return nil
	})
}

// pages reads the log.
func (p *Part) pages(ctx context.Context, progress func(done, total calendar.Position), do func([]Entry, [][32]byte) error) error {
	for at := calendar.Position(0); at < p.head; {
		entries, err := p.from.ReadStored(ctx, at, int(min(p.head-at, verifyPage)))
		if err != nil {
			return err
		}
		leaves, err := p.from.Leaves(ctx, at, len(entries))
		if err != nil {
			return err
		}
		if len(entries) == 0 || len(leaves) != len(entries) || entries[len(entries)-1].Position != at+calendar.Position(len(entries)) {
			return Damaged(at+1, "%d entries and %d leaves from there on, below the head %d", len(entries), len(leaves), p.head)
		}
		if err := do(entries, leaves); err != nil {
			return err
		}
		at += calendar.Position(len(entries))
		if progress != nil {
			progress(at, p.head)
		}
	}
	return nil
}

// Commits gives the entries of the part in order, with dense positions, those of one
// commit at a time. While nothing is left out the commits have the hashes that they had.
func (p *Part) Commits(ctx context.Context, progress func(done, total calendar.Position), do func([]Leafed) error) error {
	p.Entries, p.Same, p.blank = 0, 0, nil
	p.secrets, p.erasing = map[calendar.ID][]byte{}, map[calendar.Position]calendar.Position{}
	var borders []Commit
	var commit Commit
	var taken []Leafed
	var chain [32]byte
	end := func() error {
		if len(taken) == 0 {
			return nil
		}
		leaves := make([][32]byte, len(taken))
		for i := range taken {
			leaves[i] = taken[i].Leaf
		}
		chain = ChainHash(chain, taken[0].Position, leaves)
		if p.Same == commit.Last && chain != commit.Hash {
			return Damaged(commit.Last, "the leaves do not give the hash of its commit")
		}
		err := do(taken)
		taken = nil
		return err
	}
	err := p.pages(ctx, progress, func(entries []Entry, leaves [][32]byte) error {
		for i := range entries {
			e := &entries[i]
			if e.Position > commit.Last {
				if err := end(); err != nil {
					return err
				}
				if len(borders) == 0 {
					var err error
					if borders, err = p.from.Commits(ctx, commit.First, verifyPage); err != nil {
						return err
					}
				}
				if len(borders) == 0 || borders[0].First != e.Position {
					return Damaged(e.Position, "no commit begins with it")
				}
				commit, borders = borders[0], borders[1:]
			}
			if e.Version > p.last[e.ID] {
				continue
			}
			p.take(e)
			taken = append(taken, Leafed{*e, leaves[i]})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// take gives an entry its position.
func (p *Part) take(e *Entry) {
	p.Entries++
	if e.Position == p.Entries {
		p.Same = p.Entries
	}
	if e.Change == ErasedChange(e.Kind) {
		p.erasing[e.Position] = p.Entries
	}
	e.Position = p.Entries
	if e.Redacted != nil {
		p.blank = append(p.blank, Entry{Position: e.Position, Redacted: e.Redacted})
	}
	if e.Secret != nil {
		p.secrets[e.ID] = e.Secret
	}
}

// Redacted gives, after Commits, position and Redacted of the entries that are redacted.
func (p *Part) Redacted() ([]Entry, error) {
	for i := range p.blank {
		r := *p.blank[i].Redacted
		by, ok := p.erasing[r.By]
		if !ok {
			return nil, fmt.Errorf("%w: entry %d was erased meanwhile", ErrUnavailable, p.blank[i].Position)
		}
		r.By = by
		p.blank[i].Redacted = &r
	}
	return p.blank, nil
}

// Records gives the ids of the records, ascending.
func (p *Part) Records() []calendar.ID { return slices.Sorted(maps.Keys(p.last)) }

// Held gives, after Commits, a record as its last entry leaves it.
func (p *Part) Held(e *Entry) (*Held, error) {
	h := &Held{
		State: State{
			Kind: e.Kind, ID: e.ID, Version: e.Version, Position: e.Position, Record: e.State, Secret: p.secrets[e.ID],
		},
		Erased: e.Change == ErasedChange(e.Kind),
	}
	holds, err := holdingOf(&h.State)
	if err != nil {
		return nil, Damaged(e.Position, "state: %v", err)
	}
	h.Claims, h.Names = distinct(holds.Claims), distinct(holds.Names)
	return h, nil
}
