package memindex

import "testing"

// Unsaved is unsaved for tests.
func (x *Index) Unsaved() (changed, documents int) { return x.unsaved() }

// TestSnapshotDue: snapshots of a calendar that grows from nothing are, all together, a
// few times as large as it is in the end, and a single change writes none of a large one.
func TestSnapshotDue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		changed, documents int
		want               bool
	}{
		{0, 0, false},
		{0, 100, false},
		{1, 4, true},
		{1, 5, false},
		{1, 1_000_000, false},
		{250_000, 1_000_000, true},
		{10, 0, true}, // all were deleted
	} {
		if got := snapshotDue(tt.changed, tt.documents); got != tt.want {
			t.Errorf("%d of %d changed: %t, want %t", tt.changed, tt.documents, got, tt.want)
		}
	}
	written, saved := 0, 0
	const n = 1_000_000
	for documents := range n {
		if snapshotDue(documents-saved, documents) {
			written += documents
			saved = documents
		}
	}
	if written > 5*n {
		t.Errorf("%d documents written for %d changes", written, n)
	}
}
