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
	*browser.Page
	*desk

	t       *testing.T
	address string
	names   map[string]string // what $NAME is in steps
	pages   map[string]*browser.Page
}

// at returns a page for a test, and opens nothing yet.
func (d *desk) at(t *testing.T) *deskPage {
	t.Helper()
	p := &deskPage{desk: d, t: t, names: map[string]string{"writing": writing}, pages: map[string]*browser.Page{}}
	maps.Copy(p.names, d.tokens)
	return p
}

// writing counts the controls in sight that write.
const writing = `all('main button, main input[type=checkbox]:not([name=mine]), header a.primary').filter((e) => e.checkVisibility() && !/^(Load more|Preview|Desktop|Phone|Compare|As it was)$/.test(e.textContent)).length`

// steps takes steps, one a line: a verb of deskVerbs, and what it is about. $NAME is what a step
// before has named, or the token of a user. Expressions are JavaScript, with one(SELECTOR) and
// all(SELECTOR).
func (p *deskPage) steps(text string) {
	p.t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, name := range slices.SortedFunc(maps.Keys(p.names), func(a, b string) int { return len(b) - len(a) }) {
			line = strings.ReplaceAll(line, "$"+name, p.names[name])
		}
		verb, about, _ := strings.Cut(line, " ")
		if take := deskVerbs[verb]; take != nil {
			take(p, about)
		} else if line != "" {
			p.t.Fatalf("no verb in %q", line)
		}
	}
}

