package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// entriesWhole: what was appended is read as it was, with the time in UTC and
// whole milliseconds.
func entriesWhole(t testing.TB, h Harness) {
	f := setup(t, h)
	zone := time.FixedZone("", 2*60*60)
	f.now = time.Date(2026, 5, 1, 9, 30, 0, 123_456_789, zone)
	d, r := f.draft(nil, created(calendar.KindTag, f.id(), "jazz"))
	d.Secret = []byte{1, 0, 255}
	a := f.appendOf(d)
	a.Cause = eventstore.Cause{Client: `<agent> "é音"`, Request: "req\n1", Reason: "règle"}
	if got := f.mustWrite(a); got != 1 {
		f.Errorf("position of the first entry is %d", got)
	}
	u, _ := f.draft(r, changed(r, calendar.Fields{"description": calendar.Text{calendar.LangFR: "é音\u2028"}}))
	u.Secret = []byte{}
	b := eventstore.Append{Drafts: []eventstore.Draft{u}, Time: f.now.Add(time.Hour)}
	if got := f.mustWrite(b); got != 2 {
		f.Errorf("position of the second entry is %d", got)
	}
	want := []eventstore.Entry{
		{
			Position: 1, Kind: calendar.KindTag, ID: r.ID, Version: 1, Time: time.Date(2026, 5, 1, 7, 30, 0, 123_000_000, time.UTC),
			Actor: 7, Cause: a.Cause, Change: "tag.created", Fields: d.Fields, State: d.State, Secret: []byte{1, 0, 255},
		},
		{
			Position: 2, Kind: calendar.KindTag, ID: r.ID, Version: 2, Time: time.Date(2026, 5, 1, 8, 30, 0, 123_000_000, time.UTC),
			Change: "tag.updated", Fields: u.Fields, State: u.State, Secret: []byte{},
		},
	}
	got := f.all()
	for i := range got {
		got[i].Salts = eventstore.Salts{} // random
	}
	f.same("the log", got, want)
}

// leaves: entries are written with salts of their own, and their leaves are kept.
func leaves(t testing.TB, h Harness) {
	f := setup(t, h)
	d, _ := f.draft(nil, created(calendar.KindTag, f.id(), "jazz"))
	e, _ := f.draft(nil, created(calendar.KindVenue, f.id(), "hall"))
	d.Secret, e.Secret = []byte("hash"), []byte{}
	f.mustWrite(f.appendOf(d, e))
	f.create(calendar.KindTag, "blues")
	kept, err := f.store.Leaves(f.ctx, 0, 10)
	if err != nil {
		f.Fatalf("Leaves: %v", err)
	}
	stored, err := f.store.ReadStored(f.ctx, 0, 10)
	if err != nil || len(stored) != 3 || len(kept) != 3 {
		f.Fatalf("%d entries and %d leaves of 3, %v", len(stored), len(kept), err)
	}
	seen := map[[16]byte]bool{}
	f.same("entries on the medium", stored, f.all())
	for i := range stored {
		e := &stored[i]
		if eventstore.Leaf(e) != kept[i] {
			f.Fatalf("entry %d does not fit its leaf", e.Position)
		}
		for n, salt := range e.Salts {
			switch none := salt == [16]byte{}; {
			case none != (n == 4 && e.Secret == nil):
				f.Errorf("entry %d: salt %d is %x", e.Position, n, salt)
			case !none && seen[salt]:
				f.Errorf("entry %d: salt %d is that of another body", e.Position, n)
			}
			seen[salt] = true
		}
	}
	rest, err := f.store.Leaves(f.ctx, 1, 1)
	if err != nil || len(rest) != 1 || rest[0] != kept[1] {
		f.Errorf("Leaves after 1: %x, %v", rest, err)
	}
}

// versionRace: of 20 writers on one version exactly one wins.
func versionRace(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	for round := range 10 {
		d, after := f.draft(r, changed(r, calendar.Fields{"slug": numbered("jazz", round)}))
		results := make([]eventstore.Result, 20)
		together(len(results), func(i int) { results[i] = f.store.Append(f.ctx, []eventstore.Append{f.appendOf(d)})[0] })
		if n := f.wins(results, isConflict); n != 1 {
			f.Fatalf("round %d: %d writers won version %d", round, n, after.Version)
		}
		r = after
	}
	if got := f.load(r.ID).Version; got != 11 {
		f.Errorf("version is %d, want 11", got)
	}
}

