// Package command is the write side: it loads, decides and appends, and tries
// again when another writer was first.
package command

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
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
	// Key and Fingerprint are those of Idempotency-Key; no key: "".
	Key         string
	Fingerprint [32]byte
	// Extra are problems found before (a bad header); reported with the others
	// of step 5 of interface 7.2.
	Extra []calendar.FieldError
	// At is the moment to write under, for imports; zero: now.
	At time.Time
}

// Result is what a write did.
type Result struct {
	Record   *calendar.Record  // after the write (deleted terms: before it)
	Lang     calendar.Lang     // language of the request
	Position calendar.Position // of the last change that the write made
	Existing bool              // an equal record was there, nothing was written (5.3.1)
	// Replay is the earlier receipt of the same idempotency key: nothing was
	// written. Record is then the record as it was after that write.
	Replay *eventstore.Receipt
}

// Hasher keeps passwords: argon2id in daybook, a fast stand-in in tests.
type Hasher interface {
	Hash(password string) ([]byte, error)
	Verify(hash []byte, password string) bool
}

// Options of a Service; the zero value works.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// Service carries out writes. Its methods answer *calendar.Error for what a
// client may read.
type Service struct {
	store  eventstore.Store
	rules  *calendar.Rules
	hasher Hasher
	o      Options
}

// New makes a Service; it starts nothing.
func New(store eventstore.Store, rules *calendar.Rules, hasher Hasher, o Options) (*Service, error) {
	return &Service{store: store, rules: rules, hasher: hasher, o: o}, nil
}

var errNotBuilt = errors.New("not built yet")

// Create makes a record.
func (s *Service) Create(ctx context.Context, r Request) (Result, error) {
	return Result{}, errNotBuilt
}

// Update changes a record; a trashed post is restored by it.
func (s *Service) Update(ctx context.Context, r Request) (Result, error) {
	return Result{}, errNotBuilt
}

// Delete moves a post to the trash and ends a term for ever.
func (s *Service) Delete(ctx context.Context, r Request) (Result, error) {
	return Result{}, errNotBuilt
}

// KeepAnswer stores the encoded first answer with the receipt of a key, so that
// a repeated request gets the same bytes.
func (s *Service) KeepAnswer(ctx context.Context, r Request, res Result, answer []byte) error {
	return errNotBuilt
}

// CheckPassword tells whether password opens the protected event.
func (s *Service) CheckPassword(ctx context.Context, id calendar.ID, password string) (bool, error) {
	return false, errNotBuilt
}
