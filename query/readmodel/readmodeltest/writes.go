package readmodeltest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

func writeCases() []testCase {
	return []testCase{
		{"updates", updates},
		{"tombstones", tombstones},
		{"old and repeated writes", oldAndRepeated},
		{"position", positions},
		{"reach", reach},
		{"content", content},
		{"wait", wait},
		{"wait ends with the context", waitEnds},
		{"quarantine", quarantine},
		{"refused documents", refused},
		{"digest", digest},
		{"reset", reset},
	}
}

func updates(t testing.TB, x readmodel.Index) {
	var b build
	first := b.add(calendar.KindEvent, 1, calendar.Fields{
		"title": in(calendar.LangEN, "Jazz night"), "status": "draft", "featured": true, "tags": []calendar.ID{30, 31}, "start_date": calendar.Wall(100),
	})
	venue := b.add(calendar.KindVenue, 2, calendar.Fields{"venue": in(calendar.LangEN, "Hall"), "geo_lat": 10.0, "geo_lng": 10.0})
	b.write(t, x)
	second := *first
	second.Version = 2
	second.Home = calendar.LangFR
	second.Fields = calendar.Fields{
		"title": in(calendar.LangFR, "Nuit du rock"), "status": "publish", "tags": []calendar.ID{31, 32}, "start_date": calendar.Wall(300),
	}
	b.record(&second)
	moved := *venue
	moved.Version = 2
	moved.Fields = calendar.Fields{"venue": in(calendar.LangEN, "Hall"), "geo_lat": -20.0, "geo_lng": 10.0}
	b.record(&moved)
	b.write(t, x)
	text := func(query string) readmodel.Filter {
		return readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch(query, calendar.LangEN)}
	}
	tag := func(id calendar.ID) readmodel.Filter {
		return readmodel.In{Field: readmodel.FieldTags, IDs: []calendar.ID{id}}
	}
	for _, f := range []readmodel.Filter{
		text("jazz"), tag(30),
		readmodel.Term{Field: readmodel.FieldStatus, Value: "draft"},
		readmodel.Term{Field: readmodel.FieldFeatured, Value: "true"},
		readmodel.Range{Field: readmodel.FieldStart, Max: new(int64(299))},
	} {
		wantIDs(t, x, calendar.KindEvent, f)
	}
	for _, f := range []readmodel.Filter{
		nil, text("rock"), text("nuits"), tag(31), tag(32),
		readmodel.Term{Field: readmodel.FieldStatus, Value: "publish"},
		readmodel.Term{Field: readmodel.FieldFeatured, Value: "false"},
		readmodel.Range{Field: readmodel.FieldStart, Min: new(int64(300))},
	} {
		wantIDs(t, x, calendar.KindEvent, f, 1)
	}
	wantIDs(t, x, calendar.KindVenue, readmodel.Near{Field: readmodel.FieldPoint, Lat: 10, Lng: 10, Km: 5})
	wantIDs(t, x, calendar.KindVenue, readmodel.Near{Field: readmodel.FieldPoint, Lat: -20, Lng: 10, Km: 5}, 2)
}

