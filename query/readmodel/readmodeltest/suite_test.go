package readmodeltest

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func TestReference(t *testing.T) {
	t.Parallel()
	Run(t, Harness{Open: func(testing.TB) readmodel.Index { return newReference("") }, Slow: true})
}

// recorder takes the failures of a case that is expected to fail.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) FailNow()              { r.failed = true; runtime.Goexit() }

func fails(t *testing.T, c testCase, broken string) bool {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.run(r, newReference(broken))
	}()
	<-done
	return r.failed
}

// TestBroken shows that each way to break an index is found by a case, and that
// each case finds something.
func TestBroken(t *testing.T) {
	t.Parallel()
	all := cases()
	random := make([]testCase, 0, len(calendar.Kinds))
	for _, k := range calendar.Kinds {
		random = append(random, testCase{"random " + k.Collection(), func(t testing.TB, x readmodel.Index) {
			t.Helper()
			differential(t, x, k, 2, 60)
		}})
	}
	// The random cases take long; they have to find these few.
	byChance := []string{"keeps old values", "first key only", "not is ignored", "searches all languages", "distance on a plane"}
	// Cases of many documents are for one breakage only.
	forOne := map[string]string{"exact totals": "totals up to 10,000", "typos of any words": "a swap is two typos"}
	var (
		mu      sync.Mutex
		found   = map[string]int{}
		running errgroup.Group // each breakage has indexes of its own
	)
	running.SetLimit(runtime.GOMAXPROCS(0))
	proven := func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		return found[name] > 0
	}
	for _, broken := range breakages {
		running.Go(func() error {
			by := ""
			run := all
			if slices.Contains(byChance, broken) {
				run = slices.Concat(random, all)
			}
			for _, c := range run {
				// What is found needs no second finder, what has found something no second finding.
				if only, long := forOne[c.name]; long && broken != only || by != "" && proven(c.name) || !fails(t, c, broken) {
					continue
				}
				if !strings.HasPrefix(c.name, "random ") {
					by = c.name
				}
				mu.Lock()
				found[c.name]++
				mu.Unlock()
			}
			if by == "" {
				t.Errorf("%s: no case fails but the random ones", broken)
			}
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.Concat(all, random) {
		if found[c.name] == 0 {
			t.Errorf("%s: it fails on no broken index", c.name)
		}
	}
}

func TestPhrases(t *testing.T) {
	t.Parallel()
	for _, l := range calendar.Langs {
		list, err := Phrases(l)
		if err != nil {
			t.Fatal(err)
		}
		fits := 0
		for _, p := range list {
			d := &readmodel.Document{Record: &calendar.Record{
				ID: 1, Kind: calendar.KindEvent, Home: l, Fields: calendar.Fields{"description": in(l, p.Text)},
			}}
			if got := readmodel.Match(readmodel.Text{Fields: eventTexts, Search: readmodel.ParseSearch(p.Query, l)}, d); got != p.Fits {
				t.Errorf("%v: fits %v, want %v", p, got, p.Fits)
			}
			if p.Fits {
				fits++
			}
		}
		if fits == 0 || fits == len(list) {
			t.Errorf("%s: %d of %d phrases fit: the list proves nothing", l, fits, len(list))
		}
	}
}
