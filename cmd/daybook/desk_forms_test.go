package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"daybook/internal/testkit/browser"
)

// TestDeskForms has what docs/spec/desk.md E4, E5 and E7 promise besides the checklist.
func TestDeskForms(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	d := openDesk(t)
	for _, c := range []struct {
		name string
		run  func(*desk, *testing.T)
	}{
		{"texts of four languages", (*desk).translates},
		{"messages in the language of the desk", (*desk).speaks},
		{"rich text", (*desk).formats},
		{"odd HTML stays", (*desk).leavesHTML},
		{"start and end", (*desk).movesTimes},
		{"drafts", (*desk).offersDrafts},
		{"retries", (*desk).retries},
		{"conflicts", (*desk).resolves},
		{"password", (*desk).protects},
		{"links", (*desk).links},
		{"refusals", (*desk).refuses},
		{"statuses", (*desk).schedules},
		{"duplicate and leave", (*desk).duplicates},
		{"other records", (*desk).otherRecords},
		{"labels", (*desk).labels},
		{"keyboard alone", (*desk).byKeyboard},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(d, t)
		})
	}
}

// tap notes the writes of the page, and lets a test answer them: answers are a status with a
// Retry-After, or "lost" for a write that is carried out and not answered.
func (p deskPage) tap() {
	p.Eval(`(() => {
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
	})(); 0`)
}

type sentWrite struct{ Method, Path, Body, Key, Match string }

// writes are those that were sent since the last call.
func (p deskPage) writes(t *testing.T) []sentWrite {
	t.Helper()
	var list []sentWrite
	text, _ := p.Eval(`JSON.stringify(sent.splice(0))`).(string)
	must(t, json.Unmarshal([]byte(text), &list))
	return list
}

// saves presses Save and waits until all is saved.
func (p deskPage) saves() {
	p.press("Save")
	p.state("saved")
}

// opens leads to the form of a record and waits for it.
func (p deskPage) opens(address string) {
	p.Eval(`location.hash = ` + quoted(address) + `; 0`)
	p.form(address)
	p.Wait(`document.querySelector('#status').dataset.state === 'idle'`)
}

// fills a new event up to the least that it needs.
func (p deskPage) fills(title string) {
	p.form("#/event/new")
	p.set("input[name=title][data-lang=en]", title)
	p.set("[name=start_words]", "tomorrow 7pm")
	p.set("[name=end_words]", "tomorrow 9pm")
}

// id is that of the record in the form.
func (p deskPage) id() string {
	id, _ := p.Eval(`location.hash.split('/')[2]`).(string)
	return id
}

// in returns a record under the root of a language.
func (d *desk) in(lang, path string) map[string]any {
	d.t.Helper()
	_, data := d.try(http.MethodGet, strings.Replace(d.root, "/api", "/"+lang+"/api", 1)+path, d.token, "")
	var v map[string]any
	must(d.t, json.Unmarshal(data, &v))
	return v
}

func (d *desk) translates(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.form("#/event/new")
	deskPage.tap()
	deskPage.set("input[name=title][data-lang=fr]", "Fête")
	deskPage.set("input[name=title][data-lang=es]", "Fiesta")
	deskPage.set("textarea[name=description][data-lang=fr]", "<p>Chez nous</p>")
	deskPage.set("textarea[name=description][data-lang=en]", "<p>At home</p>")
	deskPage.set("[name=start_words]", "2031-05-05 19:00")
	deskPage.set("[name=end_words]", "2031-05-05 21:00")
	deskPage.Is("placeholder", `document.querySelector('input[name=title][data-lang=cn]').placeholder`, "Fête")
	deskPage.saves()
	var got []string
	version := 0
	for _, sentWrite := range deskPage.writes(t) {
		match := ""
		if sentWrite.Match != "" {
			match = sentWrite.Match[:2]
		}
		if want := fmt.Sprintf(`"%d`, version); match != "" && match != want {
			t.Errorf("If-Match is %s, want version %s", sentWrite.Match, want)
		}
		got = append(got, sentWrite.Method+" "+strings.SplitN(sentWrite.Path, "/api", 2)[0])
		version++
	}
	if want := []string{"POST /fr", "PATCH ", "PATCH /es"}; !slices.Equal(got, want) {
		t.Errorf("it sent %v, want %v", got, want)
	}
	id := deskPage.id()
	if e := d.in("fr", "/events/"+id); e["title"] != "Fête" || !reflect.DeepEqual(e["languages"], []any{"fr", "en", "es"}) {
		t.Errorf("in French %v, %v", e["title"], e["languages"])
	}
	deskPage.Is("dots", `[...document.querySelectorAll('[role=tab][data-lang]')].map((e) => e.dataset.lang + e.querySelectorAll('.has').length).join()`, "en1,cn0,es1,fr1")
	deskPage.set("textarea[name=description][data-lang=en]", "")
	deskPage.saves()
	if sentWrites := deskPage.writes(t); len(sentWrites) != 1 || sentWrites[0].Body != `{"description":""}` {
		t.Errorf("it sent %v", sentWrites)
	}
	if e := d.in("fr", "/events/"+id); !reflect.DeepEqual(e["languages"], []any{"fr", "es"}) {
		t.Errorf("languages %v", e["languages"])
	}
	deskPage.set("input[name=title][data-lang=es]", "")
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-error=title][data-lang=es]').checkVisibility()`)
	deskPage.Is("focus", `document.activeElement.dataset.lang`, "es")
}

