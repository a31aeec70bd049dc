package main

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// withUser returns the desk with a further user, whose token may change.
func (d *desk) withUser(t *testing.T, name, role string) *desk {
	t.Helper()
	e := *d
	e.tokens = maps.Clone(d.tokens)
	e.tokens[name] = d.tool(t, "user", "add", "the-"+name, "--role", role)
	return &e
}

// click clicks an element.
func (p deskPage) click(selector string) {
	p.Wait(`document.querySelector(` + quoted(selector) + `)`)
	p.Eval(`document.querySelector(` + quoted(selector) + `).click(); 0`)
}

// signOut presses Sign out in the menu.
func (p deskPage) signOut() {
	p.click("details.menu summary")
	p.press("Sign out")
}

// asksBeforeSigningOut: what anybody typed is kept until it is confirmed (E2.3).
func (d *desk) asksBeforeSigningOut(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "")
	deskPage.Eval(`localStorage.setItem('daybook-desk-draft:99:event:5', '{"time": 1, "values": {"cost": "1"}}'); 0`)
	deskPage.signOut()
	deskPage.Wait(`document.querySelector('[data-dialog=unsaved]')`)
	deskPage.Press("Escape")
	deskPage.Wait(`!document.querySelector('dialog')`)
	deskPage.Is("still signed in", `document.body.dataset.desk`, "events")
	deskPage.signOut()
	deskPage.click("[data-dialog=unsaved] button:not(.primary)")
	deskPage.Wait(`document.body.dataset.desk === 'signin'`)
	deskPage.Is("nothing is left", `Object.keys(localStorage).concat(Object.keys(sessionStorage)).filter((k) => k.startsWith('daybook-desk')).join()`, "")
	deskPage.set("[name=name]", "somebody")
	deskPage.set("[name=lang]", "fr")
	deskPage.Wait(`document.documentElement.lang === 'fr'`)
	deskPage.Is("the name stays", `document.querySelector('[name=name]').value`, "somebody")
	deskPage.set("[name=token]", "wrong")
	deskPage.press("Se connecter")
	deskPage.Wait(`document.querySelector('[data-error=name]').textContent.includes('utilisateur')`)
}

// comesBack: who signs in again is where they were, others see the same address (E2.3).
func (d *desk) comesBack(t *testing.T) {
	t.Helper()
	d = d.withUser(t, "comer", "editor")
	id := d.event(t, "comer", "Come back", 11, nil)
	d.want(200, http.MethodPatch, "/events/"+id, d.token, `{"cost": "2 EUR"}`)
	deskPage := d.as(t, "comer", "#/event/"+id+"/history")
	deskPage.click(`[data-version="1"] button:not(.quiet)`)
	deskPage.Wait(`document.querySelector('[data-dialog=restore] table')`)
	token := d.tool(t, "user", "token", "the-comer")
	deskPage.click("[data-dialog=restore] .primary")
	deskPage.Wait(`document.body.dataset.desk === 'signin'`)
	deskPage.Is("no dialog", `document.querySelector('dialog')`, nil)
	deskPage.Is("name", `document.querySelector('[name=name]').value`, "the-comer")
	deskPage.set("[name=token]", token)
	deskPage.press("Sign in")
	deskPage.Wait(`document.body.dataset.desk === 'history' && document.querySelector('[data-version="2"]')`)
	deskPage.Is("focus", `document.activeElement.id`, "main")

	d.tool(t, "user", "token", "the-comer")
	deskPage.press("Compare")
	deskPage.Wait(`document.body.dataset.desk === 'signin'`)
	deskPage.set("[name=name]", "the-editor")
	deskPage.set("[name=token]", d.tokens["editor"])
	deskPage.press("Sign in")
	deskPage.Wait(`document.body.dataset.desk === 'history' && document.getElementById('who').textContent.includes('the-editor')`)
}

// offersUndoLonger lets a test press Undo on a busy machine, too.
func (p deskPage) offersUndoLonger() {
	p.Eval(`((set) => { window.setTimeout = (f, ms) => set(f, ms === 10_000 ? 60_000 : ms) })(window.setTimeout); 0`)
}

