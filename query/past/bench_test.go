package past_test

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/history"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// BenchmarkFirstList builds the point of 24,000 entries in SQLite, without texts.
func BenchmarkFirstList(b *testing.B) {
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "events.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	write := func(batch readmodel.Batch) error {
		a := eventstore.Append{Time: readmodeltest.Now}
		for i := range batch.Documents {
			r := batch.Documents[i].Record
			change := calendar.Change{Name: r.Kind.String() + "." + calendar.Created, Kind: r.Kind, ID: r.ID, Home: r.Home, Fields: r.Fields}
			d, _, err := eventstore.NewDraft(nil, change, a.Time)
			if err != nil {
				return err
			}
			a.Drafts = append(a.Drafts, d)
		}
		return store.Append(b.Context(), []eventstore.Append{a})[0].Err
	}
	if err := readmodeltest.NewCorpus(23_350, 1).Fill(write); err != nil {
		b.Fatal(err)
	}
	head, err := store.Head(b.Context(), eventstore.Point{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := past.New(store, history.New(store, time.Now), nobodyViews{}, past.Options{Query: query.Options{}})
	if err != nil {
		b.Fatal(err)
	}
	then := past.Then{Point: eventstore.Point{Position: head.Position}, Moment: readmodeltest.Now}
	for b.Loop() {
		p.Forget()
		if _, err := p.List(b.Context(), calendar.Caller{Role: calendar.Auditor}, netip.Addr{}, then, "", false); err != nil {
			b.Fatal(err)
		}
	}
}
