package command

import (
	"context"
	"fmt"

	"daybook/calendar"
)

// mark puts the mark of an import line into a change of its record (nil before
// the first). A record has one key in a source.
func (w *writing) mark(before *calendar.Record, c *calendar.Change) error {
	m := w.r.Mark
	if m == nil {
		return nil
	}
	if before != nil && m.Key != "" {
		if there, ok := before.ImportMark(m.Source); ok && there.Key != "" && there.Key != m.Key {
			return fmt.Errorf("%s %d has the key %q: %w", before.Kind, before.ID, there.Key, ErrImportKey)
		}
	}
	c.Fields["imports"] = calendar.WithImportMark(before, *m)
	return nil
}

// applied answers a line that the record has already, or a later one.
func (w *writing) applied(rec *calendar.Record) *Result {
	if w.r.Mark == nil {
		return nil
	}
	m, ok := rec.ImportMark(w.r.Mark.Source)
	if !ok || m.Line < w.r.Mark.Line {
		return nil
	}
	return &Result{Record: rec, Lang: w.lang, Repeated: true}
}

// imported answers a create of an import whose key names a record already.
func (w *writing) imported(ctx context.Context) (*Result, error) {
	m := w.r.Mark
	if m == nil || m.Key == "" {
		return nil, nil // nothing to answer, go on
	}
	holders, _, err := w.s.store.Find(ctx, []calendar.Claim{calendar.ImportClaim(m.Source, m.Key)}, nil)
	if err != nil {
		return nil, fmt.Errorf("find key of import: %w", err)
	}
	rec, err := w.marked(ctx, holders[0])
	if err != nil || rec == nil {
		return nil, err
	}
	if again := w.applied(rec); again != nil && rec.Kind == w.r.Kind {
		return again, nil
	}
	return nil, fmt.Errorf("%s %d has the key %q: %w", rec.Kind, rec.ID, m.Key, ErrImportKey)
}

// marked gives a record by id, deleted ones too, nil for none.
func (w *writing) marked(ctx context.Context, id calendar.ID) (*calendar.Record, error) {
	if id <= 0 {
		return nil, nil // no record is no error
	}
	states, err := w.s.store.Load(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("load %s %d: %w", w.r.Kind, id, err)
	}
	rec, err := w.s.records.decode(&states[0])
	if err != nil {
		return nil, err
	}
	return rec, nil
}