func versionsChecked(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	again, _ := f.draft(nil, created(calendar.KindTag, r.ID, "other"))
	ahead, _ := f.draft(r, changed(r, calendar.Fields{"slug": "ahead"}))
	ahead.Expected = 2
	unknown, _ := f.draft(r, changed(r, calendar.Fields{"slug": "unknown"}))
	unknown.ID = f.id()
	otherKind, _ := f.draft(r, changed(r, calendar.Fields{"slug": "kind"}))
	otherKind.Kind = calendar.KindVenue
	for name, d := range map[string]eventstore.Draft{
		"created again": again, "version ahead": ahead, "unknown record": unknown, "other kind": otherKind,
	} {
		if res := f.write(f.appendOf(d)); !errors.Is(res.Err, eventstore.ErrConflict) {
			f.Errorf("%s: got %v, want a conflict", name, res.Err)
		}
	}
	if got := f.head(); got != 1 {
		f.Errorf("head is %d after refused appends, want 1", got)
	}
}

// tailReader: a reader that asks for what is after its position sees every
// entry once and in order while 64 writers append, and never one that the head
// has not reached.
func tailReader(t testing.TB, h Harness) {
	f := setup(t, h)
	const writers, each = 64, 12
	var wg sync.WaitGroup
	wg.Add(1)
	var seen []eventstore.Entry
	var failure error
	go func() {
		defer wg.Done()
		ctx, cancel := f.patient()
		defer cancel()
		for position := calendar.Position(0); position < writers*each; {
			var page []eventstore.Entry
			if page, failure = f.store.ReadAll(ctx, position, 50); failure != nil {
				return
			}
			if len(page) == 0 {
				if _, failure = f.store.Wait(ctx, position); failure != nil {
					return
				}
			}
			for i := range page {
				seen = append(seen, page[i])
				position = page[i].Position
			}
			var head calendar.Position
			if head, failure = f.store.Head(ctx); failure == nil && head < position {
				failure = fmt.Errorf("the head is %d after entry %d was read", head, position)
			}
			if failure != nil {
				return
			}
		}
	}()
	positions := make([][]calendar.Position, writers)
	first, err := f.store.NewIDs(f.ctx, writers*each)
	if err != nil {
		f.Fatalf("NewIDs: %v", err)
	}
	together(writers, func(w int) {
		for n := range each {
			d, _ := f.draft(nil, created(calendar.KindTag, first+calendar.ID(w*each+n), numbered(numbered("tag", w), n)))
			res := f.store.Append(f.ctx, []eventstore.Append{f.appendOf(d)})[0]
			if res.Err != nil {
				f.Errorf("writer %d: %v", w, res.Err)
			}
			positions[w] = append(positions[w], res.Position)
		}
	})
	wg.Wait()
	if failure != nil {
		f.Fatalf("reader stopped after %d entries: %v", len(seen), failure)
	}
	records := map[calendar.ID]bool{}
	for i := range seen {
		if want := calendar.Position(i) + 1; seen[i].Position != want {
			f.Fatalf("entry %d of the reader has position %d", want, seen[i].Position)
		}
		records[seen[i].ID] = true
	}
	if len(seen) != writers*each || len(records) != writers*each {
		f.Errorf("reader saw %d entries of %d records, want %d", len(seen), len(records), writers*each)
	}
	given := map[calendar.Position]bool{}
	for w := range positions {
		for i, p := range positions[w] {
			if given[p] || (i > 0 && p <= positions[w][i-1]) {
				f.Errorf("writer %d got position %d, given before", w, p)
			}
			given[p] = true
		}
	}
}

