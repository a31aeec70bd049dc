// Package archtest holds the layout of the project: which package may import
// which, and that every package says what it is. It has tests only.
package archtest
