package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"daybook/calendar"
	"daybook/eventstore"
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
	// ErrUnconfirmed says that nothing next to a key tells what it signed last, so that
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

// Keyring is where the keys of a log come from.
type Keyring struct {
	// Keys sign, each of them.
	Keys []*PrivateKey
	// File holds the keys where there are no Keys; it is made with the first
	// checkpoint. "": none.
	File string
	// Notes are files, one next to each file of keys, that hold the newest checkpoint
	// that the log had as far as this process knows. Without one of them that the keys
	// signed nothing is signed, but for a log that has no checkpoint yet.
	Notes []string
	// Shared says that other processes may sign the log with the same Keys.
	Shared bool
	// Origin is that of the setting; "": none.
	Origin string
	// Address names a log without Origin: host and path that it is served at. "": it
	// is named by its first entry.
	Address string
}

// SignerOptions are the settings of a Signer. The zero value works.
type SignerOptions struct {
	Witnesses []*Witness
	Interval  time.Duration // 0: DefaultInterval
	Client    *http.Client  // for the witnesses; nil: one that follows no redirection
	Now       func() time.Time
	Log       *slog.Logger
}

// Stats are the counts of a Signer since it was made.
type Stats struct {
	Size              calendar.Position // of the newest checkpoint that it knows
	Time              time.Time         // when that was signed; zero: none is known
	Signed, Failed    uint64            // attempts with a new checkpoint, and with an error
	Cosigned, Refused uint64            // witnesses that signed one, and that did not
	Extends           bool              // the log extends its last checkpoint
}

// Signer signs the checkpoints of a log. Of several processes one does, by a lease; the
// store keeps no two checkpoints that do not follow each other, so two that overlap do
// no harm. It is safe for concurrent use.
type Signer struct {
	log  *Log
	ring Keyring
	o    SignerOptions

	signing chan struct{} // holds a token while one caller signs

	mu    sync.Mutex
	stats Stats
	fault error  // why nothing is signed
	told  string // of the error that was logged last
}

// NewSigner makes a signer; it reads nothing yet.
func NewSigner(log *Log, ring Keyring, o SignerOptions) (*Signer, error) {
	if len(o.Witnesses) > MaxWitnesses {
		return nil, fmt.Errorf("proof: %d witnesses, at most %d", len(o.Witnesses), MaxWitnesses)
	}
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Interval < 0 {
		return nil, fmt.Errorf("proof: interval %s must be above 0", o.Interval)
	}
	if o.Client == nil {
		o.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Signer{log: log, ring: ring, o: o, signing: make(chan struct{}, 1)}, nil
}

// Fault returns why nothing is signed, one of Refusals, or nil.
func (s *Signer) Fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// Stats gives the counts.
func (s *Signer) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Extends = !errors.Is(s.fault, ErrNotExtended)
	return out
}

// outcome keeps what became of an attempt and tells the log once of a fault.
func (s *Signer) outcome(ctx context.Context, c *eventstore.Checkpoint, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, ErrNoCheckpoint): // there is nothing to be signed yet
		err = nil
	case err != nil:
		s.stats.Failed++
	case c != nil:
		s.stats.Size, s.stats.Time = c.Size, c.Time
	}
	if err == nil || Refusal(err) != nil {
		s.fault = err
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == s.told:
	case err == nil:
		s.o.Log.InfoContext(ctx, "checkpoints are signed again")
	case s.fault != nil:
		s.o.Log.ErrorContext(ctx, "checkpoint not signed", "error", err)
	default:
		s.o.Log.WarnContext(ctx, "checkpoint not signed", "error", err)
	}
	s.told = text
}

// CheckOrigin refuses a setting log-origin that names another log than the kept one:
// ErrOrigin. "" is no setting.
func (l *Log) CheckOrigin(ctx context.Context, origin string) error {
	c, err := l.Checkpoint(ctx, 0)
	if errors.Is(err, ErrNoCheckpoint) || err == nil && (origin == "" || c.Origin == origin) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("log-origin %q is %w: its checkpoints are those of %q", origin, ErrOrigin, c.Origin)
}

// origin gives the name that a log without checkpoints gets, "" while it has no entry
// to be named by.
func (s *Signer) origin(ctx context.Context) (string, error) {
	switch {
	case s.ring.Origin != "":
		return s.ring.Origin, nil
	case s.ring.Address != "":
		return s.ring.Address, nil
	}
	leaf, err := s.log.Leaf(ctx, 1)
	switch {
	case errors.Is(err, eventstore.ErrAhead):
		return "", nil
	case err != nil:
		return "", err
	}
	return "daybook/" + hex.EncodeToString(leaf[:8]), nil
}

