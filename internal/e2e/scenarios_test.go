package e2e

import "testing"

// scenarios are promises of the interface document that its checklist does not
// name and that clients notice.
var scenarios = []line{
	{name: "base_url_with_port_and_path", check: baseURL},
	{name: "further_prefixes_namespaces_and_totals", check: furtherNames},
	{name: "forwarded_headers", check: forwarded},
	{name: "slashes_and_unknown_paths", check: slashes},
	{name: "head_and_options", check: headAndOptions},
	{name: "cross_origin", check: crossOrigin},
	{name: "encodings", check: encodings},
	{name: "positions", check: positions},
	{name: "order_of_checks", check: orderOfChecks},
	{name: "bodies_and_forms", check: bodies},
	{name: "values_and_their_spellings", check: scalars},
	{name: "costs", check: costs},
	{name: "slugs"},
	{name: "publication_dates"},
	{name: "images"},
	{name: "limits", check: limits},
	{name: "html_safety", check: htmlSafety},
	{name: "sparse_records"},
	{name: "equal_posts_at_the_same_time", check: equalPostsAtOnce},
	{name: "order_of_lists"},
	{name: "lists_of_terms"},
	{name: "branches_of_categories"},
	{name: "lists_of_venues_and_organizers"},
	{name: "event_filters"},
	{name: "terms"},
	{name: "languages_in_lists"},
	{name: "scheduled_posts_become_due"},
	{name: "days_go_by"},
	{name: "leap_day_window"},
	{name: "keys_are_kept_for_a_day"},
	{name: "keys_outlast_what_was_linked"},
	{name: "withdrawn_tokens", check: withdrawnTokens},
	{name: "bodies_in_chunks", check: chunkedBodies},
	{name: "past_of_records", check: pastOfRecords},
	{name: "filters_and_orders_of_listings", check: listingFilters},
	{name: "walks_by_cursors", check: cursorWalk},
	{name: "suggestions"},
	{name: "facets", check: facets},
	{name: "repeats"},
	{name: "clusters_of_a_map", check: clusters},
}

// TestScenarios plays the scenarios on the embedded size.
func TestScenarios(t *testing.T) { t.Parallel(); run(t, embedded, scenarios) }
