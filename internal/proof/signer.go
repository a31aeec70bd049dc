package proof

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/pause"
)

// DefaultInterval is how often a checkpoint is signed while there are new entries.
const DefaultInterval = time.Minute

var (
	// ErrNotExtended says that the log is not what it was when its last checkpoint was
	// signed: nothing is signed then.
	ErrNotExtended = errors.New("log does not extend its last checkpoint")
	// ErrOrigin says that a key or a setting is of another log.
	ErrOrigin = errors.New("of another log")
	// ErrNoKey says that there is no key to sign with.
	ErrNoKey = errors.New("no signing key")
	// ErrKeyMissing says that the file of the key whose checkpoints are there is gone, or
	// cannot be read.
	ErrKeyMissing = errors.New("the signing key of the log is missing")
	// ErrUnconfirmed says that nothing next to a key says what it signed last, so that
	// it might sign another past: nothing is signed until Confirm.
	ErrUnconfirmed = errors.New("signing key without the note of its last checkpoint")
	// ErrNotStored says that the note of a checkpoint cannot be stored next to its key:
	// it is not signed then.
	ErrNotStored = errors.New("last checkpoint cannot be stored next to its key")
)

// Refusals are the reasons for which a signer signs nothing until something is done.
var Refusals = []error{ErrNotExtended, ErrOrigin, ErrKeyMissing, ErrUnconfirmed, ErrNotStored}

// Refusal returns the one of Refusals that an error is, nil for another one.
func Refusal(err error) error {
	for _, r := range Refusals {
		if errors.Is(err, r) {
			return r
		}
	}
	return nil
}

// SignerOptions are the settings of a Signer. The zero value works.
type SignerOptions struct {
	Witnesses []*Witness
	Interval  time.Duration // 0: DefaultInterval
	Now       func() time.Time
	Log       *slog.Logger
}

// Stats are the counts of a Signer since it was made.
type Stats struct {
	Size              calendar.Position // of the newest checkpoint that it knows
	Time              time.Time         // when that was signed; zero: none is known
	Signed, Failed    uint64            // attempts with a new checkpoint, and with an error
	Cosigned, Refused uint64            // witnesses that signed one, and that did not
	Fault             error             // why nothing is signed, one of Refusals, or nil
	Extends           bool              // the log extends its last checkpoint
}

// Signer signs the checkpoints of a log. Of several processes one does, by a lease; the
// store keeps no two checkpoints that do not follow each other, so two that overlap do
// no harm. It is safe for concurrent use.
type Signer struct {
	SignerOptions

	log  *Log
	ring Keyring

	signing sync.Mutex // one caller signs

	mu     sync.Mutex
	stats  Stats
	logged string // the error that was logged last
}

// NewSigner makes a signer; it reads nothing yet.
func NewSigner(log *Log, ring Keyring, options SignerOptions) *Signer {
	if options.Now == nil {
		options.Now = time.Now
	}
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	options.Interval = cmp.Or(options.Interval, DefaultInterval)
	return &Signer{SignerOptions: options, log: log, ring: ring}
}

// Signs reports whether there is a key to sign with, or a file for one.
func (signer *Signer) Signs() bool { return len(signer.ring.Notes) > 0 }

// Stats returns the counts.
func (signer *Signer) Stats() Stats {
	signer.mu.Lock()
	defer signer.mu.Unlock()
	stats := signer.stats
	stats.Extends = !errors.Is(stats.Fault, ErrNotExtended)
	return stats
}

// outcome records what became of an attempt, and logs a fault once.
func (signer *Signer) outcome(ctx context.Context, checkpoint *eventstore.Checkpoint, err error) {
	signer.mu.Lock()
	defer signer.mu.Unlock()
	if errors.Is(err, ErrNoCheckpoint) { // there is nothing to be signed yet
		err = nil
	}
	text, level := "", slog.LevelWarn
	if err != nil {
		signer.stats.Failed++
		text = err.Error()
	} else if checkpoint.Size > 0 {
		signer.stats.Size, signer.stats.Time = checkpoint.Size, checkpoint.Time
	}
	if refusal := Refusal(err); err == nil || refusal != nil {
		signer.stats.Fault, level = err, slog.LevelError
	}
	switch {
	case text == signer.logged:
	case err == nil:
		signer.Log.InfoContext(ctx, "checkpoints are signed again")
	default:
		signer.Log.Log(ctx, level, "checkpoint not signed", "error", err)
	}
	signer.logged = text
}

