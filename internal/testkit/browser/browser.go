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
func (page *Page) Tab(url string) *Page {
	page.t.Helper()
	return open(page.t, url, page.context)
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
func (page *Page) Goto(url string) {
	page.t.Helper()
	page.Requests, page.Faults = nil, nil
	var out struct{ LoaderID, ErrorText string }
	page.Call("Page.navigate", Object{"url": url}, &out)
	if out.ErrorText != "" {
		page.t.Fatalf("%s: %s", url, out.ErrorText)
	}
	for page.loader != out.LoaderID {
		page.receive("load "+url, nil)
	}
}

// Follow does what leads to another page, and waits until that is loaded.
func (page *Page) Follow(act func()) {
	page.t.Helper()
	before := page.loader
	act()
	for page.loader == before {
		page.receive("load the next page", nil)
	}
}

// Watch collects Requests and Faults from now on. Nothing is taken from the browser's cache.
func (page *Page) Watch() {
	page.t.Helper()
	page.Call("Network.enable", nil, nil)
	page.Call("Network.setCacheDisabled", Object{"cacheDisabled": true}, nil)
	page.Call("Log.enable", nil, nil)
	page.Call("Emulation.setFocusEmulationEnabled", Object{"enabled": true}, nil)
}

// Resize sets the size of the page; a narrow one is that of a telephone, whose pointer is a
// finger.
func (page *Page) Resize(width, height int) {
	page.t.Helper()
	narrow := width < 600
	page.Call("Emulation.setDeviceMetricsOverride", Object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": narrow}, nil)
	page.Call("Emulation.setTouchEmulationEnabled", Object{"enabled": narrow}, nil)
}

// Prefer sets what readers prefer, by media feature: prefers-color-scheme, forced-colors …
func (page *Page) Prefer(features map[string]string) {
	page.t.Helper()
	list := make([]Object, 0, len(features))
	for name, value := range features {
		list = append(list, Object{"name": name, "value": value})
	}
	page.Call("Emulation.setEmulatedMedia", Object{"features": list}, nil)
}

// Allow grants the pages of an origin permissions: geolocation, clipboardReadWrite …
func (page *Page) Allow(origin string, permissions ...string) {
	page.t.Helper()
	page.Call("Browser.grantPermissions", Object{"origin": origin, "permissions": permissions, "browserContextId": page.context}, nil)
}

// keys are those that tests press, with their codes in Windows.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

// Press presses keys, one after the other.
func (page *Page) Press(names ...string) {
	page.t.Helper()
	for _, name := range names {
		key := Object{"key": name, "code": name, "windowsVirtualKeyCode": keys[name], "type": "keyDown"}
		switch name {
		case "Enter":
			key["text"] = "\r"
		case " ":
			key["text"], key["code"] = " ", "Space"
		}
		page.Call("Input.dispatchKeyEvent", key, nil)
		key["type"] = "keyUp"
		delete(key, "text")
		page.Call("Input.dispatchKeyEvent", key, nil)
	}
}

// Type writes a text where the focus is.
func (page *Page) Type(text string) {
	page.t.Helper()
	page.Call("Input.insertText", Object{"text": text}, nil)
}

// Call calls a method of the protocol; result is nil, or what its result is decoded into.
func (page *Page) Call(method string, params Object, result any) {
	page.t.Helper()
	page.sent++
	if params == nil {
		params = Object{}
	}
	if err := page.conn.SetDeadline(time.Now().Add(2 * pageLimit)); err != nil {
		page.t.Fatal(err)
	}
	m := Object{"id": page.sent, "method": method, "params": params}
	if page.session != "" {
		m["sessionId"] = page.session
	}
	if err := websocket.JSON.Send(page.conn, m); err != nil {
		page.t.Fatalf("%s: %v", method, err)
	}
	for answered := false; !answered; {
		answered = page.receive(method, result)
	}
}

// receive reads a message, and reports whether it is the answer to the last call.
func (page *Page) receive(method string, result any) bool {
	page.t.Helper()
	var m struct {
		ID                    int
		Method                string
		Params, Result, Error json.RawMessage
	}
	if err := websocket.JSON.Receive(page.conn, &m); err != nil {
		page.t.Fatalf("%s: %v", method, err)
	}
	switch {
	case m.Method != "":
		page.note(m.Method, m.Params)
	case m.ID != page.sent:
	case m.Error != nil:
		page.t.Fatalf("%s: %s", method, m.Error)
	default:
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				page.t.Fatalf("%s: %v", method, err)
			}
		}
		return true
	}
	return false
}

