package memindex_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// TestMerges: while segments are merged in the background, documents come, change and go;
// at each moment and in the end the index answers as one that looks at every document.
func TestMerges(t *testing.T) {
	t.Parallel()
	n := 1500
	if testing.Short() {
		n = 500
	}
	index := memindex.New(memindex.Options{})
	plain, dice := readmodeltest.NewPlain(), rand.New(rand.NewPCG(1, 2))
	position := calendar.Position(1 << 20)
	write := func(batch readmodel.Batch) {
		t.Helper()
		batch.Mark = readmodeltest.At(position)
		for _, to := range []readmodel.Index{index, plain} {
			if _, err := to.Write(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
	}
	words := strings.Fields("jazz music concert fête 音乐 x")
	compare := func() {
		t.Helper()
		word := readmodel.Text{Fields: readmodel.SchemaOf(calendar.KindEvent).Texts, Search: readmodel.ParseSearch(words[dice.IntN(len(words))], calendar.LangEN)}
		for _, query := range []readmodel.Query{
			{Kind: calendar.KindEvent, Sort: readmodel.By(false, readmodel.FieldStart, readmodel.FieldDate, readmodel.FieldID), Offset: dice.IntN(n), Limit: 20},
			{Kind: calendar.KindEvent, Filter: word, Sort: readmodel.By(true, readmodel.FieldPublished, readmodel.FieldID), Limit: 20},
		} {
			want, err := viewOf(t, plain).Search(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := viewOf(t, index).Search(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			whole := cmp.Comparer(func(a, b readmodel.Document) bool { return reflect.DeepEqual(a, b) })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), whole); diff != "" {
				t.Fatalf("at %d, %+v (-want +got):\n%s", position, query, diff)
			}
		}
	}
	written := 0
	for written < n {
		var batch readmodel.Batch
		for range 1 + dice.IntN(400) {
			if written == n {
				break
			}
			position, written = position+1, written+1
			batch.Documents = append(batch.Documents, readmodeltest.Random(dice, calendar.KindEvent, calendar.ID(written), position))
		}
		write(batch)
		for range 5 {
			position++
			document := readmodeltest.Random(dice, calendar.KindEvent, calendar.ID(1+dice.IntN(written)), position)
			if dice.IntN(3) == 0 {
				document = readmodel.Document{Position: position, Record: &calendar.Record{ID: document.Record.ID, Kind: document.Record.Kind, Version: 9, Deleted: true, Fields: calendar.Fields{}}, Body: []byte("{}")}
			}
			write(readmodel.Batch{Documents: []readmodel.Document{document}})
		}
		compare()
	}
	if err := index.Close(); err != nil { // after the last merge
		t.Fatal(err)
	}
	for range 5 {
		compare()
	}
}

// ending is a context that ends once it was looked at so often.
type ending struct {
	context.Context //nolint:containedctx // it wraps one
	looks           int
}

func (ending *ending) Err() error {
	if ending.looks--; ending.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestEndOfARequestEndsItsSearch: a search that looks into many texts ends with its request.
func TestEndOfARequestEndsItsSearch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	index := memindex.New(memindex.Options{})
	var batch readmodel.Batch
	for i := range 2000 {
		batch.Documents = append(batch.Documents, readmodel.Document{Position: calendar.Position(1 + i), Body: []byte("{}"), Record: &calendar.Record{
			ID: calendar.ID(1 + i), Kind: calendar.KindEvent, Version: 1, Fields: calendar.Fields{"title": calendar.Text{"music, jazz"}},
		}})
	}
	if _, err := index.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	query := readmodel.Query{Kind: calendar.KindEvent, Limit: 10, Filter: readmodel.Text{
		Fields: readmodel.SchemaOf(calendar.KindEvent).Texts, Search: readmodel.ParseSearch(`"jazz music"`, calendar.LangEN),
	}}
	if _, err := viewOf(t, index).Search(&ending{t.Context(), 1}, query); err != context.Canceled { //nolint:errorlint // as it is
		t.Errorf("error %v, want that of the context", err)
	}
	if _, err := viewOf(t, index).Search(&ending{t.Context(), 1 << 20}, query); err != nil {
		t.Error(err)
	}
}
