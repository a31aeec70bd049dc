// Package compact packs stored texts: the JSON of records and changes, most of which
// is the same in all of them. What is packed with a dictionary can only be read with
// the same one, so dictionary1.txt is never changed: a better one is another form.
package compact

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/s2"
)

// The forms of packed texts, their first byte. They are read for ever. After it comes
// a block of S2, then the checksum (CRC-32C, little endian) of all before.
const (
	formDictionary1 = 1 // a block by dictionary 1
	formPlain       = 2 // a block by none
)

const (
	headBytes = 1
	sumBytes  = 4
	// maxText is the most that a text may have, and what bounds the memory that a
	// packed one can ask for: SQLite takes no more in one value.
	maxText = 1_000_000_000
	// maxKept is the most that a buffer may have to be used again.
	maxKept = 64 << 10
)

// ErrDamaged says that packed bytes are not as they were made.
var ErrDamaged = errors.New("packed text is damaged")

// dictionary1 is a text written by hand: records of each kind in the four languages as
// they usually are, and usual words of descriptions. Events stand last, because what
// is near costs less.
//
//go:embed dictionary1.txt
var dictionary1 []byte

var (
	dict1    = s2.MakeDict(dictionary1, nil)
	checksum = crc32.MakeTable(crc32.Castagnoli)
	buffers  = sync.Pool{New: func() any { return new(buffer) }}
)

// buffer is what packing needs besides its result.
type buffer struct{ text, block []byte }

// Pack returns the packed form of the text that parts make one after the other, in
// memory of its own.
func Pack(parts ...[]byte) []byte { return pack(dict1.Encode, s2.Encode, parts...) }

// PackSmall is Pack for what stays in memory: a tenth smaller, in three times the time.
func PackSmall(text []byte) []byte { return pack(dict1.EncodeBetter, s2.EncodeBetter, text) }

func pack(withDictionary, plain func(block, text []byte) []byte, parts ...[]byte) []byte {
	b := buffers.Get().(*buffer)
	text := b.text[:0]
	for _, data := range parts {
		text = append(text, data...)
	}
	if need := s2.MaxEncodedLen(len(text)); cap(b.block) < need {
		b.block = make([]byte, need)
	}
	form, block := byte(formDictionary1), b.block
	if len(text) <= s2.MaxDictSrcOffset {
		block = withDictionary(block, text)
	} else { // by a dictionary only the beginning would be packed
		form, block = formPlain, plain(block, text)
	}
	packed := make([]byte, 0, headBytes+len(block)+sumBytes)
	packed = append(append(packed, form), block...)
	packed = binary.LittleEndian.AppendUint32(packed, crc32.Checksum(packed, checksum))
	if b.text = text; cap(b.block) <= maxKept {
		buffers.Put(b)
	}
	return packed
}

// Unpack returns the text of a packed form, in dst where that has room. The error is
// ErrDamaged.
func Unpack(dst, packed []byte) ([]byte, error) {
	end := len(packed) - sumBytes
	if end <= headBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, len(packed))
	}
	if binary.LittleEndian.Uint32(packed[end:]) != crc32.Checksum(packed[:end], checksum) {
		return nil, fmt.Errorf("%w: another checksum", ErrDamaged)
	}
	block := packed[headBytes:end]
	count, err := s2.DecodedLen(block)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if count > maxText {
		return nil, fmt.Errorf("%w: a text of %d bytes", ErrDamaged, count)
	}
	switch packed[0] {
	case formDictionary1:
		dst, err = dict1.Decode(dst, block)
	case formPlain:
		dst, err = s2.Decode(dst, block)
	default:
		return nil, fmt.Errorf("%w: unknown form %d", ErrDamaged, packed[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return dst, nil
}
