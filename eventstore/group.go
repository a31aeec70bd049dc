package eventstore

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
)

// Group decides the items of one commit, one after the other. The store says what holds
// of all that they touch, and writes what comes of it. An answer may rest on what was there
// already, so the store makes that durable even if it writes nothing.
type Group struct {
	// What holds, the accepted items included: records with all their claims and names
	// (nil: none exists), the holders of claims (0: free), how many records have a name,
	// receipts, and by size checkpoints, the newest one too. A new Group has the keys of all
	// that its items touch.
	Records  map[calendar.ID]*Held
	Holders  map[calendar.Claim]calendar.ID
	Counts   map[calendar.Name]int
	Receipts map[ReceiptKey]*Receipt
	Signed   map[calendar.Position]Checkpoint

	// What is to be written, besides Changes.
	Entries  []Entry      // with their leaves
	Commits  []Commit     // of these entries
	Slugs    []TakenClaim // by position
	Stored   []*Receipt
	Signs    map[calendar.Position]Checkpoint // stored, or their notes replaced
	Redacts  []calendar.ID                    // what is left of them goes, after all else is written
	Redacted []Entry                          // Position and Redacted of entries that Restore took

	// Mark is where the log stands, of which the store says how it was before the group.
	Mark  calendar.Mark
	Epoch Epoch // of the store, from before that

	items  []*Item
	ended  int                   // entries whose commit was ended
	before map[calendar.ID]*Held // records as they were before the group
}

// NewGroup returns a Group of items for a store in this epoch, in which nothing holds.
func NewGroup(epoch Epoch, items []*Item) *Group {
	group := &Group{
		Records:  map[calendar.ID]*Held{},
		Holders:  map[calendar.Claim]calendar.ID{},
		Counts:   map[calendar.Name]int{},
		Receipts: map[ReceiptKey]*Receipt{},
		Signed:   map[calendar.Position]Checkpoint{},
		Signs:    map[calendar.Position]Checkpoint{},
		Epoch:    epoch,
		before:   map[calendar.ID]*Held{},
		items:    items,
	}
	for _, item := range items {
		for i := range item.Drafts {
			group.Records[item.Drafts[i].ID] = nil
			for _, claim := range item.Drafts[i].Claims {
				group.Holders[claim] = 0
			}
		}
		for _, id := range item.Redact {
			group.Records[id] = nil
		}
		for _, guard := range item.Guards {
			group.Counts[guard.Name] = 0
		}
		if item.Receipt != nil {
			group.Receipts[item.Receipt.ReceiptKey] = nil
		}
		if item.Checkpoint != nil {
			group.Signed[item.Checkpoint.Size] = Checkpoint{}
		}
	}
	return group
}

// Decide takes the items, whose form was checked, into the group, or refuses them, and sets
// their results. Their entries are one commit.
func (group *Group) Decide() {
	for _, item := range group.items {
		item.Result = group.decide(item)
	}
	group.end()
}

func (group *Group) decide(item *Item) Result {
	if item.Receipt != nil {
		switch receipt := group.Receipts[item.Receipt.ReceiptKey]; {
		case receipt == nil:
		case receipt.Fingerprint != item.Receipt.Fingerprint:
			return Result{Err: fmt.Errorf("receipt %q: %w", receipt.Key, ErrKeyReused)}
		default:
			return Result{Position: group.Mark.Position, Receipt: receipt}
		}
	}
	after, err := group.versions(item)
	if err = cmp.Or(err, group.refusal(item, after)); err != nil {
		return Result{Err: err}
	}
	group.accept(item, after)
	return Result{Position: group.Mark.Position}
}

// versions checks the expected versions and returns the records after the item.
func (group *Group) versions(item *Item) (map[calendar.ID]*Held, error) {
	if item.Epoch.History != 0 && item.Epoch.History != group.Epoch.History {
		return nil, fmt.Errorf("%w: it was decided on another history", ErrConflict)
	}
	after := make(map[calendar.ID]*Held, len(item.Drafts))
	for i := range item.Drafts {
		draft := &item.Drafts[i]
		draft.Position = group.Mark.Position + calendar.Position(i) + 1
		held, err := draft.After(cmp.Or(after[draft.ID], group.Records[draft.ID]))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConflict, err)
		}
		held.Claims, held.Names = InOrder(draft.Claims), InOrder(draft.Names)
		after[draft.ID] = held
	}
	return after, nil
}

// After returns a record after an entry, without what it holds; before is nil where none
// existed. An entry that does not follow is an error.
func (entry *Entry) After(before *Held) (*Held, error) {
	before = cmp.Or(before, &Held{State: State{Kind: entry.Kind}})
	switch {
	case entry.Version != before.Version+1 || entry.Kind != before.Kind:
		return nil, fmt.Errorf("version %d of %s %d follows version %d of a %s", entry.Version, entry.Kind, entry.ID, before.Version, before.Kind)
	case before.Erased:
		return nil, fmt.Errorf("record %d was erased before it", entry.ID)
	}
	held := &Held{
		State:  State{Kind: entry.Kind, ID: entry.ID, Version: entry.Version, Position: entry.Position, Record: entry.State, Secret: before.Secret},
		Erased: entry.Change == ErasedChange(entry.Kind),
	}
	if entry.Secret != nil {
		held.Secret = append([]byte(nil), entry.Secret...) // nil for an empty one
	}
	return held, nil
}

