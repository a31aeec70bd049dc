package proof

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"daybook/calendar"
	"daybook/eventstore"
)

// Hash is a node of the tree, SHA-256.
type Hash = tlog.Hash

// Leaves is what a tree is made from: the stored leaves of the log.
type Leaves interface {
	// Leaves gives up to limit leaves of the entries after a position, in order.
	Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error)
	// Epoch grows when the store has another history, see eventstore.Store.
	Epoch() uint64
}

// A block are the leaves below one node of level blockLevel.
const (
	blockLevel = 8
	block      = 1 << blockLevel
	readBlocks = 64 // that are read at once when the tree grows
)

// Tree is the Merkle tree over the leaves of a store. It keeps the nodes above blocks
// of 256 leaves, some 64 bytes a block, and reads the leaves of at most three blocks
// for whatever is asked of it, so a log of 10 million entries takes 2.5 MB and is read
// whole once. What it keeps goes when the store goes over to another history. It is
// safe for concurrent use.
type Tree struct {
	leaves  Leaves
	growing chan struct{} // holds a token while one caller reads

	mu    sync.RWMutex
	epoch uint64
	// levels are the whole nodes from blockLevel upwards.
	levels [][]Hash

	lately sync.Mutex
	blocks map[blockKey][]Hash // that were read lately
}

// keptBlocks is how many blocks are kept that were read lately, of 8 KiB each: most
// proofs are asked for at the same few sizes.
const keptBlocks = 256

// blockKey names the nodes of level 0 of a block, which a longer log does not change.
type blockKey struct {
	epoch uint64
	n     int64
	width int
}

// NewTree makes the tree of a store; it reads nothing yet.
func NewTree(leaves Leaves) *Tree {
	return &Tree{leaves: leaves, growing: make(chan struct{}, 1), blocks: make(map[blockKey][]Hash)}
}

// Grow reads whatever is needed for a tree of a size. What was read stays when the
// context ends. The error is ErrAhead where the log is shorter, or one of the store.
func (t *Tree) Grow(ctx context.Context, size calendar.Position) error {
	_, err := t.grown(ctx, size)
	return err
}

// view is the tree in one epoch, up to a size.
type view struct {
	epoch  uint64
	levels [][]Hash
}

// grown gives the kept nodes with at least those of a size.
func (t *Tree) grown(ctx context.Context, size calendar.Position) (view, error) {
	wanted := int(size / block)
	if v, ok := t.known(wanted); ok {
		return v, nil
	}
	select {
	case t.growing <- struct{}{}:
	case <-ctx.Done():
		return view{}, ctx.Err()
	}
	defer func() { <-t.growing }()
	for {
		v, ok := t.known(wanted)
		if ok {
			return v, nil
		}
		if err := t.read(ctx, v, wanted); err != nil {
			return view{}, err
		}
	}
}

// known gives what is kept of the present history, and whether it is enough.
func (t *Tree) known(blocks int) (v view, enough bool) {
	epoch := t.leaves.Epoch()
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.epoch != epoch {
		return view{epoch: epoch}, false
	}
	v = view{epoch, t.levels}
	return v, v.blocks() >= blocks
}

func (v *view) blocks() int {
	if len(v.levels) == 0 {
		return 0
	}
	return len(v.levels[0])
}

