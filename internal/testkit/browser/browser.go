// Package browser drives Chromium in tests by the DevTools protocol.
package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"daybook/internal/testkit/engines"
)

// pageLimit bounds every wait for a browser, which may share its processors with all else
// that is tested.
const pageLimit = time.Minute

// Page is a page in the browser of DAYBOOK_TEST_CHROMIUM, by the DevTools protocol. It is
// closed when the test ends; an error of a script that no one catches fails the test.
type Page struct {
	t       testing.TB
	conn    *websocket.Conn
	sent    int    // calls
	context string // in which it is alone: no storage, permission or cache of another page
	session string
	frame   string // the page itself, without frames in it
	loader  string // of the document that is loaded

	// Requests are those of the page that Goto went to, Faults what it wrote to the
	// console as an error, and what its policies refused; see Watch.
	Requests []*Load
	Faults   []string
}

// Load is something that a page loaded.
type Load struct {
	ID, URL string
	Type    string // Document, Stylesheet, Script, Fetch, Image …
	Bytes   int    // as sent, with headers
}

// Object is a JSON object of the protocol.
type Object = map[string]any

// Open opens a page that shares nothing with others; without a browser the test does
// not run.
func Open(t testing.TB, url string) *Page {
	t.Helper()
	return open(t, url, "")
}

// Tab opens another page that shares storage with this one.
func (p *Page) Tab(url string) *Page {
	p.t.Helper()
	return open(p.t, url, p.context)
}

func open(t testing.TB, url, context string) *Page {
	t.Helper()
	var browser struct{ WebSocketDebuggerURL string }
	engines.Fetch(t, http.MethodGet, engines.URL(t, engines.EngineChromium)+"/json/version", &browser)
	conn, err := websocket.Dial(browser.WebSocketDebuggerURL, "", "http://127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // which closes the page, too
	page := &Page{t: t, conn: conn}
	var made struct{ BrowserContextID, TargetID, SessionID string }
	if made.BrowserContextID = context; context == "" {
		page.Call("Target.createBrowserContext", Object{"disposeOnDetach": true}, &made)
	}
	page.Call("Target.createTarget", Object{"url": "about:blank", "browserContextId": made.BrowserContextID}, &made)
	page.Call("Target.attachToTarget", Object{"targetId": made.TargetID, "flatten": true}, &made)
	page.context, page.frame, page.session = made.BrowserContextID, made.TargetID, made.SessionID
	page.Call("Runtime.enable", nil, nil)
	page.Call("Page.enable", nil, nil)
	page.Call("Page.setLifecycleEventsEnabled", Object{"enabled": true}, nil)
	page.Goto(url)
	return page
}

// Goto goes to a URL and waits until it is loaded.
func (p *Page) Goto(url string) {
	p.t.Helper()
	p.Requests, p.Faults = nil, nil
	var out struct{ LoaderID, ErrorText string }
	p.Call("Page.navigate", Object{"url": url}, &out)
	if out.ErrorText != "" {
		p.t.Fatalf("%s: %s", url, out.ErrorText)
	}
	for p.loader != out.LoaderID {
		p.receive("load "+url, nil)
	}
}

// Follow does what leads to another page, and waits until that is loaded.
func (p *Page) Follow(act func()) {
	p.t.Helper()
	before := p.loader
	act()
	for p.loader == before {
		p.receive("load the next page", nil)
	}
}

// Watch collects Requests and Faults from now on. Nothing is taken from the browser's cache.
func (p *Page) Watch() {
	p.t.Helper()
	p.Call("Network.enable", nil, nil)
	p.Call("Network.setCacheDisabled", Object{"cacheDisabled": true}, nil)
	p.Call("Log.enable", nil, nil)
	p.Call("Emulation.setFocusEmulationEnabled", Object{"enabled": true}, nil)
}

// Resize sets the size of the page; a narrow one is that of a telephone, whose pointer is a
// finger.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	narrow := width < 600
	p.Call("Emulation.setDeviceMetricsOverride", Object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": narrow}, nil)
	p.Call("Emulation.setTouchEmulationEnabled", Object{"enabled": narrow}, nil)
}

// Prefer sets what readers prefer, by media feature: prefers-color-scheme, forced-colors …
func (p *Page) Prefer(features map[string]string) {
	p.t.Helper()
	list := make([]Object, 0, len(features))
	for name, value := range features {
		list = append(list, Object{"name": name, "value": value})
	}
	p.Call("Emulation.setEmulatedMedia", Object{"features": list}, nil)
}

// Allow grants the pages of an origin permissions: geolocation, clipboardReadWrite …
func (p *Page) Allow(origin string, permissions ...string) {
	p.t.Helper()
	p.Call("Browser.grantPermissions", Object{"origin": origin, "permissions": permissions, "browserContextId": p.context}, nil)
}

// keys are those that tests press, with their codes in Windows.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

// Press presses keys, one after the other.
func (p *Page) Press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		key := Object{"key": name, "code": name, "windowsVirtualKeyCode": keys[name], "type": "keyDown"}
		switch name {
		case "Enter":
			key["text"] = "\r"
		case " ":
			key["text"], key["code"] = " ", "Space"
		}
		p.Call("Input.dispatchKeyEvent", key, nil)
		key["type"] = "keyUp"
		delete(key, "text")
		p.Call("Input.dispatchKeyEvent", key, nil)
	}
}

