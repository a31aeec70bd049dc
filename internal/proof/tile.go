package proof

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"daybook/calendar"
)

// Tile names a tile of hashes, or a bundle of entries with the level Entries (C2SP
// tlog-tiles).
type Tile = tlog.Tile

const (
	// Entries is the level of bundles.
	Entries = -1
	// TileWidth is the width of a tile that a longer log does not change.
	TileWidth = 1 << blockLevel

	maxTileLevel = 63
)

// ErrNoTile says that there is no such tile.
var ErrNoTile = errors.New("no such tile")

// ParseTile reads a tile from its level and the path behind it: "0", "x001/x234/067" or
// "x001/x234/067.p/12". Errors: ErrNoTile.
func ParseTile(level, path string) (Tile, error) {
	switch level {
	case "entries":
		level = "data" // as package tlog names it
	case "data":
		return Tile{}, ErrNoTile
	}
	t, err := tlog.ParseTilePath("tile/8/" + level + "/" + path)
	if err != nil || t.L > maxTileLevel {
		return Tile{}, ErrNoTile
	}
	return t, nil
}

// Tile returns the bytes of a tile that a tree of a size has, of any width that it
// covers: hashes of 32 bytes; for a bundle 0x00 0x20 and the leaf of each entry. A tile
// beyond it is ErrNoTile; other errors are those of Root.
func (tree *Tree) Tile(ctx context.Context, tile Tile, size calendar.Position) ([]byte, error) {
	nodes := int64(size) >> (blockLevel * max(tile.L, 0)) // of the level; 0 for shifts beyond 63
	if tile.N > nodes/TileWidth || tile.N*TileWidth+int64(tile.W) > nodes {
		return nil, ErrNoTile
	}
	if tile.L == Entries {
		entries, err := tree.stored(ctx, tree.leaves.Epoch().History, calendar.Position(tile.N*TileWidth), tile.W)
		data := make([]byte, 0, tile.W*34)
		for i := range entries {
			data = append(append(data, 0, 32), entries[i].Leaf[:]...)
		}
		return data, err
	}
	hashReader, err := tree.reader(ctx, size)
	if err != nil {
		return nil, err
	}
	return tlog.ReadTileData(tile, hashReader)
}
