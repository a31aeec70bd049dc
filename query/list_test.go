package query

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

type listCase struct {
	name string
	who  calendar.Caller
	sent string
	want []calendar.ID
}

func runLists(t *testing.T, k calendar.Kind, cases []listCase) {
	t.Helper()
	runListsOf(t, world(t), k, cases)
}

func runListsOf(t *testing.T, records []*calendar.Record, k calendar.Kind, cases []listCase) {
	t.Helper()
	byMatch, store, _, now := setup(t, records)
	inMemory, err := New(memoryIndex(t, records), store, Options{Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, s := range map[string]*Service{"match": byMatch, "memory": inMemory} {
				in := input(tt.sent)
				if _, ok := in["per_page"]; !ok {
					in["per_page"] = "50"
				}
				l, _, err := list(t, s, k, tt.who, in)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(ids(tt.want...), idsOf(l)); d != "" {
					t.Errorf("%s: %s (-want +got):\n%s", name, tt.sent, d)
				}
				if l.Total != len(tt.want) {
					t.Errorf("%s: total: got %d, want %d", name, l.Total, len(tt.want))
				}
			}
		})
	}
}

// allTime is a window that holds every event.
const allTime = "starts_after=2000-01-01&"

func TestEvents(t *testing.T) {
	t.Parallel()
	runLists(t, calendar.KindEvent, []listCase{
		{"default, anonymous", anonymous, "", ids(100, 101, 106, 107, 113)},
		{"subscribers see no more", subscriber, "", ids(100, 101, 106, 107, 113)},
		{"a contributor sees own ones", contributor, "", ids(100, 101, 103, 106, 107, 108, 113, 114)},
		{"an author sees own ones", author, "", ids(100, 101, 104, 106, 107, 112, 113)},
		{"an editor sees all", editor, "", ids(100, 101, 103, 104, 106, 107, 108, 112, 113, 114)},
		{"so does an auditor", auditor, "", ids(100, 101, 103, 104, 106, 107, 108, 112, 113, 114)},

		{"running or coming", anonymous, "ends_after=now&strict_dates=true", ids(110, 100, 101, 106, 107, 113, 111)},
		{"a past end_date alone finds nothing", anonymous, "end_date=2029-12-31", nil},
		{"all", anonymous, "starts_after=1999-01-01", ids(109, 110, 100, 101, 106, 107, 113, 111)},

		{"include: past and far ones, by publication", anonymous, "include=111,109,100", ids(100, 109, 111)},
		{"include: no hidden, trashed, unreadable or unknown ones", anonymous, "include=102,103,105,100,999", ids(100)},
		{"include: nothing hidden for an editor either", editor, "include=102,105,103", ids(103)},
		{"include with another filter", anonymous, "include=109,100&ticketed=true", ids(109)},

		{"status publish", anonymous, allTime + "status=publish", ids(109, 110, 100, 101, 106, 107, 113, 111)},
		{"status draft, own", contributor, "status=draft", ids(103)},
		{"status draft, all", editor, "status=draft", ids(103, 104)},
		{"status draft and pending", auditor, "status=draft,pending", ids(103, 104, 114)},
		{"status publish and draft, own drafts only", contributor, "status=publish,draft", ids(100, 101, 103, 106, 107, 113)},
		{"status future is what is still to come", editor, "status=future", ids(108)},
		{"status future, own", author, "status=future", nil},
		{"status private, own", author, "status=private", ids(112)},
		{"status trash, own", contributor, "status=trash", ids(105)},
		{"status trash, of others", author, "status=trash", nil},
		{"status trash, all", editor, "status=trash", ids(105)},

		{"category by id, with descendants", anonymous, allTime + "categories=30", ids(110, 100, 101)},
		{"category by slug, case aside", anonymous, allTime + "categories=JAZZ", ids(110, 100)},
		{"category by name", anonymous, allTime + "categories=bebop", ids(110)},
		{"any of several categories", anonymous, allTime + "categories=bebop,33", ids(110, 100)},
		{"blanked events are left out of a category filter", anonymous, "categories=folk", ids(100)},
		{"not for their author", author, "categories=folk", ids(100, 104, 106)},
		{"nor for editors", editor, "categories=folk", ids(100, 104, 106)},
		{"any of several tags", anonymous, "tags=open-air, Estrade", ids(100, 107)},
		{"tag by id, then slug, then name", anonymous, "tags=40", ids(100, 107)},
		{"tags leave blanked ones out", anonymous, "tags=ete", ids(100)},
		{"tags for their author", author, "tags=ete", ids(100, 106)},

		{"venue", anonymous, allTime + "venue=50,53", ids(109, 100)},
		{"an unreadable venue finds nothing", anonymous, "venue=51", nil},
		{"a readable one does", author, "venue=51", ids(100, 101)},
		{"a trashed venue finds nothing, for its author too", contributor, "venue=52", nil},
		{"a trashed venue finds nothing for an editor", editor, "venue=52", nil},
		{"organizer", anonymous, allTime + "organizer=60", ids(110, 100)},
		{"a trashed organizer finds nothing", editor, "organizer=61", nil},
		{"venue leaves blanked ones out", anonymous, "venue=54", nil},
		{"venue for those who need no password", author, "venue=54", ids(106)},

		{"featured", anonymous, "featured=true", ids(101)},
		{"featured, editor", editor, "featured=yes", ids(101, 106)},
		{"not featured", anonymous, "featured=false", ids(100, 107, 113)},
		{"ticketed", anonymous, allTime + "ticketed=1", ids(109)},
		{"not ticketed", editor, "ticketed=off&status=publish", ids(100, 101, 107, 113)},
		{"children", anonymous, "post_parent=100", ids(113)},
		{"children, blanked ones for their author", author, "post_parent=100", ids(106, 113)},
		{"children of a draft", anonymous, "post_parent=103", nil},

		{"search in the title", anonymous, "search=concert", ids(100, 107)},
		{"search finds beginnings", anonymous, "search=conc", ids(100, 107)},
		{"search across fields", anonymous, "search=quay chair", ids(100)},
		{"search without a hit", anonymous, "search=nowhere", nil},
		{"search without a word", anonymous, "search=...", nil},
		{"a blanked event is searched by its title", anonymous, "search=secret", ids(106)},
		{"and not by its description", anonymous, "search=phrase", nil},
		{"but for its author", author, "search=phrase", ids(106)},
		{"and for editors", editor, "search=phrase", ids(106)},
		{"not for other authors", contributor, "search=phrase", nil},
		{"a word left out", anonymous, "search=concert -quay", ids(107)},
		{"left out by a text that is not seen", anonymous, "search=secret -phrase", ids(106)},
		{"left out by a text that is seen", author, "search=secret -phrase", nil},

		{"geoloc", anonymous, allTime + "geoloc=true", ids(110, 100)},
		{"geoloc, all venues seen", editor, allTime + "geoloc=true", ids(110, 100, 101, 106)},
		{"geoloc false", anonymous, allTime + "geoloc=false", ids(109, 101, 107, 113, 111)},
		{"near Boston", anonymous, "geoloc_lat=42.35&geoloc_lng=-71.05", ids(100)},
		{"near Boston, private venue seen", author, "geoloc_lat=42.35&geoloc_lng=-71.05", ids(100, 101)},
		{"near, with geoloc true", anonymous, "geoloc=true&geoloc_lat=42.35&geoloc_lng=-71.05", ids(100)},
		{"near, small radius", anonymous, "geoloc_lat=42&geoloc_lng=-71&geoloc_radius=10", nil},
		{"near, wide radius", anonymous, allTime + "geoloc_lat=42&geoloc_lng=-71&geoloc_radius=500", ids(110, 100)},
		{"a radius alone has no effect", anonymous, "geoloc_radius=10", ids(100, 101, 106, 107, 113)},

		{"all filters together", author, "categories=music&tags=open-air&venue=50&organizer=60&featured=false&search=quay&geoloc=true", ids(100)},
	})
}

