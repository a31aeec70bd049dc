package eventstore

import (
	"fmt"
	"slices"

	"daybook/calendar"
)

// Held is a record as a store holds it. It is never changed in place.
type Held struct {
	State

	Claims []calendar.Claim
	Names  []calendar.Name
	Erased bool // no change follows
}

// ReceiptKey is what a receipt is found by.
type ReceiptKey struct {
	User calendar.ID
	Key  string
}

// Name gives what the receipt is found by.
func (r *Receipt) Name() ReceiptKey { return ReceiptKey{r.User, r.Key} }

// ReusedError is ErrKeyReused with the receipt that the key has.
type ReusedError struct{ Receipt *Receipt }

// Error names the key.
func (e *ReusedError) Error() string {
	return fmt.Sprintf("receipt %q: %v", e.Receipt.Key, ErrKeyReused)
}

// Unwrap returns ErrKeyReused.
func (e *ReusedError) Unwrap() error { return ErrKeyReused }

// Reused returns the ReusedError of a stored receipt.
func (r *Receipt) Reused() error { return &ReusedError{r} }

// Group decides the Appends of one commit, one after the other. The store says what
// holds of all that they touch, and writes what has changed afterwards.
type Group struct {
	Head  calendar.Position
	Epoch uint64

	// What holds, the accepted Appends included: the records that Drafts name (absent:
	// there is none), the holders of claims that they ask for (absent: free), by how
	// many records each name of a Guard is found, and receipts. The claims and names
	// of a record may be those only that are asked for.
	Records map[calendar.ID]*Held
	Holders map[calendar.Claim]calendar.ID
	Counts  map[calendar.Name]int
	// Receipts are those that were looked for, nil where there is none. Those of
	// Appends that nobody waits for need not be: they are Unseen then.
	Receipts map[ReceiptKey]*Receipt

	// What is to be written: the records that were changed as they were before the
	// group (nil: new), and receipts. An Unseen one, in order, replaces the Answer
	// where one of the same fingerprint is there.
	Before map[calendar.ID]*Held
	Kept   map[ReceiptKey]*Receipt
	Unseen []*Receipt
	Slugs  []SlugTaken // by position
}

// NewGroup makes a Group for a store with this head, in which nothing holds.
func NewGroup(head calendar.Position, epoch uint64) *Group {
	return &Group{
		Head: head, Epoch: epoch,
		Records:  map[calendar.ID]*Held{},
		Holders:  map[calendar.Claim]calendar.ID{},
		Counts:   map[calendar.Name]int{},
		Receipts: map[ReceiptKey]*Receipt{},
		Before:   map[calendar.ID]*Held{},
		Kept:     map[ReceiptKey]*Receipt{},
	}
}

// Decide takes an Append whose form was checked into the group or refuses it;
// accepted tells that its Drafts are entries now, the last at Result.Position.
func (g *Group) Decide(a *Append) (res Result, accepted bool) {
	if a.Receipt != nil {
		if res, done := g.decideReceipt(a); done {
			return res, false
		}
	}
	err := a.CheckEpoch(g.Epoch)
	var after map[calendar.ID]*Held
	if err == nil {
		after, err = g.versions(a)
	}
	if err == nil {
		err = g.guards(a)
	}
	if err == nil {
		err = g.claims(a, after)
	}
	if err != nil {
		return Result{Err: err}, false
	}
	g.accept(a, after)
	return Result{Position: g.Head}, true
}

// decideReceipt deals with the receipt of an Append; done tells that it decided
// alone.
func (g *Group) decideReceipt(a *Append) (res Result, done bool) {
	there, seen := g.Receipts[a.Receipt.Name()]
	switch {
	case a.Later && !seen:
		g.Unseen = append(g.Unseen, a.Receipt)
		return Result{}, true
	case there == nil:
		return Result{Position: g.Head}, a.LooksUp()
	case there.Fingerprint != a.Receipt.Fingerprint:
		return Result{Err: there.Reused()}, true
	case len(a.Drafts) == 0 && !a.LooksUp():
		r := *there
		r.Answer = a.Receipt.Answer
		g.keep(&r)
		return Result{Position: g.Head}, true
	default:
		return Result{Position: g.Head, Receipt: there}, true
	}
}

