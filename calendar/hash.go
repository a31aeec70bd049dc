package calendar

import "encoding/binary"

// Hash mixes numbers and texts to 64 bits, texts with their length so that
// neighbours do not run together. It is the same in every process and version. Sums
// of records, marks and ETags are made of it; it begins with HashStart.
type Hash uint64

// HashStart is the hash of nothing.
const HashStart Hash = 14695981039346656037

// Text returns the hash extended by a text.
func (hash Hash) Text(text string) Hash { return mix(hash, text) }

func mix[T ~string | ~[]byte](hash Hash, value T) Hash {
	hash = hash.Number(uint64(len(value)))
	for ; len(value) >= 8; value = value[8:] {
		hash = hash.Number(binary.LittleEndian.Uint64([]byte(value[:8])))
	}
	var rest [8]byte
	copy(rest[:], value)
	return hash.Number(binary.LittleEndian.Uint64(rest[:]))
}

// SumOf returns the Sum of a record by its stored JSON; it is never 0.
func SumOf[T ~string | ~[]byte](state T) uint64 { return uint64(mix(HashStart, state)) | 1 }

// Number returns the hash extended by a number, mixed as in SplitMix64.
func (hash Hash) Number(number uint64) Hash {
	x := (uint64(hash) ^ number) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return Hash(x ^ x>>29)
}
