package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
)

// Opened is how RandomSequences opens the stores of one implementation: Fresh returns an
// empty one; Reopen, if not nil, closes one and opens what it stored.
type Opened struct {
	Fresh  func(*rapid.T) eventstore.Store
	Reopen func(*rapid.T, eventstore.Store) eventstore.Store
}

// RandomSequences checks that an implementation answers random sequences of groups of
// appends as a reference does that takes them one after the other, the store in memory, and
// holds the same afterwards.
func RandomSequences(t *testing.T, implementation, reference Opened) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		own, mem := implementation.Fresh(rt), reference.Fresh(rt)
		for range rapid.IntRange(1, 10).Draw(rt, "groups") {
			appends := rapid.SliceOfN(rapid.Custom(drawAppend), 1, 5).Draw(rt, "appends")
			got, want := outcomes(all(t.Context(), own, appends)), outcomes(all(t.Context(), mem, appends))
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("results differ (-memory +own):\n%s", diff)
			}
			if implementation.Reopen != nil && rapid.IntRange(0, 9).Draw(rt, "reopen") == 0 {
				own, mem = implementation.Reopen(rt, own), reference.Reopen(rt, mem)
			}
			// Answers depend on what is held, so comparing it now and then is enough.
			if rapid.IntRange(0, 3).Draw(rt, "compare") == 0 {
				same(rt, mem, own)
			}
		}
		same(rt, mem, own)
	})
}

// Alike are the options under which cmp compares what stores hold: nil and empty are
// the same, and bytes are looked at together, which takes a tenth of the time.
var Alike = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.FilterValues(func(a, data []byte) bool { return len(a)+len(data) > 0 }, cmp.Comparer(bytes.Equal)),
	cmp.Comparer(func(a, b [32]byte) bool { return a == b }),
}

func same(t *rapid.T, mem, own eventstore.Store) {
	t.Helper()
	if diff := cmp.Diff(contents(t, mem), contents(t, own), Alike); diff != "" {
		t.Fatalf("contents differ (-memory +own):\n%s", diff)
	}
}

// drawAppend draws an Append from small sets, so that conflicts, claims and keys meet often.
func drawAppend(t *rapid.T) eventstore.Append {
	addition := eventstore.Append{Time: time.UnixMilli(int64(rapid.IntRange(0, 5).Draw(t, "time"))), Actor: 7}
	drafts := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "drafts")
	for range drafts {
		addition.Drafts = append(addition.Drafts, drawDraft(t))
	}
	if drafts > 0 && rapid.IntRange(0, 3).Draw(t, "guarded") == 0 {
		addition.Guards = []eventstore.Guard{{Name: drawName(t), Count: rapid.IntRange(0, 2).Draw(t, "count")}}
	}
	if drafts == 0 || rapid.IntRange(0, 3).Draw(t, "keyed") == 0 {
		addition.Receipt = &eventstore.Receipt{
			ReceiptKey:  eventstore.ReceiptKey{User: calendar.ID(rapid.IntRange(1, 2).Draw(t, "user")), Key: rapid.SampledFrom([]string{"k", "l"}).Draw(t, "key")},
			Fingerprint: [32]byte{byte(rapid.IntRange(0, 1).Draw(t, "fingerprint"))},
			Record:      calendar.ID(rapid.IntRange(0, 3).Draw(t, "record")),
			Version:     int64(rapid.IntRange(0, 2).Draw(t, "version")),
		}
	}
	return addition
}

func drawDraft(t *rapid.T) eventstore.Draft {
	draft := eventstore.Draft{Entry: eventstore.Entry{
		Kind:    rapid.SampledFrom([]calendar.Kind{calendar.KindTag, calendar.KindTag, calendar.KindVenue}).Draw(t, "kind"),
		ID:      calendar.ID(rapid.IntRange(1, 5).Draw(t, "id")),
		Version: int64(rapid.IntRange(0, 3).Draw(t, "expected")) + 1,
		Change:  "changed",
		Fields:  []byte(`{}`),
		State:   fmt.Appendf(nil, `{"n":%d}`, rapid.IntRange(0, 9).Draw(t, "n")),
		Secret:  rapid.SampledFrom([][]byte{nil, nil, {}, {1}, {2}}).Draw(t, "secret"),
	}}
	for range rapid.IntRange(0, 2).Draw(t, "claims") {
		draft.Claims = append(draft.Claims, calendar.Claim{Space: "s", Key: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "claim")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "names") {
		draft.Names = append(draft.Names, drawName(t))
	}
	return draft
}

func drawName(t *rapid.T) calendar.Name {
	return calendar.Name{Space: "n", Key: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name")}
}

// outcomes makes results comparable: errors by what a caller can tell, receipts whole.
func outcomes(results []eventstore.Result) []string {
	names := make([]string, len(results))
	for i, result := range results {
		if names[i] = outcome(result); result.Receipt != nil {
			names[i] += fmt.Sprintf(", receipt %+v", *untimed(result.Receipt))
		}
	}
	return names
}

// untimed returns a receipt without its time, which is that of a clock of the store.
func untimed(receipt *eventstore.Receipt) *eventstore.Receipt {
	if receipt == nil {
		return nil
	}
	result := *receipt
	result.Time = time.Time{}
	return &result
}

type contained struct {
	Entries  []eventstore.Entry
	Records  []eventstore.Held
	Loaded   []eventstore.State
	Found    eventstore.Found
	Receipts []*eventstore.Receipt
}

func contents(t *rapid.T, store eventstore.Store) contained {
	ctx := t.Context()
	var h contained
	var errs [8]error
	h.Entries, errs[0] = store.Read(ctx, eventstore.Range{Limit: 1000})
	h.Records, errs[1] = store.Records(ctx, 0, 0, 1000)
	h.Loaded, errs[2] = store.Load(ctx, 1, 2, 3, 4, 5)
	lookup := eventstore.Lookup{Names: []calendar.Name{{Space: "n", Key: "x"}, {Space: "n", Key: "y"}}}
	for _, key := range []string{"a", "b", "c", "d"} {
		lookup.Claims = append(lookup.Claims, calendar.Claim{Space: "s", Key: key})
	}
	h.Found, errs[3] = store.Find(ctx, lookup)
	for i, key := range []string{"k", "l"} {
		for user := range calendar.ID(2) {
			receipt, err := store.Receipt(ctx, user+1, key)
			h.Receipts, errs[4+2*i+int(user)] = append(h.Receipts, untimed(receipt)), err
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	// Salts are random, so leaves and hashes are; and how appends share commits differs.
	for i := range h.Entries {
		entry := &h.Entries[i]
		if entry.Leaf != eventstore.Leaf(entry) {
			t.Errorf("entry %d does not fit its leaf", entry.Position)
		}
		entry.Salts, entry.Leaf, entry.Commit = eventstore.Salts{}, [32]byte{}, eventstore.Commit{}
	}
	return h
}