func (d *desk) speaks(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.form("#/event/new")
	deskPage.set("input[name=title][data-lang=fr]", "Tard")
	deskPage.set("[name=start_words]", "2031-05-05 19:00")
	deskPage.set("[name=end_words]", "2031-05-05 18:00")
	deskPage.set("[name=website]", "nonsense")
	deskPage.press("Save")
	const said = `[...document.querySelectorAll('[data-error]')].filter((e) => e.checkVisibility()).map((e) => e.dataset.error + ': ' + e.textContent).join('; ')`
	const want = "end_date: must not be before start_date; website: must be an absolute http or https URL"
	deskPage.Is("create", said, want)
	deskPage.set("[name=end_words]", "2031-05-05 21:00")
	deskPage.set("[name=website]", "")
	deskPage.saves()
	deskPage.set("[name=website]", "nonsense")
	deskPage.press("Save")
	deskPage.Is("update", said, "website: must be an absolute http or https URL")
	deskPage.set("[name=website]", "")
	deskPage.set("[name=end_words]", "2031-05-05 18:00")
	deskPage.press("Save")
	deskPage.Is("update", said, "end_date: The end is before the start.")
	deskPage.set("[name=end_words]", "2031-05-05 21:00")
	deskPage.set("input[name=title][data-lang=es]", "0")
	deskPage.Eval(`document.querySelector('[role=tab][data-lang=cn]').click(); 0`)
	deskPage.press("Save")
	deskPage.Is("a text of a language", said, `title: must not be "0"`)
	deskPage.Is("its tab", `document.querySelector('[role=tab][aria-selected=true]').dataset.lang + document.activeElement.dataset.lang`, "eses")
	deskPage.press("Tags")
	deskPage.press("Leave")
	d.want(201, http.MethodPost, "/tags", d.token, `{"name": "There before"}`)
	deskPage.Eval(`location.hash = '#/tag/new'; 0`)
	deskPage.form("#/tag/new")
	deskPage.set("input[name=name][data-lang=fr]", "there before")
	deskPage.press("Save")
	deskPage.Is("at the top", `document.querySelector('#message[data-code=term_exists]')?.textContent`, "There is one of this name already.")
}

// paste pastes HTML into the rich text field of English.
func (p deskPage) paste(html string) {
	p.Eval(`((e) => {
		e.focus();
		const data = new DataTransfer();
		data.setData('text/html', ` + quoted(html) + `);
		data.setData('text/plain', 'plain');
		e.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	})(document.querySelector('[data-rich][data-lang=en]')); 0`)
}

// chord presses a key with Control.
func (p deskPage) chord(key string) {
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		p.Call("Input.dispatchKeyEvent", browser.Object{"type": kind, "key": key, "code": "Key" + strings.ToUpper(key), "windowsVirtualKeyCode": int(key[0]) - 32, "modifiers": 2}, nil)
	}
}

const source = `document.querySelector('textarea[name=description][data-lang=en]').value`

func (d *desk) formats(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.fills("Formats")
	deskPage.paste(`<html><head><style>p { color: red }</style></head><body><!--StartFragment--><b style="font-weight:normal;" id="docs"><h2 class="x">Head</h2><p class=MsoNormal style="color:red">One <a href="https://a.example/" onclick="x()">link</a><o:p></o:p></p><ul><li>a</li><li>b</li></ul><table border=1><tbody><tr><td style="x">1</td></tr></tbody></table></b><script>alert(1)</script><!--EndFragment--></body></html>`)
	got, _ := deskPage.Wait(source).(string)
	for _, part := range []string{"<h2>Head</h2>", `<a href="https://a.example/">link</a>`, "<li>a</li>", "<td>1</td>"} {
		if !strings.Contains(got, part) {
			t.Errorf("pasted: no %s in %s", part, got)
		}
	}
	if strings.Contains(got, "<b>") || strings.Contains(got, "style") || strings.Contains(got, "script") || strings.Contains(got, "alert") {
		t.Errorf("pasted: %s", got)
	}
	deskPage.press("Undo")
	deskPage.Is("undone", source, "")
	deskPage.Eval(`document.querySelector('[data-rich][data-lang=en]').focus(); 0`)
	deskPage.Type("plain words")
	deskPage.Is("typed", source, "<p>plain words</p>")
	deskPage.Eval(`getSelection().selectAllChildren(document.querySelector('[data-rich][data-lang=en] p')); 0`)
	deskPage.press("Bold")
	deskPage.Is("bold", source, "<p><b>plain words</b></p>")
	deskPage.press("Italic")
	deskPage.press("Heading")
	deskPage.Is("heading", source, "<h3><b><i>plain words</i></b></h3>")
	deskPage.press("Heading")
	deskPage.press("List")
	deskPage.Is("list", source, "<ul><li><b><i>plain words</i></b></li></ul>")
	deskPage.chord("b")
	deskPage.Is("a key", source, "<ul><li><i>plain words</i></li></ul>")
	deskPage.chord("k")
	deskPage.Wait(`document.activeElement.name === 'prompt'`)
	deskPage.Type("a.example/")
	deskPage.Press("Enter")
	deskPage.Is("link", source, `<ul><li><i><a href="https://a.example/">plain words</a></i></li></ul>`)
	deskPage.chord("z")
	deskPage.Is("a key to undo", source, "<ul><li><i>plain words</i></li></ul>")
	deskPage.press("HTML")
	deskPage.Is("source in sight", `document.querySelector('textarea[name=description][data-lang=en]').checkVisibility() && !document.querySelector('[data-rich][data-lang=en]').checkVisibility()`, true)
	deskPage.set("textarea[name=description][data-lang=en]", "<section>one</section><p>two <blink>three</blink></p><script>four</script>")
	deskPage.Eval(`document.querySelector('textarea[name=description][data-lang=en]').setSelectionRange(9, 12); 0`)
	deskPage.press("Bold")
	deskPage.Is("bold in the source", source, "<section><b>one</b></section><p>two <blink>three</blink></p><script>four</script>")
	deskPage.Type("typed")
	deskPage.Is("typed in the source", source+`.includes('typed')`, true)
	deskPage.press("Undo")
	deskPage.Is("undone in the source", source+`.includes('typed')`, false)
	deskPage.saves()
	deskPage.Is("note", `document.querySelector('[data-note=description]').textContent`, "Cleaning removed 3 elements that the calendar does not keep.")
	if want, _ := d.read(deskPage.id(), "description").(string); want == "" || deskPage.Eval(source) != want {
		t.Errorf("it shows %v, want %s", deskPage.Eval(source), want)
	}
	deskPage.press("HTML")
	deskPage.press("Save")
	deskPage.state("saved")
}

