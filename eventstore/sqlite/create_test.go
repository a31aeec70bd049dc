package sqlite_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"daybook/eventstore"
	"daybook/eventstore/sqlite"
)

// TestCreateWhole: the copy of a whole store has its receipts and checkpoints, too, and
// what is there is not overwritten.
func TestCreateWhole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	from := open(t, t.TempDir(), sqlite.Options{})
	erasure := eraseLog(t, from)
	signed := eventstore.Checkpoint{Size: 3, Origin: "o", Note: []byte("note\n"), Time: time.UnixMilli(5).UTC(), Keys: "k"}
	for _, a := range []eventstore.Append{erasure, {Checkpoint: &signed}} {
		if res := from.Append(ctx, a); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	whole := &eventstore.Copy{From: from, Receipts: from.Receipts}
	dir := t.TempDir()
	if err := sqlite.Create(ctx, dir, whole); err != nil {
		t.Fatal(err)
	}
	to := open(t, dir, sqlite.Options{})
	of := func(store *sqlite.Store) (head eventstore.Head, entries []eventstore.Entry) {
		t.Helper()
		head, err := store.Head(ctx, eventstore.Point{})
		if err == nil {
			entries, err = store.Read(ctx, eventstore.Range{Limit: 100})
		}
		if err != nil {
			t.Fatal(err)
		}
		head.Epoch, head.Moved = eventstore.Epoch{}, nil
		return head, entries
	}
	want, entries := of(from)
	got, copied := of(to)
	if diff := cmp.Diff(want, got) + cmp.Diff(entries, copied, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the log (-want +got):\n%s", diff)
	}
	if err := damage(t, to); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"k", "l"} {
		want, err := from.Receipt(ctx, 7, key)
		if err != nil || want == nil {
			t.Fatalf("receipt %s: %+v, %v", key, want, err)
		}
		if got, err := to.Receipt(ctx, 7, key); err != nil || !cmp.Equal(want, got) {
			t.Errorf("receipt %s: got %+v, %v, want %+v", key, got, err, want)
		}
	}
	if got, err := eventstore.CheckpointAt(ctx, to, 0); err != nil || !cmp.Equal(got, signed) {
		t.Errorf("checkpoint: %+v, %v", got, err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Create(ctx, dir, whole); !errors.Is(err, eventstore.ErrNotEmpty) {
		t.Errorf("filled twice: %v", err)
	}
}
