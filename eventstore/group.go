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

// Touched is all that items ask a store for, in order.
type Touched struct {
	Records  []calendar.ID
	Claims   []calendar.Claim
	Names    []calendar.Name
	Receipts []ReceiptKey
	Sizes    []calendar.Position // of checkpoints
}

// TouchedBy returns what items ask for.
func TouchedBy(items []*Item) (t Touched) {
	for _, it := range items {
		for i := range it.Drafts {
			t.Records = append(t.Records, it.Drafts[i].ID)
			t.Claims = append(t.Claims, it.Drafts[i].Claims...)
		}
		t.Records = append(t.Records, it.Redact...)
		for _, guard := range it.Guards {
			t.Names = append(t.Names, guard.Name)
		}
		if it.Receipt != nil {
			t.Receipts = append(t.Receipts, it.Receipt.Name())
		}
		if it.Checkpoint != nil {
			t.Sizes = append(t.Sizes, it.Checkpoint.Size)
		}
	}
	slices.Sort(t.Records)
	t.Records, t.Claims, t.Names = slices.Compact(t.Records), InOrder(t.Claims), InOrder(t.Names)
	return t
}

// Leafed is an entry with its leaf.
type Leafed struct {
	Entry

	Leaf [32]byte
}

// Group decides the items of one commit, one after the other. The store says what holds
// of all that they touch (see TouchedBy), and writes what comes of it.
type Group struct {
	// What holds, the accepted items included: records with all their claims and names
	// (absent: there is none), the holders of claims (absent: free), how many records
	// have a name, receipts, and of the checkpoints the newest one and those of the
	// sizes that are asked for. Written are entries of an attempt before this one whose
	// answer was lost, by leaf.
	Records  map[calendar.ID]*Held
	Holders  map[calendar.Claim]calendar.ID
	Counts   map[calendar.Name]int
	Receipts map[ReceiptKey]*Receipt
	Signed   []Checkpoint
	Written  map[[32]byte]calendar.Position

	// What is to be written, besides Changes.
	Entries  []Leafed
	Commits  []Commit    // of these entries
	Slugs    []SlugTaken // by position
	Stored   []*Receipt
	Signs    []Checkpoint  // stored, or their notes replaced
	Redacts  []calendar.ID // what is left of them goes, after all else is written
	Redacted []Entry       // Position and Redacted of entries that Take took

	// Mark is where the log stands, of which the store says how it was before the group.
	// Its hash is that of the last commit that was ended.
	Mark calendar.Mark
	// Found says that an answer rests on what was there already: it must be durable
	// before the answer goes out, even if nothing is written.
	Found bool

	epoch  Epoch
	ended  int                   // entries whose commit was ended
	before map[calendar.ID]*Held // records as they were before the group
}

// NewGroup returns a Group for a store in this epoch, in which nothing holds.
func NewGroup(e Epoch) *Group {
	return &Group{
		Records:  map[calendar.ID]*Held{},
		Holders:  map[calendar.Claim]calendar.ID{},
		Counts:   map[calendar.Name]int{},
		Receipts: map[ReceiptKey]*Receipt{},
		Written:  map[[32]byte]calendar.Position{},
		epoch:    e,
		before:   map[calendar.ID]*Held{},
	}
}

// Decide takes an item whose form was checked into the group, or refuses it.
func (g *Group) Decide(it *Item) Result {
	if n := len(it.Entries); n > 0 && g.Written[it.Entries[n-1].Leaf] > 0 {
		g.Found = true
		return Result{Position: g.Written[it.Entries[n-1].Leaf]}
	}
	if it.Receipt != nil {
		if r := g.Receipts[it.Receipt.Name()]; r != nil {
			if r.Fingerprint != it.Receipt.Fingerprint {
				return Result{Err: fmt.Errorf("receipt %q: %w", r.Key, ErrKeyReused)}
			}
			g.Found = true
			return Result{Position: g.Mark.Position, Receipt: r}
		}
	}
	if it.Epoch.History != 0 && it.Epoch.History != g.epoch.History {
		return Result{Err: fmt.Errorf("%w: it was decided on another history", ErrConflict)}
	}
	after, err := g.versions(it)
	if err != nil {
		return Result{Err: err}
	}
	signed, err := g.signs(it)
	if err = cmp.Or(g.guards(it), g.claims(after), g.redactions(it, after), err); err != nil {
		return Result{Err: err}
	}
	g.accept(it, after, signed)
	return Result{Position: g.Mark.Position}
}

