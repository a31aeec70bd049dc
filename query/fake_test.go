package query

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// fakeRecords is a store of records in a map.
type fakeRecords struct {
	mu   sync.Mutex
	byID map[calendar.ID]*calendar.Record
	head calendar.Position
	err  error

	loaded int // ids that were asked for
	looked int // slugs and names that were asked for
}

func (f *fakeRecords) Absent(_ context.Context, k calendar.Kind, _ calendar.ID) error {
	return calendar.Fail(calendar.CodeNotFound, k)
}

func (f *fakeRecords) Load(_ context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded += len(ids)
	out := make([]*calendar.Record, len(ids))
	for i, id := range ids {
		if r := f.byID[id]; r != nil && !r.Deleted {
			out[i] = r
		}
	}
	return out, f.err
}

func (f *fakeRecords) all(k calendar.Kind, fits func(*calendar.Record) bool) []*calendar.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked++
	var out []*calendar.Record
	for _, r := range f.byID {
		if r.Kind == k && !r.Deleted && fits(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *calendar.Record) int { return int(a.ID - b.ID) })
	return out
}

func (f *fakeRecords) BySlug(_ context.Context, k calendar.Kind, slug string) (*calendar.Record, error) {
	found := f.all(k, func(r *calendar.Record) bool { return r.Slug() == slug })
	if len(found) == 0 {
		return nil, f.err
	}
	return found[0], f.err
}

func (f *fakeRecords) ByName(_ context.Context, k calendar.Kind, l calendar.Lang, name string) ([]*calendar.Record, error) {
	return f.all(k, func(r *calendar.Record) bool {
		shown, _ := r.Name(l)
		return calendar.Fold(shown) == calendar.Fold(name)
	}), f.err
}

func (f *fakeRecords) Head(context.Context) (calendar.Position, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.head, f.err
}

func wall(tb testing.TB, s string) calendar.Wall {
	tb.Helper()
	if len(s) == len("2006-01-02") {
		s += " 00:00:00"
	}
	w, err := calendar.ParseWall(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, ok := calendar.ParseZone(name)
	if !ok {
		tb.Fatalf("zone %s", name)
	}
	return z.Location
}

// at returns the instant at which a clock in the zone shows the time.
func at(tb testing.TB, s string, z *time.Location) time.Time {
	tb.Helper()
	return calendar.WallToInstant(wall(tb, s), z)
}

func problems(tb testing.TB, err error) map[string]calendar.Reason {
	tb.Helper()
	e, ok := asError(err)
	if !ok || e.Code != calendar.CodeInvalidParam {
		tb.Fatalf("got %v, want refused parameters", err)
	}
	out := map[string]calendar.Reason{}
	for _, f := range e.Fields {
		out[f.Field] = f.Reason
	}
	return out
}

func asError(err error) (*calendar.Error, bool) { return errors.AsType[*calendar.Error](err) }

// noIndex stands where the read model must not be asked.
type noIndex struct{ readmodel.Index }
