package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/projector"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tb is what tests and properties have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func must(tb tb, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("%v", err)
	}
}

// world is a store with a history of records.
type world struct {
	store    *memstore.Store
	versions map[calendar.ID]int64
	kinds    map[calendar.ID]calendar.Kind
	last     calendar.ID
}

func newWorld() *world {
	return &world{store: memstore.New(), versions: map[calendar.ID]int64{}, kinds: map[calendar.ID]calendar.Kind{}}
}

// create appends the first change of a record and gives its id.
func (world *world) create(tb tb, kind calendar.Kind, name string) calendar.ID {
	tb.Helper()
	world.last++
	world.kinds[world.last] = kind
	world.change(tb, world.last, calendar.Created, name)
	return world.last
}

// change appends a change of a record; the name broken stores a state that
// cannot be read, misplaced the state of another record.
func (world *world) change(tb tb, id calendar.ID, what, name string) {
	tb.Helper()
	kind := world.kinds[id]
	instant := time.UnixMilli(1_700_000_000_000 + 1000*int64(id)).UTC()
	state := []byte(`{"broken":true}`)
	if name != broken {
		of := id
		if name == misplaced {
			of++
		}
		state = encode(tb, &calendar.Record{
			ID: of, Kind: kind, Version: world.versions[id] + 1, Home: calendar.LangEN, Changed: instant,
			Deleted: what == calendar.Deleted, Fields: fields(kind, name),
		})
	}
	res := world.store.Append(context.Background(), eventstore.Append{Time: instant, Actor: 1, Drafts: []eventstore.Draft{{Entry: eventstore.Entry{
		Kind:    kind,
		ID:      id,
		Version: world.versions[id] + 1,
		Change:  kind.String() + "." + what,
		Fields:  []byte(`{}`),
		State:   state,
	}}}})
	if res.Err != nil {
		tb.Fatalf("append: %v", res.Err)
	}
	world.versions[id]++
}

const (
	broken    = "broken"
	misplaced = "misplaced"
)

func fields(kind calendar.Kind, name string) calendar.Fields {
	fields := calendar.Fields{}
	switch kind.NameField() {
	case "":
		fields["url"] = "https://img.example/" + name
	default:
		fields[kind.NameField()] = calendar.Text{calendar.LangEN: name}
	}
	if kind == calendar.KindUser {
		fields["name"] = name
	}
	if kind.IsPost() {
		fields["status"] = string(calendar.StatusPublish)
	}
	return fields
}

func encode(tb tb, record *calendar.Record) []byte {
	tb.Helper()
	data, err := calendar.EncodeRecord(record)
	if err != nil {
		tb.Fatalf("encode %s %d: %v", record.Kind, record.ID, err)
	}
	return data
}

func (world *world) head(tb tb) calendar.Position {
	tb.Helper()
	return world.mark(tb).Position
}

func (world *world) mark(tb tb) calendar.Mark {
	tb.Helper()
	head, err := world.store.Head(context.Background(), eventstore.Point{})
	if err != nil {
		tb.Fatalf("head: %v", err)
	}
	return head.Mark
}

func newIndex(tb tb) readmodel.Index {
	tb.Helper()
	index := memindex.New(memindex.Options{})
	return index
}

// from reads the entries of a store, in batches as size says, and ends with
// errEnd at the end of the store when it is to end there.
type from struct {
	store eventstore.Store
	size  func(limit int) int
	stop  context.CancelFunc // called at the end of the store
}

func (from from) Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	if from.size != nil {
		limit = from.size(limit)
	}
	for {
		entries, err := from.store.Read(ctx, eventstore.Range{After: uint64(after.Position), Limit: limit})
		if err != nil {
			return nil, after, err
		}
		if n := len(entries); n > 0 {
			head, err := from.store.Head(ctx, eventstore.Point{Position: entries[n-1].Position})
			return entries, head.Mark, err
		}
		if from.stop != nil {
			from.stop()
			return nil, after, context.Canceled
		}
		if _, err := eventstore.Wait(ctx, from.store, after.Position); err != nil {
			return nil, after, err
		}
	}
}