func (d *desk) leavesHTML(t *testing.T) {
	t.Helper()
	const odd = `<div>A<p>b <abbr title="t">c</abbr> <b></b><strong>d</strong> <em>e</em></p></div><dl><dt>f</dt><dd>g</dd></dl><figure><img src="https://i.example/x.png" alt="h"><figcaption>i</figcaption></figure><table><tr><th colspan="2">j</th></tr></table><ol><li>k<ul><li>l</li></ul></li></ol><blockquote cite="https://q.example/"><h5 lang="fr" dir="ltr">m</h5></blockquote><pre>n
  o</pre><p>last</p>`
	id := d.event(t, "editor", "Odd", 5, map[string]any{"description": odd, "excerpt": "1 &lt; 2 &amp; a&lt;b", "cost": "10.50", "website": "https://a.example/?a=1&b=2"})
	deskPage := d.as(t, "editor", "")
	deskPage.opens("#/event/" + id)
	deskPage.tap()
	deskPage.Eval(`document.querySelector('[data-rich][data-lang=en]').focus(); 0`)
	deskPage.press("HTML")
	deskPage.press("HTML")
	deskPage.Eval(`getSelection().collapse(document.querySelector('[data-rich][data-lang=en] li').firstChild, 0); 0`)
	deskPage.Press("Tab")
	deskPage.Is("the Tab key leads out of a list", `Boolean(document.activeElement.closest('[data-rich]'))`, false)
	deskPage.saves()
	if sentWrites := deskPage.writes(t); len(sentWrites) != 0 {
		t.Errorf("it sent %v", sentWrites)
	}
	const field = `document.querySelector('[data-rich][data-lang=en]').innerHTML`
	before, _ := deskPage.Eval(field).(string)
	deskPage.Eval(`((e) => { e.focus(); getSelection().collapse(e.lastElementChild.firstChild, 4) })(document.querySelector('[data-rich][data-lang=en]')); 0`)
	deskPage.Type("!")
	deskPage.Wait(source + `.includes('last!')`)
	deskPage.Is("one key changes one letter", source, strings.Replace(before, "last", "last!", 1))
	deskPage.saves()
	if sentWrites := deskPage.writes(t); len(sentWrites) != 1 || strings.Contains(sentWrites[0].Body, "excerpt") {
		t.Errorf("it sent %v", sentWrites)
	}
}

