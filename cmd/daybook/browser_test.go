package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/browser"
	"daybook/internal/testkit/engines"
)

// looked is a demonstration calendar with what pages have to show, for a browser.
type looked struct {
	*server

	event, cancelled, protected, gone, venue, organizer, category, tag string // paths
	script                                                             string // path of an event whose title is one
	past, nested                                                       string // paths of an event and a category of long words
	day                                                                string // that has events
}

// look starts the calendar. Dates are those of the demonstration, around today.
func look(t *testing.T) *looked {
	t.Helper()
	engines.URL(t, engines.Chromium)
	l := &looked{server: startServer(t, "demo", "--seed", "7")}
	l.prepare(t, len(calendar.Langs))
	return l
}

// prepare adds what the calendar lacks for pages to show all that they can, and finds the
// paths of its records: those of an event in a number of languages.
func (looked *looked) prepare(t *testing.T, languages int) {
	t.Helper()
	at := func(o map[string]any) string {
		address, err := url.Parse(o["url"].(string))
		must(t, err)
		return address.Path
	}
	made := func(method, path string, o map[string]any) map[string]any {
		t.Helper()
		data, err := json.Marshal(o)
		must(t, err)
		status := 200
		if method == http.MethodPost {
			status = 201
		}
		return looked.want(status, method, path, looked.token, string(data))
	}
	long := strings.Repeat("unfortunately", 4)
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	looked.script = at(made(http.MethodPost, "/events", map[string]any{
		"title": "&lt;img src=x onerror=alert(1)&gt;", "start_date": tomorrow + " 09:00", "end_date": tomorrow + " 10:00",
		"venue": map[string]any{"venue": "&lt;img src=y onerror=alert(2)&gt;", "city": "Lyon", "geo_lat": 45.76, "geo_lng": 4.84}, "tags": []any{"markup"},
	}))
	looked.cancelled = at(made(http.MethodPost, "/events", map[string]any{
		"title": "Night walk", "start_date": tomorrow + " 21:00", "end_date": tomorrow + " 23:00", "cost": "5", "website": "https://walks.example",
		"event_status": "cancelled", "event_status_reason": "The guide is ill, " + long,
	}))
	category := 0.0
	for i := range 3 {
		term := made(http.MethodPost, "/categories", map[string]any{"name": fmt.Sprint(i, " ", long), "parent": category})
		category, looked.nested = term["id"].(float64), at(term)
	}
	looked.past = at(made(http.MethodPost, "/events", map[string]any{
		"title": "Long words", "start_date": "-40 days 19:00", "end_date": "-40 days 21:00", "categories": []any{category},
		"description": "<table><tr><td>" + long + "</td><td>" + long + "</td></tr></table>",
	}))
	locked := made(http.MethodPost, "/events", map[string]any{"title": "Members’ evening", "start_date": tomorrow + " 19:00", "end_date": tomorrow + " 21:00", "description": "secret"})
	made(http.MethodPatch, "/events/"+idOf(locked), map[string]any{"password": "open sesame"})
	looked.protected = at(locked)
	trashed := made(http.MethodPost, "/events", map[string]any{"title": "Called off", "start_date": tomorrow + " 19:00", "end_date": tomorrow + " 21:00"})
	looked.want(200, http.MethodDelete, "/events/"+idOf(trashed), looked.token, "")
	looked.gone = at(trashed)
	made(http.MethodPost, "/events", map[string]any{"title": "Open days", "start_date": tomorrow, "end_date": time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly), "all_day": true, "timezone": "Europe/Paris"})

	list := looked.want(200, http.MethodGet, "/events?geoloc=true&per_page=50&starts_after=%2B2%20days", looked.token, "")["events"].([]any)
	for _, value := range list {
		e := value.(map[string]any)
		venue, is := e["venue"].(map[string]any)
		if organizers := e["organizer"].([]any); is && len(organizers) > 0 && len(e["tags"].([]any)) > 0 && len(e["languages"].([]any)) == languages && e["cost"] != "" {
			looked.event, looked.venue, looked.organizer = at(e), at(venue), at(organizers[0].(map[string]any))
			looked.category = "/events/category/" + e["categories"].([]any)[0].(map[string]any)["slug"].(string) + "/"
			looked.tag = "/events/tag/" + e["tags"].([]any)[0].(map[string]any)["slug"].(string) + "/"
			looked.day = e["start_date"].(string)[:len(time.DateOnly)]
			break
		}
	}
	if looked.event == "" {
		t.Fatal("no event of the calendar has all that pages show")
	}
}

// TestInABrowser uses the pages of one calendar as readers do.
func TestInABrowser(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	l := look(t)
	for _, c := range []struct {
		name string
		run  func(*looked, *testing.T)
	}{
		{"pages", (*looked).everyPage},
		{"wishes", (*looked).wishes},
		{"selection", (*looked).replaced},
		{"helped", (*looked).helped},
		{"printed", (*looked).printed},
		{"tiles", (*looked).tiled},
		{"keyboard", (*looked).keyboard},
		{"map", (*looked).mapped},
		{"without scripts", (*looked).plain},
		{"first views", (*looked).firstViews},
		{"element", (*looked).element},
		{"frames", (*looked).frames},
		{"forms of other sites", (*looked).foreignForms},
		{"numbers of the design", (*looked).numbers},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(l, t)
		})
	}
}

// shownPage is a page that is looked at.
type shownPage struct {
	name, path string
	status     int
}

// pages are all of PAGES P1.1, and those that tell of errors.
func (looked *looked) pages() []shownPage {
	return []shownPage{
		{"home", "/", 200},
		{"list", "/events/", 200},
		{"month", "/events/month/" + looked.day[:7] + "/", 200},
		{"week", "/events/week/", 200},
		{"day", "/events/day/" + looked.day + "/", 200},
		{"map", "/events/map/", 200},
		{"search", "/search/?search=jazz", 200},
		{"empty", "/search/?search=nothing+of+it&city=Nowhere", 200},
		{"event", looked.event, 200},
		{"cancelled", looked.cancelled, 200},
		{"protected", looked.protected, 200},
		{"venue", looked.venue, 200},
		{"organizer", looked.organizer, 200},
		{"category", looked.category, 200},
		{"tag", looked.tag, 200},
		{"history", looked.event + "history/", 200},
		{"version", looked.event + "?as_of=version:1", 200},
		{"compared", looked.event + "history/?from=1&to=2", 200},
		{"docs", "/docs/", 200},
		{"directory", "/venues/", 200},
		{"categories", "/categories/", 200},
		{"embedded-event", "/embed" + looked.event, 200},
		{"embedded-list", "/embed/events/", 200},
		{"embedded-month", "/embed/events/?view=month", 200},
		{"not-found", "/events/month/2026-13/", 404},
		{"bad", "/events/?start_date=foo", 400},
		{"gone", looked.gone, 410},
	}
}