// publishes: Undo of Publish leaves a row that was changed since (E3.5).
func (d *desk) publishes(t *testing.T) {
	t.Helper()
	var ids []string
	for i := range 3 {
		ids = append(ids, d.event(t, "author", fmt.Sprintf("Rack %d", i), 30+i, map[string]any{"status": "draft"}))
	}
	deskPage := d.as(t, "author", "#/events?tab=drafts&q=rack")
	deskPage.offersUndoLonger()
	deskPage.Wait(`document.querySelectorAll('tr[data-id] [name=select]').length === 3`)
	deskPage.click("thead input")
	deskPage.press("Publish")
	deskPage.Wait(`document.querySelectorAll('[data-result=ok]').length === 3 && document.querySelector('.toast button')`)
	d.want(200, http.MethodPatch, "/events/"+ids[1], d.token, `{"cost": "2 EUR"}`)
	deskPage.press("Undo")
	deskPage.Wait(`document.querySelector('tr[data-id="` + ids[1] + `"] [data-result=rest_precondition_failed]').textContent.includes('left as it is') && document.querySelectorAll('[data-result=ok]').length === 2 && document.querySelectorAll('.c-status .good').length === 1`)
	if got := fmt.Sprintf("%v %v %v", d.read(ids[0], "status"), d.read(ids[1], "status"), d.read(ids[2], "status")); got != "draft publish draft" {
		t.Errorf("they are %s", got)
	}
	deskPage.Is("focus", `document.body !== document.activeElement`, true)
}

// restoresOwn: a contributor restores what they may write, and that alone (E3.7).
func (d *desk) restoresOwn(t *testing.T) {
	t.Helper()
	d = d.withUser(t, "beginner", "contributor")
	public := d.event(t, "beginner", "Was public", 12, map[string]any{"status": "draft"})
	d.want(200, http.MethodPatch, "/events/"+public, d.token, `{"status": "publish"}`)
	d.want(200, http.MethodDelete, "/events/"+public, d.token, "")
	own := d.event(t, "beginner", "Was a draft", 12, map[string]any{"status": "draft"})
	d.want(200, http.MethodDelete, "/events/"+own, d.tokens["beginner"], "")
	deskPage := d.as(t, "beginner", "#/events?tab=trash")
	deskPage.Wait(`document.querySelectorAll('tr[data-id]').length === 2`)
	deskPage.Is("rows with a button", `[...document.querySelectorAll('tr[data-id]:has(button)')].map((e) => e.dataset.id).join()`, own)
	deskPage.Is("history", `document.querySelectorAll('tr[data-id] a[href$=history]').length`, 2.0)
	deskPage.click(`tr[data-id="` + own + `"] button`)
	deskPage.Wait(`document.querySelector('tr[data-id="` + own + `"] [data-result=ok]')`)
	deskPage.Is("focus", `document.body !== document.activeElement`, true)
	if got := d.read(own, "status"); got != "draft" {
		t.Errorf("it is %v", got)
	}
}

// loadsMore: a list goes on after 50 rows, and a number finds a hidden event (E3.3).
func (d *desk) loadsMore(t *testing.T) {
	t.Helper()
	for i := range 52 {
		d.event(t, "author", fmt.Sprintf("Pile %d", i), 40+i, nil)
	}
	hidden := d.event(t, "author", "Behind", 40, map[string]any{"hide_from_listings": true})
	deskPage := d.as(t, "author", "#/events?q=pile")
	deskPage.Wait(`document.querySelectorAll('tr[data-id]').length === 50 && [...document.querySelectorAll('tbody th')].every((e) => e.textContent.startsWith('Pile'))`)
	deskPage.Eval(`window.more = [...document.querySelectorAll('button')].find((b) => b.checkVisibility() && b.textContent === 'Load more'); more.focus(); more.click(); 0`)
	deskPage.Wait(`document.querySelectorAll('tr[data-id]').length === 52`)
	deskPage.Is("focus", `document.activeElement.closest('tr').rowIndex`, 51.0)
	deskPage.set("[name=q]", hidden)
	deskPage.Wait(`document.querySelector('[data-note=q] a')?.hash === '#/event/` + hidden + `'`)
	deskPage.Is("list", `document.querySelectorAll('tr[data-id]').length`, 0.0)
}

