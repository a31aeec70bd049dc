package proof

import (
	"encoding/base64"
	"fmt"

	"daybook/calendar"
)

const proofFirst = "c2sp.org/tlog-proof@v1\n"

// Text returns a C2SP tlog-proof@v1: that the entry with an index, from 0, is in the tree
// of a checkpoint.
func Text(index int64, hashes []Hash, checkpoint []byte) []byte {
	data := fmt.Appendf(nil, "%sindex %d\n", proofFirst, index)
	return append(append(appendHashes(data, hashes), '\n'), checkpoint...)
}

// appendHashes appends hashes in base64, each in a line.
func appendHashes(data []byte, hashes []Hash) []byte {
	for i := range hashes {
		data = append(base64.StdEncoding.AppendEncode(data, hashes[i][:]), '\n')
	}
	return data
}

// Inclusion is the proof that an entry is in the tree of a size, as JSON
// (docs/spec/history.md 12.5).
type Inclusion struct {
	Origin   string            `json:"origin"`
	Position calendar.Position `json:"position"`
	Index    calendar.Position `json:"index"`
	Size     calendar.Position `json:"size"`
	Root     Hash              `json:"root"`
	Leaf     Hash              `json:"leaf"`
	Hashes   []Hash            `json:"hashes"`
	Opening  *Opening          `json:"opening,omitempty"`
}

// Consistency is the proof that the tree of one size is the beginning of that of
// another, as JSON.
type Consistency struct {
	Origin   string            `json:"origin"`
	From     calendar.Position `json:"from"`
	To       calendar.Position `json:"to"`
	FromRoot Hash              `json:"from_root"`
	ToRoot   Hash              `json:"to_root"`
	Hashes   []Hash            `json:"hashes"`
}