var deskVerbs = map[string]func(p *deskPage, about string){
	// as USER [ADDRESS] opens the desk for a user, also USER [ADDRESS] in another tab.
	"as":   func(p *deskPage, about string) { p.enter(browser.Open(p.t, "about:blank"), about) },
	"also": func(p *deskPage, about string) { p.enter(p.Tab("about:blank"), about) },
	// call NAME names the page, use NAME goes back to it.
	"call": func(p *deskPage, name string) { p.pages[name] = p.Page },
	"use":  func(p *deskPage, name string) { p.Page = p.pages[name] },
	"size": func(p *deskPage, about string) {
		var width, height int
		_, err := fmt.Sscan(about, &width, &height)
		must(p.t, err)
		p.Resize(width, height)
	},
	"zone": func(p *deskPage, zone string) {
		p.Call("Emulation.setTimezoneOverride", browser.Object{"timezoneId": zone}, nil)
	},
	// visit PATH goes to a page and waits until what scripts draw is there.
	"visit": func(p *deskPage, path string) {
		p.Goto(p.host + path)
		drawn(p.Page)
	},
	"draw": func(p *deskPage, _ string) { drawn(p.Page) },
	// follow SCRIPT does what leads to another page, submit presses Enter.
	"follow": func(p *deskPage, script string) { p.Follow(func() { p.Eval(js(`{ ` + script + ` }`)) }) },
	"submit": func(p *deskPage, _ string) { p.Follow(func() { p.Press("Enter") }) },
	"reload": func(p *deskPage, _ string) { p.Follow(func() { p.Call("Page.reload", nil, nil) }) },
	"go":     func(p *deskPage, address string) { p.leads(address) },
	// form waits for the form at the address, open ADDRESS leads to one of a record.
	"form": func(p *deskPage, _ string) { p.form() },
	"open": func(p *deskPage, address string) {
		p.leads(address)
		p.form()
		p.state("idle")
	},
	// set SELECTOR = VALUE types a value into a field.
	"set": func(p *deskPage, about string) {
		selector, value, _ := strings.Cut(about+" ", " = ")
		p.set(selector, strings.TrimSpace(value))
	},
	"press": func(p *deskPage, name string) { p.press(name) },
	"click": func(p *deskPage, selector string) {
		p.Wait(js(`one(` + quoted(selector) + `)`))
		p.Eval(js(`one(`+quoted(selector)+`).click()`) + `; 0`)
	},
	"type": func(p *deskPage, text string) { p.Type(text) },
	"keys": func(p *deskPage, names string) {
		for name := range strings.FieldsSeq(names) {
			p.Press(strings.ReplaceAll(name, "Space", " "))
		}
	},
	// chord KEY presses it with Control, to SELECTOR presses Tab until it has the focus.
	"chord": func(p *deskPage, key string) {
		for _, kind := range []string{"rawKeyDown", "keyUp"} {
			p.Call("Input.dispatchKeyEvent", browser.Object{"type": kind, "key": key, "code": "Key" + strings.ToUpper(key), "windowsVirtualKeyCode": int(key[0]) - 32, "modifiers": 2}, nil)
		}
	},
	"to": func(p *deskPage, selector string) {
		for range 150 {
			p.Press("Tab")
			if p.Eval(`document.activeElement.matches(`+quoted(selector)+`)`) == true {
				return
			}
		}
		p.t.Fatalf("the Tab key does not lead to %s", selector)
	},
	// choose FIELD | TEXT | OPTION types a text into a combobox and takes an option.
	"choose": func(p *deskPage, about string) {
		parts := strings.Split(about, " | ")
		p.Eval(js(`one('[role=combobox][name=`+parts[0]+`]').focus()`) + `; 0`)
		p.Type(parts[1])
		p.Wait(js(`window.option = all('[role=option]').find((e) => e.checkVisibility() && e.textContent.includes(` + quoted(parts[2]) + `))`))
		p.Eval(`option.click(); 0`)
	},
	"save":  func(p *deskPage, _ string) { p.saves() },
	"state": func(p *deskPage, name string) { p.state(name) },
	// new TITLE fills a new event up to the least that it needs.
	"new": func(p *deskPage, title string) {
		p.address = "#/event/new"
		p.form()
		p.set("input[name=title][data-lang=en]", title)
		p.set("[name=start_words]", "tomorrow 7pm")
		p.set("[name=end_words]", "tomorrow 9pm")
	},
	"do":   func(p *deskPage, script string) { p.Eval(js(`{ ` + script + ` }`)) },
	"wait": func(p *deskPage, expression string) { p.Wait(js(expression)) },
	// is EXPRESSION -> TEXT waits until it comes to that.
	"is": func(p *deskPage, about string) {
		expression, want, _ := strings.Cut(about+" ", " -> ")
		p.Is(expression, js(`String(`+expression+`)`), strings.TrimSpace(want))
	},
	// let NAME TEXT names a text, name NAME EXPRESSION what it comes to, id NAME the record in the form.
	"let": func(p *deskPage, about string) {
		name, text, _ := strings.Cut(about, " ")
		p.names[name] = text
	},
	"name": func(p *deskPage, about string) {
		name, expression, _ := strings.Cut(about, " ")
		p.names[name], _ = p.Eval(js(expression)).(string)
	},
	"id": func(p *deskPage, name string) { p.names[name] = p.id() },
	// event NAME USER DAYS TITLE [FIELDS] makes an event in so many days, make NAME PATH FIELDS
	// another record.
	"event": func(p *deskPage, about string) {
		parts := strings.SplitN(about, " ", 4)
		title, more, _ := strings.Cut(parts[3], " {")
		fields := map[string]any{}
		if more != "" {
			must(p.t, json.Unmarshal([]byte("{"+more), &fields))
		}
		days, err := strconv.Atoi(parts[2])
		must(p.t, err)
		p.names[parts[0]] = p.event(p.t, p.names[parts[1]], title, days, fields)
	},
	"make": func(p *deskPage, about string) {
		parts := strings.SplitN(about, " ", 3)
		p.names[parts[0]] = idOf(p.want(201, http.MethodPost, parts[1], p.token, parts[2]))
	},
	// http STATUS METHOD PATH [BODY] sends a request of the administrator, public STATUS PATH one
	// of nobody.
	"http": func(p *deskPage, about string) {
		parts := append(strings.SplitN(about, " ", 4), "")
		if status, data := p.try(parts[1], p.under(parts[2]), p.token, parts[3]); strconv.Itoa(status) != parts[0] {
			p.t.Errorf("%s: %d %s", about, status, data)
		}
	},
	"public": func(p *deskPage, about string) {
		want, path, _ := strings.Cut(about, " ")
		if status, _ := p.try(http.MethodGet, p.under(path), "", ""); strconv.Itoa(status) != want {
			p.t.Errorf("%s for the public: %d, want %s", path, status, want)
		}
	},
	// has PATH FIELD ... -> TEXT looks what the interface has in fields.
	"has": func(p *deskPage, about string) {
		asked, want, _ := strings.Cut(about+" ", " -> ")
		parts := strings.Fields(asked)
		var record any
		_, data := p.try(http.MethodGet, p.under(parts[0]), p.token, "")
		must(p.t, json.Unmarshal(data, &record))
		var got []string
		for _, field := range parts[1:] {
			got = append(got, fmt.Sprint(fieldOf(record, strings.Split(field, "."))))
		}
		if text := strings.Join(got, "|"); text != strings.TrimSpace(want) {
			p.t.Errorf("%s: %s", about, text)
		}
	},
	// user NAME ROLE adds a user, token NAME USER makes a new token.
	"user": func(p *deskPage, about string) {
		name, role, _ := strings.Cut(about, " ")
		p.names[name] = p.tool(p.t, "user", "add", "the-"+name, "--role", role)
	},
	"token": func(p *deskPage, about string) {
		name, user, _ := strings.Cut(about, " ")
		p.names[name] = p.tool(p.t, "user", "token", "the-"+user)
	},
	// tap notes the writes of the page in sent. Answers that are pushed to answers are a status
	// with a Retry-After, or 'lost' for a write that is carried out and not answered.
	"tap": func(p *deskPage, _ string) { p.Eval(tapped) },
	// paste HTML pastes it into the rich text field of English.
	"paste": func(p *deskPage, text string) { p.Eval(fmt.Sprintf(pasted, quoted(text))) },
	// later lets a test press Undo on a busy machine, too.
	"later": func(p *deskPage, _ string) {
		p.Eval(`((set) => { window.setTimeout = (f, ms) => set(f, ms === 10_000 ? 60_000 : ms) })(window.setTimeout); 0`)
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
func (d *desk) under(path string) string {
	if path[3] == '/' {
		return strings.Replace(d.root, "/api", path[:3]+"/api", 1) + path[3:]
	}
	return d.root + path
}

// editor opens the desk for an editor, at an address.
func (d *desk) editor(t *testing.T, address string) *deskPage {
	t.Helper()
	p := d.at(t)
	p.enter(browser.Open(t, "about:blank"), "editor "+address)
	return p
}

// enter opens the desk in a page for a user, at an address.
func (p *deskPage) enter(page *browser.Page, about string) {
	p.t.Helper()
	user, address, _ := strings.Cut(about, " ")
	p.Page = page
	p.Call("Emulation.setFocusEmulationEnabled", browser.Object{"enabled": true}, nil)
	p.Goto(p.host + "/desk/#/signin?" + url.Values{"name": {"the-" + user}, "token": {p.names[user]}}.Encode())
	p.Wait(`document.getElementById('who')?.dataset.role && document.querySelector('[role=tab][data-count]')`)
	if address != "" {
		p.leads(address)
	}
}

func (p *deskPage) leads(address string) {
	p.address = address
	p.Eval(`location.hash = ` + quoted(address) + `; 0`)
}

// set types a value into a field.
func (p *deskPage) set(selector, value string) {
	p.Wait(`document.querySelector(` + quoted(selector) + `)`)
	p.Eval(`((e) => { e.focus(); e.value = ` + quoted(value) + `; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})) })(document.querySelector(` + quoted(selector) + `)); 0`)
}

// press presses the last button, link or tab in sight that has a name.
func (p *deskPage) press(name string) {
	p.Wait(`window.pressed = [...document.querySelectorAll('button, a, summary')].filter((e) => e.checkVisibility() && e.textContent.trim() === ` + quoted(name) + `).at(-1)`)
	p.Eval(`window.pressed.click(); 0`)
}

// state waits for a state of saving.
func (p *deskPage) state(name string) {
	p.Wait(`document.getElementById('status')?.dataset.state === ` + quoted(name))
}

// form waits for the form at the address.
func (p *deskPage) form() {
	p.Wait(`location.hash === ` + quoted(p.address) + ` && document.getElementById('status')`)
}

// saves presses Save and waits until all is saved.
func (p *deskPage) saves() {
	p.press("Save")
	p.state("saved")
}

// id is that of the record in the form.
func (p *deskPage) id() string {
	id, _ := p.Eval(`location.hash.split('/')[2]`).(string)
	return id
}

// event makes an event, in so many days.
func (d *desk) event(t *testing.T, token, title string, in int, more map[string]any) string {
	t.Helper()
	day := time.Now().UTC().AddDate(0, 0, in).Format(time.DateOnly)
	o := map[string]any{"title": title, "start_date": day + " 19:00", "end_date": day + " 21:00"}
	maps.Copy(o, more)
	data, err := json.Marshal(o)
	must(t, err)
	return idOf(d.want(201, http.MethodPost, "/events", token, string(data)))
}
