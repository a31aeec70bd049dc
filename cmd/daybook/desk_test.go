package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"daybook/internal/testkit/engines"
)

// desk is a calendar with users of each role, for the scenarios of the desk
// (docs/spec/desk.md E10).
type desk struct {
	*server

	on     []string          // where its records are, for commands
	tokens map[string]string // by user, whose name is "the-" and the role
}

// openDesk starts the calendar; without a browser the test does not run.
func openDesk(t *testing.T, on []string, settings ...string) *desk {
	t.Helper()
	engines.URL(t, engines.Chromium)
	d := &desk{startServer(t, slices.Concat([]string{"serve", "--timezone", "Europe/Berlin"}, on, settings)...), on, map[string]string{}}
	for _, role := range []string{"subscriber", "contributor", "author", "editor", "auditor"} {
		d.tokens[role] = d.tool(t, "user", "add", "the-"+role, "--role", role)
	}
	return d
}

// tool runs a command on the records of the calendar, and returns what it says.
func (desk *desk) tool(t *testing.T, command ...string) string {
	t.Helper()
	return strings.TrimSpace(mustTool(t, append(command, desk.on...)...))
}

// scene is something that people do at the desk: steps, or what steps cannot say.
type scene struct {
	name, steps string
	run         func(*desk, *testing.T)
}

func (desk *desk) play(t *testing.T, scenes []scene) {
	t.Helper()
	for _, scene := range scenes {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			if scene.run != nil {
				scene.run(desk, t)
			}
			desk.at(t).steps(scene.steps)
		})
	}
}

// TestDesk has the lines of E10 by their numbers, and what E2 to E7 promise besides.
func TestDesk(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	openDesk(t, []string{"--data", t.TempDir()}).play(t, deskScenes)
}

// TestDeskOnServers has those lines of E10 in which several people and lists have a part.
func TestDeskOnServers(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	servers := newSize(t)
	openDesk(t, servers.on(nil, "store"), servers.on(nil, "feed", "index")...).play(t, slices.DeleteFunc(slices.Clone(deskScenes), func(s scene) bool {
		line, _, _ := strings.Cut(s.name, " ")
		return !slices.Contains([]string{"4", "6", "9", "10", "11"}, line)
	}))
}

// TestDeskSavesOnce: a save during which the service ends is carried out once (E10.7). Before,
// who may not read histories has no such view (E6.1), the calendar has its name (P6.5), and what
// was changed today shows its time, in a zone that browsers do not know.
func TestDeskSavesOnce(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	desk := openDesk(t, []string{"--data", t.TempDir()}, "--public-history=none", "--brand-name=Harbour & Co", "--timezone=UTC+5.5")
	deskPage := desk.at(t)
	deskPage.steps(`
		event id author 3 Seen
		as author #/event/$id
		form
		is all('a[href$=history]').length -> 0
		is one('.brand').textContent -> Harbour & Co Desk
		go #/event/$id/history
		wait location.hash === '#/events' && document.body.dataset.desk === 'events'
		is one('tr[data-id="$id"] .c-changed')?.textContent.includes(':') -> true
		go #/event/new
		new Once`)
	desk.ends()
	deskPage.steps(`
		press Save
		state retrying`)
	again := child(context.Background(), slices.Concat([]string{"serve", "--timezone", "UTC+5.5", "--listen", strings.TrimPrefix(desk.host, "http://")}, desk.on)...)
	startServerOf(t, again, "", again.Env)
	deskPage.steps(`
		state saved
		has /events?search=once total -> 1`)
}

func (desk *desk) headers(t *testing.T) {
	t.Helper()
	status, header, body := desk.full(http.MethodGet, desk.host+"/desk/", "", "", nil)
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
	if status, header, _ := desk.full(http.MethodPost, desk.host+"/desk/", "", "{}", nil); status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: status %d, Allow %q", status, header.Get("Allow"))
	}
	without := startServer(t, "serve", "--data", t.TempDir(), "--desk=false")
	for _, url := range []string{desk.host + "/desk/x", desk.host + "/fr/desk/", desk.host + "/desk/assets/none.0123456789.js", without.host + "/desk", without.host + "/desk/"} {
		if status, _ := desk.try(http.MethodGet, url, "", ""); status != http.StatusNotFound {
			t.Errorf("%s: status %d", url, status)
		}
	}
	without.want(200, http.MethodGet, "/me", without.token, "")
}

