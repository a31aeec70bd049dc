// Package calendar defines the vocabulary and the rules of daybook: kinds and
// their field tables, values, changes, and the aggregate that decides changes
// and folds them. It imports the standard library and internal/canonjson only,
// and does no input or output, so every rule can be tested alone.
package calendar
