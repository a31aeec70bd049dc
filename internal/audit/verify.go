package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
	"daybook/internal/proof"
)

// Trust is what a log is checked against.
type Trust struct {
	Keys        []*proof.Key // of the log; a checkpoint by none of them is none
	Witnesses   []*proof.Key // whose cosignatures are checked too
	Checkpoints [][]byte     // that are stored elsewhere
}

// Verified is what was found of a log.
type Verified struct {
	verify.Findings

	Signed      calendar.Position `json:"signed"`   // entries that the greatest checkpoint covers
	Unsigned    calendar.Position `json:"unsigned"` // the others
	Checkpoints int               `json:"checkpoints"`
}

// checker checks signed notes by the tree of a log, and adds to what was found of it.
type checker struct {
	Verified

	trust Trust
	tree  *proof.Tree
	seen  map[calendar.Position]bool
}

// check checks one note. What does not fit is a finding, as of the first one.
func (c *checker) check(ctx context.Context, note []byte) error {
	s, err := proof.Open(note, c.trust.Keys...)
	switch {
	case errors.Is(err, proof.ErrUnsigned):
		return nil
	case err != nil:
		h, _ := proof.ReadHead(note)
		return c.Damage(eventstore.Damaged(h.Size, "its checkpoint: %v", err))
	}
	if len(c.trust.Witnesses) > 0 {
		if _, err := proof.Open(note, c.trust.Witnesses...); err != nil && !errors.Is(err, proof.ErrUnsigned) {
			return c.Damage(eventstore.Damaged(s.Size, "a cosignature of its checkpoint: %v", err))
		}
	}
	if s.Size > c.Entries {
		return c.Damage(eventstore.Damaged(c.Entries+1, "it is missing, a checkpoint of %d entries was signed", s.Size))
	}
	root, err := c.tree.Root(ctx, s.Size)
	switch {
	case err != nil:
		return err
	case root != s.Root:
		return c.Damage(eventstore.Damaged(s.Size, "the first %d entries are not those that were signed", s.Size))
	}
	c.seen[s.Size] = true
	c.Checkpoints, c.Signed = len(c.seen), max(c.Signed, s.Size)
	c.Unsigned = c.Entries - c.Signed
	return nil
}

func newChecker(f verify.Findings, trust Trust, tree *proof.Tree) *checker {
	return &checker{Verified{Findings: f, Unsigned: f.Entries}, trust, tree, map[calendar.Position]bool{}}
}

// finish checks the last notes.
func (c *checker) finish(ctx context.Context, notes ...[]byte) (Verified, error) {
	for _, note := range notes {
		if err := c.check(ctx, note); err != nil {
			return c.Verified, err
		}
	}
	return c.Verified, nil
}

// VerifyStore checks a store and its checkpoints. Without keys of Trust they are those
// that the store names.
func VerifyStore(ctx context.Context, store eventstore.Store, tree *proof.Tree, trust Trust, progress func(done, total calendar.Position)) (Verified, error) {
	found, err := verify.Store(ctx, store, progress)
	c := newChecker(found, trust, tree)
	if err != nil || found.Result == verify.Tampered {
		return c.Verified, err
	}
	if len(trust.Keys) == 0 {
		if c.trust.Keys, err = storeKeys(ctx, store); err != nil {
			return c.Verified, err
		}
	}
	for s, err := range eventstore.Checkpoints(ctx, store, found.Entries) {
		if err == nil {
			err = c.check(ctx, s.Note)
		}
		if err != nil {
			return c.Verified, err
		}
	}
	return c.finish(ctx, trust.Checkpoints...)
}

// storeKeys are the keys that the newest checkpoint of a store names.
func storeKeys(ctx context.Context, store eventstore.Store) ([]*proof.Key, error) {
	newest, err := eventstore.CheckpointAt(ctx, store, 0)
	if errors.Is(err, eventstore.ErrNotFound) {
		return nil, nil
	}
	known, badKeys := proof.ReadKeys(&newest)
	if err = errors.Join(err, badKeys); err != nil {
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
func VerifyExport(ctx context.Context, from io.Reader, trust Trust) (Verified, error) {
	r, err := newReader(from)
	if err != nil {
		return Verified{}, err
	}
	found, err := verify.Log(r.entries, func(id calendar.ID, _ int64) ([]byte, error) { return r.states[id], nil })
	c := newChecker(found, trust, proof.NewTree(&r.leaves))
	if err != nil || found.Result == verify.Tampered {
		if c.Position == 0 {
			c.Position = found.Entries + 1
		}
		return c.Verified, err
	}
	return c.finish(ctx, slices.Concat(r.notes, trust.Checkpoints)...)
}
