package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/htmltext"
)

// Records reads single records from the store; it keeps decoded records by
// version. It implements query.Records.
type Records struct {
	store   eventstore.Store
	decoded eventstore.Kept[calendar.ID, *calendar.Record] // the newest version that was decoded
	last    atomic.Pointer[lastChange]                     // that was asked for
}

// newRecords makes a Records.
func newRecords(store eventstore.Store) *Records {
	return &Records{store: store, decoded: eventstore.Kept[calendar.ID, *calendar.Record]{Half: keptBytes / 2}}
}

// keptBytes is about how much memory the kept records take: the same one is seldom
// wanted again but soon. One takes its JSON, and keptCost for its fields.
const (
	keptBytes = 8 << 20
	keptCost  = 3 << 10
)

// Load gives records in the order of ids; nil for unknown and deleted ones.
func (r *Records) Load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := r.loadAll(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("load records: %w", err)
	}
	for i := range out {
		if out[i] != nil && out[i].Deleted {
			out[i] = nil
		}
	}
	return out, nil
}

// loadAll is Load that gives deleted records too.
func (r *Records) loadAll(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	for {
		epoch := r.store.Epoch()
		states, err := r.store.Load(ctx, ids...)
		if err != nil {
			return nil, err
		}
		if r.store.Epoch() != epoch {
			continue // versions of two histories say nothing of each other
		}
		out := make([]*calendar.Record, len(states))
		for i := range states {
			if out[i], err = r.decode(epoch, &states[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// StoreID gives the UUID of the store.
func (r *Records) StoreID(ctx context.Context) ([16]byte, error) { return r.store.UUID(ctx) }

// LastChange gives the latest time of an entry up to a position, the zero time for 0.
func (r *Records) LastChange(ctx context.Context, p calendar.Position) (time.Time, error) {
	if p == 0 {
		return time.Time{}, nil
	}
	epoch := r.store.Epoch()
	if known := r.last.Load(); known != nil && known.position == p && known.epoch == epoch {
		return known.time, nil
	}
	counted, err := r.store.Counted(ctx, eventstore.Point{Position: p})
	if err != nil {
		return time.Time{}, fmt.Errorf("last change up to %d: %w", p, err)
	}
	r.last.Store(&lastChange{epoch, p, counted.Time})
	return counted.Time, nil
}

// lastChange is the latest time of an entry up to a position.
type lastChange struct {
	epoch    uint64
	position calendar.Position
	time     time.Time
}

// one gives one record of a kind, nil when there is none.
func (r *Records) one(ctx context.Context, k calendar.Kind, id calendar.ID) (*calendar.Record, error) {
	if id <= 0 {
		return nil, nil // no record is no error
	}
	found, err := r.Load(ctx, id)
	if err != nil || found[0] == nil || found[0].Kind != k {
		return nil, err
	}
	return found[0], nil
}

// Absent is the error of a record of a kind that Load does not give: CodeErased for one
// that was erased, else CodeNotFound, or that of the store.
func (r *Records) Absent(ctx context.Context, k calendar.Kind, id calendar.ID) error {
	if id > 0 {
		found, err := r.loadAll(ctx, id)
		if err != nil {
			return fmt.Errorf("load %s %d: %w", k, id, err)
		}
		if found[0] != nil && found[0].Kind == k && found[0].Erased {
			return calendar.Fail(calendar.CodeErased, k)
		}
	}
	return calendar.Fail(calendar.CodeNotFound, k)
}

// decode decodes a state that was read in an epoch.
func (r *Records) decode(epoch uint64, s *eventstore.State) (*calendar.Record, error) {
	if s.Version == 0 {
		return nil, nil // no record is no error
	}
	there, ok := r.decoded.Get(epoch, s.ID)
	if ok && there.Version == s.Version {
		return there, nil
	}
	rec, err := calendar.DecodeRecord(s.Record)
	if err != nil {
		return nil, fmt.Errorf("decode %s %d at version %d: %w", s.Kind, s.ID, s.Version, err)
	}
	if !ok || there.Version < rec.Version {
		r.decoded.Put(epoch, rec.ID, rec, keptCost+len(s.Record))
	}
	return rec, nil
}

// BySlug gives the record of a kind that holds the slug, any case; nil when none
// does. The slug of a trashed post ends in "__trashed".
func (r *Records) BySlug(ctx context.Context, k calendar.Kind, slug string) (*calendar.Record, error) {
	slug = strings.ToLower(slug)
	if slug == "" || !routed(k) {
		return nil, nil // no record is no error
	}
	claim := []calendar.Claim{eventstore.SlugClaim(k, slug)}
	// A record that gives its slug away between the two look-ups makes a second
	// round: another record may hold it by now.
	for range 3 {
		holders, _, err := r.store.Find(ctx, claim, nil)
		if err != nil {
			return nil, fmt.Errorf("find %s by slug: %w", k, err)
		}
		rec, err := r.one(ctx, k, holders[0])
		if err != nil || holders[0] == 0 {
			return nil, err
		}
		if rec != nil && rec.Slug() == slug {
			return rec, nil
		}
	}
	return nil, nil // no record is no error
}

// Named returns the records of a kind that a path may name: the one of an id, else the one
// that has the slug, else those that had it, the last one first. They may be trashed or
// deleted, or have another slug now, but not erased.
func (r *Records) Named(ctx context.Context, k calendar.Kind, id calendar.ID, slug string) ([]*calendar.Record, error) {
	ids := []calendar.ID{id}
	if id == 0 {
		slug = strings.ToLower(slug)
		holder, err := r.BySlug(ctx, k, slug)
		if err != nil || slug == "" {
			return nil, err
		}
		if holder != nil {
			return []*calendar.Record{holder}, nil
		}
		if ids, err = r.store.Former(ctx, k, slug); err != nil {
			return nil, fmt.Errorf("find former %s of a slug: %w", k, err)
		}
	}
	if id < 0 || len(ids) == 0 {
		return nil, nil // no record is no error
	}
	found, err := r.loadAll(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("load %s %d: %w", k, ids, err)
	}
	return slices.DeleteFunc(found, func(rec *calendar.Record) bool { return rec == nil || rec.Kind != k || rec.Erased }), nil
}

// ByName gives the live records of a kind whose shown name in the language
// equals name, case aside, by id.
func (r *Records) ByName(ctx context.Context, k calendar.Kind, l calendar.Lang, name string) ([]*calendar.Record, error) {
	key := htmltext.NameKey(name)
	if key == "" || !routed(k) {
		return nil, nil
	}
	_, found, err := r.store.Find(ctx, nil, spellings(nameOf(k, key)))
	if err != nil {
		return nil, fmt.Errorf("find %s by name: %w", k, err)
	}
	loaded, err := r.Load(ctx, ascending(found...)...)
	if err != nil {
		return nil, err
	}
	out := make([]*calendar.Record, 0, len(loaded))
	for _, rec := range loaded {
		if rec != nil && rec.Kind == k && showsName(rec, l, key) {
			out = append(out, rec)
		}
	}
	return out, nil
}

// Head gives the position of the last entry.
func (r *Records) Head(ctx context.Context) (calendar.Position, error) {
	return r.store.Head(ctx)
}

// routed tells whether records of the kind are found by slug and name; images
// and users are not.
func routed(k calendar.Kind) bool { return k.IsPost() || k.IsTerm() }
