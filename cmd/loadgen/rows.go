package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// rounds is how often the two sides of a row are measured by turns. Medians are printed, so
// that what else the machine does counts less.
const rounds = 3

// row is one line of the output.
type row struct {
	name  string
	own   side
	other side   // what own is divided by, nil if own measures both or there is nothing to compare with
	bound string // of the ratio or, with a unit, of the value: ">= 0.5", "<= 3 ms"
}

// side measures one side of a row.
type side func(c *calendar) figure

// figure is what a side measured.
type figure struct {
	value float64
	other float64 // of the other side, if it was measured along
	count int     // requests, for the processor time of each
	notes string  // lines below the row
}

// group has the rows that are measured on one calendar.
type group struct {
	name  string
	size  int    // events unless a flag says otherwise
	title string // with the size
	needs string // servers
	open  func(b *bench, g group) *calendar
	rows  []row
}

const (
	window = "?strict_dates=true&start_date=$minute&end_date=$month"
	first  = "$root/events"
	other  = "$root/events" + window
	single = "$root/events/$event"
	search = "$root/events?search=$search"
	filter = "$root/events?$filter&strict_dates=true&start_date=$minute"
	page   = "$host/events/" + window
)

// groups are measured in this order.
var groups = []group{
	{"lists", 50_000, "%d events, 8 clients, against a bare net/http server that sends the same bytes, or as the row says", "", open, []row{
		{"cached default list", reads(first, ""), bare(first), ">= 0.6"},
		{"list, another window each", reads(other, ""), bare(other), ">= 0.12"},
		{"event by id, another each", reads(single, ""), bare(single), ">= 0.3"},
		{"search, one or two words and a digit", reads(search, ""), bare(search), ">= 0.13"},
		{"list of one of 500 venues or categories", reads(filter, ""), bare(filter), ">= 0.12"},
		{"cached default list, gzip, against plain", reads(first, "gzip"), reads(first, ""), ">= 1"},
		{"cached default list, zstd, against plain", reads(first, "zstd"), reads(first, ""), ">= 1"},
		{"new list page, against its JSON list", reads(page, ""), reads(other+"&per_page=20", ""), ">= 0.25"},
		{"cached list page, against its JSON list", reads("$host/events/", ""), reads(first+"?overlap=true&per_page=20", ""), ">= 0.9"},
		{"memory after that load", memory, nil, "<= 300 MB"},
		{"memory after mixed load", memoryMixed, nil, "<= 300 MB"},
	}},
	{"writes", 10_000, "%d events, idempotency keys, 8 clients, against a loop of single-row commits of the same JSON", "", open, []row{
		{"create", creates, commits, ">= 0.28"},
		{"update", updates, commits, ">= 0.27"},
	}},
	{"large", 100_000, "%d events, idempotency keys, 8 clients, against the calendar of writes", "", withSmall("heavy"), []row{
		{"create, large", creates, small(creates), ">= 0.8"},
		{"update, large", updates, small(updates), ">= 0.8"},
		{"one update visible in lists, p50", visible, nil, "<= 3 ms"},
		{"start from the snapshot", restart, nil, "<= 1.5 s"},
	}},
	{"light", 1_000_000, "%d light events, idempotency keys, 8 clients, against as many light events as writes has", "", withSmall("light"), []row{
		{"create, light", creates, small(creates), ">= 0.7"},
		{"update, light", updates, small(updates), ">= 0.7"},
	}},
	{"disk", 20_000, "%d events created through HTTP with idempotency keys, all files of the data directory after a stop", "", openEmpty, []row{
		{"disk per event", disk, nil, "<= 5 kB"},
	}},
	{"past", 23_350, "%d events and the 650 records that they link to, one client", "", open, []row{
		{"first as-of list of a position", firstPast, nil, "<= 1 s"},
	}},
	{"feed", 20_000, "%d events in PostgreSQL, and the benchmark of the event store there", "postgres nats", openDistributed, []row{
		{"appends, 64 callers, against raw inserts", appends("64"), nil, ">= 1.3"},
		{"append, 1 caller, against raw inserts", appends("1"), nil, ">= 0.45"},
		{"relay, against appends of 64 callers", relay, appends("64"), ">= 1.5"},
	}},
	{"index", 20_000, "%d events in PostgreSQL, projected into Elasticsearch", "postgres nats elasticsearch", openDistributed, []row{
		{"projection, against raw _bulk", projection, rawBulk, ">= 0.75"},
		{"another window each, p50 in ms, against its query", remoteLists(window), nil, "<= 1.5"},
		{"another search each, p50 in ms, against its query", remoteLists("?search=$search"), nil, "<= 1.5"},
	}},
	{"hostile", 20_000, "%d events, a reader and a writer next to each attack, worst p99 in multiples of the quiet one", "", openHostile, attackRows()},
}

// chosen returns the rows to be measured: all if a word is the name of the group or if there
// are no words and it is not hostile, else those whose name contains a word that is no group.
func (b *bench) chosen(g group, words ...string) []row {
	if len(words) == 0 && g.name != "hostile" || slices.Contains(words, g.name) {
		return g.rows
	}
	return slices.DeleteFunc(slices.Clone(g.rows), func(r row) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return b.sizes[word] == nil && strings.Contains(r.name, word) })
	})
}

// group measures the chosen rows of a group.
func (b *bench) group(g group) {
	rows := b.chosen(g, b.only...)
	if len(rows) == 0 {
		return
	}
	b.printf("\n"+g.title+"\n%-50s %12s %12s %7s %10s  bound\n", *b.sizes[g.name], g.name, "measured", "against", "ratio", "processor")
	if i := slices.IndexFunc(strings.Fields(g.needs), func(server string) bool { return *b.servers[server] == "" }); i >= 0 {
		for _, r := range rows {
			b.printf("%-50s not measured: no %s\n", r.name, strings.Fields(g.needs)[i])
		}
		return
	}
	defer func() {
		for _, f := range slices.Backward(b.cleanup) {
			f()
		}
		b.cleanup = nil
		check(os.RemoveAll(filepath.Join(b.directory, g.name)))
	}()
	c := g.open(b, g)
	for _, r := range rows {
		b.row(c, r)
	}
}

// row measures and prints a row.
func (b *bench) row(c *calendar, r row) {
	var values, others, ratios, processor []float64
	var f figure
	for round := 0; round == 0 || round < rounds && r.other != nil; round++ {
		before := c.processorTime()
		f = r.own(c)
		if f.count > 0 {
			processor = append(processor, float64((c.processorTime()-before).Microseconds())/float64(f.count))
		}
		if r.other != nil {
			f.other = r.other(c).value
		}
		values, others = append(values, f.value), append(others, f.other)
		if f.other != 0 {
			ratios = append(ratios, f.value/f.other)
		}
	}
	var order, unit string
	var limit float64
	_, _ = fmt.Sscan(r.bound+" .", &order, &limit, &unit)
	judged := median(values)
	b.printf("%-50s %12.5g", r.name, judged)
	if len(ratios) > 0 {
		judged = median(ratios)
		b.printf(" %12.5g %7.2f", median(others), judged)
	} else {
		b.printf(" %20s", strings.TrimRight(unit, "."))
	}
	if len(processor) > 0 {
		b.printf(" %7.0f us", median(processor))
	} else {
		b.printf(" %10s", "")
	}
	verdict := "met"
	b.measured++
	if (order == ">=") != (judged >= limit) {
		verdict = "not met"
		b.missed++
	}
	b.printf("  %s: %s\n%s", r.bound, verdict, f.notes)
}

func median[T cmp.Ordered](values []T) T {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