func (desk *desk) signsIn(t *testing.T) {
	t.Helper()
	deskPage := desk.at(t)
	deskPage.browserPage = openPage(t, "about:blank")
	deskPage.Watch()
	deskPage.Goto(desk.host + "/desk/")
	deskPage.steps(`
		set [name=name] = the-editor
		set [name=token] = wrong
		press Sign in
		wait one('[data-error=token]:not([hidden])').textContent
		is all('tr').length -> 0
		set [name=token] = $editor
		click [name=remember]
		press Sign in
		wait one('#who')?.dataset.role === 'editor'
		is one('#who').textContent.includes('the-editor') -> true
		is Object.keys(localStorage).some((k) => k.startsWith('daybook-desk')) -> true
		click details.menu summary
		press Sign out
		wait document.body.dataset.desk === 'signin'
		is Object.keys(localStorage).concat(Object.keys(sessionStorage)).filter((k) => k.startsWith('daybook-desk')).join() ->`)
	for _, load := range deskPage.Requests {
		if !strings.HasPrefix(load.URL, desk.host+"/") {
			t.Errorf("a request to %s", load.URL)
		}
	}
}

func (desk *desk) whoAmI(t *testing.T) {
	t.Helper()
	for role, want := range map[string]string{
		"subscriber":  "read_history",
		"contributor": "create read_history",
		"author":      "create manage_categories publish read_history",
		"editor":      "create edit_others manage_categories manage_tags publish read_all read_history",
		"auditor":     "read_all read_history",
	} {
		me := desk.want(200, http.MethodGet, "/me", desk.tokens[role], "")
		can, _ := me["can"].(map[string]any)
		got := slices.DeleteFunc(slices.Sorted(maps.Keys(can)), func(name string) bool { return can[name] != true })
		if strings.Join(got, " ") != want || len(can) != 7 || me["role"] != role || me["name"] != "the-"+role || me["timezone"] != "Europe/Berlin" {
			t.Errorf("%s: %v", role, me)
		}
	}
	status, header, body := desk.full(http.MethodGet, desk.root+"/me", "", "", nil)
	if status != http.StatusUnauthorized || header.Get("Cache-Control") != "no-store" || header.Get("ETag") != "" || !strings.Contains(string(body), "rest_forbidden") {
		t.Errorf("anonymous: %d %v %s", status, header, body)
	}
}

// accessible asks axe-core about every view, with its dialogs and menu open, at two widths and
// in both themes, and holds the page to its width.
func (desk *desk) accessible(t *testing.T) {
	t.Helper()
	long := strings.Repeat("Veranstaltungskalender", 6)
	desk.want(201, http.MethodPost, "/categories", desk.token, `{"name": "`+long+`"}`)
	id := desk.event(t, desk.tokens["editor"], "For everybody "+long, 8, map[string]any{"venue": map[string]any{"venue": long}, "tags": []string{long}})
	desk.want(200, http.MethodDelete, "/events/"+desk.event(t, desk.tokens["editor"], "For nobody", 8, nil), desk.token, "")
	deskPage := desk.editor(t, "")
	views := []string{
		"#/events", "#/events?tab=trash", "#/venues", "#/organizers", "#/categories", "#/tags", "#/event/new", "#/event/" + id, "#/event/" + id + "/history", "#/event/999999999",
		"#/venue/new", "#/organizer/new", "#/category/new", "#/tag/new",
	}
	for _, width := range []int{320, 1280} {
		deskPage.Resize(width, 900)
		look := func(view string) {
			for theme, rules := range map[string]string{"light": everyRule, "dark": colourRules} {
				deskPage.Prefer(inTheme(theme))
				check(t, deskPage.browserPage, fmt.Sprint(view, " ", width, " ", theme), rules)
				keepPicture(t, deskPage.browserPage, fmt.Sprintf("desk%s-%d-%s", strings.NewReplacer("#", "", "/", "-", "?", "-", "=", "-", id, "n").Replace(view), width, theme))
			}
			deskPage.Is(view, `document.documentElement.scrollWidth <= innerWidth`, true)
			deskPage.Is(view+": categories", `[...document.querySelectorAll('.tree')].every((e) => e.scrollWidth <= e.clientWidth)`, true)
			deskPage.Is(view+": room for the words of the search", `(document.querySelector('main [name=q]')?.offsetWidth ?? 224) >= 224`, true)
			if width == 320 {
				nothing(t, deskPage.browserPage, view+" is for no finger", small)
			} else {
				deskPage.Is(view+": buttons of a row in line", `[...document.querySelectorAll('.c-act')].every((e) => new Set([...e.children].map((b) => Math.round(b.getBoundingClientRect().top + b.offsetHeight / 2))).size < 2)`, true)
			}
		}
		for _, address := range views {
			deskPage.leads(address)
			path, _, _ := strings.Cut(strings.TrimPrefix(address, "#/"), "?")
			parts := strings.Split(path, "/")
			view := parts[0]
			if parts[len(parts)-1] == "history" {
				view = "history"
			}
			deskPage.Wait(`document.body.dataset.desk === '` + view + `' && document.querySelector('tr[data-id], #status, li[data-version], .empty:not([hidden]), #message[data-code]')`)
			look(address)
		}
		deskPage.steps(`
			go #/event/` + id + `
			form
			do all('details').forEach((e) => { e.open = true }); one('main').style.marginTop = '400px'`) // below the open menu
		look("#/event/" + id + "/open")
		deskPage.steps(`
			press Trash
			wait one('dialog[open]')`)
		look("#/event/" + id + "/trash")
		deskPage.press("Cancel")
	}
	deskPage.steps(`
		do all('button').find((b) => b.textContent === 'Sign out').click()
		wait document.body.dataset.desk === 'signin'
		press Sign in
		wait one('[data-error=name]:not([hidden])')`)
	for _, theme := range []string{"light", "dark"} {
		deskPage.Prefer(inTheme(theme))
		check(t, deskPage.browserPage, "sign-in "+theme, everyRule)
	}
}

