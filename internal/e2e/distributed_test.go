package e2e

import (
	"cmp"
	"log/slog"
	"slices"
	"testing"
	"time"

	"daybook/eventstore/feed"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit/engines"
	"daybook/internal/testkit/world"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/memindex"
)

// distributed starts the distributed size on real servers: PostgreSQL, NATS, and a
// search server, or the memory image where the flavour is "". Relay and projector have
// connections of their own, as in processes of their own.
//
//	HTTP ─► command ─► PostgreSQL ─► relay ─► NATS ─► projector ─► search server
func distributed(flavour elastic.Flavour) backend {
	return func(t *testing.T, options world.Options) *service {
		t.Helper()
		// A way over three servers takes longer than one within a process, on a busy machine
		// longer than the 5 s of a service.
		options.Wait = cmp.Or(10*options.Wait, 30*time.Second)
		options.HTTP.ReadDeadline = time.Minute
		return assemble(t, options, func(log *slog.Logger, _ *world.Clock) (p parts) {
			database, schema := engines.Shared(t, engines.Postgres)
			open := func() *postgres.Store {
				store, err := postgres.Open(t.Context(), database, postgres.Options{Schema: schema, PoolSize: 4})
				must(t, err)
				t.Cleanup(func() { closed(t, store.Close()) })
				return store
			}
			p.store, p.relayed = open(), open()

			url, prefix := engines.Shared(t, engines.NATS)
			conn, jetStream, err := feed.Connect(url, feed.ConnectOptions{})
			must(t, err)
			t.Cleanup(conn.Close)
			p.jetStream, p.feed = jetStream, prefix

			if flavour == "" {
				index := memindex.New(memindex.Options{Logger: log})
				p.index, p.projected = index, index
				return p
			}
			url, prefix = engines.Shared(t, string(flavour))
			model := func() *elastic.Index {
				// A server that has just started takes long to make its first indices where
				// many others want the processors; the program would try again.
				index, err := elastic.Open(url, elastic.Options{Flavour: flavour, Prefix: prefix, Log: log, Timeout: time.Minute, WriteTimeout: 2 * time.Minute})
				must(t, err)
				t.Cleanup(func() { _ = index.Close() })
				must(t, index.Reach(t.Context()))
				return index
			}
			index := model()
			_, err = index.Next(t.Context())
			must(t, err)
			must(t, index.Promote(t.Context()))
			p.index, p.projected = index, model()
			return p
		})
	}
}

// ofLists are the lines about what a search server answers: lists, searches and their counts.
var ofLists = []string{
	"empty_list", "page_past_the_end", "per_page_is_lowered", "default_window", "end_date_alone_and_other_bounds",
	"starts_after_and_before_a_day", "ends_before_leaves_out_all_day", "strict_dates_compare_wall_clocks", "offsets_compare_instants",
	"include", "hidden_events", "category_descendants_and_any_tag", "unknown_ids_in_filters", "search", "coordinates", "status_filter",
	"drafts_of_others_are_not_listed", "positions", "order_of_lists", "lists_of_terms", "branches_of_categories",
	"lists_of_venues_and_organizers", "event_filters", "terms", "languages_in_lists", "scheduled_posts_become_due",
	"days_go_by", "leap_day_window", "filters_and_orders_of_listings", "walks_by_cursors", "suggestions", "facets",
	"repeats", "clusters_of_a_map",
}

// TestDistributed plays the checklist and the scenarios on real servers. What is not a list
// never reaches the search server, whose indices take long to make, so it is played without.
func TestDistributed(t *testing.T) {
	t.Parallel()
	lists, others := make([]line, 0, len(ofLists)), slices.Concat(checklist, scenarios, pastLines)
	for _, name := range ofLists {
		i := slices.IndexFunc(others, func(l line) bool { return l.name == name })
		if i < 0 {
			t.Fatalf("no line is called %q", name)
		}
		lists, others = append(lists, others[i]), slices.Delete(others, i, i+1)
	}
	play := func(name string, flavour elastic.Flavour, lines []line) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, distributed(flavour), lines)
		})
	}
	play("others", "", others)
	for _, flavour := range engines.SearchServers() {
		play(flavour, elastic.Flavour(flavour), lists)
	}
}