func tombstones(t testing.TB, x readmodel.Index) {
	var b build
	first := b.add(calendar.KindTag, 1, calendar.Fields{"name": in(calendar.LangEN, "Jazz"), "slug": "jazz"})
	b.add(calendar.KindTag, 2, calendar.Fields{"name": in(calendar.LangEN, "Rock"), "slug": "rock"})
	old := b.docs[0]
	b.write(t, x)
	b.delete(first)
	b.write(t, x)
	gone := func() {
		t.Helper()
		wantIDs(t, x, calendar.KindTag, nil, 2)
		wantIDs(t, x, calendar.KindTag, readmodel.Term{Field: readmodel.FieldSlug, Value: "jazz"})
		wantIDs(t, x, calendar.KindTag, readmodel.Not{Filter: readmodel.Term{Field: readmodel.FieldSlug, Value: "rock"}})
		wantIDs(t, x, calendar.KindTag, readmodel.In{Field: readmodel.FieldID, IDs: []calendar.ID{1, 2}}, 2)
		if got, err := x.Get(t.Context(), []calendar.ID{1}); err != nil || len(got) != 0 {
			t.Errorf("get of a deleted document: %v, %v", got, err)
		}
		d, err := x.Digest(t.Context())
		if want := map[calendar.Kind]int{calendar.KindTag: 1}; err != nil || !cmp.Equal(want, d.Counts) {
			t.Errorf("digest counts %v, %v; want %v", d.Counts, err, want)
		}
	}
	gone()
	// The state before must not come back.
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{old}, Mark: At(b.next)})
	gone()
	// A tombstone of something never seen holds as well.
	unknown := document(&calendar.Record{ID: 9, Kind: calendar.KindTag, Version: 2, Deleted: true, Changed: Now, Fields: calendar.Fields{}}, 90)
	late := document(&calendar.Record{ID: 9, Kind: calendar.KindTag, Version: 1, Changed: Now, Fields: calendar.Fields{"slug": "x"}}, 89)
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{unknown}, Mark: At(90)})
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{late}, Mark: At(91)})
	gone()
}

func oldAndRepeated(t testing.TB, x readmodel.Index) {
	state := func(p calendar.Position, status string) readmodel.Document {
		return document(&calendar.Record{ID: 1, Kind: calendar.KindEvent, Version: int64(p), Changed: Now, Fields: calendar.Fields{
			"title": in(calendar.LangCN, "name"), "status": status,
		}}, p)
	}
	draft, pending, published := state(3, "draft"), state(5, "pending"), state(7, "publish")
	has := func(status string) {
		t.Helper()
		wantIDs(t, x, calendar.KindEvent, readmodel.Term{Field: readmodel.FieldStatus, Value: status}, 1)
		wantIDs(t, x, calendar.KindEvent, nil, 1)
	}
	// Within one batch the order does not matter either.
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{pending, draft}, Mark: At(5)})
	has("pending")
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{draft}, Mark: At(5)})
	has("pending")
	before, err := x.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The same position is the same entry: it is not taken again.
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{state(5, "private")}, Mark: At(5)})
	has("pending")
	after, err := x.Digest(t.Context())
	if err != nil || !cmp.Equal(before, after) {
		t.Errorf("digest after writing again (%v):\n%s", err, cmp.Diff(before, after))
	}
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{draft, published, pending}, Mark: At(7)})
	has("publish")
}

func positions(t testing.TB, x readmodel.Index) {
	is := func(want calendar.Position) {
		t.Helper()
		m, err := x.Marks(t.Context())
		if err != nil || m.All != At(want) {
			t.Fatalf("mark %s, %v; want %s", m.All, err, At(want))
		}
		if err := x.Wait(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		v, err := x.Visible(t.Context())
		if err != nil || v.Mark != At(want) {
			t.Errorf("visible %s, %v; want %s", v.Mark, err, At(want))
		}
		if page := search(t, x, readmodel.Query{Kind: calendar.KindEvent}); page.Position != want {
			t.Errorf("page shows position %d, want %d", page.Position, want)
		}
	}
	is(0)
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{})
	write(t, x, readmodel.Batch{Documents: b.docs}) // 0 leaves it
	is(0)
	write(t, x, readmodel.Batch{Mark: At(12)})
	is(12)
	write(t, x, readmodel.Batch{})
	is(12)
	write(t, x, readmodel.Batch{Mark: At(11)}) // it never goes back
	is(12)
	write(t, x, readmodel.Batch{Mark: At(1 << 40)})
	is(1 << 40)
}

