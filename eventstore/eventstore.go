// Package eventstore is the port to the event store: what a change store
// promises, whichever engine keeps it.
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
	ErrNotFound    = errors.New("record not found")
	ErrConflict    = errors.New("version conflict")        // the expected version or a guard does not hold
	ErrKeyReused   = errors.New("idempotency key reused")  // same key, another fingerprint
	ErrUnavailable = errors.New("event store unavailable") // try again later
	ErrClosed      = errors.New("event store closed")
	ErrMalformed   = errors.New("malformed append")    // a fault of the caller, see Append.Check
	ErrDamaged     = errors.New("event store damaged") // what is stored is not what was written

	// ErrNoStore is for who asks for a store that is there: none was ever made.
	ErrNoStore = errors.New("there is no event store")

	// ErrHistory is for who knows something of the store from before: it holds
	// another history now. What was made from the one before has to be made anew.
	ErrHistory = errors.New("the event store holds another history")

	// ErrAhead is the ErrHistory of a position that the store has not reached.
	ErrAhead = fmt.Errorf("%w: position is ahead of it", ErrHistory)
)

// ClaimError says that another record holds a claim.
type ClaimError struct {
	Claim  calendar.Claim
	Holder calendar.ID
}

// Error names the claim and its holder.
func (e *ClaimError) Error() string {
	return fmt.Sprintf("claim %s/%s is held by %d", e.Claim.Space, e.Claim.Key, e.Holder)
}

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
	// Secret that the change set; nil when it left it, empty when it removed it.
	// It is never on the feed.
	Secret []byte
	// Salts of its leaf. They are never on the feed.
	Salts Salts
	// Redacted tells what is left of an entry whose record was erased; nil: all.
	Redacted *Redacted
}

// Draft is an entry to be, see NewDraft.
type Draft struct {
	Kind     calendar.Kind
	ID       calendar.ID
	Expected int64 // version before; 0: the record must not exist yet
	Change   string
	Fields   json.RawMessage
	State    json.RawMessage
	Secret   []byte // nil keeps the record's secret, empty removes it

	// Claims are all the claims that the record holds after the change; others
	// that it held are released. Within one Append releases come before claims.
	Claims []calendar.Claim
	// Names are all the names that the record is found by after the change.
	Names []calendar.Name

	encoded [2][]byte // Fields and State as NewDraft made them
}

// Guard holds when just as many records are found by the name as when the
// change was decided.
type Guard struct {
	Name  calendar.Name
	Count int
}

// Receipt remembers the answer to a request with an idempotency key.
type Receipt struct {
	User        calendar.ID
	Key         string
	Fingerprint [32]byte
	Time        time.Time // when it was kept
	Record      calendar.ID
	Version     int64
	Position    calendar.Position // set by the store when the Append has entries
	Answer      []byte            // the first answer, as the HTTP side encodes it
}

// Append is one atomic group of changes: all or nothing.
type Append struct {
	Drafts []Draft // may be empty when there is a Receipt
	Guards []Guard
	Time   time.Time
	Actor  calendar.ID
	Cause  Cause

	// Epoch, when not 0, is that of the store from before the records were read
	// that the Drafts were decided on. With another one now the Append is
	// ErrConflict: versions of two histories say nothing of each other.
	Epoch uint64

	// Receipt, when set, is kept in the same commit. A receipt with the same
	// user, key and fingerprint that is there already makes the Append write
	// nothing and answer it in Result.Receipt, unless Drafts is empty: then its
	// Answer is replaced. Another fingerprint is ErrKeyReused.
	//
	// With Drafts empty, Record 0 and no Answer it is only looked up: nothing is
	// written, and Result.Receipt is the one that is there, nil without one. One
	// that is given is durable, as is the write that it was kept with; an Answer that
	// was appended Later need not be.
	//
	// With neither Drafts nor a Receipt nothing is written: the Append is answered
	// when all that could be read before it is durable. It is for who answers that
	// something is done because it is found done.
	Receipt *Receipt

	// Later says that nobody waits for the Append, which has a Receipt with an Answer
	// and no Drafts. Beside others in one call it says nothing. It is answered when it
	// is taken, without a Position, and what becomes of it is told to nobody. Whoever
	// finds its Receipt after that in the same process finds the Answer. It is written
	// with the next commit, without one within about 50 ms, and before the store
	// closes. One that was not written when the process ended is lost, and its Receipt
	// is what it was before.
	Later bool
}

