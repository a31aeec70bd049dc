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
func entriesWhole(t testing.TB, h Harness) {
	f := setup(t, h)
	f.now = time.Date(2026, 5, 1, 9, 30, 0, 123_456_789, time.FixedZone("", 2*60*60))
	r := f.record(calendar.KindTag)
	d := f.draft(r, calendar.Created, namedFields(r.Kind, "jazz"))
	d.Secret = []byte{1, 0, 255}
	a := f.appendOf(d)
	a.Cause = eventstore.Cause{Client: `<agent> "é音"`, Request: "req\n1", Reason: "règle"}
	f.must("Append", f.one(a).Err)
	u := f.draft(r, calendar.Updated, calendar.Fields{"description": calendar.Text{calendar.LangFR: "é音\u2028"}})
	u.Secret = []byte{}
	f.must("Append", f.one(eventstore.Append{Drafts: []eventstore.Draft{u}, Time: f.now.Add(time.Hour)}).Err)
	e := f.draft(r, calendar.Updated, calendar.Fields{"slug": "blues"})
	f.must("Append", f.one(eventstore.Append{Drafts: []eventstore.Draft{e}, Time: f.now}).Err)
	want := []eventstore.Entry{
		{
			Position: 1, Kind: calendar.KindTag, ID: r.ID, Version: 1, Time: time.Date(2026, 5, 1, 7, 30, 0, 123_000_000, time.UTC),
			Actor: 7, Cause: a.Cause, Change: "tag.created", Fields: d.Fields, State: d.State, Secret: []byte{1, 0, 255},
		},
		{
			Position: 2, Kind: calendar.KindTag, ID: r.ID, Version: 2, Time: time.Date(2026, 5, 1, 8, 30, 0, 123_000_000, time.UTC),
			Change: "tag.updated", Fields: u.Fields, State: u.State, Secret: []byte{},
		},
		{
			Position: 3, Kind: calendar.KindTag, ID: r.ID, Version: 3, Time: time.Date(2026, 5, 1, 7, 30, 0, 123_000_000, time.UTC),
			Change: "tag.updated", Fields: e.Fields, State: e.State,
		},
	}
	f.reopen()
	seen := map[[16]byte]bool{}
	for i, got := range f.log {
		for n, salt := range got.Salts {
			none := salt == [16]byte{}
			if none != (n == 4 && got.Secret == nil) || !none && seen[salt] {
				f.Errorf("entry %d: salt %d is %x", got.Position, n, salt)
			}
			seen[salt] = true
		}
		got.Salts = want[i].Salts
		f.equal("an entry", got, want[i])
	}
}

// longCall: its appends are more than one commit takes.
func longCall(t testing.TB, h Harness) {
	f := setup(t, h)
	asked, want := make([]string, 300), make([]string, 300)
	for i := range asked {
		asked[i], want[i] = fmt.Sprintf("tag:1.%d +c%d", i, i), strconv.Itoa(i+1)
	}
	f.row(strings.Join(asked, " | ") + " => " + strings.Join(want, " | "))
	f.equal("the results of no appends", f.store.Append(f.ctx, nil), []eventstore.Result{})
}

// smallPages: the log is read by pages of each small number.
func smallPages(t testing.TB, h Harness) {
	f := setup(t, h)
	f.randomLog(20, 3)
	for size := range calendar.Position(5) {
		f.equal("a checkpoint", f.sign(size+1, "o", []string{"a"}), "done")
	}
	for f.limit = 1; f.limit < 5; f.limit++ {
		f.readings()
	}
	if states, err := f.store.Load(f.ctx); err != nil || len(states) > 0 {
		f.Errorf("of no records: %v, %v", states, err)
	}
}