// claimRace: of 20 records that claim a slug at the same time one gets it, and
// the others learn which.
func claimRace(t testing.TB, h Harness) {
	f := setup(t, h)
	for round := range 5 {
		slug := numbered("jazz", round)
		results := make([]eventstore.Result, 20)
		ids := make([]calendar.ID, len(results))
		appends := make([]eventstore.Append, len(results))
		for i := range appends {
			d, r := f.draft(nil, created(calendar.KindTag, f.id(), slug))
			ids[i], appends[i] = r.ID, f.appendOf(d)
		}
		together(len(results), func(i int) { results[i] = f.store.Append(f.ctx, appends[i:i+1])[0] })
		var winner calendar.ID
		n := f.wins(results, func(err error) bool {
			_, ok := errors.AsType[*eventstore.ClaimError](err)
			return ok
		})
		if n != 1 {
			f.Fatalf("%d records won the slug", n)
		}
		for i, r := range results {
			if r.Err == nil {
				winner = ids[i]
			}
		}
		for i, r := range results {
			if e, ok := errors.AsType[*eventstore.ClaimError](r.Err); ok {
				f.same("claim error", *e, eventstore.ClaimError{Claim: eventstore.SlugClaim(calendar.KindTag, slug), Holder: winner})
				if got := f.load(ids[i]).Version; got != 0 {
					f.Errorf("the loser exists at version %d", got)
				}
			}
		}
		if got := f.holder(eventstore.SlugClaim(calendar.KindTag, slug)); got != winner {
			f.Errorf("slug is held by %d, want %d", got, winner)
		}
	}
}

func claimsMove(t testing.TB, h Harness) {
	f := setup(t, h)
	a, b := f.create(calendar.KindTag, "a"), f.create(calendar.KindTag, "b")
	claim := func(slug string) calendar.Claim { return eventstore.SlugClaim(calendar.KindTag, slug) }

	// Two records change their slugs in one Append.
	da, a2 := f.draft(a, changed(a, calendar.Fields{"slug": "b"}))
	db, b2 := f.draft(b, changed(b, calendar.Fields{"slug": "a"}))
	f.mustWrite(f.appendOf(da, db))
	if f.holder(claim("a")) != b.ID || f.holder(claim("b")) != a.ID {
		f.Errorf("after the exchange a is held by %d and b by %d", f.holder(claim("a")), f.holder(claim("b")))
	}
	// A slug that one still holds is refused, also within one Append.
	dup, _ := f.draft(nil, created(calendar.KindTag, f.id(), "a"))
	refusedClaim(f, f.appendOf(dup), claim("a"), b.ID)
	one, r1 := f.draft(nil, created(calendar.KindTag, f.id(), "c"))
	two, _ := f.draft(nil, created(calendar.KindTag, f.id(), "c"))
	refusedClaim(f, f.appendOf(one, two), claim("c"), r1.ID)
	// A record may keep what it holds, and take back what it gave up.
	a3 := f.update(a2, calendar.Fields{"description": calendar.Text{calendar.LangEN: "x"}})
	a4 := f.update(a3, calendar.Fields{"slug": "d"})
	a5 := f.update(a4, calendar.Fields{"slug": "b"})
	if got := f.holder(claim("d")); got != 0 {
		f.Errorf("the slug that was given up is held by %d", got)
	}
	// A deleted record gives its slug free, within the same Append too.
	gone, _ := f.draft(a5, deleted(a5))
	heir, r := f.draft(nil, created(calendar.KindTag, f.id(), "b"))
	f.mustWrite(f.appendOf(heir, gone))
	if got := f.holder(claim("b")); got != r.ID {
		f.Errorf("the slug of the deleted record is held by %d, want %d", got, r.ID)
	}
	// The same key in another space is another claim.
	f.create(calendar.KindVenue, "b")
	_ = b2
}

func refusedClaim(f *fixture, a eventstore.Append, c calendar.Claim, holder calendar.ID) {
	f.Helper()
	res := f.write(a)
	e, ok := errors.AsType[*eventstore.ClaimError](res.Err)
	if !ok {
		f.Errorf("got %v, want a claim error", res.Err)
		return
	}
	f.same("claim error", *e, eventstore.ClaimError{Claim: c, Holder: holder})
}