// Origin gives the name of the log: that of its newest checkpoint, else the one that it
// will get, "" while it has no entry to be named by.
func (s *Signer) Origin(ctx context.Context) (string, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return "", err
	}
	if newest == nil {
		return s.origin(ctx)
	}
	return newest.Origin, nil
}

// keys returns the keys of the log, made now when they have a file that is not there yet
// and fresh is set. None and no error while there is nothing to be signed. Errors:
// ErrOrigin, ErrKeyMissing, ErrNoKey, ErrNotStored.
func (s *Signer) keys(ctx context.Context, newest *eventstore.Checkpoint, fresh bool) ([]*PrivateKey, error) {
	keys := s.ring.Keys
	own := len(keys) == 0 && s.ring.File != ""
	if own {
		b, err := os.ReadFile(s.ring.File)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrKeyMissing, err)
		default:
			if keys, err = ParsePrivateKeys(b); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrKeyMissing, s.ring.File, err)
			}
		}
	}
	if own && len(keys) == 0 && (newest != nil || s.noted()) {
		return nil, fmt.Errorf("%w: put %s back, or begin a new log: daybook audit key new --origin NAME", ErrKeyMissing, s.ring.File)
	}
	var origin string
	switch {
	case own && len(keys) > 0: // it begins a new log where it has another name, see Begin
		origin = keys[0].Name()
	case newest != nil:
		origin = newest.Origin
	default:
		var err error
		if origin, err = s.origin(ctx); err != nil || origin == "" {
			return nil, err
		}
	}
	if s.ring.Origin != "" && s.ring.Origin != origin {
		return nil, fmt.Errorf("log-origin %q is %w: it is %q", s.ring.Origin, ErrOrigin, origin)
	}
	for _, k := range keys {
		if k.Name() != origin {
			return nil, fmt.Errorf("the signing key of %q is %w: it is %q", k.Name(), ErrOrigin, origin)
		}
	}
	switch {
	case len(keys) > 0 || !fresh:
		return keys, nil
	case !own:
		return nil, ErrNoKey
	}
	k, err := NewKey(origin)
	if err != nil {
		return nil, err
	}
	keys = []*PrivateKey{k}
	if err := s.storeNotes(Head{Origin: origin, Root: emptyRoot}, keys); err != nil {
		return nil, err
	}
	if err := writeFile(s.ring.File, []byte(k.Text())); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStored, err)
	}
	return keys, nil
}

// emptyRoot is the root of the tree without entries: the note of a key that has signed
// nothing yet is of that tree.
var emptyRoot = Hash(sha256.Sum256(nil))

// noted reports whether a note tells that something was signed, by whatever key.
func (s *Signer) noted() bool {
	for _, file := range s.ring.Notes {
		b, err := os.ReadFile(file) //nolint:gosec // the operator names the folder
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if h, err := ReadHead(b); err != nil || h.Size > 0 {
			return true
		}
	}
	return false
}

// notes returns what the notes next to the keys say that the keys signed.
func (s *Signer) notes(keys []*PrivateKey) (heads []Head, err error) {
	for _, file := range s.ring.Notes {
		b, err := os.ReadFile(file) //nolint:gosec // the operator names the folder
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
		}
		// One of former keys, or of a former log, says nothing of these.
		if signed, err := Open(b, public(keys)...); err == nil {
			heads = append(heads, signed.Head)
		}
	}
	return heads, nil
}

// storeNotes stores a head, signed by the keys, next to each of them, unless a note there
// tells of a larger one. Errors: ErrNotStored.
func (s *Signer) storeNotes(h Head, keys []*PrivateKey) error {
	signed, err := signHead(h, keys)
	if err != nil {
		return err
	}
	for _, file := range s.ring.Notes {
		if b, err := os.ReadFile(file); err == nil { //nolint:gosec // the operator names the folder
			if there, err := Open(b, public(keys)...); err == nil && (there.Size > h.Size || bytes.Equal(b, signed)) {
				continue
			}
		}
		if err := writeFile(file, signed); err != nil {
			return fmt.Errorf("%w: %w", ErrNotStored, err)
		}
	}
	return nil
}

func signHead(h Head, keys []*PrivateKey) ([]byte, error) {
	signers := make([]note.Signer, len(keys))
	for i, k := range keys {
		signers[i] = k
	}
	return note.Sign(&note.Note{Text: h.Text()}, signers...)
}

