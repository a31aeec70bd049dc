package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// erasure is the erasure of a record.
func (f *fixture) erasure(r *calendar.Record) eventstore.Erasure {
	f.Helper()
	c, err := calendar.Erase(r)
	if err != nil {
		f.Fatal(err)
	}
	d, after := f.draft(r, c)
	return eventstore.Erasure{
		Kind: r.Kind, ID: r.ID, Expected: d.Expected, Time: f.now, Actor: 3, Cause: eventstore.Cause{Client: "erase", Reason: "asked for"},
		State: d.State, Claims: calendar.Claims(after),
	}
}

func (f *fixture) leaves() [][32]byte {
	f.Helper()
	leaves, err := f.store.Leaves(f.ctx, 0, 10_000)
	if err != nil {
		f.Fatalf("Leaves: %v", err)
	}
	return leaves
}

func (f *fixture) verify() eventstore.Findings {
	f.Helper()
	found, err := eventstore.Verify(f.ctx, f.store, nil)
	if err != nil {
		f.Fatalf("Verify: %v", err)
	}
	return found
}

// answered keeps a receipt of a record with an answer.
func (f *fixture) answered(key string, id calendar.ID, answer string, drafts ...eventstore.Draft) {
	f.Helper()
	a := f.appendOf(drafts...)
	a.Receipt = &eventstore.Receipt{User: 7, Key: key, Time: f.now, Record: id, Version: 1, Answer: []byte(answer)}
	f.mustWrite(a)
}

// answer gives the answer of a receipt.
func (f *fixture) answer(key string) string {
	f.Helper()
	res := f.write(eventstore.Append{Receipt: &eventstore.Receipt{User: 7, Key: key}})
	if res.Err != nil || res.Receipt == nil {
		f.Fatalf("receipt %q: %+v", key, res)
	}
	return string(res.Receipt.Answer)
}

