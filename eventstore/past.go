package eventstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"daybook/calendar"
)

// Point says which entries count: those up to a Position, or those whose time is not
// after Time, to the millisecond. One of the two is set.
type Point struct {
	Position calendar.Position
	Time     time.Time
}

// Check refuses a Point that says nothing, or two things: ErrMalformed.
func (p Point) Check() error {
	if (p.Position == 0) == p.Time.IsZero() {
		return fmt.Errorf("%w: a point is a position or a time", ErrMalformed)
	}
	return nil
}

// Counts tells whether an entry counts.
func (p Point) Counts(e *Entry) bool {
	if p.Position > 0 {
		return e.Position <= p.Position
	}
	return !e.Time.After(Moment(p.Time))
}

// Counted tells of the entries that count at a Point.
type Counted struct {
	Position calendar.Position // the greatest one, 0 when none counts
	Time     time.Time         // the greatest one; imports keep theirs, so it need not be that of Position
}

// Past is what a Store tells of points in its past. Entries that were redacted since
// then are given as they are now.
type Past interface {
	// At gives for each id the entry with the greatest version among those that
	// count, in the order of ids; Version 0 where none counts. A Position above the
	// head counts every entry. Errors: ErrMalformed.
	At(ctx context.Context, p Point, ids ...calendar.ID) ([]Entry, error)

	// Counted tells of the entries that count, the zero Counted when none does. A
	// Position above the head is ErrAhead.
	Counted(ctx context.Context, p Point) (Counted, error)

	// SlugAt gives the record of a kind that has a slug after the entries that
	// count, 0 when none has. Where times let two records have it, it is the one
	// that took it at the greater position. An erased record never had a slug.
	SlugAt(ctx context.Context, kind calendar.Kind, slug string, p Point) (calendar.ID, error)

	// Former returns the records of a kind that had a slug, each once, the one that took it
	// last first, at most MaxFormer; none while a record has it. They may be trashed,
	// deleted, or have another slug now. An erased record never had a slug.
	Former(ctx context.Context, kind calendar.Kind, slug string) ([]calendar.ID, error)
}

// MaxFormer bounds the records that Past.Former returns.
const MaxFormer = 16

// SlugTaken is a row of the past slugs: with the entry at Position a record took a
// slug.
type SlugTaken struct {
	Kind     calendar.Kind
	Slug     string
	Position calendar.Position
	Record   calendar.ID
}

// slugSpace begins the space of the claims on slugs; the kind ends it.
const slugSpace = "slug/"

var slugKey = []byte(`"slug":`)

// Slug gives the slug that the record takes by the draft, "" when it takes none.
func (d *Draft) Slug() string {
	if !bytes.Contains(d.Fields, slugKey) {
		return ""
	}
	for _, c := range d.Claims {
		if kind, ok := strings.CutPrefix(c.Space, slugSpace); ok && kind == d.Kind.String() {
			return c.Key
		}
	}
	return ""
}

// Slug is the Slug of the draft that became an entry, for a store that is filled with the
// log of another one. The error is ErrDamaged.
func (e *Entry) Slug() (string, error) {
	if !bytes.Contains(e.Fields, slugKey) || !hasSlug(e.Kind) {
		return "", nil
	}
	var fields struct {
		Slug string `json:"slug"`
	}
	if err := json.Unmarshal(e.Fields, &fields); err != nil {
		return "", fmt.Errorf("entry %d: %w: fields: %w", e.Position, ErrDamaged, err)
	}
	return fields.Slug, nil
}

// SlugClaim is the claim of the record of a kind that has a slug.
func SlugClaim(k calendar.Kind, slug string) calendar.Claim {
	return calendar.Claim{Space: slugSpace + k.String(), Key: slug}
}

func hasSlug(k calendar.Kind) bool { return k != calendar.KindImage && k != calendar.KindUser }

// HasSlug tells whether a record has a slug after an entry of it; after one that is
// redacted it has none. The error is ErrDamaged.
func (e *Entry) HasSlug(slug string) (bool, error) {
	if e.Version == 0 || e.Redacted != nil {
		return false, nil
	}
	r, err := calendar.DecodeRecord(e.State)
	if err != nil {
		return false, fmt.Errorf("entry %d: %w: state: %w", e.Position, ErrDamaged, err)
	}
	return !r.Deleted && r.Slug() == slug, nil
}

// SlugAmong does Past.SlugAt for a store that knows who took the slug when, the last
// one first: it is the first of them that has it still at the point.
func SlugAmong(ctx context.Context, s Past, took []SlugTaken, slug string, p Point) (calendar.ID, error) {
	seen := map[calendar.ID]*Entry{}
	for _, t := range took {
		e := seen[t.Record]
		if e == nil {
			entries, err := s.At(ctx, p, t.Record)
			if err != nil {
				return 0, err
			}
			e = &entries[0]
			seen[t.Record] = e
		}
		if e.Position < t.Position { // it was taken later
			continue
		}
		switch has, err := e.HasSlug(slug); {
		case err != nil:
			return 0, err
		case has:
			return t.Record, nil
		}
	}
	return 0, nil
}