func guards(t testing.TB, h Harness) {
	f := setup(t, h)
	name := nameOf(calendar.KindTag, "jazz")
	guarded := func(slug string, count int) eventstore.Result {
		c := created(calendar.KindTag, f.id(), slug)
		c.Fields["name"] = calendar.Text{calendar.LangEN: "Name of jazz"}
		d, _ := f.draft(nil, c)
		a := f.appendOf(d)
		a.Guards = []eventstore.Guard{{Name: name, Count: count}}
		return f.write(a)
	}
	for i, step := range []struct {
		slug  string
		count int
		holds bool
	}{
		{"a", 1, false},
		{"a", 0, true},
		{"b", 0, false},
		{"b", 1, true},
		{"c", 1, false},
	} {
		res := guarded(step.slug, step.count)
		if step.holds && res.Err != nil || !step.holds && !errors.Is(res.Err, eventstore.ErrConflict) {
			f.Errorf("step %d: guard of %d names gave %v", i, step.count, res.Err)
		}
	}
	// A record that takes another name is not found by the old one.
	id := f.holder(eventstore.SlugClaim(calendar.KindTag, "a"))
	r, err := calendar.DecodeRecord(f.load(id).Record)
	if err != nil {
		f.Fatalf("DecodeRecord: %v", err)
	}
	f.update(r, calendar.Fields{"name": calendar.Text{calendar.LangEN: "Other"}})
	if res := guarded("d", 1); res.Err != nil {
		f.Errorf("guard after the name was taken away: %v", res.Err)
	}
}

// guardRace: of 20 that make a name for the first time one wins.
func guardRace(t testing.TB, h Harness) {
	f := setup(t, h)
	appends := make([]eventstore.Append, 20)
	for i := range appends {
		c := created(calendar.KindTag, f.id(), numbered("jazz", i))
		c.Fields["name"] = calendar.Text{calendar.LangEN: "Name of jazz"}
		d, _ := f.draft(nil, c)
		appends[i] = f.appendOf(d)
		appends[i].Guards = []eventstore.Guard{{Name: nameOf(calendar.KindTag, "jazz")}}
	}
	results := make([]eventstore.Result, len(appends))
	together(len(results), func(i int) { results[i] = f.store.Append(f.ctx, appends[i:i+1])[0] })
	if n := f.wins(results, isConflict); n != 1 {
		f.Errorf("%d records were the first of their name", n)
	}
}

// receipt makes the receipt of a request that made a record.
func (f *fixture) receipt(user calendar.ID, key string, fingerprint byte, r *calendar.Record) *eventstore.Receipt {
	return &eventstore.Receipt{
		User: user, Key: key, Fingerprint: [32]byte{fingerprint}, Time: f.now, Record: r.ID, Version: r.Version, Answer: []byte("first"),
	}
}

func (f *fixture) keyed(slug string, user calendar.ID, key string, fingerprint byte) eventstore.Append {
	f.Helper()
	d, r := f.draft(nil, created(calendar.KindTag, f.id(), slug))
	a := f.appendOf(d)
	a.Receipt = f.receipt(user, key, fingerprint, r)
	return a
}

func receiptOnce(t testing.TB, h Harness) {
	f := setup(t, h)
	f.create(calendar.KindTag, "before")
	first := f.keyed("jazz", 7, "key", 1)
	if res := f.write(first); res.Err != nil || res.Receipt != nil || res.Position != 2 {
		f.Fatalf("first request: %+v", res)
	}
	f.create(calendar.KindTag, "between")
	want := *first.Receipt
	want.Position = 2
	// Receipts come before all other checks: the slug is held by now.
	res := f.write(f.keyed("jazz", 7, "key", 1))
	if res.Err != nil || res.Receipt == nil {
		f.Fatalf("equal request: %+v", res)
	}
	f.same("receipt", *res.Receipt, want)
	if res.Position != 3 {
		f.Errorf("position of an equal request is %d, want the head 3", res.Position)
	}
	if res := f.write(f.keyed("other", 7, "key", 2)); !errors.Is(res.Err, eventstore.ErrKeyReused) {
		f.Errorf("another request with the key: %v", res.Err)
	}
	if res := f.write(f.keyed("blues", 8, "key", 2)); res.Err != nil || res.Receipt != nil {
		f.Errorf("the key of another user: %+v", res)
	}
	// A refused request leaves no receipt.
	if res := f.write(f.keyed("blues", 7, "refused", 3)); res.Err == nil {
		f.Error("a slug was held twice")
	}
	if res := f.write(f.keyed("folk", 7, "refused", 4)); res.Err != nil || res.Receipt != nil {
		f.Errorf("the key of a refused request: %+v", res)
	}
	if got := f.head(); got != 5 {
		f.Errorf("head is %d, want 5", got)
	}
}

