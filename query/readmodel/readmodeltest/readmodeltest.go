// Package readmodeltest is the suite that every readmodel.Index passes, the
// corpus of phrases that is the contract of searching, and a corpus of records
// for benchmarks.
package readmodeltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Harness opens the implementation under test.
type Harness struct {
	// Open gives an empty index; it is closed by t.Cleanup.
	Open func(t testing.TB) readmodel.Index
	// Slow makes the random part shorter, for engines that are asked over a
	// network.
	Slow bool
}

// testCase is one thing that an index promises. It gets an empty index.
type testCase struct {
	name string
	run  func(t testing.TB, x readmodel.Index)
}

func cases() []testCase {
	return slices.Concat(filterCases(), searchCases(), typoCases(), pageCases(), tallyCases(), writeCases())
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, h.Open(t))
		})
	}
	for _, k := range calendar.Kinds {
		t.Run("random "+k.Collection(), func(t *testing.T) {
			t.Parallel()
			rounds, queries := 6, 80
			if h.Slow || testing.Short() {
				rounds, queries = 3, 30
			}
			differential(t, h.Open(t), k, rounds, queries)
		})
	}
}

// write writes a batch of which nothing may be refused, and waits until it is
// visible.
func write(t testing.TB, x readmodel.Index, b readmodel.Batch) {
	t.Helper()
	for i, err := range writeAny(t, x, b) {
		if err != nil {
			t.Fatalf("write document %d: %v", b.Documents[i].Record.ID, err)
		}
	}
}

func writeAny(t testing.TB, x readmodel.Index, b readmodel.Batch) []error {
	t.Helper()
	errs, err := x.Write(t.Context(), b)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	if len(errs) != len(b.Documents) {
		t.Fatalf("write: %d results for %d documents", len(errs), len(b.Documents))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := x.Wait(ctx, b.Mark.Position); err != nil {
		t.Fatalf("wait for position %d: %v", b.Mark.Position, err)
	}
	return errs
}

// At gives the mark of a position in the history of the suite.
func At(p calendar.Position) calendar.Mark {
	m := calendar.Mark{Position: p}
	if p > 0 {
		m.Hash = sha256.Sum256([]byte(p.String()))
	}
	return m
}

// build makes records for cases, one position after the other.
type build struct {
	next calendar.Position
	docs []readmodel.Document
}

// add adds a record with fields, English at home.
func (b *build) add(k calendar.Kind, id calendar.ID, f calendar.Fields) *calendar.Record {
	return b.record(&calendar.Record{ID: id, Kind: k, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: f})
}

func (b *build) record(r *calendar.Record) *calendar.Record {
	if name := r.Kind.NameField(); name != "" && r.Fields[name] == nil {
		r.Fields[name] = in(r.Home, "name")
	}
	b.next++
	b.docs = append(b.docs, document(r, b.next))
	return r
}

// delete adds a tombstone.
func (b *build) delete(r *calendar.Record) {
	gone := *r
	gone.Version++
	gone.Deleted = true
	b.next++
	b.docs = append(b.docs, document(&gone, b.next))
}

// write writes all that was added since the last time.
func (b *build) write(t testing.TB, x readmodel.Index) {
	t.Helper()
	write(t, x, readmodel.Batch{Documents: b.docs, Mark: At(b.next)})
	b.docs = nil
}

func in(l calendar.Lang, s string) (t calendar.Text) {
	t[l] = s
	return t
}

// byID is the order of most cases.
var byID = []readmodel.Sort{{Field: readmodel.FieldID}}

func search(t testing.TB, x readmodel.Index, q readmodel.Query) readmodel.Page {
	t.Helper()
	p, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("search %+v: %v", q, err)
	}
	return p
}

// wantIDs checks which documents a filter admits.
func wantIDs(t testing.TB, x readmodel.Index, k calendar.Kind, f readmodel.Filter, ids ...calendar.ID) {
	t.Helper()
	wantPage(t, x, readmodel.Query{Kind: k, Filter: f, Sort: byID, Limit: 100}, len(ids), ids...)
}

// wantPage checks a page and its total.
func wantPage(t testing.TB, x readmodel.Index, q readmodel.Query, total int, ids ...calendar.ID) {
	t.Helper()
	p := search(t, x, q)
	if diff := cmp.Diff(ids, idsOf(p.Documents)); diff != "" {
		t.Errorf("%+v: ids (-want +got):\n%s", q, diff)
	}
	if p.Total != total {
		t.Errorf("%+v: total %d, want %d", q, p.Total, total)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}
