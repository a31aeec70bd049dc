package audit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/proof"
)

// Trust is what a log is checked against.
type Trust struct {
	Keys        []*proof.Key // of the log; a checkpoint by none of them is none
	Witnesses   []*proof.Key // whose cosignatures are checked too
	Checkpoints [][]byte     // that were kept elsewhere
}

// Verified is what was found of a log.
type Verified struct {
	eventstore.Findings

	Signed      calendar.Position // entries that the greatest checkpoint covers
	Checkpoints int               // by the keys
}

// checkpoints holds signed notes against a tree of a log.
type checkpoints struct {
	trust   Trust
	tree    *proof.Tree
	entries calendar.Position
	out     *Verified
	seen    map[calendar.Position]bool
}

// check looks at one note. What does not fit is a finding, as of the first one.
func (c *checkpoints) check(ctx context.Context, note []byte) error {
	tampered := func(p calendar.Position, why string) {
		if c.out.Finding != eventstore.FoundTampered {
			c.out.Finding, c.out.Position, c.out.Why = eventstore.FoundTampered, p, why
		}
	}
	s, err := proof.Open(note, c.trust.Keys...)
	switch {
	case errors.Is(err, proof.ErrUnsigned):
		return nil
	case err != nil:
		h, _ := proof.ReadHead(note)
		tampered(h.Size, fmt.Sprintf("its checkpoint: %v", err))
		return nil
	}
	if len(c.trust.Witnesses) > 0 {
		if _, err := proof.Open(note, c.trust.Witnesses...); err != nil && !errors.Is(err, proof.ErrUnsigned) {
			tampered(s.Size, fmt.Sprintf("a cosignature of its checkpoint: %v", err))
			return nil
		}
	}
	if s.Size > c.entries {
		tampered(c.entries+1, fmt.Sprintf("it is missing, a checkpoint of %d entries was signed", s.Size))
		return nil
	}
	root, err := c.tree.Root(ctx, s.Size)
	if err != nil {
		return err
	}
	if root != s.Root {
		tampered(s.Size, fmt.Sprintf("the first %d entries are not those that were signed", s.Size))
		return nil
	}
	if !c.seen[s.Size] {
		c.seen[s.Size] = true
		c.out.Checkpoints++
	}
	c.out.Signed = max(c.out.Signed, s.Size)
	return nil
}

// VerifyStore checks a store and its checkpoints. Without keys of Trust they are those
// that the store names.
func VerifyStore(ctx context.Context, store eventstore.Verifier, log *proof.Log, trust Trust, progress func(done, total calendar.Position)) (v Verified, err error) {
	if v.Findings, err = eventstore.Verify(ctx, store, progress); err != nil {
		return v, err
	}
	if v.Finding == eventstore.FoundTampered {
		return v, nil
	}
	if len(trust.Keys) == 0 {
		newest, err := log.Checkpoint(ctx, 0)
		if errors.Is(err, proof.ErrNoCheckpoint) {
			return v, nil
		}
		if err != nil {
			return v, err
		}
		if trust.Keys, err = storeKeys(&newest); err != nil {
			return v, err
		}
	}
	c := &checkpoints{trust, log.Tree, v.Entries, &v, make(map[calendar.Position]bool)}
	for after := calendar.Position(0); ; {
		page, err := store.Checkpoints(ctx, after, exportPage)
		if err != nil {
			return v, err
		}
		for i := range page {
			if after = page[i].Size; after > v.Entries { // signed since
				break
			}
			if err := c.check(ctx, page[i].Note); err != nil {
				return v, err
			}
		}
		if len(page) == 0 || after > v.Entries {
			break
		}
	}
	for _, note := range trust.Checkpoints {
		if err := c.check(ctx, note); err != nil {
			return v, err
		}
	}
	return v, nil
}

// storeKeys are the keys that a checkpoint names.
func storeKeys(c *eventstore.Checkpoint) ([]*proof.Key, error) {
	known, err := proof.ReadKeys(c)
	if err != nil {
		return nil, err
	}
	var keys []*proof.Key
	for _, span := range known.Keys {
		k, err := proof.ParseKey(span.VKey)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// leaves are those of an export, in memory.
type leaves [][32]byte

func (l *leaves) Epoch() uint64 { return 1 }

func (l *leaves) Leaves(_ context.Context, after calendar.Position, limit int) ([][32]byte, error) {
	from := min(int(after), len(*l))
	return (*l)[from:min(from+limit, len(*l))], nil
}

// VerifyExport checks an export and nothing else: its form, its entries, its
// checkpoints, and those of Trust (HISTORY 16.2). It keeps the leaves and the last state
// of each record in memory. What is no export is an error.
func VerifyExport(ctx context.Context, from io.Reader, trust Trust) (v Verified, err error) {
	r, err := newReader(from)
	if err != nil {
		return v, err
	}
	var all leaves
	var notes [][]byte
	log := eventstore.NewLogCheck()
	v.Findings, err = log.End(ctx, func() error {
		for {
			var l struct {
				line
				signed
			}
			more, err := r.next(&l)
			if err != nil {
				return err
			}
			if !more {
				return counted(r.Entries, calendar.Position(len(all)))
			}
			if l.Checkpoint != "" {
				notes = append(notes, []byte(l.Checkpoint))
				continue
			}
			e, leaf, secret, err := l.entry()
			if err != nil {
				return fmt.Errorf("line %d: %w: %w", r.n, eventstore.ErrDamaged, err)
			}
			if !same(r.raw, e, leaf, secret) {
				return fmt.Errorf("line %d: %w: it is not written as an export writes it", r.n, eventstore.ErrDamaged)
			}
			if err := log.Entry(ctx, e, leaf, secret); err != nil {
				return err
			}
			all = append(all, leaf)
		}
	}())
	if err != nil || v.Finding == eventstore.FoundTampered {
		if v.Finding == eventstore.FoundTampered && v.Position == 0 {
			v.Position = calendar.Position(len(all)) + 1
		}
		return v, err
	}
	c := &checkpoints{trust, proof.NewTree(&all), v.Entries, &v, make(map[calendar.Position]bool)}
	for _, note := range append(notes, trust.Checkpoints...) {
		if err := c.check(ctx, note); err != nil {
			return v, err
		}
	}
	return v, nil
}

// counted holds the number of entries in a file against the one that it tells.
func counted(told, there calendar.Position) error {
	if there == told {
		return nil
	}
	return eventstore.Damaged(min(there, told)+1, "the file tells of %d entries and holds %d", told, there)
}