func receiptRace(t testing.TB, h Harness) {
	f := setup(t, h)
	appends := make([]eventstore.Append, 16)
	for i := range appends {
		appends[i] = f.keyed(numbered("jazz", i), 7, "key", 1)
	}
	results := make([]eventstore.Result, len(appends))
	together(len(results), func(i int) { results[i] = f.store.Append(f.ctx, appends[i:i+1])[0] })
	wrote := 0
	for _, r := range results {
		switch {
		case r.Err != nil:
			f.Errorf("equal request: %v", r.Err)
		case r.Receipt == nil:
			wrote++
		case r.Receipt.Position != 1:
			f.Errorf("receipt names position %d", r.Receipt.Position)
		}
	}
	if wrote != 1 || f.head() != 1 {
		f.Errorf("%d requests wrote %d entries", wrote, f.head())
	}
}

func receiptAnswers(t testing.TB, h Harness) {
	f := setup(t, h)
	lookUp := func(fingerprint byte) eventstore.Result {
		return f.write(eventstore.Append{Receipt: &eventstore.Receipt{User: 7, Key: "key", Fingerprint: [32]byte{fingerprint}}})
	}
	if res := lookUp(1); res.Err != nil || res.Receipt != nil {
		f.Errorf("look-up before: %+v", res)
	}
	if res := lookUp(2); res.Err != nil || res.Receipt != nil {
		f.Errorf("a look-up left a receipt: %+v", res)
	}
	a := f.keyed("jazz", 7, "key", 1)
	a.Receipt.Answer = nil
	f.mustWrite(a)
	complete := *a.Receipt
	complete.Answer = []byte("whole answer")
	complete.Version = 99 // only the answer is taken
	if res := f.write(eventstore.Append{Receipt: &complete, Time: f.now}); res.Err != nil || res.Receipt != nil || res.Position != 1 {
		f.Errorf("complete: %+v", res)
	}
	res := lookUp(1)
	if res.Err != nil || res.Receipt == nil {
		f.Fatalf("look-up after: %+v", res)
	}
	want := *a.Receipt
	want.Position, want.Answer = 1, []byte("whole answer")
	f.same("receipt", *res.Receipt, want)
	if res := lookUp(2); !errors.Is(res.Err, eventstore.ErrKeyReused) {
		f.Errorf("look-up with another fingerprint: %v", res.Err)
	}
	wrong := complete
	wrong.Fingerprint = [32]byte{2}
	if res := f.write(eventstore.Append{Receipt: &wrong}); !errors.Is(res.Err, eventstore.ErrKeyReused) {
		f.Errorf("completed with another fingerprint: %v", res.Err)
	}
	// A request that wrote nothing keeps its receipt too, with the position that
	// it was given.
	kept := eventstore.Receipt{User: 7, Key: "nothing", Fingerprint: [32]byte{3}, Time: f.now, Record: 1, Version: 1, Position: 1, Answer: []byte("old")}
	f.mustWrite(eventstore.Append{Receipt: &kept})
	res = f.write(eventstore.Append{Receipt: &eventstore.Receipt{User: 7, Key: "nothing", Fingerprint: [32]byte{3}}})
	if res.Err != nil || res.Receipt == nil {
		f.Fatalf("look-up of the second: %+v", res)
	}
	f.same("second receipt", *res.Receipt, kept)
	if got := f.head(); got != 1 {
		f.Errorf("head is %d, want 1", got)
	}
}

// receiptLater: an answer that nobody waits for is looked up at once, comes after
// what was answered before, and is there after a restart.
func receiptLater(t testing.TB, h Harness) {
	f := setup(t, h)
	first := f.keyed("jazz", 7, "key", 1)
	first.Receipt.Answer = nil
	f.mustWrite(first)
	later := func(answer string, fingerprint byte) {
		f.Helper()
		r := *first.Receipt
		r.Answer, r.Fingerprint = []byte(answer), [32]byte{fingerprint}
		if res := f.write(eventstore.Append{Receipt: &r, Time: f.now, Later: true}); res.Err != nil || res.Receipt != nil {
			f.Errorf("later: %+v", res)
		}
	}
	want := *first.Receipt
	want.Position = 1
	looks := func(answer string) {
		f.Helper()
		want.Answer = []byte(answer)
		for what, a := range map[string]eventstore.Append{
			"look-up":       {Receipt: &eventstore.Receipt{User: 7, Key: "key", Fingerprint: [32]byte{1}}},
			"equal request": f.keyed("jazz", 7, "key", 1),
		} {
			if res := f.write(a); res.Err != nil || res.Receipt == nil {
				f.Errorf("%s: %+v", what, res)
			} else {
				f.same(what, *res.Receipt, want)
			}
		}
	}
	later("one", 1)
	looks("one")
	later("another's", 2) // told to nobody
	looks("one")
	later("two", 1)
	later("three", 1)
	looks("three")
	later("four", 1)
	f.store = f.h.Reopen(f.TB, f.store)
	looks("four")
	// With a commit of others, and by itself.
	later("five", 1)
	f.mustWrite(f.keyed("blues", 7, "other", 1))
	looks("five")
	if got := f.head(); got != 2 {
		f.Errorf("head is %d, want 2", got)
	}
}

