// Package readmodel is the port to the read model: documents, the filter tree
// and its meaning, the schema, and what an index promises.
package readmodel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"daybook/calendar"
)

// The errors of an index.
var (
	ErrUnavailable = errors.New("read model unavailable") // try again later
	ErrRefused     = errors.New("document refused")       // this document will never be taken

	// ErrForeign is the ErrUnavailable of an index that was made from another history
	// than that of the event store: the store lost its last entries or was put back.
	// One that is filled from the present store ends it.
	ErrForeign = fmt.Errorf("%w: it was made from another history than that of the event store", ErrUnavailable)

	// ErrOtherStore is the ErrForeign of an index that was made from another event
	// store. It may belong to another installation, so only people take its place.
	ErrOtherStore = fmt.Errorf("%w: of another event store; another prefix or daybook rebuild mends that", ErrForeign)

	ErrNoGeneration = errors.New("no older generation is kept")
	// ErrMoved says that another generation than the one that Marks told about
	// answers now: a writer reads Marks again and goes on from there.
	ErrMoved = errors.New("another generation of the read model answers")
	// ErrViewMoved is what a View answers when it could not hold the state of its first read.
	// It has a newer one from then on, so all is read again.
	ErrViewMoved = fmt.Errorf("%w: it moved between two reads", ErrUnavailable)
)

// Document is a record as the read model keeps it. Its filter values follow from
// Record by the schema; Body is the canonical JSON of Record.
type Document struct {
	Position calendar.Position // of the entry it was made from
	Record   *calendar.Record  // Deleted for a tombstone
	Body     []byte
	// Repeats is the group that it stands for, of a query that collapses.
	Repeats *Repeats
}

// Check refuses what no index takes, with ErrRefused.
func (document *Document) Check() error {
	switch record := document.Record; {
	case record == nil:
		return fmt.Errorf("%w: no record", ErrRefused)
	case SchemaOf(record.Kind) == nil || record.ID < 1 || document.Position == 0 || document.Position > math.MaxInt64:
		return fmt.Errorf("%w: kind %d, id %d, position %d", ErrRefused, record.Kind, record.ID, document.Position)
	case len(document.Body) == 0 && !record.Deleted:
		return fmt.Errorf("%w: %s %d has no body", ErrRefused, record.Kind, record.ID)
	}
	return nil
}

// Batch is what a projector writes in one step.
type Batch struct {
	Documents []Document
	// Reach is the mark of an entry that none of Documents and Quarantined is younger
	// than. It is kept before them, so that what an index knows of a history that
	// was lost is known as such; a zero one leaves what is kept.
	Reach calendar.Mark
	// Mark is the mark up to which everything is projected once the batch is
	// written; a zero one leaves it. It is never ahead of the data, and its history
	// is that of Reach.
	Mark calendar.Mark
	// Quarantined are records with an entry that could not be projected; they are kept
	// in the index with the batch. Healed are ids whose quarantine is over.
	Quarantined []Quarantined
	Healed      []calendar.ID
}

// Quarantined names an entry that cannot be projected. It stops its own record only:
// later entries of the record wait behind it.
type Quarantined struct {
	ID       calendar.ID
	Position calendar.Position
	Reason   string // for operators
}

// Sort is one key of an order. Missing values come last.
type Sort struct {
	Field string // FieldStart, FieldPublished, FieldID, FieldSlug, FieldNameKey.In(lang) …
	Desc  bool
	// Rank makes the key, of the first one only, how well a document fits a search; it has
	// no Field, and is Desc.
	Rank *Relevance
	// Least makes the key of an id field, of the first one only: the least number that it
	// has for one of the ids; those without a number come last. Fields of numbers follow it.
	Least map[calendar.ID]int64
}

// By is the order by fields, all in one direction.
func By(desc bool, fields ...string) []Sort {
	order := make([]Sort, len(fields))
	for i, name := range fields {
		order[i] = Sort{Field: name, Desc: desc}
	}
	return order
}

// Key is the value of one key of an order.
type Key struct {
	N    int64
	Text string `json:",omitempty"` // of keywords
	Has  bool   // false: there is none
}

