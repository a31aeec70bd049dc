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

func write(t *testing.T, store eventstore.Store, drafts ...eventstore.Draft) {
	t.Helper()
	res := store.Append(t.Context(), eventstore.Append{Drafts: drafts, Time: moment})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
}

// verified checks a store: what does not fit is an error.
func verified(t *testing.T, store eventstore.Store, progress func(done, total calendar.Position)) (calendar.Position, error) {
	t.Helper()
	findings, err := verify.Store(t.Context(), store, progress)
	if err == nil {
		err = findings.Err()
	}
	return findings.Entries, err
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

func (strange strange) Head(ctx context.Context, point eventstore.Point) (eventstore.Head, error) {
	head, err := strange.Store.Head(ctx, point)
	head.Position = cmp.Or(strange.head, head.Position)
	return head, err
}

func (strange strange) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	page, err := strange.Store.Read(ctx, r)
	page = slices.Clone(page)
	for i := range page {
		if strange.bare && page[i].Position > strange.head {
			page[i].Commit = page[i-1].Commit
		}
	}
	return page, err
}

func (strange strange) At(ctx context.Context, point eventstore.Point, ids ...calendar.ID) ([]eventstore.Entry, error) {
	entries, err := strange.Store.At(ctx, point, ids...)
	if strange.blank && len(ids) == 1 {
		entries[0].Redact(1 << 40)
	}
	return entries, err
}

func (strange strange) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.Held, error) {
	page, err := strange.Store.Records(ctx, kind, after, limit)
	if strange.held != nil && len(page) > 0 {
		page = strange.held(slices.Clone(page))
	}
	return page, err
}

func (strange strange) Find(ctx context.Context, lookup eventstore.Lookup) (eventstore.Found, error) {
	found, err := strange.Store.Find(ctx, lookup)
	if strange.found != nil && len(found.Holders) > 0 {
		strange.found(&found)
	}
	return found, err
}

// first edits the first record of a page.
func first(edit func(held *eventstore.Held)) func(page []eventstore.Held) []eventstore.Held {
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
	draft, record := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
	write(t, written, draft)
	write(t, erased, draft)
	draft, _ = storetest.Draft(t, record, tag(1, calendar.Updated), moment)
	write(t, written, draft)
	change, err := calendar.Erase(record)
	if err != nil {
		t.Fatal(err)
	}
	draft, _ = storetest.Draft(t, record, change, moment)
	draft.Secret = []byte{}
	if res := erased.Append(t.Context(), eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: moment, Redact: []calendar.ID{1}}); res.Err != nil {
		t.Fatal(res.Err)
	}
	restored := first(func(held *eventstore.Held) { held.Erased = false })
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
		change := tag(id, calendar.Created)
		change.Fields["name"] = calendar.Text{calendar.LangEN: "Jazz"}
		draft, _ := storetest.Draft(t, nil, change, moment)
		write(t, s, draft)
	}
	for says, store := range map[string]strange{
		"": {Store: s},
		"the present state of record 1 is not that": {Store: s, held: first(func(held *eventstore.Held) { held.Version++ })},
		"the present state of record 1 is not that ": {Store: s, held: first(func(held *eventstore.Held) {
			held.Record = []byte(strings.Replace(string(held.Record), "Jazz", "Jaxx", 1))
		})},
		"present state of record 1 is not that of its last entry":                            {Store: s, held: first(func(held *eventstore.Held) { held.Secret = []byte("x") })},
		"record 1 holds other claims or names than its state tells, or is not found by them": {Store: s, held: first(func(held *eventstore.Held) { held.Names = nil })},
		"record 1 has no present state":                                                      {Store: s, held: func(page []eventstore.Held) []eventstore.Held { return page[len(page)-1:] }},
		"record 1 holds other claims or names than its state":                                {Store: s, found: func(found *eventstore.Found) { found.Holders[0] = 2 }},
		"record 2 holds other claims or names than its state":                                {Store: s, found: func(found *eventstore.Found) { found.Named[1] = found.Named[1][:1] }},
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
	store := memstore.New()
	records := make([]*calendar.Record, n)
	for round, name := range []string{calendar.Created, calendar.Updated} {
		var drafts []eventstore.Draft
		for i := range records {
			var draft eventstore.Draft
			draft, records[i] = storetest.Draft(t, records[i], tag(calendar.ID(i+1), name), moment)
			drafts = append(drafts, draft)
		}
		for page := range slices.Chunk(drafts, 1000) {
			write(t, store, page...)
		}
		var progress []calendar.Position
		count, err := verified(t, store, func(done, total calendar.Position) {
			progress = append(progress, done)
			if total != calendar.Position((round+1)*n) {
				t.Errorf("total is %d", total)
			}
		})
		if err != nil || count != calendar.Position((round+1)*n) {
			t.Fatalf("Verify: %d entries, %v", count, err)
		}
		if _, err := verified(t, strange{Store: store, blank: true}, nil); err != nil {
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
		edit       func(draft *eventstore.Draft)
	}{
		{"state does not follow", "does not give the stored record", func(draft *eventstore.Draft) {
			draft.State = []byte(strings.Replace(string(draft.State), "updated-1", "updated-9", 1))
		}},
		{"state is no record", "state: decode record", func(draft *eventstore.Draft) { draft.State = []byte(`{}`) }},
		{"fields do not follow", "does not give the stored record", func(draft *eventstore.Draft) { draft.Fields = []byte(`{}`) }},
		{"fields are none of a tag", `unknown field "venue"`, func(draft *eventstore.Draft) { draft.Fields = []byte(`{"venue":1}`) }},
		{"unknown change", "unknown change", func(draft *eventstore.Draft) { draft.Change = "tag.renamed" }},
		{"change of another kind", "apply venue.updated of record 1 to tag 1", func(draft *eventstore.Draft) { draft.Change, draft.Fields = "venue.updated", []byte(`{}`) }},
		{"created again", "it exists", func(draft *eventstore.Draft) { draft.Change = "tag.created" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			draft, record := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
			write(t, store, draft)
			draft, _ = storetest.Draft(t, record, tag(1, calendar.Updated), moment)
			tt.edit(&draft)
			write(t, store, draft)
			_, err := verified(t, store, nil)
			if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry 2:") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error is %v, want one of entry 2 that says %q", err, tt.says)
			}
		})
	}
}

// TestHash: a hash of another length, or of other characters, is refused, so that nothing that
// was added to one or cut off passes for it.
func TestHash(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("0f", 32)
	var hash verify.Hash
	if err := hash.UnmarshalText([]byte(whole)); err != nil || fmt.Sprintf("%x", hash[:]) != whole {
		t.Errorf("%s is read as %x, %v", whole, hash, err)
	}
	for _, text := range []string{"", whole[2:], whole + "00", "x" + whole[1:]} {
		if err := hash.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a hash", text)
		}
	}
}
