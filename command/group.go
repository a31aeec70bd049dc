package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// group collects the changes that one write makes all at once.
type group struct {
	drafts []eventstore.Draft
	guards []eventstore.Guard
	at     time.Time
	slugs  map[calendar.Claim]calendar.ID // claimed by the drafts
}

// add folds a change into a record (nil before the first) and keeps the draft.
func (g *group) add(before *calendar.Record, c calendar.Change) (*calendar.Record, error) {
	d, after, err := eventstore.NewDraft(before, c, g.at)
	if err != nil {
		return nil, err
	}
	after.Sum = calendar.SumOf([]byte(d.State))
	g.drafts = append(g.drafts, d)
	if g.slugs == nil {
		g.slugs = map[calendar.Claim]calendar.ID{}
	}
	for _, claim := range d.Claims {
		if strings.HasPrefix(claim.Space, "slug/") {
			g.slugs[claim] = c.ID
		}
	}
	return after, nil
}

// guard holds the write to the number of records that a name was found for.
func (g *group) guard(n calendar.Name, count int) {
	for _, there := range g.guards {
		if there.Name == n {
			return
		}
	}
	g.guards = append(g.guards, eventstore.Guard{Name: n, Count: count})
}

// decide runs one decision about the record id of a kind. What the decision asks
// of the store is answered here, and its errors come before those of the
// decision, which would rest on wrong answers.
func (w *writing) decide(ctx context.Context, g *group, k calendar.Kind, id calendar.ID,
	decision func(*calendar.Decision) (calendar.Change, error),
) (calendar.Change, error) {
	var failed error
	w.above = map[calendar.ID]*calendar.Record{}
	d := &calendar.Decision{
		Rules: w.s.rules, Now: w.now, Caller: w.r.Caller, Password: w.password,
		Taken: func(slug string) bool {
			claim := eventstore.SlugClaim(k, slug)
			if holder, ok := g.slugs[claim]; ok && holder != id {
				return true
			}
			holders, _, err := w.s.store.Find(ctx, []calendar.Claim{claim}, nil)
			if err != nil {
				failed = fmt.Errorf("find slug of %s %d: %w", k, id, err)
				return false
			}
			return holders[0] != 0 && holders[0] != id
		},
		Parent: func(parent calendar.ID) *calendar.Record {
			rec, err := w.s.records.one(ctx, calendar.KindCategory, parent)
			if err != nil {
				failed = err
			}
			if rec != nil {
				w.above[parent] = rec
			}
			return rec
		},
	}
	c, err := decision(d)
	if failed != nil {
		return calendar.Change{}, failed
	}
	return c, err
}

// guardPlaces holds the group to the places of the categories that a decision
// about the tree looked at, so that two moves at once make no cycle and nothing
// is put below a category that ends meanwhile.
func (w *writing) guardPlaces(g *group, parent calendar.ID) error {
	if parent != 0 && w.above[parent] == nil {
		return fmt.Errorf("parent %d is gone: %w", parent, eventstore.ErrConflict)
	}
	for _, rec := range w.above {
		g.guard(calendar.PlaceName(rec), 1)
	}
	return nil
}

// append writes the group. A receipt of the same key that is there already comes
// back as earlier; nothing was written then.
func (w *writing) append(ctx context.Context, g *group, about *calendar.Record) (p calendar.Position, earlier *eventstore.Receipt, err error) {
	a := eventstore.Append{Drafts: g.drafts, Guards: g.guards, Time: g.at, Actor: w.r.Caller.ID, Cause: w.r.Cause, Epoch: w.epoch}
	if w.r.Key != "" {
		a.Receipt = w.receipt()
		a.Receipt.Record, a.Receipt.Version = about.ID, about.Version
	}
	res := w.s.store.Append(ctx, []eventstore.Append{a})[0]
	if res.Err != nil {
		return 0, nil, fmt.Errorf("append changes of %s %d: %w", about.Kind, about.ID, res.Err)
	}
	return res.Position, res.Receipt, nil
}
