package query

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// fakeIndex is a read model that asks readmodel.Match for every document.
type fakeIndex struct {
	readmodel.Index // writing is not part of these tests

	mu          sync.Mutex
	docs        map[calendar.ID]*calendar.Record
	position    calendar.Position
	content     uint64
	moved       chan struct{}
	err         error
	asked       map[string]int // calls by method
	quarantined []readmodel.Quarantined
}

func newFakeIndex(records []*calendar.Record) *fakeIndex {
	x := &fakeIndex{
		docs: map[calendar.ID]*calendar.Record{}, position: 1,
		moved: make(chan struct{}), asked: map[string]int{},
	}
	for _, r := range records {
		x.docs[r.ID] = r
	}
	return x
}

// put shows a record and moves the position by one.
func (x *fakeIndex) put(records ...*calendar.Record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range records {
		x.docs[r.ID] = r
	}
	x.position++
	close(x.moved)
	x.moved = make(chan struct{})
}

func (x *fakeIndex) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = err
}

// calls gives the number of calls of a method and forgets them.
func (x *fakeIndex) calls(method string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.asked[method]
	x.asked[method] = 0
	return n
}

func (x *fakeIndex) Visible(context.Context) (readmodel.Shown, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return readmodel.Shown{Mark: calendar.Mark{Position: x.position}, Content: x.content}, x.err
}

func (x *fakeIndex) Quarantined(context.Context) ([]readmodel.Quarantined, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.quarantined, x.err
}