// wholeOrNothing: when one draft of an Append is refused nothing of it is there.
func wholeOrNothing(t testing.TB, h Harness) {
	f := setup(t, h)
	held := f.create(calendar.KindTag, "held")
	good, fresh := f.draft(nil, created(calendar.KindVenue, f.id(), "good"))
	stale, _ := f.draft(nil, created(calendar.KindTag, held.ID, "stale"))
	taken, _ := f.draft(nil, created(calendar.KindTag, f.id(), "held"))
	guarded := f.appendOf(good)
	guarded.Guards = []eventstore.Guard{{Name: nameOf(calendar.KindTag, "held"), Count: 2}}
	for name, a := range map[string]eventstore.Append{
		"stale version": f.appendOf(good, stale), "taken slug": f.appendOf(good, taken), "guard": guarded,
	} {
		if res := f.write(a); res.Err == nil {
			f.Fatalf("%s: the append was taken", name)
		}
		if got := f.load(fresh.ID).Version; got != 0 {
			f.Errorf("%s: the other record is at version %d", name, got)
		}
		if got := f.holder(eventstore.SlugClaim(calendar.KindVenue, "good")); got != 0 {
			f.Errorf("%s: its slug is held by %d", name, got)
		}
		if got := f.head(); got != 1 {
			f.Errorf("%s: head is %d", name, got)
		}
	}
	f.mustWrite(f.appendOf(good))
}

// groupWithLoser: appends that share a call or a commit do not harm each other.
func groupWithLoser(t testing.TB, h Harness) {
	f := setup(t, h)
	f.create(calendar.KindTag, "held")
	appends := make([]eventstore.Append, 9)
	ids := make([]calendar.ID, len(appends))
	for i := range appends {
		slug := numbered("tag", i)
		if i%3 == 1 {
			slug = "held"
		}
		d, r := f.draft(nil, created(calendar.KindTag, f.id(), slug))
		ids[i], appends[i] = r.ID, f.appendOf(d)
	}
	results := f.store.Append(f.ctx, appends)
	next := calendar.Position(2)
	for i, r := range results {
		if i%3 == 1 {
			if _, ok := errors.AsType[*eventstore.ClaimError](r.Err); !ok {
				f.Errorf("append %d: got %v, want a claim error", i, r.Err)
			}
			continue
		}
		if r.Err != nil || r.Position != next || f.load(ids[i]).Version != 1 {
			f.Errorf("append %d: %+v, want position %d", i, r, next)
		}
		next++
	}
	// The same by callers at the same time.
	const callers = 32
	again := make([]eventstore.Append, callers)
	for i := range again {
		slug := numbered("other", i)
		if i%4 == 0 {
			slug = "held"
		}
		d, _ := f.draft(nil, created(calendar.KindTag, f.id(), slug))
		again[i] = f.appendOf(d)
	}
	results = make([]eventstore.Result, callers)
	together(callers, func(i int) { results[i] = f.store.Append(f.ctx, again[i:i+1])[0] })
	for i, r := range results {
		if lost := r.Err != nil; lost != (i%4 == 0) {
			f.Errorf("caller %d: %v", i, r.Err)
		}
	}
}

