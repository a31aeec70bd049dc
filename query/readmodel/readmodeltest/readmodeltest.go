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
	for _, lang := range calendar.Langs {
		all = append(all, testCase{"phrases " + lang.String(), func(p *pair) { phrases(p, lang) }})
	}
	for _, kind := range calendar.Kinds {
		all = append(all, testCase{"random " + kind.Collection(), func(p *pair) { random(p, kind, rounds, queries) }})
	}
	return all
}

// Run runs the suite.
func Run(t *testing.T, harness Harness) {
	for _, testCase := range cases(harness.Slow || testing.Short()) {
		t.Run(testCase.name, func(t *testing.T) {
			t.Parallel()
			testCase.run(newPair(t, harness.Open(t)))
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
func compare[T any](p *pair, question any, ask func(index readmodel.Index) (T, error)) T {
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
func (p *pair) add(kind calendar.Kind, id calendar.ID, fields calendar.Fields) *calendar.Record {
	if name := kind.NameField(); fields[name] == nil {
		fields[name] = in(calendar.LangEN, "name")
	}
	record := &calendar.Record{ID: id, Kind: kind, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: fields}
	p.addRecord(record)
	return record
}

func (p *pair) addRecord(record *calendar.Record) {
	p.last++
	p.documents = append(p.documents, document(record, p.last))
}

// write writes what was added, and waits until it is visible.
func (p *pair) write() {
	p.Helper()
	p.apply(readmodel.Batch{Documents: p.documents, Mark: At(p.last)})
	p.documents = nil
}

func (p *pair) apply(batch readmodel.Batch) {
	p.Helper()
	compare(p, "refused", func(index readmodel.Index) ([]bool, error) {
		own := batch
		own.Documents = slices.Clone(batch.Documents)
		errs, err := index.Write(p.Context(), own)
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
	marks := compare(p, "marks", func(index readmodel.Index) (readmodel.Marks, error) { return index.Marks(p.Context()) })
	ctx, cancel := context.WithTimeout(p.Context(), 30*time.Second)
	defer cancel()
	wantErr(p, "wait", p.index.Wait(ctx, marks.All.Position), nil)
}

func (p *pair) search(query readmodel.Query) readmodel.Page {
	p.Helper()
	return ask(p, query, func(view readmodel.View) (readmodel.Page, error) { return view.Search(p.Context(), query) })
}

// ask asks views of both.
func ask[T any](p *pair, question any, of func(view readmodel.View) (T, error)) T {
	p.Helper()
	return compare(p, question, func(index readmodel.Index) (answer T, err error) {
		err = readmodel.Read(p.Context(), index, func(view readmodel.View) (err error) {
			answer, err = of(view)
			return err
		})
		return answer, err
	})
}

// find compares all documents of a kind that a filter admits.
func (p *pair) find(kind calendar.Kind, filter readmodel.Filter) readmodel.Page {
	p.Helper()
	return p.search(readmodel.Query{Kind: kind, Filter: filter, Sort: byID, Limit: 1000})
}

// state compares what is there.
func (p *pair) state() {
	p.Helper()
	ids := append(slices.Collect(maps.Keys(p.plain.documents)), 1<<50, 1<<50)
	compare(p, "state", func(index readmodel.Index) ([]any, error) {
		shown, shownErr := index.Visible(p.Context())
		quarantined, quarantinedErr := index.Quarantined(p.Context())
		return []any{shown.Mark, quarantined}, errors.Join(shownErr, quarantinedErr)
	})
	ask(p, "documents", func(view readmodel.View) (map[calendar.ID]readmodel.Document, error) {
		return view.Get(p.Context(), ids)
	})
}

// walk compares a whole walk.
func (p *pair) walk(query readmodel.Query) {
	p.Helper()
	ask(p, query, func(view readmodel.View) (walked, error) { return walkAll(p.Context(), view, query) })
}

// walked is a walk with the total of the same state.
type walked struct {
	Total     int
	Documents []readmodel.Document
}

func walkAll(ctx context.Context, view readmodel.View, query readmodel.Query) (out walked, err error) {
	first := query
	first.Offset, first.Limit, first.After, first.Tallies = 0, 0, nil, nil
	page, err := view.Search(ctx, first)
	if err != nil {
		return walked{}, err
	}
	out.Total = page.Total
	err = view.Walk(ctx, query, func(some []readmodel.Document) error {
		if len(some) > readmodel.WalkStep {
			return errors.New("a step of too many documents")
		}
		out.Documents = append(out.Documents, some...)
		return nil
	})
	return out, err
}

// counts compares the counts of all values.
func (p *pair) counts(kind calendar.Kind, field string, filter readmodel.Filter) {
	p.Helper()
	ask(p, filter, func(view readmodel.View) (map[calendar.ID]int, error) {
		return readmodel.Counts(p.Context(), view, kind, field, filter)
	})
}

// At returns the mark of a position in the history of the suite.
func At(position calendar.Position) calendar.Mark {
	mark := calendar.Mark{Position: position}
	if position > 0 {
		mark.Hash = sha256.Sum256([]byte(position.String()))
	}
	return mark
}

func in(lang calendar.Lang, text string) (t calendar.Text) {
	t[lang] = text
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
