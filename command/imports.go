package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"daybook/calendar"
	"daybook/eventstore"
)

// ErrImportKey says that a key of an import stands for a record already, or
// that a record has another key of the same source.
var ErrImportKey = errors.New("import key in use")

// ErrImportOrder says that a line of an import cannot be applied any more, because
// a later one of its source was applied to its record. The same change as a new
// line at the end of the source is applied.
var ErrImportOrder = errors.New("put the change at the end of the file, as a line of its own")

// ErrImportChanged says that a line of an import was applied with another
// content: it was changed after that, or stands in another file.
var ErrImportChanged = errors.New("put changes at the end of the file; another file needs another --source")

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

// ErrErased says that the record of a line of an import was erased: nothing brings it
// back.
var ErrErased = errors.New("record was erased")

// AppliedLine is a line of an import that made a version of a record. Request is
// that of the Cause it was applied with.
type AppliedLine struct {
	Line    int64
	Request string
}

// Same tells whether a request with the cause brings the line again and not
// another content under its number: then the error is ErrImportChanged.
func (l AppliedLine) Same(cause eventstore.Cause) error {
	if cause.Request != l.Request {
		return fmt.Errorf("line %d was applied with another content: %w", l.Line, ErrImportChanged)
	}
	return nil
}

// AppliedLines gives the lines of a source that were applied to a record, in order.
// The record itself knows the last one only; the others stand in its history. Of one
// that was erased nothing is known: ErrErased.
func (s *Service) AppliedLines(ctx context.Context, k calendar.Kind, id calendar.ID, source string) ([]AppliedLine, error) {
	const page = 100
	var lines []AppliedLine
	last := int64(0)
	for after := int64(0); ; {
		entries, err := s.store.History(ctx, id, after, page)
		if err != nil {
			return nil, readable(fmt.Errorf("history of %s %d: %w", k, id, err), k)
		}
		for i := range entries {
			e := &entries[i]
			after = e.Version
			if e.Change == eventstore.ErasedChange(e.Kind) {
				return nil, fmt.Errorf("%s %d: %w", k, id, ErrErased)
			}
			if e.Redacted != nil {
				continue
			}
			then, err := calendar.DecodeRecord(e.State)
			if err != nil {
				return nil, fmt.Errorf("version %d of %s %d: %w", e.Version, k, id, err)
			}
			if m, _ := then.ImportMark(source); m.Line > last {
				last = m.Line
				lines = append(lines, AppliedLine{m.Line, e.Cause.Request})
			}
		}
		if len(entries) == 0 {
			return lines, nil
		}
	}
}

// applied answers a line that the record has already.
func (w *writing) applied(ctx context.Context, rec *calendar.Record) (*Result, error) {
	m := w.r.Mark
	if m == nil {
		return nil, nil // nothing to answer, go on
	}
	if rec.Erased {
		return &Result{Record: rec, Lang: w.lang, Repeated: true}, nil
	}
	if last, ok := rec.ImportMark(m.Source); !ok || last.Line < m.Line {
		return nil, nil // nothing to answer, go on
	}
	lines, err := w.s.AppliedLines(ctx, rec.Kind, rec.ID, m.Source)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if l.Line == m.Line {
			return &Result{Record: rec, Lang: w.lang, Repeated: true}, l.Same(w.r.Cause)
		}
	}
	return nil, nil // nothing to answer, go on
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
	claims := []calendar.Claim{calendar.ImportClaim(m.Source, m.Key), calendar.HashedImportClaim(m.Source, m.Key)}
	holders, _, err := w.s.store.Find(ctx, claims, nil)
	if err != nil {
		return nil, fmt.Errorf("find key of import: %w", err)
	}
	rec, err := w.s.marked(ctx, w.r.Kind, cmp.Or(holders...))
	if err != nil || rec == nil {
		return nil, err
	}
	if rec.Kind == w.r.Kind || rec.Erased {
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
	found, err := s.records.loadAll(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("load %s %d: %w", k, id, err)
	}
	return found[0], nil
}

// SlugOf gives the claim of the slug that a new record of a kind asks for first, as
// far as its input tells; without a key when that is not far enough.
func (s *Service) SlugOf(k calendar.Kind, in calendar.Input) calendar.Claim {
	text, sent := in["slug"].(string)
	if !sent {
		text, _ = in[k.NameField()].(string)
	}
	return eventstore.SlugClaim(k, calendar.MakeSlug(s.rules.Clean.Name(text), s.rules.Clean))
}
