package pages

import (
	"html/template"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

// PAGES 13.32: cards and drawers are, byte by byte, what their templates make of them, whatever
// its texts hold.
func TestCardsAreTheirTemplates(t *testing.T) {
	t.Parallel()
	var shown [len(calendar.Langs)]*template.Template
	for _, l := range calendar.Langs {
		var err error
		if shown[l], err = (&Pages{}).parseTemplates(l); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"", "Quay concert", "<img onerror=x>", `"`, "'", "&", "+", "\x00", "é", "音乐", "</script>", "%zz", "%41", "javascript:alert(1)", " ", "\n", "`", "{{", "=", "\xff"}
	text := func() string {
		var b strings.Builder
		for range rng.IntN(3) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		return b.String()
	}
	address := func() string {
		heads := []string{"/event/", "https://example.org/?a=1&b=2#", "HTTP://x/", "mailto:", "javascript:", "a/b:c", "data:", "", "?x=", "//h/"}
		return heads[rng.IntN(len(heads))] + text()
	}
	is := func() bool { return rng.IntN(2) == 0 }
	for range 2000 {
		c := card{
			ID: calendar.ID(rng.IntN(1e6)), Version: rng.Int64N(9), Href: address(), Title: text(), Language: text(), Start: text(), End: text(), When: text(),
			Weekday: text(), Day: text(), Month: text(), Now: is(), Past: is(), Featured: is(), Protected: is(), Venue: text(), City: text(), Cost: text(),
			VenueLang: text(), VenueID: calendar.ID(rng.IntN(2)), Colour: rng.IntN(8),
		}
		for range rng.IntN(3) {
			c.Categories = append(c.Categories, chip{link{Href: address(), Label: text(), Lang: text()}, rng.IntN(8)})
		}
		if is() {
			c.Marked, c.Snippet = "a <mark>b</mark> &amp;", "… <mark>c</mark>"
		}
		if is() {
			c.Image = address()
		}
		l := calendar.Langs[rng.IntN(len(calendar.Langs))]
		var want strings.Builder
		if err := shown[l].ExecuteTemplate(&want, "card", &c); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), string(c.html(l))); diff != "" {
			t.Fatalf("%+v\n%s", c, diff)
		}
		var drawer []export
		for range rng.IntN(3) {
			drawer = append(drawer, export{text(), text(), []string{"webcal://h/" + text(), address(), ""}[rng.IntN(3)], text()})
		}
		want.Reset()
		if err := shown[l].ExecuteTemplate(&want, "exports", drawer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), string(exportsHTML(drawer, l))); diff != "" {
			t.Fatalf("%+v\n%s", drawer, diff)
		}
	}
}
