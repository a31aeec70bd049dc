package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit/browser"
	"daybook/internal/testkit/engines"
)

// desk is a calendar with users of each role, for the scenarios of the desk
// (docs/spec/desk.md E10).
type desk struct {
	*server

	on     []string          // where its records are, for commands
	tokens map[string]string // by user, whose name is "the-" and the role, or the-typist, an editor
}

// openDesk starts the calendar; without a browser the test does not run.
func openDesk(t *testing.T, settings ...string) *desk {
	t.Helper()
	data := t.TempDir()
	d := openDeskOn(t, []string{"--data", data}, settings...)
	d.data = data
	return d
}

// openDeskOn starts it where its records are.
func openDeskOn(t *testing.T, on []string, settings ...string) *desk {
	t.Helper()
	engines.URL(t, engines.EngineChromium)
	d := &desk{startServer(t, slices.Concat([]string{"serve", "--timezone", "Europe/Berlin"}, on, settings)...), on, map[string]string{}}
	for _, user := range []string{"subscriber", "contributor", "author", "editor", "auditor", "typist"} {
		role := user
		if user == "typist" {
			role = "editor"
		}
		d.tokens[user] = d.tool(t, "user", "add", "the-"+user, "--role", role)
	}
	return d
}

// tool runs a command on the records of the calendar, and returns what it says.
func (d *desk) tool(t *testing.T, command ...string) string {
	t.Helper()
	return strings.TrimSpace(mustTool(t, append(command, d.on...)...))
}

// deskPage is the desk in a browser.
type deskPage struct{ *browser.Page }

// as opens the desk for a user, at an address.
func (d *desk) as(t *testing.T, user, address string) deskPage {
	t.Helper()
	return d.enter(deskPage{browser.Open(t, "about:blank")}, user, address)
}

// enter opens the desk in a page.
func (d *desk) enter(p deskPage, user, address string) deskPage {
	d.t.Helper()
	p.Call("Emulation.setFocusEmulationEnabled", browser.Object{"enabled": true}, nil)
	p.Goto(d.host + "/desk/#/signin?" + url.Values{"name": {"the-" + user}, "token": {d.tokens[user]}}.Encode())
	p.Wait(`document.getElementById('who')?.dataset.role && document.querySelector('[role=tab][data-count]')`)
	if address != "" {
		p.Eval(`location.hash = ` + quoted(address) + `; 0`)
	}
	return p
}

// quoted is a text in JavaScript.
func quoted(text string) string { return strconv.Quote(text) }

// set types a value into a field.
func (p deskPage) set(selector, value string) {
	p.Wait(`document.querySelector(` + quoted(selector) + `)`)
	p.Eval(`((e) => { e.focus(); e.value = ` + quoted(value) + `; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})) })(document.querySelector(` + quoted(selector) + `)); 0`)
}

// press presses the last button, link or tab in sight that has a name.
func (p deskPage) press(name string) {
	p.Wait(`window.pressed = [...document.querySelectorAll('button, a, summary')].filter((e) => e.checkVisibility() && e.textContent.trim() === ` + quoted(name) + `).at(-1)`)
	p.Eval(`window.pressed.click(); 0`)
}

// state waits for a state of saving.
func (p deskPage) state(name string) {
	p.Wait(`document.getElementById('status')?.dataset.state === ` + quoted(name))
}

// form waits for the form of a record.
func (p deskPage) form(address string) {
	p.Wait(`location.hash === ` + quoted(address) + ` && document.getElementById('status')`)
}

// event makes an event, in so many days.
func (d *desk) event(t *testing.T, role, title string, in int, more map[string]any) string {
	t.Helper()
	day := time.Now().UTC().AddDate(0, 0, in).Format(time.DateOnly)
	o := map[string]any{"title": title, "start_date": day + " 19:00", "end_date": day + " 21:00"}
	maps.Copy(o, more)
	data, err := json.Marshal(o)
	must(t, err)
	return idOf(d.want(201, http.MethodPost, "/events", d.tokens[role], string(data)))
}

