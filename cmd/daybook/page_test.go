package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit/browser"
)

// browserPage is a page that collects what it loads and what is wrong with it, and that takes
// keys.
type browserPage struct {
	*browser.Page
	t *testing.T

	// Requests are those of the page that Goto went to, Faults what it wrote to the
	// console as an error, and what its policies refused; see Watch.
	Requests []*load
	Faults   []string
}

// load is something that a page loaded.
type load struct {
	ID, URL string
	Type    string // Document, Stylesheet, Script, Fetch, Image …
	Bytes   int    // as sent, with headers
}

// openPage opens a page that shares nothing with others; without a browser the test does
// not run.
func openPage(t *testing.T, url string) *browserPage {
	t.Helper()
	return collecting(t, browser.Open(t, url))
}

// Tab opens another page that shares storage with this one.
func (page *browserPage) Tab(url string) *browserPage {
	page.t.Helper()
	return collecting(page.t, page.Page.Tab(url))
}

func collecting(t *testing.T, opened *browser.Page) *browserPage {
	t.Helper()
	page := &browserPage{Page: opened, t: t}
	page.Event = page.note
	return page
}

// Goto goes to a URL and waits until it is loaded.
func (page *browserPage) Goto(url string) {
	page.t.Helper()
	page.Requests, page.Faults = nil, nil
	page.Page.Goto(url)
}

// Watch collects Requests and Faults from now on. Nothing is taken from the browser's cache.
func (page *browserPage) Watch() {
	page.t.Helper()
	page.Call("Network.enable", nil, nil)
	page.Call("Network.setCacheDisabled", browser.Object{"cacheDisabled": true}, nil)
	page.Call("Log.enable", nil, nil)
	page.Call("Emulation.setFocusEmulationEnabled", browser.Object{"enabled": true}, nil)
}

// note keeps what a page does.
func (page *browserPage) note(method string, params json.RawMessage) {
	var event struct {
		RequestID, Type   string
		Request           struct{ URL string }
		EncodedDataLength float64
		Args              []struct{ Value, Description any }
		Entry             struct{ Level, Source, Text, URL string }
	}
	if err := json.Unmarshal(params, &event); err != nil {
		page.t.Errorf("%s: %v", method, err)
	}
	switch method {
	case "Network.requestWillBeSent":
		if !strings.HasPrefix(event.Request.URL, "data:") {
			page.Requests = append(page.Requests, &load{ID: event.RequestID, URL: event.Request.URL, Type: event.Type})
		}
	case "Network.loadingFinished":
		for _, load := range page.Requests {
			if load.ID == event.RequestID {
				load.Bytes = int(event.EncodedDataLength)
			}
		}
	case "Runtime.consoleAPICalled":
		if event.Type == "error" || event.Type == "assert" {
			page.Faults = append(page.Faults, fmt.Sprintf("console: %v", event.Args))
		}
	case "Log.entryAdded":
		if event.Entry.Level == "error" || event.Entry.Source == "security" {
			page.Faults = append(page.Faults, event.Entry.Source+": "+event.Entry.Text+" "+event.Entry.URL)
		}
	}
}

// Resize sets the size of the page; a narrow one is that of a telephone, whose pointer is a
// finger.
func (page *browserPage) Resize(width, height int) {
	page.t.Helper()
	narrow := width < 600
	page.Call("Emulation.setDeviceMetricsOverride", browser.Object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": narrow}, nil)
	page.Call("Emulation.setTouchEmulationEnabled", browser.Object{"enabled": narrow}, nil)
}

// Prefer sets what readers prefer, by media feature: prefers-color-scheme, forced-colors …
func (page *browserPage) Prefer(features map[string]string) {
	page.t.Helper()
	list := make([]browser.Object, 0, len(features))
	for name, value := range features {
		list = append(list, browser.Object{"name": name, "value": value})
	}
	page.Call("Emulation.setEmulatedMedia", browser.Object{"features": list}, nil)
}

// Allow grants the pages of an origin permissions: geolocation, clipboardReadWrite …
func (page *browserPage) Allow(origin string, permissions ...string) {
	page.t.Helper()
	page.Call("Browser.grantPermissions", browser.Object{"origin": origin, "permissions": permissions, "browserContextId": page.Context}, nil)
}

// keys are those that tests press, with their codes in Windows.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

// Press presses keys, one after the other.
func (page *browserPage) Press(names ...string) {
	page.t.Helper()
	for _, name := range names {
		key := browser.Object{"key": name, "code": name, "windowsVirtualKeyCode": keys[name], "type": "keyDown"}
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
func (page *browserPage) Type(text string) {
	page.t.Helper()
	page.Call("Input.insertText", browser.Object{"text": text}, nil)
}

// Until waits until the browser has told enough for a condition.
func (page *browserPage) Until(what string, enough func() bool) {
	page.t.Helper()
	if !page.until(enough) {
		page.t.Errorf("%s: never; faults %v", what, page.Faults)
	}
}

// until waits until a condition is true, with as long between two looks as Wait has.
func (page *browserPage) until(enough func() bool) bool {
	page.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); page.Eval(`new Promise((done) => setTimeout(() => done(0), 30))`) {
		if enough() {
			return true
		}
	}
	return false
}

// Requested reports whether the page asked for a URL that has these words in it.
func (page *browserPage) Requested(words string) bool {
	return slices.ContainsFunc(page.Requests, func(load *load) bool { return strings.Contains(load.URL, words) })
}

// Is waits until an expression comes to a value, and tells the test what it came to instead.
func (page *browserPage) Is(where, expression string, want any) {
	page.t.Helper()
	var got any
	if !page.until(func() bool { got = page.Eval(expression); return reflect.DeepEqual(got, want) }) {
		page.t.Errorf("%s: %s\ngot  %v\nwant %v", where, expression, got, want)
	}
}

// Screenshot returns a picture of the page as PNG, with further parameters of
// Page.captureScreenshot.
func (page *browserPage) Screenshot(params browser.Object) []byte {
	page.t.Helper()
	var out struct{ Data []byte }
	page.Call("Page.captureScreenshot", params, &out)
	return out.Data
}