// quick are options with waits that no test notices.
func quick() projector.Options {
	return projector.Options{MaxWait: time.Millisecond}
}

// runToEnd projects until the end of the store.
func runToEnd(tb tb, world *world, index readmodel.Index, size func(int) int) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	projector := newProjector(tb, index, from{world.store, size, cancel})
	if err := projector.Run(ctx); err != nil {
		tb.Fatalf("run: %v", err)
	}
	if got, want := projector.Stats().Position, world.head(tb); got != want {
		tb.Fatalf("projected up to %d, want %d", got, want)
	}
}

func newProjector(tb tb, index readmodel.Index, source projector.Source) *projector.Projector {
	tb.Helper()
	return projector.New(index, source, quick())
}

// background runs a projector until the test or stop ends it.
func background(t *testing.T, p *projector.Projector) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- p.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-result })
	t.Cleanup(func() { _ = stop() })
	return stop
}

// digest returns the bodies of all documents with their kinds and versions.
func digest(tb tb, index readmodel.Index) map[calendar.ID]string {
	tb.Helper()
	var out map[calendar.ID]string
	must(tb, readmodel.Read(context.Background(), index, func(view readmodel.View) error {
		out = map[calendar.ID]string{}
		for _, kind := range calendar.Kinds {
			if err := view.Walk(context.Background(), readmodel.Query{Kind: kind}, func(documents []readmodel.Document) error {
				for _, document := range documents {
					out[document.Record.ID] = fmt.Sprint(kind, document.Record.Version, string(document.Body))
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	return out
}

// compare is projector.Compare without the number of records.
func compare(ctx context.Context, store eventstore.Store, index readmodel.Index) error {
	_, err := projector.Compare(ctx, store, index)
	return err
}

func quarantined(tb tb, index readmodel.Index) string {
	tb.Helper()
	list, err := index.Quarantined(context.Background())
	if err != nil {
		tb.Fatalf("quarantined: %v", err)
	}
	var builder strings.Builder
	for _, quarantined := range list {
		fmt.Fprintf(&builder, "%d@%d ", quarantined.ID, quarantined.Position)
	}
	return builder.String()
}

// wrapped is an index whose writes go through write.
type wrapped struct {
	readmodel.Index
	write func(ctx context.Context, batch readmodel.Batch) ([]error, error)
}

func (wrapped wrapped) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	return wrapped.write(ctx, batch)
}

// refusing is an index that refuses documents named "refused…".
func refusing(inner readmodel.Index, now func() bool) readmodel.Index {
	return wrapped{inner, func(ctx context.Context, batch readmodel.Batch) ([]error, error) {
		errs := make([]error, len(batch.Documents))
		var taken []int
		pass := batch
		pass.Documents = nil
		for i, document := range batch.Documents {
			if name, _ := document.Record.Name(calendar.LangEN); now() && strings.HasPrefix(name, "refused") {
				errs[i] = fmt.Errorf("%w: %s", readmodel.ErrRefused, name)
				continue
			}
			taken = append(taken, i)
			pass.Documents = append(pass.Documents, document)
		}
		inside, err := inner.Write(ctx, pass)
		if err != nil {
			return nil, err
		}
		for i, e := range inside {
			errs[taken[i]] = e
		}
		return errs, nil
	}}
}

func always() bool { return true }

// rewound is an index that says that it stands at an earlier position, as after
// a crash that lost the newest one.
type rewound struct {
	readmodel.Index
	position calendar.Position
}

func (rewound rewound) Marks(context.Context) (readmodel.Marks, error) {
	return readmodel.Marks{All: calendar.Mark{Position: rewound.position}}, nil
}

var errInjected = errors.New("injected")
