// Package verify checks that the log of a store, or an export of one, is what was written.
package verify

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
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
func (hash Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, hash[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (hash *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(hash)) {
		return fmt.Errorf("hash of %d characters, not %d", len(text), hex.EncodedLen(len(hash)))
	}
	_, err := hex.Decode(hash[:], text)
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
func (findings *Findings) Err() error {
	if findings.Result == Intact || findings.Result == Redacted {
		return nil
	}
	return &eventstore.DamageError{Position: findings.Position, Why: findings.Why}
}

// Damage makes an error that is ErrDamaged the finding, unless the log is known to be
// tampered with, and returns any other one.
func (findings *Findings) Damage(err error) error {
	if !errors.Is(err, eventstore.ErrDamaged) {
		return err
	}
	damage, ok := errors.AsType[*eventstore.DamageError](err)
	if !ok {
		damage = &eventstore.DamageError{Why: err.Error()}
	}
	if findings.Result != Tampered {
		findings.Result, findings.Position, findings.Why = Tampered, damage.Position, damage.Why
	}
	return nil
}

// Store checks the whole log of a store up to its present head: what Log checks, the
// chain of commits, that present states are those of the last entries, and that records
// hold just the claims and names of these states and are found by them. Others may write
// meanwhile: what they change is the business of the next run. Anyone who stores the hash of
// the last commit elsewhere can prove later that the log was not written again. progress
// may be nil. Receipts have no hash to be checked by.
func Store(ctx context.Context, store eventstore.Store, progress func(done, total calendar.Position)) (Findings, error) {
	head, err := store.Head(ctx, eventstore.Point{})
	if err != nil {
		return Findings{}, err
	}
	log := newLog(func(entry *eventstore.Entry) ([]byte, error) {
		before, err := store.At(ctx, eventstore.Point{Position: entry.Position - 1}, entry.ID)
		if err != nil {
			return nil, err
		}
		return before[0].State, nil
	})
	for entry, err := range eventstore.Log(ctx, store, head.Position) {
		if err == nil {
			err = log.check(entry)
		}
		if err != nil {
			return log.findings(err)
		}
		if progress != nil {
			progress(entry.Position, head.Position)
		}
	}
	for page, err := range eventstore.Records(ctx, store, 0) {
		if err == nil {
			err = log.present(ctx, store, page, head.Position)
		}
		if err != nil {
			return log.findings(err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(log.records)) {
		if record := log.records[id]; !record.present {
			return log.findings(eventstore.Damaged(record.Position, "record %d has no present state", id))
		}
	}
	return log.findings(nil)
}

// present checks records by what the log says of them. Those that were changed meanwhile are
// the business of the next run.
func (log *log) present(ctx context.Context, store eventstore.Store, page []eventstore.Held, head calendar.Position) error {
	var lookup eventstore.Lookup
	for i := range page {
		lookup.Claims, lookup.Names = append(lookup.Claims, page[i].Claims...), append(lookup.Names, page[i].Names...)
	}
	found, err := store.Find(ctx, lookup)
	if err != nil {
		return err
	}
	for i := range page {
		held, checked := &page[i], cmp.Or(log.records[page[i].ID], &record{})
		checked.present = true
		last := &eventstore.Held{State: held.State, Erased: held.Erased}
		last.Record = digest(held.Record)
		claims, names, err := eventstore.Holds(&held.State)
		holds := slices.Equal(claims, held.Claims) && slices.Equal(names, held.Names)
		for range held.Claims {
			holds, found.Holders = holds && found.Holders[0] == held.ID, found.Holders[1:]
		}
		for range held.Names {
			holds, found.Named = holds && slices.Contains(found.Named[0], held.ID), found.Named[1:]
		}
		switch {
		case held.Position > head:
			if held.Erased && held.Position == checked.by {
				checked.blank = 0
			}
		case err != nil || !reflect.DeepEqual(last, checked.Held):
			return eventstore.Damaged(held.Position, "the present state of record %d is not that of its last entry", held.ID)
		case !holds:
			// Load may answer from a cache, from before what Find read.
			now, err := store.Records(ctx, 0, held.ID-1, 1)
			if err != nil {
				return err
			}
			if len(now) > 0 && now[0].Version == held.Version { // else it changed before it was looked for
				return eventstore.Damaged(held.Position, "record %d holds other claims or names than its state tells, or is not found by them", held.ID)
			}
		}
	}
	return nil
}
