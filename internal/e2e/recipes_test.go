package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/internal/testkit/browser"
	"daybook/internal/testkit/engines"
	"daybook/internal/testkit/world"
)

var update = flag.Bool("update", false, "take the pictures of docs/recipes anew")

// TestRecipes runs the pages of docs/recipes in a browser, with the packages that they
// name, against a service: what people see there is what is in the calendar.
func TestRecipes(t *testing.T) {
	t.Parallel()
	engines.URL(t, engines.Chromium)
	svc := embedded(t, world.Options{})
	pages := recipes(t, svc, nodePackages(t, "recipes/package.json", "recipes/package-lock.json"))
	editor := svc.as(t, "editor")
	made := func(collection string, o obj) string {
		t.Helper()
		return editor.create(collection, o).ID().String()
	}
	jazz := made("categories", obj{"name": "Jazz"})
	hall := made("venues", obj{"venue": "Hall & Garden", "city": "München", "geo_lat": 48.137, "geo_lng": 11.575})
	club := made("venues", obj{"venue": "Club", "city": "München", "geo_lat": 48.15, "geo_lng": 11.6})
	far := made("venues", obj{"venue": "Club", "city": "Berlin", "geo_lat": 52.5, "geo_lng": 13.4}) // another of this name
	event := func(title, start, end, venue string, more obj) {
		t.Helper()
		o := obj{"title": title, "start_date": start, "end_date": end, "venue": venue}
		maps.Copy(o, more)
		made("events", o)
	}
	event("Jazz & blues", "2026-05-15 20:00:00", "2026-05-15 22:30:00", hall, obj{"timezone": "Europe/Berlin", "categories": jazz, "featured": true})
	event("Open days", "2026-05-20", "2026-05-21", club, obj{"all_day": true})
	event("Symphony", "2026-05-28 19:30:00", "2026-05-28 21:00:00", hall, nil)
	event("Summer night < dawn", "2026-06-20 21:00:00", "2026-06-21 02:00:00", far, obj{"timezone": "America/New_York", "categories": jazz})
	svc.as(t, "nobody").read("/events").fields(obj{"total": 4}) // lists show all

	t.Run("fullcalendar", func(t *testing.T) {
		t.Parallel()
		page := pages.open(t, "fullcalendar")
		page.Eval(`calendar.gotoDate('2026-05-01'); 0`)
		entries := func(n int) any {
			t.Helper()
			return page.Wait(`calendar.getEvents().length === ` + fmt.Sprint(n) + ` && JSON.stringify(calendar.getEvents().map((e) =>
				[e.title, e.start.toISOString(), e.end.toISOString(), e.allDay, e.extendedProps.location, e.url]).sort())`)
		}
		got, _ := entries(3).(string)
		for _, want := range []string{
			`["Jazz & blues","2026-05-15T18:00:00.000Z","2026-05-15T20:30:00.000Z",false,"Hall & Garden, München","` + svc.Base + `/event/jazz-blues/"]`,
			`"Open days"`, `true,"Club, München"`, `["Symphony","2026-05-28T19:30:00.000Z","2026-05-28T21:00:00.000Z",false`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s\nlacks %s", got, want)
			}
		}
		page.Wait(`['Jazz & blues', 'Open days', 'Symphony'].every((s) => document.body.innerText.includes(s))`)
		pages.picture(t, page, "fullcalendar")
		page.Eval(`calendar.gotoDate('2026-06-01'); 0`)
		page.Wait(`document.body.innerText.includes('Summer night < dawn')`)
	})
	t.Run("eventcalendar", func(t *testing.T) {
		t.Parallel()
		page := pages.open(t, "eventcalendar")
		page.Eval(`calendar.setOption('date', '2026-05-01'); 0`)
		got := page.Wait(`calendar.getEvents().length === 3 && JSON.stringify(calendar.getEvents().map((e) => [e.title, e.allDay]).sort())`)
		if got != `[["Jazz & blues",false],["Open days",true],["Symphony",false]]` {
			t.Errorf("got %v", got)
		}
		page.Wait(`['Jazz & blues', 'Open days', 'Symphony'].every((s) => document.body.innerText.includes(s))`)
		pages.picture(t, page, "eventcalendar")
	})
	t.Run("map", func(t *testing.T) {
		t.Parallel()
		page := pages.open(t, "map")
		// It begins with all places in sight, and nothing below them.
		page.Wait(`venues.getLayers().length === 3 && venues.getLayers().every((l) => map.getBounds().contains(l.getLatLng()) && l.getElement().getBoundingClientRect().width > 10)`)
		page.Wait(`document.querySelectorAll('.leaflet-tile').length === 0`)
		page.Eval(`map.setView([48.14, 11.58], 12); 0`)
		places := `JSON.stringify(venues.getLayers().map((l) => [l.feature.properties.venue, l.feature.properties.count, l.getLatLng().lat, l.getLatLng().lng]))`
		if got := page.Wait(`venues.getLayers().length === 2 && ` + places); got != `[["Hall & Garden",2,48.137,11.575],["Club",1,48.15,11.6]]` {
			t.Errorf("got %v", got)
		}
		page.Eval(`venues.getLayers()[0].openPopup(); 0`)
		if got := page.Wait(`document.querySelector('.leaflet-popup-content')?.innerText`); got != "Hall & Garden\n2026-05-15 Jazz & blues\n2026-05-28 Symphony" {
			t.Errorf("popup %q", got)
		}
		pages.picture(t, page, "map")
		page.Eval(`map.setView([52.5, 13.4], 10); 0`)
		page.Wait(`venues.getLayers().length === 1 && venues.getLayers()[0].feature.properties.city === 'Berlin'`)
		page.Eval(`map.setView([0, 0], 0); 0`) // more than the world: longitudes beyond 180
		page.Wait(`map.getBounds().getEast() > 180 && venues.getLayers().length === 3`)
		page.Goto(pages.url + "/map.html?tiles") // with tiles set as it says
		page.Wait(`document.querySelectorAll('.leaflet-tile-loaded').length > 0 && document.querySelector('.leaflet-control-attribution').innerText.includes('© Mappers')`)
	})
	t.Run("reader", func(t *testing.T) {
		t.Parallel()
		page := pages.open(t, "reader")
		got, _ := page.Wait(`document.querySelectorAll('li').length === 4 && [...document.querySelectorAll('li')].map((l) => l.innerText).join('\n')`).(string)
		want := []string{
			"Jazz & blues 2026-05-15T20:00:00+02:00 Hall & Garden, München", "Open days 2026-05-20T00:00:00+00:00 Club, München",
			"Symphony 2026-05-28T19:30:00+00:00 Hall & Garden, München", "Summer night < dawn 2026-06-20T21:00:00-04:00 Club, Berlin",
		}
		if diff := cmp.Diff(want, strings.Split(got, "\n")); diff != "" {
			t.Error(diff)
		}
		if title := page.Eval(`document.querySelector('h1').innerText`); title != "Events" {
			t.Errorf("title %v", title)
		}
	})
	t.Run("instantsearch", func(t *testing.T) {
		t.Parallel()
		page := pages.open(t, "instantsearch")
		shown := func(want ...string) {
			t.Helper()
			list, err := json.Marshal(strings.Join(want, "|"))
			must(t, err)
			page.Wait(`[...document.querySelectorAll('#hits li')].map((l) => l.innerText.trim().replace(/\s+/g, ' ')).join('|') === ` + string(list))
		}
		offered := func(at, want string) {
			t.Helper()
			page.Wait(`[...document.querySelectorAll('` + at + ` li')].map((l) => l.querySelector('.ais-RefinementList-labelText').innerText + ' ' + l.querySelector('.ais-RefinementList-count').innerText).join('|') === '` + want + `'`)
		}
		choose := func(at, label string) {
			t.Helper()
			page.Eval(`[...document.querySelectorAll('` + at + ` li')].find((l) => l.innerText.includes('` + label + `')).querySelector('input').click(); 0`)
		}
		const (
			blues    = "Jazz & blues 2026-05-15 20:00 Hall & Garden"
			open     = "Open days 2026-05-20 00:00 Club"
			symphony = "Symphony 2026-05-28 19:30 Hall & Garden"
			summer   = "Summer night < dawn 2026-06-20 21:00 Club"
		)
		shown(blues, open, symphony, summer)
		offered("#categories", "Jazz 2")
		offered("#city", "München 3|Berlin 1")
		choose("#categories", "Jazz")
		shown(blues, summer)
		offered("#city", "Berlin 1|München 1")
		choose("#city", "Berlin")
		shown(summer)
		offered("#categories", "Jazz 1")
		choose("#city", "München") // values of one facet are alternatives
		shown(blues, summer)
		pages.picture(t, page, "instantsearch")
		page.Eval(`search.helper.clearRefinements().search(); 0`)
		shown(blues, open, symphony, summer)
		offered("#venue", "Hall & Garden 2|Club ("+club+") 1|Club ("+far+") 1") // two of one name
		choose("#venue", "("+far+")")
		shown(summer)
		choose("#venue", "("+club+")")
		shown(open, summer)
		page.Eval(`search.helper.clearRefinements().setQuery('sinphony').search(); 0`)
		shown(symphony)
		if got := page.Eval(`[...document.querySelectorAll('#hits mark')].map((m) => m.innerText).join('|')`); got != "Symphony" {
			t.Errorf("marked %q", got)
		}
		page.Eval(`search.helper.setQuery('night').search(); 0`)
		shown(summer)
		if got := page.Eval(`document.querySelector('#hits mark').parentNode.innerText`); got != "Summer night < dawn" {
			t.Errorf("the title of the hit is %q", got)
		}
		page.Eval(`search.helper.setQuery('nothing of it').search(); 0`)
		page.Wait(`document.querySelectorAll('#hits li').length === 0 && document.querySelector('#stats').innerText.includes('No results')`)
	})
	t.Run("phone", func(t *testing.T) {
		t.Parallel()
		page := pages.open(t, "phone")
		page.Wait(`document.title === 'Events'`)
		if got, want := page.Eval(`document.getElementById('subscribe').href`), strings.Replace(svc.Base, "http:", "webcal:", 1)+root+"/events.ics"; got != want {
			t.Errorf("link %v, want %s", got, want)
		}
		text, _ := page.Eval(`[...document.querySelectorAll('li')].map((l) => l.innerText).join('\n')`).(string)
		want := []string{
			"2026-05-15T18:00:00.000Z Jazz & blues · Hall & Garden, München", "2026-05-28T19:30:00.000Z Symphony · Hall & Garden, München",
			"2026-06-21T01:00:00.000Z Summer night < dawn · Club, Berlin",
		}
		got := strings.Split(text, "\n")
		for _, line := range want {
			if len(got) != 4 || !slices.Contains(got, line) {
				t.Errorf("%q lacks %s", got, line)
			}
		}
	})
}