func (d *desk) read(id, field string) any {
	d.t.Helper()
	return d.want(200, http.MethodGet, "/events/"+id, d.token, "")[field]
}

// TestDesk has the lines of E10 by their numbers.
func TestDesk(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	d := openDesk(t)
	d.play(t, []scene{
		{"1 headers", (*desk).headers},
		{"2 sign in and out", (*desk).signsIn},
		{"3 me", (*desk).whoAmI},
		{"4 an event", (*desk).writes},
		{"5 faults", (*desk).faults},
		{"6 two people", (*desk).twoPeople},
		{"8 kept text", (*desk).keepsText},
		{"9 review", (*desk).reviews},
		{"10 trash and undo", (*desk).undoes},
		{"11 restore a version", (*desk).restores},
		{"12 preview", (*desk).previews},
		{"13 markup", (*desk).showsMarkup},
		{"14 accessibility", (*desk).accessible},
		{"15 reload and back", (*desk).goesBack},
		{"16 auditor", (*desk).auditor},
		{"sign out with texts", (*desk).asksBeforeSigningOut},
		{"sign in again", (*desk).comesBack},
		{"publish and undo", (*desk).publishes},
		{"trash of a contributor", (*desk).restoresOwn},
		{"load more", (*desk).loadsMore},
		{"restore all", (*desk).restoresAll},
	})
}

// TestDeskOnServers has those lines of E10 in which several people and lists have a part.
func TestDeskOnServers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	servers := newSize(t)
	d := openDeskOn(t, servers.on(nil, "store"), servers.on(nil, "feed", "index")...)
	d.play(t, []scene{
		{"4 an event", (*desk).writes},
		{"6 two people", (*desk).twoPeople},
		{"9 review", (*desk).reviews},
		{"10 trash and undo", (*desk).undoes},
		{"11 restore a version", (*desk).restores},
	})
}

// scene is something that people do at the desk.
type scene struct {
	name string
	run  func(*desk, *testing.T)
}

func (d *desk) play(t *testing.T, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(d, t)
		})
	}
}

func (d *desk) headers(t *testing.T) {
	t.Helper()
	status, header, body := d.full(http.MethodGet, d.host+"/desk/", "", "", nil)
	if status != 200 || header.Get("Set-Cookie") != "" || !strings.Contains(string(body), `data-prefix="api"`) {
		t.Errorf("status %d, %v\n%s", status, header, body)
	}
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types desk",
		"Referrer-Policy":         "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex", "X-Content-Type-Options": "nosniff",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if status, header, _ := d.full(http.MethodPost, d.host+"/desk/", "", "{}", nil); status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: status %d, Allow %q", status, header.Get("Allow"))
	}
	for _, path := range []string{"/desk/x", "/fr/desk/", "/desk/assets/none.0123456789.js"} {
		if status, _ := d.try(http.MethodGet, d.host+path, "", ""); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
	without := startServer(t, "serve", "--data", t.TempDir(), "--desk=false")
	for _, path := range []string{"/desk", "/desk/"} {
		if status, _ := d.try(http.MethodGet, without.host+path, "", ""); status != http.StatusNotFound {
			t.Errorf("%s without the desk: status %d", path, status)
		}
	}
	without.want(200, http.MethodGet, "/me", without.token, "")
}

