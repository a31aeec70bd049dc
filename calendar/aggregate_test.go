package calendar

import (
	"errors"
	"html"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plainCleaner is as much of a Cleaner as the rules need: tags go, entities are
// decoded, a few letters are transliterated.
type plainCleaner struct{}

func (plainCleaner) Name(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		open := strings.IndexByte(s, '<')
		end := strings.IndexByte(s, '>')
		if open < 0 || end < open {
			break
		}
		b.WriteString(s[:open])
		s = s[end+1:]
	}
	b.WriteString(s)
	return strings.TrimSpace(html.UnescapeString(b.String()))
}

func (c plainCleaner) HTML(s string) string { return c.Name(s) }

func (plainCleaner) ASCII(s string) string {
	s = strings.NewReplacer("é", "e", "É", "E", "ñ", "n", "音", "Yin ", "乐", "Le ", "会", "Hui ", "’", "'", "…", "...").Replace(s)
	return strings.Map(func(r rune) rune {
		if r > 127 {
			return -1
		}
		return r
	}, s)
}

var newYork = func() *time.Location {
	z, ok := ParseZone("America/New_York")
	if !ok {
		panic("no zone America/New_York")
	}
	return z.Location
}()

var (
	testRules = &Rules{Site: newYork, Clean: plainCleaner{}}
	// 09:15 in the site zone, 14:15 UTC.
	testNow = time.Date(2026, 3, 2, 14, 15, 0, 500e6, time.UTC)

	contributor = Caller{ID: self, Role: Contributor}
	author      = Caller{ID: self, Role: Author}
	editor      = Caller{ID: self, Role: Editor}
)

// fataler is a test, of the testing package or of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// situation is what a decision meets beside the record.
type situation struct {
	caller  Caller    // the zero one: editor
	now     time.Time // zero: testNow
	taken   []string
	parents []*Record
	hash    string
}

func (s situation) decision() *Decision {
	d := &Decision{Rules: testRules, Now: s.now, Caller: s.caller}
	if d.Now.IsZero() {
		d.Now = testNow
	}
	if d.Caller == (Caller{}) {
		d.Caller = editor
	}
	if s.hash != "" {
		d.Password = []byte(s.hash)
	}
	d.Taken = func(slug string) bool { return slices.Contains(s.taken, slug) }
	d.Parent = func(id ID) *Record {
		for _, p := range s.parents {
			if p.ID == id {
				return p
			}
		}
		return nil
	}
	return d
}

func date(tb fataler, s string) Date {
	tb.Helper()
	d, ok := ParseDate(s)
	if !ok {
		tb.Fatalf("%q is no date", s)
	}
	return d
}

func zone(tb fataler, s string) Zone {
	tb.Helper()
	z, ok := ParseZone(s)
	if !ok {
		tb.Fatalf("%q is no zone", s)
	}
	return z
}

