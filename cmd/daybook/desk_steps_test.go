package main

import (
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
)

// deskPage is the desk in a browser, as one person uses it.
type deskPage struct {
	*browserPage
	*desk

	t       *testing.T
	address string
	names   map[string]string // what $NAME is in steps
	pages   map[string]*browserPage
}

// at returns a page for a test, and opens nothing yet.
func (desk *desk) at(t *testing.T) *deskPage {
	t.Helper()
	page := &deskPage{desk: desk, t: t, names: map[string]string{"writing": writing}, pages: map[string]*browserPage{}}
	maps.Copy(page.names, desk.tokens)
	return page
}

// writing counts the controls in sight that write.
const writing = `all('main button, main input[type=checkbox]:not([name=mine]), header a.primary').filter((e) => e.checkVisibility() && !/^(Load more|Preview|Desktop|Phone|Compare|As it was)$/.test(e.textContent)).length`

// steps takes steps, one a line: a verb of deskVerbs, and what it is about. $NAME is what a step
// before has named, or the token of a user. Expressions are JavaScript, with one(SELECTOR) and
// all(SELECTOR).
func (deskPage *deskPage) steps(text string) {
	deskPage.t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, name := range slices.SortedFunc(maps.Keys(deskPage.names), func(a, b string) int { return len(b) - len(a) }) {
			line = strings.ReplaceAll(line, "$"+name, deskPage.names[name])
		}
		verb, about, _ := strings.Cut(line, " ")
		if take := deskVerbs[verb]; take != nil {
			take(deskPage, about)
		} else if line != "" {
			deskPage.t.Fatalf("no verb in %q", line)
		}
	}
}

