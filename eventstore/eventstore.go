// Package eventstore is the port to the event store: what a store promises, whichever
// engine keeps it.
package eventstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"daybook/calendar"
)

// The errors of a store. Adapters turn every driver error into one of these by
// code, or leave it wrapped as internal.
var (
	ErrConflict    = errors.New("version conflict")        // the expected version or a guard does not hold
	ErrKeyReused   = errors.New("idempotency key reused")  // same key, another fingerprint
	ErrUnavailable = errors.New("event store unavailable") // try again later
	ErrClosed      = errors.New("event store closed")
	ErrDamaged     = errors.New("event store damaged") // what is stored is not what was written
	ErrNotEmpty    = errors.New("event store is not empty")
	ErrNoStore     = errors.New("there is no event store") // none was ever made
	ErrHistory     = errors.New("the event store holds another history")
	ErrAhead       = fmt.Errorf("%w: position is ahead of it", ErrHistory)
)

// ClaimError says that another record holds a claim.
type ClaimError struct {
	Claim  calendar.Claim
	Holder calendar.ID
}

// Error names the claim and its holder.
func (claimError *ClaimError) Error() string {
	return fmt.Sprintf("claim %s/%s is held by %d", claimError.Claim.Space, claimError.Claim.Key, claimError.Holder)
}

// Store keeps entries in one global order and the present state of records.
// Bytes and lists that it was given or returned are shared: no one changes them
// afterwards. Positions are dense and in commit order. An Append is durable when
// its Result comes back without an error; a call whose context ends may still have
// written. All methods are safe for concurrent use. Every method but Epoch may
// return ErrUnavailable, ErrClosed, ErrDamaged and the error of the context.
type Store interface {
	// Append writes an Append whole or not at all. Those of concurrent calls may share a
	// commit; one that loses does not harm the others. Checks in order: receipt, epoch,
	// versions (a record of another kind, or an erased one, is a conflict too), guards as
	// they are before the Append, claims as they would be after it, redactions,
	// checkpoint. An Append of nothing does what Sync does.
	Append(ctx context.Context, addition Append) Result

	// Receipt returns the receipt of a user's idempotency key, nil if none exists.
	// One that is returned is durable, and so is the write that it was stored with.
	// Receipts are kept for at least 24 hours.
	Receipt(ctx context.Context, user calendar.ID, key string) (*Receipt, error)

	// Sync returns when all that could be read before the call is durable, at
	// synchronous standbys too.
	Sync(ctx context.Context) error

	// NewID returns a fresh id. One that no Append uses may be returned again after a
	// restart, a used one never.
	NewID(ctx context.Context) (calendar.ID, error)

	// Load returns the present states of records, in the order of ids, Version 0 for
	// unknown ones. It sees every Append that was answered.
	Load(ctx context.Context, ids ...calendar.ID) ([]State, error)

	// At returns for each id the entry with the greatest version among those that
	// count at a point, Version 0 where none counts. A position above the head counts
	// all. Entries that were redacted since then come as they are now.
	At(ctx context.Context, point Point, ids ...calendar.ID) ([]Entry, error)

	// Find looks up claims, names, past slugs and checkpoints.
	Find(ctx context.Context, lookup Lookup) (Found, error)

	// Records returns up to limit records of a kind (0: of all) with ids greater than
	// after, by id, deleted ones too, with the claims and names that are stored of
	// them, by space and key. ErrDamaged, for kind 0: some are stored of an id in between
	// that has no record.
	Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]Held, error)

	// Read returns up to bounds.Limit entries of the log or of one record, without a gap.
	// Pages end after PageBytes too, unless leaves are enough; an empty one is behind the
	// last.
	Read(ctx context.Context, bounds Range) ([]Entry, error)

	// Head returns where the log stands, of the entries that count at a point; the
	// zero Point counts all. It is never behind an entry that Read returned before in
	// the same epoch. A position above the head is ErrAhead.
	Head(ctx context.Context, point Point) (Head, error)

	// Epoch returns what caches of this process are valid for, without I/O. Anyone who
	// stores what it read stores the epoch from before the read with it.
	Epoch() Epoch
}

