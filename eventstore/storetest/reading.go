package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"daybook/calendar"
	"daybook/eventstore"
)

// readYourWrites: Load and Versions see what was answered, in the order of the ids.
func readYourWrites(t testing.TB, h Harness) {
	f := setup(t, h)
	unknown := f.id()
	a, b := f.create(calendar.KindTag, "a"), f.create(calendar.KindVenue, "b")
	f.load(b.ID)
	if _, err := f.store.Versions(f.ctx, b.ID); err != nil {
		f.Fatalf("Versions: %v", err)
	}
	db, b2 := f.draft(b, changed(b, calendar.Fields{"slug": "b2"}))
	f.mustWrite(f.appendOf(db))
	da, _ := f.draft(nil, created(calendar.KindTag, a.ID, "a"))
	got, err := f.store.Load(f.ctx, b.ID, unknown, a.ID, b.ID, 1<<40)
	if err != nil {
		f.Fatalf("Load: %v", err)
	}
	stateA := eventstore.State{Kind: calendar.KindTag, ID: a.ID, Version: 1, Position: 1, Record: da.State}
	stateB := eventstore.State{Kind: calendar.KindVenue, ID: b.ID, Version: 2, Position: 3, Record: db.State}
	f.same("states", got, []eventstore.State{stateB, {}, stateA, stateB, {}})
	many := []calendar.ID{b.ID, unknown, a.ID, b.ID, 1 << 40}
	versions, err := f.store.Versions(f.ctx, append(many, make([]calendar.ID, 200)...)...) // in several statements
	if err != nil || len(versions) != len(many)+200 {
		f.Fatalf("Versions: %d of them, %v", len(versions), err)
	}
	f.same("versions", versions[:len(many)], []int64{2, 0, 1, 2, 0})
	none, err := f.store.Load(f.ctx)
	if err != nil || len(none) != 0 {
		f.Errorf("Load of nothing: %v, %v", none, err)
	}
	if none, err := f.store.Versions(f.ctx); err != nil || len(none) != 0 {
		f.Errorf("Versions of nothing: %v, %v", none, err)
	}
	// While others write, every writer finds its own write.
	together(16, func(w int) {
		id, err := f.store.NewIDs(f.ctx, 1)
		if err != nil {
			f.Errorf("NewIDs: %v", err)
			return
		}
		var r *calendar.Record
		for n := range 8 {
			c := created(calendar.KindTag, id, numbered(numbered("w", w), n))
			if r != nil {
				c = changed(r, c.Fields)
			}
			d, after := f.draft(r, c)
			res := f.store.Append(f.ctx, []eventstore.Append{f.appendOf(d)})[0]
			versions, verr := f.store.Versions(f.ctx, id)
			states, err := f.store.Load(f.ctx, id)
			if res.Err != nil || err != nil || states[0].Version != after.Version || states[0].Position != res.Position {
				f.Errorf("writer %d wrote version %d: %v; read %+v, %v", w, after.Version, res.Err, states, err)
				return
			}
			if verr != nil || versions[0] != after.Version {
				f.Errorf("writer %d wrote version %d: Versions gave %d, %v", w, after.Version, versions, verr)
				return
			}
			r = after
		}
	})
	_ = b2
}

func secrets(t testing.TB, h Harness) {
	f := setup(t, h)
	c := created(calendar.KindTag, f.id(), "jazz")
	c.Secret = []byte("one")
	d, r := f.draft(nil, c)
	f.mustWrite(f.appendOf(d))
	steps := []struct {
		set, want []byte
	}{
		{nil, []byte("one")},
		{[]byte("two"), []byte("two")},
		{nil, []byte("two")},
		{[]byte{}, nil},
		{nil, nil},
		{[]byte("three"), []byte("three")},
		{nil, []byte("three")},
	}
	want := make([][]byte, 1, 1+len(steps))
	want[0] = []byte("one")
	for i, s := range steps {
		d, r = f.draft(r, changed(r, calendar.Fields{"slug": numbered("jazz", i)}))
		d.Secret = s.set
		f.mustWrite(f.appendOf(d))
		f.same("secret after step "+numbered("", i), f.load(r.ID).Secret, s.want)
		want = append(want, s.set)
	}
	got := make([][]byte, 0, len(want))
	for _, e := range f.all() {
		got = append(got, e.Secret)
	}
	f.same("secrets of entries", got, want)
	f.store = f.h.Reopen(f.TB, f.store)
	f.same("secret after a restart", f.load(r.ID).Secret, []byte("three"))
}

