package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
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
func Count(reader io.Reader) (n int, err error) {
	in, err := Open(reader)
	if err != nil {
		return 0, err
	}
	for lines := newLines(in); ; n++ {
		if _, _, err := lines.next(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// byteOrderMark stands at the beginning of UTF-8 texts of some programs.
var byteOrderMark = []byte("\uFEFF")

// lines reads one line after the other.
type lines struct {
	r    *bufio.Reader
	n    int64 // number of the last line
	data []byte
}

func newLines(reader io.Reader) *lines { return &lines{r: bufio.NewReaderSize(reader, 1<<16)} }

// next returns the next line that is not blank, valid until the next call; long says that it
// is longer than maxLine and was not read. The end is io.EOF.
func (lines *lines) next() (text []byte, long bool, err error) {
	for len(text) == 0 && !long {
		lines.data = lines.data[:0]
		for more := true; more; {
			var part []byte
			if part, more, err = lines.r.ReadLine(); err != nil {
				return nil, false, fmt.Errorf("read line %d: %w", lines.n+1, err)
			}
			if long = long || len(lines.data)+len(part) > maxLine; !long {
				lines.data = append(lines.data, part...)
			}
		}
		if lines.n++; lines.n == 1 {
			lines.data = bytes.TrimPrefix(lines.data, byteOrderMark)
		}
		text = bytes.TrimSpace(lines.data)
	}
	return text, long, nil
}
