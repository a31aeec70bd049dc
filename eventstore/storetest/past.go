package storetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
)

// past writes a log whose times jump, as imports make them: some records, each of which
// changes its slug now and then, and takes one that another one had.
func (f *fixture) past(entries int) []eventstore.Entry {
	f.Helper()
	start := f.now
	dice := rand.New(rand.NewPCG(1, 2))
	var live []*calendar.Record
	taken := map[string]bool{}
	free := func() string {
		for {
			if s := numbered("slug", dice.IntN(12)); !taken[s] {
				taken[s] = true
				return s
			}
		}
	}
	alive := 0
	for {
		drafts := make([]eventstore.Draft, 0, 3)
		f.now = start.Add(time.Duration(dice.IntN(1000)) * time.Second)
		if dice.IntN(2) == 0 {
			f.now = f.now.Add(24 * time.Hour)
		}
		for range 1 + dice.IntN(3) {
			var d eventstore.Draft
			var r *calendar.Record
			n := dice.IntN(len(live) + 1)
			switch {
			case n == len(live) && alive < 6:
				alive++
				d, r = f.draft(nil, created(calendar.KindTag, f.id(), free()))
				live = append(live, r)
			case n == len(live):
				continue
			case dice.IntN(8) == 0 && !live[n].Deleted:
				alive--
				delete(taken, live[n].Slug())
				d, r = f.draft(live[n], deleted(live[n]))
			case live[n].Deleted:
				continue
			case dice.IntN(2) == 0:
				delete(taken, live[n].Slug())
				d, r = f.draft(live[n], changed(live[n], calendar.Fields{"slug": free()}))
			default:
				d, r = f.draft(live[n], changed(live[n], calendar.Fields{"description": calendar.Text{calendar.LangEN: `the "slug": x`}}))
			}
			if n < len(live) {
				live[n] = r
			}
			drafts = append(drafts, d)
		}
		if len(drafts) > 0 && f.mustWrite(f.appendOf(drafts...)) >= calendar.Position(entries) {
			break
		}
	}
	return f.all()
}

// points are points of a log worth to be looked at, at every position and time of it.
func points(log []eventstore.Entry) (out []eventstore.Point) {
	for i := range log {
		out = append(out, eventstore.Point{Position: log[i].Position},
			eventstore.Point{Time: log[i].Time}, eventstore.Point{Time: log[i].Time.Add(-time.Millisecond)},
			eventstore.Point{Time: log[i].Time.Add(999 * time.Microsecond)})
	}
	return out
}

// at: of each record the entry with the greatest version among those that count.
func at(t testing.TB, h Harness) {
	f := setup(t, h)
	log := f.past(60)
	ids := []calendar.ID{1 << 40}
	for i := range log {
		if !slices.Contains(ids, log[i].ID) {
			ids = append(ids, log[i].ID)
		}
	}
	for _, p := range points(log) {
		want := make([]eventstore.Entry, len(ids))
		for i := range log {
			if n := slices.Index(ids, log[i].ID); p.Counts(&log[i]) && log[i].Version > want[n].Version {
				want[n] = log[i]
			}
		}
		// Many at once, some of them twice, and each alone.
		got, err := f.store.At(f.ctx, p, slices.Repeat(ids, 3)...)
		if err != nil {
			f.Fatalf("At(%v): %v", p, err)
		}
		f.same("records at a point", got, slices.Repeat(want, 3))
		if got, err = f.store.At(f.ctx, p, ids[1]); err != nil {
			f.Fatalf("At(%v): %v", p, err)
		}
		if f.same("one record at a point", got, want[1:2]); f.Failed() {
			return
		}
	}
	later, err := f.store.At(f.ctx, eventstore.Point{Position: 1 << 40}, ids...)
	if err != nil || later[1].Version == 0 {
		f.Errorf("above the head: %v, %v", later, err)
	}
	for _, p := range []eventstore.Point{{}, {Position: 1, Time: f.now}} {
		if _, err := f.store.At(f.ctx, p, ids[1]); !errors.Is(err, eventstore.ErrMalformed) {
			f.Errorf("At(%v): %v", p, err)
		}
		if _, err := f.store.Counted(f.ctx, p); !errors.Is(err, eventstore.ErrMalformed) {
			f.Errorf("Counted(%v): %v", p, err)
		}
		if _, err := f.store.SlugAt(f.ctx, calendar.KindTag, "x", p); !errors.Is(err, eventstore.ErrMalformed) {
			f.Errorf("SlugAt(%v): %v", p, err)
		}
	}
}