func history(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	other := f.create(calendar.KindTag, "other")
	for i := range 6 {
		r = f.update(r, calendar.Fields{"slug": numbered("jazz", i)})
		other = f.update(other, calendar.Fields{"slug": numbered("other", i)})
	}
	var want []eventstore.Entry
	for _, e := range f.all() {
		if e.ID == r.ID {
			want = append(want, e)
		}
	}
	for _, page := range []struct {
		after    int64
		limit    int
		from, to int
	}{
		{0, 100, 0, 7}, {0, 3, 0, 3}, {3, 3, 3, 6}, {6, 3, 6, 7}, {7, 3, 7, 7}, {100, 3, 7, 7}, {-1, 2, 0, 2}, {0, 0, 0, 0}, {0, -1, 0, 0},
	} {
		got, err := f.store.History(f.ctx, r.ID, page.after, page.limit)
		if err != nil {
			f.Fatalf("History: %v", err)
		}
		if page.from == page.to && len(got) == 0 {
			continue
		}
		f.same(fmt.Sprintf("history after %d, limit %d", page.after, page.limit), got, want[page.from:page.to])
	}
	if got, err := f.store.History(f.ctx, 1<<40, 0, 10); err != nil || len(got) != 0 {
		f.Errorf("history of an unknown record: %d entries, %v", len(got), err)
	}
	for _, limit := range []int{0, -1} {
		if got, err := f.store.ReadAll(f.ctx, 0, limit); err != nil || len(got) != 0 {
			f.Errorf("ReadAll with limit %d: %d entries, %v", limit, len(got), err)
		}
	}
}

func records(t testing.TB, h Harness) {
	f := setup(t, h)
	ids := map[calendar.Kind][]calendar.ID{}
	for i := range 12 {
		k := calendar.KindTag
		if i%3 == 0 {
			k = calendar.KindVenue
		}
		r := f.create(k, numbered("r", i))
		if i == 5 { // deleted ones are given too
			d, _ := f.draft(r, deleted(r))
			f.mustWrite(f.appendOf(d))
		}
		ids[k] = append(ids[k], r.ID)
		ids[0] = append(ids[0], r.ID)
	}
	for _, k := range []calendar.Kind{0, calendar.KindTag, calendar.KindVenue, calendar.KindEvent} {
		var got []calendar.ID
		for after := calendar.ID(0); ; {
			page, err := f.store.Records(f.ctx, k, after, 3)
			if err != nil {
				f.Fatalf("Records: %v", err)
			}
			if len(page) > 3 {
				f.Fatalf("Records gave %d states, limit 3", len(page))
			}
			if len(page) == 0 {
				break
			}
			for i := range page {
				got = append(got, page[i].ID)
				f.same("state", page[i], f.load(page[i].ID))
			}
			after = page[len(page)-1].ID
		}
		f.same("ids of kind "+k.String(), got, ids[k])
	}
	if page, err := f.store.Records(f.ctx, 0, 0, 0); err != nil || len(page) != 0 {
		f.Errorf("Records with limit 0: %d states, %v", len(page), err)
	}
}

