package httpapi_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/bidi"

	"daybook/calendar"
	"daybook/internal/pages"
)

// isRightToLeft reports whether a text has characters that turn what stands next to it.
func isRightToLeft(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL
	})
}

// isolatedIn reports whether all that turns a text stands between U+2068 and U+2069.
func isolatedIn(s string) bool {
	for {
		before, rest, found := strings.Cut(s, "\u2068")
		if isRightToLeft(before) || strings.Contains(before, "\u2069") {
			return false
		}
		if !found {
			return true
		}
		if _, s, found = strings.Cut(rest, "\u2069"); !found {
			return false
		}
	}
}

// TestTextsOfOtherDirections: texts of records that are written from right to left stand in
// an element of their own direction, or between marks that keep it (PAGES P4.4, HISTORY 6.3).
func TestTextsOfOtherDirections(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	editor := w.As(calendar.Editor).In(t)
	texts := []string{"ערב שירה 2026", "בית העם", "רחוב הרצל 1", "תל אביב", "מועדון", "موسيقى", "جاز", "هواء طلق", "تقريبا 10", "مشهد", "نص", "שבוע", "Soirée \u200fa"}
	category := editor.Create(calendar.KindCategory, obj{"name": "موسيقى", "slug": "music"})
	child := editor.Create(calendar.KindCategory, obj{"name": "جاز", "slug": "jazz", "parent": category.ID()})
	tag := editor.Create(calendar.KindTag, obj{"name": "هواء طلق", "slug": "open-air"})
	hall := editor.Create(calendar.KindVenue, obj{"venue": "בית העם", "slug": "hall", "address": "רחוב הרצל 1", "city": "תל אביב", "description": "نص", "geo_lat": 32.06, "geo_lng": 34.77})
	club := editor.Create(calendar.KindOrganizer, obj{"organizer": "מועדון", "slug": "club"})
	parent := editor.Event("שבוע", obj{"slug": "season"})
	made := editor.Event("ערב שירה 2026", obj{
		"slug": "evening", "start_date": "2026-05-09 20:00", "end_date": "2026-05-09 22:00", "venue": hall.ID(), "organizer": club.ID(), "categories": child.ID(), "tags": tag.ID(),
		"description": "<p>نص</p>", "excerpt": "مشهد", "cost": "تقريبا 10", "featured": true, "post_parent": parent.ID(),
	})
	path := made.Path(calendar.KindEvent)
	editor.Update(path, obj{"title": "Soirée \u200fa"})
	editor.Update(path, obj{"title": "ערב שירה 2026", "tags": ""})
	editor.Update(path, obj{"tags": tag.ID()})
	known := func(s string) bool { // or the letter of a cover
		return slices.Contains(texts, strings.Trim(s, " \n")) || utf8.RuneCountInString(s) == 1
	}
	seen := map[string]bool{}
	for _, path := range []string{
		"/", "/events/", "/events/month/2026-05/", "/events/week/2026-W19/", "/events/day/2026-05-09/", "/events/map/", "/search/?search=2026", "/search/?categories=music&venue=" + idOf(hall),
		"/events/?categories=music&tags=open-air&featured=false", "/events/month/2026-05/?categories=music&search=nothing", "/events/?venue=" + idOf(hall) + "," + idOf(hall) + "&tags=open-air",
		"/event/evening/", "/fr/event/evening/", "/event/season/", "/venue/hall/", "/organizer/club/", "/events/category/music/", "/events/category/jazz/", "/events/tag/open-air/",
		"/venues/", "/organizers/", "/categories/", "/tags/", "/event/evening/history/", "/fr/event/evening/history/", "/cn/venue/hall/history/", "/event/evening/history/?from=1&to=3",
		"/event/evening/?as_of=version:1", "/embed/events/", "/embed/events/?view=month", "/embed/event/evening/", "/event/evening/?tz=UTC",
	} {
		at := readPage(t, w, path)
		var look func(n *html.Node, own *html.Node)
		look = func(n *html.Node, own *html.Node) {
			if n.Type == html.ElementNode {
				if slices.Contains([]string{"script", "code", "head"}, n.Data) { // what machines read
					return
				}
				if dir, _ := attrOf(n, "dir"); n.Data == "bdi" || dir == "auto" {
					own = n
				}
				for _, a := range n.Attr {
					if slices.Contains([]string{"title", "aria-label"}, a.Key) && !known(a.Val) && !isolatedIn(a.Val) {
						t.Errorf("%s: %s of %s is %q", path, a.Key, n.Data, a.Val)
					}
				}
			}
			if n.Type == html.TextNode && isRightToLeft(n.Data) {
				seen[strings.Trim(n.Data, " \n")] = true
				switch {
				case isolatedIn(n.Data):
				case own == nil:
					t.Errorf("%s: %q stands in %s without a direction of its own", path, n.Data, n.Parent.Data)
				case !known(wordsOf(own)) && own.Data != "section": // a description has a heading that is hidden
					t.Errorf("%s: %q stands in %s with %q", path, n.Data, own.Data, wordsOf(own))
				}
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				look(c, own)
			}
		}
		look(at.root, nil)
		if title := wordsOf(at.all("title")[0]); !isolatedIn(title) {
			t.Errorf("%s: the document is named %q", path, title)
		}
		for _, meta := range at.all("meta", "content") {
			if strings.Contains(valueOf(meta, "content"), "\u2068") {
				t.Errorf("%s: content %q", path, valueOf(meta, "content"))
			}
		}
	}
	for _, text := range texts {
		if text != "Soirée \u200fa" && !seen[text] {
			t.Errorf("%s stands on no page", text)
		}
	}
	title := readPage(t, w, "/event/evening/")
	if got, want := wordsOf(title.all("title")[0]), "\u2068ערב שירה 2026\u2069 – Calendar"; got != want {
		t.Errorf("the document is named %q, want %q", got, want)
	}
	if got := valueOf(title.one("meta", "property=og:title"), "content"); got != "ערב שירה 2026" {
		t.Errorf("og:title %q", got)
	}
	if got, want := wordsOf(readPage(t, w, "/event/evening/history/").all("title")[0]), "History: \u2068ערב שירה 2026\u2069 – Calendar"; got != want {
		t.Errorf("the document is named %q, want %q", got, want)
	}
	// A sentence of the history quotes them between marks, in every language.
	for lang, want := range map[calendar.Lang][]string{
		calendar.LangEN: {"Changed: tags: added “\u2068هواء طلق\u2069”", "Changed: title: from “\u2068Soirée \u200fa\u2069” to “\u2068ערב שירה 2026\u2069”; tags: removed “\u2068هواء طلق\u2069”"},
		calendar.LangFR: {"Modification : étiquettes : ajout de «\u00a0\u2068هواء طلق\u2069\u00a0»"},
		calendar.LangCN: {"修改：标签：添加 “\u2068هواء طلق\u2069”"},
	} {
		told := w.As(calendar.Anonymous).In(t).Under(lang).Get(path + "/history")
		for i, summary := range want {
			told.WantField("entries."+string(rune('0'+i))+".summary", summary)
		}
	}
	if got := readPage(t, w, "/search/?search="+url.QueryEscape("שירה")).total(); got != 1 {
		t.Errorf("found %d", got)
	}
}
