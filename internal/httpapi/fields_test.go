package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// fieldRow is one row of a field table of section 3, written by hand from it.
type fieldRow struct {
	kind  calendar.Kind
	field string
	good  []any // taken on create and update
	bad   []any // refused on both
	// empty is what the column "empty, null" says: "400", "clears", or "null" for
	// the rows of organizers where null counts as not sent and empty text is 400.
	empty string
	// more are further values that count as empty.
	more []any
	// pair is sent beside the field: what it cannot stand without.
	pair obj
}

func number(s string) json.Number { return json.Number(s) }

var (
	anyList    = []any{"x"}
	anyObject  = map[string]any{"x": "y"}
	noTexts    = []any{number("1"), number("1.5"), true, false, anyList, anyObject, []any{}, map[string]any{}}
	noBooleans = []any{number("2"), number("-1"), number("1.5"), "2", "maybe", "y", anyList, anyObject, []any{}}
	noDates    = []any{
		number("1904670000"), true, anyList, anyObject, "2026-02-30", "2026", "soonish", "9am", "25:00", "2026-13-01", "2026-12-01T24:00:00",
		"2026-12-01 09:30:60", "0000-01-01", "10000-01-01", "2026-12-01T9am", "next", "+5", "5 days", "13/01/2026", "2026-12-01T09:30:00+25:00",
		"1 December", "2026-1-1", "２０２６-12-01", "2026-12-01 0am", "2026-12-01 13pm", "99999999999999999999", "-1904670000", "+99999999 years",
	}
	noIntegers = []any{"x", "2.5", number("2.5"), true, false, anyList, anyObject, "1,2", "0x10", "１"}
	goodBools  = []any{true, false, number("1"), number("0"), "true", "FALSE", "1", "0", "Yes", "no", "ON", "off", " on "}
	goodDates  = []any{
		"2026-12-01", "2026-12-01 09:30", "2026-12-01 9:30", "2026-12-01T09:30:00", "2026-12-01t09:30:00z", "2026-12-01T09:30:00.75-05:00", "2026-12-01 09:30+0530",
		"1904670000", "00001", "now", "NOW", "today", "tomorrow 9am", "yesterday  23:59:59", "+5 days 11am", "-1 week", "+1 month 12 pm", "+2 years",
		"monday", "this friday 4pm", "next Wednesday 4:30pm", "last sunday", "Dec 1 2026 9am", "December 1, 2026", "1 December 2026", "1 dec 2026 17:00",
		"12/01/2026", "12/01/2026 9:05:01am", "1970-01-01 00:00:00", "0001-01-02", "9999-12-30 23:59:59", "2026-12-01 9pm", "Dec 1 ,2026",
	}
	noURLs = []any{
		"ftp://a.example", "example.org", "//a.example", "javascript:alert(1)", "http://", "https://a b.example", "http:a.example", "http:///x", "mailto:a@b.example",
		"http://a.example/<script>", "data:text/html,x", "https:// a.example", "/x", "0", "false",
	}
	goodURLs = []any{"http://a.example", "HTTPS://A.example/x?y=1#z", "https://münchen.example/straße", "http://a.example:8080/?a=1&b=2", " http://a.example ", "http://[::1]/", "https://例え.テスト/"}
)

