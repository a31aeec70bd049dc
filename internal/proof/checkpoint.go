package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"daybook/calendar"
)

// Head is what a checkpoint says of the log: that its tree of a size has a root.
type Head struct {
	Origin string
	Size   calendar.Position
	Root   Hash
}

// ErrForm says that a text is no checkpoint, no proof or no key.
var ErrForm = errors.New("malformed")

// Text gives the text that is signed: three lines.
func (h Head) Text() string {
	return h.Origin + "\n" + h.Size.String() + "\n" + base64.StdEncoding.EncodeToString(h.Root[:]) + "\n"
}

// parseHead reads the text of a note. Lines behind the third are allowed, as C2SP
// tlog-checkpoint does. Errors: ErrForm.
func parseHead(text string) (h Head, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 || lines[0] == "" {
		return Head{}, fmt.Errorf("%w: a checkpoint has three lines", ErrForm)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Head{}, fmt.Errorf("%w: %q is no size of a tree", ErrForm, lines[1])
	}
	h = Head{Origin: lines[0], Size: calendar.Position(size)}
	if h.Root, err = parseHash(lines[2]); err != nil {
		return Head{}, err
	}
	return h, nil
}

func parseHash(s string) (h Hash, err error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("%w: %q is no hash", ErrForm, s)
	}
	return Hash(b), nil
}

// ReadHead reads what a checkpoint says, without looking at its signatures. Errors:
// ErrForm.
func ReadHead(signed []byte) (Head, error) {
	n, err := opened(signed)
	if err != nil {
		return Head{}, err
	}
	return parseHead(n.Text)
}

// opened parses a note and verifies nothing.
func opened(signed []byte) (*note.Note, error) {
	_, err := note.Open(signed, nil)
	if e, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return e.Note, nil
	}
	return nil, fmt.Errorf("%w: %w", ErrForm, err)
}

// Signed is what Open found a checkpoint to be.
type Signed struct {
	Head
	By []string // vkeys of those that signed it, in the order of the note
}

// ErrUnsigned says that a checkpoint is signed by none of the keys.
var ErrUnsigned = errors.New("signed by none of the keys")

// Open reads a checkpoint and verifies its signatures by known keys; those of others
// are ignored. One that names a known key and does not verify is ErrForm, none at all
// is ErrUnsigned.
func Open(signed []byte, keys ...*Key) (Signed, error) {
	n, err := note.Open(signed, verifiers(keys))
	if e, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		h, err := parseHead(e.Note.Text)
		if err != nil {
			return Signed{}, err
		}
		return Signed{Head: h}, fmt.Errorf("checkpoint of %s, size %d: %w", h.Origin, h.Size, ErrUnsigned)
	}
	if err != nil {
		return Signed{}, fmt.Errorf("%w: %w", ErrForm, err)
	}
	h, err := parseHead(n.Text)
	if err != nil {
		return Signed{}, err
	}
	s := Signed{Head: h}
	for _, sig := range n.Sigs {
		for _, k := range keys {
			if k.Name() == sig.Name && k.KeyHash() == sig.Hash {
				s.By = append(s.By, k.vkey)
				break
			}
		}
	}
	return s, nil
}
