package httpapi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// LISTINGS "plain text", 1.2, 1.6 to 1.9, 1.12, 1.13, 3.4; PAGES P3.1, P3.2: a description
// has the same words in every answer, and the same lines.
func TestPlainTextIsOne(t *testing.T) {
	t.Parallel()
	w, editor, nobody := newWorld(t, world.Options{Pages: &pages.Options{ExternalLinks: true}})
	const about = `Intro:<ul><li>One</li></ul><table><tr><td>10:00</td><td>Opening</td></tr></table>` +
		`<dl><dt>Doors</dt><dd>Seven</dd></dl><section>Parking</section><section>Bar</section>` +
		`<details><summary>More</summary>Below</details><p>See <a href="/venue/hall/">the hall</a>, ` +
		`<a href="https://t.example/">t.example</a>, <a href="mailto:a@b.example">mail</a></p>`
	event := editor.Event("Jazz<br>Night", obj{"description": about, "excerpt": "<ul><li>Short</li><li>words</li></ul>"}).WantField("title", "Jazz Night")
	const plain = "Intro:\nOne\n10:00\tOpening\nDoors\nSeven\nParking Bar More Below\n\nSee the hall, t.example, mail"
	linked := strings.Replace(plain, "the hall", "the hall (https://calendar.example.org/venue/hall/)", 1)
	const link = `<a href="https://calendar.example.org/venue/hall/">the hall</a>`
	escaped := strings.NewReplacer("\n", `\n`, "\t", `\t`)

	has(t, nobody.Get("/events.csv"), `"`+strings.ReplaceAll(linked, "\n", "\r\n")+`"`, "\"Short\r\nwords\"")
	ics := nobody.Get("/events.ics")
	ics.Body = bytes.ReplaceAll(ics.Body, []byte("\r\n "), nil)
	has(t, ics, "\r\nDESCRIPTION:"+strings.NewReplacer("\n", `\n`, ",", `\,`).Replace(linked)+"\r\n", "\r\nX-ALT-DESC;FMTTYPE=text/html:", link)
	for _, format := range []string{"rss", "atom", "jsonfeed"} {
		feed, err := gofeed.NewParser().ParseString(string(nobody.Read("/events." + format).Body))
		if err != nil || !strings.Contains(feed.Items[0].Content, link) || strings.Contains(feed.Items[0].Content, `"/venue`) {
			t.Errorf("%s: %v, %v", format, feed, err)
		}
	}
	nobody.Get("/events.jsonfeed").WantField("items.0.summary", "Short\nwords")
	nobody.Get("/events").WantField("events.0.description", event.String("description"))
	if got := event.String("description"); !strings.Contains(got, `<a href="/venue/hall/">`) || !strings.Contains(got, "\nParking\n\nBar\n") {
		t.Errorf("JSON: %s", got)
	}
	has(t, page(w, "/event/jazz-night/"), `"description":"`+escaped.Replace(plain)+`"`, `property="og:description" content="Short words"`)
	for _, word := range []string{"one", "opening", "seven", "parking", "bar", "more", "below", "night", "words"} {
		nobody.Read("/events?search="+word).WantField("total", 1)
	}
}