// Query asks for a page of one kind.
type Query struct {
	Kind   calendar.Kind
	Filter Filter // nil: all live documents
	Sort   []Sort // ends with FieldID, so the order is total
	Offset int
	Limit  int // 0: the total only
	// After is a place in the order, in place of Offset: the page begins with what
	// comes behind it. It has one Key for each of Sort, which end with FieldID; no document
	// need stand there.
	After []Key
	// Collapse has groups in place of documents, nil for none.
	Collapse *Collapse
	// Narrow admits what the documents are among those that Filter does, nil for all.
	Narrow Filter
	// Tallies are asked of what Filter admits, without Narrow; of Search alone.
	Tallies []Tally
}

// Page is the answer: documents in order, and the exact total over all pages.
type Page struct {
	Documents []Document
	Total     int
	// Tallied are the answers to Query.Tallies, of the state of the page.
	// readmodeltest.Plain states their meaning.
	Tallied []TallyAnswer
}

// VisibleState is the state that queries show.
type VisibleState struct {
	// Mark is up to where they show everything.
	calendar.Mark
	// Content names what the documents hold besides the Mark: it changes when they do
	// while the mark stays (a record that was healed, another generation), never
	// before queries show it. Equal ones at one mark have equal documents.
	Content uint64
}

// Marks tell what an index is made from.
type Marks struct {
	All   calendar.Mark // of everything up to here
	Reach calendar.Mark // of nothing beyond, see Batch.Reach; never before All
}

// Index keeps documents and answers queries. Deleted documents are in no
// answer. All methods are safe for concurrent use.
type Index interface {
	// Write takes a batch: a document whose position is not greater than the
	// one held for the same id is ignored, so writing again changes nothing.
	// The result has one error per document (nil: written or ignored;
	// ErrRefused: refused for ever), or err when the batch as a whole failed;
	// then nothing of it counts and the position stays.
	Write(ctx context.Context, batch Batch) (perDocument []error, err error)

	// Marks returns the marks that are kept in the index: after All a projector goes on
	// after a restart.
	Marks(ctx context.Context) (Marks, error)

	// Visible returns the state that queries show.
	Visible(ctx context.Context) (VisibleState, error)

	// View returns the present state.
	View(ctx context.Context) (View, error)

	// Wait waits until the position of Visible is at least p, or returns the context's error.
	Wait(ctx context.Context, position calendar.Position) error

	// Quarantined returns the quarantined records, by id. It costs little.
	Quarantined(ctx context.Context) ([]Quarantined, error)
}

// View is an Index in one state, as one request sees it, whatever is written meanwhile. It
// is safe for concurrent use and has to be closed. An engine may let go of one that is not
// read for some minutes: then reads are ErrUnavailable.
type View interface {
	// Shown returns the state.
	Shown() VisibleState

	// Search answers a query.
	Search(ctx context.Context, query Query) (Page, error)

	// Walk calls use with all documents that a query finds, in its order, at most WalkStep at
	// a time, and ends with the first error. Offset, limit, place and tallies of the query do
	// not count.
	Walk(ctx context.Context, query Query, use func([]Document) error) error

	// Get returns the records of ids, of any kind, in their order; nil for unknown and deleted
	// ones.
	Get(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error)

	// Stamp names the state of the documents of a kind: while it stays, so do they.
	Stamp(ctx context.Context, kind calendar.Kind) (uint64, error)

	// Close releases the state.
	Close()
}

// Open returns a view of an index that read was called with: again when the view moved, so
// what read has made is of the last call.
func Open(ctx context.Context, index Index, read func(View) error) (View, error) {
	view, err := index.View(ctx)
	if err != nil {
		return nil, err
	}
	for err = ErrViewMoved; errors.Is(err, ErrViewMoved); {
		err = read(view)
	}
	if err != nil {
		view.Close()
	}
	return view, err
}

// Read is Open with a view that is closed then.
func Read(ctx context.Context, index Index, read func(View) error) error {
	view, err := Open(ctx, index, read)
	if err == nil {
		view.Close()
	}
	return err
}

// Get is View.Get in the present state of an index.
func Get(ctx context.Context, index Index, ids ...calendar.ID) (records []*calendar.Record, err error) {
	err = Read(ctx, index, func(view View) error {
		records, err = view.Get(ctx, ids...)
		return err
	})
	return records, err
}

// WalkStep is how many documents a step of a walk gives at most.
const WalkStep = 64
