package proof

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"daybook/eventstore"
	"daybook/internal/ground/wholefile"
)

// Keyring is where the keys of a log come from.
type Keyring struct {
	// Keys sign, each of them.
	Keys []*PrivateKey
	// File holds the keys where there are no Keys; it is made with the first
	// checkpoint. "": none.
	File string
	// Notes are files, one next to each file of keys, that hold the newest checkpoint
	// that the log had as far as this process knows. Without one of them that the keys
	// signed nothing is signed, but for a log that has no checkpoint yet.
	Notes []string
	// Shared says that other processes may sign the log with the same Keys.
	Shared bool
	// Origin is that of the setting; "": none.
	Origin string
	// Address names a log without Origin: host and path that it is served at. "": it
	// is named by its first entry.
	Address string
}

// own reports whether the keys are those of File.
func (keyring *Keyring) own() bool { return len(keyring.Keys) == 0 && keyring.File != "" }

// readFile reads File; no keys: it is not there yet. Errors: ErrKeyMissing.
func (keyring *Keyring) readFile(newest *eventstore.Checkpoint) ([]*PrivateKey, error) {
	data, err := os.ReadFile(keyring.File)
	switch missing := errors.Is(err, os.ErrNotExist); {
	case missing && newest.Size == 0 && !keyring.signedBefore():
		return nil, nil
	case missing:
		return nil, fmt.Errorf("%w: put %s back, or begin a new log: daybook audit key new --origin NAME", ErrKeyMissing, keyring.File)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrKeyMissing, err)
	}
	keys, err := ParsePrivateKeys(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKeyMissing, keyring.File, err)
	}
	return keys, nil
}

// newFile makes File with a key. Its note comes first: with that of another key the former
// one signs nothing more. Errors: ErrNotStored.
func (keyring *Keyring) newFile(privateKey *PrivateKey) error {
	keys := []*PrivateKey{privateKey}
	if _, err := storeNotes(keyring.Notes, emptyHead(privateKey.Name()), keys); err != nil {
		return err
	}
	if err := os.Rename(keyring.File, keyring.File+".former"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	return writeFile(keyring.File, []byte(privateKey.Text()))
}

// check refuses keys and a setting of another log: ErrOrigin.
func (keyring *Keyring) check(origin string, keys []*PrivateKey) error {
	if keyring.Origin != "" && keyring.Origin != origin {
		return fmt.Errorf("log-origin %q is %w: it is %q", keyring.Origin, ErrOrigin, origin)
	}
	for _, privateKey := range keys {
		if privateKey.Name() != origin {
			return fmt.Errorf("the signing key of %q is %w: it is %q", privateKey.Name(), ErrOrigin, origin)
		}
	}
	return nil
}

// emptyHead is that of the tree without entries, which the note of a key is of that has
// signed nothing yet.
func emptyHead(origin string) Head { return Head{Origin: origin, Root: sha256.Sum256(nil)} }

// notes returns the notes that there are.
func (keyring *Keyring) notes() (notes [][]byte, err error) {
	for _, file := range keyring.Notes {
		data, err := os.ReadFile(file) //nolint:gosec // the operator names the folder
		switch {
		case err == nil:
			notes = append(notes, data)
		case !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
		}
	}
	return notes, nil
}

// signedBefore reports whether a note says that something was signed, by whatever key.
func (keyring *Keyring) signedBefore() bool {
	notes, err := keyring.notes()
	return err != nil || slices.ContainsFunc(notes, func(data []byte) bool {
		head, err := ReadHead(data)
		return err != nil || head.Size > 0
	})
}

// signed returns what the notes say that the keys signed. A note of former keys, or of a
// former log, says nothing of these.
func (keyring *Keyring) signed(keys []*PrivateKey) (heads []Head, err error) {
	notes, err := keyring.notes()
	for _, data := range notes {
		if head, err := Open(data, public(keys)...); err == nil {
			heads = append(heads, head)
		}
	}
	return heads, err
}

// storeNotes signs a head by the keys, stores that next to each of them, unless a note there
// is of a larger one, and returns it. Errors: ErrNotStored.
func storeNotes(files []string, head Head, keys []*PrivateKey) ([]byte, error) {
	signers := make([]note.Signer, len(keys))
	for i, privateKey := range keys {
		signers[i] = privateKey
	}
	signed, err := note.Sign(&note.Note{Text: head.Text()}, signers...)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, _ := os.ReadFile(file) //nolint:gosec // the operator names the folder
		if there, err := Open(data, public(keys)...); err == nil && (there.Size > head.Size || bytes.Equal(data, signed)) {
			continue
		}
		if err := writeFile(file, signed); err != nil {
			return nil, err
		}
	}
	return signed, nil
}

func public(keys []*PrivateKey) []*Key {
	result := make([]*Key, len(keys))
	for i, privateKey := range keys {
		result[i] = privateKey.Public
	}
	return result
}

// writeFile writes a file next to which nothing half written is left: ErrNotStored.
func writeFile(path string, data []byte) error {
	err := wholefile.Write(path, func(file *os.File) error {
		_, err := file.Write(data)
		return err
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	return err
}
