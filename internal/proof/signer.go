package proof

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
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
)

// Keyring is where the keys of a log come from.
type Keyring struct {
	// Keys sign, each of them.
	Keys []*PrivateKey
	// File holds the keys where there are no Keys; it is made with the first
	// checkpoint. "": none.
	File string
	// Kept is the file that the last signed note is kept in; "": none.
	Kept string
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

	mu     sync.Mutex
	stats  Stats
	fault  error  // why nothing is signed
	told   string // of the error that was logged last
	unkept bool   // it was told that a note cannot be kept
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

// Fault tells why nothing is signed: ErrNotExtended, ErrOrigin, another error of the
// last attempt, or nil.
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
	if err == nil || errors.Is(err, ErrNotExtended) || errors.Is(err, ErrOrigin) {
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
	leaves, err := s.log.store.Leaves(ctx, 0, 1)
	if err != nil || len(leaves) == 0 {
		return "", err
	}
	return "daybook/" + hex.EncodeToString(leaves[0][:8]), nil
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

// keys gives the keys of the log, made now when they have a file that is not there yet
// and fresh is set. None and no error while there is nothing to be signed.
func (s *Signer) keys(ctx context.Context, newest *eventstore.Checkpoint, fresh bool) ([]*PrivateKey, error) {
	keys := s.ring.Keys
	own := len(keys) == 0 && s.ring.File != ""
	if own {
		b, err := os.ReadFile(s.ring.File)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			if keys, err = ParsePrivateKeys(b); err != nil {
				return nil, fmt.Errorf("%s: %w", s.ring.File, err)
			}
		}
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
	if err := writeFile(s.ring.File, []byte(k.Text())); err != nil {
		return nil, err
	}
	return []*PrivateKey{k}, nil
}

// PublicKeys gives the keys that sign, none where there are none yet.
func (s *Signer) PublicKeys(ctx context.Context) ([]*Key, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.keys(ctx, newest, false)
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

// Check looks whether the log extends its last checkpoint, signing nothing. Errors:
// ErrNotExtended, ErrOrigin.
func (s *Signer) Check(ctx context.Context) error {
	return s.alone(ctx, func() error {
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		keys, err := s.keys(ctx, newest, false)
		if err == nil && len(keys) > 0 {
			_, err = s.extends(ctx, newest, keys)
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

// extends gives the head, when the log up to it extends the newest checkpoint and the
// kept one.
func (s *Signer) extends(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey) (calendar.Position, error) {
	head, err := s.log.store.Head(ctx)
	if err != nil {
		return 0, err
	}
	var known []Head
	if newest != nil {
		h, err := ReadHead(newest.Note)
		if err != nil || h.Size != newest.Size || h.Origin != newest.Origin {
			return 0, fmt.Errorf("checkpoint of size %d: %w", newest.Size, eventstore.ErrDamaged)
		}
		if h.Origin == keys[0].Name() {
			known = append(known, h)
		}
	}
	if s.ring.Kept != "" {
		b, err := os.ReadFile(s.ring.Kept)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		// One of former keys, or of a former log, says nothing of this one.
		if kept, err := Open(b, public(keys)...); err == nil {
			known = append(known, kept.Head)
		}
	}
	for _, h := range known {
		if h.Size > head {
			return 0, fmt.Errorf("%w: that of %d entries was signed, there are %d", ErrNotExtended, h.Size, head)
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

// Sign signs a checkpoint when there are new entries, and gives the newest one. Errors:
// ErrNotExtended, ErrOrigin, ErrNoKey, ErrNoCheckpoint for a log without entries, and
// those of the store.
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
		return *newest, nil
	case head == 0:
		return eventstore.Checkpoint{}, ErrNoCheckpoint
	}
	c, err := s.put(ctx, newest, keys, head)
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

// put signs the tree of a size and keeps the checkpoint.
func (s *Signer) put(ctx context.Context, newest *eventstore.Checkpoint, keys []*PrivateKey, size calendar.Position) (c eventstore.Checkpoint, err error) {
	root, err := s.log.Root(ctx, size)
	if err != nil {
		return c, err
	}
	h := Head{Origin: keys[0].Name(), Size: size, Root: root}
	signers := make([]note.Signer, len(keys))
	for i, k := range keys {
		signers[i] = k
	}
	c = eventstore.Checkpoint{Size: size, Origin: h.Origin, Time: eventstore.Moment(s.o.Now())}
	if c.Note, err = note.Sign(&note.Note{Text: h.Text()}, signers...); err != nil {
		return c, err
	}
	of, before := Keys{}, calendar.Position(0)
	if newest != nil && newest.Origin == h.Origin {
		before = newest.Size
		if of, err = ReadKeys(newest); err != nil {
			return c, err
		}
	}
	of.Origin = h.Origin
	told, err := json.Marshal(of.next(before, size, keys, s.o.Witnesses))
	if err != nil {
		return c, err
	}
	c.Keys = string(told)
	// First: a note that was signed and lost would not be known of.
	if s.ring.Kept != "" {
		if err := writeFile(s.ring.Kept, c.Note); err != nil && !s.unkept {
			s.unkept = true
			s.o.Log.WarnContext(ctx, "the last checkpoint is not kept beside its key", "error", err)
		}
	}
	return c, s.log.store.PutCheckpoint(ctx, c)
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
		head, err := s.log.store.Head(ctx)
		if err != nil {
			return err
		}
		own := len(s.ring.Keys) == 0 && s.ring.File != ""
		signs := head > 0 && (newest == nil && own || newest != nil && newest.Size < head)
		if !own && newest != nil && !signs {
			return fmt.Errorf("no entry came since the last checkpoint of %q, which has size %d: write something first", newest.Origin, newest.Size)
		}
		if own {
			if err := os.Rename(s.ring.File, s.ring.File+".former"); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if err := writeFile(s.ring.File, []byte(k.Text())); err != nil {
				return err
			}
		}
		if signs {
			_, err = s.put(ctx, nil, []*PrivateKey{k}, head)
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
func (s *Signer) Cosign(ctx context.Context, c eventstore.Checkpoint) {
	var wg sync.WaitGroup
	for _, w := range s.o.Witnesses {
		if has(c.Note, w.Key) || !w.mu.TryLock() {
			continue
		}
		wg.Go(func() {
			defer w.mu.Unlock()
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
		if err = s.log.store.PutCheckpoint(ctx, c); !errors.Is(err, eventstore.ErrConflict) {
			return err
		}
	}
	return eventstore.ErrConflict
}

// Run signs every interval, while there are new entries, until the context ends, and
// has what it signed cosigned. Before, it looks whether the log extends its last
// checkpoint, and lets the witnesses catch up with it.
func (s *Signer) Run(ctx context.Context) error {
	var asked sync.WaitGroup
	defer asked.Wait()
	cosign := func(c eventstore.Checkpoint) {
		if len(s.o.Witnesses) > 0 && c.Size > 0 {
			asked.Go(func() { s.Cosign(ctx, c) })
		}
	}
	if s.Check(ctx) == nil {
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
