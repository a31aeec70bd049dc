// Package readmodel is the port to the read model: documents, the filter tree
// and its meaning, the schema, and what an index promises.
package readmodel

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"

	"daybook/calendar"
)

// The errors of an index.
var (
	ErrUnavailable = errors.New("read model unavailable") // try again later
	ErrPoison      = errors.New("document refused")       // this document will never be taken
	ErrQuery       = errors.New("query does not fit the schema")

	ErrNoGeneration = errors.New("no older generation is kept")
	// ErrMoved says that another generation than the one that Position told about
	// answers now: a writer reads Position again and goes on from there.
	ErrMoved = errors.New("another generation of the read model answers")
)

// Document is a record as the read model keeps it. Its filter values follow from
// Record by the schema; Body is the canonical JSON of Record.
type Document struct {
	Position calendar.Position // of the entry it was made from
	Record   *calendar.Record  // Deleted for a tombstone
	Body     []byte
}

// Batch is what a projector writes at once.
type Batch struct {
	Documents []Document
	// Position is the position up to which everything is projected once the
	// batch is written; 0 leaves it. It is never ahead of the data.
	Position calendar.Position
	// Poison are entries that could not be projected; they are kept in the index
	// with the batch. Healed are ids whose poison is over.
	Poison []Poison
	Healed []calendar.ID
}

// Poison is an entry that cannot be projected. It stops its own record only:
// later entries of the record wait behind it.
type Poison struct {
	ID       calendar.ID
	Position calendar.Position
	Reason   string // for operators
}

// Sort is one key of an order. Missing values come last.
type Sort struct {
	Field string // FieldStart, FieldPublished, FieldID, FieldSlug, FieldNameKey(lang) …
	Desc  bool
}

// Query asks for a page of one kind.
type Query struct {
	Kind   calendar.Kind
	Filter Filter // nil: all live documents
	Sort   []Sort // ends with FieldID, so the order is total
	Offset int
	Limit  int // 0: the total only
	// Known, when set, tells whether the caller knows a document as of a position
	// already. An index asks it for each document of the page, in order, and may
	// give those that are known with their position only; or never asks.
	Known func(id calendar.ID, p calendar.Position) bool
}

// Page is the answer: documents in order, the exact total over all pages, and
// the visible position that it shows.
type Page struct {
	Documents []Document
	Total     int
	Position  calendar.Position
}

// Index keeps documents and answers queries. Deleted documents are in no
// answer. All methods are safe for concurrent use.
type Index interface {
	// Write takes a batch: a document whose position is not greater than the
	// one held for the same id is ignored, so writing again changes nothing.
	// The result has one error per document (nil: written or ignored;
	// ErrPoison: refused for ever), or err when the batch as a whole failed;
	// then nothing of it counts and the position stays.
	Write(ctx context.Context, b Batch) (perDocument []error, err error)

	// Position gives the position that is kept in the index: where a projector
	// goes on after a restart.
	Position(ctx context.Context) (calendar.Position, error)

	// Visible gives the position up to which queries show everything.
	Visible(ctx context.Context) (calendar.Position, error)

	// Wait waits until Visible is at least p, or gives the context's error.
	Wait(ctx context.Context, p calendar.Position) error

	// Search answers a query.
	Search(ctx context.Context, q Query) (Page, error)

	// Get gives the live documents of ids by id, of any kind; unknown ones are
	// absent.
	Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]Document, error)

	// Counts gives, for each value of an id field (FieldVenue, FieldCategories
	// …), the number of documents of the kind that the filter admits and that
	// carry it. Values without any are absent.
	Counts(ctx context.Context, kind calendar.Kind, field string, f Filter) (map[calendar.ID]int, error)

	// Poisoned gives the poison kept in the index, by id.
	Poisoned(ctx context.Context) ([]Poison, error)

	// Digest gives the number of live documents per kind and an order-free
	// digest over (id, version, body), for comparing with the store.
	Digest(ctx context.Context) (Digest, error)

	// Reset empties the index, its position included.
	Reset(ctx context.Context) error
}

// Positioner is an Index that tells the position of a document for less than
// the document costs.
type Positioner interface {
	// PositionOf gives the position of the live document of an id, 0 for none, or
	// errors.ErrUnsupported.
	PositionOf(ctx context.Context, id calendar.ID) (calendar.Position, error)
}

// Digest sums up the live documents.
type Digest struct {
	Counts map[calendar.Kind]int
	Sum    [32]byte // XOR of the leaves of the documents
}

// Leaf is what a document adds to the sum of a digest: SHA-256 over
// "<kind> <id> <version> <body>".
func Leaf(k calendar.Kind, id calendar.ID, version int64, body []byte) [sha256.Size]byte {
	b := make([]byte, 0, 64+len(body))
	b = append(b, k.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, version, 10)
	b = append(b, ' ')
	return sha256.Sum256(append(b, body...))
}