func wall(tb fataler, s string) Wall {
	tb.Helper()
	w, err := ParseWall(s)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// attrs makes English attributes; dates and zones of events may be given as
// text.
func attrs(tb fataler, set map[string]any) *Attrs {
	tb.Helper()
	a := &Attrs{Lang: LangEN, Set: map[string]any{}}
	for name, v := range set {
		if s, ok := v.(string); ok {
			switch name {
			case "start_date", "end_date", "date", "date_utc":
				v = date(tb, s)
			case "timezone":
				v = zone(tb, s)
			case "status":
				v = Status(s)
			}
		}
		a.Set[name] = v
	}
	return a
}

// attrSet is short for attributes by name.
type attrSet = map[string]any

// fold applies changes, each a second after the other.
func fold(tb fataler, changes ...Change) *Record {
	tb.Helper()
	var r *Record
	for i, c := range changes {
		var err error
		if r, err = Apply(r, c, testNow.Add(time.Duration(i)*time.Second)); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}

// created makes a record of a kind, with id 100.
func created(tb fataler, k Kind, s situation, set attrSet) *Record {
	tb.Helper()
	if k == KindEvent {
		whole := attrSet{"title": "Quay concert", "start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00"}
		maps.Copy(whole, set)
		set = whole
	}
	c, err := Create(k, 100, attrs(tb, set), s.decision())
	if err != nil {
		tb.Fatal(err)
	}
	return fold(tb, c)
}

// trashed is the record in the trash.
func trashed(tb fataler, r *Record, s situation) *Record {
	tb.Helper()
	c, err := Trash(r, s.decision())
	if err != nil {
		tb.Fatal(err)
	}
	next, err := Apply(r, c, testNow)
	if err != nil {
		tb.Fatal(err)
	}
	return next
}

// updated is the record after an update.
func updated(tb fataler, r *Record, s situation, a *Attrs) *Record {
	tb.Helper()
	c, err := Update(r, a, s.decision())
	if err != nil {
		tb.Fatal(err)
	}
	next, err := Apply(r, c, testNow)
	if err != nil {
		tb.Fatal(err)
	}
	return next
}

// wantFields compares some fields as they are answered: walls as text, absent
// ones nil.
func wantFields(t *testing.T, got Fields, want map[string]any) {
	t.Helper()
	for name, w := range want {
		g := got[name]
		if v, ok := g.(Wall); ok {
			g = v.String()
		}
		if d := cmp.Diff(w, g); d != "" {
			t.Errorf("%s: got %v, want %v", name, g, w)
		}
	}
}

// wantRefused checks that an error refuses just these fields, in any order.
func wantRefused(t *testing.T, err error, want ...FieldError) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeInvalidParam {
		t.Fatalf("got %v, want refused fields", err)
	}
	byName := func(a, b FieldError) int { return strings.Compare(a.Field, b.Field) }
	got := slices.SortedFunc(slices.Values(e.Fields), byName)
	if d := cmp.Diff(slices.SortedFunc(slices.Values(want), byName), got); d != "" {
		t.Errorf("refused fields (-want +got):\n%s", d)
	}
}

func TestCreateEventFillsDefaults(t *testing.T) {
	t.Parallel()
	c, err := Create(KindEvent, 412, attrs(t, attrSet{
		"title": "Quay concert", "start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00",
	}), situation{}.decision())
	if err != nil {
		t.Fatal(err)
	}
	want := Change{Name: "event.created", Kind: KindEvent, ID: 412, Home: LangEN, Fields: Fields{
		"author": self, "status": "publish", "title": Text{LangEN: "Quay concert"}, "slug": "quay-concert",
		"date": wall(t, "2026-03-02 09:15:00"), "date_utc": wall(t, "2026-03-02 14:15:00"),
		"modified": wall(t, "2026-03-02 09:15:00"), "modified_utc": wall(t, "2026-03-02 14:15:00"),
		"timezone": "America/New_York", "all_day": false,
		"start_date": wall(t, "2026-07-04 18:30:00"), "utc_start_date": wall(t, "2026-07-04 22:30:00"),
		"end_date": wall(t, "2026-07-04 21:00:00"), "utc_end_date": wall(t, "2026-07-05 01:00:00"),
		"show_map": true, "show_map_link": true, "hide_from_listings": false, "sticky": false, "featured": false, "ticketed": false,
	}}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("change (-want +got):\n%s", d)
	}
}

// TestInitialBooleans: a row of a table is enough for a boolean of every new record.
func TestInitialBooleans(t *testing.T) {
	t.Parallel()
	for _, initial := range []bool{false, true} {
		row := Field{Name: "livestream", Stored: TypeBool, Form: FormBool, Declared: "boolean", Empty: EmptyClears, Initial: initial}
		for _, k := range []Kind{KindEvent, KindVenue, KindOrganizer, KindCategory} {
			w := &writing{kind: k, Decision: situation{}.decision(), spec: newSpec(k, append(slices.Clone(SpecOf(k).Fields), row))}
			w.next = w.defaults()
			wantFields(t, w.next, map[string]any{"livestream": initial})
			for _, v := range []any{!initial, Clear{}} {
				if err := w.take(&row, v); err != nil {
					t.Fatal(err)
				}
				want := initial
				if v != (Clear{}) {
					want = !initial
				}
				wantFields(t, w.next, map[string]any{"livestream": want})
			}
		}
	}
}