func join(lists ...[]any) (out []any) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// fieldRows are the tables 3.1.1, 3.2.1, 3.3.1 and 3.4.1; ids are filled in by
// the test: me, other, venue, organizer, event, category, tag, image.
func fieldRows(id map[string]calendar.ID) []fieldRow {
	n := func(name string) json.Number { return number(itoa(id[name])) }
	s := func(name string) string { return itoa(id[name]) }
	unknown := number("999999999")
	const (
		event, venue, organizer = calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer
		category, tag           = calendar.KindCategory, calendar.KindTag
	)
	authors := []any{n("me"), s("me"), n("other"), s("other") + ".0", number(s("other") + "e0")}
	noAuthors := join(noIntegers, []any{unknown, number("0"), number("-1"), n("venue"), n("image"), []any{n("me")}})
	images := []any{n("image"), s("image"), "https://img.example/b.png", " https://img.example/a.jpg "}
	noImages := join(noURLs[:13], []any{unknown, "999999999", n("venue"), s("venue"), number("-1"), number("1.5"), true, anyList, anyObject, "https://img.example/" + strings.Repeat("x", 2000)})
	noImage := []any{number("0"), "0", false, "false"}
	statuses := []any{"publish", "future", "draft", "pending", "private", " draft "}
	noStatuses := join(noTexts, []any{"trash", "any", "published", "Publish", "publish,draft", "auto-draft"})
	long := func(n int) string { return strings.Repeat("é", n) }
	names := []any{"Name", "\u00a0Name\t", long(1000), "<b>Name</b>", "0.0", "-", "🎉", "&amp;", "a < b", "0 "[:1] + "0"}
	noNames := join(noTexts, []any{"0", " 0 ", "<b></b>", "<script>x</script>", long(1001), "<b>0</b>", "&#48;", "\u0000\u0007"})
	texts := []any{"x", "0", long(200000), "<p>x</p>"}
	noLongTexts := join(noTexts, []any{long(200001)})
	slugs := []any{"a slug", "0", "音乐会", long(1001), "a/b"}
	noSlugs := join(noTexts, []any{"🎉", "---", "!?", "<b></b>"})
	details := []any{"12 Quay St", "0", long(1000)}
	noDetails := join(noTexts, []any{long(1001)})
	rows := []fieldRow{
		{event, "author", authors, noAuthors, "400", nil, nil},
		{event, "date", goodDates, noDates, "400", nil, nil},
		{event, "date_utc", goodDates, noDates, "400", nil, nil},
		{event, "title", names, noNames, "400", nil, nil},
		{event, "description", texts, noLongTexts, "clears", nil, nil},
		{event, "slug", slugs, noSlugs, "clears", nil, nil},
		{event, "excerpt", texts, noLongTexts, "clears", nil, nil},
		{event, "status", statuses, noStatuses, "400", nil, nil},
		{
			event, "timezone",
			[]any{"europe/rome", "EST", "UTC", "utc", "UTC+5.5", "UTC-3", "UTC+5:45", "UTC+14", "UTC-12", "+05:30", "-12:00", " Asia/Tokyo ", "UTC+0", "UTC+05:30"},
			join(noTexts, []any{"UTC+99", "UTCfoo", "CEST", "UTC+15", "UTC-12:30", "UTC+14:15", "UTC+5.3", "+5", "Mars/Base", "Local", "localtime", "+5:30", "../etc/passwd", "UTC +5", "posixrules"}),
			"clears", nil, nil,
		},
		{event, "all_day", goodBools, noBooleans, "400", nil, nil},
		{event, "start_date", goodDates, noDates, "400", nil, obj{"end_date": "9999-12-31"}},
		{event, "end_date", goodDates, noDates, "400", nil, obj{"start_date": "0001-01-01"}},
		{event, "image", images, noImages, "clears", noImage, nil},
		{
			event, "cost",
			[]any{"10", number("10"), number("0"), number("1e3"), []any{"$5", number("10")}, "free", "-5", "10 - 20", "0", number("-0"), []any{"", "5"}, []any{nil, "5"}, "1,000.50"},
			[]any{true, false, anyObject, map[string]any{}, number("-5"), number("-0.01"), []any{true}, []any{anyObject}, []any{[]any{"5"}}, []any{"5", number("-1")}, many(1001)},
			"clears",
			[]any{[]any{}, []any{""}, []any{nil}},
			nil,
		},
		{event, "website", join(goodURLs, []any{"https://a.example/?a=1&amp;b=2"}), join(noURLs, noTexts, []any{"https://a.example/" + strings.Repeat("x", 2000)}), "clears", nil, nil},
		{event, "show_map", goodBools, noBooleans, "400", nil, nil},
		{event, "show_map_link", goodBools, noBooleans, "400", nil, nil},
		{event, "hide_from_listings", goodBools, noBooleans, "400", nil, nil},
		{event, "sticky", goodBools, noBooleans, "400", nil, nil},
		{event, "featured", goodBools, noBooleans, "400", nil, nil},
		{
			event, "categories",
			[]any{n("category"), s("category"), []any{n("category"), s("category")}, "jazz", "JAZZ", "Jazz, " + s("category"), []any{"New & old"}, []any{nil, "", "jazz"}},
			[]any{unknown, "999999999", true, false, anyObject, []any{anyObject}, []any{[]any{}}, []any{true}, n("tag"), s("tag"), number("0"), "0", number("1.5"), number("-1"), []any{"<b></b>"}, map[string]any{}, many(1001), "x" + long(1000)},
			"clears",
			[]any{[]any{}, ",", " , ", []any{""}, []any{nil}},
			nil,
		},
		{
			event, "tags",
			[]any{n("tag"), s("tag"), []any{n("tag"), s("tag")}, "open-air", "OPEN air", "Open air, " + s("tag"), []any{"New, or old"}},
			[]any{unknown, "999999999", true, false, anyObject, []any{anyObject}, []any{[]any{}}, []any{true}, n("category"), s("category"), number("0"), "0", number("1.5")},
			"clears",
			[]any{[]any{}, ",", []any{""}},
			nil,
		},
		{
			event, "venue",
			[]any{
				n("venue"), s("venue"),
				[]any{n("venue")},
				[]any{s("venue")},
				s("venue") + "," + s("venue"),
				map[string]any{"id": n("venue")},
				[]any{map[string]any{"id": s("venue"), "venue": true}},
				map[string]any{"venue": "hall"},
				[]any{map[string]any{"venue": "Fresh", "city": "Rome"}, n("venue")},
				[]any{nil, "", number("0"), map[string]any{}, n("venue")},
				map[string]any{"id": nil, "venue": "hall"},
				map[string]any{"id": number("0"), "venue": "hall"},
			},
			[]any{
				unknown, "999999999", n("organizer"), s("event"), "Hall", anyObject, true, false, number("1.5"), number("-1"),
				[]any{true},
				[]any{[]any{n("venue")}},
				map[string]any{"venue": "Bad", "website": "x"},
				map[string]any{"venue": "Bad", "geo_lat": number("5")},
				map[string]any{"venue": number("5")},
				map[string]any{"venue": "0"},
				map[string]any{"id": "x"},
				map[string]any{"id": unknown, "venue": "hall"},
				map[string]any{"venue": "Hall", "website": "x"},
				map[string]any{"venue": "Hall", "image": unknown},
				map[string]any{"venue": "Hall", "author": unknown},
				map[string]any{"venue": "Hall", "geo_lat": number("5")},
				map[string]any{"venue": "Hall", "multilang_language": "xx"},
				many(1001),
			},
			"clears",
			[]any{[]any{}, map[string]any{}, number("0"), "0", []any{number("0")}, ","},
			nil,
		},
		{
			event, "organizer",
			[]any{n("organizer"), s("organizer"), []any{n("organizer")}, map[string]any{"id": n("organizer")}, map[string]any{"organizer": "TRUST"}, []any{map[string]any{"organizer": "Fresh", "email": "a@b.example"}, n("organizer")}},
			[]any{unknown, n("venue"), "Trust", anyObject, true, false, map[string]any{"organizer": "Bad", "email": "x"}, map[string]any{"venue": "hall"}},
			"clears",
			[]any{[]any{}, map[string]any{}, number("0"), "0"},
			nil,
		},
		{event, "multilang_language", []any{"cn", "en", "fr", "es"}, join(noTexts, []any{"zh", "EN", "en-US", "en,fr", "zh-Hans"}), "400", nil, nil},
		{event, "ticketed", goodBools, noBooleans, "400", nil, nil},
		{event, "post_parent", []any{n("event"), s("event"), s("event") + ".0"}, join(noIntegers, []any{unknown, n("venue"), number("-1")}), "clears", []any{number("0"), "0"}, nil},

		{venue, "author", authors, noAuthors, "400", nil, nil},
		{venue, "date", goodDates, noDates, "400", nil, nil},
		{venue, "date_utc", goodDates, noDates, "400", nil, nil},
		{venue, "venue", names, noNames, "400", nil, nil},
		{venue, "description", texts, noLongTexts, "clears", nil, nil},
		{venue, "status", statuses, noStatuses, "400", nil, nil},
		{venue, "show_map", goodBools, noBooleans, "clears", nil, nil},
		{venue, "show_map_link", goodBools, noBooleans, "clears", nil, nil},
		{venue, "website", goodURLs, join(noURLs, noTexts), "clears", nil, nil},
		{venue, "image", images, noImages, "clears", noImage, nil},
		{venue, "multilang_language", []any{"cn", "en", "fr", "es"}, join(noTexts, []any{"zh"}), "400", nil, nil},
		{venue, "excerpt", texts, noLongTexts, "clears", nil, nil},
		{venue, "slug", slugs, noSlugs, "clears", nil, nil},
		{venue, "geo_lat", []any{number("90"), "-90", number("1e1"), "0", number("0"), "12.5"}, []any{number("90.1"), "-91", "x", "1e1", true, anyList, anyObject, "1,5", "NaN", "Inf", number("1e999"), "0x1p-2"}, "clears", nil, obj{"geo_lng": 5}},
		{venue, "geo_lng", []any{number("180"), "-180.0", "+5", ".5"}, []any{number("180.1"), "-181", "x", true}, "clears", nil, obj{"geo_lat": 5}},

		{organizer, "author", authors, noAuthors, "null", nil, nil},
		{organizer, "date", goodDates, noDates, "null", nil, nil},
		{organizer, "date_utc", goodDates, noDates, "null", nil, nil},
		{organizer, "organizer", names, noNames, "400", nil, nil},
		{organizer, "description", texts, noLongTexts, "clears", nil, nil},
		{organizer, "status", statuses, noStatuses, "null", nil, nil},
		{organizer, "phone", details, noDetails, "clears", nil, nil},
		{organizer, "website", goodURLs, join(noURLs, noTexts), "clears", nil, nil},
		{
			organizer, "email",
			[]any{"a@b.example", "a.b+c@sub.b.example", "info@münchen.example", strings.Repeat("a", 246) + "@b.examp"},
			join(noTexts, []any{"a", "a@b", "@b.example", "a@", "a@@b.example", "a@b@c.example", "a b@c.example", `"a b"@c.example`, "a@b.example (x)", "a@.example", "a@b..example", "<a@b.example>", "a@b.example,c@d.example", strings.Repeat("a", 247) + "@b.examp"}),
			"clears", nil, nil,
		},
		{organizer, "image", images, noImages, "clears", noImage, nil},
		{organizer, "multilang_language", []any{"cn", "en", "fr", "es"}, join(noTexts, []any{"zh"}), "400", nil, nil},
		{organizer, "excerpt", texts, noLongTexts, "clears", nil, nil},
		{organizer, "slug", slugs, noSlugs, "clears", nil, nil},
	}
	for _, name := range []string{"address", "city", "country", "province", "state", "zip", "phone", "stateprovince"} {
		rows = append(rows, fieldRow{venue, name, details, noDetails, "clears", nil, nil})
	}
	for _, k := range []calendar.Kind{category, tag} {
		rows = append(rows,
			fieldRow{k, "name", names, noNames, "400", nil, nil},
			fieldRow{k, "description", texts, noLongTexts, "clears", nil, nil},
			fieldRow{k, "slug", slugs, noSlugs, "clears", nil, nil},
			fieldRow{k, "multilang_language", []any{"cn", "en", "fr", "es"}, join(noTexts, []any{"zh"}), "400", nil, nil},
		)
	}
	return append(rows, fieldRow{
		category, "parent",
		[]any{n("category"), s("category")},
		join(noIntegers, []any{unknown, n("tag"), number("-1")}),
		"clears",
		[]any{number("0"), "0", "0.0"},
		nil,
	})
}

