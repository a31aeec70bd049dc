package cache

import "encoding/binary"

// Key is a key under way, part after part. Every part says what it is and where
// it ends: two sequences of parts that differ give keys that differ, whatever
// texts strangers choose. The zero value has no parts.
type Key []byte

// The first byte of a part.
const (
	aNumber = 'n'
	aText   = 't'
	someOf  = 's' // a list: its length, then its elements
	noneOf  = '-' // no list, which is not the empty one
)

// Number adds a number.
func (key Key) Number(number int64) Key { return binary.AppendVarint(append(key, aNumber), number) }

// Text adds a text with its length.
func (key Key) Text(text string) Key {
	return append(binary.AppendUvarint(append(key, aText), uint64(len(text))), text...)
}

// Texts adds a list of texts, in its order; nil is another list than the empty one.
func (key Key) Texts(list []string) Key {
	key = key.list(list == nil, len(list))
	for _, text := range list {
		key = key.Text(text)
	}
	return key
}

// Numbers adds a list of numbers to a key, in its order; nil is another list than
// the empty one.
func Numbers[T ~int64](key Key, list []T) Key {
	key = key.list(list == nil, len(list))
	for _, n := range list {
		key = key.Number(int64(n))
	}
	return key
}

func (key Key) list(none bool, count int) Key {
	if none {
		return append(key, noneOf)
	}
	return binary.AppendUvarint(append(key, someOf), uint64(count))
}

// Join adds the parts of another key.
func (key Key) Join(other Key) Key { return append(key, other...) }

// String returns the finished key.
func (key Key) String() string { return string(key) }