// callOrder: appends of one call, and drafts of one Append, may build on each
// other.
func callOrder(t testing.TB, h Harness) {
	f := setup(t, h)
	appends := make([]eventstore.Append, 0, 301)
	c, r := f.draft(nil, created(calendar.KindTag, f.id(), "v1"))
	appends = append(appends, f.appendOf(c))
	for i := range 300 { // more than one commit takes
		var d eventstore.Draft
		d, r = f.draft(r, changed(r, calendar.Fields{"slug": numbered("v", i)}))
		appends = append(appends, f.appendOf(d))
	}
	for i, res := range f.store.Append(f.ctx, appends) {
		if res.Err != nil || res.Position != calendar.Position(i)+1 {
			f.Fatalf("append %d: %+v", i, res)
		}
	}
	d1, r1 := f.draft(nil, created(calendar.KindTag, f.id(), "x1"))
	d2, r2 := f.draft(r1, changed(r1, calendar.Fields{"slug": "x2"}))
	if got := f.mustWrite(f.appendOf(d1, d2)); got != 303 {
		f.Errorf("position is %d, want that of the last draft 303", got)
	}
	if got := f.load(r2.ID); got.Version != 2 || got.Position != 303 {
		f.Errorf("state is version %d at %d, want 2 at 303", got.Version, got.Position)
	}
	if f.holder(eventstore.SlugClaim(calendar.KindTag, "x1")) != 0 || f.holder(eventstore.SlugClaim(calendar.KindTag, "x2")) != r2.ID {
		f.Error("claims are not those after the last draft")
	}
	f.same("results of no appends", f.store.Append(f.ctx, nil), []eventstore.Result{})
}

func malformed(t testing.TB, h Harness) {
	f := setup(t, h)
	good, _ := f.draft(nil, created(calendar.KindTag, f.id(), "jazz"))
	with := func(edit func(*eventstore.Draft)) eventstore.Append {
		d := good
		edit(&d)
		return f.appendOf(d)
	}
	noKey := f.appendOf(good)
	noKey.Receipt = &eventstore.Receipt{User: 7}
	badCause := f.appendOf(good)
	badCause.Cause.Client = "\xff"
	laterDraft := f.keyed("blues", 7, "key", 1)
	laterDraft.Later = true
	for name, a := range map[string]eventstore.Append{
		"guards alone":   {Guards: []eventstore.Guard{{Name: calendar.Name{Space: "name/tag", Key: "jazz"}}}},
		"no kind":        with(func(d *eventstore.Draft) { d.Kind = 0 }),
		"no id":          with(func(d *eventstore.Draft) { d.ID = 0 }),
		"expected -1":    with(func(d *eventstore.Draft) { d.Expected = -1 }),
		"no change name": with(func(d *eventstore.Draft) { d.Change = "" }),
		"no fields":      with(func(d *eventstore.Draft) { d.Fields = nil }),
		"state no JSON":  with(func(d *eventstore.Draft) { d.State = []byte(`{"a":`) }),
		"empty claim":    with(func(d *eventstore.Draft) { d.Claims = []calendar.Claim{{Space: "slug/tag"}} }),
		"NUL in a claim": with(func(d *eventstore.Draft) { d.Claims = []calendar.Claim{{Space: "slug/tag", Key: "a\x00"}} }),
		"bad UTF-8 name": with(func(d *eventstore.Draft) { d.Names = []calendar.Name{{Space: "name/tag", Key: "\xff"}} }),
		"receipt no key": noKey,
		"later draft":    laterDraft,
		"later look-up":  {Receipt: &eventstore.Receipt{User: 7, Key: "key"}, Later: true},
		"later nothing":  {Later: true},
		"bad cause":      badCause,
	} {
		if res := f.write(a); !errors.Is(res.Err, eventstore.ErrMalformed) {
			f.Errorf("%s: got %v, want ErrMalformed", name, res.Err)
		}
	}
	// It does not harm its neighbours.
	results := f.store.Append(f.ctx, []eventstore.Append{badCause, f.appendOf(good)})
	if results[0].Err == nil || results[1].Err != nil || f.head() != 1 {
		f.Errorf("beside a malformed append: %+v, head %d", results, f.head())
	}
	for _, n := range []int{0, -1, 1_000_001} {
		if _, err := f.store.NewIDs(f.ctx, n); !errors.Is(err, eventstore.ErrMalformed) {
			f.Errorf("NewIDs(%d): got %v, want ErrMalformed", n, err)
		}
	}
}