// many is a list of more links or costs than one field takes.
func many(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = number(fmt.Sprint(i + 1))
	}
	return out
}

// TestFieldTables: every row of the field tables, on create and update.
func TestFieldTables(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{Unchecked: true})
	editor, other := w.As(calendar.Editor), w.AsOther(calendar.Editor)
	id := map[string]calendar.ID{"me": editor.User, "other": other.User}
	made := editor.Event("Concert", obj{"image": "https://img.example/a.jpg"})
	id["event"], id["image"] = made.ID(), calendar.ID(made.Int("image.id"))
	for k, name := range map[calendar.Kind]string{calendar.KindVenue: "Hall", calendar.KindOrganizer: "Trust", calendar.KindCategory: "Jazz", calendar.KindTag: "Open air"} {
		id[k.String()] = editor.Create(k, obj{k.NameField(): name}).ID()
	}
	rows := fieldRows(id)

	covered := map[calendar.Kind]map[string]bool{}
	count := 0
	base := func(k calendar.Kind, r *fieldRow) obj {
		count++
		out := obj{k.NameField(): fmt.Sprint(k, " number ", count)}
		if k == calendar.KindEvent {
			out["start_date"], out["end_date"] = "2026-06-01 10:00", "2026-06-01 12:00"
		}
		maps.Copy(out, r.pair)
		return out
	}
	with := func(o obj, field string, v any) obj {
		out := obj{field: v}
		for name, other := range o {
			if name != field {
				out[name] = other
			}
		}
		return out
	}
	for i := range rows {
		r := &rows[i]
		k, collection := r.kind, "/"+r.kind.Collection()
		f := calendar.SpecOf(k).Field(r.field)
		if covered[k] == nil {
			covered[k] = map[string]bool{}
		}
		covered[k][r.field] = true
		fresh := base(k, r)
		if r.empty == "clears" { // coordinates go together
			for name := range r.pair {
				delete(fresh, name)
			}
		}
		delete(fresh, r.field)
		if f.Required {
			fresh[r.field] = base(k, r)[r.field]
		}
		there := editor.Post(collection, fresh).Want(http.StatusCreated)
		path := there.Path(k)
		name := func(what string, v any) string {
			s := fmt.Sprintf("%s %s %s %#v", k, r.field, what, v)
			return s[:min(len(s), 200)]
		}
		for _, v := range r.good {
			if got := editor.Post(collection, with(base(k, r), r.field, v)); !taken(got) {
				t.Errorf("%s: %d %s", name("create", v), got.Status, got.Body)
			}
			if got := editor.Patch(path, with(r.pair, r.field, v)); got.Status != http.StatusOK {
				t.Errorf("%s: %d %s", name("update", v), got.Status, got.Body)
			}
			if s, ok := v.(string); ok && len(s) < 1000 {
				sameFromAll(t, editor, name("", v), collection, r.field, s, func() obj {
					rest := base(k, r)
					delete(rest, r.field)
					return rest
				})
			}
		}
		head := w.Head()
		refused := func(what string, v any, got *world.Response) {
			t.Helper()
			params, _ := got.Lookup("data.params")
			named, _ := params.(map[string]any)
			if got.Status != http.StatusBadRequest || got.String("code") != "rest_invalid_param" || len(named) != 1 || named[r.field] == nil {
				t.Errorf("%s: %d %s", name(what, v), got.Status, got.Body)
			}
		}
		for _, v := range r.bad {
			refused("create", v, editor.Post(collection, with(base(k, r), r.field, v)))
			refused("update", v, editor.Patch(path, with(r.pair, r.field, v)))
		}
		if w.Head() != head {
			t.Errorf("%s %s: a refused write left something", k, r.field)
		}

		empties := append([]any{nil, "", " \u00a0\t"}, r.more...)
		for _, v := range empties {
			body := with(base(k, r), r.field, v)
			set := with(r.pair, r.field, v)
			if r.empty == "clears" {
				for name := range r.pair {
					set[name], body[name] = v, v
				}
			}
			created := editor.Post(collection, body)
			updated := editor.Patch(path, set)
			switch {
			case v == nil && f.Required:
				if created.Status != http.StatusBadRequest || created.String("code") != "rest_missing_callback_param" {
					t.Errorf("%s: %d %s", name("create", v), created.Status, created.Body)
				}
				refused("update", v, updated)
			case r.empty == "400", r.empty == "null" && v != nil:
				refused("create", v, created)
				refused("update", v, updated)
			default:
				if created.Status != http.StatusCreated || updated.Status != http.StatusOK {
					t.Errorf("%s: create %d, update %d\n%s\n%s", name("", v), created.Status, updated.Status, created.Body, updated.Body)
				} else if r.empty == "clears" {
					want := there.JSON().(map[string]any)
					for _, got := range []*world.Response{created, updated} {
						if a, b := shown(got.JSON(), r.field), shown(want, r.field); !reflect.DeepEqual(a, b) {
							t.Errorf("%s: %s shows %v, want %v", name("", v), got.Request, a, b)
						}
					}
				}
			}
		}
	}
	for _, k := range calendar.Kinds {
		for _, f := range calendar.SpecOf(k).Fields {
			if f.Form != calendar.FormNone && !covered[k][f.Name] && f.Name != "password" {
				t.Errorf("no row for %s %s", k, f.Name)
			}
		}
	}
}