// PublicKeys gives the keys that sign, none where there are none yet.
func (s *Signer) PublicKeys(ctx context.Context) ([]*Key, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.keys(ctx, newest, false)
	if errors.Is(err, ErrKeyMissing) {
		err = nil
	}
	return public(keys), err
}

func public(keys []*PrivateKey) []*Key {
	out := make([]*Key, len(keys))
	for i, k := range keys {
		out[i] = k.Public
	}
	return out
}

// newest gives the newest checkpoint, nil without one.
func (s *Signer) newest(ctx context.Context) (*eventstore.Checkpoint, error) {
	c, err := s.log.Checkpoint(ctx, 0)
	if errors.Is(err, ErrNoCheckpoint) {
		return nil, nil //nolint:nilnil // there is none yet
	}
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Follow looks whether the keys may sign the log, and stores the newest checkpoint of the
// log next to them: who may sign once another process has signed has to know of it.
// Errors: those of Refusals, and those of the store.
func (s *Signer) Follow(ctx context.Context) error {
	return s.alone(ctx, func() error {
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		keys, err := s.keys(ctx, newest, false)
		if err == nil && len(keys) == 0 && s.ring.Shared {
			keys = s.ring.Keys // of a log without entries, which another process may begin at any moment
		}
		if err == nil && len(keys) > 0 {
			if _, err = s.extends(ctx, newest, keys); err == nil {
				err = s.noteNewest(newest, keys)
			}
		}
		s.outcome(ctx, newest, err)
		return err
	})
}

// alone does work that one caller does at a time.
func (s *Signer) alone(ctx context.Context, work func() error) error {
	select {
	case s.signing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.signing }()
	return work()
}

// extends returns the head, when the log up to it extends the newest checkpoint and the
// notes next to the keys, of which there has to be one.
func (s *Signer) extends(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey) (calendar.Position, error) {
	known, err := s.notes(keys)
	if err != nil {
		return 0, err
	}
	if len(known) == 0 {
		fresh, err := s.fresh(ctx, newest, keys)
		if err != nil {
			return 0, err
		}
		if !fresh {
			return 0, fmt.Errorf("%w: put %s back, or tell that it signed nothing that the store lacks: daybook audit key confirm", ErrUnconfirmed, s.ring.Notes[0])
		}
	}
	return s.holds(ctx, newest, keys, known)
}

// fresh reports whether keys without a note may sign all the same: those that settings
// name and that begin a log, because nobody else can have signed it before.
func (s *Signer) fresh(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey) (bool, error) {
	switch {
	case len(s.ring.Notes) == 0:
		return true, nil
	case len(s.ring.Keys) == 0:
		return false, nil // its note is made with it
	case newest == nil:
		return true, nil
	}
	// Begin has signed the first checkpoint of a new log in a store that had another one.
	if _, err := Open(newest.Note, public(keys)...); err != nil {
		return false, nil //nolint:nilerr // it is by other keys
	}
	found, err := s.log.store.Find(ctx, eventstore.Lookup{Signed: eventstore.Range{Limit: 1}})
	if err != nil || len(found.Signed) == 0 || found.Signed[0].Origin == newest.Origin {
		return false, err
	}
	of, err := ReadKeys(newest)
	return !slices.ContainsFunc(of.Keys, func(k KeySpan) bool { return k.FromSize != newest.Size }), err
}

// headOf returns what a checkpoint of the store says, if it is of the log of the keys.
func headOf(newest *eventstore.Checkpoint, keys []*PrivateKey) (h Head, own bool, err error) {
	if newest == nil || newest.Origin != keys[0].Name() {
		return Head{}, false, nil
	}
	if h, err = ReadHead(newest.Note); err != nil || h.Size != newest.Size || h.Origin != newest.Origin {
		return h, false, fmt.Errorf("checkpoint of size %d: %w", newest.Size, eventstore.ErrDamaged)
	}
	return h, true, nil
}

// noteNewest stores the newest checkpoint next to the keys: that of the tree without
// entries where their log has none.
func (s *Signer) noteNewest(newest *eventstore.Checkpoint, keys []*PrivateKey) error {
	h, own, err := headOf(newest, keys)
	if err != nil {
		return err
	}
	if !own {
		h = Head{Origin: keys[0].Name(), Root: emptyRoot}
	}
	return s.storeNotes(h, keys)
}

// holds returns the head, when the log up to it extends the newest checkpoint and those
// that are known otherwise.
func (s *Signer) holds(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey, known []Head) (calendar.Position, error) {
	head, err := s.log.head(ctx)
	if err != nil {
		return 0, err
	}
	h, own, err := headOf(newest, keys)
	if err != nil {
		return 0, err
	}
	if own {
		known = append(known, h)
	}
	for _, h := range known {
		if h.Size > head {
			return 0, fmt.Errorf("%w: that of %d entries was signed, there are %d", ErrNotExtended, h.Size, head)
		}
		if h.Size == 0 {
			continue
		}
		root, err := s.log.Root(ctx, h.Size)
		if err != nil {
			return 0, err
		}
		if root != h.Root {
			return 0, fmt.Errorf("%w: the first %d entries are not those that were signed", ErrNotExtended, h.Size)
		}
	}
	return head, nil
}

// Confirm declares that keys without a note have signed nothing beyond the newest
// checkpoint of the store, of which they get the note, and returns its size. Errors:
// ErrNotExtended and ErrOrigin, which nothing confirms, ErrKeyMissing, ErrNoKey,
// ErrNotStored, and those of the store.
func (s *Signer) Confirm(ctx context.Context) (size calendar.Position, err error) {
	err = s.alone(ctx, func() error {
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		keys, err := s.keys(ctx, newest, false)
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return ErrNoKey
		}
		known, err := s.notes(keys)
		if err != nil {
			return err
		}
		if _, err = s.holds(ctx, newest, keys, known); err != nil {
			return err
		}
		if _, own, _ := headOf(newest, keys); own {
			size = newest.Size
		}
		err = s.noteNewest(newest, keys)
		s.outcome(ctx, newest, err)
		return err
	})
	return size, err
}