// counted: the greatest position and the greatest time of what counts, in a log of
// more entries than any block of them.
func counted(t testing.TB, h Harness) {
	f := setup(t, h)
	log := f.past(40)
	r := f.create(calendar.KindTag, "many")
	for n := range 12 {
		f.now = log[n].Time.Add(time.Duration(n%3) * 12 * time.Hour)
		drafts := make([]eventstore.Draft, 0, 200)
		for i := range 200 {
			var d eventstore.Draft
			d, r = f.draft(r, changed(r, calendar.Fields{"slug": numbered("many", i)}))
			drafts = append(drafts, d)
		}
		f.mustWrite(f.appendOf(drafts...))
	}
	log = f.all()
	look := points(log[:40])
	for i := 45; i < len(log); i += 97 {
		look = append(look, points(log[i:i+1])...)
	}
	look = append(look, eventstore.Point{Position: log[len(log)-1].Position})
	for _, p := range look {
		var want eventstore.Counted
		for i := range log {
			if e := &log[i]; p.Counts(e) {
				if want.Position = e.Position; e.Time.After(want.Time) {
					want.Time = e.Time
				}
			}
		}
		got, err := f.store.Counted(f.ctx, p)
		if err != nil || got != want {
			f.Fatalf("Counted(%v) is %v, %v, want %v", p, got, err, want)
		}
	}
	if _, err := f.store.Counted(f.ctx, eventstore.Point{Position: f.head() + 1}); !errors.Is(err, eventstore.ErrAhead) {
		f.Errorf("above the head: %v", err)
	}
}

// slugs: the record that has a slug after what counts.
func slugs(t testing.TB, h Harness) {
	f := setup(t, h)
	log := f.past(80)
	held, set := make([]string, len(log)), make([]string, len(log)) // slugs of the states, and those that entries set
	for i := range log {
		r, err := calendar.DecodeRecord(log[i].State)
		if err != nil {
			f.Fatal(err)
		}
		if !r.Deleted {
			held[i] = r.Slug()
		}
		if slug, err := log[i].Slug(); err == nil {
			set[i] = slug
		}
	}
	for _, p := range points(log) {
		last := map[calendar.ID]int{} // entry that counts
		for i := range log {
			if p.Counts(&log[i]) {
				last[log[i].ID] = i
			}
		}
		for n := range 12 {
			slug := numbered("slug", n)
			var want calendar.ID
			var since calendar.Position // when it took the slug
			for id, at := range last {
				if held[at] != slug {
					continue
				}
				var took calendar.Position
				for i := range log[:at+1] {
					if log[i].ID == id && set[i] == slug {
						took = log[i].Position
					}
				}
				if took > since {
					want, since = id, took
				}
			}
			got, err := f.store.SlugAt(f.ctx, calendar.KindTag, slug, p)
			if err != nil || got != want {
				f.Fatalf("SlugAt(%q, %v) is %d, %v, want %d", slug, p, got, err, want)
			}
			if other, err := f.store.SlugAt(f.ctx, calendar.KindVenue, slug, p); err != nil || other != 0 {
				f.Fatalf("venue with the slug %q of a tag: %d, %v", slug, other, err)
			}
		}
	}
}

// formerSlugs: who had a slug that nobody has, the last one first.
func formerSlugs(t testing.TB, h Harness) {
	f := setup(t, h)
	want := map[string][]calendar.ID{} // by slug
	check := func(when string) {
		f.Helper()
		for slug, ids := range want {
			if got, err := f.store.Former(f.ctx, calendar.KindTag, slug); err != nil || !slices.Equal(got, ids) {
				f.Fatalf("%s: Former(%q) is %d, %v, want %d", when, slug, got, err, ids)
			}
			if got, err := f.store.Former(f.ctx, calendar.KindVenue, slug); err != nil || len(got) != 0 {
				f.Fatalf("%s: a venue had the slug %q of a tag: %d, %v", when, slug, got, err)
			}
		}
	}
	to := func(r *calendar.Record, slug string) *calendar.Record {
		return f.update(r, calendar.Fields{"slug": slug})
	}
	ids := func(list ...calendar.ID) []calendar.ID { return list }
	want["x"] = nil
	check("unknown")
	a := f.create(calendar.KindTag, "x")
	check("held")
	a = to(a, "y")
	want["x"] = ids(a.ID)
	check("renamed")
	a = to(a, "z")
	want["y"], want["z"] = ids(a.ID), nil
	check("renamed twice")
	b := f.create(calendar.KindTag, "x")
	want["x"] = nil
	check("taken over")
	d, b := f.draft(b, deleted(b))
	f.mustWrite(f.appendOf(d))
	want["x"] = ids(b.ID, a.ID)
	check("deleted")
	a = to(to(a, "y"), "z")
	check("had again")

	// Taken and given up in one Append, twice; and given by one record to another.
	drafts := make([]eventstore.Draft, 0, 4)
	var last [2]*calendar.Record
	for i := range last {
		d, r := f.draft(nil, created(calendar.KindTag, f.id(), "w"))
		drafts = append(drafts, d)
		d, last[i] = f.draft(r, changed(r, calendar.Fields{"slug": numbered("v", i)}))
		drafts = append(drafts, d)
	}
	f.mustWrite(f.appendOf(drafts...))
	want["w"], want["v-0"], want["v-1"] = ids(last[1].ID, last[0].ID), nil, nil
	d, a = f.draft(a, changed(a, calendar.Fields{"slug": "u"}))
	e, c := f.draft(nil, created(calendar.KindTag, f.id(), "z"))
	f.mustWrite(f.appendOf(d, e))
	want["u"], want["z"] = nil, nil
	check("in one append")
	c = to(c, "t")
	want["z"], want["t"] = ids(c.ID, a.ID), nil
	f.store = f.h.Reopen(f, f.store)
	check("after a restart")

	for i, next := range [][]calendar.ID{ids(a.ID), nil} { // of x: b, then a
		r := []*calendar.Record{b, a}[i]
		if res := f.store.Erase(f.ctx, f.erasure(r)); res.Err != nil {
			f.Fatalf("Erase: %+v", res)
		}
		want["x"] = next
		if i == 1 {
			want["y"], want["u"], want["z"] = nil, nil, ids(c.ID)
		}
		check("erased")
	}
	f.store = f.h.Reopen(f, f.store)
	check("erased, after a restart")
}

