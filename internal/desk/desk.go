// Package desk has the files of the desk, the browser client of the interface for people who
// write the calendar (docs/spec/desk.md). They have no build step: package pages serves them.
package desk

import "embed"

// Files are the files of the desk, below static; those of others are in vendor.
//
//go:embed static
var Files embed.FS