// versions checks the expected versions and returns the records after the item.
func (g *Group) versions(it *Item) (map[calendar.ID]*Held, error) {
	after := make(map[calendar.ID]*Held, len(it.Drafts))
	for i := range it.Drafts {
		d := &it.Drafts[i]
		before := cmp.Or(after[d.ID], g.Records[d.ID], &Held{State: State{Kind: d.Kind}})
		switch {
		case before.Version != d.Expected || before.Kind != d.Kind:
			return nil, fmt.Errorf("%s %d at version %d, not %d: %w", d.Kind, d.ID, before.Version, d.Expected, ErrConflict)
		case before.Erased:
			return nil, fmt.Errorf("%s %d is erased: %w", d.Kind, d.ID, ErrConflict)
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
	secret := e.Secret
	if secret == nil {
		secret = before.Secret
	}
	if len(secret) == 0 {
		secret = nil
	}
	return &Held{
		State:  State{Kind: e.Kind, ID: e.ID, Version: e.Version, Position: e.Position, Record: e.State, Secret: secret},
		Erased: e.Change == ErasedChange(e.Kind),
	}
}

func (g *Group) guards(it *Item) error {
	for _, guard := range it.Guards {
		if n := g.Counts[guard.Name]; n != guard.Count {
			return fmt.Errorf("name %v is found %d times, not %d: %w", guard.Name, n, guard.Count, ErrConflict)
		}
	}
	return nil
}

// claims checks that no claim would have two holders.
func (g *Group) claims(after map[calendar.ID]*Held) error {
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
	return nil
}

// redactions checks that what is redacted is erased.
func (g *Group) redactions(it *Item, after map[calendar.ID]*Held) error {
	for _, id := range it.Redact {
		if h := cmp.Or(after[id], g.Records[id]); h == nil || !h.Erased {
			return fmt.Errorf("redact record %d, which is not erased: %w", id, ErrConflict)
		}
	}
	return nil
}

// signs returns what is to be stored of the checkpoint of an item, nil for nothing. Of one
// that is there only the note changes.
func (g *Group) signs(it *Item) (*Checkpoint, error) {
	if it.Checkpoint == nil {
		return nil, nil //nolint:nilnil // nothing to store is no error
	}
	signed := *it.Checkpoint
	signed.Time = Moment(signed.Time)
	conflict := slices.ContainsFunc(g.Signed, func(s Checkpoint) bool { return s.Size > signed.Size })
	if same := ofSize(g.Signed, signed.Size); same >= 0 {
		there := g.Signed[same]
		conflict = there.Origin != signed.Origin || !bytes.HasPrefix(signed.Note, there.Note)
		there.Note = signed.Note
		signed = there
	}
	switch {
	case signed.Size > g.Mark.Position+calendar.Position(len(it.Drafts)):
		return nil, ErrAhead
	case conflict:
		return nil, fmt.Errorf("checkpoint of size %d: %w", signed.Size, ErrConflict)
	}
	return &signed, nil
}

// ofSize returns the index of the checkpoint of a size, -1 for none.
func ofSize(list []Checkpoint, size calendar.Position) int {
	return slices.IndexFunc(list, func(c Checkpoint) bool { return c.Size == size })
}

// put adds a checkpoint to a list, or replaces the one of its size.
func put(list []Checkpoint, c Checkpoint) []Checkpoint {
	if at := ofSize(list, c.Size); at >= 0 {
		list[at] = c
		return list
	}
	return append(list, c)
}

// accept takes an item into the group, with the records after it and the checkpoint that it
// stores.
func (g *Group) accept(it *Item, after map[calendar.ID]*Held, signed *Checkpoint) {
	for i, e := range it.Entries {
		g.Mark.Position++
		e.Position = g.Mark.Position
		g.Entries = append(g.Entries, e)
		g.Slugs = append(g.Slugs, e.slugTaken(it.Drafts[i].Claims)...)
	}
	g.hold(after)
	for _, id := range it.Redact {
		if !slices.Contains(g.Redacts, id) {
			g.Redacts = append(g.Redacts, id)
		}
	}
	if signed != nil {
		g.Signs, g.Signed = put(g.Signs, *signed), put(g.Signed, *signed)
	}
	if it.Receipt != nil {
		r := *it.Receipt
		if r.Time = Moment(it.Time); len(it.Drafts) > 0 {
			r.Position = g.Mark.Position
		}
		g.Receipts[r.Name()] = &r
		g.Stored = append(g.Stored, &r)
	} else if len(it.Drafts) == 0 { // the caller asks for what is there to be durable
		g.Found = true
	}
}

// hold sets records to how they are after entries.
func (g *Group) hold(after map[calendar.ID]*Held) {
	for id := range after { // all releases first
		before := g.Records[id]
		if _, changed := g.before[id]; !changed {
			g.before[id] = before
		}
		if before != nil {
			for _, c := range before.Claims {
				delete(g.Holders, c)
			}
			for _, n := range before.Names {
				g.Counts[n]--
			}
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
		if before == nil {
			before = &Held{}
		}
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

// End ends the commit of the entries that were taken since the one before it.
func (g *Group) End() {
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
	for i := range g.Signs {
		h.Signed = max(h.Signed, g.Signs[i].Size)
	}
	return h
}

// Writes reports whether there is something to write.
func (g *Group) Writes() bool {
	return len(g.Entries)+len(g.Stored)+len(g.Redacts)+len(g.Signs) > 0
}

// GreatestID returns the greatest id of a record that the group writes, 0 for none.
func (g *Group) GreatestID() (id calendar.ID) {
	for i := range g.Entries {
		id = max(id, g.Entries[i].ID)
	}
	return id
}

// Take adds an entry of another store as it is, with its position, in place of Decide.
// What a redacted one left of its record is not known. Errors: ErrDamaged, a *ClaimError.
func (g *Group) Take(e Leafed) error {
	g.Mark.Position, g.Entries = e.Position, append(g.Entries, e)
	if e.Redacted != nil {
		return nil
	}
	h := e.after(cmp.Or(g.Records[e.ID], &Held{}))
	var err error
	if h.Claims, h.Names, err = Holds(&h.State); err != nil {
		return Damaged(e.Position, "state: %v", err)
	}
	after := map[calendar.ID]*Held{e.ID: h}
	if err := g.claims(after); err != nil {
		return err
	}
	g.hold(after)
	g.Slugs = append(g.Slugs, e.slugTaken(h.Claims)...)
	return nil
}

// written readies the group for the entries after those that were written. Their records
// are not needed any more, but what they hold.
func (g *Group) written() {
	g.Entries, g.Commits, g.Slugs, g.ended = nil, nil, nil, 0
	for id := range g.before {
		g.Records[id].Record = nil
	}
	clear(g.before)
}