func TestCreateTakesAllFields(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{hash: "hash"}, attrSet{
		"author": ID(9), "description": "d", "excerpt": "e", "status": "private", "slug": "My Slug", "image": ResolvedImage{ID: 384, URL: "https://i.example/a.png"},
		"cost": []string{"$5", "$10"}, "website": "https://w.example", "show_map": false, "hide_from_listings": true, "featured": true,
		"categories": []ID{31}, "tags": []ID{45}, "venue": []ID{88, 89}, "organizer": []ID{90}, "ticketed": true, "post_parent": ID(50),
		"password": "open sesame", "multilang_language": LangEN,
	})
	wantFields(t, event.Fields, map[string]any{
		"author": ID(9), "description": Text{LangEN: "d"}, "excerpt": Text{LangEN: "e"}, "status": "private", "slug": "my-slug",
		"image": ID(384), "image_url": "https://i.example/a.png", "cost": []string{"$5", "$10"}, "website": "https://w.example",
		"show_map": false, "show_map_link": true, "hide_from_listings": true, "featured": true, "sticky": false, "ticketed": true,
		"categories": []ID{31}, "tags": []ID{45}, "venue": []ID{88, 89}, "organizer": []ID{90}, "post_parent": ID(50),
		"password": nil, "protected": true, "multilang_language": nil,
	})
	venue := created(t, KindVenue, situation{}, attrSet{
		"venue": "River Hall", "city": "Boston", "zip": "02110", "geo_lat": 0.0, "geo_lng": -71.05, "show_map_link": false, "website": "", "phone": Clear{},
	})
	wantFields(t, venue.Fields, map[string]any{
		"venue": Text{LangEN: "River Hall"}, "slug": "river-hall", "city": "Boston", "zip": "02110", "geo_lat": 0.0, "geo_lng": -71.05,
		"show_map": true, "show_map_link": false, "website": nil, "phone": nil, "status": "publish", "author": self,
	})
	organizer := created(t, KindOrganizer, situation{}, attrSet{"organizer": "Arts Trust", "email": "a@b.example"})
	wantFields(t, organizer.Fields, map[string]any{"organizer": Text{LangEN: "Arts Trust"}, "email": "a@b.example", "show_map": nil, "description": nil})
	tag := created(t, KindTag, situation{}, attrSet{"name": "Open air"})
	if d := cmp.Diff(Fields{"name": Text{LangEN: "Open air"}, "slug": "open-air"}, tag.Fields); d != "" {
		t.Errorf("tag (-want +got):\n%s", d)
	}
}

func TestCreateNamesMissingFields(t *testing.T) {
	t.Parallel()
	_, err := Create(KindEvent, 1, attrs(t, attrSet{"start_date": "2026-07-04"}), situation{}.decision())
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeMissingParam || !slices.Equal(e.Missing, []string{"title", "end_date"}) {
		t.Errorf("got %v, want title and end_date missing", err)
	}
}

