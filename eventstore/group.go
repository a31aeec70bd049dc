package eventstore

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
)

// ReceiptKey is what a receipt is found by.
type ReceiptKey struct {
	User calendar.ID
	Key  string
}

// Name returns what the receipt is found by.
func (r *Receipt) Name() ReceiptKey { return ReceiptKey{r.User, r.Key} }

// Group decides the items of one commit, one after the other. The store says what holds
// of all that they touch, and writes what comes of it. An answer may rest on what was there
// already, so the store makes that durable even if it writes nothing.
type Group struct {
	// What holds, the accepted items included: records with all their claims and names
	// (nil: none exists), the holders of claims (0: free), how many records have a name,
	// receipts, and by size checkpoints, the newest one too. A new Group has the keys of all
	// that its items touch. Written are entries of an attempt before this one whose answer
	// was lost, by leaf.
	Records  map[calendar.ID]*Held
	Holders  map[calendar.Claim]calendar.ID
	Counts   map[calendar.Name]int
	Receipts map[ReceiptKey]*Receipt
	Signed   map[calendar.Position]Checkpoint
	Written  map[[32]byte]calendar.Position

	// What is to be written, besides Changes.
	Entries  []Entry  // with their leaves
	Commits  []Commit // of these entries
	Slugs    []Taken  // by position
	Stored   []*Receipt
	Signs    map[calendar.Position]Checkpoint // stored, or their notes replaced
	Redacts  []calendar.ID                    // what is left of them goes, after all else is written
	Redacted []Entry                          // Position and Redacted of entries that Restore took

	// Mark is where the log stands, of which the store says how it was before the group.
	Mark calendar.Mark

	epoch  Epoch
	items  []*Item
	ended  int                   // entries whose commit was ended
	before map[calendar.ID]*Held // records as they were before the group
}

// NewGroup returns a Group of items for a store in this epoch, in which nothing holds.
func NewGroup(e Epoch, items []*Item) *Group {
	g := &Group{
		Records:  map[calendar.ID]*Held{},
		Holders:  map[calendar.Claim]calendar.ID{},
		Counts:   map[calendar.Name]int{},
		Receipts: map[ReceiptKey]*Receipt{},
		Signed:   map[calendar.Position]Checkpoint{},
		Written:  map[[32]byte]calendar.Position{},
		Signs:    map[calendar.Position]Checkpoint{},
		epoch:    e,
		before:   map[calendar.ID]*Held{},
		items:    items,
	}
	for _, it := range items {
		for i := range it.Drafts {
			g.Records[it.Drafts[i].ID] = nil
			for _, c := range it.Drafts[i].Claims {
				g.Holders[c] = 0
			}
		}
		for _, id := range it.Redact {
			g.Records[id] = nil
		}
		for _, guard := range it.Guards {
			g.Counts[guard.Name] = 0
		}
		if it.Receipt != nil {
			g.Receipts[it.Receipt.Name()] = nil
		}
		if it.Checkpoint != nil {
			g.Signed[it.Checkpoint.Size] = Checkpoint{}
		}
	}
	return g
}

// Decide takes the items, whose form was checked, into the group, or refuses them, and sets
// their results. Their entries are one commit.
func (g *Group) Decide() {
	for _, it := range g.items {
		*it.Result = g.decide(it)
	}
	g.end()
}

func (g *Group) decide(it *Item) Result {
	if n := len(it.Entries); n > 0 && g.Written[it.Entries[n-1].Leaf] > 0 {
		return Result{Position: g.Written[it.Entries[n-1].Leaf]}
	}
	if it.Receipt != nil {
		switch r := g.Receipts[it.Receipt.Name()]; {
		case r == nil:
		case r.Fingerprint != it.Receipt.Fingerprint:
			return Result{Err: fmt.Errorf("receipt %q: %w", r.Key, ErrKeyReused)}
		default:
			return Result{Position: g.Mark.Position, Receipt: r}
		}
	}
	after, err := g.versions(it)
	if err = cmp.Or(err, g.refusal(it, after)); err != nil {
		return Result{Err: err}
	}
	g.accept(it, after)
	return Result{Position: g.Mark.Position}
}

// versions checks the expected versions and returns the records after the item.
func (g *Group) versions(it *Item) (map[calendar.ID]*Held, error) {
	if it.Epoch.History != 0 && it.Epoch.History != g.epoch.History {
		return nil, fmt.Errorf("%w: it was decided on another history", ErrConflict)
	}
	after := make(map[calendar.ID]*Held, len(it.Drafts))
	for i := range it.Drafts {
		d := &it.Drafts[i]
		before := cmp.Or(after[d.ID], g.Records[d.ID], &Held{State: State{Kind: d.Kind}})
		if before.Version != d.Expected || before.Kind != d.Kind || before.Erased {
			return nil, fmt.Errorf("%s %d at version %d, erased: %t, not %d: %w", d.Kind, d.ID, before.Version, before.Erased, d.Expected, ErrConflict)
		}
		h := it.Entries[i].after(before)
		h.Position = g.Mark.Position + calendar.Position(i) + 1
		h.Claims, h.Names = InOrder(d.Claims), InOrder(d.Names)
		after[d.ID] = h
	}
	return after, nil
}

// after returns a record after an entry, without what it holds.
func (e *Entry) after(before *Held) *Held {
	h := &Held{
		State:  State{Kind: e.Kind, ID: e.ID, Version: e.Version, Record: e.State, Secret: before.Secret},
		Erased: e.Change == ErasedChange(e.Kind),
	}
	if e.Secret != nil {
		h.Secret = append([]byte(nil), e.Secret...) // nil for an empty one
	}
	return h
}