func (d *desk) signsIn(t *testing.T) {
	t.Helper()
	p := deskPage{browser.Open(t, "about:blank")}
	p.Watch()
	p.Goto(d.host + "/desk/")
	p.set("[name=name]", "the-editor")
	p.set("[name=token]", "wrong")
	p.press("Sign in")
	p.Wait(`document.querySelector('[data-error=token]:not([hidden])').textContent`)
	p.Is("wrong token", `document.querySelectorAll('tr').length`, 0.0)
	p.set("[name=token]", d.tokens["editor"])
	p.Eval(`document.querySelector('[name=remember]').click(); 0`)
	p.press("Sign in")
	p.Wait(`document.getElementById('who')?.dataset.role === 'editor'`)
	p.Is("name", `document.getElementById('who').textContent.includes('the-editor')`, true)
	p.Is("remembered", `Object.keys(localStorage).some((k) => k.startsWith('daybook-desk'))`, true)
	for _, load := range p.Requests {
		if !strings.HasPrefix(load.URL, d.host+"/") {
			t.Errorf("a request to %s", load.URL)
		}
	}
	p.Eval(`[...document.querySelectorAll('button')].find((b) => b.textContent === 'Sign out').click(); 0`)
	p.Wait(`document.body.dataset.desk === 'signin'`)
	p.Is("nothing is left", `Object.keys(localStorage).concat(Object.keys(sessionStorage)).filter((k) => k.startsWith('daybook-desk')).join()`, "")
}

func (d *desk) whoAmI(t *testing.T) {
	t.Helper()
	for role, want := range map[string]string{
		"subscriber":  "create=false edit_others=false manage_categories=false manage_tags=false publish=false read_all=false read_history=true",
		"contributor": "create=true edit_others=false manage_categories=false manage_tags=false publish=false read_all=false read_history=true",
		"author":      "create=true edit_others=false manage_categories=true manage_tags=false publish=true read_all=false read_history=true",
		"editor":      "create=true edit_others=true manage_categories=true manage_tags=true publish=true read_all=true read_history=true",
		"auditor":     "create=false edit_others=false manage_categories=false manage_tags=false publish=false read_all=true read_history=true",
	} {
		me := d.want(200, http.MethodGet, "/me", d.tokens[role], "")
		can, _ := me["can"].(map[string]any)
		var got []string
		for _, name := range []string{"create", "edit_others", "manage_categories", "manage_tags", "publish", "read_all", "read_history"} {
			got = append(got, fmt.Sprintf("%s=%v", name, can[name]))
		}
		if strings.Join(got, " ") != want || me["role"] != role || me["name"] != "the-"+role || me["timezone"] != "Europe/Berlin" {
			t.Errorf("%s: %v", role, me)
		}
	}
	status, header, body := d.full(http.MethodGet, d.root+"/me", "", "", nil)
	if status != http.StatusUnauthorized || header.Get("Cache-Control") != "no-store" || header.Get("ETag") != "" || !strings.Contains(string(body), "rest_forbidden") {
		t.Errorf("anonymous: %d %v %s", status, header, body)
	}
}

