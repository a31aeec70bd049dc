package eventstore_test

import (
	"testing"

	"daybook/eventstore"
)

// TestKept: values are kept by key within one epoch, and forgotten when there are
// too many.
func TestKept(t *testing.T) {
	t.Parallel()
	k := eventstore.Kept[int, string]{Half: 2}
	want := func(epoch uint64, key int, value string) {
		t.Helper()
		if got, ok := k.Get(epoch, key); got != value || ok != (value != "") {
			t.Errorf("in epoch %d %d is %q, %t, want %q", epoch, key, got, ok, value)
		}
	}
	want(1, 1, "")
	k.Put(1, 1, "a", 1)
	k.Put(1, 2, "b", 1)
	k.Put(1, 2, "B", 1)
	want(1, 1, "a")
	want(1, 2, "B")
	k.Put(1, 3, "c", 1) // 1 and 2 are old
	want(1, 2, "B")     // young again
	k.Put(1, 4, "d", 1) // 1 is forgotten
	want(1, 1, "")
	want(1, 2, "B")
	want(1, 3, "c")
	k.Drop(3)
	want(1, 3, "")

	want(2, 2, "") // another history
	k.Put(1, 5, "late", 1)
	want(2, 5, "")
	want(1, 5, "")
	want(1, 2, "")
	k.Put(2, 5, "e", 1)
	want(2, 5, "e")
	k.Put(3, 6, "f", 1)
	want(2, 5, "")
	want(3, 5, "")
	want(3, 6, "f")

	k = eventstore.Kept[int, string]{Half: 4} // sizes count, not numbers
	k.Put(3, 1, "a", 3)
	k.Put(3, 1, "A", 2)
	k.Put(3, 2, "b", 2) // both fit
	k.Put(3, 3, "c", 4) // 1 and 2 are old
	k.Put(3, 4, "d", 1) // 3 is old
	want(3, 1, "")
	want(3, 2, "")
	want(3, 3, "c")
	k.Drop(3)
	k.Put(3, 5, "e", 3)
	want(3, 4, "d")
	want(3, 5, "e")
}
