package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit/browser"
)

// whole is what a page says: all that is in main but its map, its title, and what its head
// tells machines.
const whole = `(() => {
	const main = document.getElementById('main').cloneNode(true);
	main.querySelector('#map')?.remove();
	return [document.title, document.getElementById('map')?.dataset.geojson, document.getElementById('zone-switch').outerHTML, main.innerHTML.replaceAll(' open=""', '').replace(/>\s*</g, '>\n<'),
		...[...document.head.querySelectorAll('link[rel=canonical], link[rel=alternate], meta[name=robots]')].map((e) => e.outerHTML).sort()].join('\n');
})()`

// replaced: a selection that changes in the page leaves what the page itself would be; focus,
// history and open drawers are kept (PAGES P4.3).
func (looked *looked) replaced(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1280, 900)
	page.Call("Emulation.setTimezoneOverride", browser.Object{"timezoneId": "Asia/Tokyo"}, nil)
	q := openPage(t, "about:blank")
	q.Call("Emulation.setTimezoneOverride", browser.Object{"timezoneId": "Asia/Tokyo"}, nil)
	asLoaded := func(what string) {
		t.Helper()
		if page.Eval(`window.stays`) != true {
			t.Errorf("%s: the page was loaded anew", what)
		}
		q.Goto(page.Eval(`location.href`).(string))
		same(t, what, page.Eval(whole), q.Eval(whole))
	}
	steps := looked.on(t, page)
	steps.steps(`
		let found one('#results').dataset.total + all('#chips').length
		visit /search/
		name total one('#results').dataset.total`)
	before := page.Eval(whole)
	steps.steps(`
		do window.stays = true; one('#selection-as').open = true; window.box = one('#facets input'); box.focus()
		name count box.dataset.count
		name value box.name + box.value
		name places one('#map').dataset.geojson
		keys Space
		is $found -> $count1
		is location.search !== '' -> true
		is document.activeElement.name + document.activeElement.value + document.activeElement.checked + one('#selection-as').open -> $valuetruetrue`)
	asLoaded("after a filter")
	page.Wait(isDrawn)
	if at, _ := page.Eval(`document.getElementById('map').dataset.geojson`).(string); at == steps.names["places"] || !page.Requested(at) {
		t.Errorf("the map does not ask for the places of %s", at)
	}
	steps.steps(`
		click #chips a
		is $found -> $total0`)
	asLoaded("without the filter")
	steps.steps(`
		do history.back()
		is $found -> $count1`)
	asLoaded("on the way back")
	steps.steps(`
		do history.back()
		is $found -> $total0`)
	same(t, "at the beginning", page.Eval(whole), before)

	// The zone of the browser, by script; a map keeps up.
	steps.steps(`
		visit /events/map/?tags=markup
		do window.stays = true
		is [...one('#tz').options].find((o) => o.value === 'Asia/Tokyo')?.text.includes('(') -> true
		do one('#tz').value = 'Asia/Tokyo'; one('#zone-switch button').click()
		is location.search + all('.card time[datetime$="+09:00"]').length -> ?tz=Asia%2FTokyo&tags=markup1`)
	asLoaded("in another zone")
	// Where no answer comes, the page is loaded.
	steps.steps(`
		wait one('#map').dataset.view && all('#map [data-marker]').length === 1
		visit /events/
		do window.fetch = () => Promise.reject(new Error('no answer')); one('#filter-search').value = 'jazz'
		follow one('#filters button').click()
		is location.search -> ?search=jazz`)
}

// same tells the first line in which two pages differ.
func same(t *testing.T, where string, got, want any) {
	t.Helper()
	is, should := strings.Split(got.(string), "\n"), strings.Split(want.(string), "\n")
	for i := range max(len(is), len(should)) {
		if i >= len(is) || i >= len(should) || is[i] != should[i] {
			t.Errorf("%s: in line %d the page has\n%v\nwant\n%v", where, i, is[min(i, len(is)):min(i+1, len(is))], should[min(i, len(should)):min(i+1, len(should))])
			return
		}
	}
}