func find(t testing.TB, h Harness) {
	f := setup(t, h)
	named := make([]calendar.ID, 0, 3)
	for i := range 3 {
		c := created(calendar.KindTag, f.id(), numbered("jazz", 3-i))
		c.Fields["name"] = calendar.Text{calendar.LangEN: "Jazz", calendar.LangFR: numbered("Jazz fr", i)}
		d, r := f.draft(nil, c)
		f.mustWrite(f.appendOf(d))
		named = append(named, r.ID)
	}
	name := func(s string) calendar.Name { return calendar.Name{Space: "name/tag", Key: s} }
	claims := []calendar.Claim{eventstore.SlugClaim(calendar.KindTag, "jazz-2"), eventstore.SlugClaim(calendar.KindTag, "none"), eventstore.SlugClaim(calendar.KindVenue, "jazz-2"), eventstore.SlugClaim(calendar.KindTag, "jazz-3")}
	names := []calendar.Name{name("jazz"), name("none"), name("jazz fr-1"), {Space: "name/venue", Key: "jazz"}}
	holders, found, err := f.store.Find(f.ctx, claims, names)
	if err != nil {
		f.Fatalf("Find: %v", err)
	}
	f.same("holders", holders, []calendar.ID{named[1], 0, 0, named[0]})
	f.same("found", found, [][]calendar.ID{named, nil, {named[1]}, nil})

	r, err := calendar.DecodeRecord(f.load(named[1]).Record)
	if err != nil {
		f.Fatalf("DecodeRecord: %v", err)
	}
	f.update(r, calendar.Fields{"name": calendar.Text{calendar.LangEN: "Blues"}})
	_, found, err = f.store.Find(f.ctx, nil, append(names, name("blues")))
	if err != nil {
		f.Fatalf("Find: %v", err)
	}
	f.same("found after the change", found, [][]calendar.ID{{named[0], named[2]}, nil, nil, nil, {named[1]}})
}

func freshIDs(t testing.TB, h Harness) {
	f := setup(t, h)
	var mu sync.Mutex
	given := map[calendar.ID]bool{}
	together(16, func(w int) {
		for range 20 {
			n := w%3 + 1
			first, err := f.store.NewIDs(f.ctx, n)
			mu.Lock()
			for i := range n {
				id := first + calendar.ID(i)
				if err != nil || id <= 0 || given[id] {
					f.Errorf("NewIDs gave %d, error %v, given before: %t", id, err, given[id])
				}
				given[id] = true
			}
			mu.Unlock()
		}
	})
	// Ids that came from elsewhere are not given either, after a restart too.
	d, far := f.draft(nil, created(calendar.KindTag, 5000, "far"))
	f.mustWrite(f.appendOf(d))
	if id := f.id(); id <= far.ID {
		f.Errorf("NewIDs gave %d after %d was used", id, far.ID)
	}
	f.store = f.h.Reopen(f.TB, f.store)
	if id := f.id(); id <= far.ID {
		f.Errorf("NewIDs gave %d after a restart, %d was used", id, far.ID)
	}
}

func waiting(t testing.TB, h Harness) {
	f := setup(t, h)
	ended, cancel := context.WithCancel(f.ctx)
	cancel()
	if head, err := f.store.Wait(ended, 0); !errors.Is(err, context.Canceled) || head != 0 {
		f.Errorf("Wait on an empty store with an ended context: %d, %v", head, err)
	}
	type outcome struct {
		head calendar.Position
		err  error
	}
	const waiters = 5
	woken := make(chan outcome, waiters)
	for range waiters {
		go func() {
			ctx, cancel := f.patient()
			defer cancel()
			head, err := f.store.Wait(ctx, 0)
			woken <- outcome{head, err}
		}()
	}
	r := f.create(calendar.KindTag, "jazz")
	for range waiters {
		if o := <-woken; o.err != nil || o.head != 1 {
			f.Errorf("Wait gave %d, %v", o.head, o.err)
		}
	}
	if head, err := f.store.Wait(f.ctx, 0); err != nil || head != 1 {
		f.Errorf("Wait behind the head: %d, %v", head, err)
	}
	if head, err := f.store.Wait(ended, 1); !errors.Is(err, context.Canceled) || head != 1 {
		f.Errorf("Wait at the head with an ended context: %d, %v", head, err)
	}
	// A look-up or a receipt moves no head; the next entry does.
	go func() {
		ctx, cancel := f.patient()
		defer cancel()
		head, err := f.store.Wait(ctx, 1)
		woken <- outcome{head, err}
	}()
	f.mustWrite(eventstore.Append{Receipt: f.receipt(7, "key", 1, r)})
	f.update(r, calendar.Fields{"slug": "blues"})
	if o := <-woken; o.err != nil || o.head != 2 {
		f.Errorf("Wait gave %d, %v", o.head, o.err)
	}
}

