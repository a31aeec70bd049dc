package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
	"daybook/eventstore/verify"
)

// erasedLog is a log of two tags: 1 at 1, 2 and erased at 4, 2 at 3 and 5.
func erasedLog(t *testing.T) []eventstore.Entry {
	t.Helper()
	store := memstore.New()
	first, record := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
	second, record := storetest.Draft(t, record, tag(1, calendar.Updated), moment)
	second.Secret = []byte("secret")
	other, o := storetest.Draft(t, nil, tag(2, calendar.Created), moment)
	write(t, store, first, second, other)
	change, err := calendar.Erase(record)
	if err != nil {
		t.Fatal(err)
	}
	gone, _ := storetest.Draft(t, record, change, moment)
	gone.Secret = []byte{}
	a := eventstore.Append{Drafts: []eventstore.Draft{gone}, Time: moment, Redact: []calendar.ID{1}}
	if res := store.Append(t.Context(), a); res.Err != nil {
		t.Fatal(res.Err)
	}
	last, _ := storetest.Draft(t, o, tag(2, calendar.Updated), moment)
	write(t, store, last)
	entries, err := store.Read(t.Context(), eventstore.Range{Limit: 10})
	if err != nil || len(entries) != 5 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	all := make([]eventstore.Entry, len(entries))
	for i, entry := range entries {
		all[i] = entryOf(entry)
	}
	return all
}

// entryOf is an entry with a leaf that fits.
func entryOf(entry eventstore.Entry) eventstore.Entry {
	entry.Leaf = eventstore.Leaf(&entry)
	return entry
}

// TestLog: what does not fit together is found, although each entry fits its leaf, with
// the first entry at fault.
func TestLog(t *testing.T) {
	t.Parallel()
	created, record := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
	updated, _ := storetest.Draft(t, record, tag(1, calendar.Updated), moment)
	for name, tt := range map[string]struct {
		edit     func(e []eventstore.Entry) []eventstore.Entry
		result   verify.Result
		position calendar.Position
		says     string
	}{
		"whole":    {func(e []eventstore.Entry) []eventstore.Entry { return e }, verify.Redacted, 0, ""},
		"position": {func(e []eventstore.Entry) []eventstore.Entry { return slices.Delete(e, 2, 3) }, verify.Tampered, 3, "it is missing, the next one is 4"},
		"version": {func(e []eventstore.Entry) []eventstore.Entry {
			e[4].Version++
			return e
		}, verify.Tampered, 5, "version 3 of tag 2 follows version 1 of a tag"},
		"kind": {func(e []eventstore.Entry) []eventstore.Entry {
			e[4].Kind = calendar.KindVenue
			return e
		}, verify.Tampered, 5, "version 2 of venue 2 follows version 1 of a tag"},
		"after an erasure": {func(e []eventstore.Entry) []eventstore.Entry {
			e[4].ID, e[4].Version = 1, 4
			return e
		}, verify.Tampered, 5, "record 1 was erased before it"},
		"blank without an erasure": {func(e []eventstore.Entry) []eventstore.Entry {
			e[2].Fields, e[2].State = nil, nil
			return e
		}, verify.Tampered, 3, "it does not fit its leaf"},
		"cut off": {func(e []eventstore.Entry) []eventstore.Entry { return e[:3] }, verify.Tampered, 1, "it is blank, and entry 4 did not erase its record"},
		"erased by two": {func(e []eventstore.Entry) []eventstore.Entry {
			e[1].Redacted.By = 5
			return e
		}, verify.Tampered, 2, "it is blank by entry 5, and entry 1 of its record by entry 4"},
		"erased by another": {func(e []eventstore.Entry) []eventstore.Entry {
			e[0].Redacted.By, e[1].Redacted.By = 5, 5
			return e
		}, verify.Tampered, 1, "it is blank, and entry 5 did not erase its record"},
		"text is left": {func(e []eventstore.Entry) []eventstore.Entry {
			e[1].Cause.Reason = "left"
			return e
		}, verify.Incomplete, 2, "daybook erase tag 1"},
		"an entry is left": {func(e []eventstore.Entry) []eventstore.Entry {
			e[0].Redacted, e[0].Fields, e[0].State = nil, created.Fields, created.State
			return e
		}, verify.Incomplete, 1, "daybook erase tag 1"},
		"the last entry is left": {func(e []eventstore.Entry) []eventstore.Entry {
			e[1].Redacted, e[1].Fields, e[1].State = nil, updated.Fields, updated.State
			return e
		}, verify.Incomplete, 2, "daybook erase tag 1"},
		"fields of an erasure": {func(e []eventstore.Entry) []eventstore.Entry {
			e[3].Fields = []byte(`{"slug":"left"}`)
			return e
		}, verify.Tampered, 4, "does not give the stored record"},
		"state of an erasure": {func(e []eventstore.Entry) []eventstore.Entry {
			e[3].State = []byte(strings.Replace(string(e[3].State), `"fields":{}`, `"fields":{"slug":"left"}`, 1))
			return e
		}, verify.Tampered, 4, "does not give the stored record"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := tt.edit(erasedLog(t))
			states := map[calendar.ID][]byte{}
			findings, err := verify.Log(func(yield func(*eventstore.Entry, error) bool) {
				for _, entry := range entries {
					if entry.Redacted != nil || len(entry.State) > 0 {
						entry = entryOf(entry)
					}
					if !yield(&entry, nil) {
						return
					}
					states[entry.ID] = entry.State
				}
			}, func(entry *eventstore.Entry) ([]byte, error) { return states[entry.ID], nil })
			if err != nil || findings.Result != tt.result || findings.Position != tt.position || !strings.Contains(findings.Why, tt.says) {
				t.Errorf("got %+v, %v; want %s of entry %d: %s", findings, err, tt.result, tt.position, tt.says)
			}
		})
	}
}

// TestLogAfterBlank: what follows a blank entry is not held against the ones before it.
func TestLogAfterBlank(t *testing.T) {
	t.Parallel()
	entries := make([]eventstore.Entry, 0, 3)
	var record *calendar.Record
	for version, verb := range []string{calendar.Created, calendar.Updated, calendar.Updated} {
		change := tag(1, verb)
		change.Fields["slug"] = fmt.Sprint("slug-", version)
		draft, next := storetest.Draft(t, record, change, moment)
		a := eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: moment, Actor: 7}
		entry := eventstore.NewItem(a).Drafts[0].Entry
		if entry.Position = calendar.Position(len(entries) + 1); entry.Position == 2 {
			entry.Redact(4)
		}
		entries, record = append(entries, entryOf(entry)), next
	}
	findings, err := verify.Log(func(yield func(*eventstore.Entry, error) bool) {
		for _, entry := range entries {
			if !yield(&entry, nil) {
				return
			}
		}
	}, nil)
	const want = "it is blank, and entry 4 did not erase its record"
	if err != nil || findings.Result != verify.Tampered || findings.Position != 2 || findings.Why != want {
		t.Errorf("got %+v, %v, want %s", findings, err, want)
	}
}
