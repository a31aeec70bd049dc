package proof

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"daybook/calendar"
)

const proofFirst = "c2sp.org/tlog-proof@v1\n"

// Text gives a C2SP tlog-proof@v1: that the entry with an index, from 0, is in the tree
// of a checkpoint.
func Text(index int64, hashes []Hash, checkpoint []byte) []byte {
	b := fmt.Appendf(nil, "%sindex %d\n", proofFirst, index)
	for _, h := range hashes {
		b = append(base64.StdEncoding.AppendEncode(b, h[:]), '\n')
	}
	return append(append(b, '\n'), checkpoint...)
}

// Inclusion is the proof that an entry is in the tree of a size, as JSON (HISTORY 12.5).
type Inclusion struct {
	Origin   string            `json:"origin"`
	Position calendar.Position `json:"position"`
	Index    calendar.Position `json:"index"`
	Size     calendar.Position `json:"size"`
	Root     Hash              `json:"root"`
	Leaf     Hash              `json:"leaf"`
	Hashes   Hashes            `json:"hashes"`
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
	Hashes   Hashes            `json:"hashes"`
}

// Hashes are [] in JSON where there are none.
type Hashes []Hash

// MarshalJSON does json.Marshaler.
func (h Hashes) MarshalJSON() ([]byte, error) {
	if len(h) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]Hash(h))
}
