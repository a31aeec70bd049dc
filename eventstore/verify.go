package eventstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"daybook/calendar"
)

// verifyPage is how many entries, commits or records are read at once.
const verifyPage = 500

// verifyKept is how many records are kept decoded while the log is read; others
// are read again when their next entry comes.
const verifyKept = 10_000

// Finding is what Verify found of a log as a whole.
type Finding string

// The findings (HISTORY 14.5), the worst one counts.
const (
	FoundIntact     Finding = "intact"
	FoundRedacted   Finding = "redacted"   // as intact, and records were erased
	FoundIncomplete Finding = "incomplete" // something of an erased record is left: it has to be erased again
	FoundTampered   Finding = "tampered"   // what is there is not what was written
)

// Findings are what Verify found.
type Findings struct {
	Finding Finding

	Entries calendar.Position // how many were checked; all of them unless it is tampered
	Hash    [32]byte          // of the last commit that was checked

	Redacted int // entries that are redacted, each fits its leaf
	Erasures []FoundErasure

	// Of what is tampered or incomplete.
	Position calendar.Position // of the first entry, 0 when no entry is at fault
	Why      string            // in words, without the position
}

// FoundErasure is an entry that erased a record.
type FoundErasure struct {
	Position calendar.Position
	Kind     calendar.Kind
	ID       calendar.ID
	Reason   string
}

// Err is ErrDamaged of what is tampered or incomplete, with the position and why.
func (f *Findings) Err() error {
	if f.Finding == FoundIntact || f.Finding == FoundRedacted {
		return nil
	}
	return &DamageError{f.Position, f.Why}
}

// Verify reads the whole log up to its present head and checks that positions
// are dense, that each entry fits its leaf and the leaves the chain of commits,
// that the versions of each record are continuous, that folding the fields that
// changed gives the record after them, that the present states are those of the
// last entries, that records hold just the claims and names of these states and
// are found by them, and what Inspect of the store checks. Of erased records it checks
// that their entries are blank, and by whom; these are not folded. Who keeps the hash of
// the last commit elsewhere can prove later that nothing was written anew. progress,
// when not nil, is told how far it is.
//
// What does not fit is a finding; the error is that of a store that could not be read.
// The answers kept for idempotency keys have no sum to be checked by.
func Verify(ctx context.Context, store Verifier, progress func(done, total calendar.Position)) (Findings, error) {
	v := &verification{
		store: store, last: map[calendar.ID]lastEntry{}, kept: map[calendar.ID]*calendar.Record{},
		found: Findings{Finding: FoundIntact},
	}
	return v.outcome(v.all(ctx, progress))
}

// outcome gives the findings of a run that ended with an error, or without one.
func (v *verification) outcome(err error) (Findings, error) {
	f := &v.found
	f.Hash, f.Entries = v.hash, v.position
	if len(f.Erasures) > 0 && f.Finding == FoundIntact {
		f.Finding = FoundRedacted
	}
	if err != nil && !f.Tell(err) {
		return Findings{}, err
	}
	return *f, nil
}

// Tell makes the finding of an error that is ErrDamaged; false for others.
func (f *Findings) Tell(err error) bool {
	if d, ok := errors.AsType[*DamageError](err); ok {
		f.Finding, f.Position, f.Why = FoundTampered, d.Position, d.Why
		return true
	}
	if !errors.Is(err, ErrDamaged) {
		return false
	}
	f.Finding, f.Position, f.Why = FoundTampered, 0, err.Error()
	return true
}

func (v *verification) all(ctx context.Context, progress func(done, total calendar.Position)) error {
	head, err := v.store.Head(ctx)
	if err != nil {
		return err
	}
	v.head = head
	for v.position < head {
		if err := v.page(ctx); err != nil {
			return err
		}
		if progress != nil {
			progress(v.position, head)
		}
	}
	if v.commit.Last > v.chained {
		return Damaged(v.commit.Last, "the commit ends after the head %d", head)
	}
	for _, check := range []func(context.Context) error{v.behind, v.blanks, v.records} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	// Last, because what was checked before names the entry.
	if err := v.store.Inspect(ctx); err != nil {
		return fmt.Errorf("inspect the store: %w", err)
	}
	return nil
}

