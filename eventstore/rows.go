package eventstore

import (
	"cmp"
	"crypto/sha256"
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

// Complete sets the kind, and claims and names by their JSON, [["space","key"],…].
func (h *Held) Complete(kind, claims, names string) {
	h.Kind, _ = calendar.ParseKind(kind)
	h.Claims, h.Names = pairs(claims), pairs(names)
}

func pairs(text string) []calendar.Claim {
	if text == "" || text == "[]" {
		return nil
	}
	var list [][2]string
	_ = json.Unmarshal([]byte(text), &list)
	out := make([]calendar.Claim, len(list))
	for i, p := range list {
		out[i] = calendar.Claim{Space: p[0], Key: p[1]}
	}
	return InOrder(out)
}

// InOrder returns claims or names by space and key, each once.
func InOrder(list []calendar.Claim) []calendar.Claim {
	return slices.Compact(slices.SortedFunc(slices.Values(list), func(a, b calendar.Claim) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Key, b.Key))
	}))
}

// Holds returns the claims and names that a record in this state has, in order.
func Holds(s *State) ([]calendar.Claim, []calendar.Name, error) {
	r, err := calendar.DecodeRecord(s.Record)
	if err != nil {
		return nil, nil, err
	}
	claims := calendar.Claims(r)
	if s.Kind == calendar.KindUser && len(s.Secret) > 0 {
		claims = append(claims, calendar.TokenClaim(s.Secret))
	}
	return InOrder(claims), InOrder(calendar.Names(r)), nil
}

// SumOf returns the SHA-256 of the secret of a state, zeros when it has none.
func SumOf(secret []byte) [32]byte {
	if len(secret) == 0 {
		return [32]byte{}
	}
	return sha256.Sum256(secret)
}

// Complete sets the hash of a commit, and adds a leaf.
func (c *Commit) Complete(hash, leaf []byte) {
	var added [32]byte
	copy(added[:], leaf)
	copy(c.Hash[:], hash)
	c.Leaves = append(c.Leaves, added)
}

// JoinLeaves makes one commit of rows with a leaf each that follow each other.
func JoinLeaves(rows []Commit) []Commit {
	var out []Commit
	for _, row := range rows {
		if n := len(out); n > 0 && out[n-1].First == row.First {
			out[n-1].Leaves = append(out[n-1].Leaves, row.Leaves...)
			continue
		}
		out = append(out, row)
	}
	return out
}

// UUIDOf returns the UUID (version 8) of the 16 bytes that a store keeps.
func UUIDOf(kept []byte) (id [16]byte) {
	copy(id[:], kept)
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}