// Origin returns the name of the log: that of its newest checkpoint, else the one that it
// will get, "" while it has no entry to be named by.
func (signer *Signer) Origin(ctx context.Context) (string, error) {
	newest, err := eventstore.CheckpointAt(ctx, signer.log.store, 0)
	if err != nil {
		return "", err
	}
	return signer.origin(ctx, &newest)
}

func (signer *Signer) origin(ctx context.Context, newest *eventstore.Checkpoint) (string, error) {
	if name := cmp.Or(newest.Origin, signer.ring.Origin, signer.ring.Address); name != "" {
		return name, nil
	}
	leaf, err := signer.log.Leaf(ctx, 1)
	switch {
	case errors.Is(err, eventstore.ErrAhead):
		return "", nil
	case err != nil:
		return "", err
	}
	return "daybook/" + hex.EncodeToString(leaf[:8]), nil
}

// load returns the newest checkpoint, the name of the log and its keys, which have no file yet
// where there are none; no name while there is nothing to be signed. Errors: ErrOrigin,
// ErrKeyMissing.
func (signer *Signer) load(ctx context.Context) (newest eventstore.Checkpoint, origin string, keys []*PrivateKey, err error) {
	newest, err = eventstore.CheckpointAt(ctx, signer.log.store, 0)
	if err == nil && signer.ring.own() {
		keys, err = signer.ring.readFile(&newest)
	}
	switch {
	case err != nil:
	case len(keys) > 0: // they begin a new log where they have another name, see Begin
		origin = keys[0].Name()
	default:
		origin, err = signer.origin(ctx, &newest)
	}
	if err == nil && origin != "" {
		keys = append(keys, signer.ring.Keys...)
		err = signer.ring.check(origin, keys)
	}
	return newest, origin, keys, err
}

// PublicKeys returns the keys that sign, none where there are none yet.
func (signer *Signer) PublicKeys(ctx context.Context) ([]*Key, error) {
	_, _, keys, err := signer.load(ctx)
	if err != nil {
		keys = nil
	}
	if errors.Is(err, ErrKeyMissing) {
		err = nil
	}
	return public(keys), err
}

// Follow checks whether the setting of the origin is that of the log and the keys may sign
// it, and stores the newest checkpoint of the
// log next to them: a process that may sign once another one has signed has to know of it.
// Errors: those of Refusals, and those of the store.
func (signer *Signer) Follow(ctx context.Context) error {
	_, err := signer.follow(ctx, false)
	return err
}

// Confirm declares that keys without a note have signed nothing beyond the newest
// checkpoint of the store, of which they get the note, and returns its size. Errors:
// ErrNotExtended and ErrOrigin, which nothing confirms, ErrKeyMissing, ErrNoKey,
// ErrNotStored, and those of the store.
func (signer *Signer) Confirm(ctx context.Context) (calendar.Position, error) {
	return signer.follow(ctx, true)
}

func (signer *Signer) follow(ctx context.Context, confirmed bool) (size calendar.Position, err error) {
	signer.signing.Lock()
	defer signer.signing.Unlock()
	newest, _, keys, err := signer.load(ctx)
	switch {
	case err != nil || len(keys) > 0:
	case confirmed:
		err = ErrNoKey
	case signer.ring.Shared:
		keys = signer.ring.Keys // of a log without entries, which another process may begin at any moment
	}
	if err == nil && len(keys) > 0 {
		var stored Head
		if _, stored, err = signer.extends(ctx, &newest, keys, confirmed); err == nil {
			size = stored.Size
			_, err = storeNotes(signer.ring.Notes, stored, keys)
		}
	}
	signer.outcome(ctx, &newest, err)
	return size, err
}

// extends returns the head and what the newest checkpoint says, when the log up to the head
// extends that and the notes next to the keys, of which there has to be one unless that is
// confirmed.
func (signer *Signer) extends(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey, confirmed bool) (head calendar.Position, stored Head, err error) {
	known, err := signer.ring.signed(keys)
	if err == nil && len(known) == 0 && !confirmed {
		confirmed, err = signer.begins(ctx, newest, keys)
		if err == nil && !confirmed {
			err = fmt.Errorf("%w: put %s back, or declare that it signed nothing that the store lacks: daybook audit key confirm", ErrUnconfirmed, signer.ring.Notes[0])
		}
	}
	if err == nil {
		stored, err = headOf(newest, keys)
	}
	if err == nil {
		head, err = signer.log.head(ctx)
	}
	if err != nil {
		return 0, stored, err
	}
	for _, h := range append(known, stored) {
		if h.Size > head {
			return 0, stored, fmt.Errorf("%w: that of %d entries was signed, there are %d", ErrNotExtended, h.Size, head)
		}
		root, err := signer.log.Root(ctx, h.Size)
		if err == nil && root != h.Root {
			err = fmt.Errorf("%w: the first %d entries are not those that were signed", ErrNotExtended, h.Size)
		}
		if err != nil {
			return 0, stored, err
		}
	}
	return head, stored, nil
}