func endedContext(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	d, _ := f.draft(r, changed(r, calendar.Fields{"slug": "late"}))
	_, err0 := f.store.Versions(ctx, r.ID)
	_, err1 := f.store.Load(ctx, r.ID)
	_, err2 := f.store.History(ctx, r.ID, 0, 1)
	_, err3 := f.store.ReadAll(ctx, 0, 1)
	_, err4 := f.store.Records(ctx, 0, 0, 1)
	_, _, err5 := f.store.Find(ctx, []calendar.Claim{eventstore.SlugClaim(calendar.KindTag, "jazz")}, nil)
	_, err6 := f.store.NewIDs(ctx, 1)
	for name, err := range map[string]error{
		"Append":  f.store.Append(ctx, []eventstore.Append{f.appendOf(d)})[0].Err,
		"look-up": f.store.Append(ctx, []eventstore.Append{{Receipt: &eventstore.Receipt{User: 1, Key: "k"}}})[0].Err,
		"Load":    err1, "History": err2, "ReadAll": err3, "Records": err4, "Find": err5, "NewIDs": err6, "Versions": err0,
	} {
		if !errors.Is(err, context.Canceled) {
			f.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
	// Contexts that end during calls leave the store whole.
	results := make([]eventstore.Result, 32)
	appends := make([]eventstore.Append, len(results))
	for i := range appends {
		d, _ := f.draft(nil, created(calendar.KindTag, f.id(), numbered("tag", i)))
		appends[i] = f.appendOf(d)
	}
	together(len(results), func(i int) {
		ctx, cancel := context.WithCancel(f.ctx)
		if i%2 == 0 {
			go cancel()
		} else {
			defer cancel()
		}
		results[i] = f.store.Append(ctx, appends[i:i+1])[0]
	})
	for i, res := range results {
		ended := errors.Is(res.Err, context.Canceled)
		if res.Err != nil && (!ended || i%2 == 1) {
			f.Errorf("append %d: %v", i, res.Err)
		}
		if s := f.load(appends[i].Drafts[0].ID); res.Err == nil && (s.Version != 1 || s.Position != res.Position) {
			f.Errorf("append %d was answered at %d, the state is at %d", i, res.Position, s.Position)
		}
	}
	f.all()
}

func largePayloads(t testing.TB, h Harness) {
	f := setup(t, h)
	c := created(calendar.KindVenue, f.id(), "hall")
	c.Fields["description"] = calendar.Text{calendar.LangEN: strings.Repeat("<p>é音</p>", 1<<20/12)}
	c.Secret = []byte(strings.Repeat("s", 1<<10))
	d, r := f.draft(nil, c)
	if len(d.State) < 1<<20-100 {
		f.Fatalf("state has %d bytes only", len(d.State))
	}
	a := f.appendOf(d)
	a.Receipt = f.receipt(7, "large", 1, r)
	a.Receipt.Answer = d.State
	f.mustWrite(a)
	f.create(calendar.KindTag, "small")
	if got := f.load(r.ID); string(got.Record) != string(d.State) || string(got.Secret) != string(c.Secret) {
		f.Errorf("state has %d bytes, want %d", len(got.Record), len(d.State))
	}
	e := f.all()[0]
	if string(e.State) != string(d.State) || string(e.Fields) != string(d.Fields) {
		f.Errorf("entry has %d and %d bytes, want %d and %d", len(e.State), len(e.Fields), len(d.State), len(d.Fields))
	}
	if res := f.write(a); res.Receipt == nil || string(res.Receipt.Answer) != string(d.State) {
		f.Errorf("receipt: %v", res.Err)
	}
}

// settles: an append of nothing is answered with the head, alone and beside others.
func settles(t testing.TB, h Harness) {
	f := setup(t, h)
	if res := f.write(eventstore.Append{}); res.Err != nil || res.Position != 0 || res.Receipt != nil {
		f.Errorf("on an empty store: %+v", res)
	}
	someLog(f)
	head := f.head()
	if res := f.write(eventstore.Append{}); res.Err != nil || res.Position != head || res.Receipt != nil {
		f.Errorf("at head %d: %+v", head, res)
	}
	d, _ := f.draft(nil, created(calendar.KindTag, f.id(), "beside"))
	results := f.store.Append(f.ctx, []eventstore.Append{{}, f.appendOf(d), {}})
	for i, want := range []calendar.Position{head, head + 1, head + 1} {
		if results[i].Err != nil || results[i].Position != want {
			f.Errorf("append %d of three: %+v, want position %d", i, results[i], want)
		}
	}
	if got := f.head(); got != head+1 {
		f.Errorf("head is %d, want %d", got, head+1)
	}
}