// axe is the source of axe-core.
var axe = sync.OnceValues(func() (string, error) {
	data, err := os.ReadFile(filepath.Join("..", "..", "internal", "pages", "testdata", "axe-core", "axe.min.js"))
	return string(data), err
})

// inTheme is what readers of a theme prefer. Nothing moves: a colour on its way to another
// theme has the contrast of neither.
func inTheme(name string) map[string]string {
	return map[string]string{"prefers-color-scheme": name, "prefers-reduced-motion": "reduce"}
}

// Rules of axe-core.
const (
	everyRule   = `{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']}` // PAGES P4.2
	colourRules = `{runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}}`
	otherRules  = `{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], rules: {'color-contrast': {enabled: false}, 'link-in-text-block': {enabled: false}}}`
)

// check asks axe-core, by some of its rules, for what is serious or critical.
func check(t *testing.T, page *browserPage, where, rules string) {
	t.Helper()
	source, err := axe()
	must(t, err)
	if page.Eval(`typeof axe`) == "undefined" {
		page.Eval(source + "\n0")
	}
	got, _ := page.Eval(`axe.run(document, {...` + rules + `, resultTypes: ['violations'], preload: false, iframes: false, selectors: false}).then((r) => r.passes.length === 0 ? 'nothing to look at' : JSON.stringify(r.violations
		.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => [v.id, v.nodes.slice(0, 4).map((n) => n.html + ': ' + n.failureSummary)]), null, 1))`).(string)
	if got != "[]" {
		t.Errorf("%s: axe-core finds %s", where, got)
	}
}