func (x *fakeIndex) Wait(ctx context.Context, p calendar.Position) error {
	for {
		x.mu.Lock()
		shown, moved, err := x.position, x.moved, x.err
		x.mu.Unlock()
		if err != nil || shown >= p {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (x *fakeIndex) matching(k calendar.Kind, f readmodel.Filter) []readmodel.Document {
	var out []readmodel.Document
	for _, r := range x.docs {
		d := readmodel.Document{Record: r}
		if r.Kind == k && !r.Deleted && readmodel.Match(f, &d) {
			out = append(out, d)
		}
	}
	return out
}

func (x *fakeIndex) Search(_ context.Context, q readmodel.Query) (readmodel.Page, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked["Search"]++
	if err := readmodel.Check(q); err != nil {
		return readmodel.Page{}, err
	}
	found := x.matching(q.Kind, readmodel.Both(q.Filter, q.Narrow))
	var tallied [][]readmodel.Tallied
	for i := range q.Tallies {
		docs := x.matching(q.Kind, readmodel.Both(q.Filter, q.Tallies[i].Filter))
		tallied = append(tallied, nil)
		for j := range q.Tallies[i].Tallies {
			tallied[i] = append(tallied[i], readmodel.TallyOf(&q.Tallies[i].Tallies[j], docs))
		}
	}
	slices.SortFunc(found, func(a, b readmodel.Document) int { return readmodel.Compare(q.Sort, &a, &b) })
	if q.Collapse != nil {
		found = readmodel.Repeated(q.Collapse, found)
	}
	total := len(found)
	if q.After != nil {
		found = slices.DeleteFunc(found, func(d readmodel.Document) bool {
			return readmodel.ComparePlaces(q.Sort, readmodel.Place(q.Sort, d.Record), q.After) <= 0
		})
	}
	from := min(q.Offset, len(found))
	return readmodel.Page{
		Documents: found[from:min(from+q.Limit, len(found))], Total: total, Position: x.position, Tallied: tallied,
	}, x.err
}

func (x *fakeIndex) Get(_ context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked["Get"]++
	x.asked["documents"] += len(ids)
	out := map[calendar.ID]readmodel.Document{}
	for _, id := range ids {
		if r := x.docs[id]; r != nil && !r.Deleted {
			out[id] = readmodel.Document{Record: r}
		}
	}
	return out, x.err
}

func (x *fakeIndex) Counts(_ context.Context, k calendar.Kind, field string, f readmodel.Filter) (map[calendar.ID]int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked["Counts"]++
	if err := readmodel.CheckCounts(k, field, f); err != nil {
		return nil, err
	}
	out := map[calendar.ID]int{}
	for _, d := range x.matching(k, f) {
		for _, id := range readmodel.SchemaOf(k).Field(field).IDs(d.Record) {
			out[id]++
		}
	}
	return out, x.err
}

func (x *fakeIndex) Stamp(context.Context, calendar.Kind) (readmodel.Stamp, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked["Stamp"]++
	return readmodel.Stamp{Changed: uint64(x.position)}, x.err
}

func (x *fakeIndex) Walk(ctx context.Context, q readmodel.Query) (readmodel.Walk, error) {
	q.Offset, q.Limit = 0, 1<<30
	page, err := x.Search(ctx, q)
	w := &fakeWalk{Page: page, spans: map[string]readmodel.Span{}}
	if q.Beside != nil {
		w.beside, err = x.Search(ctx, readmodel.Query{Kind: q.Kind, Filter: q.Beside, Limit: q.Limit})
	}
	return w, err
}

type fakeWalk struct {
	readmodel.Page
	beside readmodel.Page
	spans  map[string]readmodel.Span
}

func (w *fakeWalk) Spans() map[string]readmodel.Span { return w.spans }

func (w *fakeWalk) Beside(_ context.Context, use func([]readmodel.Document) error) error {
	return use(w.beside.Documents)
}

func (x *fakeIndex) Titles(_ context.Context, q readmodel.Titles) ([]readmodel.Title, calendar.Position, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked["Titles"]++
	return readmodel.TitlesOf(q, x.matching(q.Kind, q.Filter)), x.position, x.err
}

func (x *fakeIndex) Still(ctx context.Context, read func(context.Context) error) error {
	return read(ctx)
}

func (w *fakeWalk) Total() int                  { return w.Page.Total }
func (w *fakeWalk) Position() calendar.Position { return w.Page.Position }
func (w *fakeWalk) Close()                      {}

func (w *fakeWalk) Each(_ context.Context, use func([]readmodel.Document) error) error {
	for some := range slices.Chunk(w.Documents, readmodel.WalkStep) {
		if err := use(some); err != nil {
			return err
		}
	}
	return nil
}

// memoryIndex is the read model of the embedded size.
func memoryIndex(tb testing.TB, records []*calendar.Record) readmodel.Index {
	tb.Helper()
	index, err := memindex.New(memindex.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	Fill(tb, index, 0, records...)
	return index
}

// The callers of the tests.
var (
	anonymous   = calendar.Caller{}
	subscriber  = calendar.Caller{ID: 6, Role: calendar.Subscriber}
	contributor = calendar.Caller{ID: 7, Role: calendar.Contributor}
	author      = calendar.Caller{ID: 8, Role: calendar.Author}
	editor      = calendar.Caller{ID: 9, Role: calendar.Editor}
	auditor     = calendar.Caller{ID: 10, Role: calendar.Auditor}

	callers = map[string]calendar.Caller{
		"anonymous": anonymous, "subscriber": subscriber, "contributor": contributor, "author": author, "editor": editor, "auditor": auditor,
	}
)

type fields = calendar.Fields

func english(s string) calendar.Text {
	var t calendar.Text
	t[calendar.LangEN] = s
	return t
}

// record makes a record; posts are published on 2030-01-01, an hour later for
// each id, by author 9, when nothing else is said.
func record(tb testing.TB, k calendar.Kind, id calendar.ID, name string, f fields) *calendar.Record {
	tb.Helper()
	out := fields{k.NameField(): english(name), "slug": k.String() + "-" + strconv.Itoa(int(id))}
	if k.IsPost() {
		date := wall(tb, "2030-01-01") + calendar.Wall(id)*3600
		out["author"], out["status"], out["date"], out["date_utc"] = calendar.ID(9), "publish", date, date
	}
	maps.Copy(out, f)
	return &calendar.Record{ID: id, Kind: k, Version: 1, Home: calendar.LangEN, Fields: out}
}

// event makes an event in UTC.
func event(tb testing.TB, id calendar.ID, title, start, end string, f fields) *calendar.Record {
	tb.Helper()
	s, e := wall(tb, start), wall(tb, end)
	out := fields{"start_date": s, "end_date": e, "utc_start_date": s, "utc_end_date": e, "timezone": "UTC"}
	maps.Copy(out, f)
	return record(tb, calendar.KindEvent, id, title, out)
}

func ids(list ...calendar.ID) []calendar.ID { return append([]calendar.ID{}, list...) }

// worldNow is the moment of the world, in UTC.
const worldNow = "2030-05-01 08:00:00"

// world is a small calendar on 2030-05-01.
func world(tb testing.TB) []*calendar.Record {
	tb.Helper()
	return recordsIn(tb, "world.txt")
}

// setup gives a service over the world, its store and its read model, and a
// clock that the test may move.
func setup(tb testing.TB, records []*calendar.Record) (*Service, *fakeRecords, *fakeIndex, *time.Time) {
	tb.Helper()
	store := &fakeRecords{byID: map[calendar.ID]*calendar.Record{}, head: 1}
	for _, r := range records {
		store.byID[r.ID] = r
	}
	index := newFakeIndex(records)
	now := at(tb, worldNow, time.UTC)
	s, err := New(index, store, Options{Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	return s, store, index, &now
}

// list parses and runs a list.
func list(tb testing.TB, s *Service, k calendar.Kind, c calendar.Caller, in calendar.Input) (*List, *Criteria, error) {
	tb.Helper()
	criteria, err := s.Parse(tb.Context(), Request{Kind: k, Input: in, Lang: calendar.LangEN, Caller: c})
	if err != nil {
		return nil, nil, err
	}
	l, err := s.Run(tb.Context(), criteria)
	return l, criteria, err
}

func idsOf(l *List) []calendar.ID {
	out := make([]calendar.ID, 0, len(l.Views))
	for _, v := range l.Views {
		out = append(out, v.Record.ID)
	}
	return out
}