// CheckEpoch refuses what was decided in another epoch than the present one.
func (a *Append) CheckEpoch(present uint64) error {
	if a.Epoch != 0 && a.Epoch != present {
		return fmt.Errorf("%w: it was decided on another history", ErrConflict)
	}
	return nil
}

// Result is the outcome of one Append.
type Result struct {
	Position calendar.Position // of its last entry; of the head when it had none
	Receipt  *Receipt          // the earlier receipt: nothing was written
	Err      error             // ErrConflict, *ClaimError, ErrKeyReused, ErrUnavailable, ErrClosed …
}

// State is the present state of a record as the store keeps it.
type State struct {
	Kind     calendar.Kind
	ID       calendar.ID
	Version  int64
	Position calendar.Position // of its last entry
	Record   json.RawMessage   // canonical JSON, see calendar.DecodeRecord
	Secret   []byte
}

// Store keeps entries in one global order and the present state of records.
// Bytes and lists that it was given or gave are shared: nobody changes them
// afterwards.
//
// Positions are dense and in commit order: a reader that has seen position p
// and asks for more never misses an entry, however many write. An Append is
// durable when its Result comes back without an error. A call whose context
// ends may still have written; the caller learns it by reading.
// All methods are safe for concurrent use.
type Store interface {
	Past
	Checkpoints
	Eraser

	// Append writes each Append whole or not at all and answers one Result per
	// Append, in order. Appends of concurrent calls may share a commit; one that
	// loses (version, guard, claim, key) does not harm the others. Appends of
	// one call are applied in order, Drafts of one Append too: a later one may
	// build on an earlier one. Checks in order: form (ErrMalformed), receipt,
	// versions (a record of another kind is a conflict too), guards as they are
	// before the Append, claims as they would be after it. The claims of one
	// space and key are held by one record, the names by any number.
	// Receipts are kept for at least 24 hours.
	Append(ctx context.Context, appends []Append) []Result

	// Load gives the present states of records, in the order of ids; an unknown
	// id gives a State with Version 0. It sees every Append that was answered;
	// it is no snapshot over several records.
	Load(ctx context.Context, ids ...calendar.ID) ([]State, error)

	// Versions gives the versions that Load would give, and reads nothing else: for who
	// keeps what he made of a record.
	Versions(ctx context.Context, ids ...calendar.ID) ([]int64, error)

	// History gives up to limit entries of one record, oldest first, with
	// versions greater than after. An unknown record has none. Pages of this method
	// and the next two end after PageBytes too, so one that is shorter than limit is
	// not the last; an empty one is behind the last.
	History(ctx context.Context, id calendar.ID, after int64, limit int) ([]Entry, error)

	// ReadAll gives up to limit entries with positions greater than after, in
	// order and without a gap.
	ReadAll(ctx context.Context, after calendar.Position, limit int) ([]Entry, error)

	// Records gives up to limit present states of a kind (0: of all kinds) with
	// ids greater than after, by id; deleted ones too.
	Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]State, error)

	// Leaves gives the stored leaf of each entry after a position, in order.
	Leaves(ctx context.Context, after calendar.Position, limit int) ([][32]byte, error)

	// Wait waits until the head is greater than after, and gives the head. With
	// an ended context it gives the head and the context's error; after = 0 on
	// a store with entries returns at once. Waiting is a hint: a store may wake
	// up late by its poll interval (at most 1 s), never never. A store that is
	// closed meanwhile gives ErrClosed, one that goes over to another history
	// meanwhile ErrHistory.
	Wait(ctx context.Context, after calendar.Position) (calendar.Position, error)

	// Head gives the position of the last entry, 0 for an empty store. It is
	// never behind an entry that ReadAll gave before in the same epoch.
	Head(ctx context.Context) (calendar.Position, error)

	// UUID gives the UUID that the store got when it was made. It stays for ever, in
	// copies too; that of another store is another one.
	UUID(ctx context.Context) ([16]byte, error)

	// Mark gives the mark of a position, the zero Mark for 0 and ErrAhead for one
	// that the store has not reached.
	Mark(ctx context.Context, p calendar.Position) (Mark, error)

	// Epoch tells which history the store has, counted from 1 since it was opened:
	// it grows when the store finds another one than it knew (a failover lost the
	// last entries, a backup was put back). It grows before a call gives anything
	// of the other history, except to callers on connections that were open before,
	// for at most a second. So whoever keeps what he read keeps with it the epoch
	// from before he read, and drops it when there is another one. It costs nothing.
	Epoch() uint64

	// Find looks up claims and names: for each claim the holder (0 when it is
	// free), for each name the ids that have it, ascending.
	Find(ctx context.Context, claims []calendar.Claim, names []calendar.Name) (holders []calendar.ID, found [][]calendar.ID, err error)

	// NewIDs gives the first of n (1 to 1,000,000) fresh ids in a row. Fresh ids
	// that no Append uses may be given again after a restart, used ones never.
	NewIDs(ctx context.Context, n int) (calendar.ID, error)
}

