package port

import "daybook/eventstore"

// Cause and the other types stay as they are.
type (
	Cause         = eventstore.Cause
	Checkpoint    = eventstore.Checkpoint
	ClaimError    = eventstore.ClaimError
	Committed     = eventstore.Committed
	DamageError   = eventstore.DamageError
	Draft         = eventstore.Draft
	Entry         = eventstore.Entry
	Guard         = eventstore.Guard
	Held          = eventstore.Held
	Mark          = eventstore.Mark
	ObserveCommit = eventstore.ObserveCommit
	Point         = eventstore.Point
	Redacted      = eventstore.Redacted
	Salts         = eventstore.Salts
	SlugTaken     = eventstore.SlugTaken
	State         = eventstore.State
)

// Limits of what a store returns at once.
const (
	MaxFormer = eventstore.MaxFormer
	PageBytes = eventstore.PageBytes
)

// The errors of a store. Adapters turn every driver error into one of these by
// code, or leave it wrapped as internal.
var (
	ErrNotFound    = eventstore.ErrNotFound
	ErrConflict    = eventstore.ErrConflict
	ErrKeyReused   = eventstore.ErrKeyReused
	ErrUnavailable = eventstore.ErrUnavailable
	ErrClosed      = eventstore.ErrClosed
	ErrMalformed   = eventstore.ErrMalformed
	ErrDamaged     = eventstore.ErrDamaged
	ErrNotEmpty    = eventstore.ErrNotEmpty
	ErrNoStore     = eventstore.ErrNoStore
	ErrHistory     = eventstore.ErrHistory
	ErrAhead       = eventstore.ErrAhead
)

// The functions that stay as they are.
var (
	BodyHashes   = eventstore.BodyHashes
	ChainHash    = eventstore.ChainHash
	CheckCount   = eventstore.CheckCount
	Damaged      = eventstore.Damaged
	ErasedChange = eventstore.ErasedChange
	Holds        = eventstore.Holds
	Leaf         = eventstore.Leaf
	LeafBySum    = eventstore.LeafBySum
	Moment       = eventstore.Moment
	NewDraft     = eventstore.NewDraft
	RedactedOf   = eventstore.RedactedOf
	SaltsOf      = eventstore.SaltsOf
	SecretSum    = eventstore.SecretSum
	SlugClaim    = eventstore.SlugClaim
	SumOf        = eventstore.SumOf
	UUIDOf       = eventstore.UUIDOf
)