// Checklist 1, 2: what is not sent stays, and an empty update is a change.
func TestUpdateChangesOnlyWhatIsSent(t *testing.T) {
	t.Parallel()
	before := created(t, KindEvent, situation{}, attrSet{
		"description": "d", "status": "private", "timezone": "Europe/Rome", "all_day": true, "featured": true, "show_map": false,
		"cost": []string{"5"}, "website": "https://w.example", "image": ResolvedImage{ID: 3, URL: "u"},
		"tags": []ID{45}, "venue": []ID{88}, "organizer": []ID{90},
	})
	later := situation{now: testNow.Add(time.Hour)}
	modified := Fields{"modified": wall(t, "2026-03-02 10:15:00"), "modified_utc": wall(t, "2026-03-02 15:15:00")}
	for _, tc := range []struct {
		name string
		set  attrSet
		want Fields
	}{
		{"nothing", nil, Fields{}},
		{"title", attrSet{"title": "New"}, Fields{"title": Text{LangEN: "New"}}},
		{"equal values", attrSet{
			"title": "Quay concert", "tags": []ID{45}, "cost": []string{"5"}, "featured": true, "timezone": "Europe/Rome",
			"start_date": "2026-07-04", "status": "private", "slug": "quay-concert",
		}, Fields{}},
		{"cleared", attrSet{
			"description": Clear{}, "cost": Clear{}, "website": Clear{}, "image": Clear{}, "tags": Clear{}, "venue": []ID{}, "organizer": Clear{}, "excerpt": Clear{},
		}, Fields{"description": nil, "cost": nil, "website": nil, "image": nil, "image_url": nil, "tags": nil, "venue": nil, "organizer": nil}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, err := Update(before, attrs(t, tc.set), later.decision())
			if err != nil {
				t.Fatal(err)
			}
			want := Change{Name: "event.updated", Kind: KindEvent, ID: 100, Fields: Fields{}}
			for _, f := range []Fields{modified, tc.want} {
				maps.Copy(want.Fields, f)
			}
			if d := cmp.Diff(want, c); d != "" {
				t.Errorf("change (-want +got):\n%s", d)
			}
		})
	}
	t.Run("empty update of a term", func(t *testing.T) {
		t.Parallel()
		c, err := Update(created(t, KindTag, situation{}, attrSet{"name": "Jazz"}), attrs(t, nil), later.decision())
		if d := cmp.Diff(Change{Name: "tag.updated", Kind: KindTag, ID: 100, Fields: Fields{}}, c); d != "" || err != nil {
			t.Errorf("%v, change (-want +got):\n%s", err, d)
		}
	})
}

// Checklist 57: the text of one language only; other fields are common.
func TestUpdateUnderALanguage(t *testing.T) {
	t.Parallel()
	r := created(t, KindEvent, situation{}, attrSet{"title": "Concert", "description": "d"})
	fr := attrs(t, attrSet{"title": "Concert à quai", "description": "un", "featured": true})
	fr.Lang = LangFR
	r = updated(t, r, situation{}, fr)
	wantFields(t, r.Fields, map[string]any{
		"title": Text{LangEN: "Concert", LangFR: "Concert à quai"}, "description": Text{LangEN: "d", LangFR: "un"}, "featured": true, "slug": "concert",
	})
	if r.Home != LangEN {
		t.Errorf("home language: got %s", r.Home)
	}
	removal := attrs(t, attrSet{"description": Clear{}, "slug": Clear{}})
	removal.Lang = LangFR
	r = updated(t, r, situation{}, removal)
	wantFields(t, r.Fields, map[string]any{"description": Text{LangEN: "d"}, "slug": "concert"})
	removal.Lang = LangEN
	r = updated(t, r, situation{}, removal)
	wantFields(t, r.Fields, map[string]any{"description": nil})
	if name, l := r.Name(LangES); name != "Concert" || l != LangEN {
		t.Errorf("name under es: got %q in %s", name, l)
	}
}