var deskVerbs = map[string]func(page *deskPage, about string){
	// as USER [ADDRESS] opens the desk for a user, also USER [ADDRESS] in another tab.
	"as":   func(page *deskPage, about string) { page.enter(openPage(page.t, "about:blank"), about) },
	"also": func(page *deskPage, about string) { page.enter(page.Tab("about:blank"), about) },
	// call NAME names the page, use NAME goes back to it.
	"call": func(page *deskPage, name string) { page.pages[name] = page.browserPage },
	"use":  func(page *deskPage, name string) { page.browserPage = page.pages[name] },
	"size": func(page *deskPage, about string) {
		var width, height int
		_, err := fmt.Sscan(about, &width, &height)
		must(page.t, err)
		page.Resize(width, height)
	},
	"zone": func(page *deskPage, zone string) {
		page.Call("Emulation.setTimezoneOverride", browser.Object{"timezoneId": zone}, nil)
	},
	// visit PATH goes to a page and waits until what scripts draw is there.
	"visit": func(page *deskPage, path string) {
		page.Goto(page.host + path)
		drawn(page.browserPage)
	},
	"draw": func(page *deskPage, _ string) { drawn(page.browserPage) },
	// follow SCRIPT does what leads to another page, submit presses Enter.
	"follow": func(page *deskPage, script string) { page.Follow(func() { page.Eval(js(`{ ` + script + ` }`)) }) },
	"submit": func(page *deskPage, _ string) { page.Follow(func() { page.Press("Enter") }) },
	"reload": func(page *deskPage, _ string) { page.Follow(func() { page.Call("Page.reload", nil, nil) }) },
	"go":     func(page *deskPage, address string) { page.leads(address) },
	// form waits for the form at the address, open ADDRESS leads to one of a record.
	"form": func(page *deskPage, _ string) { page.form() },
	"open": func(page *deskPage, address string) {
		page.leads(address)
		page.form()
		page.state("idle")
	},
	// set SELECTOR = VALUE types a value into a field.
	"set": func(page *deskPage, about string) {
		selector, value, _ := strings.Cut(about+" ", " = ")
		page.set(selector, strings.TrimSpace(value))
	},
	"press": func(page *deskPage, name string) { page.press(name) },
	"click": func(page *deskPage, selector string) {
		page.Wait(js(`one(` + quoted(selector) + `)`))
		page.Eval(js(`one(`+quoted(selector)+`).click()`) + `; 0`)
	},
	"type": func(page *deskPage, text string) { page.Type(text) },
	"keys": func(page *deskPage, names string) {
		for name := range strings.FieldsSeq(names) {
			page.Press(strings.ReplaceAll(name, "Space", " "))
		}
	},
	// chord KEY presses it with Control, to SELECTOR presses Tab until it has the focus.
	"chord": func(page *deskPage, key string) {
		for _, kind := range []string{"rawKeyDown", "keyUp"} {
			page.Call("Input.dispatchKeyEvent", browser.Object{"type": kind, "key": key, "code": "Key" + strings.ToUpper(key), "windowsVirtualKeyCode": int(key[0]) - 32, "modifiers": 2}, nil)
		}
	},
	"to": func(page *deskPage, selector string) {
		for range 150 {
			page.Press("Tab")
			if page.Eval(`document.activeElement.matches(`+quoted(selector)+`)`) == true {
				return
			}
		}
		page.t.Fatalf("the Tab key does not lead to %s", selector)
	},
	// choose FIELD | TEXT | OPTION types a text into a combobox and takes an option.
	"choose": func(page *deskPage, about string) {
		parts := strings.Split(about, " | ")
		page.Eval(js(`one('[role=combobox][name=`+parts[0]+`]').focus()`) + `; 0`)
		page.Type(parts[1])
		page.Wait(js(`window.option = all('[role=option]').find((e) => e.checkVisibility() && e.textContent.includes(` + quoted(parts[2]) + `))`))
		page.Eval(`option.click(); 0`)
	},
	"save":  func(page *deskPage, _ string) { page.saves() },
	"state": func(page *deskPage, name string) { page.state(name) },
	// new TITLE fills a new event up to the least that it needs.
	"new": func(page *deskPage, title string) {
		page.address = "#/event/new"
		page.form()
		page.set("input[name=title][data-lang=en]", title)
		page.set("[name=start_words]", "tomorrow 7pm")
		page.set("[name=end_words]", "tomorrow 9pm")
	},
	"do":   func(page *deskPage, script string) { page.Eval(js(`{ ` + script + ` }`)) },
	"wait": func(page *deskPage, expression string) { page.Wait(js(expression)) },
	// is EXPRESSION -> TEXT waits until it comes to that.
	"is": func(page *deskPage, about string) {
		expression, want, _ := strings.Cut(about+" ", " -> ")
		page.Is(expression, js(`String(`+expression+`)`), strings.TrimSpace(want))
	},
	// let NAME TEXT names a text, name NAME EXPRESSION what it comes to, id NAME the record in the form.
	"let": func(page *deskPage, about string) {
		name, text, _ := strings.Cut(about, " ")
		page.names[name] = text
	},
	"name": func(page *deskPage, about string) {
		name, expression, _ := strings.Cut(about, " ")
		page.names[name], _ = page.Eval(js(expression)).(string)
	},
	"id": func(page *deskPage, name string) { page.names[name] = page.id() },
	// event NAME USER DAYS TITLE [FIELDS] makes an event in so many days, make NAME PATH FIELDS
	// another record.
	"event": func(page *deskPage, about string) {
		parts := strings.SplitN(about, " ", 4)
		title, more, _ := strings.Cut(parts[3], " {")
		fields := map[string]any{}
		if more != "" {
			must(page.t, json.Unmarshal([]byte("{"+more), &fields))
		}
		days, err := strconv.Atoi(parts[2])
		must(page.t, err)
		page.names[parts[0]] = page.event(page.t, page.names[parts[1]], title, days, fields)
	},
	"make": func(page *deskPage, about string) {
		parts := strings.SplitN(about, " ", 3)
		page.names[parts[0]] = idOf(page.want(201, http.MethodPost, parts[1], page.token, parts[2]))
	},
	// http STATUS METHOD PATH [BODY] sends a request of the administrator, public STATUS PATH one
	// of nobody.
	"http": func(page *deskPage, about string) {
		parts := append(strings.SplitN(about, " ", 4), "")
		if status, data := page.try(parts[1], page.under(parts[2]), page.token, parts[3]); strconv.Itoa(status) != parts[0] {
			page.t.Errorf("%s: %d %s", about, status, data)
		}
	},
	"public": func(page *deskPage, about string) {
		want, path, _ := strings.Cut(about, " ")
		if status, _ := page.try(http.MethodGet, page.under(path), "", ""); strconv.Itoa(status) != want {
			page.t.Errorf("%s for the public: %d, want %s", path, status, want)
		}
	},
	// has PATH FIELD ... -> TEXT looks what the interface has in fields.
	"has": func(page *deskPage, about string) {
		asked, want, _ := strings.Cut(about+" ", " -> ")
		parts := strings.Fields(asked)
		var record any
		_, data := page.try(http.MethodGet, page.under(parts[0]), page.token, "")
		must(page.t, json.Unmarshal(data, &record))
		var got []string
		for _, field := range parts[1:] {
			got = append(got, fmt.Sprint(fieldOf(record, strings.Split(field, "."))))
		}
		if text := strings.Join(got, "|"); text != strings.TrimSpace(want) {
			page.t.Errorf("%s: %s", about, text)
		}
	},
	// user NAME ROLE adds a user, token NAME USER makes a new token.
	"user": func(page *deskPage, about string) {
		name, role, _ := strings.Cut(about, " ")
		page.names[name] = page.tool(page.t, "user", "add", "the-"+name, "--role", role)
	},
	"token": func(page *deskPage, about string) {
		name, user, _ := strings.Cut(about, " ")
		page.names[name] = page.tool(page.t, "user", "token", "the-"+user)
	},
	// tap notes the writes of the page in sent. Answers that are pushed to answers are a status
	// with a Retry-After, or 'lost' for a write that is carried out and not answered.
	"tap": func(page *deskPage, _ string) { page.Eval(tapped) },
	// paste HTML pastes it into the rich text field of English.
	"paste": func(page *deskPage, text string) { page.Eval(fmt.Sprintf(pasted, quoted(text))) },
	// later lets a test press Undo on a busy machine, too.
	"later": func(page *deskPage, _ string) {
		page.Eval(`((set) => { window.setTimeout = (f, ms) => set(f, ms === 10_000 ? 60_000 : ms) })(window.setTimeout); 0`)
	},
}