// checkpoints: sizes grow, notes gain lines, nothing else.
func checkpoints(t testing.TB, h Harness) {
	f := setup(t, h)
	if c, err := f.store.Checkpoint(f.ctx, 0); !errors.Is(err, eventstore.ErrNotFound) {
		f.Errorf("of none: %v, %v", c, err)
	}
	for n := range 6 {
		f.create(calendar.KindTag, numbered("t", n))
	}
	note := func(size calendar.Position, lines string) eventstore.Checkpoint {
		return eventstore.Checkpoint{Size: size, Origin: "o", Note: []byte("o\n" + numbered("n", int(size)) + "\n\n" + lines), Time: f.now, Keys: numbered("k", int(size))}
	}
	one, three, signed := note(1, "— a\n"), note(3, "— a\n"), note(3, "— a\n— w1\n")
	earlier := note(1, "— a\n— w\n")
	both := note(3, "— a\n— w0\n— w1\n")
	for _, tt := range []struct {
		name string
		c    eventstore.Checkpoint
		want error
	}{
		{"first", one, nil},
		{"larger", three, nil},
		{"again", three, nil},
		{"gains a line", signed, nil},
		{"gains a line between", both, nil},
		{"loses a line", signed, eventstore.ErrConflict},
		{"another note", note(3, "— b\n— a\n"), eventstore.ErrConflict},
		{"another origin", eventstore.Checkpoint{Size: 3, Origin: "p", Note: both.Note, Time: f.now, Keys: both.Keys}, eventstore.ErrConflict},
		{"smaller", note(2, "— a\n"), eventstore.ErrConflict},
		{"an earlier one gains a line", earlier, nil},
		{"above the head", note(7, "— a\n"), eventstore.ErrAhead},
		{"without size", note(0, "— a\n"), eventstore.ErrMalformed},
		{"without note", eventstore.Checkpoint{Size: 4, Origin: "o"}, eventstore.ErrMalformed},
		{"without origin", eventstore.Checkpoint{Size: 4, Note: one.Note}, eventstore.ErrMalformed},
	} {
		if err := f.store.PutCheckpoint(f.ctx, tt.c); !errors.Is(err, tt.want) {
			f.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	f.now = f.now.Add(time.Hour)
	six := note(6, "— a\n")
	six.Time = six.Time.Add(123_456 * time.Microsecond)
	if err := f.store.PutCheckpoint(f.ctx, six); err != nil {
		f.Fatalf("at the head: %v", err)
	}
	six.Time = six.Time.Truncate(time.Millisecond)
	f.store = f.h.Reopen(f, f.store)
	want := []eventstore.Checkpoint{earlier, both, six}
	got, err := f.store.Checkpoints(f.ctx, 0, 10)
	if err != nil {
		f.Fatalf("Checkpoints: %v", err)
	}
	f.same("checkpoints", got, want)
	middle, err := f.store.Checkpoints(f.ctx, 1, 1)
	if err != nil {
		f.Fatalf("Checkpoints: %v", err)
	}
	f.same("one after the first", middle, want[1:2])
	for size, i := range map[calendar.Position]int{0: 2, 1: 0, 3: 1, 6: 2} {
		c, err := f.store.Checkpoint(f.ctx, size)
		if err != nil {
			f.Fatalf("Checkpoint(%d): %v", size, err)
		}
		f.same("a checkpoint", c, want[i])
	}
	if c, err := f.store.Checkpoint(f.ctx, 2); !errors.Is(err, eventstore.ErrNotFound) {
		f.Errorf("of a size that was not signed: %v, %v", c, err)
	}
}
