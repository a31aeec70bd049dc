// Package verify checks that the log of a store, or an export of one, is what was written.
package verify

import (
	"bytes"
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
	r.log = newLog(r.before)
	err = r.read(r.entries)
	if err == nil {
		err = r.behind()
	}
	if err == nil {
		err = r.present()
	}
	if err == nil {
		err = r.blanks()
	}
	return r.findings(err)
}

// reading is a store that is read by one call of Store.
type reading struct {
	eventstore.Store
	*log

	ctx      context.Context //nolint:containedctx // of the one call
	head     calendar.Position
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
		if err == nil && eventstore.ChainHash(r.Findings.Head, commit.First, commit.Leaves) != commit.Hash {
			err = eventstore.Damaged(commit.Last, "the chain does not fit the commit %d to %d", commit.First, commit.Last)
		}
		if err != nil {
			yield(Entry{}, err)
			return
		}
		r.Findings.Head = commit.Hash
		if r.progress != nil {
			r.progress(commit.Last, r.head)
		}
	}
}

// version returns the entry of a version of a record, one without a position where there
// is none.
func (r *reading) version(id calendar.ID, version int64) (eventstore.Entry, error) {
	entries, err := r.Read(r.ctx, eventstore.Range{Record: id, After: uint64(version - 1), Limit: 1})
	return append(entries, eventstore.Entry{})[0], err
}

// before implements Before.
func (r *reading) before(id calendar.ID, version int64) ([]byte, error) {
	e, err := r.version(id, version)
	if err == nil && e.Redacted != nil {
		return nil, nil
	}
	return append([]byte{}, e.State...), err
}

// behind looks for an entry behind the last commit, where no reader comes until the next
// one is written over it. One that is written meanwhile has a commit.
func (r *reading) behind() error {
	entries, err := r.Read(r.ctx, eventstore.Range{After: uint64(r.head), Limit: 1})
	if err != nil || len(entries) == 0 {
		return err
	}
	commits, err := r.Commits(r.ctx, r.head+1, 1)
	if err == nil && len(commits) == 0 {
		err = eventstore.Damaged(entries[0].Position, "it lies behind the last commit, which ends with entry %d", r.head)
	}
	return err
}

// statePage is how many present states are read at once.
const statePage = 500

// present checks the present states.
func (r *reading) present() error {
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
			last := r.records[h.ID]
			if last == nil {
				last = &record{}
			}
			last.present = true
			if err := r.state(h, last); err != nil {
				return err
			}
		}
		if err := r.holdings(page); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.records)) {
		if last := r.records[id]; !last.present {
			return eventstore.Damaged(last.position, "record %d has no present state", id)
		}
	}
	return nil
}

// state checks a present state by the last entry that was read of its record, or by its
// own when that is newer. The chain up to it is the business of the next run.
func (r *reading) state(h *eventstore.Held, last *record) error {
	if h.Position > r.head {
		e, err := r.version(h.ID, h.Version)
		if err != nil || e.Redacted != nil { // erased since the state was read
			return err
		}
		if e.Position != h.Position || !bytes.Equal(e.State, h.Record) || e.Secret != nil && !bytes.Equal(e.Secret, h.Secret) {
			return eventstore.Damaged(h.Position, "the present state of record %d is not that of its entry", h.ID)
		}
		if h.Erased && h.Position == last.by {
			last.blank = 0
		}
		return nil
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
	var l eventstore.Lookup
	claims, names := make([][]calendar.Claim, len(page)), make([][]calendar.Name, len(page))
	for i := range page {
		var err error
		if claims[i], names[i], err = eventstore.Holds(&page[i].State); err != nil {
			return eventstore.Damaged(page[i].Position, "present state: %v", err)
		}
		l.Claims, l.Names = append(l.Claims, claims[i]...), append(l.Names, names[i]...)
	}
	found, err := r.Find(r.ctx, l)
	if err != nil {
		return fmt.Errorf("find records by claims and names: %w", err)
	}
	for i := range page {
		h, why := &page[i], ""
		if !slices.Equal(claims[i], eventstore.InOrder(h.Claims)) || !slices.Equal(names[i], eventstore.InOrder(h.Names)) {
			why = fmt.Sprintf("record %d holds other claims or names than its state tells", h.ID)
		}
		for _, c := range claims[i] {
			if found.Holders[0] != h.ID {
				why = fmt.Sprintf("record %d is not found by %q", h.ID, c.Space+" "+c.Key)
			}
			found.Holders = found.Holders[1:]
		}
		for _, n := range names[i] {
			if !slices.Contains(found.Named[0], h.ID) {
				why = fmt.Sprintf("record %d is not found by %q", h.ID, n.Space+" "+n.Key)
			}
			found.Named = found.Named[1:]
		}
		if why == "" {
			continue
		}
		// Load may answer from memory, a moment before it knows of a write.
		now, err := r.Records(r.ctx, 0, h.ID-1, 1)
		if err != nil {
			return fmt.Errorf("record %d: %w", h.ID, err)
		}
		if len(now) == 0 || now[0].ID != h.ID || now[0].Version <= h.Version {
			return &eventstore.DamageError{Position: h.Position, Why: why}
		}
	}
	return nil
}
