package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	w := viewsWorld(t, pages.Options{})
	programme(t, w)
	check := func(at sheet, tag string) {
		root := at.one("html")
		if valueOf(root, "lang") != tag {
			t.Errorf("%s: lang %q, want %s", at.Request, valueOf(root, "lang"), tag)
		}
		if _, has := attrOf(root, "data-position"); !has {
			t.Errorf("%s: no data-position", at.Request)
		}
		if valueOf(at.one("body"), "data-page") == "" {
			t.Errorf("%s: no data-page", at.Request)
		}
		for _, hook := range [][]string{
			{"a", "id=skip", "href=#main"},
			{"header", "id=site-header"},
			{"nav", "id=site-nav", "aria-label"},
			{"main", "id=main"},
			{"footer", "id=site-footer"},
			{"h1"},
			{"title"},
			{"form", "id=search-form", "role=search"},
			{"nav", "id=views", "aria-label"},
			{"", "id=language-switch"},
			{"", "id=theme-switch"},
		} {
			at.one(hook[0], hook[1:]...)
		}
		if first := under(at.one("body"), "a")[0]; valueOf(first, "id") != "skip" {
			t.Errorf("%s: the first link is %s", at.Request, wordsOf(first))
		}
		level, ids := 0, map[string]bool{}
		for _, n := range at.all("") {
			if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
				if next := int(n.Data[1] - '0'); next > level+1 {
					t.Errorf("%s: h%d after h%d: %s", at.Request, next, level, wordsOf(n))
				}
				level = int(n.Data[1] - '0')
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("%s: %s stands twice", at.Request, a.Val)
				case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: %s of %s", at.Request, a.Key, n.Data)
				case (a.Key == "href" || a.Key == "src") && strings.Contains(a.Val, "ZgotmplZ"):
					t.Errorf("%s: a refused URL: %s", at.Request, wordsOf(n))
				}
			}
			ids[valueOf(n, "id")] = valueOf(n, "id") != ""
			if n.Data == "script" && valueOf(n, "src") == "" && valueOf(n, "type") != "application/ld+json" || n.Data == "style" {
				t.Errorf("%s: an inline %s", at.Request, n.Data)
			}
		}
		for _, n := range append(append(at.all("input"), at.all("select")...), at.all("textarea")...) {
			inside := n.Parent != nil && n.Parent.Data == "label"
			if typ := valueOf(n, "type"); typ != "hidden" && !inside && len(at.all("label", "for="+valueOf(n, "id"))) != 1 {
				t.Errorf("%s: the field %s has no label", at.Request, valueOf(n, "name"))
			}
		}
		for _, n := range append(at.all("nav"), at.all("", "role=region")...) {
			if valueOf(n, "aria-label") == "" {
				t.Errorf("%s: a landmark without a name", at.Request)
			}
		}
	}
	for _, l := range []calendar.Lang{calendar.LangEN, calendar.LangCN, calendar.LangFR, calendar.LangES} {
		root := map[calendar.Lang]string{calendar.LangEN: "", calendar.LangCN: "/cn", calendar.LangFR: "/fr", calendar.LangES: "/es"}[l]
		for _, path := range allPages {
			check(readPage(t, w, root+path), l.Tag())
		}
		check(openPage(t, w, root+"/event/unknown/", http.StatusNotFound), l.Tag())
		check(openPage(t, w, root+"/events/?start_date=x&search=0", http.StatusBadRequest), l.Tag())
	}
	at := readPage(t, w, "/search/?search=concert")
	for _, f := range under(at.one("div", "id=facets"), "fieldset") {
		if valueOf(f, "data-facet") == "" || len(under(f, "legend")) == 0 || len(under(f, "input", "value", "data-count")) == 0 {
			t.Errorf("facet %s", wordsOf(f))
		}
	}
	if len(at.all("mark")) == 0 || len(at.all("ul")) == 0 || at.one("div", "id=chips") == nil {
		t.Error("a search without marks")
	}
	list := readPage(t, w, "/events/")
	for _, card := range list.all("article", "data-event-id", "data-version") {
		a := under(under(card, "h3")[0], "a", "data-event-id", "data-start", "data-end")
		if len(a) != 1 || len(under(card, "time", "datetime")) == 0 {
			t.Errorf("card %s", wordsOf(card))
		}
	}
	month := readPage(t, w, "/events/month/2026-05/").one("table", "id=month")
	for _, td := range under(month, "td") {
		if lists := len(under(td, "ul")); len(idsUnder(td)) > 0 && (lists < 1 || lists > 2) {
			t.Errorf("no list in %s", wordsOf(td))
		}
	}
	sunday := viewsWorld(t, pages.Options{Sunday: true})
	programme(t, sunday)
	if head := wordsOf(readPage(t, sunday, "/events/month/2026-05/").all("th")[0]); head != "SunSunday" {
		t.Errorf("weeks that begin on Sunday: %s", head)
	}
}

