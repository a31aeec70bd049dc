package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine is the longest line that is read, in bytes; longer ones are refused.
const maxLine = 4 << 20

// Open reads through gzip where the data begin with its magic bytes, and plainly
// else.
func Open(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	if magic, err := b.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		return z, nil
	}
	return b, nil
}

// Count returns the number of lines that an import of reader would report, all that are
// not blank. reader may be gzip.
func Count(reader io.Reader) (count int, err error) {
	for _, err := range lines(reader) {
		if err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// byteOrderMark stands at the beginning of UTF-8 texts of some programs.
var byteOrderMark = []byte("\uFEFF")

// lines yields the lines of reader that are not blank, each with its text until the next one.
func lines(reader io.Reader) iter.Seq2[*line, error] {
	return func(yield func(*line, error) bool) {
		input, err := Open(reader)
		buffer := bufio.NewReaderSize(input, maxLine+1)
		for number := int64(1); ; number++ {
			var text []byte
			long, more := false, true
			for ; more && err == nil; long = long || more {
				text, more, err = buffer.ReadLine()
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(nil, fmt.Errorf("read line %d: %w", number, err))
				}
				return
			}
			if number == 1 {
				text = bytes.TrimPrefix(text, byteOrderMark)
			}
			l := &line{number: number, text: bytes.TrimSpace(text)}
			if long {
				l.bad = refusef("the line is longer than %d bytes", maxLine)
			}
			if (long || len(l.text) > 0) && !yield(l, nil) {
				return
			}
		}
	}
}
