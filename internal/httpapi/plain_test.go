package httpapi_test

import (
	"encoding/csv"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// cellsOf returns a row of a CSV answer by column.
func cellsOf(t *testing.T, r *world.Response) map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(r.Want(http.StatusOK).Body))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v: %s", err, r.Body)
	}
	out := map[string]string{}
	for i, name := range rows[0] {
		out[name] = rows[1][i]
	}
	return out
}

// icsValues returns the value of a property of a calendar as it stands in its line.
func icsValues(r *world.Response, property string) (out []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(string(r.Want(http.StatusOK).Body), "\r\n ", ""), "\r\n") {
		if value, ok := strings.CutPrefix(line, property); ok {
			out = append(out, value)
		}
	}
	return out
}

// LISTINGS "plain text", 1.2, 1.6 to 1.9, 1.12, 1.13, 3.4; PAGES P3.1, P3.2: a description
// has the same words in every answer, and the same lines.
func TestPlainTextIsOne(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t, world.Options{Pages: &pages.Options{}})
	const about = `Intro:<ul><li>One</li></ul><table><tr><td>10:00</td><td>Opening</td></tr></table>` +
		`<dl><dt>Doors</dt><dd>Seven</dd></dl><section>Parking</section><section>Bar</section>` +
		`<details><summary>More</summary>Below</details><p>See <a href="/venue/hall/">the hall</a>, ` +
		`<a href="https://t.example/">t.example</a>, <a href="mailto:a@b.example">mail</a></p>`
	event := editor.Event("Jazz<br>Night", obj{"description": about, "excerpt": "<ul><li>Short</li><li>words</li></ul>"})
	event.WantField("title", "Jazz Night")
	const plain = "Intro:\nOne\n10:00\tOpening\nDoors\nSeven\nParking Bar More Below\n\nSee the hall, t.example, mail"
	linked := strings.Replace(plain, "the hall", "the hall (https://calendar.example.org/venue/hall/)", 1)

	cells := cellsOf(t, nobody.Get("/events.csv"))
	if got := strings.ReplaceAll(cells["description"], "\r\n", "\n"); got != linked {
		t.Errorf("CSV: %q, want %q", got, linked)
	}
	if got := strings.ReplaceAll(cells["excerpt"], "\r\n", "\n"); got != "Short\nwords" {
		t.Errorf("CSV, excerpt: %q", got)
	}
	ics := nobody.Get("/events.ics")
	if got, want := icsValues(ics, "DESCRIPTION:"), strings.NewReplacer("\n", `\n`, ",", `\,`).Replace(linked); len(got) != 1 || got[0] != want {
		t.Errorf("ICS: %q, want %q", got, want)
	}
	if got := icsValues(ics, "X-ALT-DESC;FMTTYPE=text/html:"); len(got) != 1 || !strings.Contains(got[0], `<a href="https://calendar.example.org/venue/hall/">the hall</a>`) {
		t.Errorf("ICS, HTML: %q", got)
	}
	for _, format := range []string{"rss", "atom", "jsonfeed"} {
		feed, err := gofeed.NewParser().ParseString(string(nobody.Read("/events." + format).Body))
		if err != nil {
			t.Fatal(err)
		}
		if got := feed.Items[0].Content; !strings.Contains(got, `<a href="https://calendar.example.org/venue/hall/">the hall</a>`) || strings.Contains(got, `"/venue`) {
			t.Errorf("%s: %s", format, got)
		}
	}
	if got := nobody.Get("/events.jsonfeed").String("items.0.summary"); got != "Short\nwords" {
		t.Errorf("JSON Feed, summary: %q", got)
	}
	nobody.Get("/events").WantField("events.0.description", event.String("description"))
	if got := event.String("description"); !strings.Contains(got, `<a href="/venue/hall/">`) || !strings.Contains(got, "\nParking\n\nBar\n") {
		t.Errorf("JSON: %s", got)
	}

	body := string(page(w, "/event/jazz-night/").Want(http.StatusOK).Body)
	if got := regexp.MustCompile(`"description":"(Intro[^"]*)"`).FindStringSubmatch(body); got == nil || html.UnescapeString(strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(got[1])) != plain {
		t.Errorf("JSON-LD: %q", got)
	}
	if got := regexp.MustCompile(`property="og:description" content="([^"]*)"`).FindStringSubmatch(body); got == nil || got[1] != "Short words" {
		t.Errorf("og:description: %q", got)
	}

	for _, word := range []string{"one", "opening", "seven", "parking", "bar", "more", "below", "night", "words"} {
		r := nobody.Read("/events?highlight=true&highlight_length=1000&search=" + word)
		if r.Int("total") != 1 || !strings.Contains(strings.ToLower(string(r.Body)), `\u003cmark\u003e`+word) && !strings.Contains(strings.ToLower(string(r.Body)), "<mark>"+word+"</mark>") {
			t.Errorf("search for %s: %s", word, r.Body)
		}
	}
}

// INTERFACE 2.5: what is a block in names and details separates words.
func TestNamesSeparateWords(t *testing.T) {
	t.Parallel()
	_, editor, _ := newWorld(t)
	venue := editor.Create(calendar.KindVenue, obj{"venue": "<div>River</div><div>Hall</div>", "address": "Street 1<br>Back yard", "city": "New\u00a0  York\n"})
	venue.WantField("venue", "River Hall").WantField("address", "Street 1 Back yard").WantField("city", "New York")
	editor.Create(calendar.KindOrganizer, obj{"organizer": "<ul><li>Arts</li><li>Trust</li></ul>"}).WantField("organizer", "Arts Trust")
	editor.Create(calendar.KindTag, obj{"name": "Open<br/>air"}).WantField("name", "Open air")
	event := editor.Event("<table><tr><td>Jazz</td><td>N<b>ig</b>ht</td></tr></table>", obj{"cost": "<p>on</p><p>request</p>", "tags": []string{"open <br> air"}, "venue": obj{"venue": "River<hr>Hall"}})
	event.WantField("title", "Jazz Night").WantField("cost", "on request").WantField("tags.0.name", "Open air").WantField("venue.id", float64(venue.ID()))
}

// INTERFACE 2.5: no text of a record turns the direction of the text around it.
func TestDirectionsAreRemoved(t *testing.T) {
	t.Parallel()
	_, editor, _ := newWorld(t)
	const turned = "a\u202e\u2066b&#x202e;&#8297;c\u202a\u202b\u202c\u202d\u2067\u2068\u2069\u200e\u200f\u061cd"
	const want = "abc\u200e\u200f\u061cd"
	event := editor.Event(turned, obj{"description": turned, "excerpt": turned, "cost": turned, "tags": []string{turned}})
	event.WantField("title", want).WantField("description", "<p>"+want+"</p>").WantField("excerpt", "<p>"+want+"</p>").WantField("cost", want).WantField("tags.0.name", want)
	editor.Create(calendar.KindVenue, obj{"venue": "Hall", "address": turned, "website": "https://x.example/\u202ea"}).
		WantField("address", want).WantField("website", "https://x.example/a")
}