func TestVenuesAndOrganizers(t *testing.T) {
	t.Parallel()
	t.Run("venues", func(t *testing.T) {
		t.Parallel()
		runLists(t, calendar.KindVenue, []listCase{
			{"newest first", anonymous, "", ids(54, 53, 50)},
			{"own private one", author, "", ids(54, 53, 51, 50)},
			{"editor", editor, "", ids(54, 53, 51, 50)},
			{"trash, own", contributor, "status=trash", ids(52)},
			{"trash, others", author, "status=trash", nil},
			{"search in a detail", anonymous, "search=boston", ids(50)},
			{"of an event", anonymous, "event=100", ids(50)},
			{"of an event, as far as seen", author, "event=100", ids(51, 50)},
			{"of a hidden event", anonymous, "event=102", ids(53)},
			{"of an event without venues", anonymous, "event=107", nil},
			{"of a trashed event, by those who may list it", contributor, "event=105", nil},
			{"with events", anonymous, "has_events=true", ids(54, 53, 50)},
			{"with events, all seen", editor, "has_events=1", ids(54, 53, 51, 50)},
			{"without events", editor, "has_events=false", nil},
			{"without events, in the trash", editor, "has_events=false&status=trash", nil},
			{"upcoming, running included", anonymous, "only_with_upcoming=true", ids(54, 50)},
			{"upcoming false is no filter", anonymous, "only_with_upcoming=false", ids(54, 53, 50)},
		})
	})
	t.Run("organizers", func(t *testing.T) {
		t.Parallel()
		runLists(t, calendar.KindOrganizer, []listCase{
			{"newest first", anonymous, "", ids(63, 60)},
			{"with events", anonymous, "has_events=true", ids(60)},
			{"without events", anonymous, "has_events=false", ids(63)},
			{"upcoming", author, "only_with_upcoming=yes", ids(62, 60)},
			{"search in the e-mail", anonymous, "search=hello", ids(60)},
			{"of an event", auditor, "event=100", ids(62, 60)},
			{"status", editor, "status=private,trash", ids(62, 61)},
		})
	})
}