const tapped = `(() => {
	window.sent = [];
	window.answers = [];
	const real = window.fetch;
	window.fetch = async (url, o = {}) => {
		const path = new URL(url, location).pathname;
		if (!o.method || o.method === 'GET' || path.endsWith('/search')) return real(url, o);
		sent.push({ method: o.method, path, body: o.body, key: o.headers['Idempotency-Key'], match: o.headers['If-Match'] });
		const a = answers.shift();
		if (!a) return real(url, o);
		if (a === 'lost') {
			await real(url, o);
			throw new TypeError('lost');
		}
		return new Response('{"code":"some_code","message":"Some words.","data":{}}', { status: a[0], headers: a[1] ? { 'Retry-After': String(a[1]) } : {} });
	};
})(); 0`

const pasted = `((e) => {
	e.focus();
	const data = new DataTransfer();
	data.setData('text/html', %s);
	data.setData('text/plain', 'plain');
	e.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
})(document.querySelector('[data-rich][data-lang=en]')); 0`

// js gives an expression short names for what it looks for.
func js(expression string) string {
	return `((one, all) => ` + expression + `)((s) => document.querySelector(s), (s) => [...document.querySelectorAll(s)])`
}

// quoted is a text in JavaScript.
func quoted(text string) string { return strconv.Quote(text) }