// verification is one run of Verify.
type verification struct {
	store    Verifier
	head     calendar.Position
	position calendar.Position // last entry that was checked
	single   bool              // entries are read one by one, because one of them cannot be read
	found    Findings

	commits []Commit          // read, not yet checked
	commit  Commit            // the one that the entries belong to now
	leaves  [][32]byte        // of the commit, so far
	chained calendar.Position // last entry of the chain that was checked
	hash    [32]byte          // of that chain

	last map[calendar.ID]lastEntry
	kept map[calendar.ID]*calendar.Record
}

// lastEntry is what has to be known of the last entry of a record.
type lastEntry struct {
	position calendar.Position
	version  int64
	kind     calendar.Kind
	state    [32]byte // SHA-256
	secret   [32]byte // SHA-256; zeros without one
	erased   bool     // by this entry

	plain, blank calendar.Position // first entry that is not redacted, and first one that is; 0: none
	by           calendar.Position // that redacted it
}

func secretSum(secret []byte) [32]byte {
	if len(secret) == 0 {
		return [32]byte{}
	}
	return sha256.Sum256(secret)
}

// page checks the next entries.
func (v *verification) page(ctx context.Context) error {
	limit := int(min(v.head-v.position, verifyPage))
	if v.single {
		limit = 1
	}
	entries, err := v.store.ReadStored(ctx, v.position, limit)
	switch {
	case errors.Is(err, ErrDamaged) && v.single:
		return Damaged(v.position+1, "%v", err)
	case errors.Is(err, ErrDamaged):
		v.single = true // find out which one it is
		return nil
	case err != nil:
		return fmt.Errorf("entry %d: %w", v.position+1, err)
	}
	if len(entries) == 0 {
		return Damaged(v.position+1, "it is missing")
	}
	leaves, err := v.store.Leaves(ctx, v.position, len(entries))
	if err != nil {
		return fmt.Errorf("entry %d: %w", v.position+1, err)
	}
	for i := range entries {
		p := v.position + 1
		e := &entries[i]
		if e.Position != p {
			return Damaged(p, "it is missing, the next one is %d", e.Position)
		}
		if i >= len(leaves) {
			return Damaged(p, "its leaf is missing")
		}
		if Leaf(e) != leaves[i] {
			if e.Redacted == nil && len(e.Fields)+len(e.State) == 0 {
				return Damaged(p, "it is blank, and no erasure is known of it")
			}
			return Damaged(p, "it does not fit its leaf")
		}
		if err := v.chain(ctx, p, leaves[i]); err != nil {
			return err
		}
		if err := v.fold(ctx, e); err != nil {
			return err
		}
		v.position = p
	}
	return nil
}

// behind looks whether an entry lies behind the last commit, where no reader comes
// until the next one is written over it. One that is written meanwhile has a commit.
func (v *verification) behind(ctx context.Context) error {
	entries, err := v.store.ReadStored(ctx, v.head, 1)
	if err != nil {
		return fmt.Errorf("entries behind the head %d: %w", v.head, err)
	}
	if len(entries) == 0 {
		return nil
	}
	commits, err := v.store.Commits(ctx, v.head, 1)
	if err != nil {
		return fmt.Errorf("commits behind the head %d: %w", v.head, err)
	}
	if p := entries[0].Position; len(commits) == 0 || p < commits[0].First || p > commits[0].Last {
		return Damaged(p, "it lies behind the last commit, which ends with entry %d", v.head)
	}
	return nil
}

// chain adds a leaf to its commit, and checks the commit when it is whole.
func (v *verification) chain(ctx context.Context, p calendar.Position, leaf [32]byte) error {
	if len(v.leaves) == 0 {
		if len(v.commits) == 0 {
			var err error
			if v.commits, err = v.store.Commits(ctx, p-1, verifyPage); err != nil {
				return fmt.Errorf("entry %d: commit: %w", p, err)
			}
		}
		if len(v.commits) == 0 {
			return Damaged(p, "its commit is missing")
		}
		v.commit, v.commits = v.commits[0], v.commits[1:]
		if v.commit.First != p || v.commit.Last < p {
			return Damaged(p, "its commit is missing, the next one is %d to %d", v.commit.First, v.commit.Last)
		}
	}
	v.leaves = append(v.leaves, leaf)
	if p < v.commit.Last {
		return nil
	}
	hash := ChainHash(v.hash, v.commit.First, v.leaves)
	if hash != v.commit.Hash {
		return Damaged(p, "the chain does not fit the commit %d to %d", v.commit.First, v.commit.Last)
	}
	v.hash, v.chained, v.leaves = hash, p, v.leaves[:0]
	return nil
}

