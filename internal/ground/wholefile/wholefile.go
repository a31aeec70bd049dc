// Package wholefile writes files that are there whole or not at all.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write puts what a function writes at a path, when all of it is on the disk: a file that
// only its owner reads.
func Write(path string, fill func(file *os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	if err = errors.Join(fill(file), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