// erases: of an erased record nothing is left but what an erasure leaves, wherever one
// looks, and the log verifies as redacted (HISTORY 14.1, 20.34).
func erases(t testing.TB, h Harness) {
	f := setup(t, h)
	start := f.now
	id := f.id()
	c := created(calendar.KindTag, id, "jazz")
	c.Fields["imports"] = calendar.WithImportMark(nil, calendar.ImportMark{Source: "s", Line: 4, Key: "the key"})
	d, r := f.draft(nil, c)
	d.Secret = []byte("the secret")
	f.answered("own", id, `{"name":"Name of jazz"}`, d)
	other := f.create(calendar.KindTag, "blues")
	f.answered("names", other.ID, `{"tags":[{"id":`+id.String()+`,"name":"Name of jazz"}]}`)
	f.answered("others", other.ID, `{"tags":[`+id.String()+`0]}`)
	f.now = f.now.Add(time.Hour)
	r = f.update(r, calendar.Fields{"slug": "swing"})
	r = f.update(r, calendar.Fields{"description": calendar.Text{calendar.LangEN: "Description of jazz"}})
	before, kept := f.all(), f.leaves()
	f.now = f.now.Add(time.Hour)
	e := f.erasure(r)
	res := f.store.Erase(f.ctx, e)
	if res.Err != nil || res.Position != f.head() || res.Position != before[len(before)-1].Position+1 {
		f.Fatalf("Erase: %+v, the head is %d", res, f.head())
	}
	look := func() {
		f.Helper()
		want := slices.Clone(before)
		for i := range want {
			if want[i].ID == id {
				want[i].Redact(res.Position)
			}
		}
		log, leaves := f.all(), f.leaves()
		f.same("entries of before", log[:len(before)], want)
		f.same("leaves of before", leaves[:len(kept)], kept)
		for i := range log {
			if eventstore.Leaf(&log[i]) != leaves[i] {
				f.Errorf("entry %d does not fit its leaf", i+1)
			}
		}
		last := log[len(log)-1]
		last.Salts = eventstore.Salts{}
		f.same("the entry that erased", last, eventstore.Entry{
			Position: res.Position, Kind: calendar.KindTag, ID: id, Version: 4, Time: f.now, Actor: 3, Cause: e.Cause,
			Change: "tag.erased", Fields: []byte(`{}`), State: e.State, Secret: []byte{},
		})
		stored, err := f.store.ReadStored(f.ctx, 0, 100)
		if err != nil {
			f.Fatalf("ReadStored: %v", err)
		}
		f.same("entries on the medium", stored, log)
		history, err := f.store.History(f.ctx, id, 0, 10)
		if err != nil || len(history) != 4 || history[1].Redacted == nil || history[1].State != nil {
			f.Errorf("History: %+v, %v", history, err)
		}
		f.same("the record", f.load(id), eventstore.State{Kind: calendar.KindTag, ID: id, Version: 4, Position: res.Position, Record: e.State})
		for _, claim := range []calendar.Claim{eventstore.SlugClaim(calendar.KindTag, "jazz"), eventstore.SlugClaim(calendar.KindTag, "swing"), calendar.ImportClaim("s", "the key")} {
			if holder := f.holder(claim); holder != 0 {
				f.Errorf("claim %v is held by %d", claim, holder)
			}
		}
		if holder := f.holder(calendar.HashedImportClaim("s", "the key")); holder != id {
			f.Errorf("the hashed mark is held by %d", holder)
		}
		_, found, err := f.store.Find(f.ctx, nil, calendar.Names(r))
		if err != nil || len(found[0]) != 0 || len(found) != 1 {
			f.Errorf("found by name: %v, %v", found, err)
		}
		for _, p := range []eventstore.Point{{Position: 1}, {Time: start}, {Position: res.Position}} {
			if had, err := f.store.SlugAt(f.ctx, calendar.KindTag, "jazz", p); err != nil || had != 0 {
				f.Errorf("SlugAt(%v): %d, %v", p, had, err)
			}
		}
		then, err := f.store.At(f.ctx, eventstore.Point{Time: start}, id)
		if err != nil {
			f.Fatalf("At: %v", err)
		}
		f.same("the record as it was", then, want[:1])
		for key, want := range map[string]string{"own": "", "names": "", "others": `{"tags":[` + id.String() + `0]}`} {
			if got := f.answer(key); got != want {
				f.Errorf("answer of %q is %q, want %q", key, got, want)
			}
		}
		found2 := f.verify()
		f.same("findings", found2, eventstore.Findings{
			Finding: eventstore.FoundRedacted, Entries: res.Position, Hash: found2.Hash, Redacted: 3,
			Erasures: []eventstore.FoundErasure{{Position: res.Position, Kind: calendar.KindTag, ID: id, Reason: "asked for"}},
		})
	}
	look()
	f.store = f.h.Reopen(f, f.store)
	look()
	f.create(calendar.KindTag, "swing") // its slug is free
	if found := f.verify(); found.Finding != eventstore.FoundRedacted {
		f.Errorf("after another entry: %+v", found)
	}
}

