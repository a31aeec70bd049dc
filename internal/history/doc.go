// Package history reads the past of records from the event store: who may read which of it, and
// what has changed between two states, as values, as sentences in four languages, and as JSON
// Patch.
package history
