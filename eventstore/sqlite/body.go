package sqlite

import (
	"encoding/binary"
	"fmt"

	"daybook/eventstore"
	"daybook/internal/ground/compact"
)

// packBody returns the stored body of an entry: the length of its fields, the fields and
// the state, compressed; that of a redacted entry is empty.
func packBody(entry *eventstore.Entry) []byte {
	if entry.Redacted != nil {
		return []byte{}
	}
	return compact.Pack(binary.AppendUvarint(nil, uint64(len(entry.Fields))), entry.Fields, entry.State)
}

// unpackBody returns the fields and the state of a stored body. The error is ErrDamaged.
func unpackBody(body []byte) (fields, state []byte, err error) {
	if len(body) == 0 {
		return nil, nil, nil
	}
	text, err := compact.Unpack(nil, body)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
	}
	length, count := binary.Uvarint(text)
	if count <= 0 || length > uint64(len(text)-count) {
		return nil, nil, fmt.Errorf("%w: body without an end of the fields", eventstore.ErrDamaged)
	}
	end := count + int(length)
	return text[count:end:end], text[end:], nil
}