// read adds the next blocks to a view and keeps it.
func (t *Tree) read(ctx context.Context, v view, wanted int) error {
	have := v.blocks()
	n := min(wanted-have, readBlocks)
	leaves, err := t.stored(ctx, calendar.Position(have*block), n*block)
	if err != nil {
		return err
	}
	levels := make([][]Hash, len(v.levels), len(v.levels)+1)
	copy(levels, v.levels) // readers of the former view see none of what is appended
	for i := range n {
		levels = add(levels, rootOf(leaves[i*block:(i+1)*block]))
	}
	if t.leaves.Epoch() != v.epoch { // it may be of two histories
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch, t.levels = v.epoch, levels
	return nil
}

// add appends a node of blockLevel, and all above it that it makes whole.
func add(levels [][]Hash, h Hash) [][]Hash {
	for l := 0; ; l++ {
		if l == len(levels) {
			levels = append(levels, nil)
		}
		levels[l] = append(levels[l], h)
		n := len(levels[l])
		if n%2 == 1 {
			return levels
		}
		h = tlog.NodeHash(levels[l][n-2], h)
	}
}

// stored reads just so many leaves.
func (t *Tree) stored(ctx context.Context, after calendar.Position, n int) ([][32]byte, error) {
	out := make([][32]byte, 0, n)
	for len(out) < n {
		at := after + calendar.Position(len(out))
		leaves, err := t.leaves.Leaves(ctx, at, n-len(out))
		if err != nil {
			return nil, fmt.Errorf("leaves after %d: %w", at, err)
		}
		if len(leaves) == 0 {
			return nil, fmt.Errorf("leaf of entry %d: %w", at+1, eventstore.ErrAhead)
		}
		out = append(out, leaves...)
	}
	return out, nil
}

// rootOf gives the root over leaves, whose number is a power of 2.
func rootOf(leaves [][32]byte) Hash {
	level := nodes(leaves)
	for len(level) > 1 {
		for i := range len(level) / 2 {
			level[i] = tlog.NodeHash(level[2*i], level[2*i+1])
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// nodes gives the nodes of level 0.
func nodes(leaves [][32]byte) []Hash {
	out := make([]Hash, len(leaves))
	for i := range leaves {
		out[i] = tlog.RecordHash(leaves[i][:])
	}
	return out
}

// reader reads nodes for one question about a tree of a size.
type reader struct {
	tree *Tree
	view view
	size calendar.Position
	read map[int64][]Hash // nodes of level 0, by block
}

// reader checks a size and gives what reads a tree of it.
func (t *Tree) reader(ctx context.Context, size calendar.Position) (*reader, error) {
	v, err := t.grown(ctx, size)
	if err != nil {
		return nil, err
	}
	return &reader{tree: t, view: v, size: size, read: make(map[int64][]Hash)}, nil
}

// with gives the reader as tlog asks for it.
func (r *reader) with(ctx context.Context) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			var err error
			level, n := tlog.SplitStoredHashIndex(index)
			if out[i], err = r.node(ctx, level, n); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

func (r *reader) node(ctx context.Context, level int, n int64) (Hash, error) {
	if level >= blockLevel {
		return r.view.levels[level-blockLevel][n], nil
	}
	bottom, err := r.bottom(ctx, n>>(blockLevel-level))
	if err != nil {
		return Hash{}, err
	}
	first := (n << level) & (block - 1)
	return rootOfNodes(bottom[first : first+1<<level]), nil
}

// rootOfNodes is rootOf that leaves what it is given.
func rootOfNodes(level []Hash) Hash {
	if len(level) == 1 {
		return level[0]
	}
	half := len(level) / 2
	return tlog.NodeHash(rootOfNodes(level[:half]), rootOfNodes(level[half:]))
}

// bottom gives the nodes of level 0 of a block, as far as the tree has them.
func (r *reader) bottom(ctx context.Context, n int64) ([]Hash, error) {
	if known := r.read[n]; known != nil {
		return known, nil
	}
	t := r.tree
	key := blockKey{r.view.epoch, n, min(block, int(int64(r.size)-n*block))}
	t.lately.Lock()
	known := t.blocks[key]
	t.lately.Unlock()
	if known == nil {
		leaves, err := t.stored(ctx, calendar.Position(n*block), key.width)
		if err != nil {
			return nil, err
		}
		if t.leaves.Epoch() != key.epoch {
			return nil, fmt.Errorf("tree of %d entries: %w", r.size, eventstore.ErrHistory)
		}
		known = nodes(leaves)
		t.lately.Lock()
		if len(t.blocks) >= keptBlocks {
			clear(t.blocks)
		}
		t.blocks[key] = known
		t.lately.Unlock()
	}
	r.read[n] = known
	return known, nil
}

// Root gives the root of the tree of a size; of 0 it is that of the empty tree. The
// errors are those of Grow, for all methods.
func (t *Tree) Root(ctx context.Context, size calendar.Position) (Hash, error) {
	r, err := t.reader(ctx, size)
	if err != nil {
		return Hash{}, err
	}
	return tlog.TreeHash(int64(size), r.with(ctx))
}

// ErrRange says that there is no such proof: the position or the older size is not
// within the tree.
var ErrRange = errors.New("not within the tree")

// Inclusion proves that the entry at a position is in the tree of a size, by the
// hashes in the order of RFC 6962 2.1.1, and gives the root.
func (t *Tree) Inclusion(ctx context.Context, position, size calendar.Position) (hashes []Hash, root Hash, err error) {
	if position < 1 || position > size {
		return nil, Hash{}, fmt.Errorf("entry %d of %d: %w", position, size, ErrRange)
	}
	r, err := t.reader(ctx, size)
	if err != nil {
		return nil, Hash{}, err
	}
	if hashes, err = tlog.ProveRecord(int64(size), int64(position)-1, r.with(ctx)); err != nil {
		return nil, Hash{}, err
	}
	root, err = tlog.TreeHash(int64(size), r.with(ctx))
	return hashes, root, err
}

// Consistency proves that the tree of one size is the beginning of that of another,
// by the hashes in the order of RFC 6962 2.1.2: none from 0 and between equal sizes. It
// gives both roots.
func (t *Tree) Consistency(ctx context.Context, from, to calendar.Position) (hashes []Hash, fromRoot, toRoot Hash, err error) {
	if from > to {
		return nil, Hash{}, Hash{}, fmt.Errorf("size %d of %d: %w", from, to, ErrRange)
	}
	r, err := t.reader(ctx, to)
	if err != nil {
		return nil, Hash{}, Hash{}, err
	}
	if from > 0 && from < to {
		if hashes, err = tlog.ProveTree(int64(to), int64(from), r.with(ctx)); err != nil {
			return nil, Hash{}, Hash{}, err
		}
	}
	if fromRoot, err = tlog.TreeHash(int64(from), r.with(ctx)); err != nil {
		return nil, Hash{}, Hash{}, err
	}
	toRoot, err = tlog.TreeHash(int64(to), r.with(ctx))
	return hashes, fromRoot, toRoot, err
}
