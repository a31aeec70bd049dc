package memindex_test

import (
	"context"
	"math/rand/v2"
	"reflect"
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
	x := memindex.New(memindex.Options{})
	plain, c, dice := readmodeltest.NewPlain(), readmodeltest.NewCorpus(n, 1), rand.New(rand.NewPCG(1, 2))
	at := calendar.Position(1 << 20)
	write := func(b readmodel.Batch) {
		t.Helper()
		b.Mark = readmodeltest.At(at)
		for _, to := range []readmodel.Index{x, plain} {
			if _, err := to.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	compare := func() {
		t.Helper()
		word := readmodel.Text{Fields: readmodel.SchemaOf(calendar.KindEvent).Texts(), Search: readmodel.ParseSearch(c.Word(3+dice.IntN(20)), calendar.LangEN)}
		for _, q := range []readmodel.Query{
			{Kind: calendar.KindEvent, Sort: readmodeltest.ByStart(), Offset: dice.IntN(n), Limit: 20},
			{Kind: calendar.KindEvent, Filter: word, Sort: []readmodel.Sort{{Field: readmodel.FieldPublished, Desc: true}, {Field: readmodel.FieldID, Desc: true}}, Limit: 20},
		} {
			want, err := viewOf(t, plain).Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := viewOf(t, x).Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			whole := cmp.Comparer(func(a, b readmodel.Document) bool { return reflect.DeepEqual(a, b) })
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), whole); diff != "" {
				t.Fatalf("at %d, %+v (-want +got):\n%s", at, q, diff)
			}
		}
	}
	written := 0
	for written < n {
		var b readmodel.Batch
		for range 1 + dice.IntN(400) {
			if written == n {
				break
			}
			d := c.Event(written)
			at, written = at+1, written+1
			d.Position = at
			b.Documents = append(b.Documents, d)
		}
		write(b)
		for range 5 {
			d := c.Event(dice.IntN(written))
			at++
			if d.Position = at; dice.IntN(3) == 0 {
				d = readmodel.Document{Position: at, Record: &calendar.Record{ID: d.Record.ID, Kind: d.Record.Kind, Version: 9, Deleted: true, Fields: calendar.Fields{}}, Body: []byte("{}")}
			}
			write(readmodel.Batch{Documents: []readmodel.Document{d}})
		}
		compare()
	}
	if err := x.Close(); err != nil { // after the last merge
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

func (c *ending) Err() error {
	if c.looks--; c.looks < 0 {
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
	x := memindex.New(memindex.Options{})
	c := readmodeltest.NewCorpus(2000, 1)
	if err := c.Fill(func(b readmodel.Batch) error {
		_, err := x.Write(t.Context(), b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	q := readmodel.Query{Kind: calendar.KindEvent, Limit: 10, Filter: readmodel.Text{
		Fields: readmodel.SchemaOf(calendar.KindEvent).Texts(), Search: readmodel.ParseSearch(`"`+c.Word(0)+" "+c.Word(1)+`"`, calendar.LangEN),
	}}
	if _, err := viewOf(t, x).Search(&ending{t.Context(), 1}, q); err != context.Canceled { //nolint:errorlint // as it is
		t.Errorf("error %v, want that of the context", err)
	}
	if _, err := viewOf(t, x).Search(&ending{t.Context(), 1 << 20}, q); err != nil {
		t.Error(err)
	}
}