// otherRecords is what E7 promises of venues, organizers, categories and tags.
func (desk *desk) otherRecords(t *testing.T) {
	t.Helper()
	rock := idOf(desk.want(201, http.MethodPost, "/categories", desk.token, `{"name": "Rock"}`))
	deskPage := desk.editor(t, "")
	for _, c := range []struct {
		kind, collection, name, link, verb string
		fields                             map[string]string
	}{
		{"venue", "venues", "venue", "venue", "Trash", map[string]string{"address": "1 Quay", "city": "Lyon & co", "zip": "69001", "country": "France", "province": "Rhône", "state": "X", "stateprovince": "Y", "phone": "+33 1", "website": "https://v.example/", "geo_lat": "45.5", "geo_lng": "4.75", "slug": "the-quay"}},
		{"organizer", "organizers", "organizer", "organizer", "Trash", map[string]string{"phone": "+1 2", "email": "a@b.example", "website": "https://o.example/", "image": "https://i.example/o.png", "slug": "the-org"}},
		{"category", "categories", "name", "categories", "Delete", map[string]string{"parent": rock, "slug": "the-cat"}},
		{"tag", "tags", "name", "tags", "Delete", map[string]string{"slug": "the-tag"}},
	} {
		maps.Copy(deskPage.names, map[string]string{"rock": rock, "kind": c.kind, "list": c.collection, "field": c.name, "verb": c.verb, "dialog": strings.ToLower(c.verb)})
		deskPage.steps(`
			go #/$kind/new
			wait document.body.dataset.desk === '$kind' && one('#status').dataset.state
			set input[name=$field][data-lang=en] = A <b> & c
			set input[name=$field][data-lang=fr] = Le même
			set textarea[name=description][data-lang=en] = <p>About it</p>
			wait '$kind' !== 'category' || one('[name=parent] option[value="$rock"]')`)
		for name, value := range c.fields {
			deskPage.set("[name="+name+"]", value)
		}
		deskPage.steps(`
			save
			id id
			has /$list/$id $field description -> A &lt;b&gt; &amp; c|<p>About it</p>
			has /fr/$list/$id $field -> Le même
			tap
			save
			is sent.length -> 0`)
		r := desk.want(200, http.MethodGet, "/"+c.collection+"/"+deskPage.id(), desk.token, "")
		for name, value := range c.fields {
			got := fmt.Sprint(r[name])
			if o, ok := r[name].(map[string]any); ok {
				got = fmt.Sprint(o["url"])
			}
			if strings.ReplaceAll(got, "&amp;", "&") != value {
				t.Errorf("%s: %s is %s, want %s", c.kind, name, got, value)
			}
		}
		for _, day := range []int{3, -300} {
			desk.event(t, desk.tokens["editor"], "Links to a "+c.kind, day, map[string]any{c.link: []string{deskPage.id()}})
		}
		deskPage.steps(`
			press $verb
			wait one('[data-dialog=$dialog]')?.textContent.includes('2 events')
			is one('[data-dialog]').textContent.includes('final') === ('$verb' === 'Delete') -> true
			press $verb
			wait document.body.dataset.desk === '$list' && one('tr[data-id], .empty:not([hidden])')`)
	}
}