// Epoch counts what makes cached reads invalid.
type Epoch struct {
	History  uint64 // another history was found: a failover, a backup that was put back
	Erasures uint64 // records were erased, which have to leave the memory (docs/spec/history.md 14.2)
}

// After reports whether an epoch of a store came after another one. Neither number ever falls.
func (epoch Epoch) After(other Epoch) bool {
	return epoch.History+epoch.Erasures > other.History+other.Erasures
}

// Head is where a log stands.
type Head struct {
	calendar.Mark // of the last entry that counts

	Time  time.Time // greatest time of the entries that count; zero for the zero Point
	UUID  [16]byte  // of the store, for ever, in copies too
	Epoch Epoch
	// Moved is closed when there is another head, another epoch, or the store is closed.
	Moved <-chan struct{}
}

// Wait returns the head once it is beyond a position. ErrHistory: the store went over
// to another history meanwhile.
func Wait(ctx context.Context, store Store, after calendar.Position) (Head, error) {
	began := store.Epoch().History
	for {
		head, err := store.Head(ctx, Point{})
		switch {
		case err != nil:
			return head, err
		case head.Epoch.History != began:
			return head, ErrHistory
		case head.Position > after:
			return head, nil
		}
		select {
		case <-head.Moved:
		case <-ctx.Done():
			return head, ctx.Err()
		}
	}
}

// CheckMark returns ErrHistory when a store does not hold the history of a mark.
func CheckMark(ctx context.Context, store Store, mark calendar.Mark) error {
	if mark.Position == 0 {
		return nil
	}
	head, err := store.Head(ctx, Point{Position: mark.Position})
	if err != nil {
		return fmt.Errorf("mark of entry %d: %w", mark.Position, err)
	}
	if head.Mark != mark {
		return fmt.Errorf("%w: it has mark %s, known is %s", ErrHistory, head.Mark, mark)
	}
	return nil
}

// CheckpointAt returns the checkpoint of a size, of 0 the newest; one of size 0 where there
// is none.
func CheckpointAt(ctx context.Context, store Store, size calendar.Position) (checkpoint Checkpoint, err error) {
	found, err := store.Find(ctx, Lookup{Signed: Range{After: uint64(max(size, 1) - 1), Limit: 1, Recent: size == 0}})
	if len(found.Signed) > 0 && (size == 0 || found.Signed[0].Size == size) {
		checkpoint = found.Signed[0]
	}
	return checkpoint, err
}

// Range names entries: of the log by position, or of one record by version.
type Range struct {
	Record calendar.ID // 0: the log
	After  uint64      // position or version
	Limit  int
	Recent bool // of the log, who follows it: entries may come from memory, as they were written; of checkpoints: the newest first
	Leaves bool // of the log: Position, Leaf and Commit are enough, the rest may be left out
}

// Lookup is what Find looks up.
type Lookup struct {
	Claims []calendar.Claim
	Names  []calendar.Name
	Slugs  []calendar.Claim // claims on slugs, for who took them when
	Signed Range            // checkpoints by size
}

// Found is what Find found, in the order of the Lookup.
type Found struct {
	Holders []calendar.ID   // of claims, 0 for free ones
	Named   [][]calendar.ID // ascending
	Taken   []TakenClaim    // of each slug the last one first; erased records never had one
	Signed  []Checkpoint
}

// TakenClaim says that a record took a claim on a slug with the entry at Position.
type TakenClaim struct {
	Claim    calendar.Claim
	Position calendar.Position
	Record   calendar.ID
}

// Mark is calendar.Mark: read models keep it too.
type Mark = calendar.Mark

// Cause is where a change came from.
type Cause struct {
	Client  string `json:"client,omitempty"`  // user agent or "import"
	Request string `json:"request,omitempty"` // request id
	Reason  string `json:"reason,omitempty"`
}