// restoresAll: names with markup come back as they were, and what is gone is named (E6.2).
func (d *desk) restoresAll(t *testing.T) {
	t.Helper()
	category := idOf(d.want(201, http.MethodPost, "/categories", d.token, `{"name": "Gone for good"}`))
	id := d.event(t, "editor", "&lt;b&gt; Tea &amp; talk", 13, map[string]any{"categories": category, "cost": "5 EUR", "status": "draft"})
	d.want(200, http.MethodPatch, "/events/"+id, d.token, `{"title": "Plain", "categories": "", "cost": "", "featured": true, "event_status": "cancelled", "timezone": "Europe/Rome", "status": "publish"}`)
	french := strings.Replace(d.root, "/api", "/fr/api", 1) + "/events/" + id
	if status, data := d.try(http.MethodPatch, french, d.token, `{"title": "Simple", "description": "Un texte"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, data)
	}
	d.want(200, http.MethodDelete, "/categories/"+category, d.token, "")
	deskPage := d.as(t, "editor", "#/event/"+id+"/history")
	deskPage.click(`[data-version="2"] [name=from]`)
	deskPage.click(`[data-version="1"] [name=to]`)
	deskPage.press("Compare")
	deskPage.Wait(`document.querySelector('#diff [data-field=cost] ins').textContent.includes('5 EUR')`)
	deskPage.Is("public version", `document.querySelector('[data-version="2"] a[href*="as_of"]').textContent`, "As it was")
	deskPage.Eval(`[...document.querySelectorAll('[data-version="1"] button')].find((b) => b.textContent === 'As it was').click(); 0`)
	deskPage.Wait(`document.getElementById('preview').contentDocument?.querySelector('h1')?.textContent.includes('<b> Tea & talk')`)
	deskPage.click(`[data-version="1"] button:not(.quiet)`)
	deskPage.Wait(`document.querySelector('[data-dialog=restore]').textContent.includes('Gone for good')`)
	deskPage.click("[data-dialog=restore] .primary")
	deskPage.Wait(`document.querySelector('[data-version="5"] .reason') && document.querySelector('[data-version="4"] .reason').textContent.includes('restored version 1')`)
	e := d.want(200, http.MethodGet, "/events/"+id, d.token, "")
	if got := fmt.Sprintf("%v, %v %v %v %v %v %v", e["title"], e["featured"], e["event_status"], e["timezone"], e["cost"], e["status"], e["categories"]); got != "&lt;b&gt; Tea &amp; talk, false scheduled Europe/Berlin 5EUR publish []" {
		t.Errorf("it is %s", got)
	}
	if _, data := d.try(http.MethodGet, french, d.token, ""); !strings.Contains(string(data), `"title":"Simple"`) || strings.Contains(string(data), "Un texte") {
		t.Errorf("in French it is %s", data)
	}
}

// TestDeskWithoutHistory: who may not read histories has no such view (E6.1), and the
// calendar has its name (P6.5).
func TestDeskWithoutHistory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	desk := openDesk(t, "--public-history=none", "--brand-name=Harbour & Co")
	id := desk.event(t, "author", "Seen", 3, nil)
	deskPage := desk.as(t, "author", "#/event/"+id)
	deskPage.form("#/event/" + id)
	deskPage.Is("no link", `document.querySelectorAll('a[href$=history]').length`, 0.0)
	deskPage.Is("name", `document.querySelector('.brand').textContent`, "Harbour & Co Desk")
	deskPage.Eval(`location.hash = '#/event/` + id + `/history'; 0`)
	deskPage.Wait(`location.hash === '#/events' && document.body.dataset.desk === 'events'`)
}