// keepPicture writes a picture of the whole page, of a long one the first 3,000 pixels, into
// the folder that DAYBOOK_PICTURES names.
func keepPicture(t *testing.T, page *browserPage, name string) {
	t.Helper()
	dir := os.Getenv("DAYBOOK_PICTURES")
	if dir == "" {
		return
	}
	must(t, os.MkdirAll(dir, 0o750))
	size, _ := page.Eval(`[innerWidth, Math.min(3000, Math.max(innerHeight, document.documentElement.scrollHeight))]`).([]any)
	if len(size) != 2 {
		t.Fatalf("size of the page: %v", size)
	}
	picture := page.Screenshot(browser.Object{"captureBeyondViewport": true, "optimizeForSpeed": true, "clip": browser.Object{"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}})
	must(t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600))
}

// clean tells what is wrong with a page that was loaded: what quiet tells, and a script or
// a style in the page itself.
func (looked *looked) clean(t *testing.T, page *browserPage, where string, status int) {
	t.Helper()
	looked.quiet(t, page, where, status)
	inline := `[...document.querySelectorAll('*')].flatMap((e) => e.closest('.leaflet-container') ? [] : e.getAttributeNames().filter((n) => n === 'style' || n.startsWith('on')).map((n) => e.tagName + ' ' + n))
		.concat([...document.querySelectorAll('style, script:not([src]):not([type="application/ld+json"])')].map((e) => e.tagName)).join()`
	page.Is(where, inline, "")
	page.Is(where, `document.querySelectorAll('h1').length`, 1.0)
}

// quiet reports a console error, a report of a policy, and a request to another host.
func (looked *looked) quiet(t *testing.T, page *browserPage, where string, status int) {
	t.Helper()
	for _, text := range page.Faults {
		if status == 200 || !strings.Contains(text, fmt.Sprintf("status of %d", status)) {
			t.Errorf("%s: %s", where, text)
		}
	}
	for _, load := range page.Requests {
		if !strings.HasPrefix(load.URL, looked.host+"/") && !strings.HasPrefix(load.URL, "blob:") {
			t.Errorf("%s: a request to %s", where, load.URL)
		}
	}
}

// isDrawn tells that the map has what it asked for.
const isDrawn = `document.getElementById('map')?.dataset.view !== undefined`

// drawn waits until what scripts draw is there, a map far down the page too.
func drawn(page *browserPage) {
	if page.Eval(`((map) => { map?.scrollIntoView(); return Boolean(map?.checkVisibility()) })(document.getElementById('map'))`) == true {
		page.Wait(isDrawn)
		// What sticks to the top of the window is there after a frame.
		page.Eval(`scrollTo(0, 0); new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`)
	}
}

// everyPage looks at every page in two sizes, themes and languages: nothing serious for
// axe-core, nothing inline, no request to another host, nothing that is too small for a
// finger (PAGES 13.21, 13.28). Another theme has other colours only, and another language
// has the same ones.
func (looked *looked) everyPage(t *testing.T) {
	t.Helper()
	rules := map[string]map[string]string{"": {"light": everyRule, "dark": colourRules}, "/cn": {"light": otherRules}}
	for _, lang := range []string{"", "/cn"} {
		t.Run("en"+lang, func(t *testing.T) {
			t.Parallel()
			p := openPage(t, "about:blank")
			p.Watch()
			for _, page := range looked.pages() {
				for _, width := range []int{1280, 390} {
					where := fmt.Sprintf("%s%s at %d", page.name, strings.ReplaceAll(lang, "/", "-"), width)
					p.Prefer(inTheme("light"))
					p.Resize(width, 800)
					// A map of places asks again for another size.
					if width == 1280 || p.Eval(`document.querySelector('#map[data-geojson]') !== null`) == true {
						p.Goto(looked.host + lang + page.path)
						drawn(p)
						if name := p.Eval(`document.body.dataset.page`); name == nil {
							t.Fatalf("%s is no page: %v", where, p.Eval(`document.body.innerText`))
						}
						looked.clean(t, p, where, page.status)
					}
					for _, theme := range []string{"light", "dark"} {
						p.Prefer(inTheme(theme))
						keepPicture(t, p, where+" "+theme)
						if rules, is := rules[lang][theme]; is {
							check(t, p, where+" "+theme, rules)
						}
					}
				}
				nothing(t, p, page.name+" is for no finger", small)
				nothing(t, p, page.name+" has narrow links", `[...document.querySelectorAll('#site-footer a, .directory a')].filter((e) => e.offsetWidth < 24 || e.offsetHeight < 24).map((e) => e.textContent).join()`)
				p.Resize(320, 640)
				nothing(t, p, page.name, sideways)
				looked.quiet(t, p, page.name, page.status)
			}
		})
	}
}

// small names controls that are too small for a finger.
const small = `(matchMedia('(pointer: coarse)').matches ? '' : 'no finger') + [...document.querySelectorAll('button, select, summary, input:not([type=hidden], [type=checkbox], [type=radio]), label:has(input)')].filter((e) => e.offsetHeight && e.offsetHeight < 44 && !e.closest('.hidden')).map((e) => e.outerHTML.slice(0, 80)).join()`

// sideways names what scrolls sideways and may not.
const sideways = `[document.documentElement, ...document.querySelectorAll('body *')].filter((e) => !e.closest('#map, #views, .quick') && e.scrollWidth > e.clientWidth + 1 &&
	(e === document.documentElement || ['auto', 'scroll'].includes(getComputedStyle(e).overflowX))).map((e) => e.tagName + '.' + e.className + ' ' + e.scrollWidth).join()`

// wishes: what readers ask their system for (PAGES P4.2, 13.21).
func (looked *looked) wishes(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1280, 800)
	for _, path := range []string{"/events/", "/events/month/", "/events/map/", looked.event} {
		page.Prefer(map[string]string{"prefers-reduced-motion": "reduce"})
		page.Goto(looked.host + path)
		drawn(page)
		page.Is(path, `document.querySelectorAll('.leaflet-zoom-anim, .leaflet-fade-anim').length`, 0.0)
		page.Is(path, `[...document.querySelectorAll('*')].filter((e) => ['transitionDuration', 'animationDuration'].some((d) => getComputedStyle(e)[d].split(', ').some((s) => parseFloat(s) > 0))).map((e) => e.tagName + '.' + e.className).join()`, "")
		page.Prefer(map[string]string{"forced-colors": "active"})
		page.Is(path, `[...document.querySelectorAll('.card, .chip, .badge, .entry, #month td')].filter((e) => e.offsetWidth > 12 && parseFloat(getComputedStyle(e).borderTopWidth) === 0).map((e) => e.className).join()`, "")
	}
	page.Prefer(nil)
	// Long words break, also in breadcrumbs and tables.
	page.Resize(320, 800)
	for _, path := range []string{looked.past, looked.nested + "?past=true", looked.cancelled} {
		page.Goto(looked.host + path)
		page.Is(path, sideways, "")
	}
	// Where a table has no head, its values say what they are; filters stand apart from the count.
	page.Resize(360, 800)
	page.Goto(looked.host + "/docs/")
	page.Is("extension", `document.querySelector('#routes td:last-child').innerText`, "Extension: No")
	page.Goto(looked.host + "/events/?categories=markets")
	page.Is("room below the filters", `document.querySelector('.tools').getBoundingClientRect().top - document.querySelector('#chips .chip').getBoundingClientRect().bottom >= 12`, true)
	// Facets are folded on small screens, and next to the results on wide ones (PAGES P5.2).
	page.Call("Emulation.setScriptExecutionDisabled", browser.Object{"value": true}, nil)
	for width, want := range map[int]bool{390: false, 1280: true} {
		page.Resize(width, 800)
		page.Goto(looked.host + "/search/?search=jazz")
		page.Is(fmt.Sprint(width), `document.querySelector('#facets input').checkVisibility()`, want)
	}
	page.Call("Emulation.setScriptExecutionDisabled", browser.Object{"value": false}, nil)
	// Spacing of text as WCAG 1.4.12 has it.
	page.Resize(390, 800)
	page.Goto(looked.host + "/events/")
	page.Eval(`{const s = new CSSStyleSheet(); s.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }'); document.adoptedStyleSheets = [s]} 0`)
	page.Is("with wider text", sideways, "")
	page.Is("cut off with wider text", `[...document.querySelectorAll('h1, h2, h3, h3 a, .when, .where, #views a, button, .chip')].filter((e) => e.offsetHeight && !e.closest('.hidden') && (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' || e.scrollHeight > e.clientHeight + 6 && getComputedStyle(e).overflowY === 'hidden')).map((e) => e.className + e.textContent).join()`, "")
}

// keyboard goes through month and search by keyboard (PAGES P4.2.3, 13.20).
func (looked *looked) keyboard(t *testing.T) {
	t.Helper()
	p := openPage(t, "about:blank")
	p.Watch()
	p.Resize(1280, 700)
	of := func(what string) string { return `((e) => ` + what + `)(document.activeElement)` }
	is := func(where, what string, want any) { t.Helper(); p.Is(where, of(what), want) }

	p.Goto(looked.host + "/events/month/" + looked.day[:7] + "/")
	p.Press("Tab")
	is("the first focus", "e.id", "skip")
	p.Press("Enter")
	is("behind the skip link", "e.id", "main")
	p.Eval(`document.querySelector('td[data-date="` + looked.day[:7] + `-10"] a').focus(); 0`)
	for _, step := range []struct{ key, want string }{{"ArrowRight", "-11"}, {"ArrowDown", "-18"}, {"ArrowLeft", "-17"}, {"ArrowUp", "-10"}} {
		p.Press(step.key)
		is(step.key, "e.closest('td').dataset.date", looked.day[:7]+step.want)
	}
	// Every control is a stop that is seen, has an outline, and does not lie below the header.
	// The header is the same on all pages, so that it is skipped on all but the first.
	for i, page := range looked.pages() {
		if slices.Contains([]string{"organizer", "category", "tag", "version", "gone"}, page.name) { // as others
			continue
		}
		p.Goto(looked.host + page.path)
		drawn(p)
		p.Eval(`window.reached = new Set(); 0`)
		if i > 0 && p.Eval(`document.getElementById('skip') !== null`) == true {
			p.Eval(`document.querySelectorAll('#skip, #site-header *').forEach((e) => reached.add(e)); 0`)
			p.Press("Tab", "Enter")
		}
		for range 400 {
			p.Call("Input.dispatchKeyEvent", browser.Object{"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}, nil)
			got := p.Eval(of(`(() => {
				if (e === window.last) return ''; // another part of a date
				if (e === document.body || reached.has(e)) return 'the end';
				reached.add(window.last = e);
				const s = getComputedStyle(e), r = e.getBoundingClientRect(), header = document.getElementById('site-header');
				if (s.outlineStyle !== 'solid' || parseFloat(s.outlineWidth) < 2 || Math.abs(parseFloat(s.outlineOffset)) < 2) return e.outerHTML.slice(0, 200) + ' has the outline ' + s.outline + ' ' + s.outlineOffset;
				if (r.width && header && !e.closest('#site-header, #skip') && getComputedStyle(header).position === 'sticky' && r.top < header.getBoundingClientRect().bottom - 1) return e.outerHTML.slice(0, 200) + ' lies below the header';
				return '';
			})()`))
			if got == "the end" {
				break
			}
			if got != "" {
				t.Errorf("%s: %v", page.name, got)
			}
		}
		nothing(t, p, page.name+" cannot reach", `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]')]
			.filter((e) => e.checkVisibility({visibilityProperty: true}) && !reached.has(e) && (e.type !== 'radio' || e.checked)).map((e) => e.outerHTML.slice(0, 120)).join('\n')`)
	}

	// Search by suggestions; the map can be used by keyboard, and left.
	looked.on(t, p).steps(`
		visit /search/
		do one('#q').focus()
		type jaz
		wait one('#q').getAttribute('aria-expanded') === 'true' && all('[role=option]').length > 1
		keys ArrowDown
		is document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).getAttribute('aria-selected') -> true
		keys Escape
		is ((e) => e.id + e.getAttribute('aria-expanded'))(document.activeElement) -> qfalse
		submit
		is location.search -> ?search=jaz
		do one('#q').focus(); one('#q').select()
		type jazz
		wait all('[role=option]').length > 0
		keys ArrowDown
		name chosen new URL(one('[role=option]').dataset.url).pathname
		submit
		is location.pathname -> $chosen
		is location.pathname === '/search/' -> false
		visit /events/map/?tags=markup
		do one('#map [data-marker]').focus()
		keys Enter
		wait one('.leaflet-popup-content a')
		do one('#map').focus()
		to main :not(#map, #map *)`)
	if len(p.Faults) > 0 {
		t.Error(p.Faults)
	}
}

// mapped: markers, popups that tell of a venue as text, and what the map can be asked for
// (PAGES P1.3, 13.32).
func (looked *looked) mapped(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1280, 900)
	page.Prefer(inTheme("light"))
	steps := looked.on(t, page)
	steps.steps(`
		visit /events/map/?tags=markup
		wait one('#map').dataset.view && all('#map [data-marker]').length === 1
		do one('#map [data-marker]').click()
		is one('.leaflet-popup-content')?.innerText.replace('\n', '|') -> <img src=y onerror=alert(2)>|<img src=x onerror=alert(1)>
		is all('.card[aria-current]').length -> 1
		is all('main img').length -> 0
		follow one('#map-here').click()
		is new URLSearchParams(location.search).get('bbox').split(',').length -> 4
		is one('#results').dataset.total -> 1`)
	looked.clean(t, page, "map", 200)
	drawn(page)
	for range 10 { // not in the first view, and not where they show nothing
		steps.steps(`click .leaflet-control-zoom-out`)
	}
	page.Until("finer outlines", func() bool { return page.Requested("countries-50m") })
	page.Allow(looked.host, "geolocation")
	page.Call("Emulation.setGeolocationOverride", browser.Object{"latitude": 45.7, "longitude": 4.8, "accuracy": 10}, nil)
	steps.steps(`
		visit /events/map/?tags=markup&page=1&bbox=4,45,5,46
		follow one('#map-near').click()
		is location.search + one('#results').dataset.total -> ?tags=markup&geoloc_lat=45.70000&geoloc_lng=4.800001
		draw`)
	looked.clean(t, page, "near me", 200)
	for _, width := range []int{1280, 360} {
		page.Resize(width, 900)
		page.Goto(looked.host + "/events/map/?city=Port+Merrow")
		page.Eval(`document.getElementById('map').scrollIntoView(); 0`)
		for zoom := range 3 {
			page.Wait(isDrawn + ` && document.querySelectorAll('#map [data-marker]').length > 0`)
			if got := page.Eval(markers); got != "[]" {
				t.Errorf("%d px, zoom %d: %v", width, zoom, got)
			}
			page.Eval(`document.querySelector('.leaflet-control-zoom-out').click(); 0`)
		}
	}
	page.Resize(1280, 900)
	for _, path := range []string{looked.script, "/events/?tags=markup"} {
		page.Goto(looked.host + path)
		if got, _ := page.Eval(`document.querySelector('h1[data-field=title], .card h3').innerText`).(string); got != "<img src=x onerror=alert(1)>" {
			t.Errorf("%s: title %q", path, got)
		}
		looked.clean(t, page, path, 200)
	}
}

// markers tells what is wrong with the markers of a map: one is off its places, lies on another
// one or below a control, says another number than the service has; a place has none, or two
// (PAGES P1.3, 13.55).
const markers = `(async () => {
	const box = document.getElementById('map'), frame = box.getBoundingClientRect(), wrong = [];
	const [west, south, east, north] = box.dataset.view.split(',').map(Number);
	const y = (lat) => Math.asinh(Math.tan(lat * Math.PI / 180));
	const url = new URL(box.dataset.geojson, location.href);
	url.searchParams.set('zoom', 22);
	const places = new Map((await (await fetch(url)).json()).features.map((f) => [String(f.properties.venue.id), {
		x: frame.left + box.clientLeft + (f.geometry.coordinates[0] - west) / (east - west) * box.clientWidth,
		y: frame.top + box.clientTop + (y(north) - y(f.geometry.coordinates[1])) / (y(north) - y(south)) * box.clientHeight,
		count: f.properties.point_count,
	}]));
	const all = [...box.querySelectorAll('[data-marker]')].map((m) => {
		const r = m.getBoundingClientRect();
		return { x: r.x + r.width / 2, y: r.y + r.height / 2, radius: r.width / 2, r, ids: m.dataset.marker.split(' '), count: Number(m.dataset.count), label: m.getAttribute('aria-label') };
	});
	const controls = [...box.querySelectorAll('.leaflet-control')].map((c) => c.getBoundingClientRect()).filter((r) => r.width);
	for (const [i, m] of all.entries()) {
		const at = m.ids.map((id) => places.get(id));
		const off = Math.max(...at.map((p) => Math.hypot(p.x - m.x, p.y - m.y)));
		if (off > m.radius + 1) wrong.push('off by ' + off + ' of ' + m.radius + ': ' + m.label);
		if (m.radius < 14) wrong.push('small: ' + m.label);
		if (m.count !== at.reduce((n, p) => n + p.count, 0) || !m.label.includes(String(m.count))) wrong.push('counts ' + m.count + ': ' + m.label);
		for (const o of all.slice(i + 1)) if (Math.hypot(o.x - m.x, o.y - m.y) < o.radius + m.radius) wrong.push(m.label + ' on ' + o.label);
		for (const c of controls) if (window.first !== false && m.r.left < c.right && c.left < m.r.right && m.r.top < c.bottom && c.top < m.r.bottom) wrong.push(m.label + ' below a control');
	}
	window.first = false;
	const ids = all.flatMap((m) => m.ids);
	if (ids.length !== places.size || new Set(ids).size !== places.size) wrong.push(ids.length + ' of ' + places.size + ' places');
	return JSON.stringify(wrong);
})()`

// plain uses pages without scripts (PAGES P4.3, 13.23).
func (looked *looked) plain(t *testing.T) {
	t.Helper()
	p := openPage(t, "about:blank")
	p.Watch()
	p.Resize(1280, 800)
	p.Call("Emulation.setScriptExecutionDisabled", browser.Object{"value": true}, nil)
	for _, page := range looked.pages() {
		p.Goto(looked.host + page.path)
		p.Is(page.name, `document.querySelector('main').innerText.length > 20 && [...document.querySelectorAll('button[data-copy], #theme-switch')].every((e) => !e.offsetHeight)`, true)
	}
	looked.on(t, p).steps(`
		visit /events/
		do one('#q').value = 'jazz'
		follow one('#search-form button').click()
		is location.pathname + location.search -> /search/?search=jazz
		name count one('#facets fieldset input').dataset.count
		do one('#facets fieldset input').checked = true
		follow one('#filters button').click()
		is one('#results').dataset.total + one('#q').value -> $countjazz
		follow one('#chips a').click()
		visit /events/
		name first one('.card').dataset.eventId
		follow one('#pager a[rel=next]').click()
		is (one('.card').dataset.eventId !== '$first') + location.search -> true?page=2
		do one('#tz').value = 'UTC'
		follow one('#zone-switch button').click()
		is location.search.includes('tz=UTC') -> true
		do one('#selection-as summary').click()
		is one('#selection-as a').offsetHeight > 0 -> true
		visit ` + looked.protected + `
		do one('#password').value = 'open sesame'
		follow one('#unlock button').click()
		is one('[data-field=description]').innerText.includes('secret') -> true`)
}

// firstViews measures what a reader's first view costs (PAGES P6.2, 13.25).
func (looked *looked) firstViews(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()
	measure := func(path string) (total, requests int, of map[string]int) { // without pictures of records
		page.Goto("about:blank") // what the last page still asks for is not of this one
		page.Goto(looked.host + path)
		drawn(page)
		page.Eval(`((icon) => { icon.src = document.querySelector('link[rel=icon]').href; return icon.decode() })(new Image())`) // without a window nothing asks for it
		page.Eval(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(1), 0)))`)
		of = map[string]int{}
		for _, load := range page.Requests {
			if strings.HasPrefix(load.URL, looked.host+demoPictures) {
				continue
			}
			requests++
			total += load.Bytes
			of[load.Type] += load.Bytes
		}
		return total, requests, of
	}
	const kB = 1000
	for lang, width := range map[string]int{"": 1280, "/cn": 390, "/es": 1280, "/fr": 390} {
		page.Resize(width, 800)
		total, requests, of := measure(lang + "/events/")
		t.Logf("%s at %d: %d bytes in %d requests, %v", lang+"/events/", width, total, requests, of)
		if of["Document"] > 30*kB || of["Stylesheet"] > 15*kB || of["Script"] > 12*kB || of["Font"] > 21*kB || total > 60*kB || requests > 7 ||
			of["Document"] == 0 || of["Stylesheet"] == 0 || of["Script"] == 0 || of["Font"] == 0 {
			t.Errorf("%s at %d: %d bytes in %d requests, %v", lang+"/events/", width, total, requests, of)
		}
		if total, requests, of := measure(lang + looked.event); total > 100*kB {
			t.Errorf("%s at %d: %d bytes in %d requests, %v", lang+looked.event, width, total, requests, of)
		}
		for _, path := range []string{"/", "/events/", "/events/month/", "/events/week/", looked.event} {
			moves := 1.0
			for try := 0; moves > 0.02 && try < 20; try++ { // a busy machine draws before its cache gives the font
				page.Goto(looked.host + lang + path)
				moves, _ = page.Eval(shifted).(float64)
			}
			if moves > 0.02 {
				t.Errorf("%s at %d: content moves by %.3f", lang+path, width, moves)
			}
		}
		page.Resize(1280, 800)
		total, requests, of = measure(lang + "/events/map/")
		t.Logf("%s: %d bytes in %d requests, %v", lang+"/events/map/", total, requests, of)
		if total > 200*kB || requests > 12 || page.Eval(`document.querySelectorAll('#map [data-marker]').length`) == 0.0 {
			t.Errorf("%s: %d bytes in %d requests, %v", lang+"/events/map/", total, requests, of)
		}
		parts := 0
		for _, load := range page.Requests {
			if strings.Contains(load.URL, "/leaflet.") || strings.Contains(load.URL, "/topojson-client.") || strings.Contains(load.URL, "/countries-") {
				parts += load.Bytes
			}
		}
		if parts == 0 || parts > 95*kB || page.Requested("countries-50m") {
			t.Errorf("%s: the parts of the map have %d bytes", lang+"/events/map/", parts)
		}
	}
	// Time is that of a machine that has nothing else to do, which tests have not: a page
	// is quick when it is so once.
	quick := false
	var slow any
	for end := time.Now().Add(limit); time.Now().Before(end); {
		page.Goto(looked.host + "/events/")
		slow = page.Eval(`new Promise((done) => {
			const seen = {tasks: [], painted: 0};
			new PerformanceObserver((l) => seen.tasks.push(...l.getEntries().map((e) => e.duration))).observe({type: 'longtask', buffered: true});
			new PerformanceObserver((l) => seen.painted = Math.max(seen.painted, ...l.getEntries().map((e) => e.startTime))).observe({type: 'largest-contentful-paint', buffered: true});
			requestAnimationFrame(() => setTimeout(() => done(JSON.stringify(seen)), 50));
		})`)
		var seen struct {
			Tasks   []float64
			Painted float64
		}
		must(t, json.Unmarshal([]byte(slow.(string)), &seen))
		if quick = seen.Painted > 0 && seen.Painted <= 1000 && (len(seen.Tasks) == 0 || slices.Max(seen.Tasks) <= 100); quick {
			break
		}
	}
	if !quick {
		t.Errorf("no view was quick, the last one %v", slow)
	}
}

// shifted is the cumulative layout shift.
const shifted = `new Promise((done) => {
	let sum = 0;
	new PerformanceObserver((l) => { for (const e of l.getEntries()) sum += e.value }).observe({type: 'layout-shift', buffered: true});
	requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(sum), 0)));
})`

// foreign serves a page of another site under a policy of its own.
func foreign(t *testing.T, policy, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Security-Policy", policy)
		writer.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = writer.Write([]byte(`<!doctype html><html lang="en"><title>Another site</title><link rel="icon" href="data:,"><body><main><h1>Another site</h1>` + body + `</main></body></html>`))
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/"
}

// on returns a page as scenes take steps on it.
func (looked *looked) on(t *testing.T, page *browserPage) *deskPage {
	t.Helper()
	deskPage := (&desk{server: looked.server}).at(t)
	deskPage.browserPage = page
	return deskPage
}

// element: <daybook-calendar> on a page of another origin under a strict policy
// (PAGES P8.1, 13.31, 13.32).
func (looked *looked) element(t *testing.T) {
	t.Helper()
	u := foreign(t, "default-src 'none'; script-src "+looked.host+"; connect-src "+looked.host+"; img-src data:; require-trusted-types-for 'script'",
		`<script type="module" src="`+looked.host+`/embed/v1/daybook-calendar.js"></script>
		<daybook-calendar id="first" limit="5" tags="markup" target="_blank"><a href="/">Events</a></daybook-calendar>
		<daybook-calendar id="two" view="month" date="`+looked.day+`" tz="UTC" lang="fr" theme="dark"></daybook-calendar>`)
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1000, 900)
	page.Goto(u)
	page.Eval(`window.seen = []; for (const n of ['load', 'select', 'change', 'error']) document.addEventListener('daybook-' + n, (e) => { seen.push([n, e.target.id, e.detail]); if (n === 'select' && window.hold) e.preventDefault() });
		window.first = document.getElementById('first'), window.two = document.getElementById('two'), window.inside = (e, s) => [...e.shadowRoot.querySelectorAll(s)]; 0`)
	page.Wait(`inside(first, '[part~=item]').length === 1 && inside(two, '[part~=day]').length >= 28`)
	if got := page.Eval(`inside(first, 'h3')[0].innerText + '|' + inside(first, '[part~=place]')[0].innerText + '|' + inside(first, 'h3 a')[0].target + '|' + inside(first, 'img').length`); got != "<img src=x onerror=alert(1)>|<img src=y onerror=alert(2)>, Lyon|_blank|0" {
		t.Errorf("it tells %v", got)
	}
	// The month shows what the list says of it, in French.
	month := looked.want(200, http.MethodGet, "/events?overlap=true&strict_dates=true&per_page=50&start_date="+looked.day[:7]+"-01T00:00:00Z&end_date="+endOfMonth(t, looked.day)+"T23:59:59Z", "", "")
	var ids []string
	for _, value := range month["events"].([]any) {
		ids = append(ids, idOf(value.(map[string]any)))
	}
	slices.Sort(ids)
	got, _ := page.Eval(`[...new Set(inside(two, '[part~=chip]').map((a) => a.dataset.eventId))].sort().join()`).(string)
	if total := month["total"].(float64); total <= 50 && got != strings.Join(ids, ",") {
		t.Errorf("the month has %s, want %v", got, ids)
	}
	page.Is("the month", `inside(two, 'section')[0].lang + inside(two, 'caption').length + inside(two, 'th[scope=col]').length + inside(two, 'td ul').every((u) => u.closest('td'))`, "fr17true")
	steps := looked.on(t, page)
	steps.names["month"] = looked.day[:7]
	steps.steps(`
		do inside(two, 'td:not(.other) a[part~=number]')[3].focus()
		keys ArrowRight
		is two.shadowRoot.activeElement.closest('td').dataset.date -> $month-05
		do window.hold = true; inside(first, 'h3 a')[0].click()
		is JSON.stringify(seen.filter(([n]) => n === 'select').map(([n, id, d]) => [id, d.event.slug !== ''])) -> [["first",true]]
		do seen.length = 0; first.refresh().then(() => { window.again = true })
		wait window.again && seen.length === 1
		is JSON.stringify([seen[0][0], seen[0][1], seen[0][2].total, seen[0][2].position > 0]) -> ["load","first",1,true]
		do first.removeAttribute('tags'); first.setAttribute('limit', '7')
		wait inside(first, '[part~=item]').length === 7
		do inside(first, '[part~=next]')[0].focus(); inside(first, '[part~=next]')[0].click(); seen.length = 0
		wait seen.length === 1 && first.shadowRoot.activeElement?.getAttribute('part') === 'next'
		do first.setAttribute('search', 'nothing of it')
		wait inside(first, '[part~=empty]').length === 1
		is inside(first, '[part~=header]')[0].innerText.includes('false') -> false
		do seen.length = 0; first.setAttribute('weekday', 'nonsense')
		wait seen.some(([n]) => n === 'error')
		is JSON.stringify(seen.find(([n]) => n === 'error')[2]) + inside(first, '[part~=error]').length -> {"code":"rest_invalid_param","status":400}1
		do first.removeAttribute('weekday'); first.removeAttribute('search')
		wait inside(first, '[part~=item]').length === 7
		do const s = new CSSStyleSheet(); s.replaceSync('#first { --daybook-ink: rgb(1, 2, 3); --daybook-background: rgb(250, 251, 252) } #first::part(title) { text-transform: uppercase }'); document.adoptedStyleSheets = [s]
		is ((s) => [s(inside(first, 'h3 a')[0]).color, s(inside(first, 'section')[0]).backgroundColor, s(inside(first, '[part~=title]')[0]).textTransform].join())(getComputedStyle) -> rgb(1, 2, 3),rgb(250, 251, 252),uppercase`)
	for _, f := range page.Faults {
		if !strings.Contains(f, "status of 400") {
			t.Error(f)
		}
	}
	for _, load := range page.Requests {
		if !strings.HasPrefix(load.URL, looked.host+"/") && !strings.HasPrefix(load.URL, u) {
			t.Errorf("a request to %s", load.URL)
		}
		if strings.HasSuffix(load.URL, "/daybook-calendar.js") && (load.Bytes == 0 || load.Bytes > 12_000) {
			t.Errorf("the script has %d bytes", load.Bytes)
		}
	}
	looked.elementDays(t)
	q := openPage(t, "about:blank") // axe-core itself needs a page without that policy
	q.Watch()
	q.Resize(390, 800)
	q.Goto(foreign(t, "default-src 'self' 'unsafe-inline' "+looked.host, `<script type="module" src="`+looked.host+`/embed/v1/daybook-calendar.js"></script>
		<daybook-calendar id="list"></daybook-calendar><daybook-calendar id="month" view="month" date="`+looked.day+`"></daybook-calendar>`))
	q.Wait(`document.getElementById('list').shadowRoot.querySelector('[part~=item]') && document.getElementById('month').shadowRoot.querySelector('[part~=chip]')`)
	check(t, q, "element, narrow", everyRule)
	keepPicture(t, q, "element narrow")
	q.Resize(200, 800)
	q.Is("steps in one line", `((boxes) => Math.max(...boxes.map((b) => b.top)) < Math.min(...boxes.map((b) => b.bottom)))([...document.getElementById('month').shadowRoot.querySelector('[part~=header]').children].map((e) => e.getBoundingClientRect()))`, true)
	q.Resize(1000, 900)
	check(t, q, "element", everyRule)
	keepPicture(t, q, "element light")
	q.Prefer(inTheme("dark"))
	check(t, q, "element in the dark", colourRules)
}

// elementDays: <daybook-calendar> has the hour that comes twice on its day, and an event that
// ends at a midnight that there is not on no further one; titles keep their direction
// (PAGES P1.4, P4.4).
func (looked *looked) elementDays(t *testing.T) {
	t.Helper()
	event := func(title, start, end string) string {
		return idOf(looked.want(201, http.MethodPost, "/events", looked.token, fmt.Sprintf(`{"title":%q,"start_date":%q,"end_date":%q,"timezone":"Africa/Cairo","venue":{"venue":"בית העם","city":"תל אביב"}}`, title, start, end)))
	}
	second := event("ערב שירה", "2030-10-31T21:30:00Z", "2030-10-31T21:45:00Z") // 23:30 on 31 October
	until := event("Until a midnight", "2030-04-25 20:00", "2030-04-26 00:00")
	page := openPage(t, "about:blank")
	page.Watch()
	page.Goto(foreign(t, "default-src 'self' 'unsafe-inline' "+looked.host, `<script type="module" src="`+looked.host+`/embed/v1/daybook-calendar.js"></script>
		<daybook-calendar view="month" date="2030-10-01" tz="Africa/Cairo"></daybook-calendar><daybook-calendar view="month" date="2030-04-01" tz="Africa/Cairo"></daybook-calendar>
		<daybook-calendar view="month" date="2030-04-01"></daybook-calendar><daybook-calendar start_date="2030-10-01" end_date="2030-11-30"></daybook-calendar>`))
	page.Eval(`window.all = [...document.querySelectorAll('daybook-calendar')], window.inside = (e, s) => [...e.shadowRoot.querySelectorAll(s)]; 0`)
	page.Wait(`all.every((e) => inside(e, '[part~=chip], [part~=item]').length > 0)`)
	days := `((e) => inside(e, 'td').filter((d) => d.querySelector('[part~=chip]')).map((d) => d.dataset.date + ' ' + d.querySelector('[part~=chip]').dataset.eventId).join())`
	for i, want := range []string{"2030-10-31 " + second, "2030-04-25 " + until, "2030-04-25 " + until} {
		page.Is(fmt.Sprint(i), fmt.Sprintf("%s(all[%d])", days, i), want)
	}
	if got := page.Eval(`[inside(all[0], '[part~=chip] bdi')[0].textContent, inside(all[3], 'h3[dir=auto] a')[0].textContent, ...inside(all[3], '[part~=place] bdi').map((b) => b.textContent)].join('|')`); got != "ערב שירה|ערב שירה|בית העם|תל אביב" {
		t.Errorf("directions: %v", got)
	}
}

func endOfMonth(t *testing.T, day string) string {
	t.Helper()
	first, err := time.Parse("2006-01", day[:7])
	must(t, err)
	return first.AddDate(0, 1, -1).Format(time.DateOnly)
}

// frames: pages of /embed/ are shown in frames of other sites, others are not, and
// links lead out of the frame (PAGES P8.2, 13.33).
func (looked *looked) frames(t *testing.T) {
	t.Helper()
	page := url.QueryEscape(strings.Replace(looked.host, "http:", "https:", 1) + "/fr" + looked.event)
	told := looked.oembed(t, 200, "maxwidth=400&url="+page)
	if told["type"] != "rich" || told["version"] != "1.0" || told["width"] != 400.0 || told["height"] != 320.0 || told["author_name"] == nil || told["cache_age"] != 3600.0 ||
		!strings.Contains(told["html"].(string), `src="`+looked.host+`/fr/embed`+looked.event+`"`) {
		t.Errorf("told of an event: %v", told)
	}
	if locked := looked.oembed(t, 200, "url="+url.QueryEscape(looked.host+looked.protected)); locked["type"] != "link" || locked["title"] != "Members’ evening" || locked["html"] != nil {
		t.Errorf("told of a protected event: %v", locked)
	}
	looked.oembed(t, 200, "format=xml&url="+page)
	looked.oembed(t, 400, "")
	looked.oembed(t, 400, "maxwidth=wide&url="+page)
	looked.oembed(t, 501, "format=yaml&url="+page)
	for _, other := range []string{looked.host + "/events/", looked.host + looked.venue, looked.host + looked.event + "history/", looked.host + looked.gone, "https://elsewhere.example" + looked.event, "event"} {
		looked.oembed(t, 404, "url="+url.QueryEscape(other))
	}
	p := openPage(t, "about:blank")
	p.Watch()
	p.Resize(1000, 900)
	p.Goto(foreign(t, "frame-src "+looked.host, told["html"].(string)+`<iframe title="list" src="`+looked.host+`/embed/events/"></iframe>`))
	if len(p.Faults) > 0 {
		t.Error(p.Faults)
	}
	p.Goto(foreign(t, "frame-src "+looked.host, `<iframe title="list" src="`+looked.host+`/events/"></iframe>`))
	p.Until("a report that a page is not for frames", func() bool {
		return slices.ContainsFunc(p.Faults, func(text string) bool { return strings.Contains(text, "frame-ancestors") })
	})
	p.Goto(looked.host + "/embed/events/?view=month&theme=dark")
	p.Is("the embedded month", `[...document.querySelectorAll('a')].every((a) => a.target === '_top') + document.documentElement.dataset.theme + document.querySelectorAll('header, footer, form').length + document.querySelectorAll('#month').length`, "truedark01")
}

// foreignForms: a browser that remembers credentials sends them with the form of any page;
// what another site sends is refused (INTERFACE 2.11, PAGES P2.3).
func (looked *looked) foreignForms(t *testing.T) {
	t.Helper()
	page := openPage(t, strings.Replace(looked.host, "://", "://admin:"+looked.token+"@", 1)+"/?preview=true")
	page.Goto(looked.host + "/?preview=true")
	if got := page.Eval(`document.getElementById('preview') !== null`); got != true {
		t.Fatalf("the browser does not remember credentials: %v", page.Eval(`document.body.innerText`))
	}
	write := func(name string) any {
		return page.Eval(`fetch('` + looked.root + `/tags', {method: 'POST', credentials: 'include', mode: location.origin === '` + looked.host + `' ? 'same-origin' : 'no-cors', body: new URLSearchParams({name: '` + name + `'})}).then((r) => r.status)`)
	}
	if got := write("Own page"); got != 201.0 {
		t.Errorf("a page of its own got %v", got)
	}
	for _, form := range []struct{ action, enctype, field, value string }{
		{looked.root + "/tags", "application/x-www-form-urlencoded", "name", "Foreign form"},
		{looked.root + "/tags", "text/plain", "{&quot;name&quot;:&quot;Foreign form&quot;,&quot;x&quot;:&quot;", "&quot;}"},
		{looked.host + looked.protected, "application/x-www-form-urlencoded", "password", "open sesame"},
		{looked.host + looked.protected + "?preview=true", "application/x-www-form-urlencoded", "password", "open sesame"},
	} {
		page.Goto(foreign(t, "script-src 'none'", `<form method="post" action="`+form.action+`" enctype="`+form.enctype+`"><input name="`+form.field+`" value="`+form.value+`"></form>`))
		page.Follow(func() { page.Eval(`document.forms[0].submit()`) })
		if got := page.Eval(`new URL(location.href).origin + (document.body.dataset.code ?? '') + document.body.innerText`).(string); !strings.HasPrefix(got, looked.host) || !strings.Contains(got, "rest_forbidden_origin") || strings.Contains(got, "secret") {
			t.Errorf("%s as %s: got %s", form.action, form.enctype, got)
		}
	}
	page.Goto(foreign(t, "script-src 'none'", ""))
	write("Foreign script")
	if got := looked.want(200, http.MethodGet, "/tags?hide_empty=false&search=Foreign", "", "")["total"]; got != 0.0 {
		t.Errorf("other sites made %v tags", got)
	}
	// The page's own form works, after a wrong password as well.
	page.Goto(looked.host + looked.protected)
	looked.on(t, page).steps(`
		do one('#unlock [name=password]').value = 'wrong'
		follow one('#unlock').submit()
		do one('#unlock [name=password]').value = 'open sesame'
		follow one('#unlock').submit()
		is document.body.innerText.includes('secret') -> true`)
}

// oembed asks how a page is embedded.
func (looked *looked) oembed(t *testing.T, status int, query string) map[string]any {
	t.Helper()
	got, head, data := looked.full(http.MethodGet, looked.host+"/oembed?"+query, "", "", nil)
	if got != status {
		t.Fatalf("%s: got %d %s, want %d", query, got, data, status)
	}
	if xml := strings.Contains(query, "format=xml"); xml != strings.HasPrefix(head.Get("Content-Type"), "text/xml") || xml && !strings.Contains(string(data), "<type>rich</type>") {
		t.Errorf("%s: %s %s", query, head.Get("Content-Type"), data)
	}
	if head.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%s: pages of other sites cannot read it", query)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil && !strings.Contains(query, "format=xml") {
		t.Errorf("%s: %v in %s", query, err, data)
	}
	return out
}
