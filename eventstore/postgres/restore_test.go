package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/storetest"
)

const moved = 700 // events of the store that is copied: more than are written at once

// filled returns a store with events, keys, secrets, slugs from before, an erased tag and
// checkpoints, and its receipts.
func filled(t *testing.T) (eventstore.Store, []eventstore.Receipt) {
	t.Helper()
	store := memstore.New()
	do := func(a eventstore.Append) {
		t.Helper()
		if res := store.Append(t.Context(), a); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for id := range calendar.ID(moved) {
		do(eventAppend(t, id+1000))
	}
	for v := range int64(3) {
		a := tag(t, 1, v+1, "renamed")
		if v == 1 {
			a.Drafts[0].Secret = []byte("secret of it")
		}
		do(a)
		do(tag(t, 2, v+1, "gone"))
	}
	do(erasure(2, 3))
	for _, size := range []calendar.Position{3, moved} {
		do(eventstore.Append{Checkpoint: &eventstore.Checkpoint{Size: size, Origin: "o", Note: []byte("o\n"), Time: time.Unix(int64(size), 0).UTC(), Keys: "k"}})
	}
	return store, receiptsOf(t, store)
}

func receiptsOf(t *testing.T, store eventstore.Store) (receipts []eventstore.Receipt) {
	t.Helper()
	for id := range calendar.ID(moved) {
		receipt, err := store.Receipt(t.Context(), 7, fmt.Sprintf("key-%d", id+1000))
		if err != nil || receipt == nil {
			t.Fatalf("receipt of %d: %v, %v", id+1000, receipt, err)
		}
		receipts = append(receipts, *receipt)
	}
	return receipts
}

// each returns receipts for a Copy, or an error.
func each(receipts []eventstore.Receipt, err error) func(context.Context) ([]*eventstore.Receipt, error) {
	return func(context.Context) (list []*eventstore.Receipt, _ error) {
		for i := range receipts {
			list = append(list, &receipts[i])
		}
		return list, err
	}
}

// TestRestore: a store is carried into PostgreSQL whole, and goes on there.
func TestRestore(t *testing.T) {
	t.Parallel()
	from, receipts := filled(t)
	c := &eventstore.Copy{From: from, Receipts: each(receipts, nil)}
	at, options := server(t), postgres.Options{Schema: schema(t)}
	if err := postgres.Restore(t.Context(), at, options, c); err != nil {
		t.Fatal(err)
	}
	to := open(t, at, options)
	of := func(store eventstore.Store) (h eventstore.Head, entries []eventstore.Entry, records []eventstore.Held) {
		t.Helper()
		h, err := store.Head(t.Context(), eventstore.Point{})
		if err == nil {
			entries, err = store.Read(t.Context(), eventstore.Range{After: moved, Limit: 10})
		}
		if err == nil {
			records, err = store.Records(t.Context(), 0, 0, 10)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.Epoch, h.Moved = eventstore.Epoch{}, nil
		return h, entries, records
	}
	want, wantEnd, wantRecords := of(from)
	got, end, records := of(to)
	if diff := cmp.Diff(want, got) + cmp.Diff(wantEnd, end, storetest.Alike) + cmp.Diff(wantRecords, records, storetest.Alike) + cmp.Diff(receipts, receiptsOf(t, to)); diff != "" {
		t.Errorf("the stores differ (-from +to):\n%s", diff[:min(len(diff), 4000)])
	}
	if signed, err := eventstore.CheckpointAt(t.Context(), to, 0); err != nil || signed.Size != moved || signed.Keys != "k" {
		t.Errorf("the newest checkpoint is %+v, %v", signed, err)
	}
	head := want.Position
	wantEntries(t, to, int(head)) // the marks of the heads are those of all entries
	if ids, err := eventstore.Former(t.Context(), to, calendar.KindTag, "renamed-0"); err != nil || !slices.Equal(ids, []calendar.ID{1}) {
		t.Errorf("the slug of before was that of %d, %v", ids, err)
	}
	if res := to.Append(t.Context(), tag(t, 2, 5, "back")); !errors.Is(res.Err, eventstore.ErrConflict) {
		t.Errorf("the erased record takes a change: %+v", res)
	}
	id, err := to.NewID(t.Context())
	if err != nil || id != 1000+moved {
		t.Errorf("the fresh id is %d, %v, want %d", id, err, 1000+moved)
	}
	if res := to.Append(t.Context(), tag(t, id, 1, "later")); res.Err != nil || res.Position != head+1 {
		t.Errorf("append: %+v, want position %d", res, head+1)
	}
	wantEntries(t, to, int(head)+1)
	if err := postgres.Restore(t.Context(), at, options, c); !errors.Is(err, eventstore.ErrNotEmpty) {
		t.Errorf("restored again: got %v, want ErrNotEmpty", err)
	}
}

// TestRestoreWhole: a copy that fails at its end leaves the store empty, and a part of a
// log can be carried after it.
func TestRestoreWhole(t *testing.T) {
	t.Parallel()
	from, receipts := filled(t)
	c := &eventstore.Copy{From: from, Until: eventstore.Point{Position: 600}, Receipts: each(receipts, errors.New("disk gone"))}
	at, options := server(t), postgres.Options{Schema: schema(t)}
	if err := postgres.Restore(t.Context(), at, options, c); err == nil || err.Error() != "disk gone" {
		t.Errorf("the copy that fails: %v", err)
	}
	store := open(t, at, options)
	if head, err := position(t.Context(), store); err != nil || head != 0 {
		t.Errorf("the head is %d, %v", head, err)
	}
	c.Receipts = each(nil, nil)
	if err := postgres.Restore(t.Context(), at, options, c); err != nil {
		t.Fatal(err)
	}
	wantEntries(t, store, 600)
}
