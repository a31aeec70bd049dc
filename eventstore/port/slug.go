package port

import (
	"context"
	"slices"

	"daybook/calendar"
)

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