func TestTerms(t *testing.T) {
	t.Parallel()
	t.Run("categories", func(t *testing.T) {
		t.Parallel()
		runLists(t, calendar.KindCategory, []listCase{
			// 34 is carried by a hidden event only, 33 by a listed and a protected one.
			{"by name, empty ones hidden", anonymous, "", ids(32, 33, 31, 30)},
			{"with empty ones, accents aside", anonymous, "hide_empty=false", ids(32, 34, 33, 31, 30)},
			{"order of another language", anonymous, "multilang_language=fr", ids(32, 33, 31, 30)},
			{"descending", anonymous, "order=DESC", ids(30, 31, 33, 32)},
			{"asc in any case", anonymous, "order=ASC", ids(32, 33, 31, 30)},
			{"any other order is descending", anonymous, "order=up", ids(30, 31, 33, 32)},
			{"by id", anonymous, "orderby=id", ids(30, 31, 32, 33)},
			{"by id, descending", anonymous, "orderby=id&order=desc", ids(33, 32, 31, 30)},
			{"none", anonymous, "orderby=none", ids(30, 31, 32, 33)},
			{"by slug", anonymous, "orderby=slug&hide_empty=0", ids(32, 34, 33, 31, 30)},
			{"by description, empty ones first", anonymous, "orderby=description&hide_empty=0", ids(30, 31, 32, 34, 33)},
			{"by description, descending", anonymous, "orderby=description&hide_empty=0&order=desc", ids(33, 34, 30, 31, 32)},
			{"by count, then id", anonymous, "orderby=count&hide_empty=0", ids(34, 30, 31, 32, 33)},
			{"by count, descending, then id", anonymous, "orderby=count&hide_empty=0&order=desc", ids(30, 31, 32, 33, 34)},
			{"unknown orderby", anonymous, "orderby=foo", ids(32, 33, 31, 30)},
			{"include without a list", anonymous, "orderby=include", ids(32, 33, 31, 30)},
			{"order of the include list", anonymous, "orderby=include&include=33,bebop,30", ids(33, 32, 30)},
			{"order of the include list, descending", anonymous, "orderby=include&include=33,bebop,30&order=desc", ids(30, 32, 33)},
			{"include", anonymous, "include=30,folk", ids(33, 30)},
			{"include and hide_empty", anonymous, "include=30,eclair", ids(30)},
			{"exclude", anonymous, "exclude=30,folk", ids(32, 31)},
			{"parent", anonymous, "parent=30", ids(31)},
			{"slug", anonymous, "slug=Jazz", ids(31)},
			{"a comma in slug is not split", anonymous, "slug=jazz,folk", nil},
			{"search in the name", anonymous, "search=OL", ids(33)},
			{"search in the slug", anonymous, "search=ecla&hide_empty=false", ids(34)},
			{"search as a whole", anonymous, "search=jazz folk", nil},
			{"search not in descriptions", anonymous, "search=songs", nil},
			{"of an event", anonymous, "post=100", ids(33, 31)},
			{"of a hidden event, empty ones too", anonymous, "event=102", ids(34)},
			{"event wins over post", anonymous, "post=100&event=110", ids(32)},
			{"of an event and a parent", anonymous, "post=100&parent=30", ids(31)},
		})
	})
	t.Run("tags", func(t *testing.T) {
		t.Parallel()
		runLists(t, calendar.KindTag, []listCase{
			{"by name without case and accents", anonymous, "", ids(42, 41, 40)},
			{"with empty ones", anonymous, "hide_empty=no", ids(43, 42, 41, 44, 40)},
			{"digits are an id, else a slug", anonymous, "include=77&hide_empty=no", ids(43)},
			{"parent is unknown", anonymous, "parent=77", ids(42, 41, 40)},
			{"the same for an editor", editor, "", ids(42, 41, 40)},
		})
	})
}