// labels: every field has a label in sight, and what describes it is there.
func (desk *desk) labels(t *testing.T) {
	t.Helper()
	deskPage := desk.editor(t, "")
	for _, kind := range []string{"event", "venue", "organizer", "category", "tag"} {
		deskPage.names["kind"] = kind
		deskPage.steps(`
			go #/$kind/new
			wait document.body.dataset.desk === '$kind' && one('#status')
			do all('details.extra').forEach((e) => { e.open = true })
			is all('main :is(input, select)[name]').filter((e) => e.checkVisibility() && ![...e.labels].some((l) => l.checkVisibility() && l.offsetWidth > 1)).map((e) => e.name).join() ->
			is all('[aria-describedby]').flatMap((e) => e.getAttribute('aria-describedby').split(' ')).filter((id) => !document.getElementById(id)).join() ->`)
	}
}

// loadsMoreOfOthers: each record stands once in a list that changes while it is walked (E3.3, E7).
func (desk *desk) loadsMoreOfOthers(t *testing.T) {
	t.Helper()
	const (
		all   = `[...document.querySelectorAll('tr[data-id]')].map((e) => Number(e.dataset.id)).sort((a, b) => a - b).join()`
		more  = `[...document.querySelectorAll('button')].find((b) => b.textContent === 'Load more')`
		ready = `document.querySelectorAll('tr[data-id]').length === 50 && ` + more + `.checkVisibility()`
	)
	load := `window.more = ` + more + `; more.focus(); more.click(); 0`
	var events, venues []string
	for i := range 52 {
		events = append(events, desk.event(t, desk.tokens["author"], fmt.Sprintf("Batch %d", i), 40+i, nil))
		venues = append(venues, idOf(desk.want(201, http.MethodPost, "/venues", desk.token, fmt.Sprintf(`{"venue": "Batch %d"}`, i))))
	}

	deskPage := desk.editor(t, "#/events?q=batch")
	deskPage.Wait(ready)
	desk.want(200, http.MethodPatch, "/events/"+events[0], desk.token, `{"start_date": "+100 days", "end_date": "+100 days"}`)
	deskPage.Eval(load)
	deskPage.Is("a moved event", all, strings.Join(events, ","))
	deskPage.Is("where it is now", `document.querySelector('tr[data-id]:last-child').dataset.id`, events[0])
	// A search that another one overtakes leaves the button of the list before hidden.
	deskPage.set("[name=q]", "batch ")
	deskPage.set("[name=q]", "batch")
	deskPage.Wait(ready)
	deskPage.Eval(`window.held = 0; window.fetch = ((fetch) => (url, o) => /search=batch1/.test(url) ? new Promise((_, no) => {
		held++;
		o.signal.addEventListener('abort', () => no(o.signal.reason));
	}) : fetch(url, o))(fetch); 0`)
	deskPage.set("[name=q]", "batch1")
	deskPage.Wait(`held === 1`)
	deskPage.set("[name=q]", "batch11")
	deskPage.Wait(`held === 2`)
	deskPage.Is("button of the list before", more+`.hidden`, true)

	deskPage = desk.editor(t, "#/venues?q=batch")
	deskPage.Wait(ready)
	for _, id := range venues[49:] {
		desk.want(200, http.MethodDelete, "/venues/"+id, desk.token, "")
	}
	deskPage.Eval(load)
	deskPage.Is("without those in the trash", all, strings.Join(venues[:49], ","))
	deskPage.Is("message", `document.getElementById('message').hidden`, true)
	deskPage.Is("focus", `document.activeElement !== document.body`, true)
	for i := range 4 {
		venues = append(venues, idOf(desk.want(201, http.MethodPost, "/venues", desk.token, fmt.Sprintf(`{"venue": "Batch %d"}`, 52+i))))
	}
	deskPage.set("[name=q]", "")
	deskPage.set("[name=q]", "batch")
	deskPage.Wait(ready)
	venues = append(venues[:49], venues[52:]...)
	venues = append(venues, idOf(desk.want(201, http.MethodPost, "/venues", desk.token, `{"venue": "Batch of last"}`)))
	deskPage.Eval(load)
	deskPage.Is("with a new one", all, strings.Join(venues, ","))
}

// pile makes more events than a page of a list has.
func (desk *desk) pile(t *testing.T) {
	t.Helper()
	for i := range 52 {
		desk.event(t, desk.tokens["author"], fmt.Sprintf("Pile %d", i), 40+i, nil)
	}
}
