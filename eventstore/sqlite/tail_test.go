package sqlite

import (
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// TestTail holds the tail against a list of all entries.
func TestTail(t *testing.T) {
	t.Parallel()
	var (
		tl   tail
		all  []eventstore.Entry
		read int
	)
	for p := calendar.Position(1); p < 5000; p++ {
		e := eventstore.Entry{Position: p, State: make([]byte, int(p*7919)%20000)}
		all = append(all, e)
		tl.put([]written{{entry: &e}}, [32]byte{byte(p), byte(p >> 8)})
		for _, after := range []calendar.Position{p, p - 1, p - min(p, 3), p - min(p, 200), p - min(p, 2000), 0, p + 5} {
			got, ok := tl.read(after, p, 100)
			if !ok {
				continue
			}
			read++
			want := all[min(int(after), len(all)):]
			want = want[:min(len(want), 100)]
			if len(got) != len(want) {
				t.Fatalf("after %d of %d: got %d entries, want %d", after, p, len(got), len(want))
			}
			for i := range got {
				if got[i].Position != want[i].Position {
					t.Fatalf("after %d of %d: got position %d, want %d", after, p, got[i].Position, want[i].Position)
				}
				at := got[i].Position
				if c := tl.commitsOf(got[0].Position, at); len(c) != i+1 || c[i] != (eventstore.Commit{First: at, Last: at, Hash: [32]byte{byte(at), byte(at >> 8)}}) {
					t.Fatalf("entry %d of %d: commits %v", at, p, c)
				}
			}
		}
		if tl.bytes > tailBytes || len(tl.entries) > tailEntries || len(tl.commits) != len(tl.entries) {
			t.Fatalf("the tail holds %d entries of %d bytes and %d commits", len(tl.entries), tl.bytes, len(tl.commits))
		}
	}
	if got, ok := tl.read(4990, 4995, 100); !ok || len(got) != 5 {
		t.Errorf("got %d entries up to the head, want 5", len(got))
	}
	for _, p := range []calendar.Position{0, 1, 5000} {
		if c := tl.commitsOf(p, p); c != nil {
			t.Errorf("got commits %v of %d, which is not there", c, p)
		}
	}
	if read < 10000 {
		t.Errorf("only %d reads came from the tail", read)
	}
	tl.forget()
	if _, ok := tl.read(4999, 4999, 1); ok {
		t.Error("a forgotten tail answers")
	}
}