// incomplete notes that something is left of an erased record.
func (v *verification) incomplete(p calendar.Position, kind calendar.Kind, id calendar.ID) {
	if v.found.Finding == FoundIncomplete {
		return
	}
	v.found.Finding, v.found.Position = FoundIncomplete, p
	v.found.Why = fmt.Sprintf("its record was erased and it is not blank, run again: daybook erase %s %d", kind, id)
}

// blank notes an entry that is redacted.
func (v *verification) blank(e *Entry, now lastEntry) error {
	if now.blank != 0 && now.by != e.Redacted.By {
		return Damaged(e.Position, "it is blank by entry %d, and entry %d of its record by entry %d", e.Redacted.By, now.blank, now.by)
	}
	v.found.Redacted++
	if !e.Blank() {
		v.incomplete(e.Position, e.Kind, e.ID)
	}
	if now.blank == 0 {
		now.blank, now.by = e.Position, e.Redacted.By
	}
	delete(v.kept, e.ID)
	v.last[e.ID] = now
	return nil
}

// erased checks an entry that erased its record.
func (v *verification) erased(e *Entry, stored *calendar.Record, before, now lastEntry) error {
	want := &calendar.Record{
		ID: e.ID, Kind: e.Kind, Version: e.Version, Home: stored.Home, Changed: Moment(e.Time), Deleted: true, Erased: true, Fields: calendar.Fields{},
	}
	if marks, ok := stored.Fields["imports"]; ok {
		want.Fields["imports"] = marks
	}
	if err := foldsTo(want, e.State); err != nil || string(e.Fields) != "{}" {
		return Damaged(e.Position, "more is left of the record than an erasure leaves")
	}
	if before.blank != 0 && before.by != e.Position {
		return Damaged(before.blank, "it is blank by entry %d, and its record was erased by entry %d", before.by, e.Position)
	}
	if before.plain != 0 {
		v.incomplete(before.plain, e.Kind, e.ID)
	}
	now.erased, now.plain, now.blank = true, 0, 0
	v.last[e.ID] = now
	v.found.Erasures = append(v.found.Erasures, FoundErasure{e.Position, e.Kind, e.ID, e.Cause.Reason})
	return nil
}

// blanks checks that what is blank was erased: by the end of the log, or meanwhile.
func (v *verification) blanks(ctx context.Context) error {
	var first lastEntry
	for id, last := range v.last {
		if last.blank == 0 {
			continue
		}
		if last.by > v.head {
			entries, err := v.store.ReadStored(ctx, last.by-1, 1)
			if err != nil {
				return fmt.Errorf("entry %d: %w", last.by, err)
			}
			if len(entries) > 0 && entries[0].Position == last.by && entries[0].ID == id && entries[0].Change == ErasedChange(last.kind) {
				continue
			}
		}
		if first.blank == 0 || last.blank < first.blank {
			first = last
		}
	}
	if first.blank != 0 {
		return Damaged(first.blank, "it is blank, and entry %d did not erase its record", first.by)
	}
	return nil
}

// fold checks an entry against the one before it of the same record.
func (v *verification) fold(ctx context.Context, e *Entry) error {
	before, known := v.last[e.ID]
	if e.Version != before.version+1 {
		return Damaged(e.Position, "version %d of record %d follows version %d", e.Version, e.ID, before.version)
	}
	if known && e.Kind != before.kind {
		return Damaged(e.Position, "record %d was of kind %s before, not %s", e.ID, before.kind, e.Kind)
	}
	if before.erased {
		return Damaged(e.Position, "record %d was erased before it", e.ID)
	}
	now := lastEntry{
		position: e.Position, version: e.Version, kind: e.Kind, secret: before.secret,
		plain: before.plain, blank: before.blank, by: before.by,
	}
	if e.Redacted != nil {
		return v.blank(e, now)
	}
	now.state = sha256.Sum256(e.State)
	if e.Secret != nil {
		now.secret = secretSum(e.Secret)
	}
	stored, err := calendar.DecodeRecord(e.State)
	if err != nil {
		return Damaged(e.Position, "state: %v", err)
	}
	change, err := calendar.DecodeChange(e.Change, e.ID, stored.Home, e.Fields)
	if err != nil {
		return Damaged(e.Position, "change: %v", err)
	}
	if change.Kind != e.Kind {
		return Damaged(e.Position, "%s is no change of kind %s", e.Change, e.Kind)
	}
	if e.Change == ErasedChange(e.Kind) {
		return v.erased(e, stored, before, now)
	}
	if now.plain == 0 {
		now.plain = e.Position
	}
	if before.blank != 0 { // what it follows is gone
		v.last[e.ID] = now
		return nil
	}
	record, gone, err := v.before(ctx, e, before)
	if err != nil {
		return err
	}
	if gone {
		v.last[e.ID] = now
		return nil
	}
	folded, err := calendar.Apply(record, change, e.Time)
	if err != nil {
		return Damaged(e.Position, "%v", err)
	}
	if err := foldsTo(folded, e.State); err != nil {
		return Damaged(e.Position, "%v", err)
	}
	if len(v.kept) >= verifyKept {
		clear(v.kept)
	}
	v.kept[e.ID] = stored
	v.last[e.ID] = now
	return nil
}