func (d *desk) movesTimes(t *testing.T) {
	t.Helper()
	p := deskPage{browser.Open(t, "about:blank")}
	p.Call("Emulation.setTimezoneOverride", browser.Object{"timezoneId": "America/New_York"}, nil)
	d.enter(p, "editor", "#/event/new")
	p.fills("Times")
	clocks := `['start_date', 'start_time', 'end_date', 'end_time'].map((n) => document.querySelector('[name=' + n + ']').value).join(' ')`
	for _, c := range []struct{ field, value, want string }{
		{"start_words", "2031-05-05 7pm", ""},
		{"end_words", "2031-05-05 21:30", "2031-05-05 19:00 2031-05-05 21:30"},
		{"start_words", "December 31 2031 11pm", "2031-12-31 23:00 2032-01-01 01:30"},
		{"start_date", "2031-12-30", "2031-12-30 23:00 2031-12-31 01:30"},
		{"start_time", "10:15", "2031-12-30 10:15 2031-12-30 12:45"},
		{"end_time", "13:00", "2031-12-30 10:15 2031-12-30 13:00"},
		{"start_words", "2031-03-30 2:30am", "2031-03-30 03:30 2031-03-30 06:15"}, // Berlin has no such hour
		{"end_words", "2031-03-30T04:00:00Z", "2031-03-30 03:30 2031-03-30 06:00"},
	} {
		p.set("[name="+c.field+"]", c.value)
		if c.want != "" {
			p.Is(c.value, clocks, c.want)
		}
	}
	p.Is("shown", `document.querySelector('[data-note=end_words]').textContent.includes('Mar 30, 2031')`, true)
	p.Is("own zone", `document.querySelector('[data-note=start_date]').textContent.replace(/\s/g, ' ')`, "In your time zone: Mar 29, 2031, 9:30 PM (America/New_York)")
	p.set("[name=end_words]", "2031-03-30T04:00:00Z")
	p.set("[name=timezone]", "America/New_York")
	p.Is("an instant in another zone", clocks, "2031-03-30 02:30 2031-03-30 00:00")
	p.Is("the same zone", `document.querySelector('[data-note=start_date]').checkVisibility()`, false)
	p.set("[name=start_words]", "whenever")
	p.press("Save")
	p.Wait(`document.querySelector('[data-error=start_date]').checkVisibility()`)
	p.set("[name=start_words]", "2031-05-05 10:00")
	p.Eval(`document.querySelector('[name=all_day]').click(); 0`)
	p.Is("no times", `document.querySelector('[name=start_time]').checkVisibility()`, false)
	p.set("[name=start_date]", "2031-05-07")
	p.saves()
	e := d.want(200, http.MethodGet, "/events/"+p.id(), d.token, "")
	if got := fmt.Sprint(e["start_date"], " ", e["end_date"], " ", e["timezone"]); got != "2031-05-07 00:00:00 2031-05-07 23:59:59 America/New_York" {
		t.Errorf("all day: %s", got)
	}
}

func (d *desk) offersDrafts(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Drafted", 4, nil)
	p := d.as(t, "editor", "")
	p.opens("#/event/" + id)
	p.set("[name=cost]", "1 EUR")
	p.set("[name=password]", "never-in-storage")
	const kept = `Object.keys(localStorage).filter((k) => k.startsWith('daybook-desk-draft')).length`
	p.Is("kept", kept, 1.0)
	q := deskPage{p.Tab("about:blank")}
	d.enter(q, "editor", "")
	q.opens("#/event/" + id)
	q.set("[name=website]", "https://b.example/")
	p.Is("both are kept", kept, 2.0)
	q.Is("what another tab has is not offered", `document.querySelectorAll('[data-dialog]').length`, 0.0)
	p.Is("no password in storage", `JSON.stringify({...localStorage, ...sessionStorage}).includes('never-in-storage')`, false)
	p.Follow(func() { p.Call("Page.reload", nil, nil) })
	p.Wait(`document.querySelector('[data-dialog=unsaved] h2')?.textContent.startsWith('Unsaved changes from ')`)
	p.press("Restore")
	p.Is("restored", `document.querySelector('[name=cost]').value`, "1 EUR")
	p.saves()
	p.Is("gone with the save", kept, 1.0)
	q.Follow(func() { q.Call("Page.reload", nil, nil) })
	q.Wait(`document.querySelector('[data-dialog=unsaved]')`)
	q.press("Discard")
	q.Is("discarded", kept+` + document.querySelectorAll('[data-dialog]').length`, 0.0)
	q.Is("as it is", `document.querySelector('[name=website]').value`, "")
}

func (d *desk) retries(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.fills("Retried once")
	deskPage.tap()
	deskPage.Eval(`answers.push([503, 1], [429, 1], [504], 'lost'); 0`)
	deskPage.press("Save")
	deskPage.state("retrying")
	deskPage.Wait(`/^Saving … trying again in \d+ s$/.test(document.getElementById('status').textContent)`)
	deskPage.state("saved")
	keys := map[string]int{}
	for _, sentWrite := range deskPage.writes(t) {
		keys[sentWrite.Key]++
	}
	if len(keys) != 1 || keys[""] != 0 {
		t.Errorf("keys %v", keys)
	}
	// A save that is left while it is tried again.
	deskPage.set("[name=cost]", "3 EUR")
	deskPage.Eval(`answers.push('lost', [503, 60]); 0`)
	deskPage.press("Save")
	deskPage.Wait(`sent.length === 2`)
	deskPage.state("retrying")
	address := deskPage.Eval(`location.hash`)
	deskPage.press("Events")
	deskPage.press("Leave")
	deskPage.Wait(`document.body.dataset.desk === 'events'`)
	deskPage.Eval(fmt.Sprintf(`location.hash = '%s'; 0`, address))
	deskPage.Wait(`document.querySelector('[data-dialog=unsaved]')`)
	deskPage.press("Restore")
	deskPage.saves()
	sentWrites := deskPage.writes(t)
	if len(sentWrites) != 3 || sentWrites[0].Key != sentWrites[2].Key || sentWrites[0].Body != sentWrites[2].Body {
		t.Errorf("it sent %v", sentWrites)
	}
	// A save that a crash cut off, with a new sign-in between.
	deskPage.Eval(`location.hash = '#/events'; 0`)
	deskPage.Wait(`document.body.dataset.desk === 'events'`)
	deskPage.Eval(`location.hash = '#/event/new'; 0`)
	deskPage.fills("Cut off")
	deskPage.Eval(`answers.push('lost', [503, 60]); 0`)
	deskPage.press("Save")
	deskPage.Wait(`sent.length === 2`)
	deskPage.state("retrying")
	deskPage.Eval(`window.onbeforeunload = null; sessionStorage.clear(); 0`)
	deskPage.Follow(func() { deskPage.Call("Page.reload", nil, nil) })
	deskPage.Wait(`document.body.dataset.desk === 'signin'`)
	deskPage.set("[name=name]", "the-editor")
	deskPage.set("[name=token]", d.tokens["editor"])
	deskPage.press("Sign in")
	deskPage.Wait(`document.querySelector('[data-dialog=unsaved]')`)
	deskPage.press("Restore")
	deskPage.saves()
	for _, name := range []string{"retried", "cut"} {
		if list := d.want(200, http.MethodGet, "/events?search="+name, d.token, ""); list["total"] != 1.0 {
			t.Errorf("%s is there %v times", name, list["total"])
		}
	}
}

