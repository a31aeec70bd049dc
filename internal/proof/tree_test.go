package proof_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/proof"
)

// log is a store as a tree reads it.
type log struct {
	leaves []digest
	epoch  atomic.Uint64
	read   atomic.Int64 // leaves that were given
	met    func()       // before each read
}

func newLog(n int) *log {
	l := &log{leaves: make([]digest, n)}
	for i := range l.leaves {
		binary.BigEndian.PutUint64(l.leaves[i][7:], uint64(i)*0x9E3779B97F4A7C15)
	}
	l.epoch.Store(1)
	return l
}

func (log *log) Epoch() eventstore.Epoch { return eventstore.Epoch{History: log.epoch.Load()} }

func (log *log) Read(ctx context.Context, bounds eventstore.Range) (entries []eventstore.Entry, err error) {
	if log.met != nil {
		log.met()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for from := int(bounds.After); from < len(log.leaves) && len(entries) < bounds.Limit; from++ {
		entries = append(entries, eventstore.Entry{Leaf: log.leaves[from]})
	}
	log.read.Add(int64(len(entries)))
	return entries, nil
}

// sizes are those that lie next to the ends of blocks and powers of 2.
var sizes = []int{1, 2, 3, 4, 7, 8, 9, 31, 33, 255, 256, 257, 511, 512, 513, 767, 768, 1000, 1024, 1029}

// HISTORY 20.27: every position is included, for all sizes of a small log.
func TestInclusion(t *testing.T) {
	t.Parallel()
	log := newLog(1029)
	tree := proof.NewTree(log)
	check := func(position, size int) {
		inclusion, err := tree.Inclusion(t.Context(), calendar.Position(position), calendar.Position(size))
		if err != nil {
			t.Fatalf("entry %d of %d: %v", position, size, err)
		}
		if err := tlog.CheckRecord(inclusion.Hashes, int64(size), inclusion.Root, int64(position)-1, tlog.RecordHash(log.leaves[position-1][:])); err != nil || digest(inclusion.Leaf) != log.leaves[position-1] {
			t.Fatalf("entry %d of %d: %v", position, size, err)
		}
	}
	for size := 1; size <= 40; size++ {
		for position := 1; position <= size; position++ {
			check(position, size)
		}
	}
	for _, size := range sizes {
		want := treeHash(log.leaves[:size])
		if root, err := tree.Root(t.Context(), calendar.Position(size)); err != nil || digest(root) != want {
			t.Fatalf("root of %d: %x, %v; want %x", size, root, err, want)
		}
		for _, position := range []int{1, size/2 + 1, max(size-1, 1), size} {
			check(position, size)
		}
	}
	for _, bad := range [][2]calendar.Position{{0, 5}, {6, 5}, {0, 0}, {1, 0}} {
		if _, err := tree.Inclusion(t.Context(), bad[0], bad[1]); err == nil {
			t.Errorf("entry %d of %d has a proof", bad[0], bad[1])
		}
	}
	if _, err := tree.Root(t.Context(), 1030); !errors.Is(err, eventstore.ErrAhead) {
		t.Errorf("root beyond the log: %v, want ErrAhead", err)
	}
}

// HISTORY 20.27: two sizes are consistent.
func TestConsistency(t *testing.T) {
	t.Parallel()
	log := newLog(1029)
	tree := proof.NewTree(log)
	check := func(from, to int) {
		consistency, err := tree.Consistency(t.Context(), calendar.Position(from), calendar.Position(to))
		if err != nil {
			t.Fatalf("%d to %d: %v", from, to, err)
		}
		if digest(consistency.FromRoot) != treeHash(log.leaves[:from]) || digest(consistency.ToRoot) != treeHash(log.leaves[:to]) {
			t.Fatalf("%d to %d: wrong roots", from, to)
		}
		if from == 0 && len(consistency.Hashes) > 0 {
			t.Fatalf("%d to %d: %d hashes", from, to, len(consistency.Hashes))
		}
		if from > 0 {
			if err := tlog.CheckTree(consistency.Hashes, int64(to), consistency.ToRoot, int64(from), consistency.FromRoot); err != nil {
				t.Fatalf("%d to %d: %v", from, to, err)
			}
		}
	}
	for to := range 41 {
		for from := range to + 1 {
			check(from, to)
		}
	}
	for i, to := range sizes {
		for _, from := range sizes[:i+1] {
			check(from, to)
		}
	}
	if _, err := tree.Consistency(t.Context(), 6, 5); err == nil {
		t.Error("6 to 5 has a proof")
	}
}

// What is known is not read again: a proof reads three blocks at most, a root after
// 1,000 further entries four blocks and the end.
func TestTreeIsReadOnce(t *testing.T) {
	t.Parallel()
	log := newLog(100_000)
	tree := proof.NewTree(log)
	if _, err := tree.Root(t.Context(), 99_000); err != nil {
		t.Fatal(err)
	}
	if n := log.read.Load(); n > 99_000 {
		t.Fatalf("%d leaves were read for a tree of 99,000", n)
	}
	log.read.Store(0)
	if _, err := tree.Root(t.Context(), 100_000); err != nil {
		t.Fatal(err)
	}
	if n := log.read.Load(); n > 1000+2*256 {
		t.Errorf("%d leaves were read for the root of 1,000 more", n)
	}
	for range 20 {
		log.read.Store(0)
		size := calendar.Position(1 + rand.IntN(100_000))
		if _, err := tree.Inclusion(t.Context(), 1+calendar.Position(rand.Uint64N(uint64(size))), size); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Consistency(t.Context(), size/2, size); err != nil {
			t.Fatal(err)
		}
		if n := log.read.Load(); n > 5*256 {
			t.Errorf("%d leaves were read for two proofs", n)
		}
	}
}

func TestTreeOfAnotherHistory(t *testing.T) {
	t.Parallel()
	log := newLog(1000)
	tree := proof.NewTree(log)
	before, err := tree.Root(t.Context(), 600)
	if err != nil {
		t.Fatal(err)
	}
	log.leaves[3][0] ^= 1
	if now, err := tree.Root(t.Context(), 600); err != nil || now != before {
		t.Fatalf("root %x, %v: the first block was read again", now, err)
	}
	log.epoch.Add(1)
	if now, err := tree.Root(t.Context(), 600); err != nil || digest(now) != treeHash(log.leaves[:600]) {
		t.Fatalf("root %x, %v: that of the former history", now, err)
	}
	// A history that comes while the tree is read.
	log.epoch.Add(1)
	n := 0
	log.met = func() {
		if n++; n == 1 {
			log.epoch.Add(1)
			for i := range log.leaves {
				log.leaves[i][1] ^= 1
			}
		}
	}
	if now, err := tree.Root(t.Context(), 768); err != nil || digest(now) != treeHash(log.leaves[:768]) {
		t.Fatalf("root %x, %v: not that of one history", now, err)
	}
}

// tiles reads hashes by tiles alone, as sumdb clients do, and proves each by the root.
type tiles struct {
	t    *testing.T
	tree *proof.Tree
	size calendar.Position
}

func (tiles) Height() int { return 8 }

func (tiles tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var out [][]byte
	for _, tile := range wanted {
		data, err := tiles.tree.Tile(tiles.t.Context(), tile, tiles.size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tile.Path(), err)
		}
		out = append(out, data)
	}
	return out, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// HISTORY 20.28: tiles give the same root; widths up to the size, and no more; a log of
// 70,000 entries has the tiles that tlog-tiles tells.
func TestTiles(t *testing.T) {
	t.Parallel()
	const size = 70_000
	log := newLog(size + 500) // the checkpoint is behind the log
	tree := proof.NewTree(log)
	root := treeHash(log.leaves[:size])
	byTiles := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, tiles{t, tree, size})
	for range 50 {
		n := rand.Int64N(size)
		path, err := tlog.ProveRecord(size, n, byTiles)
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckRecord(path, size, root, n, tlog.RecordHash(log.leaves[n][:])); err != nil {
			t.Fatalf("entry %d is not proved by tiles: %v", n+1, err)
		}
	}

	// 273 full and 112 of level 0, 1 full and 17 of level 1, 1 of level 2.
	for _, c := range []struct {
		level int
		n     int64
		most  int // width, 0: no tile
	}{
		{0, 272, 256},
		{0, 273, 112},
		{0, 274, 0},
		{1, 0, 256},
		{1, 1, 17},
		{1, 2, 0},
		{2, 0, 1},
		{2, 1, 0},
		{3, 0, 0},
		{63, 1 << 62, 0},
		{proof.Entries, 272, 256},
		{proof.Entries, 273, 112},
		{proof.Entries, 274, 0},
	} {
		for width := 1; width <= 256; width++ {
			data, err := tree.Tile(t.Context(), proof.Tile{H: 8, L: c.level, N: c.n, W: width}, size)
			if width > c.most {
				if !errors.Is(err, proof.ErrNoTile) {
					t.Fatalf("level %d, tile %d, width %d: %v, want ErrNoTile", c.level, c.n, width, err)
				}
				continue
			}
			var want []byte
			for i := range width {
				n := int(c.n)*256 + i
				if c.level == proof.Entries {
					want = append(append(want, 0, 32), log.leaves[n][:]...)
					continue
				}
				below := 1 << (8 * c.level)
				h := digest{}
				if width == 1 || width == c.most || c.level == 0 {
					h = treeHash(log.leaves[n*below : (n+1)*below])
				} else {
					h = digest(data[32*i : 32*i+32]) // looked at with the greatest width
				}
				want = append(want, h[:]...)
			}
			if err != nil || !bytes.Equal(data, want) {
				t.Fatalf("level %d, tile %d, width %d: %d bytes, %v", c.level, c.n, width, len(data), err)
			}
		}
	}
}