// helped: suggestions, the menu, copies, and the line of the present time (PAGES P4.3, P5.2).
func (looked *looked) helped(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1280, 900)
	steps := looked.on(t, page)
	steps.steps(`
		visit /events/?tags=markup
		do one('#q').focus()
		type jazz
		wait all('[role=option]').length > 1
		keys ArrowUp
		is document.getElementById(document.activeElement.getAttribute('aria-activedescendant')) === all('[role=option]').at(-1) -> true
		do one('#q').blur()
		is one('.suggestions').hidden -> true
		do one('#q').focus(); one('#q').value = ''
		type jaz
		wait !one('.suggestions').hidden && all('[role=option]').length > 1
		name chosen new URL(all('[role=option]')[1].dataset.url).pathname
		follow all('[role=option]')[1].click()
		is location.pathname -> $chosen
		visit /events/
		do one('.menu summary').focus()
		keys Enter
		is one('.menu').open -> true
		keys Tab Escape
		is one('.menu').open + (document.activeElement === one('.menu summary')) -> 1
		keys Enter
		is one('.menu').open -> true
		click h1
		is one('.menu').open -> false`)
	for _, theme := range []string{"dark", "light", "auto"} {
		steps.names["theme"] = theme
		steps.steps(`
			click #theme-switch input[value=$theme]
			visit /events/
			is (document.documentElement.dataset.theme ?? 'auto') + one('#theme-switch input:checked').value -> $theme$theme`)
	}

	copied := func(button string) {
		t.Helper()
		page.Eval(`window.button = document.querySelector('` + button + `'); window.labels = [button.textContent]; new MutationObserver(() => labels.push(button.textContent)).observe(button, {childList: true, characterData: true, subtree: true}); button.closest('details')?.setAttribute('open', ''); 0`)
		if page.Eval(`button.offsetHeight > 0`) != true {
			t.Errorf("%s is not there", button)
		}
		page.Eval(`button.click(); 0`)
		page.Is(button, `labels.length === 3 && labels[0] === labels[2] && labels[1] === button.dataset.copied && labels[1] !== labels[0]`, true)
		page.Is(button, `navigator.clipboard.readText().then((s) => s === (button.dataset.copy ?? document.querySelector('link[rel=canonical]').href))`, true)
	}
	page.Goto(looked.host + looked.event) // where copying is not allowed, nothing fails
	page.Eval(`navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); document.querySelector('.actions [data-action=share]').click(); 0`)
	page.Allow(looked.host, "clipboardReadWrite", "clipboardSanitizedWrite")
	page.Goto(looked.host + looked.event)
	copied("[data-action=share]")
	page.Goto(looked.host + "/events/?tags=markup")
	copied("#selection-as [data-format=json] button")
	copied("#selection-as [data-format=embed] button")
	page.Is("the copied link", `((li) => li.querySelector('a').href === li.querySelector('button').dataset.copy)(document.querySelector('#selection-as [data-format=json]'))`, true)

	// It is noon in some zone; its hours are always shown.
	now := time.Now().UTC()
	zone := "Etc/GMT" + fmt.Sprintf("%+d", now.Hour()-12) // whose signs are turned round
	page.Goto(looked.host + "/events/day/" + now.Format(time.DateOnly) + "/?tz=" + url.QueryEscape(zone))
	page.Is(zone, `document.querySelectorAll('.now-line').length + ' ' + document.querySelector('[data-from-hour]').dataset.zone`, "1 "+zone)
	if got, _ := page.Eval(`((line, day) => (line.top - day.top) / day.height * document.querySelectorAll('.hours li:not(.now-at)').length + Number(document.querySelector('[data-from-hour]').dataset.fromHour))(document.querySelector('.now-line').getBoundingClientRect(), document.querySelector('.timed').getBoundingClientRect())`).(float64); got < 11.5 || got > 13.5 {
		t.Errorf("the line of noon stands at %v o'clock", got)
	}
	page.Goto(looked.host + "/events/day/" + now.AddDate(0, 0, 3).Format(time.DateOnly) + "/")
	page.Is("lines of the present time on another day", `document.querySelectorAll('.now-line').length`, 0.0)
	if len(page.Faults) > 0 {
		t.Error(page.Faults)
	}
}

// sheet begins each page of a PDF.
var sheet = regexp.MustCompile(`/Type\s*/Page\b`)