func (d *desk) resolves(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Argued", 3, nil)
	text := strings.Replace(d.root, "/api", "/fr/api", 1) + "/events/" + id
	deskPage := d.as(t, "editor", "")
	deskPage.opens("#/event/" + id)
	deskPage.set("input[name=title][data-lang=fr]", "Le mien")
	deskPage.set("input[name=title][data-lang=es]", "El mío")
	deskPage.set("[name=cost]", "3 EUR")
	d.want(200, http.MethodPatch, "/events/"+id, d.token, `{"website": "https://theirs.example/"}`)
	if status, data := d.try(http.MethodPatch, text, d.token, `{"title": "Le leur"}`); status != 200 {
		t.Fatalf("%d %s", status, data)
	}
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-dialog=conflict]')`)
	deskPage.Is("asked", `[...document.querySelectorAll('[data-conflict]')].map((e) => e.dataset.conflict + e.dataset.lang + [...e.querySelectorAll('label')].map((l) => l.textContent)).join()`, "titlefrKeep mine,Take theirs")
	deskPage.Is("who", `/the-|administrator|Somebody|admin/i.test(document.querySelector('[data-dialog=conflict] .said').textContent)`, true)
	deskPage.press("Back to the form")
	deskPage.state("dirty")
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-dialog=conflict]')`)
	deskPage.Eval(`[...document.querySelectorAll('[data-dialog] label')].find((e) => e.textContent === 'Take theirs').click(); 0`)
	deskPage.press("Save")
	deskPage.state("saved")
	if got := fmt.Sprint(d.in("fr", "/events/"+id)["title"], d.in("es", "/events/"+id)["title"], d.read(id, "cost"), d.read(id, "website")); got != "Le leurEl mío3EURhttps://theirs.example/" {
		t.Errorf("merged: %s", got)
	}
	deskPage.set("[name=cost]", "4 EUR")
	d.want(200, http.MethodDelete, "/events/"+id, d.token, "")
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-dialog=conflict]').textContent.includes('in the trash')`)
	deskPage.press("Restore")
	deskPage.state("saved")
	if got := fmt.Sprint(d.read(id, "status"), d.read(id, "cost")); got != "publish4EUR" {
		t.Errorf("restored: %s", got)
	}
}

func (d *desk) protects(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "#/event/new")
	deskPage.fills("Secret")
	deskPage.tap()
	deskPage.set("[name=password]", "pass words")
	deskPage.saves()
	if sentWrites := deskPage.writes(t); len(sentWrites) != 1 || !strings.Contains(sentWrites[0].Body, `"password":"pass words"`) {
		t.Errorf("it sent %v", sentWrites)
	}
	id := deskPage.id()
	anonymous := func() int {
		status, _ := d.try(http.MethodGet, d.root+"/events/"+id, "", "")
		return status
	}
	if got := anonymous(); got != http.StatusForbidden {
		t.Errorf("anonymous: %d", got)
	}
	deskPage.set("[name=cost]", "1 EUR")
	deskPage.saves()
	if got := anonymous(); got != http.StatusForbidden {
		t.Errorf("an empty field: %d", got)
	}
	deskPage.Eval(`document.querySelector('details.extra').open = true; 0`)
	deskPage.press("Remove password")
	deskPage.saves()
	if got := anonymous(); got != http.StatusOK {
		t.Errorf("removed: %d", got)
	}
}

// chooses takes the option with a name in a combobox.
func (p deskPage) chooses(field, text, option string) {
	p.Eval(`document.querySelector('[role=combobox][name=` + field + `]').focus(); 0`)
	p.Type(text)
	p.Wait(`(window.option = [...document.querySelectorAll('[role=option]')].find((e) => e.checkVisibility() && e.textContent.includes(` + quoted(option) + `)))`)
	p.Eval(`option.click(); 0`)
}

