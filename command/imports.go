package command

import (
	"context"
	"errors"
	"fmt"

	"daybook/calendar"
)

// ErrImportKey says that a key of an import stands for a record already, or
// that a record has another key of the same source.
var ErrImportKey = errors.New("import key in use")

// ErrImportOrder says that a line of an import cannot be applied any more, because
// a later one of its source was applied to its record. The same change as a new
// line at the end of the source is applied.
var ErrImportOrder = errors.New("put the change at the end of the file, as a line of its own")

// mark puts the mark of an import line into a change of its record (nil before
// the first). A record has one key in a source.
func (w *writing) mark(before *calendar.Record, c *calendar.Change) error {
	m := w.r.Mark
	if m == nil {
		return nil
	}
	if before != nil {
		there, ok := before.ImportMark(m.Source)
		if ok && m.Key != "" && there.Key != "" && there.Key != m.Key {
			return fmt.Errorf("%s %d has the key %q: %w", before.Kind, before.ID, there.Key, ErrImportKey)
		}
		if there.Line > m.Line {
			return tooLate(there)
		}
	}
	c.Fields["imports"] = calendar.WithImportMark(before, *m)
	return nil
}

// Applied tells whether the line of a mark was applied to the record of an id
// already. It looks at nothing else of the line.
func (s *Service) Applied(ctx context.Context, k calendar.Kind, id calendar.ID, m calendar.ImportMark) (bool, error) {
	rec, err := s.marked(ctx, k, id)
	if err != nil || rec == nil || rec.Kind != k {
		return false, readable(err, k)
	}
	there, err := s.holds(ctx, rec, m)
	return there, readable(err, k)
}

// applied answers a line that the record has already.
func (w *writing) applied(ctx context.Context, rec *calendar.Record) (*Result, error) {
	if w.r.Mark == nil {
		return nil, nil // nothing to answer, go on
	}
	if there, err := w.s.holds(ctx, rec, *w.r.Mark); err != nil || !there {
		return nil, err
	}
	return &Result{Record: rec, Lang: w.lang, Repeated: true}, nil
}

// holds tells whether a record has the line of a mark. The record itself knows
// the last line only; whether it has an earlier one stands in its history, where
// the line of a source grows with the versions.
func (s *Service) holds(ctx context.Context, rec *calendar.Record, m calendar.ImportMark) (bool, error) {
	last, ok := rec.ImportMark(m.Source)
	if !ok || last.Line <= m.Line {
		return ok && last.Line == m.Line, nil
	}
	for low, high := int64(1), rec.Version; low < high; {
		v := (low + high) / 2
		then, err := s.version(ctx, rec.Kind, rec.ID, v)
		if err != nil {
			return false, err
		}
		switch at, _ := then.ImportMark(m.Source); {
		case at.Line == m.Line:
			return true, nil
		case at.Line > m.Line:
			high = v
		default:
			low = v + 1
		}
	}
	return false, nil
}

func tooLate(last calendar.ImportMark) error {
	return fmt.Errorf("line %d of this record was applied before this one: %w", last.Line, ErrImportOrder)
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
	rec, err := w.s.marked(ctx, w.r.Kind, holders[0])
	if err != nil || rec == nil {
		return nil, err
	}
	if rec.Kind == w.r.Kind {
		if again, err := w.applied(ctx, rec); again != nil || err != nil {
			return again, err
		}
		if last, _ := rec.ImportMark(m.Source); last.Line > m.Line {
			return nil, tooLate(last)
		}
	}
	return nil, fmt.Errorf("%s %d has the key %q: %w", rec.Kind, rec.ID, m.Key, ErrImportKey)
}

// marked gives a record by id, deleted ones too, nil for none.
func (s *Service) marked(ctx context.Context, k calendar.Kind, id calendar.ID) (*calendar.Record, error) {
	if id <= 0 {
		return nil, nil // no record is no error
	}
	states, err := s.store.Load(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("load %s %d: %w", k, id, err)
	}
	rec, err := s.records.decode(&states[0])
	if err != nil {
		return nil, err
	}
	return rec, nil
}
