// Package table reads the tables of tests: text files with a row a line.
package table

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var columns = regexp.MustCompile(`\s*\|\s*`)

// Rows returns the rows of a file in testdata, their columns between "|". A line that begins
// with "#" is a comment.
func Rows(t testing.TB, file string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		rows = append(rows, columns.Split(strings.TrimSpace(line), -1))
	}
	return rows
}