func (d *desk) writes(t *testing.T) {
	t.Helper()
	d.want(201, http.MethodPost, "/organizers", d.token, `{"organizer": "Harbor Trust"}`)
	d.want(201, http.MethodPost, "/organizers", d.token, `{"organizer": "Choir"}`)
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.form("#/event/new")
	deskPage.set("input[name=title][data-lang=en]", "Concert <by> the quay & more")
	deskPage.Eval(`document.querySelector('[role=tab][data-lang=fr]').click(); 0`)
	deskPage.set("input[name=title][data-lang=fr]", "Concert au quai")
	deskPage.set("[name=start_words]", "next friday 7pm")
	deskPage.set("[name=end_words]", "next friday 9pm")
	deskPage.press("New venue")
	deskPage.set(`[name="venue.venue"]`, "Quay Hall")
	deskPage.set(`[name="venue.city"]`, "Lyon")
	for _, name := range []string{"Harbor Trust", "Choir"} {
		deskPage.Eval(`document.querySelector('[role=combobox][name=organizer]').focus(); 0`)
		deskPage.Type(name[:4])
		deskPage.Wait(`document.querySelector('[role=option]')?.textContent.includes(` + quoted(name) + `)`)
		deskPage.Press("ArrowDown", "Enter")
		deskPage.Wait(`document.querySelector('[data-chosen=organizer]').textContent.includes(` + quoted(name) + `)`)
	}
	deskPage.Eval(`document.querySelector('[role=combobox][name=tags]').focus(); 0`)
	deskPage.Type("open air")
	deskPage.Press("Enter")
	deskPage.Wait(`document.querySelector('[data-chosen=tags] [data-id]')`)
	deskPage.set("[name=cost]", "12 EUR")
	deskPage.press("Save")
	deskPage.state("saved")
	id, _ := deskPage.Eval(`location.hash.split('/')[2]`).(string)
	e := d.want(200, http.MethodGet, "/events/"+id, d.token, "")
	venue, _ := e["venue"].(map[string]any)
	if e["title"] != "Concert &lt;by&gt; the quay &amp; more" || e["cost"] != "12EUR" || venue["city"] != "Lyon" || len(e["organizer"].([]any)) != 2 || len(e["tags"].([]any)) != 1 {
		t.Errorf("it is %v", e)
	}
	_, data := d.try(http.MethodGet, strings.Replace(d.root, "/api", "/fr/api", 1)+"/events/"+id, d.token, "")
	if !strings.Contains(string(data), "Concert au quai") {
		t.Errorf("in French it is %s", data)
	}
}

func (d *desk) faults(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.form("#/event/new")
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-error=title]:not([hidden])') && document.querySelector('[data-error=end_date]:not([hidden])')`)
	deskPage.Is("focus", `document.activeElement.name`, "title")
	deskPage.set("input[name=title][data-lang=en]", "Late")
	deskPage.set("[name=start_words]", "2030-05-05 10:00")
	deskPage.set("[name=end_words]", "2030-05-05 09:00")
	deskPage.set("[name=website]", "nonsense")
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-error=end_date]:not([hidden])')`)
	deskPage.Is("focus", `document.activeElement.name`, "end_date")
	deskPage.Is("bad URL", `document.querySelector('[name=website]').getAttribute('aria-invalid')`, "true")
}

func (d *desk) twoPeople(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Shared", 3, nil)
	deskPage := d.as(t, "editor", "#/event/"+id)
	deskPage.form("#/event/" + id)
	deskPage.set("[name=cost]", "5 EUR")
	d.want(200, http.MethodPatch, "/events/"+id, d.token, `{"website": "https://a.example/"}`)
	deskPage.press("Save")
	deskPage.state("saved")
	if got := fmt.Sprintf("%v %v", d.read(id, "cost"), d.read(id, "website")); got != "5EUR https://a.example/" {
		t.Errorf("merged: %s", got)
	}
	deskPage.set("[name=cost]", "6 EUR")
	d.want(200, http.MethodPatch, "/events/"+id, d.token, `{"cost": "7 EUR"}`)
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-dialog=conflict] [data-conflict=cost]')`)
	deskPage.Eval(`document.querySelector('[data-conflict=cost] [value=theirs]').click(); document.querySelector('[data-dialog=conflict] .primary').click(); 0`)
	deskPage.state("saved")
	deskPage.Is("theirs", `document.querySelector('[name=cost]').value`, "7EUR")
}

// TestDeskSavesOnce: a save during which the service ends is carried out once (E10.7).
func TestDeskSavesOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	desk := openDesk(t)
	deskPage := desk.as(t, "editor", "#/event/new")
	deskPage.form("#/event/new")
	deskPage.set("input[name=title][data-lang=en]", "Once")
	deskPage.set("[name=start_words]", "tomorrow 7pm")
	deskPage.set("[name=end_words]", "tomorrow 9pm")
	desk.ends()
	deskPage.press("Save")
	deskPage.state("retrying")
	again := child(context.Background(), "serve", "--data", desk.data, "--timezone", "Europe/Berlin", "--listen", strings.TrimPrefix(desk.host, "http://"))
	server := startServerOf(t, again, "", again.Env)
	deskPage.state("saved")
	server.token = desk.token
	if list := server.want(200, http.MethodGet, "/events?search=once", server.token, ""); list["total"] != 1.0 {
		t.Errorf("it is there %v times", list["total"])
	}
}