func (d *desk) links(t *testing.T) {
	t.Helper()
	kept := idOf(d.want(201, http.MethodPost, "/venues", d.token, `{"venue": "Kept Hall"}`))
	gone := idOf(d.want(201, http.MethodPost, "/venues", d.token, `{"venue": "Gone Hall"}`))
	music := idOf(d.want(201, http.MethodPost, "/categories", d.token, `{"name": "Music"}`))
	jazz := idOf(d.want(201, http.MethodPost, "/categories", d.token, `{"name": "Jazz", "parent": `+music+`}`))
	d.want(201, http.MethodPost, "/tags", d.token, `{"name": "known"}`)
	id := d.event(t, "author", "Linked", 3, map[string]any{"venue": []string{kept, gone}})
	d.want(200, http.MethodDelete, "/venues/"+gone, d.token, "")
	deskPage := d.as(t, "author", "")
	deskPage.opens("#/event/" + id)
	deskPage.chooses("venue", "Brand new place", "New venue")
	deskPage.Is("its name", `document.querySelector('[name="venue.venue"]').value`, "Brand new place")
	deskPage.set(`[name="venue.venue"]`, "KEPT hall")
	deskPage.Is("linked as it is", `document.querySelector('[data-note=venue]').textContent.includes('KEPT hall')`, true)
	deskPage.set(`[name="venue.venue"]`, "Brand new place")
	deskPage.Is("not there", `document.querySelector('[data-note=venue]').textContent`, "")
	deskPage.Is("nested", `document.querySelector('[name=categories][value="`+jazz+`"]').closest('ul').closest('li').querySelector('[name=categories]').value`, music)
	deskPage.Eval(`document.querySelector('[name=categories][value="` + jazz + `"]').click(); 0`)
	deskPage.chooses("tags", "known", "known")
	deskPage.Eval(`document.querySelector('[role=combobox][name=tags]').focus(); 0`)
	deskPage.Type("unheard of")
	deskPage.Press("Enter")
	deskPage.Is("no such tag", `document.querySelector('[data-note=tags]').textContent`, "There is no tag “unheard of”.")
	deskPage.set("[role=combobox][name=organizer]", "half typed")
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-error=organizer]').textContent.includes('half typed')`)
	deskPage.set("[role=combobox][name=organizer]", "")
	deskPage.saves()
	d.want(200, http.MethodPatch, "/venues/"+gone, d.token, "{}")
	e := d.want(200, http.MethodGet, "/events/"+id, d.token, "")
	var names []string
	for _, value := range e["venues"].([]any) {
		names = append(names, fmt.Sprint(value.(map[string]any)["venue"]))
	}
	slices.Sort(names)
	if want := []string{"Brand new place", "Gone Hall", "Kept Hall"}; !slices.Equal(names, want) || len(e["tags"].([]any)) != 1 || len(e["categories"].([]any)) != 1 {
		t.Errorf("venues %v, tags %v, categories %v", names, e["tags"], e["categories"])
	}
}

func (d *desk) refuses(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Refused", 3, nil)
	deskPage := d.as(t, "editor", "")
	deskPage.opens("#/event/" + id)
	deskPage.tap()
	deskPage.set("[name=cost]", "9 EUR")
	for _, status := range []int{403, 404, 410, 413, 422} {
		deskPage.Eval(fmt.Sprintf(`answers.push([%d]); document.getElementById('message').hidden = true; 0`, status))
		deskPage.press("Save")
		deskPage.Wait(`document.querySelector('#message[data-code=some_code]').checkVisibility() && document.getElementById('message').textContent === 'Some words.'`)
		deskPage.state("failed")
		deskPage.Is("untouched", `document.querySelector('[name=cost]').value`, "9 EUR")
	}
	deskPage.set("[name=slug]", "!!!")
	deskPage.set("[name=cost]", "")
	deskPage.Eval(`document.querySelector('details.extra').open = false; 0`)
	deskPage.press("Save")
	deskPage.Wait(`document.querySelector('[data-error=slug]').checkVisibility()`)
	deskPage.Is("focus", `document.activeElement.name`, "slug")
	deskPage.set("[name=slug]", "Another Slug")
	deskPage.saves()
	deskPage.Is("slug", `document.querySelector('[name=slug]').value`, "another-slug")
}

func (d *desk) schedules(t *testing.T) {
	t.Helper()
	p := d.as(t, "author", "#/event/new")
	p.fills("Scheduled")
	p.set("select[name=status]", "future")
	p.press("Save")
	p.Wait(`document.querySelector('[data-error=date]').checkVisibility()`)
	p.Is("focus", `document.activeElement.name`, "date")
	p.set("[name=date]", "2031-01-02T08:30")
	p.saves()
	if got := fmt.Sprint(d.read(p.id(), "status"), " ", d.read(p.id(), "date")); got != "future 2031-01-02 08:30:00" {
		t.Errorf("it is %s", got)
	}
	p.set("select[name=event_status]", "cancelled")
	p.set("[name=event_status_reason]", "Rain & storm")
	p.saves()
	if got := fmt.Sprint(d.read(p.id(), "event_status"), " ", d.read(p.id(), "event_status_reason")); got != "cancelled Rain &amp; storm" {
		t.Errorf("it is %s", got)
	}
	q := d.as(t, "contributor", "#/event/new")
	q.form("#/event/new")
	q.Is("no image link", `document.querySelectorAll('[name=image]').length`, 0.0)
}