// Lists of categories without empty ones hold whole branches (interface 4.11), and what is
// linked from protected events alone counts as empty (6.3).
func TestWholeBranches(t *testing.T) {
	t.Parallel()
	on := func(id calendar.ID, f fields) *calendar.Record {
		return event(t, id, "Concert", "2030-05-10 09:00:00", "2030-05-10 10:00:00", f)
	}
	records := []*calendar.Record{
		record(t, calendar.KindCategory, 30, "Arts", nil),
		record(t, calendar.KindCategory, 31, "Music", fields{"parent": calendar.ID(30)}),
		record(t, calendar.KindCategory, 32, "Jazz", fields{"parent": calendar.ID(31)}),
		record(t, calendar.KindCategory, 33, "Rock", fields{"parent": calendar.ID(31)}),
		record(t, calendar.KindCategory, 34, "Private", nil),
		record(t, calendar.KindCategory, 35, "Dinners", fields{"parent": calendar.ID(34)}),
		record(t, calendar.KindTag, 40, "Open", nil),
		record(t, calendar.KindTag, 41, "Secret", nil),
		record(t, calendar.KindVenue, 50, "Hall", nil),
		record(t, calendar.KindVenue, 51, "Cellar", nil),
		on(100, fields{"categories": ids(32), "tags": ids(40), "venue": ids(50)}),
		on(101, fields{"categories": ids(35, 33), "tags": ids(41), "venue": ids(51), "protected": true, "author": calendar.ID(8)}),
	}
	runListsOf(t, records, calendar.KindCategory, []listCase{
		{"default", anonymous, "", ids(30, 32, 31)},
		{"the same for those who need no password", editor, "", ids(30, 32, 31)},
		{"below a grandparent", anonymous, "parent=30", ids(31)},
		{"below a parent", anonymous, "parent=31", ids(32)},
		{"of the whole", anonymous, "hide_empty=false", ids(30, 35, 32, 31, 34, 33)},
		{"by count", anonymous, "orderby=count", ids(30, 31, 32)},
		{"exclude leaves out just these", anonymous, "exclude=32", ids(30, 31)},
	})
	runListsOf(t, records, calendar.KindTag, []listCase{{"tags", editor, "", ids(40)}})
	for _, who := range []calendar.Caller{anonymous, author, editor} {
		runListsOf(t, records, calendar.KindVenue, []listCase{
			{who.Role.String() + " with events", who, "has_events=true", ids(50)},
			{who.Role.String() + " without events", who, "has_events=false", ids(51)},
			{who.Role.String() + " with coming ones", who, "only_with_upcoming=true", ids(50)},
		})
	}
}

func TestFrenchNamesOrderAndSearch(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, world(t))
	l, c, err := list(t, s, calendar.KindCategory, anonymous, calendar.Input{
		"multilang_language": "fr", "search": "le j", "categories": "unknown parameter",
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(ids(31), idsOf(l)); d != "" || c.Lang != calendar.LangFR {
		t.Errorf("language %s, %s", c.Lang, d)
	}
}

// A name with a comma is found by an array, comma text is split.
func TestNamesInArrays(t *testing.T) {
	t.Parallel()
	records := append(world(t), event(t, 120, "Both", "2030-05-22 09:00:00", "2030-05-22 10:00:00", fields{"tags": ids(44, 43)}))
	s, _, _, _ := setup(t, records)
	for _, tt := range []struct {
		tags any
		want []calendar.ID
	}{
		{[]any{"jazz, FOLK", "ete"}, ids(100, 120)},
		{[]any{"77"}, ids(120)}, // no id, a slug
		{[]any{"99"}, ids(120)}, // no id, no slug, a name
		{"43", ids(120)},
	} {
		l, _, err := list(t, s, calendar.KindEvent, anonymous, calendar.Input{"tags": tt.tags})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, idsOf(l)); d != "" {
			t.Errorf("%v: %s", tt.tags, d)
		}
	}
}
