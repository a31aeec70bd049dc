package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoding is a content coding of answers (2.8). Of those that a client weighs the
// same, the first is taken.
type encoding uint8

const (
	encodingNone encoding = iota
	encodingZstd
	encodingGzip
	encodings
)

// leastEncoded is the length in bytes from which an answer is encoded.
const leastEncoded = 1 << 10

var (
	valuesEncoding = [encodings][]string{encodingZstd: {"zstd"}, encodingGzip: {"gzip"}}
	encodingNames  = map[string]encoding{
		"identity": encodingNone, "zstd": encodingZstd, "gzip": encodingGzip, "x-gzip": encodingGzip,
	}
)

// acceptance is what a client takes of the encodings of an answer.
type acceptance struct {
	best  encoding // to be sent
	takes [encodings]bool
}

// readAcceptance reads Accept-Encoding (RFC 9110, section 12.5.3). The encoding that it
// weighs most is the best one: none where that is "identity", where everything is
// refused, or where nothing is said, though then any is taken.
func readAcceptance(values []string) acceptance {
	if len(values) == 0 {
		return acceptance{takes: [encodings]bool{true, true, true}}
	}
	const unnamed = -1
	weights, others := [encodings]int{unnamed, unnamed, unnamed}, unnamed
	for name, weight := range weighted(values) {
		if name == "*" {
			others = weight
		} else if e, known := encodingNames[name]; known {
			weights[e] = weight
		}
	}
	var a acceptance
	most := 0
	for e, w := range weights {
		if w == unnamed {
			w = others
		}
		// Without a word about it "identity" is taken, and anything else is better.
		a.takes[e] = w > 0 || w == unnamed && encoding(e) == encodingNone
		if w > most || w == most && w > 0 && a.best == encodingNone {
			a.best, most = encoding(e), w
		}
	}
	return a
}

// weighted yields the members of a header in lower case, without their parameters, and their
// weights in thousandths, 1,000 without one. Those with a weight that is none are skipped.
func weighted(values []string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, text := range values {
			for member := range strings.SplitSeq(text, ",") {
				name, params, _ := strings.Cut(member, ";")
				weight, ok := weightOf(params)
				if ok && !yield(strings.ToLower(strings.TrimSpace(name)), weight) {
					return
				}
			}
		}
	}
}

// noneMatch reports whether If-None-Match fits an answer with an ETag in an encoding that
// the client takes, and returns the ETag that fits, else that of the best encoding.
func (acceptance acceptance) noneMatch(header http.Header, etag string) (string, bool) {
	if len(header["If-None-Match"]) == 0 || etag == "" {
		return encodedTag(etag, acceptance.best), false
	}
	for i := range encodings {
		encoding := (acceptance.best + i) % encodings
		if tag := encodedTag(etag, encoding); acceptance.takes[encoding] && noneMatch(header, tag) {
			return tag, true
		}
	}
	return encodedTag(etag, acceptance.best), false
}

// weightOf reads the weight among the parameters of a member of a header, in
// thousandths; 1,000 without one, false for what is none.
func weightOf(params string) (thousandths int, ok bool) {
	for text := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			return int(q * 1000), err == nil && q >= 0 && q <= 1
		}
	}
	return 1000, true
}

// encodedTag is the ETag of an answer in an encoding (2.9): a strong one names its
// bytes, so it is another one.
func encodedTag(etag string, encoding encoding) string {
	if encoding == encodingNone || etag == "" || strings.HasPrefix(etag, "W/") {
		return etag
	}
	return strings.TrimSuffix(etag, `"`) + "-" + valuesEncoding[encoding][0] + `"`
}

func (call *call) setEncoding(encoding encoding) {
	if encoding != encodingNone {
		call.header[headerEncoding] = valuesEncoding[encoding]
	}
}

// encodedBody returns the body of an answer in an encoding, or as it is where there is no turn
// for that. It is encoded once, in a turn, as that takes a processor for longer than making most
// answers does; turn reports whether the client has its turn.
func (call *call) encodedBody(ctx context.Context, encoding encoding, answer *answer, turn bool) (encoding, *body) {
	if encoding == encodingNone {
		return encoding, &answer.body
	}
	if body := answer.encoded[encoding].Load(); body != nil {
		return encoding, body
	}
	leave, err := call.pass.Turn(ctx, call.encoders, turn)
	if err != nil {
		return encodingNone, &answer.body
	}
	defer leave()
	if body := answer.encoded[encoding].Load(); body != nil { // made while this one waited
		return encoding, body
	}
	data, err := answer.encode(encoding)
	if err != nil {
		return encodingNone, &answer.body
	}
	result := newBody(bytes.Clone(data))
	answer.encoded[encoding].Store(&result)
	if answer.key != "" {
		call.answers.Set(answer.key, answer) // it is larger now
	}
	return encoding, &result
}

// compressor encodes what is written to it, for one writer after the other. Each holds some
// 3 MiB at most, so turns bound their number.
type compressor interface {
	io.WriteCloser
	Reset(writer io.Writer)
}

// compressors are quick ones, which are used again.
var compressors = [encodings]sync.Pool{
	encodingZstd: {New: func() any { return newCompressor(encodingZstd, true) }},
	encodingGzip: {New: func() any { return newCompressor(encodingGzip, true) }},
}

// zstdWindow bounds what a compressor keeps, and what a client has to (RFC 9659: 8 MiB).
const zstdWindow = 1 << 20

// newCompressor makes a compressor that is quick, or one that takes its time: level 9 of gzip
// would take four times as long for a hundredth.
func newCompressor(encoding encoding, quick bool) compressor {
	zstdLevel, gzipLevel := zstd.SpeedBetterCompression, 8
	if quick {
		zstdLevel, gzipLevel = zstd.SpeedFastest, gzip.BestSpeed
	}
	if encoding == encodingGzip {
		writer, _ := gzip.NewWriterLevel(nil, gzipLevel) // an error is of the level
		return writer
	}
	writer, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstdLevel), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true)) // of the options
	return writer
}

// takeCompressor returns a quick compressor, which may be put back.
func takeCompressor(encoding encoding, writer io.Writer) compressor {
	compressor := compressors[encoding].Get().(compressor) //nolint:forcetypeassert // the pool makes nothing else
	compressor.Reset(writer)
	return compressor
}

// encode returns the body of an answer in an encoding; that of a file takes its time.
func (answer *answer) encode(encoding encoding) ([]byte, error) {
	buffer := new(bytes.Buffer)
	var compressor compressor
	if answer.file {
		compressor = newCompressor(encoding, false)
		compressor.Reset(buffer)
	} else {
		compressor = takeCompressor(encoding, buffer)
		defer compressors[encoding].Put(compressor)
	}
	_, err := compressor.Write(answer.bytes)
	err = cmp.Or(err, compressor.Close())
	return buffer.Bytes(), err
}