// Entry is a change as the store keeps it.
type Entry struct {
	Position calendar.Position
	Kind     calendar.Kind
	ID       calendar.ID
	Version  int64
	Time     time.Time   // UTC, whole milliseconds
	Actor    calendar.ID // user, 0 the service itself
	Cause    Cause
	Change   string          // name of the change: "event.updated"
	Fields   json.RawMessage // the fields that changed, canonical JSON
	State    json.RawMessage // the record after it, canonical JSON
	// Secret that the change set; nil when it left it, empty when it removed it. It is
	// never on the feed, nor are the salts.
	Secret   []byte
	Salts    Salts
	Redacted *Redacted // what is left of an entry whose record was erased; nil: all

	Leaf   [32]byte // as it was written, see Leaf
	Commit Commit   // that it is in
	// SecretSum is the SHA-256 of a Secret that is not told, as in exports.
	SecretSum *[32]byte
}

// Mark returns the mark of the log up to the entry.
func (entry *Entry) Mark() Mark { return Mark{Position: entry.Position, Hash: entry.Commit.Hash} }

// Draft is an entry to be, see NewDraft: Kind, ID, Version, Change, Fields, State and Secret
// of it. With Version 1 the record must not exist yet.
type Draft struct {
	Entry

	Claims []calendar.Claim // all that the record holds after the change
	Names  []calendar.Name  // all that it is found by after the change
}

// Guard holds when just as many records are found by the name as when the change was
// decided.
type Guard struct {
	Name  calendar.Name
	Count int
}

// State is the present state of a record.
type State struct {
	Kind     calendar.Kind
	ID       calendar.ID
	Version  int64
	Position calendar.Position // of its last entry
	Record   json.RawMessage   // canonical JSON, see calendar.DecodeRecord
	Secret   []byte
}

// Held is a record with what it holds. It is never changed in place.
type Held struct {
	State

	Claims []calendar.Claim
	Names  []calendar.Name
	Erased bool // it takes no change any more
}

// ReceiptKey is what a receipt is found by.
type ReceiptKey struct {
	User calendar.ID
	Key  string
}

// Receipt remembers a request with an idempotency key. The answer is rendered again
// from the record as it was at Position.
type Receipt struct {
	ReceiptKey

	Fingerprint [32]byte
	Record      calendar.ID
	Version     int64
	Position    calendar.Position // set by the store when the Append has entries
	Time        time.Time         // set by the store
}

// Append is one atomic group of changes: all or nothing.
type Append struct {
	Drafts []Draft
	Guards []Guard
	Time   time.Time
	Actor  calendar.ID
	Cause  Cause
	// Epoch, when not zero, is that of the store from before the records were read
	// that the Drafts were decided on. With another History now: ErrConflict.
	Epoch Epoch
	// Receipt, when set, is stored in the same commit. Where the key has one already
	// nothing is written: it is the Result, or ErrKeyReused for another fingerprint.
	Receipt *Receipt
	// Redact are records whose last entry, Drafts included, erases them: what is left
	// of their earlier entries, their names and past slugs goes.
	Redact []calendar.ID
	// Checkpoint, when set, is one that is larger than the newest, or the note of one
	// that is there with further lines at its end; else ErrConflict. One above the head
	// is ErrAhead.
	Checkpoint *Checkpoint
}

// Result is the outcome of an Append.
type Result struct {
	Position calendar.Position // of its last entry; of the head when it had none
	Receipt  *Receipt          // the earlier receipt: nothing was written
	Err      error
}

// Checkpoint is a signed head of the log.
type Checkpoint struct {
	Size   calendar.Position // of the tree: position of its last entry, from 1
	Origin string            // of the log
	Note   []byte            // the signed note, with all its signatures so far
	Time   time.Time         // when it was signed; UTC, whole milliseconds
	// Keys are the keys that signed the log up to it, as its signer writes them down: a
	// note names keys and does not hold them. They stay when the note gains lines.
	Keys string
}

// Commit is a link of the chain: entries that were committed together.
type Commit struct {
	First, Last calendar.Position
	Hash        [32]byte // ChainHash over the commit before it
}

// PageBytes bounds about what a store returns in one call: a page ends with the entry or
// state that passes it, whatever its limit.
const PageBytes = 4 << 20

// Size returns how many bytes the JSON of an entry has.
func (entry *Entry) Size() int { return len(entry.Fields) + len(entry.State) }

// Size returns how many bytes the JSON of a state has.
func (state *State) Size() int { return len(state.Record) }
