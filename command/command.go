// Package command is the write side: it loads, decides and appends, and tries
// again when another writer was first.
package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/ground/cache"
)

// Target names the record of an update or delete.
type Target struct {
	ID   calendar.ID
	Slug string // by slug when not empty; percent-decoded
}

// Request is one write.
type Request struct {
	Kind   calendar.Kind
	Target Target         // unused on create
	Input  calendar.Input // body and query merged, path names removed
	Lang   calendar.Lang  // language of the root; multilang_language in Input wins
	Caller calendar.Caller
	Cause  eventstore.Cause

	// IfMatch are the versions of If-Match; nil when the header was not sent.
	// A 0 stands for "*". An empty slice fits never.
	IfMatch []int64
	// Key and Fingerprint are those of Idempotency-Key; no key: "". Equal requests at the
	// same time are written once, and all get that answer.
	Key         string
	Fingerprint [32]byte
	// Extra are problems found before (a bad header); reported with the others
	// of step 5 of docs/spec/interface.md 7.2.
	Extra []calendar.FieldError
	// At is the moment to write under, for imports; zero: now.
	At time.Time
	// Mark names the line of an import that this write applies; nil elsewhere.
	// A record that the line was applied to is left as it is; when a later line
	// was and this one not, the error is ErrImportOrder. A create with a key never
	// answers an equal record (5.3.1).
	Mark *calendar.ImportMark
	// Epoch, when not 0, is the history of the store in which the ids of the request were
	// looked up. In another one the error is eventstore.ErrHistory.
	Epoch uint64
}

// Result is what a write did.
type Result struct {
	Record   *calendar.Record  // after the write (deleted terms: before it)
	Lang     calendar.Lang     // language of the request
	Position calendar.Position // of the last change that the write made
	Existing bool              // an equal record was there, nothing was written (5.3.1)
	Repeated bool              // the line of Mark was applied before, nothing was written
	// Replayed says that the idempotency key was used before and nothing was written:
	// Record and Position are those after the first write.
	Replayed bool
}

// Hasher hashes passwords: argon2id in daybook, a fast stand-in in tests.
type Hasher interface {
	Hash(ctx context.Context, password string) ([]byte, error)
	Verify(ctx context.Context, hash []byte, password string) (bool, error)
}

// Service carries out writes. Its methods return *calendar.Error for what a
// client may read. They are safe for concurrent use.
type Service struct {
	store   eventstore.Store
	records *Records
	rules   *calendar.Rules
	hasher  Hasher
	now     func() time.Time
}

// New makes a Service of a store, rules with their cleaner, a hasher and a clock; it starts
// nothing.
func New(store eventstore.Store, rules *calendar.Rules, hasher Hasher, now func() time.Time) *Service {
	records := &Records{store, cache.NewByEpoch[eventstore.Epoch](cacheBytes, func(_ calendar.ID, record *decodedRecord) int { return recordCost + len(record.state) })}
	return &Service{store: store, records: records, rules: rules, hasher: hasher, now: now}
}

// Records returns the reader of records of the Service.
func (service *Service) Records() *Records { return service.records }

// CheckPassword reports whether password opens the protected event; an event
// without a password is open, an unknown one is not.
func (service *Service) CheckPassword(ctx context.Context, id calendar.ID, password string) (bool, error) {
	states, err := service.store.Load(ctx, id)
	switch {
	case err != nil:
		return false, readable(err, calendar.KindEvent)
	case states[0].Kind != calendar.KindEvent:
		return false, nil
	case len(states[0].Secret) == 0:
		return true, nil
	default:
		return service.hasher.Verify(ctx, states[0].Secret, password)
	}
}

// readable returns an error with the code that a client may read for those of the store;
// the error of the store is wrapped for the log.
func readable(err error, kind calendar.Kind) error {
	switch {
	case errors.Is(err, eventstore.ErrKeyReused):
		return fmt.Errorf("%w (%w)", calendar.Fail(calendar.CodeKeyReused, kind), err)
	case errors.Is(err, eventstore.ErrUnavailable), errors.Is(err, eventstore.ErrClosed), isLost(err):
		return fmt.Errorf("%w (%w)", calendar.Fail(calendar.CodeUnavailable, kind), err)
	default:
		return err
	}
}
