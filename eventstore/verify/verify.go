// Package verify checks that the log of a store, or an export of one, is what was written.
package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
)

// Result is what was found of a log as a whole.
type Result string

// The results (HISTORY 14.5), the worst one counts.
const (
	Intact     Result = "intact"
	Redacted   Result = "redacted"   // as intact, and records were erased
	Incomplete Result = "incomplete" // something of an erased record is left: it has to be erased again
	Tampered   Result = "tampered"   // what is there is not what was written
)

// Findings are what was found of a log.
type Findings struct {
	Result   Result            `json:"result"`
	Entries  calendar.Position `json:"entries"`       // how many were checked; all of them unless it is tampered
	Head     Hash              `json:"head,omitzero"` // of the last commit that was checked; exports have none
	Redacted int               `json:"redacted"`      // entries that are redacted, each fits its leaf
	Erasures []Erasure         `json:"erasures"`
	// Of what is tampered or incomplete: the first entry, 0 when none is at fault, and why.
	Position calendar.Position `json:"position,omitempty"`
	Why      string            `json:"why,omitempty"`
}

// Hash is the hash of a commit, in texts hexadecimal.
type Hash [32]byte

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("hash of %d characters, not %d", len(text), hex.EncodedLen(len(h)))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Erasure is an entry that erased a record.
type Erasure struct {
	Position calendar.Position `json:"position"`
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Reason   string            `json:"reason"`
}

// Err is ErrDamaged of what is tampered or incomplete, with the position and why.
func (f *Findings) Err() error {
	if f.Result == Intact || f.Result == Redacted {
		return nil
	}
	return &eventstore.DamageError{Position: f.Position, Why: f.Why}
}

// Damage makes an error that is ErrDamaged the finding, unless the log is known to be
// tampered with, and returns any other one.
func (f *Findings) Damage(err error) error {
	if !errors.Is(err, eventstore.ErrDamaged) {
		return err
	}
	damage, ok := errors.AsType[*eventstore.DamageError](err)
	if !ok {
		damage = &eventstore.DamageError{Why: err.Error()}
	}
	if f.Result != Tampered {
		f.Result, f.Position, f.Why = Tampered, damage.Position, damage.Why
	}
	return nil
}

// Store checks the whole log of a store up to its present head: what Log checks, the
// chain of commits, that present states are those of the last entries, and that records
// hold just the claims and names of these states and are found by them. Others may write
// meanwhile. Whoever stores the hash of the last commit elsewhere can prove later that the
// log was not written again. progress may be nil. Receipts have no hash to be checked by.
func Store(ctx context.Context, s eventstore.Store, progress func(done, total calendar.Position)) (Findings, error) {
	head, err := s.Head(ctx, eventstore.Point{})
	if err != nil {
		return Findings{}, err
	}
	r := &reading{Store: s, ctx: ctx, head: head.Position, progress: progress}
	l := newLog(r.before)
	err = l.read(r.entries)
	if err == nil {
		err = r.behind()
	}
	if err == nil {
		err = l.blanks(r.erasedLater)
	}
	if err == nil {
		err = r.present(l.records)
	}
	l.Head = r.hash
	return l.findings(err)
}

// reading is a store that is read by one call of Store.
type reading struct {
	eventstore.Store

	ctx      context.Context //nolint:containedctx // of the one call
	head     calendar.Position
	hash     Hash
	progress func(done, total calendar.Position)
}

// entries yields the entries, and checks the chain of their commits.
func (r *reading) entries(yield func(Entry, error) bool) {
	for commit, err := range eventstore.Log(r.ctx, r, r.head) {
		for i, e := range commit.Entries {
			if !yield(Entry{eventstore.Leafed{Entry: e, Leaf: commit.Leaves[i]}, eventstore.SecretSum(&e)}, nil) {
				return
			}
		}
		if err == nil {
			if hash := eventstore.ChainHash(r.hash, commit.First, commit.Leaves); hash == commit.Hash {
				r.hash = hash
			} else {
				err = eventstore.Damaged(commit.Last, "the chain does not fit the commit %d to %d", commit.First, commit.Last)
			}
		}
		if err != nil {
			yield(Entry{}, err)
			return
		}
		if r.progress != nil {
			r.progress(commit.Last, r.head)
		}
	}
}

// before implements Before.
func (r *reading) before(id calendar.ID, version int64) ([]byte, error) {
	entries, err := r.Read(r.ctx, eventstore.Range{Record: id, After: uint64(version - 1), Limit: 1})
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return []byte{}, nil
	case entries[0].Redacted != nil:
		return nil, nil
	}
	return entries[0].State, nil
}

// behind looks for an entry behind the last commit, where no reader comes until the next
// one is written over it. One that is written meanwhile has a commit.
func (r *reading) behind() error {
	entries, err := r.Read(r.ctx, eventstore.Range{After: uint64(r.head), Limit: 1})
	if err != nil || len(entries) == 0 {
		return err
	}
	p := entries[0].Position
	commits, err := r.Commits(r.ctx, p, 1)
	if err == nil && (len(commits) == 0 || p < commits[0].First || p > commits[0].Last) {
		err = eventstore.Damaged(p, "it lies behind the last commit, which ends with entry %d", r.head)
	}
	return err
}

