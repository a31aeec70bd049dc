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
	Keys []*proof.Key `name:"key" type:"logkey" commandline:"" placeholder:"VKEY" help:"key that signed the log; may be repeated"`
	// Witnesses are keys whose cosignatures are checked too.
	Witnesses []*proof.Key `name:"witness" type:"witnesskey" commandline:"" placeholder:"VKEY" help:"key of a witness; may be repeated"`
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

// finish checks signed notes by the tree of a log that was not tampered with. What does not
// fit is a finding, as of the first one.
func (verified *Verified) finish(ctx context.Context, tree *proof.Tree, trust Trust, notes [][]byte) error {
	seen := map[calendar.Position]bool{0: true}
	for _, note := range slices.Concat(notes, trust.Checkpoints) {
		size, err := verified.check(ctx, tree, trust, note)
		if err == nil {
			seen[size], verified.Signed = true, max(verified.Signed, size)
		} else if err = verified.Damage(err); err != nil {
			return err
		}
	}
	verified.Checkpoints, verified.Unsigned = len(seen)-1, verified.Entries-verified.Signed
	return nil
}

// check returns the size of the checkpoint of a note, 0 for one that is not signed by a key
// of Trust.
func (verified *Verified) check(ctx context.Context, tree *proof.Tree, trust Trust, note []byte) (calendar.Position, error) {
	head, err := proof.Open(note, trust.Keys...)
	if err == nil {
		_, err = proof.Open(note, slices.Concat(trust.Keys, trust.Witnesses)...)
	}
	switch {
	case errors.Is(err, proof.ErrUnsigned):
		return 0, nil
	case err != nil:
		head, _ = proof.ReadHead(note)
		return 0, eventstore.Damaged(head.Size, "its checkpoint: %v", err)
	case head.Size > verified.Entries:
		return 0, eventstore.Damaged(verified.Entries+1, "it is missing, a checkpoint of %d entries was signed", head.Size)
	}
	root, err := tree.Root(ctx, head.Size)
	if err == nil && root != head.Root {
		err = eventstore.Damaged(head.Size, "the first %d entries are not those that were signed", head.Size)
	}
	return head.Size, err
}

// VerifyStore checks a store and its checkpoints. Without keys of Trust they are those
// that the store names.
func VerifyStore(ctx context.Context, store eventstore.Store, tree *proof.Tree, trust Trust, progress func(done, total calendar.Position)) (Verified, error) {
	found, err := verify.Store(ctx, store, progress)
	verified := Verified{Findings: found, Unsigned: found.Entries}
	if err != nil || found.Result == verify.Tampered {
		return verified, err
	}
	var notes [][]byte
	newest := &eventstore.Checkpoint{}
	for checkpoint, err := range eventstore.Checkpoints(ctx, store, found.Entries) {
		if err != nil {
			return verified, err
		}
		newest, notes = checkpoint, append(notes, checkpoint.Note)
	}
	if len(trust.Keys) == 0 {
		if trust.Keys, err = keysOf(newest); err != nil {
			return verified, err
		}
	}
	err = verified.finish(ctx, tree, trust, notes)
	return verified, err
}

// keysOf returns the keys that a checkpoint names.
func keysOf(checkpoint *eventstore.Checkpoint) (keys []*proof.Key, err error) {
	known, err := proof.ReadKeys(checkpoint)
	for _, span := range known.Keys {
		key, bad := proof.ParseKey(span.VKey)
		if bad != nil {
			return nil, fmt.Errorf("%w: %w", eventstore.ErrDamaged, bad)
		}
		keys = append(keys, key)
	}
	return keys, err
}

// leaves are those of an export, in memory.
type leaves [][32]byte

func (leaves *leaves) Epoch() eventstore.Epoch { return eventstore.Epoch{} }

func (leaves *leaves) Commits(_ context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error) {
	rest := (*leaves)[min(int(from)-1, len(*leaves)):]
	return []eventstore.Commit{{First: from, Leaves: rest[:min(limit, len(rest))]}}[:min(len(rest), 1)], nil
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
	verified := Verified{Findings: found, Unsigned: found.Entries}
	if err == nil && found.Result != verify.Tampered {
		err = verified.finish(ctx, proof.NewTree(&reader.leaves), trust, reader.notes)
	}
	return verified, err
}