// before gives the record before an entry, nil for the first; gone tells that it was
// erased meanwhile.
func (v *verification) before(ctx context.Context, e *Entry, last lastEntry) (r *calendar.Record, gone bool, err error) {
	if e.Version == 1 {
		return nil, false, nil // none and no error
	}
	if r := v.kept[e.ID]; r != nil {
		return r, false, nil
	}
	entries, err := v.store.History(ctx, e.ID, e.Version-2, 1)
	if err != nil {
		return nil, false, fmt.Errorf("entry %d: history: %w", e.Position, err)
	}
	if len(entries) > 0 && entries[0].Redacted != nil && entries[0].Redacted.By > v.head {
		return nil, true, nil
	}
	if len(entries) == 0 || sha256.Sum256(entries[0].State) != last.state {
		return nil, false, Damaged(e.Position, "the history of record %d lacks version %d as it was read", e.ID, e.Version-1)
	}
	r, err = calendar.DecodeRecord(entries[0].State)
	return r, false, err
}

// foldsTo checks that a record has a state as its canonical JSON.
func foldsTo(folded *calendar.Record, state []byte) error {
	want, err := calendar.EncodeRecord(folded)
	if err == nil && !bytes.Equal(want, state) {
		err = fmt.Errorf("folding the changes of record %d does not give the stored record", folded.ID)
	}
	return err
}

// records checks the present states.
func (v *verification) records(ctx context.Context) error {
	found := 0
	for after := calendar.ID(0); ; {
		before := after
		states, err := v.store.Records(ctx, 0, after, verifyPage)
		if err != nil {
			return fmt.Errorf("records after %d: %w", after, err)
		}
		if len(states) == 0 {
			break
		}
		for i := range states {
			s := &states[i]
			if s.ID <= after {
				return Damaged(s.Position, "record %d is not after record %d", s.ID, after)
			}
			after = s.ID
			last, known := v.last[s.ID]
			if known {
				found++
			}
			if s.Position > v.head {
				if err := v.later(ctx, s, last); err != nil {
					return err
				}
				continue
			}
			switch {
			case !known || s.Position != last.position || s.Version != last.version || s.Kind != last.kind:
				return Damaged(last.position, "the present state of record %d is that of entry %d, version %d", s.ID, s.Position, s.Version)
			case sha256.Sum256(s.Record) != last.state:
				return Damaged(last.position, "the present state of record %d is another one", s.ID)
			case secretSum(s.Secret) != last.secret:
				return Damaged(last.position, "the present secret of record %d is another one", s.ID)
			}
		}
		if err := v.holdings(ctx, before, states); err != nil {
			return err
		}
	}
	if found == len(v.last) {
		return nil
	}
	// Find out which one it is.
	for id, last := range v.last {
		states, err := v.store.Load(ctx, id)
		if err != nil {
			return err
		}
		if states[0].Version == 0 {
			return Damaged(last.position, "record %d has no present state", id)
		}
	}
	return fmt.Errorf("%w: %d of %d records have a present state", ErrDamaged, found, len(v.last))
}