// erasedLater reports whether an entry behind the head erased a record.
func (r *reading) erasedLater(id calendar.ID, by calendar.Position) (bool, error) {
	h, err := r.now(id)
	return h.Erased && h.Position == by, err
}

// now returns a record as it lies on the medium: Load may answer from memory, a moment
// before it knows of a write.
func (r *reading) now(id calendar.ID) (eventstore.Held, error) {
	found, err := r.Records(r.ctx, 0, id-1, 1)
	if err != nil || len(found) == 0 || found[0].ID != id {
		return eventstore.Held{}, err
	}
	return found[0], nil
}

// statePage is how many present states are read at once.
const statePage = 500

// present checks the present states.
func (r *reading) present(records map[calendar.ID]*record) error {
	for after := calendar.ID(0); ; {
		page, err := r.Records(r.ctx, 0, after, statePage)
		if err != nil {
			return fmt.Errorf("records after %d: %w", after, err)
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			h := &page[i]
			if h.ID <= after {
				return eventstore.Damaged(h.Position, "record %d is not after record %d", h.ID, after)
			}
			after = h.ID
			if err := r.state(h, records[h.ID]); err != nil {
				return err
			}
			delete(records, h.ID)
		}
		if err := r.holdings(page); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(records)) {
		return eventstore.Damaged(records[id].position, "record %d has no present state", id)
	}
	return nil
}

// state checks a present state by the last entry that was read of its record, nil for
// none, or by its own when that is newer. The chain up to it is the business of the next run.
func (r *reading) state(h *eventstore.Held, last *record) error {
	if last == nil {
		last = &record{}
	}
	if h.Position > r.head {
		entries, err := r.Read(r.ctx, eventstore.Range{Record: h.ID, After: uint64(h.Version - 1), Limit: 1})
		if err != nil {
			return fmt.Errorf("entry %d: %w", h.Position, err)
		}
		if len(entries) > 0 {
			e := &entries[0]
			if e.Redacted != nil { // erased since the state was read
				return nil
			}
			last = &record{position: e.Position, version: e.Version, kind: e.Kind, state: sha256.Sum256(e.State), secret: eventstore.SumOf(h.Secret)}
			if e.Secret != nil {
				last.secret = eventstore.SumOf(e.Secret)
			}
		}
	}
	switch {
	case h.Position != last.position || h.Version != last.version || h.Kind != last.kind:
		return eventstore.Damaged(last.position, "the present state of record %d is that of entry %d, version %d", h.ID, h.Position, h.Version)
	case sha256.Sum256(h.Record) != last.state:
		return eventstore.Damaged(last.position, "the present state of record %d is another one", h.ID)
	case eventstore.SumOf(h.Secret) != last.secret:
		return eventstore.Damaged(last.position, "the present secret of record %d is another one", h.ID)
	}
	return nil
}

// holdings checks that records hold the claims and names of their states and are found by
// them, unless they were changed meanwhile.
func (r *reading) holdings(page []eventstore.Held) error {
	want := slices.Clone(page)
	var l eventstore.Lookup
	for i := range want {
		var err error
		if want[i].Claims, want[i].Names, err = eventstore.Holds(&want[i].State); err != nil {
			return eventstore.Damaged(want[i].Position, "present state: %v", err)
		}
		l.Claims, l.Names = append(l.Claims, want[i].Claims...), append(l.Names, want[i].Names...)
	}
	l.Names = eventstore.InOrder(l.Names) // many records may share one
	found, err := r.Find(r.ctx, l)
	if err != nil {
		return fmt.Errorf("find records by claims and names: %w", err)
	}
	holders := make(map[calendar.Claim][]calendar.ID, len(l.Claims)+len(l.Names)) // ascending; no claim is a name
	for i, c := range l.Claims {
		holders[c] = found.Holders[i : i+1]
	}
	for i, n := range l.Names {
		holders[n] = found.Named[i]
	}
	for i := range want {
		h, why := &want[i], ""
		if !slices.Equal(h.Claims, eventstore.InOrder(page[i].Claims)) || !slices.Equal(h.Names, eventstore.InOrder(page[i].Names)) {
			why = fmt.Sprintf("record %d holds other claims or names than its state tells", h.ID)
		}
		for _, c := range slices.Concat(h.Claims, h.Names) {
			if _, has := slices.BinarySearch(holders[c], h.ID); !has {
				why = fmt.Sprintf("record %d is not found by %q", h.ID, c.Space+" "+c.Key)
			}
		}
		if why == "" {
			continue
		}
		now, err := r.now(h.ID)
		if err != nil {
			return fmt.Errorf("record %d: %w", h.ID, err)
		}
		if now.Version <= h.Version {
			return &eventstore.DamageError{Position: h.Position, Why: why}
		}
	}
	return nil
}
