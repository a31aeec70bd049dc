package proof

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/semaphore"

	"daybook/calendar"
	"daybook/eventstore"
)

// Hash is a node of the tree, SHA-256.
type Hash = tlog.Hash

// Leaves is what a tree is made from: those of the entries of an eventstore.Store.
type Leaves interface {
	Read(ctx context.Context, bounds eventstore.Range) ([]eventstore.Entry, error)
	Epoch() eventstore.Epoch
}

// A block are the leaves below one node of level blockLevel, TileWidth of them.
const (
	blockLevel = 8
	readBlocks = 16 // that are read together when the tree grows
)

// Tree is the Merkle tree over the leaves of a store. It caches the nodes above blocks
// of 256 leaves, some 64 bytes a block, and reads the leaves of at most three blocks
// for one proof, so a log of 10 million entries takes 2.5 MB and is read whole once.
// What it caches goes when the store goes over to another history. It is safe for
// concurrent use.
type Tree struct {
	leaves  Leaves
	growing *semaphore.Weighted // one caller reads
	upper   atomic.Pointer[upperTree]
}

// NewTree makes the tree of a store; it reads nothing yet.
func NewTree(leaves Leaves) *Tree {
	return &Tree{leaves: leaves, growing: semaphore.NewWeighted(1)}
}

// upperTree is the tree above the first blocks, in one epoch: a tree whose leaves are the
// roots of blocks, in the order of package tlog.
type upperTree struct {
	epoch  uint64
	blocks int64
	nodes  []Hash
}

// ReadHashes implements tlog.HashReader.
func (upper *upperTree) ReadHashes(indexes []int64) ([]Hash, error) {
	result := make([]Hash, len(indexes))
	for i, index := range indexes {
		result[i] = upper.nodes[index]
	}
	return result, nil
}

// cached returns what is cached of the present history.
func (tree *Tree) cached() *upperTree {
	epoch := tree.leaves.Epoch().History
	if u := tree.upper.Load(); u != nil && u.epoch == epoch {
		return u
	}
	return &upperTree{epoch: epoch}
}

// grown returns the tree above at least the blocks of a size. What was read stays cached
// when the context ends.
func (tree *Tree) grown(ctx context.Context, size calendar.Position) (*upperTree, error) {
	wanted := int64(size / TileWidth)
	if upper := tree.cached(); upper.blocks >= wanted {
		return upper, nil
	}
	if err := tree.growing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer tree.growing.Release(1)
	for {
		upper := tree.cached()
		if upper.blocks >= wanted {
			return upper, nil
		}
		if err := tree.grow(ctx, *upper, wanted); err != nil && tree.leaves.Epoch().History == upper.epoch {
			return nil, err
		}
	}
}

// grow reads the next blocks.
func (tree *Tree) grow(ctx context.Context, upper upperTree, wanted int64) error {
	entries, err := tree.stored(ctx, upper.epoch, calendar.Position(upper.blocks*TileWidth), TileWidth*int(min(wanted-upper.blocks, readBlocks)))
	if err != nil {
		return err
	}
	for bottom := range slices.Chunk(nodes(entries), TileWidth) {
		more, err := tlog.StoredHashesForRecordHash(upper.blocks, rootOf(bottom), &upper)
		if err != nil {
			return err
		}
		upper.nodes = append(upper.nodes, more...) // beyond what readers of the former one see
		upper.blocks++
	}
	tree.upper.Store(&upper)
	return nil
}

// stored reads exactly count entries of a history, of which it needs the leaves.
func (tree *Tree) stored(ctx context.Context, history uint64, after calendar.Position, count int) ([]eventstore.Entry, error) {
	entries, err := tree.leaves.Read(ctx, eventstore.Range{After: uint64(after), Limit: count, Leaves: true})
	switch {
	case err != nil:
	case tree.leaves.Epoch().History != history:
		err = eventstore.ErrHistory
	case len(entries) < count:
		err = eventstore.ErrAhead
	}
	if err != nil {
		err = fmt.Errorf("leaves of %d entries after %d: %w", count, after, err)
	}
	return entries, err
}

