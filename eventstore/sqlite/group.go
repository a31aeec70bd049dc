package sqlite

import (
	"fmt"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// group is one commit in the making. It holds what the file says about
// everything that its items touch, decides the items one after the other on
// that, and collects what is to be written.
type group struct {
	head calendar.Position

	// What holds now, the accepted items included.
	states   map[calendar.ID]*held          // absent: no such record
	holders  map[calendar.Claim]calendar.ID // absent: free
	counts   map[calendar.Name]int          // of names that guards ask for
	receipts map[receiptKey]*eventstore.Receipt
	asked    map[receiptKey]bool // of which receipts holds what there is

	// What is to be written.
	entries     []written
	changed     map[calendar.ID]*held
	newClaims   map[calendar.Claim]calendar.ID // 0: released
	newNames    map[nameOf]bool                // false: taken away
	newReceipts map[receiptKey]*eventstore.Receipt
	later       []*eventstore.Receipt // that nobody waits for, in order: what is there was not read
}

// written is an entry with what is stored beside it.
type written struct {
	entry *eventstore.Entry
	leaf  *[32]byte
	body  []byte // packed
}

type receiptKey struct {
	user calendar.ID
	key  string
}

type nameOf struct {
	name calendar.Name
	id   calendar.ID
}

func newGroup(head calendar.Position) *group {
	return &group{
		head:        head,
		states:      map[calendar.ID]*held{},
		holders:     map[calendar.Claim]calendar.ID{},
		counts:      map[calendar.Name]int{},
		receipts:    map[receiptKey]*eventstore.Receipt{},
		asked:       map[receiptKey]bool{},
		changed:     map[calendar.ID]*held{},
		newClaims:   map[calendar.Claim]calendar.ID{},
		newNames:    map[nameOf]bool{},
		newReceipts: map[receiptKey]*eventstore.Receipt{},
	}
}

// empty tells whether there is nothing to write.
func (g *group) empty() bool {
	return len(g.entries) == 0 && len(g.newReceipts) == 0 && len(g.later) == 0
}

// decide takes an item into the group or refuses it.
func (g *group) decide(it *item) eventstore.Result {
	if it.a.Receipt != nil {
		if res, done := g.decideReceipt(&it.a); done {
			return res
		}
	}
	after, err := g.versions(it)
	if err == nil {
		err = g.guards(&it.a)
	}
	if err == nil {
		err = g.claims(&it.a, after)
	}
	if err != nil {
		return eventstore.Result{Err: err}
	}
	g.accept(it, after)
	return eventstore.Result{Position: g.head}
}

// decideReceipt deals with the receipt of an Append; done tells that it decided
// alone.
func (g *group) decideReceipt(a *eventstore.Append) (res eventstore.Result, done bool) {
	key := receiptKey{a.Receipt.User, a.Receipt.Key}
	there := g.receipts[key]
	switch {
	case a.Later && !g.asked[key]:
		g.later = append(g.later, a.Receipt)
		return eventstore.Result{}, true
	case there == nil:
		return eventstore.Result{Position: g.head}, a.LooksUp()
	case there.Fingerprint != a.Receipt.Fingerprint:
		return eventstore.Result{Err: keyReused(key.key)}, true
	case len(a.Drafts) == 0 && !a.LooksUp():
		r := *there
		r.Answer = a.Receipt.Answer
		g.receipts[key], g.newReceipts[key] = &r, &r
		return eventstore.Result{Position: g.head}, true
	default:
		return eventstore.Result{Position: g.head, Receipt: there}, true
	}
}

func keyReused(key string) error {
	return fmt.Errorf("receipt %q: %w", key, eventstore.ErrKeyReused)
}

// versions checks the expected versions and gives the records after the item.
func (g *group) versions(it *item) (map[calendar.ID]*held, error) {
	after := make(map[calendar.ID]*held, len(it.entries))
	for i := range it.entries {
		e, d := &it.entries[i], &it.a.Drafts[i]
		before := after[e.ID]
		if before == nil {
			before = g.states[e.ID]
		}
		var version int64
		if before != nil {
			version = before.Version
		}
		if version != d.Expected || (before != nil && before.Kind != d.Kind) {
			return nil, fmt.Errorf("%s %d at version %d, not %d: %w", d.Kind, d.ID, version, d.Expected, eventstore.ErrConflict)
		}
		h := &held{
			State: eventstore.State{
				Kind: e.Kind, ID: e.ID, Version: e.Version,
				Position: g.head + calendar.Position(i) + 1,
				Record:   e.State, Secret: e.Secret,
			},
			claims: distinct(d.Claims),
			names:  distinct(d.Names),
		}
		if e.Secret == nil && before != nil {
			h.Secret = before.Secret
		}
		if len(h.Secret) == 0 {
			h.Secret = nil
		}
		after[e.ID] = h
	}
	return after, nil
}

func (g *group) guards(a *eventstore.Append) error {
	for _, guard := range a.Guards {
		if n := g.counts[guard.Name]; n != guard.Count {
			return fmt.Errorf("name %s/%s is found %d times, not %d: %w",
				guard.Name.Space, guard.Name.Key, n, guard.Count, eventstore.ErrConflict)
		}
	}
	return nil
}

// claims checks that no claim would have two holders.
func (g *group) claims(a *eventstore.Append, after map[calendar.ID]*held) error {
	var taken map[calendar.Claim]calendar.ID // made for several records only
	if len(after) > 1 {
		taken = map[calendar.Claim]calendar.ID{}
	}
	for i := range a.Drafts {
		id := a.Drafts[i].ID
		for _, c := range after[id].claims {
			holder := g.holders[c]
			if after[holder] != nil {
				holder = 0 // that record releases it, or is checked with it
			}
			if other := taken[c]; other != 0 {
				holder = other
			}
			if holder != 0 && holder != id {
				return &eventstore.ClaimError{Claim: c, Holder: holder}
			}
			if taken != nil {
				taken[c] = id
			}
		}
	}
	return nil
}

func (g *group) accept(it *item, after map[calendar.ID]*held) {
	for i := range it.entries {
		g.head++
		it.entries[i].Position = g.head
		g.entries = append(g.entries, written{&it.entries[i], &it.leaves[i], it.bodies[i]})
	}
	for id, h := range after { // all releases first
		if before := g.states[id]; before != nil {
			g.release(before, h)
		}
	}
	for id, h := range after {
		g.hold(g.states[id], h)
		g.states[id], g.changed[id] = h, h
	}
	if it.a.Receipt == nil {
		return
	}
	r := *it.a.Receipt
	r.Time = eventstore.Moment(r.Time)
	if len(it.entries) > 0 {
		r.Position = g.head
	}
	key := receiptKey{r.User, r.Key}
	g.receipts[key], g.newReceipts[key] = &r, &r
}

// release gives up what a record had and has no more.
func (g *group) release(before, after *held) {
	for _, c := range before.claims {
		if !slices.Contains(after.claims, c) {
			delete(g.holders, c)
			g.newClaims[c] = 0
		}
	}
	for _, n := range before.names {
		if !slices.Contains(after.names, n) {
			g.newNames[nameOf{n, before.ID}] = false
			g.count(n, -1)
		}
	}
}

// hold takes what a record has and did not have.
func (g *group) hold(before, after *held) {
	for _, c := range after.claims {
		if before == nil || !slices.Contains(before.claims, c) {
			g.holders[c] = after.ID
			g.newClaims[c] = after.ID
		}
	}
	for _, n := range after.names {
		if before == nil || !slices.Contains(before.names, n) {
			g.newNames[nameOf{n, after.ID}] = true
			g.count(n, 1)
		}
	}
}

func (g *group) count(n calendar.Name, by int) {
	if _, asked := g.counts[n]; asked {
		g.counts[n] += by
	}
}

// distinct gives each element once, in order.
func distinct[T comparable](in []T) []T {
	out := make([]T, 0, len(in))
	for _, v := range in {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
