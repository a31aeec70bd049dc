// Package readmodeltest is the suite that every readmodel.Index passes, the
// corpus of phrases that is the contract of searching, and a corpus of records
// for benchmarks.
package readmodeltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Harness opens the implementation under test.
type Harness struct {
	// Open returns an empty index; it is closed by t.Cleanup.
	Open func(t testing.TB) readmodel.Index
	// Slow makes the random part shorter, for engines that are asked over a
	// network.
	Slow bool
}

// testCase is one thing that an index promises. It gets an empty index.
type testCase struct {
	name string
	run  func(p *pair)
}

func cases(slow bool) []testCase {
	all := slices.Concat(stateCases(), searchCases())
	rounds, queries := 6, 80
	if slow {
		rounds, queries = 3, 40
	}
	for _, l := range calendar.Langs {
		all = append(all, testCase{"phrases " + l.String(), func(p *pair) { phrases(p, l) }})
	}
	for _, k := range calendar.Kinds {
		all = append(all, testCase{"random " + k.Collection(), func(p *pair) { random(p, k, rounds, queries) }})
	}
	return all
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for _, c := range cases(h.Slow || testing.Short()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newPair(t, h.Open(t)))
		})
	}
}

// pair is the index under test and one that answers by the meaning of the port
// alone. A case writes the same to both, and asks both the same questions.
type pair struct {
	testing.TB
	index readmodel.Index
	plain *Plain

	last      calendar.Position    // of all documents so far
	documents []readmodel.Document // that are not written yet
}

func newPair(t testing.TB, x readmodel.Index) *pair { return &pair{TB: t, index: x, plain: NewPlain()} }

// compare asks both.
func compare[T any](p *pair, question any, ask func(x readmodel.Index) (T, error)) T {
	p.Helper()
	want, wantErr := ask(p.plain)
	got, err := ask(p.index)
	if err = errors.Join(wantErr, err); err != nil {
		p.Fatalf("%T %+v: %v", got, question, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), wholeDocuments); diff != "" {
		p.Fatalf("%+v (-want +got):\n%s", question, diff)
	}
	return want
}

// wholeDocuments compares documents at once, for speed.
var wholeDocuments = cmp.Comparer(func(a, b readmodel.Document) bool { return reflect.DeepEqual(a, b) })

// add adds a document of a record with fields, English at home.
func (p *pair) add(k calendar.Kind, id calendar.ID, f calendar.Fields) *calendar.Record {
	if name := k.NameField(); f[name] == nil {
		f[name] = in(calendar.LangEN, "name")
	}
	r := &calendar.Record{ID: id, Kind: k, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: f}
	p.addRecord(r)
	return r
}

func (p *pair) addRecord(r *calendar.Record) {
	p.last++
	p.documents = append(p.documents, document(r, p.last))
}

// write writes what was added, and waits until it is visible.
func (p *pair) write() {
	p.Helper()
	p.apply(readmodel.Batch{Documents: p.documents, Mark: At(p.last)})
	p.documents = nil
}

func (p *pair) apply(b readmodel.Batch) {
	p.Helper()
	compare(p, "refused", func(x readmodel.Index) ([]bool, error) {
		own := b
		own.Documents = slices.Clone(b.Documents)
		errs, err := x.Write(p.Context(), own)
		refused := make([]bool, len(errs))
		for i := range errs {
			if refused[i] = errors.Is(errs[i], readmodel.ErrRefused); !refused[i] {
				err = errors.Join(err, errs[i])
			}
		}
		return refused, err
	})
	p.wait()
}

// wait compares the marks, and waits until what was written is visible.
func (p *pair) wait() {
	p.Helper()
	marks := compare(p, "marks", func(x readmodel.Index) (readmodel.Marks, error) { return x.Marks(p.Context()) })
	ctx, cancel := context.WithTimeout(p.Context(), 30*time.Second)
	defer cancel()
	wantErr(p, "wait", p.index.Wait(ctx, marks.All.Position), nil)
}

func (p *pair) search(q readmodel.Query) readmodel.Page {
	p.Helper()
	return ask(p, q, func(v readmodel.View) (readmodel.Page, error) { return v.Search(p.Context(), q) })
}

// ask asks views of both.
func ask[T any](p *pair, question any, of func(v readmodel.View) (T, error)) T {
	p.Helper()
	return compare(p, question, func(x readmodel.Index) (answer T, err error) {
		err = readmodel.Read(p.Context(), x, func(v readmodel.View) (err error) {
			answer, err = of(v)
			return err
		})
		return answer, err
	})
}

// find compares all documents of a kind that a filter admits.
func (p *pair) find(k calendar.Kind, f readmodel.Filter) readmodel.Page {
	p.Helper()
	return p.search(readmodel.Query{Kind: k, Filter: f, Sort: byID, Limit: 1000})
}

// state compares what is there.
func (p *pair) state() {
	p.Helper()
	ids := append(slices.Collect(maps.Keys(p.plain.documents)), 1<<50, 1<<50)
	compare(p, "state", func(x readmodel.Index) ([]any, error) {
		shown, shownErr := x.Visible(p.Context())
		quarantined, quarantinedErr := x.Quarantined(p.Context())
		return []any{shown.Mark, quarantined}, errors.Join(shownErr, quarantinedErr)
	})
	ask(p, "documents", func(v readmodel.View) (map[calendar.ID]readmodel.Document, error) { return v.Get(p.Context(), ids) })
}

// walk compares a whole walk.
func (p *pair) walk(q readmodel.Query) {
	p.Helper()
	ask(p, q, func(v readmodel.View) (walked, error) { return walkAll(p.Context(), v, q) })
}

// walked is a walk with the total of the same state.
type walked struct {
	Total     int
	Documents []readmodel.Document
}

func walkAll(ctx context.Context, v readmodel.View, q readmodel.Query) (out walked, err error) {
	first := q
	first.Offset, first.Limit, first.After, first.Tallies = 0, 0, nil, nil
	page, err := v.Search(ctx, first)
	if err != nil {
		return walked{}, err
	}
	out.Total = page.Total
	err = v.Walk(ctx, q, func(some []readmodel.Document) error {
		if len(some) > readmodel.WalkStep {
			return errors.New("a step of too many documents")
		}
		out.Documents = append(out.Documents, some...)
		return nil
	})
	return out, err
}

// counts compares the counts of all values.
func (p *pair) counts(k calendar.Kind, field string, f readmodel.Filter) {
	p.Helper()
	ask(p, f, func(v readmodel.View) (map[calendar.ID]int, error) {
		return readmodel.Counts(p.Context(), v, k, field, f)
	})
}

// At returns the mark of a position in the history of the suite.
func At(p calendar.Position) calendar.Mark {
	m := calendar.Mark{Position: p}
	if p > 0 {
		m.Hash = sha256.Sum256([]byte(p.String()))
	}
	return m
}

func in(l calendar.Lang, s string) (t calendar.Text) {
	t[l] = s
	return t
}

// byID is the order of most cases.
var byID = []readmodel.Sort{{Field: readmodel.FieldID}}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}
