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

// Complete sets what engines store as text and bytes: the kind, the salts, the leaf, the
// hash of the commit, and the hashes of an entry that one at position by erased, 0 for none.
func (entry *Entry) Complete(kind string, salts, leaf, hash []byte, position calendar.Position, hashes []byte) {
	entry.Kind, _ = calendar.ParseKind(kind)
	copy(entry.Leaf[:], leaf)
	copy(entry.Commit.Hash[:], hash)
	copy(entry.Salts[:], salts)
	if position > 0 {
		entry.Redacted = &Redacted{By: position}
		_, _ = binary.Decode(hashes, binary.BigEndian, &entry.Redacted.Hashes)
	}
}

// Complete sets the kind, and claims and names by their JSON, [{"space":"…","key":"…"},…].
func (held *Held) Complete(kind, claims, names string) {
	held.Kind, _ = calendar.ParseKind(kind)
	held.Claims, held.Names = pairs(claims), pairs(names)
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
	claims, names := holds(record, state.Secret)
	return InOrder(claims), InOrder(names), nil
}

// holds returns the claims and names of a record with its secret.
func holds(record *calendar.Record, secret []byte) (claims []calendar.Claim, names []calendar.Name) {
	claims = calendar.Claims(record)
	if record.Kind == calendar.KindUser && len(secret) > 0 {
		claims = append(claims, calendar.TokenClaim(secret))
	}
	return claims, calendar.Names(record)
}