// The reach is kept with the documents, before any position, and never falls behind
// the position.
func reach(t testing.TB, x readmodel.Index) {
	is := func(all, reach calendar.Position) {
		t.Helper()
		got, err := x.Marks(t.Context())
		if want := (readmodel.Marks{All: At(all), Reach: At(reach)}); err != nil || got != want {
			t.Fatalf("marks %v, %v; want %v", got, err, want)
		}
	}
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{})
	write(t, x, readmodel.Batch{Documents: b.docs, Reach: At(3)})
	is(0, 3)
	write(t, x, readmodel.Batch{Mark: At(2)})
	is(2, 3)
	b.docs = nil
	b.add(calendar.KindEvent, 2, calendar.Fields{})
	write(t, x, readmodel.Batch{Documents: b.docs, Reach: At(2)}) // it never goes back
	is(2, 3)
	write(t, x, readmodel.Batch{Mark: At(5)})
	is(5, 5)
	write(t, x, readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 3, Position: 8, Reason: "x"}}, Reach: At(8)})
	is(5, 8)
}

// The content is another one when a record was healed, and only then while nothing is
// written.
func content(t testing.TB, x readmodel.Index) {
	shown := func() readmodel.Shown {
		t.Helper()
		s, err := x.Visible(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{})
	b.next++
	b.write(t, x)
	write(t, x, readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 1, Position: 2, Reason: "x"}}})
	before := shown()
	if again := shown(); again != before {
		t.Errorf("shows %v, and again %v", before, again)
	}
	healed := document(&calendar.Record{ID: 1, Kind: calendar.KindEvent, Version: 2, Home: calendar.LangEN, Changed: Now, Fields: calendar.Fields{
		"title": in(calendar.LangEN, "healed"), "status": "publish",
	}}, 2)
	write(t, x, readmodel.Batch{Documents: []readmodel.Document{healed}, Reach: At(2)})
	write(t, x, readmodel.Batch{Healed: []calendar.ID{1}})
	after := shown()
	if after.Mark != before.Mark || after.Content == before.Content {
		t.Errorf("shows %v before and %v after a record was healed", before, after)
	}
	wantIDs(t, x, calendar.KindEvent, readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch("healed", calendar.LangEN)}, 1)
}

func wait(t testing.TB, x readmodel.Index) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	type seen struct {
		err     error
		total   int
		visible calendar.Position
	}
	found := make(chan seen, 3)
	for range cap(found) {
		go func() {
			err := x.Wait(ctx, 2)
			p, searchErr := x.Search(ctx, readmodel.Query{Kind: calendar.KindEvent})
			if err == nil {
				err = searchErr
			}
			v, _ := x.Visible(ctx)
			found <- seen{err, p.Total, v.Position}
		}()
	}
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{})
	b.write(t, x)
	b.add(calendar.KindEvent, 2, calendar.Fields{})
	b.write(t, x)
	for range cap(found) {
		if s := <-found; s.err != nil || s.total != 2 || s.visible != 2 {
			t.Errorf("after the wait for position 2: %d events at %d, %v", s.total, s.visible, s.err)
		}
	}
	if err := x.Wait(ctx, 1); err != nil {
		t.Errorf("wait for a past position: %v", err)
	}
}

func waitEnds(t testing.TB, x readmodel.Index) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Wait(ctx, 5) }()
	write(t, x, readmodel.Batch{Mark: At(4)})
	select {
	case err := <-done:
		t.Errorf("wait for position 5 ended at 4: %v", err)
		done <- context.Canceled
	default:
	}
	cancel()
	wantErr(t, "wait", <-done, context.Canceled)
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	wantErr(t, "wait", x.Wait(ctx, 5), context.DeadlineExceeded)
}

