package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"

	"daybook/eventstore"
	"daybook/internal/ground/compact"
)

// packBody gives the body of an entry: the length of its fields, the fields and the
// state, packed.
func packBody(fields, state []byte) []byte {
	var length [binary.MaxVarintLen64]byte
	return compact.Pack(length[:binary.PutUvarint(length[:], uint64(len(fields)))], fields, state)
}

var errBody = errors.New("body without an end of the fields")

// unpackBody gives fields and state out of a body, in room when that is large enough,
// and the memory that both lie in. The error is ErrDamaged.
func unpackBody(room, body []byte) (fields, state, memory []byte, err error) {
	text, err := compact.Unpack(room, body)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
	}
	length, n := binary.Uvarint(text)
	if n <= 0 || length > uint64(len(text)-n) {
		return nil, nil, nil, fmt.Errorf("%w: %w", eventstore.ErrDamaged, errBody)
	}
	end := n + int(length)
	return text[n:end:end], text[end:], text, nil
}
