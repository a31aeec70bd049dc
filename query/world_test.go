package query

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
	"daybook/query/readmodel/readmodeltest"
)

// fakeRecords is a store of records in a map, which counts what it is asked for.
type fakeRecords struct {
	byID  map[calendar.ID]*calendar.Record
	head  calendar.Position
	asked atomic.Int64 // ids, slugs and names
}

func (fakeRecords *fakeRecords) Absent(_ context.Context, kind calendar.Kind, _ calendar.ID) error {
	return calendar.Fail(calendar.CodeNotFound, kind)
}

func (fakeRecords *fakeRecords) Load(_ context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	fakeRecords.asked.Add(int64(len(ids)))
	out := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		if record := fakeRecords.byID[id]; record != nil && !record.Deleted {
			out[i] = record
		}
	}
	return out, nil
}

func (fakeRecords *fakeRecords) all(kind calendar.Kind, fits func(*calendar.Record) bool) (out []*calendar.Record) {
	fakeRecords.asked.Add(1)
	for _, id := range slices.Sorted(maps.Keys(fakeRecords.byID)) {
		if record := fakeRecords.byID[id]; record.Kind == kind && !record.Deleted && fits(record) {
			out = append(out, record)
		}
	}
	return out
}

func (fakeRecords *fakeRecords) BySlug(_ context.Context, kind calendar.Kind, slug string) (*calendar.Record, error) {
	found := append(fakeRecords.all(kind, func(record *calendar.Record) bool { return record.Slug() == strings.ToLower(slug) }), nil)
	return found[0], nil
}

func (fakeRecords *fakeRecords) ByName(_ context.Context, kind calendar.Kind, lang calendar.Lang, name string) ([]*calendar.Record, error) {
	return fakeRecords.all(kind, func(record *calendar.Record) bool {
		shown, _ := record.Name(lang)
		return calendar.Fold(shown) == calendar.Fold(name)
	}), nil
}

func (fakeRecords *fakeRecords) Head(context.Context) (calendar.Position, error) {
	return fakeRecords.head, nil
}

// fakeIndex is a plain index that counts the documents it is asked for, and fails on demand.
type fakeIndex struct {
	*readmodeltest.Plain
	fault   func(ctx context.Context) error // of searches
	moved   func() error                    // of whatever a view is asked
	fetched int
}

// put shows records and moves the position by one.
func (fakeIndex *fakeIndex) put(records ...*calendar.Record) {
	marks, _ := fakeIndex.Marks(context.Background())
	batch := readmodel.Batch{Mark: calendar.Mark{Position: marks.All.Position + 1}}
	for _, record := range records {
		body, err := calendar.EncodeRecord(record)
		if err != nil {
			body = []byte("{}") // a record that no store would have
		}
		batch.Documents = append(batch.Documents, readmodel.Document{Position: batch.Mark.Position, Record: record, Body: body})
	}
	_, _ = fakeIndex.Write(context.Background(), batch)
}

func (fakeIndex *fakeIndex) View(ctx context.Context) (readmodel.View, error) {
	view, err := fakeIndex.Plain.View(ctx)
	return &fakeView{view, fakeIndex}, err
}

// fakeView is a view of a fakeIndex.
type fakeView struct {
	readmodel.View
	fakeIndex *fakeIndex
}

func (fakeView *fakeView) Search(ctx context.Context, query readmodel.Query) (readmodel.Page, error) {
	if fakeView.fakeIndex.fault != nil {
		return readmodel.Page{}, fakeView.fakeIndex.fault(ctx)
	}
	if err := fakeView.moves(); err != nil {
		return readmodel.Page{}, err
	}
	return fakeView.View.Search(ctx, query)
}

func (fakeView *fakeView) moves() error {
	if fakeView.fakeIndex.moved == nil {
		return nil
	}
	return fakeView.fakeIndex.moved()
}

func (fakeView *fakeView) Stamp(ctx context.Context, kind calendar.Kind) (uint64, error) {
	if err := fakeView.moves(); err != nil {
		return 0, err
	}
	return fakeView.View.Stamp(ctx, kind)
}

func (fakeView *fakeView) Get(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	fakeView.fakeIndex.fetched += len(ids)
	return fakeView.View.Get(ctx, ids...)
}

// fill writes records into an index, and waits until they are visible.
func fill(tb testing.TB, index readmodel.Index, records []*calendar.Record) {
	tb.Helper()
	var batch readmodel.Batch
	for _, record := range records {
		body, err := calendar.EncodeRecord(record)
		if err != nil {
			tb.Fatal(err)
		}
		record.Sum = calendar.SumOf(body)
		batch.Mark.Position++
		batch.Documents = append(batch.Documents, readmodel.Document{Position: batch.Mark.Position, Record: record, Body: body})
	}
	perDocument, err := index.Write(tb.Context(), batch)
	if err := errors.Join(append(perDocument, err, index.Wait(tb.Context(), batch.Mark.Position))...); err != nil {
		tb.Fatal(err)
	}
}

