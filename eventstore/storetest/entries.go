package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// entriesWhole: what was appended is read as it was, with the time in UTC and whole
// milliseconds, and salts of its own.
func entriesWhole(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	fixture.now = time.Date(2026, 5, 1, 9, 30, 0, 123_456_789, time.FixedZone("", 2*60*60))
	record := fixture.record(calendar.KindTag)
	draft := fixture.draft(record, calendar.Created, namedFields(record.Kind, "jazz"))
	draft.Secret = []byte{1, 0, 255}
	addition := fixture.appendOf(draft)
	addition.Cause = eventstore.Cause{Client: `<agent> "é音"`, Request: "req\n1", Reason: "règle"}
	fixture.must("Append", fixture.one(addition).Err)
	u := fixture.draft(record, calendar.Updated, calendar.Fields{"description": calendar.Text{calendar.LangFR: "é音\u2028"}})
	u.Secret = []byte{}
	fixture.must("Append", fixture.one(eventstore.Append{Drafts: []eventstore.Draft{u}, Time: fixture.now.Add(time.Hour)}).Err)
	e := fixture.draft(record, calendar.Updated, calendar.Fields{"slug": "blues"})
	fixture.must("Append", fixture.one(eventstore.Append{Drafts: []eventstore.Draft{e}, Time: fixture.now}).Err)
	want := []eventstore.Entry{draft.Entry, u.Entry, e.Entry}
	instant := time.Date(2026, 5, 1, 7, 30, 0, 123_000_000, time.UTC)
	for i, later := range []time.Duration{0, time.Hour, 0} {
		want[i].Position, want[i].Time = calendar.Position(i+1), instant.Add(later)
	}
	want[0].Actor, want[0].Cause = addition.Actor, addition.Cause
	fixture.reopen()
	seen := map[[16]byte]bool{}
	for i, got := range fixture.log {
		for count := range 5 {
			salt := [16]byte(got.Salts.Of(count))
			none := salt == [16]byte{}
			if none != (count == 4 && got.Secret == nil) || !none && seen[salt] {
				fixture.Errorf("entry %d: salt %d is %x", got.Position, count, salt)
			}
			seen[salt] = true
		}
		got.Salts, got.Leaf, got.Commit = want[i].Salts, [32]byte{}, eventstore.Commit{} // see chain
		fixture.equal("an entry", got, want[i])
	}
}

// longGroup: its appends are more than a committer gathers.
func longGroup(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	asked, want := make([]string, 300), make([]string, 300)
	for i := range asked {
		asked[i], want[i] = fmt.Sprintf("tag:1.%d +c%d", i, i), strconv.Itoa(i+1)
	}
	fixture.row(strings.Join(asked, " | ") + " => " + strings.Join(want, " | "))
}

// smallPages: the log is read by pages of each small number.
func smallPages(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	fixture.randomLog(20, 3)
	for size := range calendar.Position(5) {
		fixture.equal("a checkpoint", fixture.sign(size+1, "o", []string{"a"}), "done")
	}
	for fixture.limit = 1; fixture.limit < 5; fixture.limit++ {
		fixture.readings()
	}
	if states, err := fixture.store.Load(fixture.ctx); err != nil || len(states) > 0 {
		fixture.Errorf("of no records: %v, %v", states, err)
	}
}

// largePages: of entries and states that are up to more than a page holds none is lost
// or cut, as readings see.
func largePages(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	text := func(bytes int) calendar.Text {
		return calendar.Text{calendar.LangEN: strings.Repeat("<p>é音</p>", bytes/24)} // in fields and state
	}
	const large = eventstore.PageBytes / 5
	for _, bytes := range []int{large, large, large, large, large, large, large, large, large, eventstore.PageBytes + 1<<20, 100} {
		record := fixture.record(calendar.KindVenue)
		fields := namedFields(record.Kind, fmt.Sprintf("hall-%d", record.ID))
		fields["description"] = text(bytes)
		addition := fixture.appendOf(fixture.draft(record, calendar.Created, fields))
		addition.Drafts[0].Secret = []byte(strings.Repeat("s", 1<<10))
		fixture.must("Append", fixture.one(addition).Err)
		if got := fixture.load(record.ID); string(got.Record) != string(addition.Drafts[0].State) {
			fixture.Errorf("the state of %d bytes has %d bytes", len(addition.Drafts[0].State), len(got.Record))
		}
	}
	fixture.limit = manyPerPage - 1
	record := fixture.record(calendar.KindTag)
	verb, fields := calendar.Created, namedFields(record.Kind, "many")
	for version := range 5 {
		fixture.write(fixture.draft(record, verb, fields))
		verb, fields = calendar.Updated, calendar.Fields{"description": text(2*large + version*100)}
	}
	fixture.equal("the number of entries", len(fixture.readings()), 16)
}

// identity: a UUID is that of one store for ever (LISTINGS 1.5), a mark that of one
// history.
func identity(t testing.TB, harness Harness) {
	fixture := setup(t, harness)
	uuidOf := func(store Store) [16]byte {
		fixture.Helper()
		head, err := store.Head(fixture.ctx, eventstore.Point{})
		fixture.must("Head", err)
		fixture.equal("the epoch of the head", head.Epoch, store.Epoch())
		return head.UUID
	}
	first, epoch := uuidOf(fixture.store), fixture.store.Epoch()
	fixture.row("tag:1.0 => 1")
	fixture.equal("the UUID after an entry", uuidOf(fixture.store), first)
	if epoch.History == 0 || fixture.store.Epoch() != epoch {
		fixture.Errorf("the epoch is %+v after an entry, it was %+v", fixture.store.Epoch(), epoch)
	}
	fixture.reopen()
	fixture.equal("the UUID after a restart", uuidOf(fixture.store), first)
	if uuidOf(harness.Open(fixture)) == first {
		fixture.Errorf("two stores have the UUID %x", first)
	}
	head, err := fixture.store.Head(fixture.ctx, eventstore.Point{Position: 1})
	fixture.must("Head", err)
	head.Hash[0]++
	if err := eventstore.CheckMark(fixture.ctx, fixture.store, head.Mark); !errors.Is(err, eventstore.ErrHistory) {
		fixture.Errorf("the mark of another history: %v", err)
	}
}

// strays: claims and names of no record are found with the page of records that they
// would stand in.
func strays(t testing.TB, harness Harness) {
	for what, stray := range map[string]eventstore.Held{
		"a claim": {Claims: []calendar.Claim{{Space: "s", Key: "stray"}}},
		"a name":  {Names: []calendar.Name{{Space: "n", Key: "stray"}}},
	} {
		fixture := setup(t, harness)
		damaged := func(after calendar.ID, limit int, want bool) {
			fixture.Helper()
			if _, err := fixture.store.Records(fixture.ctx, 0, after, limit); errors.Is(err, eventstore.ErrDamaged) != want || err != nil && !want {
				fixture.Errorf("%s of no record, %d records after %d: %v", what, limit, after, err)
			}
		}
		stray.ID = 15
		harness.Stray(t, fixture.store, stray)
		damaged(10, 1, true) // behind the last record
		all(fixture.ctx, fixture.store, fixture.parse("tag:10.0 +a ~n | tag:20.0 +b"))
		damaged(0, 1, false)
		damaged(0, 2, true)
		damaged(10, 1, true)
		damaged(15, 1, false)
		damaged(20, 1, false)
	}
}