// TestEventPage: what stands on it, in order (PAGES P2.1).
func TestEventPage(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{Tiles: "https://tiles.example.net/{z}/{x}/{y}.png", Images: []string{"pictures.example.net"}})
	p := programme(t, w)
	w.As(calendar.Editor).Update(p["midnight"].Path(calendar.KindEvent), obj{
		"post_parent": p["parent"].ID(), "featured": true, "excerpt": "Few", "description": "<p>Words</p>", "event_status": "postponed", "event_status_reason": "Rain", "image": "https://pictures.example.net/a.png",
	})
	at := readPage(t, w, "/event/until-midnight/")
	order := [][]string{
		{"nav", "class=crumbs"},
		{"span", "data-badge=postponed"},
		{"span", "data-badge=featured"},
		{"h1"},
		{"span", "data-field=event_status_reason"},
		{"div", "data-field=excerpt"},
		{"aside", "id=key-facts"},
		{"span", "data-field=start_date"},
		{"a", "data-field=venue"},
		{"b", "data-field=cost"},
		{"button", "data-action=share"},
		{"img", "data-field=image"},
		{"section", "data-field=description"},
		{"dl", "class=facts"},
		{"div", "id=map"},
		{"a", "href=/venue/park/"},
		{"section", "data-field=post_parent"},
		{"div", "class=plain"},
		{"p", "class=changed"},
		{"details", "id=selection-as"},
	}
	last, all := -1, at.all("")
	for _, hook := range order {
		found := under(at.one("main"), hook[0], hook[1:]...)
		if len(found) == 0 {
			t.Errorf("no %v", hook)
			continue
		}
		if i := slices.Index(all, found[0]); i <= last {
			t.Errorf("%v stands too early", hook)
		} else {
			last = i
		}
	}
}

// submit returns the path that a form leads to when its fields are sent as they are, with
// some of them set.
func submit(form *html.Node, set url.Values) string {
	q := url.Values{}
	for _, n := range append(under(form, "input"), under(form, "select")...) {
		name := valueOf(n, "name")
		_, checked := attrOf(n, "checked")
		switch {
		case name == "" || (valueOf(n, "type") == "checkbox" || valueOf(n, "type") == "radio") && !checked:
		case n.Data == "select":
			for _, o := range under(n, "option") {
				if _, selected := attrOf(o, "selected"); selected {
					q.Add(name, valueOf(o, "value"))
				}
			}
		default:
			q.Add(name, valueOf(n, "value"))
		}
	}
	maps.Copy(q, set)
	return valueOf(form, "action") + "?" + q.Encode()
}

// TestPagesWithoutScripts: search, filters, zone, paging, drawer, password and history are
// forms, links and details (PAGES 13.23).
func TestPagesWithoutScripts(t *testing.T) {
	t.Parallel()
	w := viewsWorld(t, pages.Options{})
	p := programme(t, w)
	list := readPage(t, w, "/events/")
	found := readPage(t, w, submit(list.one("form", "id=search-form"), url.Values{"search": {"train"}}))
	if sections := under(found.results(), "section"); len(sections) != 1 || wordsOf(under(sections[0], "h2")[0]) != "Results" {
		t.Error("what is ordered by how well it fits stands under days")
	}
	if got := idsUnder(found.results()); !slices.Equal(got, []string{idOf(p["night"])}) {
		t.Errorf("search: %v", got)
	}
	all := readPage(t, w, "/search/?search=concert")
	jazz := under(all.one("fieldset", "data-facet=categories"), "input", "value="+p["jazz"].ID().String())
	if len(jazz) != 1 {
		t.Fatal("no facet of jazz")
	}
	narrow := readPage(t, w, submit(all.one("form", "id=filters"), url.Values{"categories[]": {valueOf(jazz[0], "value")}}))
	if got, want := fmt.Sprint(narrow.total()), valueOf(jazz[0], "data-count"); got != want || narrow.total() >= all.total() {
		t.Errorf("the facet finds %s events, want %s of %d", got, want, all.total())
	}
	chip := under(narrow.one("div", "id=chips"), "a")
	if len(chip) != 2 || !strings.Contains(wordsOf(narrow.one("div", "id=chips")), "Category: Jazz") {
		t.Errorf("chips: %s", wordsOf(narrow.one("div", "id=chips")))
	}
	if got := readPage(t, w, valueOf(chip[1], "href")); got.total() != all.total() && got.total() != readPage(t, w, "/search/?categories=jazz").total() {
		t.Errorf("without a chip: %d", got.total())
	}
	filtered := readPage(t, w, submit(list.one("form", "id=filters"), url.Values{"start_date": {"2026-05-20"}, "end_date": {"2026-05-23"}}))
	if got := idsUnder(filtered.results()); !slices.Contains(got, idOf(p["fair"])) || slices.Contains(got, idOf(p["night"])) {
		t.Errorf("filter by days: %v", got)
	}
	at := readPage(t, w, "/events/month/2026-05/?categories=jazz")
	form := at.one("form", "id=zone-switch")
	q := submit(form, url.Values{"tz": {"Asia/Tokyo"}})
	tokyo := readPage(t, w, "/events/month/2026-05/"+q)
	if !strings.Contains(wordsOf(tokyo.root), "Times are in Asia/Tokyo") || tokyo.total() != at.total() {
		t.Errorf("zone: %s", q)
	}
	for _, id := range []string{"selection-as", "subscribe"} {
		if n := list.one("", "id="+id); n.Data != "details" || len(under(n, "summary")) != 1 {
			t.Errorf("%s is %s", id, n.Data)
		}
	}
	if next := under(list.one("nav", "id=pager"), "a", "rel=next"); valueOf(next[0], "href") != "/events/?page=2" {
		t.Errorf("next: %s", valueOf(next[0], "href"))
	}
	unlock := readPage(t, w, "/event/protected/").one("form", "id=unlock", "method=post")
	if fields := under(unlock, "input", "name=password", "autocomplete=off"); len(fields) != 1 || len(under(unlock, "button")) != 1 {
		t.Error("the password form")
	}
	history := readPage(t, w, "/event/until-midnight/history/")
	compared := readPage(t, w, submit(history.one("form", "id=compare"), url.Values{"from": {"1"}, "to": {"2"}}))
	if len(compared.all("table")) == 0 {
		t.Error("comparing two versions shows nothing")
	}
	// From a view to another one the filters go along.
	for _, a := range under(readPage(t, w, "/events/?categories=jazz&start_date=2026-05-01").one("nav", "id=views"), "a") {
		if href := valueOf(a, "href"); !strings.HasSuffix(href, "?categories=jazz") {
			t.Errorf("view %s", href)
		}
	}
}