// fieldOf follows a path into a value: a list has what each of its elements has, # is its length.
func fieldOf(value any, path []string) any {
	if len(path) == 0 {
		return value
	}
	if list, ok := value.([]any); ok {
		if path[0] == "#" {
			return len(list)
		}
		each := make([]string, len(list))
		for i, value := range list {
			each[i] = fmt.Sprint(fieldOf(value, path))
		}
		slices.Sort(each)
		return strings.Join(each, ", ")
	}
	record, _ := value.(map[string]any)
	return fieldOf(record[path[0]], path[1:])
}

// under returns the URL of a path below the root of its language: /fr/events.
func (desk *desk) under(path string) string {
	if path[3] == '/' {
		return strings.Replace(desk.root, "/api", path[:3]+"/api", 1) + path[3:]
	}
	return desk.root + path
}

// editor opens the desk for an editor, at an address.
func (desk *desk) editor(t *testing.T, address string) *deskPage {
	t.Helper()
	deskPage := desk.at(t)
	deskPage.enter(openPage(t, "about:blank"), "editor "+address)
	return deskPage
}

// enter opens the desk in a page for a user, at an address.
func (deskPage *deskPage) enter(page *browserPage, about string) {
	deskPage.t.Helper()
	user, address, _ := strings.Cut(about, " ")
	deskPage.browserPage = page
	deskPage.Call("Emulation.setFocusEmulationEnabled", browser.Object{"enabled": true}, nil)
	deskPage.Goto(deskPage.host + "/desk/#/signin?" + url.Values{"name": {"the-" + user}, "token": {deskPage.names[user]}}.Encode())
	deskPage.Wait(`document.getElementById('who')?.dataset.role && document.querySelector('[role=tab][data-count]')`)
	if address != "" {
		deskPage.leads(address)
	}
}

func (deskPage *deskPage) leads(address string) {
	deskPage.address = address
	deskPage.Eval(`location.hash = ` + quoted(address) + `; 0`)
}

// set types a value into a field.
func (deskPage *deskPage) set(selector, value string) {
	deskPage.Wait(`document.querySelector(` + quoted(selector) + `)`)
	deskPage.Eval(`((e) => { e.focus(); e.value = ` + quoted(value) + `; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})) })(document.querySelector(` + quoted(selector) + `)); 0`)
}

// press presses the last button, link or tab in sight that has a name.
func (deskPage *deskPage) press(name string) {
	deskPage.Wait(`window.pressed = [...document.querySelectorAll('button, a, summary')].filter((e) => e.checkVisibility() && e.textContent.trim() === ` + quoted(name) + `).at(-1)`)
	deskPage.Eval(`window.pressed.click(); 0`)
}

// state waits for a state of saving.
func (deskPage *deskPage) state(name string) {
	deskPage.Wait(`document.getElementById('status')?.dataset.state === ` + quoted(name))
}

// form waits for the form at the address.
func (deskPage *deskPage) form() {
	deskPage.Wait(`location.hash === ` + quoted(deskPage.address) + ` && document.getElementById('status')`)
}

// saves presses Save and waits until all is saved.
func (deskPage *deskPage) saves() {
	deskPage.press("Save")
	deskPage.state("saved")
}

// id is that of the record in the form.
func (deskPage *deskPage) id() string {
	id, _ := deskPage.Eval(`location.hash.split('/')[2]`).(string)
	return id
}

// event makes an event, in so many days.
func (desk *desk) event(t *testing.T, token, title string, in int, more map[string]any) string {
	t.Helper()
	day := time.Now().UTC().AddDate(0, 0, in).Format(time.DateOnly)
	o := map[string]any{"title": title, "start_date": day + " 19:00", "end_date": day + " 21:00"}
	maps.Copy(o, more)
	data, err := json.Marshal(o)
	must(t, err)
	return idOf(desk.want(201, http.MethodPost, "/events", token, string(data)))
}