// onBoth runs a test on the meaning alone and on the memory image.
func onBoth(t *testing.T, records []*calendar.Record, test func(t *testing.T, service *Service)) {
	t.Helper()
	meaning, _, _, _ := setup(t, records)
	memory, _, _, _ := setup(t, records)
	memory.index = memindex.New(memindex.Options{})
	fill(t, memory.index, records)
	for name, service := range map[string]*Service{"meaning": meaning, "memory image": memory} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, service)
		})
	}
}

// The callers of the tests.
var (
	anonymous = calendar.Caller{}
	author    = calendar.Caller{ID: 8, Role: calendar.Author}
	editor    = calendar.Caller{ID: 9, Role: calendar.Editor}

	callers = map[string]calendar.Caller{
		"anonymous": anonymous, "subscriber": {ID: 6, Role: calendar.Subscriber}, "contributor": {ID: 7, Role: calendar.Contributor},
		"author": author, "editor": editor, "auditor": {ID: 10, Role: calendar.Auditor},
	}
)

type fields = calendar.Fields

// record makes a record; posts are published on 2030-01-01, an hour later for
// each id, by author 9, when nothing else is said.
func record(tb testing.TB, kind calendar.Kind, id calendar.ID, name string, f fields) *calendar.Record {
	tb.Helper()
	out := fields{kind.NameField(): calendar.Text{calendar.LangEN: name}, "slug": kind.String() + "-" + strconv.Itoa(int(id))}
	if kind.IsPost() {
		date := wall(tb, "2030-01-01") + calendar.Wall(id)*3600
		out["author"], out["status"], out["date"], out["date_utc"] = calendar.ID(9), "publish", date, date
	}
	maps.Copy(out, f)
	return &calendar.Record{ID: id, Kind: kind, Version: 1, Home: calendar.LangEN, Fields: out}
}

// event makes an event in UTC.
func event(tb testing.TB, id calendar.ID, title, start, end string, f fields) *calendar.Record {
	tb.Helper()
	s, e := wall(tb, start), wall(tb, end)
	out := fields{"start_date": s, "end_date": e, "utc_start_date": s, "utc_end_date": e, "timezone": "UTC"}
	maps.Copy(out, f)
	return record(tb, calendar.KindEvent, id, title, out)
}

func ids(list ...calendar.ID) []calendar.ID { return list }

func wall(tb testing.TB, text string) calendar.Wall {
	tb.Helper()
	if len(text) == len(time.DateOnly) {
		text += " 00:00:00"
	}
	wall, err := calendar.ParseWall(text)
	if err != nil {
		tb.Fatal(err)
	}
	return wall
}

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	zone, ok := calendar.ParseZone(name)
	if !ok {
		tb.Fatalf("zone %s", name)
	}
	return zone.Location
}

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
	for _, record := range records {
		store.byID[record.ID] = record
	}
	index := &fakeIndex{Plain: readmodeltest.NewPlain()}
	index.put(records...)
	now := time.Date(2030, 5, 1, 8, 0, 0, 0, time.UTC)
	return New(index, store, Options{Now: func() time.Time { return now }}), store, index, &now
}

// list parses and runs a list of events.
func list(tb testing.TB, service *Service, caller calendar.Caller, input calendar.Input) (*List, *Criteria, error) {
	tb.Helper()
	return answer(tb, service, Request{Kind: calendar.KindEvent, Input: input, Lang: calendar.LangEN, Caller: caller})
}

func answer(tb testing.TB, service *Service, request Request) (*List, *Criteria, error) {
	tb.Helper()
	criteria, err := service.Parse(tb.Context(), request)
	if err != nil {
		return nil, nil, err
	}
	list, err := service.Run(tb.Context(), criteria)
	return list, criteria, err
}

// viewed makes the view of a record for everybody.
func viewed(tb testing.TB, service *Service, record *calendar.Record, embeds Embeds) (View, error) {
	tb.Helper()
	return service.View(tb.Context(), anonymous, record, calendar.LangEN, embeds, Moment{})
}

func idsOf(list *List) []calendar.ID {
	out := make([]calendar.ID, 0, len(list.Views))
	for _, view := range list.Views {
		out = append(out, view.Record.ID)
	}
	return out
}

func asError(err error) (*calendar.Error, bool) { return errors.AsType[*calendar.Error](err) }
