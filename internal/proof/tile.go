package proof

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"daybook/calendar"
)

// Tile is the path of a tile or of a bundle of entries (C2SP tlog-tiles).
type Tile struct {
	Level int   // 0 to 63; Entries for a bundle
	N     int64 // its place within the level, from 0
	Width int   // nodes or entries in it, 1 to 256
}

// Entries is the Level of bundles.
const Entries = -1

// Full tells whether the tile never changes any more.
func (t Tile) Full() bool { return t.Width == block }

// ErrNoTile says that there is no such tile.
var ErrNoTile = errors.New("no such tile")

// ParseTile reads a tile from its level and the path behind it: "0", "x001/x234/067" or
// "x001/x234/067.p/12". Errors: ErrNoTile.
func ParseTile(level, path string) (t Tile, err error) {
	t = Tile{Level: Entries, Width: block}
	if level != "entries" {
		n, ok := digits(level)
		if !ok || n > 63 || strconv.FormatInt(n, 10) != level {
			return Tile{}, ErrNoTile
		}
		t.Level = int(n)
	}
	if before, width, partial := strings.Cut(path, ".p/"); partial {
		w, ok := digits(width)
		if !ok || w < 1 || w >= block || strconv.FormatInt(w, 10) != width {
			return Tile{}, ErrNoTile
		}
		path, t.Width = before, int(w)
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		part, marked := strings.CutPrefix(part, "x")
		n, ok := digits(part)
		zeros := i == 0 && n == 0 && len(parts) > 1
		if !ok || len(part) != 3 || marked == (i == len(parts)-1) || zeros || t.N > (math.MaxInt64-n)/1000 {
			return Tile{}, ErrNoTile
		}
		t.N = t.N*1000 + n
	}
	return t, nil
}

// digits reads a number of digits alone.
func digits(s string) (int64, bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// Path gives what ParseTile reads.
func (t Tile) Path() (level, path string) {
	level = "entries"
	if t.Level != Entries {
		level = strconv.Itoa(t.Level)
	}
	path = padded(t.N % 1000)
	for n := t.N / 1000; n > 0; n /= 1000 {
		path = "x" + padded(n%1000) + "/" + path
	}
	if t.Width < block {
		path += ".p/" + strconv.Itoa(t.Width)
	}
	return level, path
}

func padded(n int64) string { return strconv.FormatInt(1000+n, 10)[1:] }

// Tile gives the bytes of a tile that a tree of a size has, of any width that it
// covers: hashes of 32 bytes; for a bundle 0x00 0x20 and the leaf of each entry. A tile
// beyond it is ErrNoTile; other errors are those of Grow.
func (t *Tree) Tile(ctx context.Context, tile Tile, size calendar.Position) ([]byte, error) {
	level := max(tile.Level, 0)
	whole := int64(size) >> (blockLevel * level) // nodes of the level; 0 for shifts beyond 63
	if tile.N > (math.MaxInt64-block)/block || tile.N*block+int64(tile.Width) > whole {
		return nil, ErrNoTile
	}
	first := tile.N * block
	if level == 0 {
		leaves, err := t.stored(ctx, calendar.Position(first), tile.Width)
		if err != nil {
			return nil, err
		}
		if tile.Level == Entries {
			out := make([]byte, 0, tile.Width*34)
			for i := range leaves {
				out = append(append(out, 0, 32), leaves[i][:]...)
			}
			return out, nil
		}
		return joined(nodes(leaves)), nil
	}
	v, err := t.grown(ctx, size)
	if err != nil {
		return nil, err
	}
	return joined(v.levels[blockLevel*(level-1)][first : first+int64(tile.Width)]), nil
}

func joined(hashes []Hash) []byte {
	out := make([]byte, 0, len(hashes)*len(Hash{}))
	for i := range hashes {
		out = append(out, hashes[i][:]...)
	}
	return out
}