// sameFromAll sends one text in all forms of a body and in the query, and wants
// the same record of each.
func sameFromAll(t *testing.T, c *world.Client, name, collection, field, text string, rest func() obj) {
	t.Helper()
	form := func(more obj) url.Values {
		out := url.Values{}
		for n, v := range more {
			out.Set(n, fmt.Sprint(v))
		}
		out.Set(field, text)
		return out
	}
	multi := func(more obj) string {
		var b strings.Builder
		for n, v := range form(more) {
			fmt.Fprintf(&b, "--x0x\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", n, v[0])
		}
		return b.String() + "--x0x--\r\n"
	}
	body := rest()
	body[field] = text
	answers := []*world.Response{
		c.Post(collection, body),
		c.Post(collection+"?"+form(nil).Encode(), rest()),
		c.Post(collection, form(rest())),
		c.With("Content-Type", "multipart/form-data; boundary=x0x").Post(collection, multi(rest())),
		c.Post(collection+"?"+form(rest()).Encode(), nil),
	}
	for _, got := range answers {
		switch {
		case !taken(got):
			t.Errorf("%s by %s: %d %s", name, got.Request, got.Status, got.Body)
		case got.Status != http.StatusCreated || field == "slug": // numbered
		case !reflect.DeepEqual(shown(got.JSON(), field), shown(answers[0].JSON(), field)):
			t.Errorf("%s by %s shows %v, as JSON %v", name, got.Request, shown(got.JSON(), field), shown(answers[0].JSON(), field))
		}
	}
}

// taken tells whether a create passed the checks of its fields: the name of a
// term that exists is looked for after them.
func taken(got *world.Response) bool {
	return got.Status == http.StatusCreated || got.Has("data.term_id")
}

// shown is what an answer shows of a field, the record's own name and address
// aside.
func shown(answer any, field string) any {
	o := answer.(map[string]any)
	switch field {
	case "slug":
		return o["slug"] != ""
	case "categories", "tags": // their counts grow
		var ids []any
		for _, term := range o[field].([]any) {
			ids = append(ids, term.(map[string]any)["id"])
		}
		return ids
	}
	if field == "website" && o["website"] == o["url"] {
		return "its own page"
	}
	return o[field]
}
