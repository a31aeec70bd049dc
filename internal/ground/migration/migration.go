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

// Pending returns the steps that are not applied yet. Applied steps that are not ours are
// an error that says what to do; where names the database in it, as "schema daybook".
func Pending(steps, applied []Step, where string) ([]Step, error) {
	for i, a := range applied {
		if a.Number != i+1 || i >= len(steps) || a.Checksum != steps[i].Checksum {
			return nil, fmt.Errorf("%s was written by another version of daybook (form %s, this one needs %s): use that version, or begin an empty store",
				where, form(applied), form(steps))
		}
	}
	return steps[len(applied):], nil
}

// form names a schema by its last step.
func form(steps []Step) string {
	last := steps[len(steps)-1]
	return fmt.Sprintf("%d-%.6s", last.Number, last.Checksum)
}