// Mark is calendar.Mark: read models keep it too.
type Mark = calendar.Mark

// CheckMark tells whether a store holds the history of a mark: ErrHistory when it
// does not.
func CheckMark(ctx context.Context, store Store, m Mark) error {
	now, err := store.Mark(ctx, m.Position)
	if err != nil {
		return fmt.Errorf("mark of entry %d: %w", m.Position, err)
	}
	if now != m {
		return fmt.Errorf("%w: it has mark %s, known is %s", ErrHistory, now, m)
	}
	return nil
}

// Recent is what a Store that nobody else writes to may offer beside: its newest
// entries from memory. A follower in the same process needs neither a feed nor the
// file for what was just written.
type Recent interface {
	// Recent gives up to limit committed entries after a position, in order and
	// without a gap, and the commits that they are of; false when there are none in
	// memory.
	Recent(after calendar.Position, limit int) ([]Entry, []Commit, bool)
}

// UUIDOf makes a UUID (version 8) of the 16 bytes that a store keeps.
func UUIDOf(kept []byte) (id [16]byte, err error) {
	if len(kept) != len(id) {
		return id, fmt.Errorf("%w: UUID of %d bytes", ErrDamaged, len(kept))
	}
	copy(id[:], kept)
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id, nil
}

// Commit is one link of the chain: a group of entries that was committed
// together. Its Hash is ChainHash over the commit before it.
type Commit struct {
	First, Last calendar.Position
	Hash        [32]byte
}

// Verifier is a store that can be checked from outside.
type Verifier interface {
	Store
	// ReadStored is ReadAll of the entries as they lie on the medium, whatever
	// the store keeps in memory: the entry of a state that Records gave is there, even
	// a moment before Head and ReadAll come to it.
	ReadStored(ctx context.Context, after calendar.Position, limit int) ([]Entry, error)
	// Commits gives up to limit commits whose First is greater than after.
	Commits(ctx context.Context, after calendar.Position, limit int) ([]Commit, error)
	// Holdings gives what up to limit records hold, with ids greater than after,
	// by id.
	Holdings(ctx context.Context, after calendar.ID, limit int) ([]Holding, error)
	// Inspect checks what the other methods do not show: that no claim and no name
	// is kept beside those that Holdings gives, and, where the engine can tell, that
	// its files are whole. What is not is ErrDamaged. Others may write meanwhile.
	Inspect(ctx context.Context) error
}

// Holding is what one record holds and is found by.
type Holding struct {
	ID     calendar.ID
	Claims []calendar.Claim
	Names  []calendar.Name
}