// Checklist 51, 52.
func TestTrashAndRestore(t *testing.T) {
	t.Parallel()
	later := situation{now: testNow.Add(time.Hour)}
	event := created(t, KindEvent, situation{}, attrSet{"status": "private"})
	c, err := Trash(event, later.decision())
	if err != nil {
		t.Fatal(err)
	}
	want := Change{Name: "event.trashed", Kind: KindEvent, ID: 100, Fields: Fields{
		"status": "trash", "former_status": "private", "slug": "quay-concert__trashed",
		"modified": wall(t, "2026-03-02 10:15:00"), "modified_utc": wall(t, "2026-03-02 15:15:00"),
	}}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("trashed (-want +got):\n%s", d)
	}
	gone := trashed(t, event, later)
	if _, err := Trash(gone, later.decision()); !cmp.Equal(err, error(Fail(CodeInTrash, KindEvent))) {
		t.Errorf("second trash: got %v", err)
	}
	for _, tc := range []struct {
		name  string
		given *Record
		set   attrSet
		s     situation
		want  map[string]any
	}{
		{"empty update", gone, nil, situation{}, map[string]any{"status": "private", "slug": "quay-concert", "former_status": nil}},
		{"status sent", gone, attrSet{"status": "draft"}, situation{}, map[string]any{"status": "draft", "slug": "quay-concert"}},
		{"slug taken meanwhile", gone, nil, situation{taken: []string{"quay-concert"}}, map[string]any{"slug": "quay-concert-2"}},
		{"slug sent", gone, attrSet{"slug": "other"}, situation{}, map[string]any{"slug": "other", "status": "private"}},
		{"slug made anew", gone, attrSet{"slug": Clear{}, "title": "Night"}, situation{}, map[string]any{"slug": "night"}},
		{
			"trashed slug was taken", trashed(t, event, situation{taken: []string{"quay-concert__trashed"}}), nil,
			situation{},
			map[string]any{"slug": "quay-concert", "former_slug": nil},
		},
		{
			"draft without a slug", trashed(t, created(t, KindEvent, situation{}, attrSet{"status": "draft"}), situation{}), nil,
			situation{},
			map[string]any{"status": "draft", "slug": nil, "date_utc": "0000-00-00 00:00:00"},
		},
		{
			"draft published by the restore", trashed(t, created(t, KindEvent, situation{}, attrSet{"status": "draft"}), situation{}),
			attrSet{"status": "publish"},
			later,
			map[string]any{"status": "publish", "slug": "quay-concert", "date_utc": "2026-03-02 15:15:00"},
		},
		{
			"scheduled and due meanwhile", trashed(t, created(t, KindVenue, situation{}, attrSet{"venue": "Hall", "date": "2026-03-02 09:45:00"}), situation{}), nil, later,
			map[string]any{"status": "publish", "slug": "hall"},
		},
		{
			"contributor asks to publish", trashed(t, created(t, KindEvent, situation{caller: contributor}, nil), situation{}),
			attrSet{"status": "publish"},
			situation{caller: contributor},
			map[string]any{"status": "pending"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, err := Update(tc.given, attrs(t, tc.set), tc.s.decision())
			if err != nil {
				t.Fatal(err)
			}
			if want := tc.given.Kind.String() + ".restored"; c.Name != want {
				t.Errorf("got change %s, want %s", c.Name, want)
			}
			r, err := Apply(tc.given, c, testNow)
			if err != nil {
				t.Fatal(err)
			}
			wantFields(t, r.Fields, tc.want)
		})
	}
	t.Run("numbered trashed slug", func(t *testing.T) {
		t.Parallel()
		r := trashed(t, event, situation{taken: []string{"quay-concert__trashed", "quay-concert-2__trashed"}})
		wantFields(t, r.Fields, map[string]any{"slug": "quay-concert-3__trashed", "former_slug": "quay-concert"})
	})
	t.Run("trash does not count within the 200 bytes", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("a", maxSlug)
		r := trashed(t, created(t, KindVenue, situation{}, attrSet{"venue": "Hall", "slug": long}), situation{})
		wantFields(t, r.Fields, map[string]any{"slug": long + "__trashed"})
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	tag := created(t, KindTag, situation{}, attrSet{"name": "Jazz"})
	c, err := Delete(tag, situation{}.decision())
	if err != nil || c.Name != "tag.deleted" {
		t.Fatalf("got %v, %v", c, err)
	}
	gone, err := Apply(tag, c, testNow)
	if err != nil {
		t.Fatal(err)
	}
	if !gone.Deleted || gone.Version != 2 || Claims(gone) != nil || Names(gone) != nil {
		t.Errorf("got %+v with claims %v and names %v", gone, Claims(gone), Names(gone))
	}
	if _, err := Delete(gone, situation{}.decision()); err == nil {
		t.Error("a tag was deleted twice")
	}
	if _, err := Update(gone, attrs(t, nil), situation{}.decision()); err == nil {
		t.Error("a deleted tag was updated")
	}
	if _, err := Apply(gone, c, testNow); err == nil {
		t.Error("a change was applied to a deleted tag")
	}
	if _, err := Delete(created(t, KindVenue, situation{}, attrSet{"venue": "Hall"}), situation{}.decision()); err == nil {
		t.Error("a venue was deleted")
	}
	if _, err := Trash(tag, situation{}.decision()); err == nil {
		t.Error("a tag was trashed")
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{}, nil)
	c, err := Update(event, attrs(t, attrSet{"password": "open sesame"}), situation{hash: "hash"}.decision())
	if err != nil || string(c.Secret) != "hash" || c.Fields["protected"] != true {
		t.Fatalf("set: got %v, %v", c, err)
	}
	if b, err := EncodeChange(c); err != nil || strings.Contains(string(b), "hash") || strings.Contains(string(b), "sesame") {
		t.Errorf("the stored change shows the secret: %s, %v", b, err)
	}
	protected := updated(t, event, situation{hash: "hash"}, attrs(t, attrSet{"password": "x"}))
	c, err = Update(protected, attrs(t, attrSet{"title": "New"}), situation{}.decision())
	if err != nil || c.Secret != nil {
		t.Errorf("not sent: got secret %q, %v", c.Secret, err)
	}
	c, err = Update(protected, attrs(t, attrSet{"password": Clear{}}), situation{}.decision())
	if err != nil || c.Secret == nil || len(c.Secret) != 0 {
		t.Errorf("cleared: got secret %v, %v", c.Secret, err)
	}
	if v, there := c.Fields["protected"]; v != nil || !there {
		t.Errorf("cleared: got fields %v", c.Fields)
	}
	if _, err := Update(event, attrs(t, attrSet{"password": "x"}), situation{}.decision()); err == nil {
		t.Error("a password without a hash was kept")
	}
}

