package memindex

import (
	"bytes"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"daybook/internal/compact"
)

// Bodies are most of the memory, and much of each is the same as in all others:
// names of fields, forms of dates, usual words. They are kept compressed against a text
// that has all that.

// packed marks how a body is kept.
const (
	packedPlain byte = iota
	packedZstd
)

const (
	packDict   = 1        // the number of the dictionary in what is packed
	packWindow = 64 << 10 // bytes; few bodies are longer, and what packs them keeps some times this
)

var packer = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(
		nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderDictRaw(packDict, []byte(compact.Dictionary())),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(packWindow),
	)
	if err != nil {
		panic(err) // the options are right, or no test passes
	}
	return e
})

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(
		nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderDictRaw(packDict, []byte(compact.Dictionary())),
	)
	if err != nil {
		panic(err) // as above
	}
	return d
})

// pack gives a body as it is kept.
func pack(body []byte) []byte {
	small := packer().EncodeAll(body, append(make([]byte, 0, 1+len(body)/2), packedZstd))
	if len(small) <= len(body) {
		return small
	}
	return slices.Concat([]byte{packedPlain}, body)
}

// unpack gives the body of what pack made; it shares no memory with it.
func unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] == packedPlain {
		return bytes.Clone(packed[min(1, len(packed)):]), nil
	}
	return unpacker().DecodeAll(packed[1:], nil)
}