// refusal checks all but the versions of an item, with the records after it: guards, that
// no claim would have two holders, that what is redacted is erased, and the checkpoint.
func (g *Group) refusal(it *Item, after map[calendar.ID]*Held) error {
	for _, guard := range it.Guards {
		if n := g.Counts[guard.Name]; n != guard.Count {
			return fmt.Errorf("name %v is found %d times, not %d: %w", guard.Name, n, guard.Count, ErrConflict)
		}
	}
	taken := map[calendar.Claim]calendar.ID{}
	for _, id := range slices.Sorted(maps.Keys(after)) {
		for _, c := range after[id].Claims {
			holder := taken[c]
			if other := g.Holders[c]; after[other] == nil { // else that record releases it, or is checked itself
				holder = cmp.Or(holder, other)
			}
			if holder != 0 {
				return &ClaimError{Claim: c, Holder: holder}
			}
			taken[c] = id
		}
	}
	for _, id := range it.Redact {
		if h := cmp.Or(after[id], g.Records[id]); h == nil || !h.Erased {
			return fmt.Errorf("redact record %d, which is not erased: %w", id, ErrConflict)
		}
	}
	c := it.Checkpoint
	if c == nil {
		return nil
	}
	there := g.Signed[c.Size]
	conflict := there.Size > 0 && (there.Origin != c.Origin || !bytes.HasPrefix(c.Note, there.Note))
	for _, other := range g.Signed {
		conflict = conflict || there.Size == 0 && other.Size > c.Size
	}
	switch {
	case c.Size > g.Mark.Position+calendar.Position(len(it.Drafts)):
		return ErrAhead
	case conflict:
		return fmt.Errorf("checkpoint of size %d: %w", c.Size, ErrConflict)
	}
	return nil
}

// accept takes an item into the group, with the records after it.
func (g *Group) accept(it *Item, after map[calendar.ID]*Held) {
	for i, e := range it.Entries {
		g.Mark.Position++
		e.Position = g.Mark.Position
		g.Entries = append(g.Entries, e)
		g.Slugs = append(g.Slugs, e.slugTaken(it.Drafts[i].Claims)...)
	}
	for id := range after { // all releases first
		before := cmp.Or(g.Records[id], &Held{})
		if g.before[id] == nil {
			g.before[id] = before
		}
		for _, c := range before.Claims {
			delete(g.Holders, c)
		}
		for _, n := range before.Names {
			g.Counts[n]--
		}
	}
	for id, h := range after {
		for _, c := range h.Claims {
			g.Holders[c] = id
		}
		for _, n := range h.Names {
			g.Counts[n]++
		}
		g.Records[id] = h
	}
	g.Redacts = append(g.Redacts, it.Redact...)
	if it.Checkpoint != nil {
		c := *it.Checkpoint
		c.Time = Moment(c.Time)
		if there := g.Signed[c.Size]; there.Size > 0 { // only its note changes
			c.Time, c.Keys = there.Time, there.Keys
		}
		g.Signed[c.Size], g.Signs[c.Size] = c, c
	}
	if it.Receipt != nil {
		r := *it.Receipt
		if r.Time = Moment(it.Time); len(it.Drafts) > 0 {
			r.Position = g.Mark.Position
		}
		g.Receipts[r.Name()] = &r
		g.Stored = append(g.Stored, &r)
	}
}

// Pair is a claim or a name of a record.
type Pair struct {
	calendar.Claim

	Record calendar.ID
}

// Changes are what a group changes of records, by id. What is dropped is written first,
// since another record may have it now.
type Changes struct {
	Records       []*Held
	DroppedClaims []Pair
	DroppedNames  []Pair
	Claims        []Pair
	Names         []Pair
}

// Changes returns the records that the group changed, and what they have no longer and
// have now.
func (g *Group) Changes() Changes {
	var c Changes
	for _, id := range slices.Sorted(maps.Keys(g.before)) {
		before, after := g.before[id], g.Records[id]
		c.Records = append(c.Records, after)
		c.DroppedClaims = appendPairs(c.DroppedClaims, id, before.Claims, after.Claims)
		c.DroppedNames = appendPairs(c.DroppedNames, id, before.Names, after.Names)
		c.Claims = appendPairs(c.Claims, id, after.Claims, before.Claims)
		c.Names = appendPairs(c.Names, id, after.Names, before.Names)
	}
	return c
}

// appendPairs appends the claims or names of a record that are not among others.
func appendPairs(to []Pair, id calendar.ID, list, others []calendar.Claim) []Pair {
	for _, c := range list {
		if !slices.Contains(others, c) {
			to = append(to, Pair{c, id})
		}
	}
	return to
}

// end ends the commit of the entries that were taken since the one before it.
func (g *Group) end() {
	entries := g.Entries[g.ended:]
	if len(entries) == 0 {
		return
	}
	c := Commit{First: entries[0].Position, Last: g.Mark.Position}
	for i := range entries {
		c.Leaves = append(c.Leaves, entries[i].Leaf)
	}
	c.Hash = ChainHash(g.Mark.Hash, c.First, c.Leaves)
	g.Commits, g.ended, g.Mark.Hash = append(g.Commits, c), len(g.Entries), c.Hash
}

// Head returns the mark of the log after the group, and its newest checkpoint if it has
// one, for Signal.Move.
func (g *Group) Head() Head {
	h := Head{Mark: g.Mark}
	for size := range g.Signs {
		h.Signed = max(h.Signed, size)
	}
	return h
}

// Writes reports whether there is something to write.
func (g *Group) Writes() bool {
	return len(g.Entries)+len(g.Stored)+len(g.Redacts)+len(g.Signs) > 0
}
