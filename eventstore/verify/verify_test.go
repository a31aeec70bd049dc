package verify_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
	"daybook/eventstore/verify"
)

var moment = time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)

func tag(id calendar.ID, name string) calendar.Change {
	return calendar.Change{
		Name: "tag." + name, Kind: calendar.KindTag, ID: id,
		Fields: calendar.Fields{"slug": fmt.Sprintf("%s-%d", name, id)},
	}
}

func write(t *testing.T, s eventstore.Store, drafts ...eventstore.Draft) {
	t.Helper()
	res := s.Append(t.Context(), []eventstore.Append{{Drafts: drafts, Time: moment}})[0]
	if res.Err != nil {
		t.Fatal(res.Err)
	}
}

// verified checks a store: what does not fit is an error.
func verified(t *testing.T, s eventstore.Store, progress func(done, total calendar.Position)) (calendar.Position, error) {
	t.Helper()
	f, err := verify.Store(t.Context(), s, progress)
	if err == nil {
		err = f.Err()
	}
	return f.Entries, err
}

// strange is a store of which some things are read otherwise than they are.
type strange struct {
	eventstore.Store

	head  calendar.Position // 0: as it is
	bare  bool              // no commit is behind the head
	blank bool              // records are erased meanwhile
	held  func(page []eventstore.Held) []eventstore.Held
	found func(f *eventstore.Found)
}

func (s strange) Head(ctx context.Context, p eventstore.Point) (eventstore.Head, error) {
	h, err := s.Store.Head(ctx, p)
	h.Position = cmp.Or(s.head, h.Position)
	return h, err
}

func (s strange) Commits(ctx context.Context, from calendar.Position, limit int) ([]eventstore.Commit, error) {
	if s.bare && from > s.head {
		return nil, nil
	}
	return s.Store.Commits(ctx, from, limit)
}

func (s strange) At(ctx context.Context, p eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	entries, err := s.Store.At(ctx, p, ids...)
	if s.blank && len(ids) == 1 {
		entries[0].Redact(1 << 40)
	}
	return entries, err
}

func (s strange) Records(ctx context.Context, k calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	page, err := s.Store.Records(ctx, k, after, limit)
	if s.held != nil && len(page) > 0 {
		page = s.held(slices.Clone(page))
	}
	return page, err
}

func (s strange) Find(ctx context.Context, l eventstore.Lookup) (eventstore.Found, error) {
	f, err := s.Store.Find(ctx, l)
	if s.found != nil && len(f.Holders) > 0 {
		s.found(&f)
	}
	return f, err
}

// first edits the first record of a page.
func first(edit func(h *eventstore.Held)) func(page []eventstore.Held) []eventstore.Held {
	return func(page []eventstore.Held) []eventstore.Held {
		edit(&page[0])
		return page
	}
}

// TestVerifyBehindTheHead: an entry behind the head needs a commit, and what it is said to
// have erased an erasure.
func TestVerifyBehindTheHead(t *testing.T) {
	t.Parallel()
	written, erased := memstore.New(), memstore.New()
	d, r := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
	write(t, written, d)
	write(t, erased, d)
	d, _ = storetest.Draft(t, r, tag(1, calendar.Updated), moment)
	write(t, written, d)
	c, err := calendar.Erase(r)
	if err != nil {
		t.Fatal(err)
	}
	d, _ = storetest.Draft(t, r, c, moment)
	d.Secret = []byte{}
	if res := erased.Append(t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{d}, Time: moment, Redact: []calendar.ID{1}}})[0]; res.Err != nil {
		t.Fatal(res.Err)
	}
	restored := first(func(h *eventstore.Held) { h.Erased = false })
	for says, s := range map[string]strange{
		"":                         {Store: written, head: 1},
		" ":                        {Store: erased, head: 1},
		"lies behind the last":     {Store: written, head: 1, bare: true},
		"did not erase its record": {Store: erased, head: 1, held: restored},
	} {
		_, err := verified(t, s, nil)
		if says = strings.TrimSpace(says); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
}

