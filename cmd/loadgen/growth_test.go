package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit"
)

// growthHas tells whether each list and write has its rows with one client and with
// eight.
func growthHas(t *testing.T, text, rest string) {
	t.Helper()
	for _, callers := range []int{1, 8} {
		for _, l := range growthLists {
			hasRow(t, text, l.name, fmt.Sprintf(` %d +\d+\.\d+ ms +\d+\.\d+ ms +\d+%s$`, callers, rest))
		}
		for _, w := range growthWrites {
			hasRow(t, text, w.name, fmt.Sprintf(` %d +\d+\.\d+ ms +\d+\.\d+ ms +\d+%s$`, callers, rest))
		}
	}
}

// Each size has all its rows, and one larger than the small calendar its ratios.
func TestGrowth(t *testing.T) {
	t.Parallel()
	text := bounded(t, "-sizes", "100,150", "growth")
	first, second, found := strings.Cut(text, "\n150 events\n")
	if !found || !strings.Contains(first, "\n100 events\n") {
		t.Fatalf("not two sizes:\n%s", text)
	}
	growthHas(t, first, "")
	growthHas(t, second, ` +\d+\.\d\d`)
	for _, part := range []string{first, second} {
		for name, unit := range map[string]string{
			"import": "a second", "disk after it, store alone": "kB an event", "first start: lists made from store": "s", "and feed filled, at rest": "s",
			"resident memory then": "MB", "resident memory after the load": "MB", "disk, all files, while it serves": "MB", "disk, with the snapshot": "MB", "processor time of that start": "s", "the same for each event": "kB",
			"start from snapshot": "s", "resident memory after the start": "MB", "this size took": `\d+s`,
		} {
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` .*\d.*` + strings.TrimPrefix(unit, `\d+`) + `$`).MatchString(part) {
				t.Errorf("no row of %q", name)
			}
		}
		if strings.Contains(part, "at most") || strings.Contains(part, "at least") {
			t.Errorf("a bound of a million events stands beside a few")
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestGrowthSearch(t *testing.T) {
	t.Parallel()
	url, _ := testkit.Elasticsearch(t)
	text := bounded(t, "-sizes", "100", "-elasticsearch", url, "growth-search")
	growthHas(t, text, "")
	for _, name := range []string{
		"projection into new indices", "indices", "the same for each event", "list through Elasticsearch, another window each", "cached list, 8 clients, Elasticsearch",
		"resident memory of the service", "rebuild beside it, compared, moved", "heap of the node in use", "this size took",
	} {
		hasRow(t, text, name, `\d`)
	}
	if !strings.Contains(text, "one node with a heap of ") {
		t.Errorf("the heap of the engine is not told")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Lists that are to be answered anew each time are other ones each time; pages are
// those that there are.
func TestGrowthListsDiffer(t *testing.T) {
	t.Parallel()
	k := newAsker(&author{}, 10_000)
	for _, l := range growthLists[1:] {
		seen := map[string]bool{}
		for i := range 20_000 {
			seen[l.query(k, i)] = true
		}
		if len(seen) != 20_000 {
			t.Errorf("%s: %d of 20000 lists differ", l.name, len(seen))
		}
	}
	for n, want := range map[int]string{100: "&page=10", 10_000: "&page=1000", million: "&page=1000"} {
		k.n = n
		if got := growthLists[3].query(k, 1); !strings.HasSuffix(got, want) {
			t.Errorf("%d events: got %s, want %s", n, got, want)
		}
	}
}

// Bounds hold from a million events on.
func TestGrowthBounds(t *testing.T) {
	t.Parallel()
	r := &report{}
	for _, c := range []struct {
		got, want string
	}{
		{r.atMost(100_000, 9, 2, "ms"), ""},
		{r.atMost(million, 9, 0, "ms"), ""},
		{r.atMost(million, 2, 2, "ms"), "at most 2 ms: met"},
		{r.atMost(million, 2.1, 2, "ms"), "at most 2 ms: not met"},
		{r.atLeast(100_000, 9, 20, ""), ""},
		{r.atLeast(million, 0.8, 0.8, ""), "at least 0.8: met"},
		{r.atLeast(million, 999, 1000, "a second"), "at least 1000 a second: not met"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if r.rows != 4 || r.missed != 2 {
		t.Errorf("%d rows and %d missed, want 4 and 2", r.rows, r.missed)
	}
}

// The calendar takes its turn against the small one, and medians count.
func TestInTurns(t *testing.T) {
	t.Parallel()
	own, small := &asker{n: 2}, &asker{n: 1}
	rates, others := []float64{10, 40, 20}, []float64{10, 20, 20}
	var order []int
	f, ratio, err := inTurns(own, small, func(k *asker) (figures, error) {
		turn := len(order) / 2
		order = append(order, k.n)
		if k == small {
			return figures{rate: others[turn]}, nil
		}
		return figures{rate: rates[turn], p50: time.Duration(turn), p99: time.Duration(10 * turn)}, nil
	})
	if err != nil || f.rate != 20 || f.p50 != 1 || f.p99 != 10 || ratio != 1 {
		t.Errorf("got %+v, ratio %g, %v", f, ratio, err)
	}
	if fmt.Sprint(order) != "[2 1 2 1 2 1]" {
		t.Errorf("turns were %v", order)
	}
}