// note keeps what a page does.
func (page *Page) note(method string, params json.RawMessage) {
	var m struct {
		FrameID, LoaderID, RequestID, Name, Type string

		Request           struct{ URL string }
		EncodedDataLength float64
		Args              []struct{ Value, Description any }
		Entry             struct{ Level, Source, Text, URL string }
	}
	if err := json.Unmarshal(params, &m); err != nil {
		page.t.Errorf("%s: %v", method, err)
	}
	switch method {
	case "Runtime.exceptionThrown":
		page.t.Errorf("the page failed: %s", params)
	case "Page.lifecycleEvent":
		if m.Name == "load" && m.FrameID == page.frame {
			page.loader = m.LoaderID
		}
	case "Network.requestWillBeSent":
		if !strings.HasPrefix(m.Request.URL, "data:") {
			page.Requests = append(page.Requests, &Load{ID: m.RequestID, URL: m.Request.URL, Type: m.Type})
		}
	case "Network.loadingFinished":
		for _, load := range page.Requests {
			if load.ID == m.RequestID {
				load.Bytes = int(m.EncodedDataLength)
			}
		}
	case "Runtime.consoleAPICalled":
		if m.Type == "error" || m.Type == "assert" {
			page.Faults = append(page.Faults, fmt.Sprintf("console: %v", m.Args))
		}
	case "Log.entryAdded":
		if m.Entry.Level == "error" || m.Entry.Source == "security" {
			page.Faults = append(page.Faults, m.Entry.Source+": "+m.Entry.Text+" "+m.Entry.URL)
		}
	}
}

// Eval gives what a JavaScript expression comes to, in JSON; a promise is waited for.
func (page *Page) Eval(expression string) any {
	page.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	page.Call("Runtime.evaluate", Object{"expression": expression, "awaitPromise": true, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		page.t.Fatalf("%s\n%s", expression, out.ExceptionDetails.Exception.Description)
	}
	return out.Result.Value
}

// Wait waits until a JavaScript expression comes to something true, and gives that.
func (page *Page) Wait(expression string) any {
	page.t.Helper()
	return page.Eval(fmt.Sprintf(`new Promise((found, failed) => {
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
func (page *Page) Until(what string, enough func() bool) {
	page.t.Helper()
	if !page.until(enough) {
		page.t.Errorf("%s: never; faults %v", what, page.Faults)
	}
}

// until waits until a condition is true, with as long between two looks as Wait has.
func (page *Page) until(enough func() bool) bool {
	page.t.Helper()
	for end := time.Now().Add(pageLimit); time.Now().Before(end); page.Eval(`new Promise((done) => setTimeout(() => done(0), 30))`) {
		if enough() {
			return true
		}
	}
	return false
}

// Requested reports whether the page asked for a URL that has these words in it.
func (page *Page) Requested(words string) bool {
	return slices.ContainsFunc(page.Requests, func(load *Load) bool { return strings.Contains(load.URL, words) })
}

// Is waits until an expression comes to a value, and tells the test what it came to instead.
func (page *Page) Is(where, expression string, want any) {
	page.t.Helper()
	var got any
	if !page.until(func() bool { got = page.Eval(expression); return reflect.DeepEqual(got, want) }) {
		page.t.Errorf("%s: %s\ngot  %v\nwant %v", where, expression, got, want)
	}
}

// Screenshot returns a picture of the page as PNG, with further parameters of
// Page.captureScreenshot.
func (page *Page) Screenshot(params Object) []byte {
	page.t.Helper()
	var out struct{ Data []byte }
	page.Call("Page.captureScreenshot", params, &out)
	return out.Data
}
