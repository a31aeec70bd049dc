package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// allPages are the pages of each kind that a programme has.
var allPages = []string{
	"/", "/events/", "/events/?past=true", "/events/month/2026-05/", "/events/week/2026-W24/", "/events/day/2026-06-10/", "/events/map/", "/search/?search=concert", "/search/", "/events/?search=zebra",
	"/event/until-midnight/", "/event/season/", "/event/protected/", "/event/old-concert/", "/event/hidden/", "/venue/city-hall/", "/organizer/jazz-club/", "/events/category/music/", "/events/tag/open-air/",
	"/venues/", "/organizers/", "/categories/", "/tags/", "/docs/", "/event/until-midnight/history/", "/event/until-midnight/?as_of=version:1", "/events/month/2030-01/",
}

// TestHooksOfPages: ids, landmarks, headings and labels of every page (PAGES 13.20).
func TestHooksOfPages(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{ExternalLinks: true})
	programme(t, w)
	check := func(at sheet, tag string) {
		t.Helper()
		wrong := func(what string, node *html.Node) {
			t.Helper()
			t.Errorf("%s: %s: %s %s", at.Request, what, node.Data, wordsOf(node))
		}
		for _, hook := range []string{
			"html[lang=" + tag + "][data-position]", "body[data-page]", "a#skip[href='#main']", "header#site-header", "nav#site-nav[aria-label]", "main#main", "footer#site-footer",
			"h1", "title", "form#search-form[role=search]", "nav#views[aria-label]", "#language-switch", "#theme-switch",
		} {
			at.one(hook)
		}
		if first := under(at.one("body"), "a")[0]; valueOf(first, "id") != "skip" {
			wrong("the first link", first)
		}
		level, ids := 0, map[string]bool{}
		for _, node := range at.all("*") {
			if len(node.Data) == 2 && node.Data[0] == 'h' && node.Data[1] >= '1' && node.Data[1] <= '6' {
				next := int(node.Data[1] - '0')
				if next > level+1 {
					wrong("a level is left out", node)
				}
				level = next
			}
			for _, attribute := range node.Attr {
				if attribute.Key == "id" && ids[attribute.Val] || attribute.Key == "style" || strings.HasPrefix(attribute.Key, "on") || (attribute.Key == "href" || attribute.Key == "src") && strings.Contains(attribute.Val, "ZgotmplZ") {
					wrong(attribute.Key+" "+attribute.Val, node)
				}
			}
			ids[valueOf(node, "id")] = valueOf(node, "id") != ""
			switch node.Data {
			case "style":
				wrong("inline", node)
			case "script":
				if valueOf(node, "src") == "" && valueOf(node, "type") != "application/ld+json" {
					wrong("inline", node)
				}
			case "input", "select", "textarea":
				if valueOf(node, "type") != "hidden" && node.Parent.Data != "label" && len(at.all("label[for='"+valueOf(node, "id")+"']")) != 1 {
					wrong("no label of "+valueOf(node, "name"), node)
				}
			}
			if (node.Data == "nav" || valueOf(node, "role") == "region") && valueOf(node, "aria-label") == "" {
				wrong("a landmark without a name", node)
			}
		}
	}
	for _, lang := range calendar.Langs {
		root := ""
		if lang != calendar.LangEN {
			root = "/" + lang.String()
		}
		for _, path := range allPages {
			check(readPage(t, w, root+path), lang.Tag())
		}
		check(openPage(t, w, root+"/event/unknown/", http.StatusNotFound), lang.Tag())
		check(openPage(t, w, root+"/events/?start_date=x&search=0", http.StatusBadRequest), lang.Tag())
	}
	at := readPage(t, w, "/search/?search=concert")
	for _, f := range under(at.one("div[id=facets]"), "fieldset") {
		if valueOf(f, "data-facet") == "" || len(under(f, "legend")) == 0 || len(under(f, "input[value][data-count]")) == 0 {
			t.Errorf("facet %s", wordsOf(f))
		}
	}
	if len(at.all("mark")) == 0 || len(at.all("ul")) == 0 || at.one("div[id=chips]") == nil {
		t.Error("a search without marks")
	}
	for _, card := range readPage(t, w, "/events/").all("article[data-event-id][data-version]") {
		if len(under(under(card, "h3")[0], "a[data-event-id][data-start][data-end]")) != 1 || len(under(card, "time[datetime]")) == 0 {
			t.Errorf("card %s", wordsOf(card))
		}
	}
	for _, td := range under(readPage(t, w, "/events/month/2026-05/").one("table[id=month]"), "td") {
		if lists := len(under(td, "ul")); len(idsUnder(td)) > 0 && (lists < 1 || lists > 2) {
			t.Errorf("no list in %s", wordsOf(td))
		}
	}
	sunday := viewsWorld(t, pages.Options{ExternalLinks: true, WeekStart: "sunday"})
	programme(t, sunday)
	if head := wordsOf(readPage(t, sunday, "/events/month/2026-05/").all("th")[0]); head != "SunSunday" {
		t.Errorf("weeks that begin on Sunday: %s", head)
	}
}