func (d *desk) keepsText(t *testing.T) {
	t.Helper()
	id := d.event(t, "typist", "Kept", 4, nil)
	deskPage := d.as(t, "typist", "#/event/"+id)
	deskPage.form("#/event/" + id)
	deskPage.set("[name=cost]", "8 EUR")
	deskPage.Wait(`Object.keys(localStorage).some((k) => k.startsWith('daybook-desk-draft'))`)
	deskPage.Follow(func() { deskPage.Call("Page.reload", nil, nil) })
	deskPage.Wait(`document.querySelector('[data-dialog=unsaved]')`)
	deskPage.Eval(`document.querySelector('[data-dialog=unsaved] .primary').click(); 0`)
	deskPage.Is("restored", `document.querySelector('[name=cost]').value`, "8 EUR")
	token := d.tool(t, "user", "token", "the-typist")
	deskPage.press("Save")
	deskPage.Wait(`document.body.dataset.desk === 'signin'`)
	deskPage.set("[name=token]", token)
	deskPage.press("Sign in")
	deskPage.form("#/event/" + id)
	deskPage.Is("still there", `document.querySelector('[name=cost]').value`, "8 EUR")
	deskPage.press("Save")
	deskPage.state("saved")
}

func (d *desk) reviews(t *testing.T) {
	t.Helper()
	p := d.as(t, "contributor", "#/event/new")
	p.form("#/event/new")
	p.Is("statuses", `[...document.querySelector('select[name=status]').options].map((o) => o.value).join()`, "draft,pending,private")
	p.set("input[name=title][data-lang=en]", "To be reviewed")
	p.set("[name=start_words]", "tomorrow 7pm")
	p.set("[name=end_words]", "tomorrow 9pm")
	p.set("select[name=status]", "pending")
	p.press("Save")
	p.state("saved")
	p.Is("no button to publish", `[...document.querySelectorAll('button')].filter((b) => b.checkVisibility() && b.textContent.includes('Publish')).length`, 0.0)
	id, _ := p.Eval(`location.hash.split('/')[2]`).(string)
	q := d.as(t, "editor", "#/events?tab=pending")
	q.Wait(`document.querySelector('tr[data-id="` + id + `"] a')`)
	q.Eval(`document.querySelector('tr[data-id="` + id + `"] a').click(); 0`)
	q.form("#/event/" + id)
	q.press("Publish and next")
	q.Wait(`location.hash.startsWith('#/events?tab=pending')`)
	if got := d.read(id, "status"); got != "publish" {
		t.Errorf("it is %v", got)
	}
}

func (d *desk) undoes(t *testing.T) {
	t.Helper()
	for i := range 10 {
		d.event(t, "author", fmt.Sprintf("Heap %d", i), 20+i, nil)
	}
	deskPage := d.as(t, "author", "#/events?mine=1&q=heap")
	deskPage.offersUndoLonger()
	// Not the rows of the list before the search, which may be the same ten.
	deskPage.Wait(`performance.getEntriesByType('resource').some((e) => e.name.includes('search=heap'))`)
	deskPage.Wait(`document.querySelectorAll('tr[data-id] [name=select]').length === 10`)
	deskPage.Eval(`document.querySelectorAll('[name=select]').forEach((e) => e.click()); 0`)
	deskPage.press("Trash")
	deskPage.Wait(`document.querySelectorAll('[data-result=ok]').length === 10 && document.querySelector('.toast button')`)
	deskPage.press("Undo")
	deskPage.Wait(`[...document.querySelectorAll('tr[data-id] .status')].filter((e) => e.textContent === 'Published').length === 10`)
	deskPage.Wait(`document.querySelector('[role=tab][data-tab=trash]').dataset.count === '0'`)
	if list := d.want(200, http.MethodGet, "/events?search=heap", d.token, ""); list["total"] != 10.0 {
		t.Errorf("%v are back", list["total"])
	}
}

