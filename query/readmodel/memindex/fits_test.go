package memindex_test

import (
	"fmt"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// TestBeginningOfManyWords: what a beginning fits is found again, by language
// and by fields, and is never older than the last write.
func TestBeginningOfManyWords(t *testing.T) {
	t.Parallel()
	x := open(t)
	position := calendar.Position(0)
	write := func(id calendar.ID, title, french string, deleted bool) {
		t.Helper()
		position++
		r := &calendar.Record{
			ID: id, Kind: calendar.KindEvent, Version: int64(position), Home: calendar.LangEN, Changed: readmodeltest.Now, Deleted: deleted,
			Fields: calendar.Fields{"title": calendar.Text{calendar.LangEN: title, calendar.LangFR: french}, "slug": "note"},
		}
		body, err := calendar.EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		errs, err := x.Write(t.Context(), readmodel.Batch{
			Documents: []readmodel.Document{{Position: position, Record: r, Body: body}}, Mark: readmodeltest.At(position),
		})
		if err != nil || errs[0] != nil {
			t.Fatal(err, errs)
		}
	}
	want := func(l calendar.Lang, fields []string, n int) {
		t.Helper()
		for range 2 { // the second time from what is kept
			page, err := x.Search(t.Context(), readmodel.Query{
				Kind: calendar.KindEvent, Filter: readmodel.Text{Fields: fields, Search: readmodel.ParseSearch("note", l)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if page.Total != n {
				t.Errorf("%s %v: found %d, want %d", l, fields, page.Total, n)
			}
		}
	}
	const n = 800 // so many that it is kept
	for i := range n {
		write(calendar.ID(1+i), fmt.Sprintf("note%d", i), "", false)
	}
	names, descriptions := []string{readmodel.TextName}, []string{readmodel.TextDescription}
	want(calendar.LangEN, names, n)
	want(calendar.LangFR, names, n)
	want(calendar.LangEN, descriptions, 0)
	write(7, "note6", "autre", false) // another text is shown in French
	want(calendar.LangEN, names, n)
	want(calendar.LangFR, names, n-1)
	write(8, "other", "", false)
	want(calendar.LangEN, names, n-1)
	write(9, "", "", true)
	want(calendar.LangEN, names, n-2)
	write(1000, "note1000", "", false)
	want(calendar.LangEN, names, n-1)
	want(calendar.LangFR, names, n-2)
}