// TestVerifyPresentStates: a present state is that of the last entry, and found by what it
// holds.
func TestVerifyPresentStates(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	for id := calendar.ID(1); id < 3; id++ {
		c := tag(id, calendar.Created)
		c.Fields["name"] = calendar.Text{calendar.LangEN: "Jazz"}
		d, _ := storetest.Draft(t, nil, c, moment)
		write(t, s, d)
	}
	for says, store := range map[string]strange{
		"": {Store: s},
		"the present state of record 1 is not that": {Store: s, held: first(func(h *eventstore.Held) { h.Version++ })},
		"the present state of record 1 is not that ": {Store: s, held: first(func(h *eventstore.Held) {
			h.Record = []byte(strings.Replace(string(h.Record), "Jazz", "Jaxx", 1))
		})},
		"present state of record 1 is not that of its last entry":                            {Store: s, held: first(func(h *eventstore.Held) { h.Secret = []byte("x") })},
		"record 1 holds other claims or names than its state tells, or is not found by them": {Store: s, held: first(func(h *eventstore.Held) { h.Names = nil })},
		"record 1 has no present state":                                                      {Store: s, held: func(page []eventstore.Held) []eventstore.Held { return page[len(page)-1:] }},
		"record 1 holds other claims or names than its state":                                {Store: s, found: func(f *eventstore.Found) { f.Holders[0] = 2 }},
		"record 2 holds other claims or names than its state":                                {Store: s, found: func(f *eventstore.Found) { f.Named[1] = f.Named[1][:1] }},
	} {
		if _, err := verified(t, store, nil); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
}

// TestVerifyManyRecords: more records than are decoded in memory at once.
func TestVerifyManyRecords(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	const n = 12_000
	s := memstore.New()
	records := make([]*calendar.Record, n)
	for round, name := range []string{calendar.Created, calendar.Updated} {
		var drafts []eventstore.Draft
		for i := range records {
			var d eventstore.Draft
			d, records[i] = storetest.Draft(t, records[i], tag(calendar.ID(i+1), name), moment)
			drafts = append(drafts, d)
		}
		for page := range slices.Chunk(drafts, 1000) {
			write(t, s, page...)
		}
		var progress []calendar.Position
		count, err := verified(t, s, func(done, total calendar.Position) {
			progress = append(progress, done)
			if total != calendar.Position((round+1)*n) {
				t.Errorf("total is %d", total)
			}
		})
		if err != nil || count != calendar.Position((round+1)*n) {
			t.Fatalf("Verify: %d entries, %v", count, err)
		}
		if _, err := verified(t, strange{Store: s, blank: true}, nil); err != nil {
			t.Errorf("erased meanwhile: %v", err)
		}
		if len(progress) < n/1000 || progress[len(progress)-1] != count {
			t.Errorf("progress was called %d times", len(progress))
		}
	}
}

// TestVerifyFindsWrongFolds: entries that fit their leaves and the chain but not
// each other.
func TestVerifyFindsWrongFolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		edit       func(d *eventstore.Draft)
	}{
		{"state does not follow", "does not give the stored record", func(d *eventstore.Draft) {
			d.State = []byte(strings.Replace(string(d.State), "updated-1", "updated-9", 1))
		}},
		{"state is no record", "state: decode record", func(d *eventstore.Draft) { d.State = []byte(`{}`) }},
		{"fields do not follow", "does not give the stored record", func(d *eventstore.Draft) { d.Fields = []byte(`{}`) }},
		{"fields are none of a tag", `unknown field "venue"`, func(d *eventstore.Draft) { d.Fields = []byte(`{"venue":1}`) }},
		{"unknown change", "unknown change", func(d *eventstore.Draft) { d.Change = "tag.renamed" }},
		{"change of another kind", "apply venue.updated of record 1 to tag 1", func(d *eventstore.Draft) { d.Change, d.Fields = "venue.updated", []byte(`{}`) }},
		{"created again", "it exists", func(d *eventstore.Draft) { d.Change = "tag.created" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := memstore.New()
			d, r := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
			write(t, s, d)
			d, _ = storetest.Draft(t, r, tag(1, calendar.Updated), moment)
			tt.edit(&d)
			write(t, s, d)
			_, err := verified(t, s, nil)
			if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry 2:") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error is %v, want one of entry 2 that says %q", err, tt.says)
			}
		})
	}
}

// later writes another entry whenever records are read, as others do while a
// store is verified.
type later struct {
	eventstore.Store

	t    *testing.T
	last *calendar.Record
}

func (l *later) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	if after == 0 {
		d, r := storetest.Draft(l.t, l.last, tag(1, calendar.Updated), moment)
		fresh, _ := storetest.Draft(l.t, nil, tag(2, calendar.Created), moment)
		d.Secret = []byte("later")
		write(l.t, l.Store, d, fresh) //nolint:contextcheck // takes that of the test
		l.last = r
	}
	return l.Store.Records(ctx, kind, after, limit)
}

// TestVerifyWhileOthersWrite: what is newer than the head of the run is no damage.
func TestVerifyWhileOthersWrite(t *testing.T) {
	t.Parallel()
	d, r := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
	s := &later{Store: memstore.New(), t: t, last: r}
	write(t, s, d)
	if n, err := verified(t, s, nil); err != nil || n != 1 {
		t.Errorf("Verify: %d entries, %v", n, err)
	}
}
