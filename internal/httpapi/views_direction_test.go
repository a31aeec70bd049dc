package httpapi_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/bidi"

	"daybook/internal/pages"
	"daybook/internal/testkit/play"
)

// isRightToLeft reports whether a text has characters that turn what stands next to it.
func isRightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		properties, _ := bidi.LookupRune(r)
		return properties.Class() == bidi.R || properties.Class() == bidi.AL
	})
}

// isolatedIn reports whether all that turns a text stands between U+2068 and U+2069.
func isolatedIn(text string) bool {
	for {
		before, rest, found := strings.Cut(text, "\u2068")
		if isRightToLeft(before) || strings.Contains(before, "\u2069") {
			return false
		}
		if !found {
			return true
		}
		if _, text, found = strings.Cut(rest, "\u2069"); !found {
			return false
		}
	}
}

// TestTextsOfOtherDirections: texts of records that are written from right to left stand in
// an element of their own direction, or between marks that keep it (PAGES P4.4, HISTORY 6.3).
func TestTextsOfOtherDirections(t *testing.T) {
	t.Parallel()
	world := viewsWorld(t, pages.Options{ExternalLinks: true})
	answers := play.Play(t, world, "testdata/right_to_left.txt", nil)
	texts := strings.Split("ערב שירה 2026|בית העם|רחוב הרצל 1|תל אביב|מועדון|موسيقى|جاز|هواء طلق|تقريبا 10|مشهد|نص|שבוע|Soirée \u200fa", "|")
	known := func(s string) bool { // or the letter of a cover
		return slices.Contains(texts, strings.Trim(s, " \n")) || utf8.RuneCountInString(s) == 1
	}
	seen := map[string]bool{"Soirée \u200fa": true}
	hall := idOf(answers["hall"])
	for _, path := range []string{
		"/", "/events/", "/events/month/2026-05/", "/events/week/2026-W19/", "/events/day/2026-05-09/", "/events/map/", "/search/?search=2026", "/search/?categories=music&venue=" + hall,
		"/events/?categories=music&tags=open-air&featured=false", "/events/month/2026-05/?categories=music&search=nothing", "/events/?venue=" + hall + "," + hall + "&tags=open-air",
		"/event/evening/", "/fr/event/evening/", "/event/season/", "/venue/hall/", "/organizer/club/", "/events/category/music/", "/events/category/jazz/", "/events/tag/open-air/",
		"/venues/", "/organizers/", "/categories/", "/tags/", "/event/evening/history/", "/fr/event/evening/history/", "/cn/venue/hall/history/", "/event/evening/history/?from=1&to=3",
		"/event/evening/?as_of=version:1", "/embed/events/", "/embed/events/?view=month", "/embed/event/evening/", "/event/evening/?tz=UTC",
	} {
		sheet := readPage(t, world, path)
		var look func(n *html.Node, own *html.Node)
		look = func(n *html.Node, own *html.Node) {
			if n.Type == html.ElementNode {
				if slices.Contains([]string{"script", "code", "head"}, n.Data) { // what machines read
					return
				}
				if n.Data == "bdi" || valueOf(n, "dir") == "auto" {
					own = n
				}
				for _, key := range []string{"title", "aria-label"} {
					if value := valueOf(n, key); !known(value) && !isolatedIn(value) {
						t.Errorf("%s: %s of %s is %q", path, key, n.Data, value)
					}
				}
			}
			if n.Type == html.TextNode && isRightToLeft(n.Data) {
				seen[strings.Trim(n.Data, " \n")] = true
				// A description has a heading that is hidden.
				if !isolatedIn(n.Data) && (own == nil || !known(wordsOf(own)) && own.Data != "section") {
					t.Errorf("%s: %q stands in %s without a direction of its own", path, n.Data, n.Parent.Data)
				}
			}
			for node := n.FirstChild; node != nil; node = node.NextSibling {
				look(node, own)
			}
		}
		look(sheet.root, nil)
		if title := wordsOf(sheet.all("title")[0]); !isolatedIn(title) {
			t.Errorf("%s: the document is named %q", path, title)
		}
		for _, meta := range sheet.all("meta[content]") {
			if strings.Contains(valueOf(meta, "content"), "\u2068") {
				t.Errorf("%s: content %q", path, valueOf(meta, "content"))
			}
		}
	}
	for _, text := range texts {
		if !seen[text] {
			t.Errorf("%s stands on no page", text)
		}
	}
}