// The reason goes with the status, and an event that takes place keeps neither.
func TestEventStatus(t *testing.T) {
	t.Parallel()
	const status, reason = "event_status", "event_status_reason"
	plain := created(t, KindEvent, situation{}, attrSet{reason: "Storm"})
	cancelled := created(t, KindEvent, situation{}, attrSet{status: "cancelled", reason: "Storm"})
	for _, tc := range []struct {
		name   string
		before *Record
		set    attrSet
		status EventStatus
		reason any
	}{
		{"a reason alone is ignored", plain, attrSet{reason: "Storm"}, EventScheduled, nil},
		{"both", plain, attrSet{status: "postponed", reason: "Storm"}, EventPostponed, "Storm"},
		{"stays", cancelled, nil, EventCancelled, "Storm"},
		{"stays with another status", cancelled, attrSet{status: "postponed"}, EventPostponed, "Storm"},
		{"reason cleared", cancelled, attrSet{reason: Clear{}}, EventCancelled, nil},
		{"goes with the status", cancelled, attrSet{status: Clear{}, reason: "Sun"}, EventScheduled, nil},
	} {
		f := updated(t, tc.before, situation{}, attrs(t, tc.set)).Fields
		wantFields(t, f, map[string]any{reason: tc.reason})
		if _, kept := f[status]; f.EventStatus() != tc.status || kept == (tc.status == EventScheduled) {
			t.Errorf("%s: got %v, want %s", tc.name, f[status], tc.status)
		}
	}
}

func TestPostParent(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{}, attrSet{"post_parent": ID(50)})
	_, err := Update(event, attrs(t, attrSet{"post_parent": event.ID}), situation{}.decision())
	wantRefused(t, err, FieldError{Field: "post_parent", Reason: ReasonSelfParent})
	for _, v := range []any{Clear{}, ID(0)} {
		wantFields(t, updated(t, event, situation{}, attrs(t, attrSet{"post_parent": v})).Fields, map[string]any{"post_parent": nil})
	}
}

