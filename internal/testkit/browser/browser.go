// Package browser drives Chromium in tests by the DevTools protocol.
package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	testing.TB

	Context string // in which it is alone: no storage, permission or cache of another page
	// Event is called with all that the page says by itself; nil: nothing is.
	Event func(method string, params json.RawMessage)

	conn    *websocket.Conn
	sent    int // calls
	session string
	frame   string // the page itself, without frames in it
	loader  string // of the document that is loaded
}

// Object is a JSON object of the protocol.
type Object = map[string]any

// Open opens a page that shares nothing with others; without a browser the test does
// not run.
func Open(t testing.TB, address string) *Page {
	t.Helper()
	return open(t, address, "")
}

// Tab opens another page that shares storage with this one.
func (page *Page) Tab(address string) *Page {
	page.Helper()
	return open(page.TB, address, page.Context)
}

func open(t testing.TB, address, context string) *Page {
	t.Helper()
	var browser struct{ WebSocketDebuggerURL string }
	engines.Fetch(t, http.MethodGet, engines.URL(t, engines.Chromium)+"/json/version", &browser)
	conn, err := websocket.Dial(browser.WebSocketDebuggerURL, "", "http://127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // which closes the page, too
	page := &Page{TB: t, conn: conn}
	var made struct{ BrowserContextID, TargetID, SessionID string }
	if made.BrowserContextID = context; context == "" {
		page.Call("Target.createBrowserContext", Object{"disposeOnDetach": true}, &made)
	}
	page.Call("Target.createTarget", Object{"url": "about:blank", "browserContextId": made.BrowserContextID}, &made)
	page.Call("Target.attachToTarget", Object{"targetId": made.TargetID, "flatten": true}, &made)
	page.Context, page.frame, page.session = made.BrowserContextID, made.TargetID, made.SessionID
	page.Call("Runtime.enable", nil, nil)
	page.Call("Page.enable", nil, nil)
	page.Call("Page.setLifecycleEventsEnabled", Object{"enabled": true}, nil)
	page.Goto(address)
	return page
}

// Goto goes to a URL and waits until it is loaded.
func (page *Page) Goto(address string) {
	page.Helper()
	var result struct{ LoaderID, ErrorText string }
	page.Call("Page.navigate", Object{"url": address}, &result)
	if result.ErrorText != "" {
		page.Fatalf("%s: %s", address, result.ErrorText)
	}
	for page.loader != result.LoaderID {
		page.receive("load "+address, nil)
	}
}

// Follow does what leads to another page, and waits until that is loaded.
func (page *Page) Follow(act func()) {
	page.Helper()
	before := page.loader
	act()
	for page.loader == before {
		page.receive("load the next page", nil)
	}
}

// Call calls a method of the protocol; result is nil, or what its result is decoded into.
func (page *Page) Call(method string, params Object, result any) {
	page.Helper()
	page.sent++
	if params == nil {
		params = Object{}
	}
	m := Object{"id": page.sent, "method": method, "params": params}
	if page.session != "" {
		m["sessionId"] = page.session
	}
	if err := errors.Join(page.conn.SetDeadline(time.Now().Add(2*pageLimit)), websocket.JSON.Send(page.conn, m)); err != nil {
		page.Fatalf("%s: %v", method, err)
	}
	for answered := false; !answered; {
		answered = page.receive(method, result)
	}
}

// receive reads a message, and reports whether it is the answer to the last call.
func (page *Page) receive(method string, result any) (answered bool) {
	page.Helper()
	var m struct {
		ID                    int
		Method                string
		Params, Result, Error json.RawMessage
	}
	err := websocket.JSON.Receive(page.conn, &m)
	switch answered = err == nil && m.Method == "" && m.ID == page.sent; {
	case m.Method != "":
		page.note(m.Method, m.Params)
	case answered && m.Error != nil:
		err = errors.New(string(m.Error))
	case answered && result != nil:
		err = json.Unmarshal(m.Result, result)
	}
	if err != nil {
		page.Fatalf("%s: %v", method, err)
	}
	return answered
}

// note takes what a page says by itself.
func (page *Page) note(method string, params json.RawMessage) {
	page.Helper()
	switch method {
	case "Runtime.exceptionThrown":
		page.Errorf("the page failed: %s", params)
	case "Page.lifecycleEvent":
		var event struct{ FrameID, LoaderID, Name string }
		if err := json.Unmarshal(params, &event); err != nil {
			page.Errorf("%s: %v", method, err)
		}
		if event.Name == "load" && event.FrameID == page.frame {
			page.loader = event.LoaderID
		}
	}
	if page.Event != nil {
		page.Event(method, params)
	}
}

// Eval gives what a JavaScript expression comes to, in JSON; a promise is waited for.
func (page *Page) Eval(expression string) any {
	page.Helper()
	var result struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	page.Call("Runtime.evaluate", Object{"expression": expression, "awaitPromise": true, "returnByValue": true}, &result)
	if result.ExceptionDetails != nil {
		page.Fatalf("%s\n%s", expression, result.ExceptionDetails.Exception.Description)
	}
	return result.Result.Value
}

// Wait waits until a JavaScript expression comes to something true, and gives that.
func (page *Page) Wait(expression string) any {
	page.Helper()
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