// holdings checks that the records of a page, which come after an id, hold the claims
// and names of their states and are found by them.
func (v *verification) holdings(ctx context.Context, after calendar.ID, states []State) error {
	wanted := make([]Holding, len(states))
	var claims []calendar.Claim
	var names []calendar.Name
	place := map[calendar.Name]int{} // of a name in names: many records may share it
	for i := range states {
		h, err := holdingOf(&states[i])
		if err != nil {
			return Damaged(states[i].Position, "present state: %v", err)
		}
		wanted[i] = h
		claims = append(claims, h.Claims...)
		for _, n := range h.Names {
			if _, seen := place[n]; !seen {
				place[n] = len(names)
				names = append(names, n)
			}
		}
	}
	held, err := v.store.Holdings(ctx, after, len(states))
	if err != nil {
		return fmt.Errorf("claims and names of records after %d: %w", after, err)
	}
	kept := make(map[calendar.ID]*Holding, len(held))
	for i := range held {
		kept[held[i].ID] = &held[i]
	}
	holders, having, err := v.store.Find(ctx, claims, names)
	if err != nil {
		return fmt.Errorf("find records by claims and names: %w", err)
	}
	for i := range wanted {
		h := &wanted[i]
		lost := ""
		for _, c := range h.Claims {
			if holders[0] != h.ID {
				lost = c.Space + " " + c.Key
			}
			holders = holders[1:]
		}
		for _, n := range h.Names {
			if _, has := slices.BinarySearch(having[place[n]], h.ID); !has {
				lost = n.Space + " " + n.Key
			}
		}
		own := kept[h.ID]
		if own == nil { // records that were added meanwhile moved it to the next page
			if held, err = v.store.Holdings(ctx, h.ID-1, 1); err != nil {
				return fmt.Errorf("claims and names of record %d: %w", h.ID, err)
			}
			own = &Holding{}
			if len(held) > 0 && held[0].ID == h.ID {
				own = &held[0]
			}
		}
		same := samePairs(h.Claims, own.Claims) && samePairs(h.Names, own.Names)
		if lost == "" && same {
			continue
		}
		// As it lies on the medium: Load may answer from memory, a moment before it
		// knows of a write that is on the medium already.
		now, err := v.store.Records(ctx, 0, h.ID-1, 1)
		if err != nil {
			return fmt.Errorf("record %d: %w", h.ID, err)
		}
		switch {
		case len(now) > 0 && now[0].ID == h.ID && now[0].Version != states[i].Version: // a write meanwhile changed it
		case lost != "":
			return Damaged(states[i].Position, "record %d is not found by %q", h.ID, lost)
		default:
			return Damaged(states[i].Position, "record %d holds other claims or names than its state tells", h.ID)
		}
	}
	return nil
}

// holdingOf gives the claims and names that a state asks for.
func holdingOf(s *State) (Holding, error) {
	r, err := calendar.DecodeRecord(s.Record)
	if err != nil {
		return Holding{}, err
	}
	h := Holding{ID: s.ID, Claims: calendar.Claims(r), Names: calendar.Names(r)}
	if s.Kind == calendar.KindUser && len(s.Secret) > 0 {
		h.Claims = append(h.Claims, calendar.TokenClaim(s.Secret))
	}
	return h, nil
}

// samePairs tells whether what is held are the claims or names that are wanted, each
// once and in any order.
func samePairs[P ~struct{ Space, Key string }](wanted, held []P) bool {
	order := func(x, y P) int {
		p, q := calendar.Claim(x), calendar.Claim(y)
		return cmp.Or(cmp.Compare(p.Space, q.Space), cmp.Compare(p.Key, q.Key))
	}
	wanted = slices.Compact(slices.SortedFunc(slices.Values(wanted), order))
	return slices.Equal(wanted, slices.SortedFunc(slices.Values(held), order))
}

// later checks a present state that is newer than the head of this run: its
// entry has to be there. The chain up to it is the business of the next run.
func (v *verification) later(ctx context.Context, s *State, last lastEntry) error {
	entries, err := v.store.ReadStored(ctx, s.Position-1, 1)
	if err != nil {
		return fmt.Errorf("entry %d: %w", s.Position, err)
	}
	switch {
	case len(entries) == 0 || entries[0].Position != s.Position || entries[0].ID != s.ID || entries[0].Version != s.Version,
		s.Version <= last.version:
		return Damaged(last.position, "the present state of record %d is that of entry %d, version %d", s.ID, s.Position, s.Version)
	case entries[0].Redacted != nil: // erased since the state was read; by whom is the business of the next run
		return nil
	case entries[0].Kind != s.Kind || !bytes.Equal(entries[0].State, s.Record):
		return Damaged(s.Position, "the present state of record %d is another one", s.ID)
	case entries[0].Secret != nil && secretSum(entries[0].Secret) != secretSum(s.Secret):
		return Damaged(s.Position, "the present secret of record %d is another one", s.ID)
	}
	return nil
}