func TestCoordinatesComeInPairs(t *testing.T) {
	t.Parallel()
	_, err := Create(KindVenue, 1, attrs(t, attrSet{"venue": "Hall", "geo_lat": 1.0}), situation{}.decision())
	wantRefused(t, err, FieldError{"geo_lng", ReasonPairMissing, []string{"geo_lat"}})
	venue := created(t, KindVenue, situation{}, attrSet{"venue": "Hall", "geo_lat": 1.0, "geo_lng": 2.0})
	_, err = Update(venue, attrs(t, attrSet{"geo_lat": Clear{}}), situation{}.decision())
	wantRefused(t, err, FieldError{"geo_lat", ReasonPairMissing, []string{"geo_lng"}})
	wantFields(t, updated(t, venue, situation{}, attrs(t, attrSet{"geo_lat": 5.0})).Fields, map[string]any{"geo_lat": 5.0, "geo_lng": 2.0})
	both := attrs(t, attrSet{"geo_lat": Clear{}, "geo_lng": Clear{}})
	wantFields(t, updated(t, venue, situation{}, both).Fields, map[string]any{"geo_lat": nil, "geo_lng": nil})
}

func TestCategoryParents(t *testing.T) {
	t.Parallel()
	category := func(id, parent ID, slug string) *Record {
		f := Fields{"name": Text{LangEN: slug}, "slug": slug}
		if parent != 0 {
			f["parent"] = parent
		}
		return &Record{ID: id, Kind: KindCategory, Version: 1, Home: LangEN, Fields: f}
	}
	music, jazz, bebop := category(30, 0, "music"), category(31, 30, "jazz"), category(32, 31, "bebop")
	loopA, loopB := category(40, 41, "a"), category(41, 40, "b")
	s := situation{parents: []*Record{music, jazz, bebop, loopA, loopB}}
	for _, tc := range []struct {
		name  string
		given *Record
		set   attrSet
		want  any
	}{
		{"another parent", bebop, attrSet{"parent": ID(30)}, ID(30)},
		{"not sent", jazz, nil, ID(30)},
		{"cleared", jazz, attrSet{"parent": Clear{}}, nil},
		{"zero", jazz, attrSet{"parent": ID(0)}, nil},
		{"itself", jazz, attrSet{"parent": ID(31)}, nil},
		{"its child", music, attrSet{"parent": ID(31)}, nil},
		{"its grandchild", music, attrSet{"parent": ID(32)}, nil},
		{"a loop that is stored already", music, attrSet{"parent": ID(40)}, ID(40)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wantFields(t, updated(t, tc.given, s, attrs(t, tc.set)).Fields, map[string]any{"parent": tc.want})
		})
	}
}

func TestDecisionsRefuseMistakesOfTheProgram(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{}, nil)
	for name, a := range map[string]attrSet{
		"unknown field":       {"colour": "red"},
		"field not sent":      {"utc_start_date": Wall(0)},
		"raw date":            {"all_day": "2026"},
		"unresolved links":    {"venue": []Link{{ID: 5}}},
		"unresolved image":    {"image": ImageRef{ID: 5}},
		"cleared title":       {"title": Clear{}},
		"cleared flag":        {"featured": Clear{}},
		"number as a website": {"website": 5},
	} {
		if c, err := Update(event, attrs(t, a), situation{}.decision()); err == nil {
			t.Errorf("%s: got %v, want an error", name, c)
		} else if _, ok := errors.AsType[*Error](err); ok {
			t.Errorf("%s: got %v, which a client may read", name, err)
		}
	}
	if _, err := Create(KindImage, 1, attrs(t, nil), situation{}.decision()); err == nil {
		t.Error("an image was made from attributes")
	}
}

func TestImageExtension(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"https://i.example/quay.jpg":      "jpg",
		"https://i.example/a.b/QUAY.JPeG": "jpeg",
		"https://i.example/quay.jpg?x=.z": "jpg",
		"https://i.example/quay":          "",
		"https://i.example/quay.":         "",
		"https://i.example/a.b/":          "",
		"https://i.example":               "",
		"https://i.example/x.j-pg":        "",
		"https://i.example/x.mp3":         "mp3",
		"::":                              "",
	} {
		if got := ImageExtension(link); got != want {
			t.Errorf("%s: got %q, want %q", link, got, want)
		}
	}
}