// appendOnly: entries that were read once are the same for ever.
func appendOnly(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	r = f.update(r, calendar.Fields{"slug": "blues"})
	before := f.all()
	versions, err := f.store.History(f.ctx, r.ID, 0, 10)
	if err != nil {
		f.Fatalf("History: %v", err)
	}
	r = f.update(r, calendar.Fields{"slug": "folk", "description": calendar.Text{calendar.LangEN: "x"}})
	d, _ := f.draft(r, deleted(r))
	f.mustWrite(f.appendOf(d))
	f.same("the log before", f.all()[:len(before)], before)
	again, err := f.store.History(f.ctx, r.ID, 0, len(versions))
	if err != nil {
		f.Fatalf("History: %v", err)
	}
	f.same("the history before", again, versions)
}

// someLog writes a log with records of several versions, secrets and groups.
func someLog(f *fixture) {
	f.Helper()
	live := make([]*calendar.Record, 0, 10)
	for i := range 10 {
		live = append(live, f.create(calendar.KindTag, numbered("tag", i)))
	}
	for i := range 25 {
		n := i % len(live)
		d, r := f.draft(live[n], changed(live[n], calendar.Fields{"slug": numbered(numbered("t", n), i)}))
		if i%4 == 0 {
			d.Secret = []byte(numbered("secret", i))
		}
		v, _ := f.draft(nil, created(calendar.KindVenue, f.id(), numbered("venue", i)))
		f.mustWrite(f.appendOf(d, v))
		live[n] = r
	}
	d, _ := f.draft(live[0], deleted(live[0]))
	a := f.appendOf(d)
	a.Receipt = f.receipt(7, "key", 1, live[0])
	f.mustWrite(a)
}

// verifiesHoldings: a record that holds what its state does not tell keeps a slug
// taken, or is found by a name that it has no more.
func verifiesHoldings(t testing.TB, h Harness) {
	for name, add := range map[string]func(d *eventstore.Draft){
		"claim": func(d *eventstore.Draft) { d.Claims = append(d.Claims, eventstore.SlugClaim(d.Kind, "old-slug")) },
		"name": func(d *eventstore.Draft) {
			d.Names = append(d.Names, calendar.Name{Space: "name/tag", Key: "old name"})
		},
	} {
		f := setup(t, h)
		someLog(f)
		d, _ := f.draft(nil, created(calendar.KindTag, f.id(), "new-slug"))
		add(&d)
		at := f.mustWrite(f.appendOf(d))
		_, _, err := Verify(f.ctx, f.store, nil)
		if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(fmt.Sprint(err), fmt.Sprintf("entry %d:", at)) {
			f.Errorf("Verify with another %s: the error is %v, want ErrDamaged of entry %d", name, err, at)
		}
	}
}

func verifies(t testing.TB, h Harness) {
	f := setup(t, h)
	verify := func() ([32]byte, calendar.Position) {
		f.Helper()
		var told calendar.Position
		hash, n, err := Verify(f.ctx, f.store, func(done, _ calendar.Position) { told = done })
		if err != nil {
			f.Fatalf("Verify: %v", err)
		}
		if told != n {
			f.Errorf("progress ended at %d of %d", told, n)
		}
		return hash, n
	}
	if hash, n := verify(); hash != [32]byte{} || n != 0 {
		f.Errorf("an empty store has hash %x and %d entries", hash, n)
	}
	someLog(f)
	hash, n := verify()
	if n != 61 {
		f.Errorf("Verify read %d entries, want 61", n)
	}
	f.same("chain", chainOf(f), hash)
	f.store = f.h.Reopen(f.TB, f.store)
	if again, _ := verify(); again != hash {
		f.Errorf("hash is %x after a restart, was %x", again, hash)
	}
	f.create(calendar.KindTag, "later")
	if again, n := verify(); again == hash || n != 62 {
		f.Errorf("hash did not move with entry %d", n)
	}
}

