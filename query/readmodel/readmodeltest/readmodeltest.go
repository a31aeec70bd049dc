// Package readmodeltest is the suite that every readmodel.Index passes, with the
// corpus of phrases that is the contract of searching.
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
	run  func(pair *indexPair)
}

// testCases are those that are not made from a list.
var testCases = []testCase{
	{"content", content},
	{"stamp", stamp},
	{"wait", wait},
	{"wait ends with the context", waitEnds},
	{"views of one state", viewsOfOneState},
	{"walks of a view", walksOfAView},
	{"tallies of the state of the page", talliesOfOneState},
	{"exact totals", exactTotals},
	{"the largest searches", largestSearches},
	{"joined spellings", joinedSpellings},
	{"places without values", placesWithoutValues},
}

func cases(slow bool) []testCase {
	all := slices.Clone(testCases)
	rounds, queries := 6, 80
	if slow {
		rounds, queries = 3, 40
	}
	for _, language := range calendar.Langs {
		all = append(all, testCase{"phrases " + language.String(), func(pair *indexPair) { phrases(pair, language) }})
	}
	for _, kind := range calendar.Kinds {
		all = append(all, testCase{"random " + kind.Collection(), func(pair *indexPair) { random(pair, kind, rounds, queries) }})
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

// indexPair is the index under test and one that answers by the meaning of the port
// alone. A case writes the same to both, and asks both the same questions.
type indexPair struct {
	testing.TB
	index readmodel.Index
	plain *Plain

	last      calendar.Position    // of all documents so far
	documents []readmodel.Document // that are not written yet
}

func newPair(t testing.TB, index readmodel.Index) *indexPair {
	return &indexPair{TB: t, index: index, plain: NewPlain()}
}

// compare asks both.
func compare[T any](pair *indexPair, question any, ask func(index readmodel.Index) (T, error)) T {
	pair.Helper()
	want, wantErr := ask(pair.plain)
	got, err := ask(pair.index)
	if err = errors.Join(wantErr, err); err != nil {
		pair.Fatalf("%T %+v: %v", got, question, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), wholeDocuments, wholeRecords); diff != "" {
		pair.Fatalf("%+v (-want +got):\n%s", question, diff)
	}
	return want
}

// wholeDocuments and wholeRecords compare at once, for speed.
var (
	wholeDocuments = cmp.Comparer(func(a, b readmodel.Document) bool { return reflect.DeepEqual(a, b) })
	wholeRecords   = cmp.Comparer(func(a, b *calendar.Record) bool { return reflect.DeepEqual(a, b) })
)

// add adds a document of a record with fields, English at home.
func (pair *indexPair) add(kind calendar.Kind, id calendar.ID, fields calendar.Fields) *calendar.Record {
	if name := kind.NameField(); fields[name] == nil {
		fields[name] = in(calendar.LangEN, "name")
	}
	record := &calendar.Record{ID: id, Kind: kind, Version: 1, Home: calendar.LangEN, Changed: Now, Fields: fields}
	pair.addRecord(record)
	return record
}

func (pair *indexPair) addRecord(record *calendar.Record) {
	pair.last++
	pair.documents = append(pair.documents, document(record, pair.last))
}

// write writes what was added, and waits until it is visible.
func (pair *indexPair) write() {
	pair.Helper()
	pair.apply(readmodel.Batch{Documents: pair.documents, Mark: At(pair.last)})
	pair.documents = nil
}

func (pair *indexPair) apply(batch readmodel.Batch) {
	pair.Helper()
	compare(pair, "refused", func(index readmodel.Index) ([]bool, error) {
		own := batch
		own.Documents = slices.Clone(batch.Documents)
		errs, err := index.Write(pair.Context(), own)
		refused := make([]bool, len(errs))
		for i := range errs {
			if refused[i] = errors.Is(errs[i], readmodel.ErrRefused); !refused[i] {
				err = errors.Join(err, errs[i])
			}
		}
		return refused, err
	})
	pair.wait()
}

// wait compares the marks, and waits until what was written is visible.
func (pair *indexPair) wait() {
	pair.Helper()
	marks := compare(pair, "marks", func(index readmodel.Index) (readmodel.Marks, error) { return index.Marks(pair.Context()) })
	ctx, cancel := context.WithTimeout(pair.Context(), 30*time.Second)
	defer cancel()
	wantErr(pair, "wait", pair.index.Wait(ctx, marks.All.Position), nil)
}

func (pair *indexPair) search(query readmodel.Query) readmodel.Page {
	pair.Helper()
	return ask(pair, query, func(view readmodel.View) (readmodel.Page, error) { return view.Search(pair.Context(), query) })
}

// ask asks views of both.
func ask[T any](pair *indexPair, question any, of func(view readmodel.View) (T, error)) T {
	pair.Helper()
	return compare(pair, question, func(index readmodel.Index) (answer T, err error) {
		err = readmodel.Read(pair.Context(), index, func(view readmodel.View) (err error) {
			answer, err = of(view)
			return err
		})
		return answer, err
	})
}

// find compares all documents of a kind that a filter admits.
func (pair *indexPair) find(kind calendar.Kind, filter readmodel.Filter) readmodel.Page {
	pair.Helper()
	return pair.search(readmodel.Query{Kind: kind, Filter: filter, Sort: byID, Limit: 1000})
}

// state compares what is there.
func (pair *indexPair) state() {
	pair.Helper()
	ids := append(slices.Collect(maps.Keys(pair.plain.documents)), 1<<50, 1<<50)
	compare(pair, "state", func(index readmodel.Index) ([]any, error) {
		shown, shownErr := index.Visible(pair.Context())
		quarantined, quarantinedErr := index.Quarantined(pair.Context())
		return []any{shown.Mark, quarantined}, errors.Join(shownErr, quarantinedErr)
	})
	ask(pair, "records", func(view readmodel.View) ([]*calendar.Record, error) { return view.Get(pair.Context(), ids...) })
	for _, kind := range calendar.Kinds {
		ask(pair, kind, func(view readmodel.View) ([]readmodel.Document, error) {
			return walk(pair.Context(), view, readmodel.Query{Kind: kind, Sort: byID})
		})
	}
}

// walk returns all documents of a walk.
func walk(ctx context.Context, view readmodel.View, query readmodel.Query) (documents []readmodel.Document, err error) {
	err = view.Walk(ctx, query, func(subset []readmodel.Document) error {
		if len(subset) > readmodel.WalkStep {
			return errors.New("a step of too many documents")
		}
		documents = append(documents, subset...)
		return nil
	})
	return documents, err
}

// Now is when the records of the suite were changed.
var Now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

// At returns the mark of a position in the history of the suite.
func At(position calendar.Position) calendar.Mark {
	mark := calendar.Mark{Position: position}
	if position > 0 {
		mark.Hash = sha256.Sum256([]byte(position.String()))
	}
	return mark
}

func in(language calendar.Lang, text string) (t calendar.Text) {
	t[language] = text
	return t
}

// byID is the order of most cases.
var byID = readmodel.By(false, readmodel.FieldID)

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}