func quarantine(t testing.TB, x readmodel.Index) {
	is := func(want ...readmodel.Quarantined) {
		t.Helper()
		got, err := x.Quarantined(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || len(want) > 0 && !cmp.Equal(want, got) {
			t.Errorf("quarantined are %+v, want %+v", got, want)
		}
	}
	is()
	a := readmodel.Quarantined{ID: 9, Position: 3, Reason: "unknown field \"x\""}
	b := readmodel.Quarantined{ID: 4, Position: 5, Reason: "ça va mal"}
	write(t, x, readmodel.Batch{Quarantined: []readmodel.Quarantined{a, b}, Mark: At(5)})
	is(b, a)
	write(t, x, readmodel.Batch{Healed: []calendar.ID{9, 77}, Mark: At(6)})
	is(b)
	later := readmodel.Quarantined{ID: 4, Position: 8, Reason: "again"}
	write(t, x, readmodel.Batch{Quarantined: []readmodel.Quarantined{later}, Mark: At(8)})
	is(later)
	write(t, x, readmodel.Batch{Mark: At(9)})
	is(later)
}

func refused(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{})
	b.add(calendar.KindEvent, 2, calendar.Fields{})
	good := slices.Clone(b.docs)
	docs := []readmodel.Document{good[0], {Position: 9}, {Position: 10, Record: good[0].Record}, good[1]}
	errs := writeAny(t, x, readmodel.Batch{Documents: docs, Mark: At(10)})
	for i, err := range errs {
		if i == 1 || i == 2 {
			wantErr(t, fmt.Sprintf("document %d", i), err, readmodel.ErrRefused)
		} else if err != nil {
			t.Errorf("document %d: %v", i, err)
		}
	}
	wantIDs(t, x, calendar.KindEvent, nil, 1, 2)
}

func digest(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{"status": "draft"})
	b.add(calendar.KindEvent, 2, calendar.Fields{"title": in(calendar.LangEN, "a < b & c")})
	tag := b.add(calendar.KindTag, 3, calendar.Fields{"slug": "a"})
	b.add(calendar.KindVenue, 4, calendar.Fields{})
	newer := document(&calendar.Record{ID: 1, Kind: calendar.KindEvent, Version: 2, Home: calendar.LangEN, Changed: Now, Fields: calendar.Fields{
		"title": in(calendar.LangEN, "name"), "status": "publish",
	}}, b.next+1)
	live := []readmodel.Document{newer, b.docs[1], b.docs[3]}
	b.docs = append(b.docs, newer)
	b.next++
	b.delete(tag)
	slices.Reverse(b.docs) // the order of writes does not matter
	b.write(t, x)
	want := readmodel.Digest{Counts: map[calendar.Kind]int{calendar.KindEvent: 2, calendar.KindVenue: 1}}
	for _, d := range live {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", d.Record.Kind, d.Record.ID, d.Record.Version, d.Body))
		for i := range sum {
			want.Sum[i] ^= sum[i]
		}
	}
	got, err := x.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("digest (-want +got):\n%s", diff)
	}
}

func reset(t testing.TB, x readmodel.Index) {
	var b build
	b.add(calendar.KindEvent, 1, calendar.Fields{"title": in(calendar.LangEN, "Jazz")})
	tag := b.add(calendar.KindTag, 2, calendar.Fields{"slug": "a"})
	written := slices.Clone(b.docs)
	b.delete(tag)
	b.write(t, x)
	write(t, x, readmodel.Batch{Quarantined: []readmodel.Quarantined{{ID: 7, Position: 2, Reason: "x"}}})
	if err := x.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, x, calendar.KindEvent, nil)
	if m, err := x.Marks(t.Context()); err != nil || m != (readmodel.Marks{}) {
		t.Errorf("marks %v, %v; want none", m, err)
	}
	if p, err := x.Quarantined(t.Context()); err != nil || len(p) != 0 {
		t.Errorf("quarantined are %v, %v; want none", p, err)
	}
	d, err := x.Digest(t.Context())
	if diff := cmp.Diff(readmodel.Digest{Counts: map[calendar.Kind]int{}}, d); err != nil || diff != "" {
		t.Errorf("digest (-want +got), %v:\n%s", err, diff)
	}
	// Nothing is remembered: old positions count again.
	write(t, x, readmodel.Batch{Documents: written, Mark: At(2)})
	wantIDs(t, x, calendar.KindEvent, readmodel.Text{Fields: []string{readmodel.TextName}, Search: readmodel.ParseSearch("jazz", calendar.LangEN)}, 1)
	wantIDs(t, x, calendar.KindTag, nil, 2)
}
