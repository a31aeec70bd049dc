package proof

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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

// ParseText reads a tlog-proof; extra data are passed over. Errors: ErrForm.
func ParseText(text []byte) (index int64, hashes []Hash, checkpoint []byte, err error) {
	wrong := func(why string) (int64, []Hash, []byte, error) {
		return 0, nil, nil, fmt.Errorf("%w proof: %s", ErrForm, why)
	}
	rest, ok := strings.CutPrefix(string(text), proofFirst)
	if !ok {
		return wrong("it does not begin with " + strings.TrimSpace(proofFirst))
	}
	head, signed, ok := strings.Cut(rest, "\n\n")
	if !ok {
		return wrong("it has no checkpoint")
	}
	lines := strings.Split(head, "\n")
	if strings.HasPrefix(lines[0], "extra ") {
		lines = lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "index ") {
		return wrong("it has no index")
	}
	number := strings.TrimPrefix(lines[0], "index ")
	if index, err = strconv.ParseInt(number, 10, 64); err != nil || index < 0 || strconv.FormatInt(index, 10) != number {
		return wrong("its index is no number")
	}
	for _, line := range lines[1:] {
		h, err := parseHash(line)
		if err != nil {
			return 0, nil, nil, err
		}
		hashes = append(hashes, h)
	}
	return index, hashes, []byte(signed), nil
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
