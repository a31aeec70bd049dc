package e2e

import "testing"

// pastLines are the lines of the checklist of HISTORY.md about the past of records and
// lists: reads as of a point, mementos.
var pastLines = []line{
	{name: "times_of_versions"},
	{name: "linked_records_then"},
	{name: "permanent_urls"},
	{name: "slugs_then"},
	{name: "gates_of_single_reads"},
	{name: "drafts_before_publication"},
	{name: "scheduled_then"},
	{name: "protected_then"},
	{name: "lists_then"},
	{name: "lists_without_what_is_withdrawn"},
	{name: "counts_then"},
	{name: "parameters_then"},
	{name: "accept_datetime"},
	{name: "memento_links"},
	{name: "timemaps"},
	{name: "closed_history"},
	{name: "headers_of_the_past"},
}

// TestPast plays them on the embedded size.
func TestPast(t *testing.T) { t.Parallel(); run(t, embedded, pastLines) }
