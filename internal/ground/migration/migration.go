// Package migration reads the numbered steps of a schema and tells which of them
// a database lacks. How they are applied is the matter of each store.
package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Step is one step of a schema: numbered from 1 without a gap, applied once and
// never edited afterwards.
type Step struct {
	Number   int
	Name     string
	Text     string
	Checksum string // SHA-256 of Text, hexadecimal
}

// Read reads the steps in files like schema/0001_name.sql, by number. A gap is an
// error.
func Read(files fs.FS) ([]Step, error) {
	names, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]Step, 0, len(names))
	for i, path := range names { // Glob sorts
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(path, "schema/")
		digits, _, _ := strings.Cut(name, "_")
		number, err := strconv.Atoi(digits)
		if err != nil || number != i+1 {
			return nil, fmt.Errorf("migration %s: must have number %d", name, i+1)
		}
		sum := sha256.Sum256(text)
		steps = append(steps, Step{number, name, string(text), hex.EncodeToString(sum[:])})
	}
	return steps, nil
}

// Pending gives the steps that are not applied yet. It refuses steps that were
// applied out of order, by a newer version, or with another text; where names the
// database in the errors, as "schema daybook".
func Pending(steps, applied []Step, where string) ([]Step, error) {
	for i, a := range applied {
		switch {
		case a.Number != i+1:
			return nil, fmt.Errorf("migration %d is missing in %s", i+1, where)
		case i >= len(steps):
			return nil, fmt.Errorf("%s was made by a newer version: it has migration %s", where, a.Name)
		case a.Checksum != steps[i].Checksum:
			return nil, fmt.Errorf("migration %s of %s is another one than ours", a.Name, where)
		}
	}
	return steps[len(applied):], nil
}
