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

var (
	// ErrForm says that a text is no checkpoint, no proof or no key.
	ErrForm = errors.New("malformed")
	// ErrUnsigned says that a checkpoint is signed by none of the keys.
	ErrUnsigned = errors.New("signed by none of the keys")
)

// Text returns the text that is signed: three lines.
func (head Head) Text() string {
	return head.Origin + "\n" + head.Size.String() + "\n" + base64.StdEncoding.EncodeToString(head.Root[:]) + "\n"
}

// parseHead reads the text of a note. Lines behind the third are allowed, as C2SP
// tlog-checkpoint does. Errors: ErrForm.
func parseHead(text string) (head Head, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 || lines[0] == "" {
		return Head{}, fmt.Errorf("%w: a checkpoint has three lines", ErrForm)
	}
	size, err := strconv.ParseUint(lines[1], 10, 63)
	if err != nil || strconv.FormatUint(size, 10) != lines[1] {
		return Head{}, fmt.Errorf("%w: %q is no size of a tree", ErrForm, lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != len(head.Root) {
		return Head{}, fmt.Errorf("%w: %q is no hash", ErrForm, lines[2])
	}
	return Head{lines[0], calendar.Position(size), Hash(root)}, nil
}

// ReadHead reads what a checkpoint says, without looking at its signatures. Errors:
// ErrForm.
func ReadHead(signed []byte) (Head, error) {
	head, err := Open(signed)
	if errors.Is(err, ErrUnsigned) {
		err = nil
	}
	return head, err
}

// Open reads a checkpoint and verifies its signatures by known keys; those of others
// are ignored. One that names a known key and does not verify is ErrForm, none at all
// is ErrUnsigned, with what it says.
func Open(signed []byte, keys ...*Key) (Head, error) {
	n, err := note.Open(signed, verifiers(keys))
	unsigned, ok := errors.AsType[*note.UnverifiedNoteError](err)
	switch {
	case ok:
		n = unsigned.Note
	case err != nil:
		return Head{}, fmt.Errorf("%w: %w", ErrForm, err)
	}
	head, err := parseHead(n.Text)
	if err == nil && ok {
		err = fmt.Errorf("checkpoint of %s, size %d: %w", head.Origin, head.Size, ErrUnsigned)
	}
	return head, err
}
