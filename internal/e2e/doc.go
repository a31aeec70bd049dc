// Package e2e holds the end-to-end tests: one body that says over HTTP what
// the interface document promises, run on a whole service of a given size. It
// has no code of its own.
package e2e
