package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/cache"
)

// Records reads single records from the store. It implements query.Records.
type Records struct {
	store   eventstore.Store
	decoded *cache.ByEpoch[eventstore.Epoch, calendar.ID, *decodedRecord]
}

// decodedRecord is the newest version of a record that was decoded.
type decodedRecord struct {
	*calendar.Record

	state json.RawMessage
}

// A record is seldom wanted again but soon. It takes its JSON, and recordCost for its
// fields.
const (
	cacheBytes = 4 << 20
	recordCost = 3 << 10
)

// Forget drops what is cached of records that were erased since.
func (records *Records) Forget() { records.decoded.In(records.store.Epoch()) }

// Load returns records in the order of ids; nil for unknown and deleted ones.
func (records *Records) Load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	result, err := records.load(ctx, ids...)
	for i := range result {
		if result[i] != nil && result[i].Deleted {
			result[i] = nil
		}
	}
	return result, err
}

// load is Load that returns deleted records too. What is cached counts where it is what the
// store has: versions of two histories say nothing of each other.
func (records *Records) load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	decoded := records.decoded.In(records.store.Epoch())
	states, err := records.store.Load(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("load records: %w", err)
	}
	result := make([]*calendar.Record, len(states))
	for i := range states {
		state := &states[i]
		if state.Version == 0 {
			continue
		}
		cached, ok := decoded.Get(state.ID)
		if !ok || !bytes.Equal(cached.state, state.Record) { // mostly one memory
			record, err := calendar.DecodeRecord(state.Record)
			if err != nil {
				return nil, fmt.Errorf("decode %s %d at version %d: %w", state.Kind, state.ID, state.Version, err)
			}
			cached = &decodedRecord{record, state.Record}
			decoded.Set(state.ID, cached)
		}
		result[i] = cached.Record
	}
	return result, nil
}

// version returns the entry of a version, and the record as it was after it; CodeErased for
// one that was erased since then.
func (records *Records) version(ctx context.Context, kind calendar.Kind, id calendar.ID, version int64) (*eventstore.Entry, *calendar.Record, error) {
	entries, err := records.store.Read(ctx, eventstore.Range{Record: id, After: uint64(version - 1), Limit: 1})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read version %d of %s %d: %w", version, kind, id, err)
	case len(entries) == 0:
		return nil, nil, fmt.Errorf("%s %d has no version %d: %w", kind, id, version, eventstore.ErrDamaged)
	case entries[0].Redacted != nil:
		return nil, nil, calendar.Fail(calendar.CodeErased, kind)
	}
	record, err := calendar.DecodeRecord(entries[0].State)
	if err != nil {
		return nil, nil, fmt.Errorf("decode %s %d at version %d: %w", kind, id, version, err)
	}
	return &entries[0], record, nil
}

// find returns a record of any kind, also a deleted one, nil for none.
func (records *Records) find(ctx context.Context, id calendar.ID) (*calendar.Record, error) {
	if id <= 0 {
		return nil, nil // no record is no error
	}
	found, err := records.load(ctx, id)
	return append(found, nil)[0], err // none with an error
}

// one returns a live record of a kind, nil if none exists.
func (records *Records) one(ctx context.Context, kind calendar.Kind, id calendar.ID) (*calendar.Record, error) {
	record, err := records.find(ctx, id)
	if record == nil || record.Kind != kind || record.Deleted {
		return nil, err
	}
	return record, nil
}

// Absent is the error of a record of a kind that Load does not return: CodeErased for one
// that was erased, else CodeNotFound, or that of the store.
func (records *Records) Absent(ctx context.Context, kind calendar.Kind, id calendar.ID) error {
	record, err := records.find(ctx, id)
	switch {
	case err != nil:
		return err
	case record != nil && record.Kind == kind && record.Erased:
		return calendar.Fail(calendar.CodeErased, kind)
	}
	return calendar.Fail(calendar.CodeNotFound, kind)
}

// BySlug returns the record of a kind that holds the slug, any case; nil when none
// does. The slug of a trashed post ends in "__trashed".
func (records *Records) BySlug(ctx context.Context, kind calendar.Kind, slug string) (*calendar.Record, error) {
	slug = strings.ToLower(slug)
	found, err := records.store.Find(ctx, eventstore.Lookup{Claims: []calendar.Claim{eventstore.SlugClaim(kind, slug)}})
	if err != nil {
		return nil, fmt.Errorf("find %s by slug: %w", kind, err)
	}
	record, err := records.one(ctx, kind, found.Holders[0])
	if record == nil || record.Slug() != slug { // it gave the slug away meanwhile
		return nil, err
	}
	return record, nil
}

// Named returns the records of a kind that a path may name: the one of an id, else the one
// that has the slug, else those that had it, the last one first. They may be trashed or
// deleted, or have another slug now, but not erased.
func (records *Records) Named(ctx context.Context, kind calendar.Kind, id calendar.ID, slug string) ([]*calendar.Record, error) {
	ids := []calendar.ID{id}
	if id == 0 {
		holder, err := records.BySlug(ctx, kind, slug)
		if holder != nil || err != nil {
			return []*calendar.Record{holder}, err
		}
		if ids, err = eventstore.Former(ctx, records.store, kind, strings.ToLower(slug)); err != nil {
			return nil, fmt.Errorf("find former %s of a slug: %w", kind, err)
		}
	}
	found, err := records.load(ctx, ids...)
	return slices.DeleteFunc(found, func(record *calendar.Record) bool { return record == nil || record.Kind != kind || record.Erased }), err
}

// ByName returns the live records of a kind whose shown name in the language equals name,
// case aside, by id.
func (records *Records) ByName(ctx context.Context, kind calendar.Kind, language calendar.Lang, name string) ([]*calendar.Record, error) {
	found, _, err := records.byName(ctx, language, nameOf(kind, name))
	return found, err
}

// byName returns the live records that show a name in a language, and all that have it in
// some language.
func (records *Records) byName(ctx context.Context, language calendar.Lang, name calendar.Name) (shown []*calendar.Record, named []calendar.ID, err error) {
	found, err := records.store.Find(ctx, eventstore.Lookup{Names: []calendar.Name{name}})
	if err != nil {
		return nil, nil, fmt.Errorf("find %q in %s: %w", name.Key, name.Space, err)
	}
	named = found.Named[0]
	loaded, err := records.Load(ctx, named...)
	return slices.DeleteFunc(loaded, func(record *calendar.Record) bool {
		if record == nil {
			return true
		}
		text, _ := record.Name(language)
		return nameOf(record.Kind, text) != name
	}), named, err
}

// Head returns the position of the last entry.
func (records *Records) Head(ctx context.Context) (calendar.Position, error) {
	head, err := records.HeadAt(ctx, 0)
	return head.Position, err
}

// HeadAt returns where the log stood at a position, 0 for its end.
func (records *Records) HeadAt(ctx context.Context, position calendar.Position) (eventstore.Head, error) {
	return records.store.Head(ctx, eventstore.Point{Position: position})
}
