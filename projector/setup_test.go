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

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
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
func (w *world) create(t tb, kind calendar.Kind, name string) calendar.ID {
	t.Helper()
	w.last++
	w.kinds[w.last] = kind
	w.change(t, w.last, calendar.Created, name)
	return w.last
}

// change appends a change of a record; the name broken stores a state that
// cannot be read, misplaced the state of another record.
func (w *world) change(t tb, id calendar.ID, what, name string) {
	t.Helper()
	kind := w.kinds[id]
	at := time.UnixMilli(1_700_000_000_000 + 1000*int64(id)).UTC()
	state := []byte(`{"broken":true}`)
	if name != broken {
		of := id
		if name == misplaced {
			of++
		}
		state = encode(t, &calendar.Record{
			ID: of, Kind: kind, Version: w.versions[id] + 1, Home: calendar.LangEN, Changed: at,
			Deleted: what == calendar.Deleted, Fields: fields(kind, name),
		})
	}
	res := w.store.Append(context.Background(), []eventstore.Append{{Time: at, Actor: 1, Drafts: []eventstore.Draft{{
		Kind: kind, ID: id, Expected: w.versions[id], Change: kind.String() + "." + what,
		Fields: []byte(`{}`), State: state,
	}}}})[0]
	if res.Err != nil {
		t.Fatalf("append: %v", res.Err)
	}
	w.versions[id]++
}

const (
	broken    = "broken"
	misplaced = "misplaced"
)

func fields(kind calendar.Kind, name string) calendar.Fields {
	f := calendar.Fields{}
	switch kind.NameField() {
	case "":
		f["url"] = "https://img.example/" + name
	default:
		f[kind.NameField()] = calendar.Text{calendar.LangEN: name}
	}
	if kind == calendar.KindUser {
		f["name"] = name
	}
	if kind.IsPost() {
		f["status"] = string(calendar.StatusPublish)
	}
	return f
}

func encode(t tb, record *calendar.Record) []byte {
	t.Helper()
	data, err := calendar.EncodeRecord(record)
	if err != nil {
		t.Fatalf("encode %s %d: %v", record.Kind, record.ID, err)
	}
	return data
}

func (w *world) head(t tb) calendar.Position {
	t.Helper()
	return w.mark(t).Position
}

func (w *world) mark(t tb) calendar.Mark {
	t.Helper()
	head, err := w.store.Head(context.Background(), eventstore.Point{})
	if err != nil {
		t.Fatalf("head: %v", err)
	}
	return head.Mark
}

func newIndex(t tb) readmodel.Index {
	t.Helper()
	i := memindex.New(memindex.Options{})
	return i
}

// from reads the entries of a store, in batches as size says, and ends with
// errEnd at the end of the store when it is to end there.
type from struct {
	store eventstore.Store
	size  func(limit int) int
	stop  context.CancelFunc // called at the end of the store
}

func (f from) Read(ctx context.Context, after eventstore.Mark, limit int) ([]eventstore.Entry, eventstore.Mark, error) {
	if f.size != nil {
		limit = f.size(limit)
	}
	for {
		entries, err := f.store.Read(ctx, eventstore.Range{After: uint64(after.Position), Limit: limit})
		if err != nil {
			return nil, after, err
		}
		if n := len(entries); n > 0 {
			to, err := f.store.Head(ctx, eventstore.Point{Position: entries[n-1].Position})
			return entries, to.Mark, err
		}
		if f.stop != nil {
			f.stop()
			return nil, after, context.Canceled
		}
		if _, err := eventstore.Wait(ctx, f.store, after.Position); err != nil {
			return nil, after, err
		}
	}
}

// quick are options with waits that no test notices.
func quick() projector.Options {
	return projector.Options{MaxWait: time.Millisecond}
}

// runToEnd projects until the end of the store.
func runToEnd(t tb, w *world, index readmodel.Index, size func(int) int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	projector := newProjector(t, index, from{w.store, size, cancel})
	if err := projector.Run(ctx); err != nil {
		t.Fatalf("run: %v", err)
	}
	if got, want := projector.Stats().Position, w.head(t); got != want {
		t.Fatalf("projected up to %d, want %d", got, want)
	}
}

func newProjector(t tb, index readmodel.Index, source projector.Source) *projector.Projector {
	t.Helper()
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
func digest(t tb, index readmodel.Index) map[calendar.ID]string {
	t.Helper()
	var out map[calendar.ID]string
	must(t, readmodel.Read(context.Background(), index, func(view readmodel.View) error {
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

func quarantined(t tb, index readmodel.Index) string {
	t.Helper()
	list, err := index.Quarantined(context.Background())
	if err != nil {
		t.Fatalf("quarantined: %v", err)
	}
	var builder strings.Builder
	for _, p := range list {
		fmt.Fprintf(&builder, "%d@%d ", p.ID, p.Position)
	}
	return builder.String()
}

// wrapped is an index whose writes go through write.
type wrapped struct {
	readmodel.Index
	write func(ctx context.Context, b readmodel.Batch) ([]error, error)
}

func (w wrapped) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	return w.write(ctx, batch)
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
	at calendar.Position
}

func (r rewound) Marks(context.Context) (readmodel.Marks, error) {
	return readmodel.Marks{All: calendar.Mark{Position: r.at}}, nil
}

var errInjected = errors.New("injected")
