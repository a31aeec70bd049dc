package query

import "strings"

// nameKey is what names are sorted by: without case and accents.
func nameKey(s string) string { return strings.ToLower(s) }
