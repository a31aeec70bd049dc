package query

import (
	"cmp"
	"context"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// fakeIndex is a plain index that counts its calls, and fails on demand.
type fakeIndex struct {
	*readmodeltest.Plain

	mu    sync.Mutex
	err   error
	asked map[string]int // calls by method
}

// put shows records and moves the position by one.
func (x *fakeIndex) put(records ...*calendar.Record) {
	marks, _ := x.Marks(context.Background())
	b := readmodel.Batch{Mark: calendar.Mark{Position: marks.All.Position + 1}}
	for _, r := range records {
		body, err := calendar.EncodeRecord(r)
		if err != nil {
			body = []byte("{}") // a record that no store would have
		}
		b.Documents = append(b.Documents, readmodel.Document{Position: b.Mark.Position, Record: r, Body: body})
	}
	_, _ = x.Write(context.Background(), b)
}

func (x *fakeIndex) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = err
}

// calls returns the number of calls of a method and forgets them.
func (x *fakeIndex) calls(method string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := x.asked[method]
	x.asked[method] = 0
	return n
}

// call counts calls of a method.
func (x *fakeIndex) call(method string, n int) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked[method] += n
	return x.err
}

func (x *fakeIndex) Visible(ctx context.Context) (readmodel.Shown, error) {
	shown, _ := x.Plain.Visible(ctx)
	return shown, x.call("Visible", 1)
}

func (x *fakeIndex) Wait(ctx context.Context, p calendar.Position) error {
	if err := x.call("Wait", 1); err != nil {
		return err
	}
	return x.Plain.Wait(ctx, p)
}

func (x *fakeIndex) View(ctx context.Context) (readmodel.View, error) {
	v, _ := x.Plain.View(ctx)
	return &fakeView{v, x}, x.call("View", 1)
}

// fakeView is a view of a fakeIndex.
type fakeView struct {
	readmodel.View
	x *fakeIndex
}

func (v *fakeView) Search(ctx context.Context, q readmodel.Query) (readmodel.Page, error) {
	page, err := v.View.Search(ctx, q)
	what := "Search"
	if q.Limit == 0 && q.Tallies != nil {
		what = "Counts"
	}
	return page, cmp.Or(v.x.call(what, 1), err)
}

func (v *fakeView) Get(ctx context.Context, ids []calendar.ID) (map[calendar.ID]readmodel.Document, error) {
	found, _ := v.View.Get(ctx, ids)
	return found, cmp.Or(v.x.call("Get", 1), v.x.call("documents", len(ids)))
}

func (v *fakeView) Stamp(ctx context.Context, k calendar.Kind) (uint64, error) {
	stamp, _ := v.View.Stamp(ctx, k)
	return stamp, v.x.call("Stamp", 1)
}

// memoryIndex is the read model of the embedded size.
func memoryIndex(tb testing.TB, records []*calendar.Record) readmodel.Index {
	tb.Helper()
	index := memindex.New(memindex.Options{})
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
	index := &fakeIndex{Plain: readmodeltest.NewPlain(), asked: map[string]int{}}
	index.put(records...)
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