// nodes returns the nodes of level 0.
func nodes(entries []eventstore.Entry) []Hash {
	result := make([]Hash, len(entries))
	for i := range entries {
		result[i] = tlog.RecordHash(entries[i].Leaf[:])
	}
	return result
}

// rootOf returns the root over nodes, whose number is a power of 2.
func rootOf(nodes []Hash) Hash {
	if len(nodes) == 1 {
		return nodes[0]
	}
	half := len(nodes) / 2
	return tlog.NodeHash(rootOf(nodes[:half]), rootOf(nodes[half:]))
}

// reader returns what reads the nodes of a tree of a size.
func (tree *Tree) reader(ctx context.Context, size calendar.Position) (tlog.HashReader, error) {
	upper, err := tree.grown(ctx, size)
	if err != nil {
		return nil, err
	}
	bottoms := map[int64][]Hash{} // nodes of level 0, by block
	return tlog.HashReaderFunc(func(indexes []int64) ([]Hash, error) {
		result := make([]Hash, len(indexes))
		for i, index := range indexes {
			level, number := tlog.SplitStoredHashIndex(index)
			if level >= blockLevel {
				result[i] = upper.nodes[tlog.StoredHashIndex(level-blockLevel, number)]
				continue
			}
			instant := number >> (blockLevel - level)
			bottom := bottoms[instant]
			if bottom == nil {
				entries, err := tree.stored(ctx, upper.epoch, calendar.Position(instant*TileWidth), int(min(TileWidth, int64(size)-instant*TileWidth)))
				if err != nil {
					return nil, err
				}
				bottom = nodes(entries)
				bottoms[instant] = bottom
			}
			first := (number << level) % TileWidth
			result[i] = rootOf(bottom[first : first+1<<level])
		}
		return result, nil
	}), nil
}

// Root returns the root of the tree of a size; of 0 it is that of the empty tree. The
// error is ErrAhead where the log is shorter, ErrHistory where the store has just gone
// over to another history, or one of the store; for all methods.
func (tree *Tree) Root(ctx context.Context, size calendar.Position) (Hash, error) {
	hashReader, err := tree.reader(ctx, size)
	if err != nil {
		return Hash{}, err
	}
	return tlog.TreeHash(int64(size), hashReader)
}

// Leaf returns the stored leaf of the entry at a position.
func (tree *Tree) Leaf(ctx context.Context, position calendar.Position) (leaf Hash, err error) {
	entries, err := tree.stored(ctx, tree.leaves.Epoch().History, position-1, 1)
	if err == nil {
		leaf = entries[0].Leaf
	}
	return leaf, err
}

// Inclusion proves that the entry at a position is in the tree of a size, by the hashes in
// the order of RFC 6962 2.1.1. The position is within the tree.
func (tree *Tree) Inclusion(ctx context.Context, position, size calendar.Position) (inclusion Inclusion, err error) {
	inclusion = Inclusion{Position: position, Index: position - 1, Size: size}
	hashReader, err := tree.reader(ctx, size)
	if err == nil {
		inclusion.Hashes, err = tlog.ProveRecord(int64(size), int64(position)-1, hashReader)
	}
	if err == nil {
		inclusion.Root, err = tlog.TreeHash(int64(size), hashReader)
	}
	if err == nil {
		inclusion.Leaf, err = tree.Leaf(ctx, position)
	}
	return inclusion, err
}

// Consistency proves that the tree of one size is the beginning of that of another, by the
// hashes in the order of RFC 6962 2.1.2: none from 0 and between equal sizes.
func (tree *Tree) Consistency(ctx context.Context, from, size calendar.Position) (consistency Consistency, err error) {
	consistency = Consistency{From: from, To: size, Hashes: []Hash{}} // JSON: [], not null
	hashReader, err := tree.reader(ctx, size)
	if err == nil && from > 0 && from != size {
		consistency.Hashes, err = tlog.ProveTree(int64(size), int64(from), hashReader)
	}
	if err == nil {
		consistency.FromRoot, err = tlog.TreeHash(int64(from), hashReader)
	}
	if err == nil {
		consistency.ToRoot, err = tlog.TreeHash(int64(size), hashReader)
	}
	return consistency, err
}