// TestRecipesAreTold: what docs/listings.md shows of a page stands in it.
func TestRecipesAreTold(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "listings.md"))
	must(t, err)
	text := string(data)
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "recipes", "*"))
	must(t, err)
	for _, file := range files {
		page, err := os.ReadFile(file)
		must(t, err)
		if all.Write(page); !strings.Contains(text, "recipes/"+filepath.Base(file)) && !strings.HasSuffix(file, ".png") {
			t.Errorf("docs/listings.md does not name %s", file)
		}
	}
	if len(files) < 8 {
		t.Errorf("recipes: %v", files)
	}
	for _, section := range []string{"## A calendar widget", "## A map", "## A search page"} {
		_, part, ok := strings.Cut(text, section)
		part, _, _ = strings.Cut(part, "\n## ")
		blocks := strings.Split(part, "```")
		if !ok || len(blocks) < 3 {
			t.Errorf("%s: no script", section)
		}
		for i := 1; i < len(blocks); i += 2 {
			for line := range strings.Lines(strings.TrimPrefix(blocks[i], "js\n")) {
				if !strings.Contains(all.String(), line) {
					t.Errorf("%s: no page has %q", section, line)
				}
			}
		}
	}
}

// served are the pages of docs/recipes.
type served struct {
	url string
}

