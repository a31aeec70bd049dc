package memindex_test

import (
	"path/filepath"
	"sync"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

func open(tb testing.TB) readmodel.Index {
	tb.Helper()
	index := memindex.New(memindex.Options{})
	return index
}

func viewOf(tb testing.TB, index readmodel.Index) readmodel.View {
	tb.Helper()
	view, err := index.View(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return view
}

func TestSuite(t *testing.T) {
	t.Parallel()
	readmodeltest.Run(t, readmodeltest.Harness{Open: open})
}

func TestGenerations(t *testing.T) {
	t.Parallel()
	readmodeltest.RunGenerations(t, func(tb testing.TB) readmodel.Generations {
		tb.Helper()
		dir := tb.TempDir()
		index, err := memindex.Open(tb.Context(), filepath.Join(dir, "snapshot"), memindex.Options{Former: filepath.Join(dir, "former")})
		if err != nil {
			tb.Fatal(err)
		}
		return index
	})
}

// TestWholeBatches: a reader sees all of a batch or nothing of it.
func TestWholeBatches(t *testing.T) {
	t.Parallel()
	index := open(t)
	const n, rounds = 60, 40
	batch := func(round int) readmodel.Batch {
		b := readmodel.Batch{Mark: readmodeltest.At(calendar.Position((round + 1) * n))}
		for i := range n {
			record := &calendar.Record{
				ID: calendar.ID(1 + i), Kind: calendar.KindEvent, Version: int64(round + 1), Home: calendar.LangEN, Changed: readmodeltest.Now,
				Fields: calendar.Fields{
					"title": calendar.Text{calendar.LangEN: []string{"jazz", "rock"}[round%2]}, "author": calendar.ID(1000 + round),
					"start_date": calendar.Wall(round*100 - i),
				},
			}
			body, err := calendar.EncodeRecord(record)
			if err != nil {
				t.Fatal(err)
			}
			b.Documents = append(b.Documents, readmodel.Document{Position: calendar.Position(round*n + i + 1), Record: record, Body: body})
		}
		return b
	}
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		group.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				view := viewOf(t, index)
				page, err := view.Search(t.Context(), readmodel.Query{
					Kind: calendar.KindEvent, Limit: n, Sort: readmodel.By(false, readmodel.FieldStart, readmodel.FieldID),
					Filter: readmodel.Not{Filter: readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch("jazz", calendar.LangEN)}},
				})
				if err != nil {
					t.Error(err)
					return
				}
				round := int(view.Shown().Position)/n - 1
				if want := n * (round % 2); round >= 0 && page.Total != want {
					t.Errorf("round %d: %d without jazz, want %d", round, page.Total, want)
					return
				}
				for _, document := range page.Documents {
					if document.Record.Version != int64(round+1) || document.Record.Author() != calendar.ID(1000+round) {
						t.Errorf("round %d: a document of version %d", round, document.Record.Version)
						return
					}
				}
			}
		})
	}
	for round := range rounds {
		if _, err := index.Write(t.Context(), batch(round)); err != nil {
			t.Error(err)
		}
	}
	close(done)
	group.Wait()
}