// begins reports whether keys without a note may sign all the same: those that settings
// name and that begin a log, because no one else can have signed it before.
func (signer *Signer) begins(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey) (bool, error) {
	switch {
	case len(signer.ring.Notes) == 0:
		return true, nil
	case signer.ring.own():
		return false, nil // its note is made with it
	case newest.Size == 0:
		return true, nil
	}
	// Begin has signed the first checkpoint of a new log in a store that had another one.
	if _, err := Open(newest.Note, public(keys)...); err != nil {
		return false, nil //nolint:nilerr // it is by other keys
	}
	found, err := signer.log.store.Find(ctx, eventstore.Lookup{Signed: eventstore.Range{Limit: 1}})
	if err != nil || len(found.Signed) == 0 || found.Signed[0].Origin == newest.Origin {
		return false, err
	}
	of, err := ReadKeys(newest)
	return !slices.ContainsFunc(of.Keys, func(keySpan KeySpan) bool { return keySpan.FromSize != newest.Size }), err
}

// headOf returns what a checkpoint says: that of the tree without entries where it is not
// of the log of the keys.
func headOf(newest *eventstore.Checkpoint, keys []*PrivateKey) (Head, error) {
	origin := keys[0].Name()
	if newest.Origin != origin {
		return emptyHead(origin), nil
	}
	head, err := ReadHead(newest.Note)
	if err != nil || head.Size != newest.Size || head.Origin != origin {
		return head, fmt.Errorf("checkpoint of size %d: %w", newest.Size, eventstore.ErrDamaged)
	}
	return head, nil
}

// Sign signs a checkpoint when there are new entries, and returns the newest one. Errors:
// those of Refusals, ErrNoKey, ErrNoCheckpoint for a log without entries, and those of
// the store.
func (signer *Signer) Sign(ctx context.Context) (checkpoint eventstore.Checkpoint, err error) {
	signer.signing.Lock()
	defer signer.signing.Unlock()
	defer func() { signer.outcome(ctx, &checkpoint, err) }()
	newest, origin, keys, err := signer.load(ctx)
	switch {
	case err != nil:
		return checkpoint, err
	case origin == "":
		return checkpoint, ErrNoCheckpoint
	case len(keys) == 0 && !signer.ring.own():
		return checkpoint, ErrNoKey
	case len(keys) == 0:
		privateKey, err := NewKey(origin)
		if err == nil {
			err = signer.ring.newFile(privateKey)
		}
		if err != nil {
			return checkpoint, err
		}
		keys = []*PrivateKey{privateKey}
	}
	head, stored, err := signer.extends(ctx, &newest, keys, false)
	switch {
	case err != nil:
		return checkpoint, err
	case head == 0:
		return checkpoint, ErrNoCheckpoint
	case newest.Size >= head: // another process may have been faster
		_, err = storeNotes(signer.ring.Notes, stored, keys)
		return newest, err
	}
	checkpoint, err = signer.checkpoint(ctx, &newest, keys, head, signer.ring.Notes)
	switch {
	case errors.Is(err, eventstore.ErrConflict): // another process was faster
		return signer.log.Checkpoint(ctx, 0)
	case err == nil:
		signer.count(&signer.stats.Signed)
	}
	return checkpoint, err
}

func (signer *Signer) count(n *uint64) {
	signer.mu.Lock()
	defer signer.mu.Unlock()
	*n++
}

