package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/sqlite"
)

// writerFile, when set, makes the test binary a writer to that file, which is
// killed by the test that started it.
const writerFile = "DAYBOOK_TEST_WRITER_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		if err := writeForEver(context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// twoRecords makes an Append of two new records with one slug, and a receipt.
func twoRecords(first calendar.ID) (eventstore.Append, error) {
	now := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	a := eventstore.Append{Time: now, Actor: 7, Cause: eventstore.Cause{Client: "writer", Request: first.String()}}
	for i, kind := range []calendar.Kind{calendar.KindTag, calendar.KindVenue} {
		change := calendar.Change{
			Name: kind.String() + ".created", Kind: kind, ID: first + calendar.ID(i), Home: calendar.LangEN,
			Fields: calendar.Fields{kind.NameField(): calendar.Text{calendar.LangEN: "Record " + first.String()}, "slug": "slug-" + first.String()},
			Secret: []byte("secret of " + first.String()),
		}
		draft, _, err := eventstore.NewDraft(nil, change, now)
		if err != nil {
			return a, err
		}
		a.Drafts = append(a.Drafts, draft)
	}
	a.Receipt = &eventstore.Receipt{ReceiptKey: eventstore.ReceiptKey{User: 7, Key: first.String()}, Record: first, Version: 1}
	return a, nil
}

// writeForEver writes with 16 callers and says on standard output what was
// acknowledged.
func writeForEver(ctx context.Context, path string) error {
	store, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	var out sync.Mutex
	failed := make(chan error)
	for range 16 {
		go func() {
			for {
				id, err := store.NewID(ctx)
				if err != nil {
					failed <- err
					return
				}
				first := 2*id - 1 // and the one behind it
				a, err := twoRecords(first)
				if err != nil {
					failed <- err
					return
				}
				res := store.Append(ctx, a)
				if res.Err != nil {
					failed <- res.Err
					return
				}
				out.Lock()
				fmt.Printf("%d %d\n", first, res.Position) // one write for the line
				out.Unlock()
			}
		}()
	}
	return <-failed
}

// TestKilled: a process that is killed while it writes loses nothing that it
// acknowledged, and leaves nothing half.
func TestKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	path := filepath.Join(t.TempDir(), "events.db")
	acknowledged := map[calendar.ID]calendar.Position{}
	for range 4 {
		killWriter(t, path, 1+rand.IntN(300), acknowledged)
		checkKilled(t, path, acknowledged)
	}
	if len(acknowledged) < 4 {
		t.Errorf("only %d appends were acknowledged", len(acknowledged))
	}
}

// killWriter starts a writer and kills it after some acknowledgements.
func killWriter(t *testing.T, path string, after int, acknowledged map[calendar.ID]calendar.Position) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), writerFile+"="+path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(pipe)
	for n := 0; ; n++ {
		if n == after {
			if err := cmd.Process.Kill(); err != nil { // SIGKILL
				t.Fatal(err)
			}
		}
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) { // a line that was cut is none
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		var id calendar.ID
		var position calendar.Position
		if _, err := fmt.Sscanf(line, "%d %d\n", &id, &position); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		acknowledged[id] = position
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the writer ended by itself")
	}
}

func checkKilled(t *testing.T, path string, acknowledged map[calendar.ID]calendar.Position) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := damage(t, store); err != nil {
		t.Fatal(err)
	}
	head, err := store.Head(t.Context(), eventstore.Point{})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := store.Read(t.Context(), eventstore.Range{Limit: int(head.Position)})
	if err != nil || len(entries)%2 != 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	found := map[calendar.ID]calendar.Position{}
	for i := 0; i+1 < len(entries); i += 2 {
		first, second := &entries[i], &entries[i+1]
		if second.ID != first.ID+1 || first.Kind != calendar.KindTag || second.Kind != calendar.KindVenue {
			t.Fatalf("entries %d and %d are not of one append", first.Position, second.Position)
		}
		found[first.ID] = second.Position
		if receipt, err := store.Receipt(t.Context(), 7, first.ID.String()); err != nil || receipt == nil || receipt.Position != second.Position {
			t.Fatalf("receipt of %d: %+v, %v", first.ID, receipt, err)
		}
	}
	for id, position := range acknowledged {
		if found[id] != position {
			t.Errorf("append of %d was acknowledged at %d, found at %d", id, position, found[id])
		}
	}
}
