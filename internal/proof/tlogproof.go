package proof

import (
	"encoding/base64"
	"fmt"

	"daybook/calendar"
)

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

// Text returns the proof as a C2SP tlog-proof@v1, with the checkpoint of the tree.
func (inclusion *Inclusion) Text(checkpoint []byte) []byte {
	data := fmt.Appendf(nil, "c2sp.org/tlog-proof@v1\nindex %d\n", inclusion.Index)
	return append(append(appendHashes(data, inclusion.Hashes), '\n'), checkpoint...)
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
