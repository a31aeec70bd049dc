// Package elastic is the read model in Elasticsearch 8 or OpenSearch 2: one index
// per kind behind an alias, generations that are filled next to the one that
// answers, and the projector's position kept with the documents.
//
// Texts are analysed by package readmodel, not by the engine, so both engines and
// the memory image give the same answers (docs/adr/0011).
package elastic

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Flavour is the product that the servers run.
type Flavour string

// The flavours.
const (
	Elasticsearch Flavour = "elasticsearch"
	OpenSearch    Flavour = "opensearch"
)

// ErrSchema says that the generation that answers was made by a program with
// another schema or analysis. It is a readmodel.ErrUnavailable: lists come back
// once a generation of the present schema is promoted.
var ErrSchema = fmt.Errorf("%w: the index has another schema and must be rebuilt", readmodel.ErrUnavailable)

// Options of an Index; the zero value works.
type Options struct {
	Flavour Flavour `default:"elasticsearch" choices:"elasticsearch or opensearch" placeholder:"NAME" help:"elasticsearch or opensearch"` // "": Elasticsearch
	// Prefix begins the names of all indices and aliases: lower-case letters,
	// digits, - and _. "": "daybook".
	Prefix string       `default:"daybook" placeholder:"NAME" pattern:"^[a-z][a-z0-9_-]{0,59}$" must:"be lower-case letters, digits, - and _, beginning with a letter, at most 60" help:"prefix of the names of indices, one per read model of a store"`
	Log    *slog.Logger `kong:"-"` // nil: no log

	// Holds reports whether the event store has the history of a mark; a generation of
	// another one is readmodel.ErrForeign. It is asked for marks that are new and when Epoch
	// has changed. When it fails a generation that was of the store is taken to be so
	// still. nil: it is not asked.
	Holds func(context.Context, calendar.Mark) (bool, error) `kong:"-"`
	// First returns the mark of the first entry of the event store. It is kept with
	// documents; a generation of which Holds denies it is of another event store:
	// readmodel.ErrOtherStore. nil: it is not kept.
	First func(context.Context) (calendar.Mark, error) `kong:"-"`
	// Epoch changes when the event store goes over to another history; nil: never.
	Epoch func() uint64 `kong:"-"`

	// APIKey returns the present key, which is sent in place of the user of the URL. It is
	// called again when a key was refused.
	APIKey func() (string, error) `kong:"-"`
	// CACert is a PEM file's content that is trusted instead of the system's.
	CACert []byte `kong:"-"`

	// RefreshInterval is how often an engine shows what was written by itself,
	// and the longest age of the visible position that lists state. 0: 1 s.
	RefreshInterval time.Duration `name:"refresh" default:"1s" min:"50ms" max:"1m" placeholder:"DURATION" help:"greatest age of lists without credentials"`
	// MaxResultWindow is up to where a page is asked for directly; deeper ones are
	// walked to, page by page. 0: 100,000.
	MaxResultWindow int `kong:"-"`
	Shards          int `default:"1" min:"1" max:"64" placeholder:"N" help:"shards of each new index, 1 to 64"`                        // of each index of a kind; 0: 1
	Replicas        int `default:"0" min:"0" max:"10" placeholder:"N" help:"replicas of each shard; 0: one if there is a second node"` // 0: one where there is a second node (auto_expand_replicas 0-1)

	// Timeout is the longest time of a request, WriteTimeout that of a request
	// that writes documents. A list sends a few, one after the other, and fails with the
	// first that takes too long. 0: 4 s and 5 s.
	Timeout, WriteTimeout time.Duration `kong:"-"`
	// BulkBytes is the size from which on a write is split. 0: 2 MB.
	BulkBytes int `kong:"-"`
	// MinWait is the first wait before items that an engine was too busy for are sent
	// again. 0: 50 ms. They are sent up to 6 times.
	MinWait time.Duration `kong:"-"`

	Now       func() time.Time  `kong:"-"` // nil: time.Now
	Transport http.RoundTripper `kong:"-"` // nil: one of its own
}

var prefixForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

func (options *Options) fill() error {
	options.Flavour = cmp.Or(options.Flavour, Elasticsearch)
	if options.Flavour != Elasticsearch && options.Flavour != OpenSearch {
		return fmt.Errorf("index flavour %q: must be %s or %s", options.Flavour, Elasticsearch, OpenSearch)
	}
	options.Prefix = cmp.Or(options.Prefix, "daybook")
	if !prefixForm.MatchString(options.Prefix) || len(options.Prefix) > 100 {
		return fmt.Errorf("index prefix %q: must be up to 100 lower-case letters, digits, - and _, and begin with a letter or digit", options.Prefix)
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Epoch == nil {
		options.Epoch = func() uint64 { return 0 }
	}
	options.RefreshInterval = cmp.Or(options.RefreshInterval, time.Second)
	options.MaxResultWindow = cmp.Or(options.MaxResultWindow, 100_000)
	options.Shards = cmp.Or(options.Shards, 1)
	options.Timeout = cmp.Or(options.Timeout, 4*time.Second)
	options.WriteTimeout = cmp.Or(options.WriteTimeout, 5*time.Second)
	options.BulkBytes = cmp.Or(options.BulkBytes, 2<<20)
	options.MinWait = cmp.Or(options.MinWait, 50*time.Millisecond)
	return nil
}

// Index is a readmodel.Generations in Elasticsearch or OpenSearch.
//
// It follows the aliases: whichever process promotes a generation, lists come
// from it no later than Options.RefreshInterval afterwards. A writer is bound to
// the generation of which it read the marks: when another one answers, Write
// gives readmodel.ErrMoved, Moved returns, and the writer has to read Marks
// again and go on from there.
type Index struct {
	conn    *conn
	options *Options

	steps  singleflight.Group // of look
	points chan struct{}      // taken by each point in time
	linked atomic.Pointer[linkedDocuments]

	// fixed is the generation that it is about, zero: the one that answers.
	fixed generation

	mu    sync.Mutex
	next  generation // that Next made last
	seen  state
	held  storeContents // what Options.Holds returned last
	bound state         // of the generation of the writer
	moved chan struct{}
}

var _ readmodel.Generations = (*Index)(nil)

// Open returns an index on the servers of urls (commas between them; all of one cluster),
// which are not asked for anything yet, see Index.Reach. Lists are ErrUnavailable until Next
// and Promote have made a generation. Any number of processes may have the index open.
func Open(urls string, options Options) (*Index, error) {
	if err := options.fill(); err != nil {
		return nil, err
	}
	conn, err := connect(urls, &options)
	if err != nil {
		return nil, err
	}
	return newIndex(conn, &options), nil
}

func newIndex(conn *conn, options *Options) *Index {
	return &Index{conn: conn, options: options, points: make(chan struct{}, maxPoints), moved: make(chan struct{})}
}

func (engine *Index) names() names { return names{engine.options.Prefix} }

// Reach implements readmodel.Generations: it asks who answers, before anything is written.
func (engine *Index) Reach(ctx context.Context) error { return engine.conn.checkProduct(ctx) }

// Keep implements readmodel.Generations: the servers do all by themselves.
func (engine *Index) Keep(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Close closes the connections.
func (engine *Index) Close() error {
	engine.conn.http.CloseIdleConnections()
	return nil
}
