package port

import (
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
)

// Entry returns the entry that a draft becomes, without its position. Each call draws
// other salts, so it has another leaf.
func (a *Append) Entry(i int) Entry { return a.Drafts[i].Entry(a.Time, a.Actor, a.Cause) }

// CutPage returns what PageBytes let into a page, one at least.
func CutPage[T any, P eventstore.Sized[T]](page []T) []T { return eventstore.CutPage[T, P](page) }

// InOrder returns claims or names by space and key, each once.
func InOrder[P ~struct{ Space, Key string }](list []P) []P { return eventstore.InOrder(list) }

// Complete sets the hash of a commit, and adds a leaf. The error is ErrDamaged.
func (c *Commit) Complete(hash, leaf []byte) error {
	if len(hash) != len(c.Hash) || len(leaf) != len(c.Hash) {
		return fmt.Errorf("commit %d: %w: hash of %d and leaf of %d bytes", c.First, ErrDamaged, len(hash), len(leaf))
	}
	c.Hash, c.Leaves = [32]byte(hash), append(c.Leaves, [32]byte(leaf))
	return nil
}

// JoinLeaves makes one commit of rows with a leaf each that follow each other.
func JoinLeaves(rows []Commit) []Commit {
	var out []Commit
	for _, row := range rows {
		if n := len(out); n > 0 && out[n-1].First == row.First {
			out[n-1].Leaves = append(out[n-1].Leaves, row.Leaves...)
			continue
		}
		row.Leaves = append(make([][32]byte, 0, min(row.Last-row.First+1, calendar.Position(len(rows)))), row.Leaves...)
		out = append(out, row)
	}
	return out
}
