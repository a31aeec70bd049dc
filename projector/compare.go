package projector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// ErrDiffers says that an index does not hold what the store holds.
var ErrDiffers = errors.New("read model differs from the event store")

// compareTries is how often an index that moves meanwhile is looked at again.
const compareTries = 10

// Compare compares an index with the store as it was at the position of the index, by
// count and digest. Quarantined records are left out on both sides. Projector and writers
// may run meanwhile. It returns nil, ErrDiffers with the numbers, or an error that the
// index moved too often to be compared.
func Compare(ctx context.Context, store eventstore.Store, index readmodel.Index) error {
	for range compareTries {
		before, err := look(ctx, index)
		if err != nil {
			return err
		}
		want, err := digestAt(ctx, store, before.position, before.left)
		if err != nil {
			return err
		}
		difference := differ(before.position, want, before.digest)
		if difference == nil {
			return nil
		}
		// The index may have been looked at amid a write: documents come before the
		// position.
		if err := settle(ctx, index, before.position+1); err != nil {
			return err
		}
		after, err := look(ctx, index)
		if err != nil {
			return err
		}
		if after.position == before.position && differ(after.position, before.digest, after.digest) == nil {
			return difference
		}
	}
	return fmt.Errorf("compare: index moved during each of %d looks", compareTries)
}

// settleWait is how long a write may take from its documents to its position.
const settleWait = time.Second

// settle waits for an index to reach a position, but not for long.
func settle(ctx context.Context, index readmodel.Index, p calendar.Position) error {
	within, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	if err := index.Wait(within, p); err != nil && within.Err() == nil {
		return fmt.Errorf("compare: wait for %d: %w", p, err)
	}
	return ctx.Err()
}

// view is what an index holds, less quarantined records.
type view struct {
	position calendar.Position
	digest   readmodel.Digest
	left     map[calendar.ID]bool // quarantined records
}

func look(ctx context.Context, index readmodel.Index) (view, error) {
	v := view{left: map[calendar.ID]bool{}}
	marks, err := index.Marks(ctx)
	if err != nil {
		return v, fmt.Errorf("compare: position of the index: %w", err)
	}
	v.position = marks.All.Position
	// Elasticsearch shows documents only some time after they were written.
	if err := index.Wait(ctx, v.position); err != nil {
		return v, fmt.Errorf("compare: wait for %d: %w", v.position, err)
	}
	if v.digest, err = index.Digest(ctx); err != nil {
		return v, fmt.Errorf("compare: digest of the index: %w", err)
	}
	quarantined, err := index.Quarantined(ctx)
	if err != nil {
		return v, fmt.Errorf("compare: quarantine: %w", err)
	}
	if len(quarantined) == 0 {
		return v, nil
	}
	ids := make([]calendar.ID, len(quarantined))
	for i := range quarantined {
		ids[i] = quarantined[i].ID
		v.left[ids[i]] = true
	}
	held, err := readmodel.Get(ctx, index, ids)
	if err != nil {
		return v, fmt.Errorf("compare: quarantined records: %w", err)
	}
	v.digest.Counts = maps.Clone(v.digest.Counts)
	for id, d := range held {
		add(&v.digest, -1, d.Record.Kind, id, d.Record.Version, d.Body)
	}
	return v, nil
}

// digestAt sums up the records of a store as they were at a position.
func digestAt(ctx context.Context, store eventstore.Store, at calendar.Position, left map[calendar.ID]bool) (readmodel.Digest, error) {
	sum := readmodel.Digest{Counts: map[calendar.Kind]int{}}
	for after := calendar.ID(0); ; {
		page, err := store.Records(ctx, 0, after, rebuildPage)
		if err != nil {
			return sum, fmt.Errorf("compare: read records after %d: %w", after, err)
		}
		if len(page) == 0 {
			return sum, nil
		}
		after = page[len(page)-1].ID
		var states []eventstore.State
		var changed []calendar.ID // since then
		for i := range page {
			switch s := page[i].State; {
			case !hasDocument(s.Kind) || left[s.ID]:
			case s.Position > at:
				changed = append(changed, s.ID)
			default:
				states = append(states, s)
			}
		}
		if len(changed) > 0 && at > 0 {
			entries, err := store.At(ctx, eventstore.Point{Position: at}, changed...)
			if err != nil {
				return sum, fmt.Errorf("compare: %w", err)
			}
			for i := range entries {
				// What was erased meanwhile is in no digest: then the index is looked at again.
				if e := &entries[i]; e.Version > 0 && e.Redacted == nil {
					states = append(states, stateOf(e))
				}
			}
		}
		for i := range states {
			s := &states[i]
			r, err := calendar.DecodeRecord(s.Record)
			if err != nil {
				return sum, fmt.Errorf("compare: state of %s %d: %w", s.Kind, s.ID, err)
			}
			if !r.Deleted {
				add(&sum, 1, s.Kind, s.ID, s.Version, s.Record)
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