// checkpoint signs the tree of a size, which follows the newest checkpoint, and stores it:
// in the notes first, because one that was signed and lost would not be known of.
func (signer *Signer) checkpoint(
	ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey, size calendar.Position, notes []string,
) (checkpoint eventstore.Checkpoint, err error) {
	root, err := signer.log.Root(ctx, size)
	if err != nil {
		return checkpoint, err
	}
	head := Head{Origin: keys[0].Name(), Size: size, Root: root}
	checkpoint = eventstore.Checkpoint{Size: size, Origin: head.Origin, Time: eventstore.Moment(signer.Now())}
	of := Keys{Origin: head.Origin}
	if newest.Origin == head.Origin {
		if of, err = ReadKeys(newest); err != nil {
			return checkpoint, err
		}
	}
	spans, err := json.Marshal(of.next(newest.Size, size, keys, signer.Witnesses))
	checkpoint.Keys = string(spans)
	if err == nil {
		checkpoint.Note, err = storeNotes(notes, head, keys)
	}
	if err == nil {
		err = signer.log.put(ctx, checkpoint)
	}
	return checkpoint, err
}

// Begin begins a new log with a fresh key: after the store was put back to before its
// last checkpoint. Its first checkpoint is signed now, or with the next entry where
// the last one of the former log has the same size. The former key file, if there is
// one, is renamed to the extension .former.
func (signer *Signer) Begin(ctx context.Context, origin string) (*PrivateKey, error) {
	signer.signing.Lock()
	defer signer.signing.Unlock()
	privateKey, err := NewKey(origin)
	if err != nil {
		return nil, err
	}
	newest, err := eventstore.CheckpointAt(ctx, signer.log.store, 0)
	if err == nil && newest.Origin == origin {
		err = fmt.Errorf("the log is %q already; a new log has another origin", origin)
	}
	head, headErr := signer.log.head(ctx)
	if err = cmp.Or(err, headErr); err != nil {
		return nil, err
	}
	signs := head > newest.Size
	var notes []string
	switch {
	case signer.ring.own():
		notes, err = signer.ring.Notes, signer.ring.newFile(privateKey)
	case newest.Size == 0: // the first checkpoint begins the log
		signs = false
	case !signs:
		err = fmt.Errorf("no entry came since the last checkpoint of %q, which has size %d: write something first", newest.Origin, newest.Size)
	}
	if err == nil && signs {
		_, err = signer.checkpoint(ctx, &newest, []*PrivateKey{privateKey}, head, notes)
	}
	return privateKey, err
}

// Cosign asks all witnesses for their signatures of a checkpoint, all together, and adds
// the lines to it as they come. It ends when each has answered, for 10 s at most; one that
// is still asked about another checkpoint is skipped.
func (signer *Signer) Cosign(ctx context.Context, checkpoint eventstore.Checkpoint) {
	var group sync.WaitGroup
	for _, witness := range signer.Witnesses {
		if _, err := Open(checkpoint.Note, witness.Key); err == nil || !witness.mu.TryLock() {
			continue
		}
		group.Go(func() {
			defer witness.mu.Unlock()
			line, err := witness.cosign(ctx, signer.log.Tree, &checkpoint)
			if err == nil {
				err = signer.add(ctx, checkpoint.Size, line)
			}
			switch {
			case err == nil:
				signer.count(&signer.stats.Cosigned)
			case ctx.Err() == nil:
				signer.count(&signer.stats.Refused)
				signer.Log.WarnContext(ctx, "checkpoint not cosigned", "witness", witness.Key.Name(), "size", checkpoint.Size, "error", err)
			}
		})
	}
	group.Wait()
}

// add adds a line to the checkpoint of a size, to which others are added meanwhile.
func (signer *Signer) add(ctx context.Context, size calendar.Position, line []byte) error {
	for {
		checkpoint, err := signer.log.Checkpoint(ctx, size)
		if err != nil || bytes.Contains(checkpoint.Note, line) {
			return err
		}
		checkpoint.Note = slices.Concat(checkpoint.Note, line)
		if err = signer.log.put(ctx, checkpoint); !errors.Is(err, eventstore.ErrConflict) {
			return err
		}
	}
}

// Run signs every interval, while there are new entries, until the context ends, and
// has each checkpoint cosigned once. Before, it looks whether the log extends its last
// checkpoint, and lets the witnesses catch up with it.
func (signer *Signer) Run(ctx context.Context) error {
	var asked sync.WaitGroup
	defer asked.Wait()
	var size calendar.Position // of the checkpoint that witnesses were asked about last
	checkpoint, err := signer.log.Checkpoint(ctx, 0)
	for err = cmp.Or(signer.Follow(ctx), err); ; checkpoint, err = signer.Sign(ctx) {
		if newest := checkpoint; err == nil && newest.Size > size {
			size = newest.Size
			asked.Go(func() { signer.Cosign(ctx, newest) })
		}
		if err := pause.For(ctx, signer.Interval); err != nil {
			return err
		}
	}
}