func (d *desk) restores(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Versions", 5, nil)
	for i := 2; i <= 5; i++ {
		d.want(200, http.MethodPatch, "/events/"+id, d.token, fmt.Sprintf(`{"cost": "%d EUR"}`, i))
	}
	deskPage := d.as(t, "editor", "#/event/"+id+"/history")
	deskPage.Wait(`document.querySelectorAll('li[data-version]').length === 5`)
	deskPage.Eval(`[...document.querySelectorAll('li[data-version="2"] button')].find((b) => b.textContent.includes('Restore this version')).click(); 0`)
	deskPage.Wait(`document.querySelector('[data-dialog=restore] table')`)
	deskPage.Eval(`document.querySelector('[data-dialog=restore] .primary').click(); 0`)
	deskPage.Wait(`document.querySelector('li[data-version="6"] .reason')?.textContent.includes('restored version 2')`)
	if got := d.read(id, "cost"); got != "2EUR" {
		t.Errorf("the price is %v", got)
	}
}

func (d *desk) previews(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Only a draft", 6, map[string]any{"status": "draft"})
	deskPage := d.as(t, "editor", "#/event/"+id)
	deskPage.form("#/event/" + id)
	deskPage.press("Preview")
	deskPage.Wait(`document.getElementById('preview').contentDocument?.querySelector('h1')?.textContent.includes('Only a draft')`)
	deskPage.Is("style", `document.getElementById('preview').contentDocument.styleSheets.length > 0`, true)
	deskPage.Is("no script", `document.getElementById('preview').contentDocument.scripts.length`, 0.0)
	if status, _ := d.try(http.MethodGet, d.host+"/?event="+id, "", ""); status != http.StatusNotFound {
		t.Errorf("for the public it answers %d", status)
	}
}

func (d *desk) showsMarkup(t *testing.T) {
	t.Helper()
	title := "&lt;img src=x onerror=alert(1)&gt;"
	id := d.event(t, "editor", title, 7, map[string]any{"description": `<p>a</p><script>alert(2)</script><img src="https://x.example/y" onerror="alert(3)">`})
	deskPage := d.as(t, "editor", "#/event/"+id)
	deskPage.Watch()
	deskPage.form("#/event/" + id)
	deskPage.Is("title", `document.querySelector('h1').textContent`, "<img src=x onerror=alert(1)>")
	deskPage.Eval(`location.hash = '#/event/` + id + `/history'; 0`)
	deskPage.Wait(`document.querySelector('li[data-version]')`)
	deskPage.Is("no element", `document.querySelectorAll('main img, main script').length`, 0.0)
}