func (g *Group) keep(r *Receipt) { g.Receipts[r.Name()], g.Kept[r.Name()] = r, r }

// versions checks the expected versions and gives the records after the Append.
func (g *Group) versions(a *Append) (map[calendar.ID]*Held, error) {
	after := make(map[calendar.ID]*Held, len(a.Drafts))
	for i := range a.Drafts {
		d := &a.Drafts[i]
		before := after[d.ID]
		if before == nil {
			before = g.Records[d.ID]
		}
		h := &Held{
			State: State{
				Kind: d.Kind, ID: d.ID, Version: d.Expected + 1, Position: g.Head + calendar.Position(i) + 1,
				Record: d.State, Secret: d.Secret,
			},
			Claims: distinct(d.Claims),
			Names:  distinct(d.Names),
			Erased: d.Change == ErasedChange(d.Kind),
		}
		var version int64
		if before != nil {
			version = before.Version
			if h.Secret == nil {
				h.Secret = before.Secret
			}
		}
		if version != d.Expected || (before != nil && before.Kind != d.Kind) {
			return nil, fmt.Errorf("%s %d at version %d, not %d: %w", d.Kind, d.ID, version, d.Expected, ErrConflict)
		}
		if before != nil && before.Erased {
			return nil, fmt.Errorf("%s %d is erased: %w", d.Kind, d.ID, ErrConflict)
		}
		after[d.ID] = h
	}
	return after, nil
}

func (g *Group) guards(a *Append) error {
	for _, guard := range a.Guards {
		if n := g.Counts[guard.Name]; n != guard.Count {
			return fmt.Errorf("name %s/%s is found %d times, not %d: %w",
				guard.Name.Space, guard.Name.Key, n, guard.Count, ErrConflict)
		}
	}
	return nil
}

// claims checks that no claim would have two holders.
func (g *Group) claims(a *Append, after map[calendar.ID]*Held) error {
	var taken map[calendar.Claim]calendar.ID // made for several records only
	if len(after) > 1 {
		taken = map[calendar.Claim]calendar.ID{}
	}
	for i := range a.Drafts {
		id := a.Drafts[i].ID
		for _, c := range after[id].Claims {
			holder := g.Holders[c]
			if after[holder] != nil {
				holder = 0 // that record releases it, or is checked with it
			}
			if other := taken[c]; other != 0 {
				holder = other
			}
			if holder != 0 && holder != id {
				return &ClaimError{Claim: c, Holder: holder}
			}
			if taken != nil {
				taken[c] = id
			}
		}
	}
	return nil
}

func (g *Group) accept(a *Append, after map[calendar.ID]*Held) {
	for i := range a.Drafts {
		g.Head++
		if slug := a.Drafts[i].Slug(); slug != "" {
			g.Slugs = append(g.Slugs, SlugTaken{a.Drafts[i].Kind, slug, g.Head, a.Drafts[i].ID})
		}
	}
	for id := range after { // all releases first
		before := g.Records[id]
		if _, changed := g.Before[id]; !changed {
			g.Before[id] = before
		}
		if before != nil {
			for _, c := range before.Claims {
				delete(g.Holders, c)
			}
			g.count(before.Names, -1)
		}
	}
	for id, h := range after {
		for _, c := range h.Claims {
			g.Holders[c] = id
		}
		g.count(h.Names, 1)
		g.Records[id] = h
	}
	if a.Receipt == nil {
		return
	}
	r := *a.Receipt
	r.Time = Moment(r.Time)
	if len(a.Drafts) > 0 {
		r.Position = g.Head
	}
	g.keep(&r)
}

func (g *Group) count(names []calendar.Name, by int) {
	for _, n := range names {
		if _, asked := g.Counts[n]; asked {
			g.Counts[n] += by
		}
	}
}

// distinct gives each element once, in order.
func distinct[T comparable](in []T) []T {
	for i := range in {
		if slices.Contains(in[:i], in[i]) {
			out := slices.Clone(in[:i])
			for _, v := range in[i:] {
				if !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
			return out
		}
	}
	return in
}