// largePages: of entries and states that are up to more than a page holds none is lost
// or cut, as readings see.
func largePages(t testing.TB, h Harness) {
	f := setup(t, h)
	text := func(bytes int) calendar.Text {
		return calendar.Text{calendar.LangEN: strings.Repeat("<p>é音</p>", bytes/24)} // in fields and state
	}
	const large = eventstore.PageBytes / 5
	for _, bytes := range []int{large, large, large, large, large, large, large, large, large, eventstore.PageBytes + 1<<20, 100} {
		r := f.record(calendar.KindVenue)
		fields := namedFields(r.Kind, fmt.Sprintf("hall-%d", r.ID))
		fields["description"] = text(bytes)
		a := f.appendOf(f.draft(r, calendar.Created, fields))
		a.Drafts[0].Secret = []byte(strings.Repeat("s", 1<<10))
		f.must("Append", f.one(a).Err)
		if got := f.load(r.ID); string(got.Record) != string(a.Drafts[0].State) {
			f.Errorf("the state of %d bytes has %d bytes", len(a.Drafts[0].State), len(got.Record))
		}
	}
	f.limit = manyPerPage - 1
	r := f.record(calendar.KindTag)
	verb, fields := calendar.Created, namedFields(r.Kind, "many")
	for version := range 5 {
		f.write(f.draft(r, verb, fields))
		verb, fields = calendar.Updated, calendar.Fields{"description": text(2*large + version*100)}
	}
	f.equal("the number of entries", len(f.readings()), 16)
}

// identity: a UUID is that of one store for ever (LISTINGS 1.5), a mark that of one
// history.
func identity(t testing.TB, h Harness) {
	f := setup(t, h)
	uuidOf := func(s Store) [16]byte {
		f.Helper()
		head, err := s.Head(f.ctx, eventstore.Point{})
		f.must("Head", err)
		f.equal("the epoch of the head", head.Epoch, s.Epoch())
		return head.UUID
	}
	first, epoch := uuidOf(f.store), f.store.Epoch()
	f.row("tag:1.0 => 1")
	f.equal("the UUID after an entry", uuidOf(f.store), first)
	if epoch.History == 0 || f.store.Epoch() != epoch {
		f.Errorf("the epoch is %+v after an entry, it was %+v", f.store.Epoch(), epoch)
	}
	f.reopen()
	f.equal("the UUID after a restart", uuidOf(f.store), first)
	if uuidOf(h.Open(f)) == first {
		f.Errorf("two stores have the UUID %x", first)
	}
	head, err := f.store.Head(f.ctx, eventstore.Point{Position: 1})
	f.must("Head", err)
	head.Hash[0]++
	if err := eventstore.CheckMark(f.ctx, f.store, head.Mark); !errors.Is(err, eventstore.ErrHistory) {
		f.Errorf("the mark of another history: %v", err)
	}
}

// strays: claims and names of no record are found with the page of records that they
// would stand in.
func strays(t testing.TB, h Harness) {
	for what, stray := range map[string]eventstore.Held{
		"a claim": {Claims: []calendar.Claim{{Space: "s", Key: "stray"}}},
		"a name":  {Names: []calendar.Name{{Space: "n", Key: "stray"}}},
	} {
		f := setup(t, h)
		f.row("tag:10.0 +a ~n | tag:20.0 +b => 1 | 2")
		damaged := func(after calendar.ID, limit int, want bool) {
			f.Helper()
			if _, err := f.store.Records(f.ctx, 0, after, limit); errors.Is(err, eventstore.ErrDamaged) != want || err != nil && !want {
				f.Errorf("%s of no record, %d records after %d: %v", what, limit, after, err)
			}
		}
		stray.ID = 15
		h.Stray(t, f.store, stray)
		damaged(0, 1, false)
		damaged(0, 2, true)
		damaged(10, 1, true)
		damaged(15, 1, false)
		damaged(20, 1, false)
	}
	f := setup(t, h)
	h.Stray(t, f.store, eventstore.Held{State: eventstore.State{ID: 25}, Names: []calendar.Name{{Space: "n", Key: "stray"}}})
	if _, err := f.store.Records(f.ctx, 0, 20, 1); !errors.Is(err, eventstore.ErrDamaged) {
		f.Errorf("behind the last record: %v", err)
	}
}