// accessible asks axe-core about every view, with its dialogs and menu open, at two widths and
// in both themes, and holds the page to its width.
func (d *desk) accessible(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "For everybody", 8, nil)
	deskPage := d.as(t, "editor", "")
	views := []string{
		"#/events", "#/events?tab=trash", "#/venues", "#/organizers", "#/categories", "#/tags", "#/event/new", "#/event/" + id, "#/event/" + id + "/history", "#/event/999999999",
		"#/venue/new", "#/organizer/new", "#/category/new", "#/tag/new",
	}
	for _, width := range []int{320, 1280} {
		deskPage.Resize(width, 900)
		for theme, rules := range map[string]string{"light": everyRule, "dark": colourRules} {
			deskPage.Prefer(inTheme(theme))
			look := func(view string) {
				check(t, deskPage.Page, fmt.Sprint(view, " ", width, " ", theme), rules)
				deskPage.Is(view, `document.documentElement.scrollWidth <= innerWidth`, true)
				keepPicture(t, deskPage.Page, fmt.Sprintf("desk%s-%d-%s", strings.NewReplacer("#", "", "/", "-", "?", "-", "=", "-", id, "n").Replace(view), width, theme))
			}
			for _, address := range views {
				deskPage.Eval(`location.hash = '` + address + `'; 0`)
				path, _, _ := strings.Cut(strings.TrimPrefix(address, "#/"), "?")
				parts := strings.Split(path, "/")
				view := parts[0]
				if parts[len(parts)-1] == "history" {
					view = "history"
				}
				deskPage.Wait(`document.body.dataset.desk === '` + view + `' && document.querySelector('tr[data-id], #status, li[data-version], .empty:not([hidden]), #message[data-code]')`)
				look(address)
			}
			deskPage.Eval(`location.hash = '#/event/` + id + `'; 0`)
			deskPage.form("#/event/" + id)
			deskPage.Eval(`document.querySelectorAll('details').forEach((e) => { e.open = true }); 0`)
			look("#/event/" + id + "/open")
			deskPage.press("Trash")
			deskPage.Wait(`document.querySelector('dialog[open]')`)
			look("#/event/" + id + "/trash")
			deskPage.press("Cancel")
		}
	}
	deskPage.Eval(`[...document.querySelectorAll('button')].find((b) => b.textContent === 'Sign out').click(); 0`)
	deskPage.Wait(`document.body.dataset.desk === 'signin'`)
	deskPage.press("Sign in")
	deskPage.Wait(`document.querySelector('[data-error=name]:not([hidden])')`)
	for _, theme := range []string{"light", "dark"} {
		deskPage.Prefer(inTheme(theme))
		check(t, deskPage.Page, "sign-in "+theme, everyRule)
	}
}

func (d *desk) goesBack(t *testing.T) {
	t.Helper()
	d.event(t, "editor", "Jazz by night", 9, nil)
	deskPage := d.as(t, "editor", "")
	deskPage.set("[name=q]", "jazz")
	deskPage.Wait(`location.hash === '#/events?q=jazz' && document.querySelectorAll('tr[data-id]').length === 1`)
	deskPage.Eval(`document.querySelector('[data-tab=drafts]').click(); 0`)
	deskPage.Wait(`document.querySelector('[data-tab=drafts]').getAttribute('aria-selected') === 'true'`)
	deskPage.Follow(func() { deskPage.Call("Page.reload", nil, nil) })
	deskPage.Wait(`document.querySelector('[data-tab=drafts]')?.getAttribute('aria-selected') === 'true' && document.querySelector('[name=q]').value === 'jazz'`)
	deskPage.Eval(`history.back(); 0`)
	deskPage.Wait(`document.querySelector('[data-tab=upcoming]')?.getAttribute('aria-selected') === 'true' && document.querySelector('[name=q]').value === 'jazz'`)
}

func (d *desk) auditor(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Looked at", 10, map[string]any{"status": "private"})
	deskPage := d.as(t, "auditor", "#/events?tab=private")
	deskPage.Wait(`document.querySelector('tr[data-id="` + id + `"]')`)
	const writing = `[...document.querySelectorAll('main button, main input[type=checkbox]:not([name=mine]), header a.primary')].filter((e) => e.checkVisibility() && !/^(Load more|Preview|Desktop|Phone|Compare|As it was)$/.test(e.textContent)).length`
	deskPage.Is("no control that writes", writing, 0.0)
	deskPage.Eval(`location.hash = '#/event/` + id + `'; 0`)
	deskPage.Wait(`document.querySelector('main dl')`)
	deskPage.Is("no control that writes", writing, 0.0)
	deskPage.press("History")
	deskPage.Wait(`document.querySelector('li[data-version]')`)
	deskPage.Is("no control that writes", writing, 0.0)
}