// busy has records made, renamed and erased by two writers while check runs again and
// again.
func (f *fixture) busy(check func() error) {
	f.Helper()
	const records, renames = 8, 8
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for n := range records {
				var r *calendar.Record
				id, err := f.store.NewIDs(f.ctx, 1)
				for v := range renames {
					if err != nil {
						f.Errorf("writer %d: %v", w, err)
						return
					}
					slug := numbered(numbered(numbered("w", w), n), v)
					c := created(calendar.KindTag, id, slug)
					if r != nil {
						c = changed(r, calendar.Fields{"slug": slug, "name": calendar.Text{calendar.LangEN: slug}})
					}
					d, after := f.draft(r, c)
					r, err = after, f.store.Append(f.ctx, []eventstore.Append{f.appendOf(d)})[0].Err
				}
				if err == nil && n%3 == 0 {
					err = f.store.Erase(f.ctx, f.erasure(r)).Err
				}
				if err != nil {
					f.Errorf("writer %d: %v", w, err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for runs := 1; ; runs++ {
		if err := check(); err != nil {
			f.Errorf("look %d: %v", runs, err)
			<-done
			return
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// statesWithEntries: the entry of a state that was read can be read.
func statesWithEntries(t testing.TB, h Harness) {
	f := setup(t, h)
	f.busy(func() error {
		states, err := f.store.Records(f.ctx, 0, 0, 1000)
		if err != nil {
			return err
		}
		var newest calendar.Position
		for i := range states {
			newest = max(newest, states[i].Position)
		}
		if newest == 0 {
			return nil
		}
		entries, err := f.store.ReadStored(f.ctx, newest-1, 1)
		if err == nil && (len(entries) != 1 || entries[0].Position != newest) {
			err = fmt.Errorf("a state is that of entry %d, reading it gives %d entries", newest, len(entries))
		}
		return err
	})
}

// verifiesBusy: what others write meanwhile, erasures too, is no finding.
func verifiesBusy(t testing.TB, h Harness) {
	f := setup(t, h)
	f.busy(func() error {
		_, _, err := Verify(f.ctx, f.store, nil)
		return err
	})
	if _, n, err := Verify(f.ctx, f.store, nil); err != nil || n != 2*(8*8+3) {
		f.Errorf("at the end: %d entries, %v", n, err)
	}
}

func marks(t testing.TB, h Harness) {
	f := setup(t, h)
	if got, err := f.store.Mark(f.ctx, 0); err != nil || got != (eventstore.Mark{}) {
		f.Errorf("mark of an empty store: %v, %v", got, err)
	}
	if _, err := f.store.Mark(f.ctx, 1); !errors.Is(err, eventstore.ErrAhead) || !errors.Is(err, eventstore.ErrHistory) {
		f.Errorf("mark ahead of an empty store: %v", err)
	}
	someLog(f)
	commits, err := f.store.Commits(f.ctx, 0, 1000)
	if err != nil {
		f.Fatalf("Commits: %v", err)
	}
	check := func() {
		f.Helper()
		for _, c := range commits {
			for p := c.First; p <= c.Last; p++ {
				want := eventstore.Mark{Position: p, Hash: c.Hash}
				if got, err := f.store.Mark(f.ctx, p); err != nil || got != want {
					f.Errorf("mark of entry %d: %v, %v, want %v", p, got, err, want)
				}
				if err := eventstore.CheckMark(f.ctx, f.store, want); err != nil {
					f.Errorf("CheckMark of entry %d: %v", p, err)
				}
				want.Hash[0]++
				if err := eventstore.CheckMark(f.ctx, f.store, want); !errors.Is(err, eventstore.ErrHistory) {
					f.Errorf("CheckMark of another history at entry %d: %v", p, err)
				}
			}
		}
		if _, err := f.store.Mark(f.ctx, f.head()+1); !errors.Is(err, eventstore.ErrAhead) {
			f.Errorf("mark ahead of the head: %v", err)
		}
	}
	check()
	f.store = f.h.Reopen(f.TB, f.store)
	check()
}

func otherEpoch(t testing.TB, h Harness) {
	f := setup(t, h)
	epoch := f.store.Epoch()
	if epoch == 0 {
		f.Fatal("epoch is 0, which stands for any")
	}
	for _, c := range []struct {
		epoch uint64
		err   error
	}{{epoch, nil}, {0, nil}, {epoch + 1, eventstore.ErrConflict}} {
		before := f.head()
		d, _ := f.draft(nil, created(calendar.KindTag, f.id(), fmt.Sprintf("of epoch %d", c.epoch)))
		a := f.appendOf(d)
		a.Epoch = c.epoch
		if res := f.write(a); !errors.Is(res.Err, c.err) {
			f.Errorf("append of epoch %d of %d: %v, want %v", c.epoch, epoch, res.Err, c.err)
		}
		if wrote := f.head() > before; wrote != (c.err == nil) {
			f.Errorf("append of epoch %d of %d: wrote %t", c.epoch, epoch, wrote)
		}
	}
	if got := f.store.Epoch(); got != epoch {
		f.Errorf("epoch is %d after appends, was %d", got, epoch)
	}
}

// chainOf computes the hash of the chain from the entries and the bounds of
// commits alone.
func chainOf(f *fixture) [32]byte {
	f.Helper()
	entries := f.all()
	var hash [32]byte
	for after := calendar.Position(0); ; {
		commits, err := f.store.Commits(f.ctx, after, 4)
		if err != nil {
			f.Fatalf("Commits: %v", err)
		}
		if len(commits) == 0 {
			if int(after) != len(entries) {
				f.Errorf("commits end at %d of %d", after, len(entries))
			}
			return hash
		}
		for _, c := range commits {
			if c.First != after+1 || int(c.Last) > len(entries) {
				f.Fatalf("commit %d to %d follows %d", c.First, c.Last, after)
			}
			var leaves [][32]byte
			for i := range entries[c.First-1 : c.Last] {
				leaves = append(leaves, eventstore.Leaf(&entries[int(c.First)-1+i]))
			}
			hash = eventstore.ChainHash(hash, c.First, leaves)
			after = c.Last
		}
	}
}

// everything is all that a store gives.
type everything struct {
	Head    calendar.Position
	Entries []eventstore.Entry
	States  []eventstore.State
	Commits []eventstore.Commit
	Leaves  [][32]byte
	Holders []calendar.ID
	Found   [][]calendar.ID
	Receipt *eventstore.Receipt
}

func everythingOf(f *fixture) everything {
	f.Helper()
	e := everything{Head: f.head(), Entries: f.all()}
	claims := make([]calendar.Claim, 0, len(e.Entries))
	names := make([]calendar.Name, 0, len(e.Entries))
	for i := range e.Entries {
		r, err := calendar.DecodeRecord(e.Entries[i].State)
		if err != nil {
			f.Fatalf("DecodeRecord: %v", err)
		}
		claims = append(claims, calendar.Claims(r)...)
		names = append(names, calendar.Names(r)...)
	}
	errs := make([]error, 5)
	e.States, errs[0] = f.store.Records(f.ctx, 0, 0, 1000)
	e.Commits, errs[1] = f.store.Commits(f.ctx, 0, 1000)
	e.Leaves, errs[2] = f.store.Leaves(f.ctx, 0, 1000)
	e.Holders, e.Found, errs[3] = f.store.Find(f.ctx, claims, names)
	res := f.write(eventstore.Append{Receipt: &eventstore.Receipt{User: 7, Key: "key", Fingerprint: [32]byte{1}}})
	e.Receipt, errs[4] = res.Receipt, res.Err
	if err := errors.Join(errs...); err != nil {
		f.Fatalf("read everything: %v", err)
	}
	return e
}

func restart(t testing.TB, h Harness) {
	f := setup(t, h)
	f.store = f.h.Reopen(f.TB, f.store)
	if got := f.head(); got != 0 {
		f.Errorf("head of an empty store is %d after a restart", got)
	}
	someLog(f)
	before := everythingOf(f)
	f.store = f.h.Reopen(f.TB, f.store)
	f.same("the store after a restart", everythingOf(f), before)
	if before.Receipt == nil || len(before.States) != 35 {
		f.Errorf("receipt %v and %d states before", before.Receipt, len(before.States))
	}
	// It goes on where it ended.
	if d, _ := f.draft(nil, created(calendar.KindTag, f.id(), "later")); f.mustWrite(f.appendOf(d)) != before.Head+1 {
		f.Errorf("the next position is not %d", before.Head+1)
	}
	taken, _ := f.draft(nil, created(calendar.KindTag, f.id(), "t-9-19"))
	refusedClaim(f, f.appendOf(taken), eventstore.SlugClaim(calendar.KindTag, "t-9-19"), f.holder(eventstore.SlugClaim(calendar.KindTag, "t-9-19")))
	ctx, cancel := f.patient()
	defer cancel()
	if _, err := f.store.Wait(ctx, before.Head); err != nil {
		f.Errorf("Wait: %v", err)
	}
}

func closed(t testing.TB, h Harness) {
	f := setup(t, h)
	r := f.create(calendar.KindTag, "jazz")
	d, _ := f.draft(r, changed(r, calendar.Fields{"slug": "late"}))
	waited := make(chan error, 1)
	go func() {
		ctx, cancel := f.patient()
		defer cancel()
		_, err := f.store.Wait(ctx, 1)
		waited <- err
	}()
	if err := f.store.Close(); err != nil {
		f.Fatalf("Close: %v", err)
	}
	_, err0 := f.store.Versions(f.ctx, r.ID)
	_, err1 := f.store.Load(f.ctx, r.ID)
	_, err2 := f.store.History(f.ctx, r.ID, 0, 1)
	_, err3 := f.store.ReadAll(f.ctx, 0, 1)
	_, err4 := f.store.Records(f.ctx, 0, 0, 1)
	_, _, err5 := f.store.Find(f.ctx, []calendar.Claim{eventstore.SlugClaim(calendar.KindTag, "jazz")}, nil)
	_, err6 := f.store.NewIDs(f.ctx, 1)
	_, err7 := f.store.Head(f.ctx)
	for name, err := range map[string]error{
		"Append":  f.store.Append(f.ctx, []eventstore.Append{f.appendOf(d)})[0].Err,
		"look-up": f.store.Append(f.ctx, []eventstore.Append{{Receipt: &eventstore.Receipt{User: 1, Key: "k"}}})[0].Err,
		"Wait":    <-waited,
		"Load":    err1, "History": err2, "ReadAll": err3, "Records": err4, "Find": err5, "NewIDs": err6, "Head": err7, "Versions": err0,
	} {
		if !errors.Is(err, eventstore.ErrClosed) {
			f.Errorf("%s: got %v, want ErrClosed", name, err)
		}
	}
	if err := f.store.Close(); err != nil {
		f.Errorf("second Close: %v", err)
	}
}

// bytePages: pages end after PageBytes, with one entry or state at least; none is
// left out, and only an empty page is the end.
func bytePages(t testing.TB, h Harness) {
	f := setup(t, h)
	venue := func(bytes int) {
		f.Helper()
		c := created(calendar.KindVenue, f.id(), fmt.Sprintf("hall-%d", f.head()))
		c.Fields["description"] = calendar.Text{calendar.LangEN: strings.Repeat("<p>é音</p>", bytes/24)} // in fields and state
		d, _ := f.draft(nil, c)
		f.mustWrite(f.appendOf(d))
	}
	const large = eventstore.PageBytes / 5
	for range 9 { // in more than one page
		venue(large)
	}
	venue(eventstore.PageBytes + 1<<20) // in no page with others
	venue(100)
	many := f.create(calendar.KindTag, "many")
	for v := range 4 { // its history is more than a page
		many = f.update(many, calendar.Fields{"description": calendar.Text{calendar.LangEN: strings.Repeat("x", 2*large) + strconv.Itoa(v)}})
	}
	small := f.create(calendar.KindTag, "small")
	entries := func(read func(after *eventstore.Entry) ([]eventstore.Entry, error)) int {
		return pagesOf(f, read, func(e *eventstore.Entry) (int64, int) { return int64(e.Position), e.Size() })
	}
	for _, from := range []func(context.Context, calendar.Position, int) ([]eventstore.Entry, error){f.store.ReadAll, f.store.ReadStored} {
		n := entries(func(e *eventstore.Entry) ([]eventstore.Entry, error) {
			if e == nil {
				return from(f.ctx, 0, 100)
			}
			return from(f.ctx, e.Position, 100)
		})
		if n != int(f.head()) {
			f.Errorf("pages of entries have %d, want %d", n, f.head())
		}
	}
	n := entries(func(e *eventstore.Entry) ([]eventstore.Entry, error) {
		if e == nil {
			return f.store.History(f.ctx, many.ID, 0, 100)
		}
		return f.store.History(f.ctx, many.ID, e.Version, 100)
	})
	if n != 5 {
		f.Errorf("pages of the history have %d entries, want 5", n)
	}
	for kind, want := range map[calendar.Kind]int{0: 13, calendar.KindVenue: 11, calendar.KindTag: 2} {
		n := pagesOf(f, func(s *eventstore.State) ([]eventstore.State, error) {
			if s == nil {
				return f.store.Records(f.ctx, kind, 0, 100)
			}
			return f.store.Records(f.ctx, kind, s.ID, 100)
		}, func(s *eventstore.State) (int64, int) { return int64(s.ID), s.Size() })
		if n != want {
			f.Errorf("pages of kind %d have %d states, want %d", kind, n, want)
		}
	}
	if got := f.load(small.ID); got.Version != 1 {
		f.Errorf("the last record has version %d", got.Version)
	}
	if _, _, err := Verify(f.ctx, f.store, nil); err != nil {
		f.Errorf("Verify: %v", err)
	}
}

// pagesOf reads all pages and gives how many elements they have. Each but the last
// has to be full and none more than that.
func pagesOf[T any](f *fixture, read func(last *T) ([]T, error), of func(*T) (order int64, size int)) int {
	f.Helper()
	n, before := 0, int64(0)
	var last *T
	for full := true; ; {
		page, err := read(last)
		if err != nil {
			f.Fatalf("page after %d: %v", before, err)
		}
		if len(page) == 0 {
			return n
		}
		if !full {
			f.Errorf("a page ended before %d, without need", before)
		}
		sum := 0
		for i := range page {
			order, size := of(&page[i])
			if order <= before {
				f.Fatalf("%d comes after %d", order, before)
			}
			if sum >= eventstore.PageBytes {
				f.Errorf("the page goes on to %d after %d bytes", order, sum)
			}
			before = order
			sum += size
		}
		full = sum >= eventstore.PageBytes
		n += len(page)
		last = &page[len(page)-1]
	}
}

// ownUUID: LISTINGS 1.5, of uids.
func ownUUID(t testing.TB, h Harness) {
	t.Helper()
	f := setup(t, h)
	uuidOf := func(s Store) [16]byte {
		f.Helper()
		id, err := s.UUID(f.ctx)
		if err != nil {
			f.Fatalf("UUID: %v", err)
		}
		return id
	}
	first := uuidOf(f.store)
	f.create(calendar.KindTag, "jazz")
	if id := uuidOf(f.store); id != first {
		f.Errorf("UUID %x after an entry, %x before", id, first)
	}
	f.store = f.h.Reopen(f, f.store)
	if id := uuidOf(f.store); id != first {
		f.Errorf("UUID %x after a restart, %x before", id, first)
	}
	if id := uuidOf(f.h.Open(f)); id == first {
		f.Errorf("two stores have the UUID %x", id)
	}
}
