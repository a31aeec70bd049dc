package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/sqlite"
	"daybook/internal/testkit"
	"daybook/query/readmodel"
)

// history is a store of venues that goes back.
type history struct {
	*memstore.Store
	t *testing.T
}

func (h history) add(name string) {
	h.t.Helper()
	id, err := h.NewIDs(h.t.Context(), 1)
	if err != nil {
		h.t.Fatal(err)
	}
	at := time.UnixMilli(1_700_000_000_000).UTC()
	state, err := calendar.EncodeRecord(&calendar.Record{
		ID: id, Kind: calendar.KindVenue, Version: 1, Home: calendar.LangEN, Changed: at,
		Fields: calendar.Fields{"venue": calendar.Text{calendar.LangEN: name}, "status": "publish"},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	res := h.Append(h.t.Context(), []eventstore.Append{{Time: at, Drafts: []eventstore.Draft{{
		Kind: calendar.KindVenue, ID: id, Change: "venue.created", Fields: []byte(`{}`), State: state,
	}}}})
	if res[0].Err != nil {
		h.t.Fatal(res[0].Err)
	}
}

// Read is that of a source without a feed.
func (h history) Read(ctx context.Context, after calendar.Mark, limit int) ([]eventstore.Entry, calendar.Mark, error) {
	for {
		if err := eventstore.CheckMark(ctx, h, after); err != nil {
			return nil, after, err
		}
		entries, err := h.ReadAll(ctx, after.Position, limit)
		if err != nil {
			return nil, after, err
		}
		if n := len(entries); n > 0 {
			to, err := h.Mark(ctx, entries[n-1].Position)
			return entries, to, err
		}
		if _, err := h.Wait(ctx, after.Position); err != nil {
			return nil, after, err
		}
	}
}

// TestImageOfALostHistory: when the store goes over to another history, nothing of the
// memory image is visible from that moment on until it is made anew, whatever the
// positions say, and then lists show what the store has.
func TestImageOfALostHistory(t *testing.T) {
	t.Parallel()
	store := history{memstore.New(), t}
	for i := range 6 {
		store.add(fmt.Sprint("kept ", i))
	}
	m, err := openImage(t.Context(), &backend{s: &settings{data: t.TempDir()}, store: store, log: slog.New(slog.DiscardHandler)}, store)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		store.add(fmt.Sprint("lost ", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.project(ctx) }()
	if err := m.index().Wait(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	before, err := m.index().Visible(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	m.changing.Lock() // it is not made anew yet
	store.Rewind(6)
	if _, err := m.index().Visible(t.Context()); !errors.Is(err, readmodel.ErrForeign) || !errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("visible of a lost history: %v, want ErrForeign", err)
	}
	for i := range 9 {
		store.add(fmt.Sprint("new ", i))
	}
	if _, err := m.index().Visible(t.Context()); !errors.Is(err, readmodel.ErrForeign) {
		t.Errorf("visible of a lost history below the head: %v, want ErrForeign", err)
	}
	m.changing.Unlock()

	eventually(t, "an image of the present history", func() bool {
		shown, err := m.index().Visible(t.Context())
		return err == nil && shown.Position == 15
	})
	found, err := m.index().Search(t.Context(), readmodel.Query{
		Kind: calendar.KindVenue, Sort: []readmodel.Sort{{Field: readmodel.FieldID}}, Limit: 100,
	})
	if err != nil || found.Total != 15 {
		t.Fatalf("%d venues, %v; want 15", found.Total, err)
	}
	for i, d := range found.Documents {
		want := fmt.Sprint("kept ", i)
		if i >= 6 {
			want = fmt.Sprint("new ", i-6)
		}
		if got, _ := d.Record.Name(calendar.LangEN); got != want {
			t.Errorf("venue %d is %q, want %q", i, got, want)
		}
	}
	if after, err := m.index().Visible(t.Context()); err != nil || after.Hash == before.Hash {
		t.Errorf("shows %v after %v, %v", after, before, err)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the projector ended: %v", err)
	}
}

// TestSharedIndexOfALostHistory: a backup of the event store is put back while nothing
// runs, and the store goes on past the old head beside another read model. The index on
// servers is made anew by itself, and no list ever shows what is gone.
func TestSharedIndexOfALostHistory(t *testing.T) {
	t.Parallel()
	index, prefix := testkit.Elasticsearch(t)
	data := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(data, sqlite.FileName)
	serve := []string{"serve", "--data", data, "--index", index, "--index-prefix", prefix}
	s := startServer(t, serve...)
	token := s.token
	add := func(name string, n int) {
		t.Helper()
		for i := range n {
			s.want(201, "POST", "/venues", token, fmt.Sprintf(`{"venue":%q}`, fmt.Sprint(name, " ", i)))
		}
	}
	add("kept", 3)
	s.drain()
	backup, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s = startServer(t, serve...)
	add("old", 4)
	if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 7.0 {
		t.Fatalf("%v venues before, want 7", got)
	}
	s.drain()
	if err := os.WriteFile(path, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, "serve", "--data", data) // another read model
	add("new", 6)
	s.drain()

	cmd := child(t.Context(), append(serve, "--listen", "127.0.0.1:0")...)
	s = beginServerOf(t, cmd, "", cmd.Env)
	took := eventually(t, "lists", func() bool {
		status, b := s.try("GET", s.root+"/venues?search=old", token, "")
		if status != 200 && status != 503 {
			t.Fatalf("a list: %d %s", status, b)
		}
		return status == 200
	})
	t.Logf("lists came back after %s", took)
	if got := s.want(200, "GET", "/venues?search=old", token, "")["total"]; got != 0.0 {
		t.Errorf("%v old venues", got)
	}
	if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 9.0 {
		t.Errorf("%v venues, want 9", got)
	}
	add("later", 1)
	if got := s.want(200, "GET", "/venues", token, "")["total"]; got != 10.0 {
		t.Errorf("%v venues, want 10", got)
	}
	if status := s.drain(); status != exitOK {
		t.Errorf("drained with status %d\n%s", status, s.log())
	}
}