// printed: black on white whatever the theme, no controls, cards unbroken, the URLs of
// links on event pages, a month on one sheet (PAGES P5.2).
func (looked *looked) printed(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1280, 900)
	page.Call("Page.addScriptToEvaluateOnNewDocument", browser.Object{"source": `try { localStorage.setItem('theme', 'dark') } catch {}`}, nil)
	for _, path := range []string{"/events/", "/search/?search=jazz", "/events/month/" + looked.day[:7] + "/", "/events/map/", looked.event, looked.venue, looked.event + "history/"} {
		page.Prefer(map[string]string{"prefers-color-scheme": "dark"})
		page.Goto(looked.host + path)
		drawn(page)
		page.Call("Emulation.setEmulatedMedia", browser.Object{"media": "print"}, nil)
		page.Is(path, `((s) => s(document.documentElement).backgroundColor + s(document.querySelector('h1')).color)(getComputedStyle)`, "rgb(255, 255, 255)rgb(0, 0, 0)")
		page.Is(path, `[...document.querySelectorAll('main a')].filter((e) => e.checkVisibility() && !['rgb(0, 0, 0)', 'rgb(51, 51, 51)'].includes(getComputedStyle(e).color)).map((e) => e.outerHTML.slice(0, 120)).join()`, "")
		page.Is(path, `[...document.querySelectorAll('button, input, select, form:not(#compare), #site-nav, #pager, .step, .on-map, .leaflet-control-zoom, summary')].filter((e) => e.checkVisibility() && e.offsetHeight > 1).map((e) => e.outerHTML.slice(0, 120)).join()`, "")
		page.Is(path, `[...document.querySelectorAll('.card, #month')].every((e) => getComputedStyle(e).breakInside === 'avoid')`, true)
		if path == looked.event {
			page.Is(path, `((links) => links.length > 0 && links.every((a) => getComputedStyle(a, '::after').content.includes(a.getAttribute('href'))))([...document.querySelectorAll('.text a[href^=http], .facts a[href^=http], .facts-of a[href^=http]')].filter((a) => a.checkVisibility()))`, true)
		}
		var printed struct{ Data []byte }
		page.Call("Page.printToPDF", browser.Object{"paperWidth": 8.27, "paperHeight": 11.69}, &printed) // A4
		if n := len(sheet.FindAll(printed.Data, -1)); n == 0 || strings.Contains(path, "/month/") && n != 1 {
			t.Errorf("%s is printed on %d sheets", path, n)
		}
	}
}

// tile is a picture of one pixel.
const tile = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"

// tiled: tiles lie below the markers, their makers are told, and nothing else is asked for
// (PAGES P6.4, 13.29).
func (*looked) tiled(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		writer.Header().Set("Content-Type", "image/png")
		_, _ = writer.Write([]byte(tile))
	}))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"),
		"--pages-tiles", "http://{s}.localhost"+port+"/{z}/{x}/{y}.png", "--pages-tiles-hosts", "one,two", "--pages-tiles-attribution", "© Makers <b> & sons")
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	s.want(201, http.MethodPost, "/events", s.token, `{"title": "Here", "start_date": "`+tomorrow+` 09:00", "end_date": "`+tomorrow+` 10:00",
		"image": "http://three.localhost`+port+`/picture.png", "venue": {"venue": "Hall", "geo_lat": 45.76, "geo_lng": 4.84}}`)
	l := &looked{server: s}
	page := openPage(t, "about:blank")
	page.Watch()
	page.Resize(1280, 900)
	for _, path := range []string{"/events/map/", "/event/here/"} {
		page.Goto(s.host + path)
		drawn(page)
		page.Wait(`document.querySelectorAll('#map.tiled .leaflet-tile-loaded').length > 0 && document.querySelectorAll('#map [data-marker]').length === 1`)
		if got := page.Eval(`document.querySelector('.leaflet-control-attribution').innerText + getComputedStyle(document.querySelector('.outline')).display`); got != "© Makers <b> & sonsnone" {
			t.Errorf("%s: on the tiles stands %v", path, got)
		}
		asked := len(page.Requests)
		page.Requests = slices.DeleteFunc(page.Requests, func(load *load) bool {
			return strings.HasPrefix(load.URL, "http://one.localhost"+port+"/") || strings.HasPrefix(load.URL, "http://two.localhost"+port+"/")
		})
		if asked == len(page.Requests) || page.Requested("countries-50m") {
			t.Errorf("%s: asked for no tiles, or for outlines below them", path)
		}
		l.clean(t, page, path, 200)
	}
	// On a telephone the map of an event is loaded when it comes into view.
	page.Resize(390, 600)
	page.Goto(s.host + "/event/here/")
	page.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(0), 200))))`) // what is seen is told to scripts after a frame
	if page.Requested("leaflet") {
		t.Error("a map that is not in view is loaded")
	}
	drawn(page)
	if !page.Requested("leaflet") {
		t.Error("a map in view is not loaded")
	}
	server.Close()
	page.Goto(s.host + "/events/map/")
	drawn(page)
	page.Until("tiles that do not come", func() bool { return len(page.Faults) > 0 })
	page.Is("outlines without tiles", `document.querySelectorAll('.tiled').length + getComputedStyle(document.querySelector('.outline')).display`, "0inline")
}