// refusal checks all but the versions of an item, with the records after it: guards, that
// no claim would have two holders, that what is redacted is erased, and the checkpoint.
func (group *Group) refusal(item *Item, after map[calendar.ID]*Held) error {
	for _, guard := range item.Guards {
		if count := group.Counts[guard.Name]; count != guard.Count {
			return fmt.Errorf("name %v is found %d times, not %d: %w", guard.Name, count, guard.Count, ErrConflict)
		}
	}
	taken := map[calendar.Claim]calendar.ID{}
	for _, id := range slices.Sorted(maps.Keys(after)) {
		for _, claim := range after[id].Claims {
			holder := taken[claim]
			if other := group.Holders[claim]; after[other] == nil { // else that record releases it, or is checked itself
				holder = cmp.Or(holder, other)
			}
			if holder != 0 {
				return &ClaimError{Claim: claim, Holder: holder}
			}
			taken[claim] = id
		}
	}
	for _, id := range item.Redact {
		if held := cmp.Or(after[id], group.Records[id]); held == nil || !held.Erased {
			return fmt.Errorf("redact record %d, which is not erased: %w", id, ErrConflict)
		}
	}
	checkpoint := item.Checkpoint
	if checkpoint == nil {
		return nil
	}
	there := group.Signed[checkpoint.Size]
	conflict := there.Size > 0 && (there.Origin != checkpoint.Origin || !bytes.HasPrefix(checkpoint.Note, there.Note))
	for _, other := range group.Signed {
		conflict = conflict || there.Size == 0 && other.Size > checkpoint.Size
	}
	switch {
	case checkpoint.Size > group.Mark.Position+calendar.Position(len(item.Drafts)):
		return ErrAhead
	case conflict:
		return fmt.Errorf("checkpoint of size %d: %w", checkpoint.Size, ErrConflict)
	}
	return nil
}

// accept takes an item into the group, with the records after it.
func (group *Group) accept(item *Item, after map[calendar.ID]*Held) {
	for i := range item.Drafts {
		draft := &item.Drafts[i]
		group.Mark.Position = draft.Position
		group.Entries = append(group.Entries, draft.Entry)
		group.Slugs = append(group.Slugs, draft.slugTaken()...)
	}
	for id := range after { // all releases first
		before := cmp.Or(group.Records[id], &Held{})
		if group.before[id] == nil {
			group.before[id] = before
		}
		for _, claim := range before.Claims {
			delete(group.Holders, claim)
		}
		for _, name := range before.Names {
			group.Counts[name]--
		}
	}
	for id, held := range after {
		for _, claim := range held.Claims {
			group.Holders[claim] = id
		}
		for _, name := range held.Names {
			group.Counts[name]++
		}
		group.Records[id] = held
	}
	group.Redacts = append(group.Redacts, item.Redact...)
	if item.Checkpoint != nil {
		checkpoint := *item.Checkpoint
		checkpoint.Time = Moment(checkpoint.Time)
		if there := group.Signed[checkpoint.Size]; there.Size > 0 { // only its note changes
			checkpoint.Time, checkpoint.Keys = there.Time, there.Keys
		}
		group.Signed[checkpoint.Size], group.Signs[checkpoint.Size] = checkpoint, checkpoint
	}
	if item.Receipt != nil {
		receipt := *item.Receipt
		if receipt.Time = Moment(item.Time); len(item.Drafts) > 0 {
			receipt.Position = group.Mark.Position
		}
		group.Receipts[receipt.ReceiptKey] = &receipt
		group.Stored = append(group.Stored, &receipt)
	}
}

// Pair is a claim or a name of a record.
type Pair struct {
	calendar.Claim

	Record calendar.ID
}

// Changes are what a group changes of records, by id.
type Changes struct {
	Records []*Held
	// Before are those whose claims or names are others now: what they had goes, and then
	// what they have is written, as another record may have it.
	Before        []*Held
	Claims, Names []Pair
}

// Changes returns the records that the group changed.
func (group *Group) Changes() (changes Changes) {
	for _, id := range slices.Sorted(maps.Keys(group.before)) {
		before, after := group.before[id], group.Records[id]
		if changes.Records = append(changes.Records, after); slices.Equal(before.Claims, after.Claims) && slices.Equal(before.Names, after.Names) {
			continue
		}
		if before.Version > 0 {
			changes.Before = append(changes.Before, before)
		}
		for _, claim := range after.Claims {
			changes.Claims = append(changes.Claims, Pair{claim, id})
		}
		for _, name := range after.Names {
			changes.Names = append(changes.Names, Pair{name, id})
		}
	}
	return changes
}

// end ends the commit of the entries that were taken since the one before it.
func (group *Group) end() {
	entries := group.Entries[group.ended:]
	if len(entries) == 0 {
		return
	}
	commit := Commit{First: entries[0].Position, Last: group.Mark.Position, Hash: ChainHash(group.Mark.Hash, entries)}
	for i := range entries {
		entries[i].Commit = commit
	}
	group.Commits, group.ended, group.Mark.Hash = append(group.Commits, commit), len(group.Entries), commit.Hash
}

// slugTaken returns the slug that a record takes by an entry, nil for none.
func (draft *Draft) slugTaken() []TakenClaim {
	if bytes.Contains(draft.Fields, []byte(`"slug":`)) {
		for _, claim := range draft.Claims {
			if claim.Space == slugSpace+draft.Kind.String() {
				return []TakenClaim{{claim, draft.Position, draft.ID}}
			}
		}
	}
	return nil
}
