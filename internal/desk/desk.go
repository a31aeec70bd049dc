// Package desk has the files of the desk, the browser client of the interface for people who
// write the calendar (docs/spec/desk.md). They have no build step: package pages serves them.
package desk

import (
	"embed"
	"regexp"
)

// Files are the files of the desk, below static; those of others are in vendor.
//
//go:embed static
var Files embed.FS

// unneeded is what a browser does not need of scripts, in which no text has lines: lines of
// comments, and indents.
var unneeded = regexp.MustCompile(`\n(?:\t*//[^\n]*\n)*\t*`)

// Served returns a script as it is served.
func Served(script []byte) []byte { return unneeded.ReplaceAll(script, []byte("\n")) }
