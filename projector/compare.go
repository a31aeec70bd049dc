package projector

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/query/readmodel"
)

// ErrDiffers says that an index does not hold what the store holds.
var ErrDiffers = errors.New("read model differs from the event store")

// Compare compares an index that no one writes to with the store as it was at the position
// of the index, by count and digest, and returns the number of its records. Quarantined
// records are left out on both sides. The error is ErrDiffers with the numbers, or another one.
func Compare(ctx context.Context, store eventstore.Store, index readmodel.Index) (records int, err error) {
	marks, err := index.Marks(ctx)
	if err == nil { // Elasticsearch shows documents only some time after they were written
		err = index.Wait(ctx, marks.All.Position)
	}
	var left map[calendar.ID]bool
	if err == nil {
		left, err = quarantine(ctx, index)
	}
	var got, want digest
	if err == nil {
		got, err = digestOf(ctx, index, left)
	}
	if err == nil {
		want, err = digestAt(ctx, store, marks.All.Position, left)
	}
	if err != nil {
		return 0, fmt.Errorf("compare the read model with the event store: %w", err)
	}
	for _, count := range got.counts {
		records += count
	}
	return records, differ(marks.All.Position, want, got)
}

// digest sums up live documents.
type digest struct {
	counts [calendar.KindTag + 1]int // by kind
	digest [sha256.Size]byte         // XOR of the leaves of the documents
}

// add adds a document: the SHA-256 of "<kind> <id> <version> <body>".
func (digest *digest) add(kind calendar.Kind, id calendar.ID, version int64, body []byte) {
	digest.counts[kind]++
	leaf := sha256.Sum256(append(fmt.Appendf(make([]byte, 0, 64+len(body)), "%s %d %d ", kind, id, version), body...))
	subtle.XORBytes(digest.digest[:], digest.digest[:], leaf[:])
}

// digestOf sums up what an index holds.
func digestOf(ctx context.Context, index readmodel.Index, left map[calendar.ID]bool) (sum digest, err error) {
	err = readmodel.Read(ctx, index, func(view readmodel.View) error {
		sum = digest{}
		for _, kind := range calendar.Kinds {
			if err := view.Walk(ctx, readmodel.Query{Kind: kind}, func(documents []readmodel.Document) error {
				for _, document := range documents {
					if !left[document.Record.ID] {
						sum.add(kind, document.Record.ID, document.Record.Version, document.Body)
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return sum, err
}

// digestAt sums up the records of a store as they were at a position.
func digestAt(ctx context.Context, store eventstore.Store, position calendar.Position, left map[calendar.ID]bool) (sum digest, err error) {
	if position == 0 {
		return sum, nil
	}
	for page, err := range eventstore.Records(ctx, store, 0) {
		if err != nil {
			return sum, err
		}
		ids := make([]calendar.ID, len(page))
		for i := range page {
			ids[i] = page[i].ID
		}
		entries, err := store.At(ctx, eventstore.Point{Position: position}, ids...)
		if err != nil {
			return sum, err
		}
		for i := range entries {
			entry := &entries[i]
			// What came later, and what was erased meanwhile, is in no digest.
			if entry.Version == 0 || entry.Redacted != nil || left[entry.ID] || !hasDocument(entry.Kind) {
				continue
			}
			d, err := document(stateOf(entry))
			if err != nil {
				return sum, err
			}
			if !d.Record.Deleted {
				sum.add(entry.Kind, entry.ID, entry.Version, entry.State)
			}
		}
	}
	return sum, nil
}

// differ returns ErrDiffers with the kinds of which the counts differ.
func differ(position calendar.Position, store, index digest) error {
	if store == index {
		return nil
	}
	var text strings.Builder
	for _, kind := range calendar.Kinds {
		if store.counts[kind] != index.counts[kind] {
			fmt.Fprintf(&text, "; %s: %d in the store, %d in the read model", kind.Collection(), store.counts[kind], index.counts[kind])
		}
	}
	if text.Len() == 0 {
		text.WriteString("; the counts are equal, the contents are not")
	}
	return fmt.Errorf("%w at position %d%s", ErrDiffers, position, text.String())
}
