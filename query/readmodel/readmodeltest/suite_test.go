package readmodeltest

import (
	"runtime"
	"slices"
	"strings"
	"testing"

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
	found := map[string]int{}
	for _, broken := range breakages {
		var by []string
		run := all
		if slices.Contains(byChance, broken) {
			run = slices.Concat(all, random)
		}
		for _, c := range run {
			if only, long := forOne[c.name]; long && broken != only {
				continue
			}
			if fails(t, c, broken) {
				by = append(by, c.name)
				found[c.name]++
			}
		}
		t.Logf("%s: found by %q", broken, by)
		if !slices.ContainsFunc(by, func(name string) bool { return !strings.HasPrefix(name, "random ") }) {
			t.Errorf("%s: no case fails but the random ones", broken)
		}
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
			if got := readmodel.Match(readmodel.Text{Fields: eventTexts, Lang: l, Query: p.Query}, d); got != p.Fits {
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
