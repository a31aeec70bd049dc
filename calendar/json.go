package calendar

import (
	"bytes"
	"encoding/json"
)

// marshal is json.Marshal without the escaping of < > &, so that stored bytes
// are the canonical form: sorted keys, no insignificant space, plain UTF-8.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
