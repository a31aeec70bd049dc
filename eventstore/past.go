package eventstore

import (
	"context"
	"slices"
	"time"

	"daybook/calendar"
)

// Point says which entries count: those up to a Position, or those whose time is not
// after Time, to the millisecond. One of the two is set.
type Point struct {
	Position calendar.Position
	Time     time.Time
}

// Counts reports whether an entry counts.
func (point Point) Counts(entry *Entry) bool {
	if point.Position > 0 {
		return entry.Position <= point.Position
	}
	return !entry.Time.After(Moment(point.Time))
}

// MaxFormer bounds the records that Former returns.
const MaxFormer = 16

// slugSpace begins the space of the claims on slugs; the kind ends it.
const slugSpace = "slug/"

// SlugClaim is the claim of the record of a kind that has a slug.
func SlugClaim(kind calendar.Kind, slug string) calendar.Claim {
	return calendar.Claim{Space: slugSpace + kind.String(), Key: slug}
}

// SlugAt returns the record of a kind that has a slug after the entries that count at a
// point, 0 when none has. Where times let two records have it, it is the one that took
// it at the greater position.
func SlugAt(ctx context.Context, store Store, kind calendar.Kind, slug string, point Point) (calendar.ID, error) {
	found, err := store.Find(ctx, Lookup{Slugs: []calendar.Claim{SlugClaim(kind, slug)}})
	if err != nil {
		return 0, err
	}
	for _, taken := range found.Taken {
		entries, err := store.At(ctx, point, taken.Record)
		if err != nil {
			return 0, err
		}
		entry := &entries[0]
		if entry.Position < taken.Position || entry.Redacted != nil { // it was taken later, or never
			continue
		}
		claims, _, err := Holds(&State{Record: entry.State})
		if err != nil {
			return 0, entry.Damaged("state: %v", err)
		}
		if slices.Contains(claims, taken.Claim) {
			return taken.Record, nil
		}
	}
	return 0, nil
}

// Former returns the records of a kind that have or had a slug, each once, the one that took
// it last first, at most MaxFormer. They may be trashed, deleted, or have another slug now.
func Former(ctx context.Context, store Store, kind calendar.Kind, slug string) ([]calendar.ID, error) {
	found, err := store.Find(ctx, Lookup{Slugs: []calendar.Claim{SlugClaim(kind, slug)}})
	if err != nil {
		return nil, err
	}
	var result []calendar.ID
	for _, taken := range found.Taken {
		if len(result) < MaxFormer && !slices.Contains(result, taken.Record) {
			result = append(result, taken.Record)
		}
	}
	return result, nil
}
