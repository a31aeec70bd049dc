package upkeep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/ground/pause"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// history is a store of venues that goes back.
type history struct {
	*memstore.Store
	t *testing.T
}

func (history history) add(name string) {
	history.t.Helper()
	id, err := history.NewID(history.t.Context())
	if err != nil {
		history.t.Fatal(err)
	}
	instant := time.UnixMilli(1_700_000_000_000).UTC()
	state, err := calendar.EncodeRecord(&calendar.Record{
		ID: id, Kind: calendar.KindVenue, Version: 1, Home: calendar.LangEN, Changed: instant,
		Fields: calendar.Fields{"venue": calendar.Text{calendar.LangEN: name}, "status": "publish"},
	})
	if err != nil {
		history.t.Fatal(err)
	}
	res := history.Append(history.t.Context(), eventstore.Append{Time: instant, Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
		Kind:    calendar.KindVenue,
		ID:      id,
		Version: 1,
		Change:  "venue.created",
		Fields:  []byte(`{}`),
		State:   state,
	}}}})
	if res.Err != nil {
		history.t.Fatal(res.Err)
	}
}

// epoch is that of memindex.
func (history history) epoch() uint64 { return history.Epoch().History }

// source reads entries without a feed.
type source struct{ history }

func (source source) Read(ctx context.Context, after calendar.Mark, limit int) ([]eventstore.Entry, calendar.Mark, error) {
	for {
		if err := eventstore.CheckMark(ctx, source.history, after); err != nil {
			return nil, after, err
		}
		entries, err := source.Store.Read(ctx, eventstore.Range{After: uint64(after.Position), Limit: limit})
		if err != nil {
			return nil, after, err
		}
		if n := len(entries); n > 0 {
			head, err := source.Head(ctx, eventstore.Point{Position: entries[n-1].Position})
			return entries, head.Mark, err
		}
		if _, err := eventstore.Wait(ctx, source.history, after.Position); err != nil {
			return nil, after, err
		}
	}
}

// TestImageOfALostHistory: when the store goes over to another history, nothing of the
// memory image is visible from that moment on until it is made again, whatever the
// positions say, and then lists show what the store has.
func TestImageOfALostHistory(t *testing.T) {
	t.Parallel()
	store := history{memstore.New(), t}
	for i := range 6 {
		store.add(fmt.Sprint("kept ", i))
	}
	index, err := memindex.Open(t.Context(), filepath.Join(t.TempDir(), "snapshot"), memindex.Options{Epoch: store.epoch})
	if err != nil {
		t.Fatal(err)
	}
	upkeep := New(index, store, source{store}, Options{})
	if err := upkeep.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		store.add(fmt.Sprint("lost ", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- upkeep.Project(ctx) }()
	if err := upkeep.Index().Wait(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	before, err := upkeep.Index().Visible(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	upkeep.changing.Lock() // it is not made anew yet
	store.Rewind(6)
	if _, err := upkeep.Index().Visible(t.Context()); !errors.Is(err, readmodel.ErrForeign) || !errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("visible of a lost history: %v, want ErrForeign", err)
	}
	for i := range 9 {
		store.add(fmt.Sprint("new ", i))
	}
	if _, err := upkeep.Index().Visible(t.Context()); !errors.Is(err, readmodel.ErrForeign) {
		t.Errorf("visible of a lost history below the head: %v, want ErrForeign", err)
	}
	upkeep.changing.Unlock()

	for from := time.Now(); ; {
		shown, err := upkeep.Index().Visible(t.Context())
		if err == nil && shown.Position == 15 {
			break
		}
		if time.Since(from) > 30*time.Second {
			t.Fatalf("no image of the present history: %v, %v", shown, err)
		}
		if err := pause.For(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	var found readmodel.Page
	err = readmodel.Read(t.Context(), upkeep.Index(), func(view readmodel.View) (err error) {
		found, err = view.Search(t.Context(), readmodel.Query{
			Kind: calendar.KindVenue, Sort: []readmodel.Sort{{Field: readmodel.FieldID}}, Limit: 100,
		})
		return err
	})
	if err != nil || found.Total != 15 {
		t.Fatalf("%d venues, %v; want 15", found.Total, err)
	}
	for i, document := range found.Documents {
		want := fmt.Sprint("kept ", i)
		if i >= 6 {
			want = fmt.Sprint("new ", i-6)
		}
		if got, _ := document.Record.Name(calendar.LangEN); got != want {
			t.Errorf("venue %d is %q, want %q", i, got, want)
		}
	}
	if after, err := upkeep.Index().Visible(t.Context()); err != nil || after.Hash == before.Hash {
		t.Errorf("shows %v after %v, %v", after, before, err)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the projector ended: %v", err)
	}
}

// silent is a source that has nothing to give.
type silent chan struct{}

func (silent silent) Read(ctx context.Context, after calendar.Mark, _ int) ([]eventstore.Entry, calendar.Mark, error) {
	select {
	case silent <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return nil, after, ctx.Err()
}

// TestEpochEndsATurn: a store that went over to another history is noticed while nothing
// is to be projected, also by an index whose marks are of both histories.
func TestEpochEndsATurn(t *testing.T) {
	t.Parallel()
	store := history{memstore.New(), t}
	store.add("of both")
	index, err := memindex.Open(t.Context(), filepath.Join(t.TempDir(), "snapshot"), memindex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reading, anew := make(silent, 1), make(chan struct{}, 1)
	upkeep := New(index, store, reading, Options{Alone: func(ctx context.Context, work func(context.Context) error) error {
		select {
		case anew <- struct{}{}:
		default:
		}
		return work(ctx)
	}})
	if err := upkeep.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- upkeep.Project(ctx) }()
	<-reading
	store.Rewind(1)
	select {
	case <-anew:
	case <-time.After(30 * time.Second):
		t.Error("a read model of another epoch is gone on with")
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the projector ended: %v", err)
	}
}
