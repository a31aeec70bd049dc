package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/formats"
	"daybook/query"
)

// TestParagraphs: what is a block ends paragraphs, in other spellings than those of e2e.
func TestParagraphs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"One\r\nTwo\r\n \r\nThree":  "<p>One<br />\nTwo</p>\n<p>Three</p>",
		"One<br />\nTwo":            "<p>One<br />\nTwo</p>",
		"a <DIV>b</DIV>\nc":         "a <DIV>b</DIV>\nc",
		"x<hr />y\nz":               "x<hr />y\nz",
		"a < p > b":                 "<p>a < p > b</p>",
		"<h3 lang=\"fr\">x</h3>\ny": "<h3 lang=\"fr\">x</h3>\ny",
		"<pre>x\n\ny</pre>":         "<pre>x\n\ny</pre>",
		"<h7>x</h7>":                "<p><h7>x</h7></p>",
		"<param>":                   "<p><param></p>",
		"a</blockquote>":            "a</blockquote>",
		"1 < 2\n3":                  "<p>1 < 2<br />\n3</p>",

		"<a title=\"x\ny\n\nz\">l</a>\nm": "<p><a title=\"x\ny\n\nz\">l</a><br />\nm</p>",
	} {
		if got := strings.Join(slices.Collect(paragraphs(in)), ""); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestKeepFields(t *testing.T) {
	t.Parallel()
	kept := func(object string, fields ...string) string {
		writer := (&Renderer{}).Writer(Answer{Fields: fields})
		return string(keepFields(nil, object, writer.fields))
	}
	const object = `{"id":1,"title":"a \"b\" {,}","list":[{"id":2},[3,"]"]],"o":{"x":{"y":","}},"n":null,"e":[]}`
	for fields, want := range map[string]string{
		"id":            `{"id":1}`,
		"title,list":    `{"title":"a \"b\" {,}","list":[{"id":2},[3,"]"]]}`,
		"e,o,n,unknown": `{"o":{"x":{"y":","}},"n":null,"e":[]}`,
		"x":             `{}`,
	} {
		if got := kept(object, strings.Split(fields, ",")...); got != want {
			t.Errorf("%s: got %s, want %s", fields, got, want)
		}
	}
	if got := kept(`{}`, "a"); got != `{}` {
		t.Errorf("empty object: %s", got)
	}
}

// FuzzAppendString: what is written is JSON and reads back as the text.
func FuzzAppendString(f *testing.F) {
	for _, text := range []string{"", "a", "\"\\\n\r\t\x00\x1f", "é音\U0001F600", "\xff", "<&>", "\u2028"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got string
		if err := json.Unmarshal(formats.AppendString(nil, text), &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		valid := strings.ToValidUTF8(text, "\uFFFD")
		if got != valid {
			t.Errorf("got %q, want %q", got, valid)
		}
		if err := json.Unmarshal(appendText(nil, text, nameText), &got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(valid)
		if got != escaped {
			t.Errorf("got %q, want %q", got, escaped)
		}
	})
}

func wall(t *testing.T, text string) calendar.Wall {
	t.Helper()
	wall, err := calendar.ParseWall(text)
	if err != nil {
		t.Fatal(err)
	}
	return wall
}

// exampleView is the event of section 3.1.7.
func exampleView(t *testing.T) *query.View {
	t.Helper()
	post := func(kind calendar.Kind, id calendar.ID, date, utc, name, slug string) *calendar.Record {
		return &calendar.Record{ID: id, Kind: kind, Version: 2, Home: calendar.LangEN, Fields: calendar.Fields{
			"author": calendar.ID(7), "status": "publish", "date": wall(t, date), "date_utc": wall(t, utc),
			"modified": wall(t, date), "modified_utc": wall(t, utc), "slug": slug,
			kind.NameField(): calendar.Text{calendar.LangEN: name},
		}}
	}
	event := post(calendar.KindEvent, 412, "2026-03-02 09:15:00", "2026-03-02 14:15:00", "Quay concert & picnic", "quay-concert-picnic")
	maps.Copy(event.Fields, (calendar.Fields{
		"modified": wall(t, "2026-03-05 18:00:10"), "modified_utc": wall(t, "2026-03-05 23:00:10"),
		"description": calendar.Text{calendar.LangEN: "<p>Bring a chair.</p>"},
		"image":       calendar.ID(384), "image_url": "https://img.example/quay.jpg",
		"start_date": wall(t, "2026-07-04 18:30:00"), "end_date": wall(t, "2026-07-04 21:00:00"),
		"utc_start_date": wall(t, "2026-07-04 22:30:00"), "utc_end_date": wall(t, "2026-07-05 01:00:00"),
		"timezone": "America/New_York", "cost": []string{"$5", "$12"},
		"website": "https://quay.example/?a=1&b=2", "featured": true,
		"categories": []calendar.ID{31}, "venue": []calendar.ID{88}, "organizer": []calendar.ID{90},
	}))
	venue := post(calendar.KindVenue, 88, "2026-01-10 10:00:00", "2026-01-10 15:00:00", "River Hall", "river-hall")
	venue.Fields["city"] = "Boston"
	jazz := &calendar.Record{ID: 31, Kind: calendar.KindCategory, Version: 1, Home: calendar.LangEN, Fields: calendar.Fields{
		"name": calendar.Text{calendar.LangEN: "Jazz", calendar.LangFR: "Jazz"}, "slug": "jazz", "parent": calendar.ID(30),
	}}
	return &query.View{
		Record: event, Status: calendar.StatusPublish,
		Venues: []query.LinkedView{{Record: venue, Status: calendar.StatusPublish}},
		Organizers: []query.LinkedView{{
			Record: post(calendar.KindOrganizer, 90, "2026-01-10 10:05:00", "2026-01-10 15:05:00", "Arts Trust", "arts-trust"),
			Status: calendar.StatusPublish,
		}},
		Categories: []query.LinkedView{{Record: jazz, Count: 4}},
	}
}

// rendered is a record as writer writes it.
func rendered(t *testing.T, writer *Writer, view *query.View) map[string]any {
	t.Helper()
	data, err := writer.Record(nil, view)
	if err != nil {
		t.Fatal(err)
	}
	return decodeObject(t, data)
}

func testWriter(t *testing.T) *Writer {
	t.Helper()
	site, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	const base = "https://calendar.example.org"
	return New(site, calendar.Currency{Symbol: "$", Position: "prefix", Code: "USD"}, false).Writer(Answer{
		Lang:  calendar.LangEN,
		Links: &Links{Base: base, Site: base, URL: base + "/api/calendar/events/v1", Global: "calendar.example.org"},
	})
}

func decodeObject(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return v
}

// TestRenderEvent holds the examples of sections 3.1.7 and 3.1.8, written by
// hand from the interface document.
func TestRenderEvent(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/event.json")
	if err != nil {
		t.Fatal(err)
	}
	writer := testWriter(t)
	writer.LD = true
	if diff := cmp.Diff(decodeObject(t, want), rendered(t, writer, exampleView(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKeptFragments: a record keeps what was rendered of it, but not for every count that it
// had, and nothing of a size that would fill the memory.
func TestKeptFragments(t *testing.T) {
	t.Parallel()
	writer, view := testWriter(t), exampleView(t)
	writer.keeps = true
	kept := func(linked query.LinkedView) int {
		for linked.Count = range 100 {
			if first, again := writer.fragment(linked), writer.fragment(linked); !bytes.Equal(first.head, again.head) {
				t.Errorf("count %d: %s and %s", linked.Count, first.head, again.head)
			}
		}
		fragments, _ := linked.Record.Rendered.Load().([]*fragment)
		return len(fragments)
	}
	if got := kept(view.Categories[0]); got == 0 || got > maxFragments {
		t.Errorf("%d fragments are kept of 100 counts", got)
	}
	venue := view.Venues[0]
	venue.Record.Fields["description"] = calendar.Text{calendar.LangEN: strings.Repeat("x", maxFragment)}
	if got := kept(venue); got > 0 {
		t.Errorf("%d fragments are kept of a venue that is larger", got)
	}
}