func (d *desk) duplicates(t *testing.T) {
	t.Helper()
	id := d.event(t, "editor", "Twice", 3, map[string]any{"cost": "5 EUR", "tags": []string{"again"}, "featured": true, "description": "<p>same</p>"})
	deskPage := d.as(t, "editor", "")
	deskPage.opens("#/event/" + id)
	deskPage.press("Duplicate")
	deskPage.form("#/event/new")
	deskPage.Is("copied", `['input[name=title]', '[name=cost]', '[name=start_date]', '[name=slug]', '[name=password]'].map((s) => document.querySelector(s).value).join()`, "Twice,5EUR,,,")
	deskPage.Is("flags and tags", `document.querySelector('[name=featured]').checked && document.querySelectorAll('[data-chosen=tags] [data-id]').length === 1`, true)
	deskPage.Eval(`document.querySelector('#views a[href="#/venues"]').click(); 0`)
	deskPage.Wait(`document.querySelector('[data-dialog=leave]')`)
	deskPage.Press("Escape")
	deskPage.Is("still there", `location.hash + document.querySelectorAll('[data-dialog]').length`, "#/event/new0")
	deskPage.Is("closing asks", `!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`, true)
	deskPage.set("[name=start_words]", "2031-05-05 19:00")
	deskPage.set("[name=end_words]", "2031-05-05 21:00")
	deskPage.saves()
	deskPage.Is("closing does not ask", `!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`, false)
	if got := fmt.Sprint(d.read(deskPage.id(), "title"), d.read(deskPage.id(), "description"), d.read(deskPage.id(), "featured")); got != "Twice<p>same</p>true" || deskPage.id() == id {
		t.Errorf("%s: %s", deskPage.id(), got)
	}
}

func (d *desk) otherRecords(t *testing.T) {
	t.Helper()
	rock := idOf(d.want(201, http.MethodPost, "/categories", d.token, `{"name": "Rock"}`))
	deskPage := d.as(t, "editor", "")
	for _, c := range []struct {
		kind, collection, name string
		fields                 map[string]string
	}{
		{"venue", "venues", "venue", map[string]string{"address": "1 Quay", "city": "Lyon & co", "zip": "69001", "country": "France", "province": "Rhône", "state": "X", "stateprovince": "Y", "phone": "+33 1", "website": "https://v.example/", "geo_lat": "45.5", "geo_lng": "4.75", "slug": "the-quay"}},
		{"organizer", "organizers", "organizer", map[string]string{"phone": "+1 2", "email": "a@b.example", "website": "https://o.example/", "image": "https://i.example/o.png", "slug": "the-org"}},
		{"category", "categories", "name", map[string]string{"parent": rock, "slug": "the-cat"}},
		{"tag", "tags", "name", map[string]string{"slug": "the-tag"}},
	} {
		deskPage.Eval(`location.hash = '#/` + c.kind + `/new'; 0`)
		deskPage.form("#/" + c.kind + "/new")
		deskPage.Wait(`document.body.dataset.desk === '` + c.kind + `' && document.getElementById('status').dataset.state`)
		deskPage.set("input[name="+c.name+"][data-lang=en]", "A <b> & c")
		deskPage.set("input[name="+c.name+"][data-lang=fr]", "Le même")
		deskPage.set("textarea[name=description][data-lang=en]", "<p>About it</p>")
		for name, value := range c.fields {
			deskPage.set("[name="+name+"]", value)
		}
		deskPage.saves()
		path := "/" + c.collection + "/" + deskPage.id()
		r := d.want(200, http.MethodGet, path, d.token, "")
		if r[c.name] != "A &lt;b&gt; &amp; c" || r["description"] != "<p>About it</p>" || d.in("fr", path)[c.name] != "Le même" {
			t.Errorf("%s: %v", c.kind, r)
		}
		for name, value := range c.fields {
			got := fmt.Sprint(r[name])
			if o, ok := r[name].(map[string]any); ok {
				got = fmt.Sprint(o["url"])
			}
			if strings.ReplaceAll(got, "&amp;", "&") != value {
				t.Errorf("%s: %s is %s, want %s", c.kind, name, got, value)
			}
		}
		deskPage.tap()
		deskPage.press("Save")
		deskPage.state("saved")
		if sentWrites := deskPage.writes(t); len(sentWrites) != 0 {
			t.Errorf("%s: nothing changed and it sent %v", c.kind, sentWrites)
		}
		field, verb := c.kind, "Trash"
		if c.name == "name" {
			field, verb = c.collection, "Delete"
		}
		d.event(t, "editor", "Links to a "+c.kind, 3, map[string]any{field: []string{deskPage.id()}})
		d.event(t, "editor", "Past link to a "+c.kind, -300, map[string]any{field: []string{deskPage.id()}})
		deskPage.press(verb)
		deskPage.Wait(`document.querySelector('[data-dialog=` + strings.ToLower(verb) + `]')?.textContent.includes('2 events')`)
		if verb == "Delete" {
			deskPage.Is("final", `document.querySelector('[data-dialog]').textContent.includes('final')`, true)
		}
		deskPage.press(verb)
		deskPage.Wait(`document.body.dataset.desk === '` + c.collection + `'`)
		deskPage.Wait(`document.querySelector('tr[data-id], .empty:not([hidden])')`)
	}
}

