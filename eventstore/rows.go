package eventstore

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"daybook/calendar"
)

// Complete sets what engines store as text and bytes: the kind, the salts, and the
// hashes of an entry that one at position by erased, 0 for none. The error is ErrDamaged.
func (e *Entry) Complete(kind string, salts []byte, by calendar.Position, hashes []byte) (err error) {
	var known bool
	if e.Kind, known = calendar.ParseKind(kind); !known {
		err = fmt.Errorf("entry %d: %w: kind %q", e.Position, ErrDamaged, kind)
	}
	var badSalts, badHashes error
	e.Salts, badSalts = SaltsOf(salts)
	if by > 0 {
		e.Redacted, badHashes = RedactedOf(by, hashes)
	}
	return errors.Join(err, badSalts, badHashes)
}

// Complete sets the kind, and claims and names by their JSON, [["space","key"],…]; ""
// leaves them out. The error is ErrDamaged.
func (h *Held) Complete(kind, claims, names string) (err error) {
	var known bool
	if h.Kind, known = calendar.ParseKind(kind); !known {
		err = fmt.Errorf("record %d: %w: kind %q", h.ID, ErrDamaged, kind)
	}
	var badClaims, badNames error
	h.Claims, badClaims = pairs(claims)
	h.Names, badNames = pairs(names)
	return errors.Join(err, badClaims, badNames)
}

func pairs(text string) ([]calendar.Claim, error) {
	if text == "" || text == "[]" {
		return nil, nil
	}
	var list [][2]string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%w: claims or names: %w", ErrDamaged, err)
	}
	out := make([]calendar.Claim, len(list))
	for i, p := range list {
		out[i] = calendar.Claim{Space: p[0], Key: p[1]}
	}
	return InOrder(out), nil
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
		out = append(out, row)
	}
	return out
}

// UUIDOf returns the UUID (version 8) of the 16 bytes that a store keeps.
func UUIDOf(kept []byte) (id [16]byte, err error) {
	if len(kept) != len(id) {
		return id, fmt.Errorf("%w: UUID of %d bytes", ErrDamaged, len(kept))
	}
	copy(id[:], kept)
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id, nil
}
