package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	store, err := Open(t.Context(), filepath.Join(t.TempDir(), "events.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// plain makes an Append of one new record of noise, which cannot be packed; the store
// does not look inside.
func plain(id calendar.ID, payload int) eventstore.Append {
	noise := make([]byte, (payload+1)/2)
	_, _ = rand.NewChaCha8([32]byte{byte(id), byte(id >> 8)}).Read(noise) // never fails
	return eventstore.Append{
		Time: time.UnixMilli(1),
		Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
			Kind:    calendar.KindTag,
			ID:      id,
			Version: 1,
			Change:  "tag.created",
			Fields:  []byte(`{}`),
			State:   fmt.Appendf(nil, `"%x"`, noise),
		}, Claims: []calendar.Claim{{Space: "slug/tag", Key: id.String()}}}},
	}
}

// TestFullDisk: a store that cannot write says so, loses nothing that it
// acknowledged, and goes on when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	limit := func(pages int) {
		t.Helper()
		// The committer is idle: no one appends.
		if err := store.writer.exec(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	if res := store.Append(t.Context(), plain(1, 10)); res.Err != nil {
		t.Fatal(res.Err)
	}
	limit(1) // what the file has now
	full := store.Together(t.Context(), []eventstore.Append{plain(2, 100_000), plain(3, 100_000)})
	for i, res := range full {
		if !errors.Is(res.Err, eventstore.ErrUnavailable) {
			t.Errorf("append %d on a full disk: %v, want ErrUnavailable", i, res.Err)
		}
	}
	limit(1 << 20)
	if res := store.Append(t.Context(), plain(2, 100_000)); res.Err != nil || res.Position != 2 {
		t.Errorf("append when there is room again: %+v", res)
	}
}

// TestCommitWithoutAnswer: what was committed although the engine reported an error is
// known to later reads and appends.
func TestCommitWithoutAnswer(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	update := func(expected int64) eventstore.Result {
		a := plain(1, 10)
		a.Drafts[0].Version = expected + 1
		return store.Append(t.Context(), a)
	}
	if res := update(0); res.Err != nil {
		t.Fatal(res.Err)
	}
	late, err := store.writer.on.PrepareContext(t.Context(), "COMMIT; SELECT no_such_function()")
	if err != nil {
		t.Fatal(err)
	}
	commit := store.writer.byText["COMMIT"]
	store.writer.byText["COMMIT"] = late
	if res := update(1); res.Err == nil {
		t.Errorf("the commit was answered: %+v", res)
	}
	store.writer.byText["COMMIT"] = commit
	if err := late.Close(); err != nil { //nolint:sqlclosecheck // before the writer goes on
		t.Fatal(err)
	}
	if states, err := store.Load(t.Context(), 1); err != nil || states[0].Version != 2 {
		t.Errorf("state: %+v, %v", states, err)
	}
	if res := update(2); res.Err != nil || res.Position != 3 {
		t.Errorf("the next append: %+v", res)
	}
}