// tabTo presses Tab until an element has the focus.
func (p deskPage) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range 150 {
		p.Press("Tab")
		if p.Eval(`Boolean(document.activeElement.matches(`+quoted(selector)+`))`) == true {
			return
		}
	}
	t.Fatalf("the Tab key does not lead to %s", selector)
}

func (d *desk) byKeyboard(t *testing.T) {
	t.Helper()
	d.want(201, http.MethodPost, "/organizers", d.token, `{"organizer": "Keys Trust"}`)
	d.want(201, http.MethodPost, "/organizers", d.token, `{"organizer": "Keys Choir"}`)
	category := idOf(d.want(201, http.MethodPost, "/categories", d.token, `{"name": "Keyboards"}`))
	deskPage := d.as(t, "editor", "")
	deskPage.Eval(`document.getElementById('main').focus(); 0`)
	deskPage.Eval(`location.hash = '#/event/new'; 0`)
	deskPage.form("#/event/new")
	deskPage.Eval(`document.getElementById('skip').focus(); 0`)
	deskPage.tabTo(t, "[role=tab][data-lang=en]")
	deskPage.tabTo(t, "input[name=title][data-lang=en]")
	deskPage.Type("By keys")
	deskPage.tabTo(t, "[data-rich][data-lang=en]")
	deskPage.Type("Typed words")
	deskPage.Eval(`document.querySelector('[role=tab][data-lang=en]').focus(); 0`)
	deskPage.Press("ArrowRight", "ArrowRight", "ArrowRight")
	deskPage.tabTo(t, "input[name=title][data-lang=fr]")
	deskPage.Type("Au clavier")
	deskPage.tabTo(t, "[name=start_words]")
	deskPage.Type("2031-05-05 19:00")
	deskPage.tabTo(t, "[name=end_words]")
	deskPage.Type("2031-05-05 21:00")
	deskPage.tabTo(t, "[role=combobox][name=venue]")
	deskPage.Type("Keys Hall")
	deskPage.Wait(`[...document.querySelectorAll('[role=option]')].some((e) => e.checkVisibility())`)
	deskPage.Press("ArrowDown", "Enter")
	deskPage.Is("focus", `document.activeElement.name`, "venue.venue")
	deskPage.tabTo(t, `[name="venue.city"]`)
	deskPage.Type("Lyon")
	deskPage.tabTo(t, "[role=combobox][name=organizer]")
	for _, name := range []string{"Keys Trust", "Keys Choir"} {
		deskPage.Type(name)
		deskPage.Wait(`[...document.querySelectorAll('[role=option]')].some((e) => e.checkVisibility() && e.textContent.includes(` + quoted(name) + `))`)
		deskPage.Press("ArrowDown", "Enter")
	}
	deskPage.tabTo(t, `[name=categories][value="`+category+`"]`)
	deskPage.Press(" ")
	deskPage.tabTo(t, "[role=combobox][name=tags]")
	deskPage.Type("keys")
	deskPage.Press("Enter")
	deskPage.Wait(`document.querySelector('[data-chosen=tags] [data-id]')`)
	deskPage.tabTo(t, "[name=cost]")
	deskPage.Type("12 EUR")
	deskPage.tabTo(t, "button[type=submit]")
	deskPage.Press("Enter")
	deskPage.state("saved")
	e := d.want(200, http.MethodGet, "/events/"+deskPage.id(), d.token, "")
	venue, _ := e["venue"].(map[string]any)
	got := fmt.Sprint(e["title"], e["description"], e["start_date"], e["end_date"], venue["venue"], venue["city"], len(e["organizer"].([]any)), len(e["categories"].([]any)), len(e["tags"].([]any)), e["cost"], d.in("fr", "/events/"+deskPage.id())["title"])
	if want := "By keys<p>Typed words</p>2031-05-05 19:00:002031-05-05 21:00:00Keys HallLyon2 1 112EURAu clavier"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (d *desk) labels(t *testing.T) {
	t.Helper()
	deskPage := d.as(t, "editor", "")
	for _, kind := range []string{"event", "venue", "organizer", "category", "tag"} {
		deskPage.Eval(`location.hash = '#/` + kind + `/new'; 0`)
		deskPage.Wait(`document.body.dataset.desk === '` + kind + `' && document.getElementById('status')`)
		deskPage.Eval(`document.querySelectorAll('details.extra').forEach((e) => { e.open = true }); 0`)
		deskPage.Is(kind, `[...document.querySelectorAll('main :is(input, select)[name]')].filter((e) => e.checkVisibility() && ![...e.labels].some((l) => l.checkVisibility() && l.offsetWidth > 1)).map((e) => e.name).join()`, "")
		deskPage.Is(kind+" descriptions", `[...document.querySelectorAll('[aria-describedby]')].flatMap((e) => e.getAttribute('aria-describedby').split(' ')).filter((id) => !document.getElementById(id)).join()`, "")
	}
}
