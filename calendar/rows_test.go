package calendar

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Part is a part of a file of testdata: the lines below a line "== NAME".
type Part struct {
	Name  string
	Lines []string
}

var repeated = regexp.MustCompile(`(.)×(\d+)`)

// ReadParts returns the parts of a file without what stands before the first of them,
// comments and empty lines; a×9 in them is nine a.
func ReadParts(tb testing.TB, file string) []Part {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	var parts []Part
	for line := range strings.Lines(string(text)) {
		line = repeated.ReplaceAllStringFunc(strings.TrimRight(line, " \n"), func(found string) string {
			char, times, _ := strings.Cut(found, "×")
			n, _ := strconv.Atoi(times)
			return strings.Repeat(char, n)
		})
		if name, ok := strings.CutPrefix(line, "== "); ok {
			parts = append(parts, Part{Name: name})
		} else if len(parts) > 0 && line != "" && line[0] != '#' {
			last := &parts[len(parts)-1]
			last.Lines = append(last.Lines, line)
		}
	}
	return parts
}

// ReadRows returns the rows of a part of a file, by their cells, of which there are at
// least so many.
func ReadRows(tb testing.TB, file, part string, cells int) [][]string {
	tb.Helper()
	var rows [][]string
	for _, p := range ReadParts(tb, file) {
		for _, line := range p.Lines {
			if p.Name != part {
				break
			}
			row := append(strings.Split(line, "|"), make([]string, cells)...)
			for i, cell := range row {
				row[i] = strings.TrimSpace(cell)
				if text, err := strconv.Unquote(row[i]); err == nil && i == 0 {
					row[i] = text
				}
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		tb.Fatalf("%s has no rows of %s", file, part)
	}
	return rows
}