func TestParseTile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level, path string
		want        proof.Tile
	}{
		{"0", "000", proof.Tile{H: 8, L: 0, N: 0, W: 256}},
		{"63", "067", proof.Tile{H: 8, L: 63, N: 67, W: 256}},
		{"1", "x001/x234/067", proof.Tile{H: 8, L: 1, N: 1234067, W: 256}},
		{"0", "x001/000.p/1", proof.Tile{H: 8, L: 0, N: 1000, W: 1}},
		{"entries", "273.p/255", proof.Tile{H: 8, L: proof.Entries, N: 273, W: 255}},
		{"0", "x009/x223/x372/x036/x854/x775/807", proof.Tile{H: 8, L: 0, N: 1<<63 - 1, W: 256}},
	} {
		got, err := proof.ParseTile(c.level, c.path)
		if err != nil || got != c.want {
			t.Errorf("%s/%s: %v, %v; want %v", c.level, c.path, got, err, c.want)
		}
	}
	for bad := range strings.FieldsSeq(`
		64/000 00/000 01/000 -1/000 +1/000 /000 data/000 Entries/000 0/ 0/0 0/0000 0/x000 0/x000/001 0/001/001 0/x001/
		0/x001 0//000 0/x1/000 0/xx01/000 0/000.p/0 0/000.p/256 0/000.p/01 0/000.p/ 0/000.p 0/000.p/1/1 0/000.p/1.p/1
		0/-01 0/x009/x223/x372/x036/x854/x775/808 0/x001/x000/x000/x000/x000/x000/x000/000`) {
		level, path, _ := strings.Cut(bad, "/")
		if got, err := proof.ParseTile(level, path); !errors.Is(err, proof.ErrNoTile) {
			t.Errorf("%s: %v, %v; want ErrNoTile", bad, got, err)
		}
	}
}
