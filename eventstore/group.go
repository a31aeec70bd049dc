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
	group := &Group{
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
			group.Records[it.Drafts[i].ID] = nil
			for _, claim := range it.Drafts[i].Claims {
				group.Holders[claim] = 0
			}
		}
		for _, id := range it.Redact {
			group.Records[id] = nil
		}
		for _, guard := range it.Guards {
			group.Counts[guard.Name] = 0
		}
		if it.Receipt != nil {
			group.Receipts[it.Receipt.Name()] = nil
		}
		if it.Checkpoint != nil {
			group.Signed[it.Checkpoint.Size] = Checkpoint{}
		}
	}
	return group
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
		switch receipt := g.Receipts[it.Receipt.Name()]; {
		case receipt == nil:
		case receipt.Fingerprint != it.Receipt.Fingerprint:
			return Result{Err: fmt.Errorf("receipt %q: %w", receipt.Key, ErrKeyReused)}
		default:
			return Result{Position: g.Mark.Position, Receipt: receipt}
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
		draft := &it.Drafts[i]
		before := cmp.Or(after[draft.ID], g.Records[draft.ID], &Held{State: State{Kind: draft.Kind}})
		if before.Version != draft.Expected || before.Kind != draft.Kind || before.Erased {
			return nil, fmt.Errorf("%s %d at version %d, erased: %t, not %d: %w", draft.Kind, draft.ID, before.Version, before.Erased, draft.Expected, ErrConflict)
		}
		held := it.Entries[i].after(before)
		held.Position = g.Mark.Position + calendar.Position(i) + 1
		held.Claims, held.Names = InOrder(draft.Claims), InOrder(draft.Names)
		after[draft.ID] = held
	}
	return after, nil
}

// after returns a record after an entry, without what it holds.
func (e *Entry) after(before *Held) *Held {
	held := &Held{
		State:  State{Kind: e.Kind, ID: e.ID, Version: e.Version, Record: e.State, Secret: before.Secret},
		Erased: e.Change == ErasedChange(e.Kind),
	}
	if e.Secret != nil {
		held.Secret = append([]byte(nil), e.Secret...) // nil for an empty one
	}
	return held
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
		for _, claim := range after[id].Claims {
			holder := taken[claim]
			if other := g.Holders[claim]; after[other] == nil { // else that record releases it, or is checked itself
				holder = cmp.Or(holder, other)
			}
			if holder != 0 {
				return &ClaimError{Claim: claim, Holder: holder}
			}
			taken[claim] = id
		}
	}
	for _, id := range it.Redact {
		if held := cmp.Or(after[id], g.Records[id]); held == nil || !held.Erased {
			return fmt.Errorf("redact record %d, which is not erased: %w", id, ErrConflict)
		}
	}
	checkpoint := it.Checkpoint
	if checkpoint == nil {
		return nil
	}
	there := g.Signed[checkpoint.Size]
	conflict := there.Size > 0 && (there.Origin != checkpoint.Origin || !bytes.HasPrefix(checkpoint.Note, there.Note))
	for _, other := range g.Signed {
		conflict = conflict || there.Size == 0 && other.Size > checkpoint.Size
	}
	switch {
	case checkpoint.Size > g.Mark.Position+calendar.Position(len(it.Drafts)):
		return ErrAhead
	case conflict:
		return fmt.Errorf("checkpoint of size %d: %w", checkpoint.Size, ErrConflict)
	}
	return nil
}

// accept takes an item into the group, with the records after it.
func (g *Group) accept(it *Item, after map[calendar.ID]*Held) {
	for i, entry := range it.Entries {
		g.Mark.Position++
		entry.Position = g.Mark.Position
		g.Entries = append(g.Entries, entry)
		g.Slugs = append(g.Slugs, entry.slugTaken(it.Drafts[i].Claims)...)
	}
	for id := range after { // all releases first
		before := cmp.Or(g.Records[id], &Held{})
		if g.before[id] == nil {
			g.before[id] = before
		}
		for _, claim := range before.Claims {
			delete(g.Holders, claim)
		}
		for _, n := range before.Names {
			g.Counts[n]--
		}
	}
	for id, held := range after {
		for _, claim := range held.Claims {
			g.Holders[claim] = id
		}
		for _, n := range held.Names {
			g.Counts[n]++
		}
		g.Records[id] = held
	}
	g.Redacts = append(g.Redacts, it.Redact...)
	if it.Checkpoint != nil {
		checkpoint := *it.Checkpoint
		checkpoint.Time = Moment(checkpoint.Time)
		if there := g.Signed[checkpoint.Size]; there.Size > 0 { // only its note changes
			checkpoint.Time, checkpoint.Keys = there.Time, there.Keys
		}
		g.Signed[checkpoint.Size], g.Signs[checkpoint.Size] = checkpoint, checkpoint
	}
	if it.Receipt != nil {
		receipt := *it.Receipt
		if receipt.Time = Moment(it.Time); len(it.Drafts) > 0 {
			receipt.Position = g.Mark.Position
		}
		g.Receipts[receipt.Name()] = &receipt
		g.Stored = append(g.Stored, &receipt)
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
	var changes Changes
	for _, id := range slices.Sorted(maps.Keys(g.before)) {
		before, after := g.before[id], g.Records[id]
		changes.Records = append(changes.Records, after)
		changes.DroppedClaims = appendPairs(changes.DroppedClaims, id, before.Claims, after.Claims)
		changes.DroppedNames = appendPairs(changes.DroppedNames, id, before.Names, after.Names)
		changes.Claims = appendPairs(changes.Claims, id, after.Claims, before.Claims)
		changes.Names = appendPairs(changes.Names, id, after.Names, before.Names)
	}
	return changes
}

// appendPairs appends the claims or names of a record that are not among others.
func appendPairs(to []Pair, id calendar.ID, list, others []calendar.Claim) []Pair {
	for _, claim := range list {
		if !slices.Contains(others, claim) {
			to = append(to, Pair{claim, id})
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
	commit := Commit{First: entries[0].Position, Last: g.Mark.Position}
	for i := range entries {
		commit.Leaves = append(commit.Leaves, entries[i].Leaf)
	}
	commit.Hash = ChainHash(g.Mark.Hash, commit.First, commit.Leaves)
	g.Commits, g.ended, g.Mark.Hash = append(g.Commits, commit), len(g.Entries), commit.Hash
}

// Head returns the mark of the log after the group, and its newest checkpoint if it has
// one, for Signal.Move.
func (g *Group) Head() Head {
	head := Head{Mark: g.Mark}
	for size := range g.Signs {
		head.Signed = max(head.Signed, size)
	}
	return head
}

// Writes reports whether there is something to write.
func (g *Group) Writes() bool {
	return len(g.Entries)+len(g.Stored)+len(g.Redacts)+len(g.Signs) > 0
}