// Type writes a text where the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.Call("Input.insertText", Object{"text": text}, nil)
}

// Call calls a method of the protocol; result is nil, or what its result is decoded into.
func (p *Page) Call(method string, params Object, result any) {
	p.t.Helper()
	p.sent++
	if params == nil {
		params = Object{}
	}
	if err := p.conn.SetDeadline(time.Now().Add(2 * pageLimit)); err != nil {
		p.t.Fatal(err)
	}
	m := Object{"id": p.sent, "method": method, "params": params}
	if p.session != "" {
		m["sessionId"] = p.session
	}
	if err := websocket.JSON.Send(p.conn, m); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	for answered := false; !answered; {
		answered = p.receive(method, result)
	}
}

// receive reads a message, and reports whether it is the answer to the last call.
func (p *Page) receive(method string, result any) bool {
	p.t.Helper()
	var m struct {
		ID                    int
		Method                string
		Params, Result, Error json.RawMessage
	}
	if err := websocket.JSON.Receive(p.conn, &m); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	switch {
	case m.Method != "":
		p.note(m.Method, m.Params)
	case m.ID != p.sent:
	case m.Error != nil:
		p.t.Fatalf("%s: %s", method, m.Error)
	default:
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				p.t.Fatalf("%s: %v", method, err)
			}
		}
		return true
	}
	return false
}

// note keeps what a page does.
func (p *Page) note(method string, params json.RawMessage) {
	var m struct {
		FrameID, LoaderID, RequestID, Name, Type string

		Request           struct{ URL string }
		EncodedDataLength float64
		Args              []struct{ Value, Description any }
		Entry             struct{ Level, Source, Text, URL string }
	}
	if err := json.Unmarshal(params, &m); err != nil {
		p.t.Errorf("%s: %v", method, err)
	}
	switch method {
	case "Runtime.exceptionThrown":
		p.t.Errorf("the page failed: %s", params)
	case "Page.lifecycleEvent":
		if m.Name == "load" && m.FrameID == p.frame {
			p.loader = m.LoaderID
		}
	case "Network.requestWillBeSent":
		if !strings.HasPrefix(m.Request.URL, "data:") {
			p.Requests = append(p.Requests, &Load{ID: m.RequestID, URL: m.Request.URL, Type: m.Type})
		}
	case "Network.loadingFinished":
		for _, load := range p.Requests {
			if load.ID == m.RequestID {
				load.Bytes = int(m.EncodedDataLength)
			}
		}
	case "Runtime.consoleAPICalled":
		if m.Type == "error" || m.Type == "assert" {
			p.Faults = append(p.Faults, fmt.Sprintf("console: %v", m.Args))
		}
	case "Log.entryAdded":
		if m.Entry.Level == "error" || m.Entry.Source == "security" {
			p.Faults = append(p.Faults, m.Entry.Source+": "+m.Entry.Text+" "+m.Entry.URL)
		}
	}
}

// Eval gives what a JavaScript expression comes to, in JSON; a promise is waited for.
func (p *Page) Eval(expression string) any {
	p.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.Call("Runtime.evaluate", Object{"expression": expression, "awaitPromise": true, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		p.t.Fatalf("%s\n%s", expression, out.ExceptionDetails.Exception.Description)
	}
	return out.Result.Value
}

// Wait waits until a JavaScript expression comes to something true, and gives that.
func (p *Page) Wait(expression string) any {
	p.t.Helper()
	return p.Eval(fmt.Sprintf(`new Promise((found, failed) => {
		const end = Date.now() + %d, expression = () => (%s);
		(function look() {
			let v, why = 'it stays untrue';
			try { v = expression() } catch (e) { why = e }
			if (v) found(v);
			else if (Date.now() > end) failed(new Error(expression + ': ' + why + '\\n' + document.body.innerHTML.slice(0, 4000)));
			else setTimeout(look, 30);
		})();
	})`, pageLimit.Milliseconds(), expression))
}

// Until waits until the browser has told enough for a condition.
func (p *Page) Until(what string, enough func() bool) {
	p.t.Helper()
	if !p.until(enough) {
		p.t.Errorf("%s: never; faults %v", what, p.Faults)
	}
}

// until waits until a condition is true, with as long between two looks as Wait has.
func (p *Page) until(enough func() bool) bool {
	p.t.Helper()
	for end := time.Now().Add(pageLimit); time.Now().Before(end); p.Eval(`new Promise((done) => setTimeout(() => done(0), 30))`) {
		if enough() {
			return true
		}
	}
	return false
}

// Requested reports whether the page asked for a URL that has these words in it.
func (p *Page) Requested(words string) bool {
	return slices.ContainsFunc(p.Requests, func(load *Load) bool { return strings.Contains(load.URL, words) })
}

// Is waits until an expression comes to a value, and tells the test what it came to instead.
func (p *Page) Is(where, expression string, want any) {
	p.t.Helper()
	var got any
	if !p.until(func() bool { got = p.Eval(expression); return reflect.DeepEqual(got, want) }) {
		p.t.Errorf("%s: %s\ngot  %v\nwant %v", where, expression, got, want)
	}
}

// Screenshot returns a picture of the page as PNG, with further parameters of
// Page.captureScreenshot.
func (p *Page) Screenshot(params Object) []byte {
	p.t.Helper()
	var out struct{ Data []byte }
	p.Call("Page.captureScreenshot", params, &out)
	return out.Data
}
