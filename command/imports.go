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

// ImportError is why a line of an import is refused.
type ImportError string

// Error says what is wrong with the line.
func (importError ImportError) Error() string { return string(importError) }

const (
	// ErrImportKey says that a key of an import stands for a record already, or
	// that a record has another key of the same source.
	ErrImportKey ImportError = "import key in use"
	// ErrImportOrder says that a line of an import cannot be applied any more, because
	// a later one of its source was applied to its record. The same change as a new
	// line at the end of the source is applied.
	ErrImportOrder ImportError = "put the change at the end of the file, as a line of its own"
	// ErrImportChanged says that a line of an import was applied with another
	// content: it was changed after that, or stands in another file.
	ErrImportChanged ImportError = "put changes at the end of the file; another file needs another --source"
)

// errApplied says that the line of an import was applied before.
var errApplied = errors.New("line was applied before")

// Applied sets the target of a line of an import that has no id by its key, and reports
// whether the line was applied to it before. The error is ErrImportChanged when it had
// another content.
func (service *Service) Applied(ctx context.Context, request *Request) (bool, error) {
	var err error
	if request.Target.ID == 0 {
		if request.Target.ID, err = service.Imported(ctx, request.Mark.Source, request.Mark.Key); err != nil {
			return false, err
		}
	}
	record, err := service.records.find(ctx, request.Target.ID)
	if record != nil {
		err = service.begin(request).checkApplied(ctx, record)
	}
	if errors.Is(err, errApplied) {
		return true, nil
	}
	return false, readable(err, request.Kind)
}

// checkApplied returns errApplied when the line of the request was applied to a record. A
// record that has another key in its source, or a later line from it, has the line refused
// later on. The record itself knows its last line; the others are in its history, where lines
// grow with the versions.
func (decision *decision) checkApplied(ctx context.Context, record *calendar.Record) error {
	importMark := decision.request.Mark
	if importMark == nil {
		return nil
	}
	last := record.ImportMark(importMark.Source)
	switch {
	case record.Erased: // nothing brings it back
		return errApplied
	case importMark.Key != "" && last.Key != "" && last.Key != importMark.Key:
		decision.refused = fmt.Errorf("%s %d has the key %q: %w", record.Kind, record.ID, last.Key, ErrImportKey)
		return nil
	case last.Line < importMark.Line:
		return nil
	}
	var line int64
	var request string
	var failed error
	sort.Search(int(record.Version), func(before int) bool {
		entry, then, err := decision.service.records.version(ctx, record.Kind, record.ID, int64(before)+1)
		if err != nil {
			failed = err
			return true
		}
		mark := then.ImportMark(importMark.Source)
		if mark.Line >= importMark.Line {
			line, request = mark.Line, entry.Cause.Request
		}
		return mark.Line >= importMark.Line
	})
	switch {
	case failed != nil:
		return failed
	case line != importMark.Line:
		decision.refused = fmt.Errorf("line %d of this record was applied before this one: %w", last.Line, ErrImportOrder)
		return nil
	case request != decision.request.Cause.Request:
		return fmt.Errorf("line %d was applied with another content: %w", importMark.Line, ErrImportChanged)
	}
	return errApplied
}

// Imported returns the record that a key of an import names, or named before it was erased;
// 0 for none.
func (service *Service) Imported(ctx context.Context, source, key string) (calendar.ID, error) {
	if key == "" {
		return 0, nil
	}
	claim := calendar.ImportClaim(source, key)
	found, err := service.store.Find(ctx, eventstore.Lookup{Claims: []calendar.Claim{
		claim, claim.Hashed(),
	}})
	if err != nil {
		return 0, fmt.Errorf("find key %q of import: %w", key, err)
	}
	return cmp.Or(found.Holders...), nil
}

// checkImported refuses a create of an import whose key names a record already.
func (decision *decision) checkImported(ctx context.Context) error {
	importMark := decision.request.Mark
	if importMark == nil {
		return nil
	}
	id, err := decision.service.Imported(ctx, importMark.Source, importMark.Key)
	if err != nil {
		return err
	}
	record, err := decision.service.records.find(ctx, id)
	if record == nil || err != nil {
		return err
	}
	err = decision.checkApplied(ctx, record)
	return cmp.Or(err, decision.refused, fmt.Errorf("%s %d has the key %q: %w", record.Kind, record.ID, importMark.Key, ErrImportKey))
}

// SlugOf returns the claim of the slug that a new record of a kind asks for first, as
// far as its input says; without a key when that is not far enough.
func (service *Service) SlugOf(kind calendar.Kind, input calendar.Input) calendar.Claim {
	text, sent := input["slug"].(string)
	if !sent {
		text, _ = input[kind.NameField()].(string)
	}
	return eventstore.SlugClaim(kind, calendar.MakeSlug(service.rules.Clean.Name(text), service.rules.Clean))
}
