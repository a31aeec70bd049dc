// Package history tells the past of records: who may read which of it, the points in
// time that requests name, and what has changed between two states, as values, as
// sentences in four languages, and as JSON Patch. It does no input or output.
package history