// erasesAgain: what is no record, or another version of it, is refused and nothing is
// written; an erased record is erased again without another entry, and takes no change.
func erasesAgain(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	e := f.erasure(r)
	stale, unknown, kind, unsaid := e, e, e, e
	stale.Expected, unknown.ID, kind.Kind, unsaid.State = 7, r.ID+1000, calendar.KindVenue, nil
	for _, tt := range []struct {
		name string
		e    eventstore.Erasure
		want error
	}{
		{"another version", stale, eventstore.ErrConflict},
		{"unknown", unknown, eventstore.ErrNotFound},
		{"another kind", kind, eventstore.ErrNotFound},
		{"without a state", unsaid, eventstore.ErrMalformed},
	} {
		if res := f.store.Erase(f.ctx, tt.e); !errors.Is(res.Err, tt.want) {
			f.Errorf("%s: %+v, want %v", tt.name, res, tt.want)
		}
	}
	if f.head() != 1 || f.load(r.ID).Version != 1 || f.holder(eventstore.SlugClaim(calendar.KindTag, "jazz")) != r.ID {
		f.Errorf("a refused erasure changed something: head %d", f.head())
	}
	if res := f.store.Erase(f.ctx, e); res.Err != nil || res.Position != 2 {
		f.Fatalf("Erase: %+v", res)
	}
	f.create(calendar.KindTag, "blues")
	for _, again := range []eventstore.Erasure{e, stale} {
		if res := f.store.Erase(f.ctx, again); res.Err != nil || res.Position != 2 {
			f.Errorf("erased again: %+v", res)
		}
	}
	for _, expected := range []int64{0, 1, 2, 3} {
		d, _ := f.draft(r, changed(r, calendar.Fields{"slug": "back"}))
		d.Expected = expected
		if res := f.write(f.appendOf(d)); !errors.Is(res.Err, eventstore.ErrConflict) {
			f.Errorf("a change after version %d: %+v", expected, res)
		}
	}
	if f.head() != 3 {
		f.Errorf("the head is %d", f.head())
	}
	if found := f.verify(); found.Finding != eventstore.FoundRedacted {
		f.Errorf("Verify: %+v", found)
	}
}

// erasesTogether: an image of the record goes with it, or nothing goes.
func erasesTogether(t testing.TB, h Harness) {
	f := setup(t, h)
	a, b := f.create(calendar.KindTag, "a"), f.create(calendar.KindVenue, "b")
	e, also := f.erasure(a), f.erasure(b)
	also.Expected = 5
	e.Also = []eventstore.Erasure{also}
	if res := f.store.Erase(f.ctx, e); !errors.Is(res.Err, eventstore.ErrConflict) {
		f.Errorf("with another version of the second: %+v", res)
	}
	if f.head() != 2 || f.load(a.ID).Version != 1 {
		f.Fatalf("one of two was erased: head %d", f.head())
	}
	e.Also[0].Expected = 1
	if res := f.store.Erase(f.ctx, e); res.Err != nil || res.Position != 3 {
		f.Fatalf("Erase: %+v", res)
	}
	commits, err := f.store.Commits(f.ctx, 2, 10)
	if err != nil || len(commits) != 1 || commits[0].Last != 4 {
		f.Errorf("commits %+v, %v", commits, err)
	}
	found := f.verify()
	if found.Finding != eventstore.FoundRedacted || found.Redacted != 2 || len(found.Erasures) != 2 || found.Erasures[1].ID != b.ID {
		f.Errorf("Verify: %+v", found)
	}
	if head, err := f.store.Wait(f.ctx, 2); err != nil || head != 4 {
		f.Errorf("Wait: %d, %v", head, err)
	}
}

// erasesAnswers: answers that come after the erasure and name the record are not kept
// (HISTORY 20.37).
func erasesAnswers(t testing.TB, h Harness) {
	f := setup(t, h)
	r, other := f.create(calendar.KindTag, "jazz"), f.create(calendar.KindTag, "blues")
	f.answered("early", other.ID, `{"at":1}`)
	if res := f.store.Erase(f.ctx, f.erasure(r)); res.Err != nil {
		f.Fatalf("Erase: %+v", res)
	}
	text := `{"tag":` + r.ID.String() + `,"name":"Name of jazz"}`
	f.answered("early", other.ID, text)
	f.answered("late", other.ID, text)
	f.answered("own", r.ID, `{}`)
	f.answered("unnamed", other.ID, `{"at":99}`)
	f.store.Append(f.ctx, []eventstore.Append{{
		Receipt: &eventstore.Receipt{User: 7, Key: "unnamed", Time: f.now, Record: other.ID, Version: 1, Answer: []byte(text)}, Later: true,
	}})
	for key, want := range map[string]string{"early": "", "late": "", "own": ""} {
		if got := f.answer(key); got != want {
			f.Errorf("answer of %q is %q, want %q", key, got, want)
		}
	}
	if got := f.answer("unnamed"); strings.Contains(got, "Name") {
		f.Errorf("an answer that was kept later is %q", got)
	}
}
