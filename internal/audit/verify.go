package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
	"daybook/internal/proof"
)

// Trust is what a log is checked against.
type Trust struct {
	// Keys are those of the log; a checkpoint by none of them is none.
	Keys []*proof.Key `name:"key" type:"vkey" commandline:"" placeholder:"VKEY" help:"key that signed the log; may be repeated"`
	// Witnesses are keys whose cosignatures are checked too.
	Witnesses []*proof.Key `name:"witness" type:"vkey" commandline:"" placeholder:"VKEY" help:"key of a witness; may be repeated"`
	// Checkpoints are stored elsewhere.
	Checkpoints [][]byte `name:"checkpoint" type:"note" commandline:"" placeholder:"FILE" help:"file of a checkpoint that was kept elsewhere; may be repeated"`
}

// Verified is what was found of a log.
type Verified struct {
	verify.Findings

	Signed      calendar.Position `json:"signed"`   // entries that the greatest checkpoint covers
	Unsigned    calendar.Position `json:"unsigned"` // the others
	Checkpoints int               `json:"checkpoints"`
}

// check checks signed notes by the tree of a log that was not tampered with. What does not
// fit is a finding, as of the first one. A note that no key of Trust signed is none.
func (trust Trust) check(ctx context.Context, found verify.Findings, tree *proof.Tree, notes [][]byte) (Verified, error) {
	verified := Verified{Findings: found}
	seen := map[calendar.Position]bool{0: true} // the note of a key that signed nothing yet
	for _, note := range slices.Concat(notes, trust.Checkpoints) {
		if found.Result == verify.Tampered {
			break
		}
		head, err := proof.Open(note, trust.Keys...)
		if err == nil {
			_, err = proof.Open(note, slices.Concat(trust.Keys, trust.Witnesses)...)
		}
		if errors.Is(err, proof.ErrUnsigned) {
			continue
		}
		var root proof.Hash
		switch {
		case err != nil:
			head, _ = proof.ReadHead(note)
			err = eventstore.Damaged(head.Size, "its checkpoint: %v", err)
		case head.Size > found.Entries:
			err = eventstore.Damaged(found.Entries+1, "it is missing, a checkpoint of %d entries was signed", head.Size)
		default:
			if root, err = tree.Root(ctx, head.Size); err == nil && root != head.Root {
				err = eventstore.Damaged(head.Size, "the first %d entries are not those that were signed", head.Size)
			}
		}
		if err == nil {
			seen[head.Size], verified.Signed = true, max(verified.Signed, head.Size)
		} else if err = verified.Damage(err); err != nil {
			return verified, err
		}
	}
	verified.Checkpoints, verified.Unsigned = len(seen)-1, found.Entries-verified.Signed
	return verified, nil
}

// VerifyStore checks a store and its checkpoints. Without keys of Trust they are those
// that the store names.
func VerifyStore(ctx context.Context, store eventstore.Store, tree *proof.Tree, trust Trust, progress func(done, total calendar.Position)) (Verified, error) {
	found, err := verify.Store(ctx, store, progress)
	if err != nil {
		return Verified{}, err
	}
	var notes [][]byte
	newest := &eventstore.Checkpoint{}
	for checkpoint, err := range eventstore.Checkpoints(ctx, store, found.Entries) {
		if err != nil {
			return Verified{}, err
		}
		newest, notes = checkpoint, append(notes, checkpoint.Note)
	}
	if len(trust.Keys) == 0 {
		known, err := proof.ReadKeys(newest)
		if err != nil {
			return Verified{}, err
		}
		for _, span := range known.Keys {
			key, err := proof.ParseKey(span.VKey)
			if err != nil {
				return Verified{}, fmt.Errorf("%w: %w", eventstore.ErrDamaged, err)
			}
			trust.Keys = append(trust.Keys, key)
		}
	}
	return trust.check(ctx, found, tree, notes)
}

// leaves are those of an export, in memory.
type leaves [][32]byte

func (leaves leaves) Epoch() eventstore.Epoch { return eventstore.Epoch{} }

func (leaves leaves) Read(_ context.Context, bounds eventstore.Range) (entries []eventstore.Entry, _ error) {
	for _, leaf := range leaves[bounds.After:][:bounds.Limit] {
		entries = append(entries, eventstore.Entry{Leaf: leaf})
	}
	return entries, nil
}

// VerifyExport checks an export and nothing else: its form, its entries, its
// checkpoints, and those of Trust (HISTORY 16.2). It keeps the leaves and the last state
// of each record in memory. What is no export is an error.
func VerifyExport(ctx context.Context, from io.Reader, trust Trust) (Verified, error) {
	reader := reader{lines: bufio.NewReaderSize(from, 1<<16), states: map[calendar.ID][]byte{}}
	if _, err := reader.next(&reader.first); err != nil || reader.Daybook != exportForm {
		return Verified{}, fmt.Errorf("it is no export of daybook: its first line does not tell %q", exportForm)
	}
	found, err := verify.Log(reader.entries, func(entry *eventstore.Entry) ([]byte, error) { return reader.states[entry.ID], nil })
	if err != nil {
		return Verified{}, err
	}
	return trust.check(ctx, found, proof.NewTree(reader.leaves), reader.notes)
}