// TestPageOfTheAPI: it lists the operations of the documentation in groups, GET /events first,
// and a request to copy (PAGES 13.51).
func TestPageOfTheAPI(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := viewsWorld(t, pages.Options{})
	for _, l := range calendar.Langs {
		root := ""
		if l != calendar.LangEN {
			root = "/" + l.String()
		}
		at := readPage(t, w, root+"/docs/")
		doc := w.As(calendar.Anonymous).Under(l).Read("/doc")
		want := map[string][2]string{}
		for path, item := range doc.Get("paths").(map[string]any) {
			for method, op := range item.(map[string]any) {
				if method == "head" || method == "options" {
					continue
				}
				_, extension := op.(map[string]any)["x-extension"]
				want[strings.ToUpper(method)+" "+path] = [2]string{op.(map[string]any)["summary"].(string), fmt.Sprint(extension)}
			}
		}
		got := map[string][2]string{}
		yes := map[calendar.Lang]string{calendar.LangEN: "Yes", calendar.LangCN: "是", calendar.LangFR: "Oui", calendar.LangES: "Sí"}[l]
		var groups, first []string
		for _, group := range under(at.one("table", "id=routes"), "tbody") {
			name := valueOf(group, "data-group")
			groups = append(groups, name)
			for i, tr := range under(group, "tr") {
				td := under(tr, "td")
				if i == 0 {
					if len(under(tr, "th")) != 1 || len(td) != 0 {
						t.Errorf("%s: %s has no heading", l, name)
					}
					continue
				}
				method, path := wordsOf(td[0]), wordsOf(td[1])
				if (method != http.MethodGet && path != "/events/search" || path == "/me") != (name == "writing") {
					t.Errorf("%s: %s %s is in %s", l, method, path, name)
				}
				if i == 1 {
					first = append(first, method+" "+path)
				}
				got[method+" "+path] = [2]string{wordsOf(td[2]), fmt.Sprint(wordsOf(td[3]) == yes)}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", l, diff)
		}
		if !slices.Equal(groups, []string{"events", "search", "feeds", "history", "writing"}) || first[0] != "GET /events" {
			t.Errorf("%s: groups %v, that begin with %v", l, groups, first)
		}
		if info := doc.String("info.title"); !strings.Contains(wordsOf(at.one("main")), info) || !strings.Contains(wordsOf(at.one("main")), doc.String("info.version")) {
			t.Errorf("%s: neither %q nor its version", l, info)
		}
		try := valueOf(under(at.one("div", "id=try"), "a")[0], "href")
		if r := w.As(calendar.Anonymous).Do(http.MethodGet, below(t, try), nil).Want(http.StatusOK); !strings.Contains(wordsOf(at.one("div", "id=try")), try) || len(r.Body) == 0 {
			t.Errorf("%s: %s", l, try)
		}
	}
}
