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
func (k Key) Number(n int64) Key { return binary.AppendVarint(append(k, aNumber), n) }

// Text adds a text with its length.
func (k Key) Text(text string) Key {
	return append(binary.AppendUvarint(append(k, aText), uint64(len(text))), text...)
}

// Texts adds a list of texts, in its order; nil is another list than the empty one.
func (k Key) Texts(list []string) Key {
	k = k.list(list == nil, len(list))
	for _, text := range list {
		k = k.Text(text)
	}
	return k
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

func (k Key) list(none bool, n int) Key {
	if none {
		return append(k, noneOf)
	}
	return binary.AppendUvarint(append(k, someOf), uint64(n))
}

// Join adds the parts of another key.
func (k Key) Join(other Key) Key { return append(k, other...) }

// String returns the finished key.
func (k Key) String() string { return string(k) }
