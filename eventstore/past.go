package eventstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// Check refuses a Point that is none, or two: ErrMalformed.
func (p Point) Check() error {
	if (p.Position == 0) == p.Time.IsZero() {
		return fmt.Errorf("%w: a point is a position or a time", ErrMalformed)
	}
	return nil
}

// Counts reports whether an entry counts.
func (p Point) Counts(e *Entry) bool {
	if p.Position > 0 {
		return e.Position <= p.Position
	}
	return !e.Time.After(Moment(p.Time))
}

// MaxFormer bounds the records that Former returns.
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

// Slug returns the slug that the record takes by the draft, "" when it takes none.
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

// HasSlug reports whether a record has a slug after an entry of it; after one that is
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

// SlugAt returns the record of a kind that has a slug after the entries that count at a
// point, 0 when none has. Where times let two records have it, it is the one that took
// it at the greater position.
func SlugAt(ctx context.Context, s Store, k calendar.Kind, slug string, p Point) (calendar.ID, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	f, err := s.Find(ctx, Lookup{Slugs: []calendar.Claim{SlugClaim(k, slug)}})
	if err != nil {
		return 0, err
	}
	last := map[calendar.ID]Entry{}
	for _, t := range f.Taken[0] {
		e, seen := last[t.Record]
		if !seen {
			entries, err := s.At(ctx, p, t.Record)
			if err != nil {
				return 0, err
			}
			e = entries[0]
			last[t.Record] = e
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

// Former returns the records of a kind that had a slug, each once, the one that took it
// last first, at most MaxFormer; none while a record has it. They may be trashed,
// deleted, or have another slug now.
func Former(ctx context.Context, s Store, k calendar.Kind, slug string) ([]calendar.ID, error) {
	c := SlugClaim(k, slug)
	f, err := s.Find(ctx, Lookup{Claims: []calendar.Claim{c}, Slugs: []calendar.Claim{c}})
	if err != nil || f.Holders[0] != 0 {
		return nil, err
	}
	var out []calendar.ID
	for _, t := range f.Taken[0] {
		if len(out) < MaxFormer && !slices.Contains(out, t.Record) {
			out = append(out, t.Record)
		}
	}
	return out, nil
}
