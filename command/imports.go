package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"

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
func (d *decision) mark(before *calendar.Record, c *calendar.Change) error {
	m := d.r.Mark
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

func tooLate(last calendar.ImportMark) error {
	return fmt.Errorf("line %d of this record was applied before this one: %w", last.Line, ErrImportOrder)
}

// Applied reports whether the line of an import that a request brings was applied to the
// record of its target before. The error is ErrImportChanged when it had another content.
func (s *Service) Applied(ctx context.Context, r *Request) (bool, error) {
	rec, err := s.records.find(ctx, r.Target.ID)
	if rec == nil || err != nil {
		return false, readable(err, r.Kind)
	}
	applied, err := s.applied(ctx, r, rec)
	return applied, readable(err, r.Kind)
}

// applied is Applied to a record. The record itself knows its last line; the others stand in
// its history, where lines grow with the versions.
func (s *Service) applied(ctx context.Context, r *Request, rec *calendar.Record) (bool, error) {
	m := r.Mark
	if m == nil {
		return false, nil
	}
	if last, _ := rec.ImportMark(m.Source); rec.Erased || last.Line < m.Line {
		return rec.Erased, nil // nothing brings an erased record back
	}
	var line int64
	var request string
	var failed error
	sort.Search(int(rec.Version), func(before int) bool {
		e, then, err := s.records.version(ctx, rec.Kind, rec.ID, int64(before)+1)
		if err != nil {
			failed = err
			return true
		}
		at, _ := then.ImportMark(m.Source)
		if at.Line >= m.Line {
			line, request = at.Line, e.Cause.Request
		}
		return at.Line >= m.Line
	})
	if failed == nil && line == m.Line && request != r.Cause.Request {
		failed = fmt.Errorf("line %d was applied with another content: %w", m.Line, ErrImportChanged)
	}
	return failed == nil && line == m.Line, failed
}

// Imported returns the record that a key of an import names, or named before it was erased;
// 0 for none.
func (s *Service) Imported(ctx context.Context, source, key string) (calendar.ID, error) {
	if key == "" {
		return 0, nil
	}
	found, err := s.store.Find(ctx, eventstore.Lookup{Claims: []calendar.Claim{
		calendar.ImportClaim(source, key), calendar.HashedImportClaim(source, key),
	}})
	if err != nil {
		return 0, fmt.Errorf("find key %q of import: %w", key, err)
	}
	return cmp.Or(found.Holders...), nil
}

// imported answers a create of an import whose key names a record already; no Record: it
// names none.
func (d *decision) imported(ctx context.Context) (Result, error) {
	m := d.r.Mark
	if m == nil {
		return Result{}, nil
	}
	id, err := d.s.Imported(ctx, m.Source, m.Key)
	if err != nil {
		return Result{}, err
	}
	rec, err := d.s.records.find(ctx, id)
	if rec == nil || err != nil {
		return Result{}, err
	}
	if rec.Kind == d.r.Kind || rec.Erased {
		if repeated, err := d.s.applied(ctx, d.r, rec); repeated || err != nil {
			return Result{Record: rec, Repeated: repeated}, err
		}
		if last, _ := rec.ImportMark(m.Source); last.Line > m.Line {
			return Result{}, tooLate(last)
		}
	}
	return Result{}, fmt.Errorf("%s %d has the key %q: %w", rec.Kind, rec.ID, m.Key, ErrImportKey)
}

// SlugOf returns the claim of the slug that a new record of a kind asks for first, as
// far as its input says; without a key when that is not far enough.
func (s *Service) SlugOf(k calendar.Kind, in calendar.Input) calendar.Claim {
	text, sent := in["slug"].(string)
	if !sent {
		text, _ = in[k.NameField()].(string)
	}
	return eventstore.SlugClaim(k, calendar.MakeSlug(s.rules.Clean.Name(text), s.rules.Clean))
}
