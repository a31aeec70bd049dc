package projector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// ErrDiffers says that an index does not hold what the store holds.
var ErrDiffers = errors.New("read model differs from the event store")

// Compare compares an index that nobody writes to with the store as it was at the position
// of the index, by count and digest. Quarantined records are left out on both sides. It
// returns nil, or ErrDiffers with the numbers.
func Compare(ctx context.Context, store eventstore.Store, index readmodel.Index) error {
	marks, err := index.Marks(ctx)
	if err == nil { // Elasticsearch shows documents only some time after they were written
		err = index.Wait(ctx, marks.All.Position)
	}
	if err != nil {
		return fmt.Errorf("compare: position of the index: %w", err)
	}
	got, left, err := digestOf(ctx, index)
	if err != nil {
		return fmt.Errorf("compare: digest of the index: %w", err)
	}
	want, err := digestAt(ctx, store, marks.All.Position, left)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	return differ(marks.All.Position, want, got)
}

// digestOf sums up what an index holds, less quarantined records, which it returns.
func digestOf(ctx context.Context, index readmodel.Index) (readmodel.Digest, map[calendar.ID]bool, error) {
	sum, err := index.Digest(ctx)
	if err != nil {
		return sum, nil, err
	}
	quarantined, err := index.Quarantined(ctx)
	if err != nil || len(quarantined) == 0 {
		return sum, nil, err
	}
	ids := make([]calendar.ID, len(quarantined))
	left := map[calendar.ID]bool{}
	for i := range quarantined {
		ids[i] = quarantined[i].ID
		left[ids[i]] = true
	}
	held, err := readmodel.Get(ctx, index, ids)
	if err != nil {
		return sum, nil, err
	}
	sum.Counts = maps.Clone(sum.Counts)
	for id, d := range held {
		add(&sum, -1, d.Record.Kind, id, d.Record.Version, d.Body)
	}
	return sum, left, nil
}

// digestAt sums up the records of a store as they were at a position.
func digestAt(ctx context.Context, store eventstore.Store, at calendar.Position, left map[calendar.ID]bool) (readmodel.Digest, error) {
	sum := readmodel.Digest{Counts: map[calendar.Kind]int{}}
	for after := calendar.ID(0); ; {
		page, err := store.Records(ctx, 0, after, rebuildPage)
		if err != nil {
			return sum, fmt.Errorf("read records after %d: %w", after, err)
		}
		if len(page) == 0 {
			return sum, nil
		}
		after = page[len(page)-1].ID
		var ids []calendar.ID
		for i := range page {
			if s := &page[i]; hasDocument(s.Kind) && !left[s.ID] {
				ids = append(ids, s.ID)
			}
		}
		if at == 0 {
			continue
		}
		entries, err := store.At(ctx, eventstore.Point{Position: at}, ids...)
		if err != nil {
			return sum, err
		}
		for i := range entries {
			e := &entries[i]
			if e.Version == 0 || e.Redacted != nil { // it came later, or what was erased meanwhile is in no digest
				continue
			}
			r, err := calendar.DecodeRecord(e.State)
			if err != nil {
				return sum, fmt.Errorf("state of %s %d: %w", e.Kind, e.ID, err)
			}
			if !r.Deleted {
				add(&sum, 1, e.Kind, e.ID, e.Version, e.State)
			}
		}
	}
}

// add takes a live document into a digest, or out of it with n = -1; see
// readmodel.Digest.
func add(d *readmodel.Digest, n int, k calendar.Kind, id calendar.ID, version int64, body []byte) {
	if d.Counts[k] += n; d.Counts[k] == 0 {
		delete(d.Counts, k)
	}
	leaf := readmodel.Leaf(k, id, version, body)
	for i := range leaf {
		d.Sum[i] ^= leaf[i]
	}
}

// differ returns ErrDiffers with the kinds of which the counts differ.
func differ(at calendar.Position, store, index readmodel.Digest) error {
	var text strings.Builder
	for _, k := range calendar.Kinds {
		if store.Counts[k] != index.Counts[k] {
			fmt.Fprintf(&text, "; %s: %d in the store, %d in the read model", k.Collection(), store.Counts[k], index.Counts[k])
		}
	}
	switch {
	case text.Len() > 0:
	case store.Sum == index.Sum:
		return nil
	default:
		text.WriteString("; the counts are equal, the contents are not")
	}
	return fmt.Errorf("%w at position %d%s", ErrDiffers, at, text.String())
}