// Sign signs a checkpoint when there are new entries, and returns the newest one. Errors:
// those of Refusals, ErrNoKey, ErrNoCheckpoint for a log without entries, and those of
// the store.
func (s *Signer) Sign(ctx context.Context) (c eventstore.Checkpoint, err error) {
	err = s.alone(ctx, func() error {
		c, err = s.sign(ctx)
		s.outcome(ctx, &c, err)
		return err
	})
	return c, err
}

func (s *Signer) sign(ctx context.Context) (eventstore.Checkpoint, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return eventstore.Checkpoint{}, err
	}
	keys, err := s.keys(ctx, newest, true)
	if err != nil {
		return eventstore.Checkpoint{}, err
	}
	if len(keys) == 0 {
		return eventstore.Checkpoint{}, ErrNoCheckpoint
	}
	head, err := s.extends(ctx, newest, keys)
	if err != nil {
		return eventstore.Checkpoint{}, err
	}
	switch {
	case newest != nil && newest.Size >= head: // another process may have been faster
		return *newest, s.noteNewest(newest, keys)
	case head == 0:
		return eventstore.Checkpoint{}, ErrNoCheckpoint
	}
	c, h, err := s.checkpoint(ctx, newest, keys, head)
	if err == nil {
		err = s.storeNotes(h, keys) // first: a note that was signed and lost would not be known of
	}
	if err == nil {
		err = s.log.put(ctx, c)
	}
	if errors.Is(err, eventstore.ErrConflict) { // another process was faster
		return s.log.Checkpoint(ctx, 0)
	}
	if err == nil {
		s.count(&s.stats.Signed)
	}
	return c, err
}

