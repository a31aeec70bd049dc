package proof

import (
	"context"
	"errors"
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

// Leaves is what a tree is made from: the leaves of the commits of an eventstore.Store.
type Leaves interface {
	Commits(ctx context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error)
	Epoch() eventstore.Epoch
}

// A block are the leaves below one node of level blockLevel.
const (
	blockLevel = 8
	block      = 1 << blockLevel
	readBlocks = 64 // that are read together when the tree grows
	leavesPage = 64 // commits that are read at once
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
	wanted := int64(size / block)
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
		if err := tree.grow(ctx, *upper, wanted); err != nil {
			return nil, err
		}
	}
}

// grow reads the next blocks.
func (tree *Tree) grow(ctx context.Context, upper upperTree, wanted int64) error {
	leaves, err := tree.stored(ctx, calendar.Position(upper.blocks*block), block*int(min(wanted-upper.blocks, readBlocks)))
	if err != nil {
		return err
	}
	for bottom := range slices.Chunk(nodes(leaves), block) {
		more, err := tlog.StoredHashesForRecordHash(upper.blocks, rootOf(bottom), &upper)
		if err != nil {
			return err
		}
		upper.nodes = append(upper.nodes, more...) // beyond what readers of the former one see
		upper.blocks++
	}
	if tree.leaves.Epoch().History == upper.epoch { // else it may be of two histories
		tree.upper.Store(&upper)
	}
	return nil
}

// stored reads exactly count leaves.
func (tree *Tree) stored(ctx context.Context, after calendar.Position, count int) ([][32]byte, error) {
	result := make([][32]byte, 0, count)
	for len(result) < count {
		next := after + calendar.Position(len(result)) + 1
		commits, err := tree.leaves.Commits(ctx, next, min(count-len(result), leavesPage))
		if err == nil && len(commits) == 0 {
			err = eventstore.ErrAhead
		}
		if err != nil {
			return nil, fmt.Errorf("leaf of entry %d: %w", next, err)
		}
		for i := range commits {
			leaves := commits[i].Leaves[max(next, commits[i].First)-commits[i].First:]
			result = append(result, leaves[:min(len(leaves), count-len(result))]...)
		}
	}
	return result, nil
}

// nodes returns the nodes of level 0.
func nodes(leaves [][32]byte) []Hash {
	result := make([]Hash, len(leaves))
	for i := range leaves {
		result[i] = tlog.RecordHash(leaves[i][:])
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
				if bottom, err = tree.bottom(ctx, upper.epoch, size, instant); err != nil {
					return nil, err
				}
				bottoms[instant] = bottom
			}
			first := (number << level) % block
			result[i] = rootOf(bottom[first : first+1<<level])
		}
		return result, nil
	}), nil
}

// bottom reads the nodes of level 0 of a block, as far as a tree of a size has them.
func (tree *Tree) bottom(ctx context.Context, epoch uint64, size calendar.Position, number int64) ([]Hash, error) {
	leaves, err := tree.stored(ctx, calendar.Position(number*block), int(min(block, int64(size)-number*block)))
	if err == nil && tree.leaves.Epoch().History != epoch {
		err = fmt.Errorf("tree of %d entries: %w", size, eventstore.ErrHistory)
	}
	return nodes(leaves), err
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

// ErrRange says that there is no such proof: the position or the older size is not
// within the tree.
var ErrRange = errors.New("not within the tree")

// Inclusion proves that the entry at a position is in the tree of a size, by the
// hashes in the order of RFC 6962 2.1.1, and returns the root.
func (tree *Tree) Inclusion(ctx context.Context, position, size calendar.Position) (hashes []Hash, root Hash, err error) {
	if position < 1 || position > size {
		return nil, Hash{}, fmt.Errorf("entry %d of %d: %w", position, size, ErrRange)
	}
	hashReader, err := tree.reader(ctx, size)
	if err != nil {
		return nil, Hash{}, err
	}
	if hashes, err = tlog.ProveRecord(int64(size), int64(position)-1, hashReader); err != nil {
		return nil, Hash{}, err
	}
	root, err = tlog.TreeHash(int64(size), hashReader)
	return hashes, root, err
}

// Consistency proves that the tree of one size is the beginning of that of another,
// by the hashes in the order of RFC 6962 2.1.2: none from 0 and between equal sizes. It
// returns both roots.
func (tree *Tree) Consistency(ctx context.Context, from, position calendar.Position) (hashes []Hash, fromRoot, toRoot Hash, err error) {
	if from > position {
		return nil, Hash{}, Hash{}, fmt.Errorf("size %d of %d: %w", from, position, ErrRange)
	}
	hashReader, err := tree.reader(ctx, position)
	hashes = []Hash{} // JSON: [], not null
	if err == nil && from > 0 && from < position {
		hashes, err = tlog.ProveTree(int64(position), int64(from), hashReader)
	}
	if err == nil {
		fromRoot, err = tlog.TreeHash(int64(from), hashReader)
	}
	if err == nil {
		toRoot, err = tlog.TreeHash(int64(position), hashReader)
	}
	return hashes, fromRoot, toRoot, err
}