// recipes serves the pages for a service, with packages of a folder.
func recipes(t *testing.T, svc *service, packages string) *served {
	t.Helper()
	const cdn = "https://cdn.jsdelivr.net/npm/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /npm/{rest...}", func(writer http.ResponseWriter, request *http.Request) {
		// The version stands behind the last @ of the name.
		name, rest, _ := strings.Cut(request.PathValue("rest"), "/")
		if strings.HasPrefix(name, "@") {
			var inner string
			inner, rest, _ = strings.Cut(rest, "/")
			name += "/" + inner
		}
		at := strings.LastIndexByte(name, '@')
		dir := filepath.Join(packages, "node_modules", filepath.FromSlash(name[:max(at, 0)]))
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		var about struct{ Version string }
		if err == nil {
			err = json.Unmarshal(data, &about)
		}
		if err != nil || about.Version != name[at+1:] {
			t.Errorf("%s is not installed in this version (%q, %v)", request.URL.Path, about.Version, err)
		}
		http.ServeFile(writer, request, filepath.Join(dir, filepath.FromSlash(path.Clean("/"+rest))))
	})
	mux.HandleFunc("GET /tiles/{z}/{x}/{y}", func(writer http.ResponseWriter, request *http.Request) {
		http.ServeFile(writer, request, filepath.Join("..", "..", "docs", "recipes", "map.png"))
	})
	mux.HandleFunc("GET /{page}", func(writer http.ResponseWriter, request *http.Request) {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", "recipes", filepath.Base(request.PathValue("page"))))
		if err != nil {
			http.NotFound(writer, request)
			return
		}
		if strings.HasSuffix(request.URL.Path, ".js") {
			writer.Header().Set("Content-Type", "text/javascript")
		}
		text := strings.NewReplacer(cdn, "/npm/", "https://calendar.example.org", svc.Base).Replace(string(data))
		if request.URL.RawQuery == "tiles" {
			text = strings.NewReplacer("tiles = ''", "tiles = '/tiles/{z}/{x}/{y}.png'", "attribution = ''", "attribution = '© Mappers'").Replace(text)
		}
		if strings.Contains(text, "https://cdn") {
			t.Errorf("%s: another source of packages", request.URL.Path)
		}
		_, _ = writer.Write([]byte(text))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &served{server.URL}
}

func (served *served) open(t *testing.T, name string) *browser.Page {
	t.Helper()
	return browser.Open(t, served.url+"/"+name+".html")
}

// picture takes the picture of a page that is kept in docs/recipes, and looks whether it
// shows something.
func (served *served) picture(t *testing.T, page *browser.Page, name string) {
	t.Helper()
	const width, height = 960, 660
	page.Call("Emulation.setDeviceMetricsOverride", browser.Object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	page.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`)
	var shot struct{ Data []byte }
	page.Call("Page.captureScreenshot", nil, &shot)
	file := filepath.Join("..", "..", "docs", "recipes", name+".png")
	if *update {
		must(t, os.WriteFile(file, shot.Data, 0o600))
	}
	kept, err := os.ReadFile(file)
	must(t, err)
	for what, data := range map[string][]byte{"page": shot.Data, "picture": kept} {
		img, err := png.Decode(bytes.NewReader(data))
		must(t, err)
		if size := img.Bounds().Size(); size.X != width || size.Y != height || len(data) < 4<<10 || len(data) > 100<<10 {
			t.Errorf("%s of %s: %v, %d bytes", what, name, size, len(data))
		}
	}
}