func (s *Signer) count(n *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

// checkpoint signs the tree of a size, which follows the newest checkpoint.
func (s *Signer) checkpoint(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey, size calendar.Position) (c eventstore.Checkpoint, h Head, err error) {
	root, err := s.log.Root(ctx, size)
	if err != nil {
		return c, h, err
	}
	h = Head{Origin: keys[0].Name(), Size: size, Root: root}
	c = eventstore.Checkpoint{Size: size, Origin: h.Origin, Time: eventstore.Moment(s.o.Now())}
	if c.Note, err = signHead(h, keys); err != nil {
		return c, h, err
	}
	of, before := Keys{}, calendar.Position(0)
	if newest != nil && newest.Origin == h.Origin {
		before = newest.Size
		if of, err = ReadKeys(newest); err != nil {
			return c, h, err
		}
	}
	of.Origin = h.Origin
	told, err := json.Marshal(of.next(before, size, keys, s.o.Witnesses))
	c.Keys = string(told)
	return c, h, err
}

// Begin begins a new log with a fresh key: after the store was put back to before its
// last checkpoint. Its first checkpoint is signed at once, or with the next entry where
// the last one of the former log has the same size. The former key file, if there is
// one, is kept beside with the extension .former.
func (s *Signer) Begin(ctx context.Context, origin string) (k *PrivateKey, err error) {
	err = s.alone(ctx, func() error {
		if k, err = NewKey(origin); err != nil {
			return err
		}
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		if newest != nil && newest.Origin == origin {
			return fmt.Errorf("the log is %q already; a new log has another origin", origin)
		}
		head, err := s.log.head(ctx)
		if err != nil {
			return err
		}
		own := len(s.ring.Keys) == 0 && s.ring.File != ""
		signs := head > 0 && (newest == nil && own || newest != nil && newest.Size < head)
		if !own && newest != nil && !signs {
			return fmt.Errorf("no entry came since the last checkpoint of %q, which has size %d: write something first", newest.Origin, newest.Size)
		}
		keys := []*PrivateKey{k}
		if own {
			// First: with the note of another key the former one signs nothing more.
			if err := s.storeNotes(Head{Origin: origin, Root: emptyRoot}, keys); err != nil {
				return err
			}
			if err := os.Rename(s.ring.File, s.ring.File+".former"); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err := writeFile(s.ring.File, []byte(k.Text())); err != nil {
				return err
			}
		}
		if !signs {
			return nil
		}
		c, h, err := s.checkpoint(ctx, nil, keys, head)
		if err == nil && own {
			err = s.storeNotes(h, keys)
		}
		if err == nil {
			err = s.log.put(ctx, c)
		}
		return err
	})
	return k, err
}

// writeFile writes a file that only its owner reads, whole or not at all.
func writeFile(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// Cosign asks all witnesses for their signatures of a checkpoint, at once, and adds the
// lines to it as they come. It ends when each has answered, for 10 s at most; one that is
// still asked about another checkpoint is passed over.
func (s *Signer) Cosign(ctx context.Context, c eventstore.Checkpoint) { s.cosign(ctx, c, true) }

// cosign is Cosign; without again it passes over the witnesses that were asked about the
// checkpoint before.
func (s *Signer) cosign(ctx context.Context, c eventstore.Checkpoint, again bool) {
	var wg sync.WaitGroup
	for _, w := range s.o.Witnesses {
		if has(c.Note, w.Key) || !w.mu.TryLock() {
			continue
		}
		if !again && w.asked >= c.Size {
			w.mu.Unlock()
			continue
		}
		wg.Go(func() {
			defer w.mu.Unlock()
			w.asked = max(w.asked, c.Size)
			lines, err := w.cosign(ctx, s.o.Client, s.log.Tree, &c)
			if err == nil {
				err = s.add(ctx, c.Size, lines)
			}
			switch {
			case err == nil:
				s.count(&s.stats.Cosigned)
			case ctx.Err() == nil:
				s.count(&s.stats.Refused)
				s.o.Log.WarnContext(ctx, "checkpoint not cosigned", "witness", w.Key.Name(), "size", c.Size, "error", err)
			}
		})
	}
	wg.Wait()
}

// addTries is how often lines are added anew because others were added meanwhile.
const addTries = MaxWitnesses + 1

// add adds lines to the checkpoint of a size.
func (s *Signer) add(ctx context.Context, size calendar.Position, lines []note.Signature) (err error) {
	for range addTries {
		c, err := s.log.Checkpoint(ctx, size)
		if err != nil {
			return err
		}
		more := withLines(c.Note, lines)
		if bytes.Equal(more, c.Note) {
			return nil
		}
		c.Note = more
		if err = s.log.put(ctx, c); !errors.Is(err, eventstore.ErrConflict) {
			return err
		}
	}
	return eventstore.ErrConflict
}

// Run signs every interval, while there are new entries, until the context ends, and
// has each checkpoint cosigned once. Before, it looks whether the log extends its last
// checkpoint, and lets the witnesses catch up with it.
func (s *Signer) Run(ctx context.Context) error {
	var asked sync.WaitGroup
	defer asked.Wait()
	cosign := func(c eventstore.Checkpoint) {
		if len(s.o.Witnesses) > 0 && c.Size > 0 {
			asked.Go(func() { s.cosign(ctx, c, false) })
		}
	}
	if s.Follow(ctx) == nil {
		if newest, err := s.newest(ctx); err == nil && newest != nil {
			cosign(*newest)
		}
	}
	tick := time.NewTicker(s.o.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if c, err := s.Sign(ctx); err == nil {
			cosign(c)
		}
	}
}
