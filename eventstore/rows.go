package eventstore

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"

	"daybook/calendar"
)

// What an engine returns of a wrong length, or of no kind, is not an error of the functions
// here: it is left out, and does not fit the leaf or the chain then.

// Complete sets what engines store as text and bytes: the kind, the salts, and the
// hashes of an entry that one at position by erased, 0 for none.
func (e *Entry) Complete(kind string, salts []byte, by calendar.Position, hashes []byte) {
	e.Kind, _ = calendar.ParseKind(kind)
	_, _ = binary.Decode(salts, binary.BigEndian, &e.Salts)
	if by > 0 {
		e.Redacted = &Redacted{By: by}
		_, _ = binary.Decode(hashes, binary.BigEndian, &e.Redacted.Hashes)
	}
}

// Complete sets the kind, and claims and names by their JSON, [{"space":"…","key":"…"},…].
func (h *Held) Complete(kind, claims, names string) {
	h.Kind, _ = calendar.ParseKind(kind)
	h.Claims, h.Names = pairs(claims), pairs(names)
}

func pairs(text string) (list []calendar.Claim) {
	_ = json.Unmarshal([]byte(text), &list)
	return InOrder(list)
}

// InOrder returns claims or names by space and key, each once.
func InOrder(list []calendar.Claim) []calendar.Claim {
	return slices.Compact(slices.SortedFunc(slices.Values(list), func(a, b calendar.Claim) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Key, b.Key))
	}))
}

// Holds returns the claims and names that a record in this state has, in order.
func Holds(state *State) ([]calendar.Claim, []calendar.Name, error) {
	record, err := calendar.DecodeRecord(state.Record)
	if err != nil {
		return nil, nil, err
	}
	claims := calendar.Claims(record)
	if state.Kind == calendar.KindUser && len(state.Secret) > 0 {
		claims = append(claims, calendar.TokenClaim(state.Secret))
	}
	return InOrder(claims), InOrder(calendar.Names(record)), nil
}

// Complete sets the hash of a commit, and the leaves that stand one after the other.
func (c *Commit) Complete(hash, leaves []byte) {
	copy(c.Hash[:], hash)
	for leaf := range slices.Chunk(leaves, len(c.Hash)) {
		c.Leaves = append(c.Leaves, [32]byte{})
		copy(c.Leaves[len(c.Leaves)-1][:], leaf)
	}
}
