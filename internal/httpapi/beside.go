package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
)

// Beside is a path that is answered beside the interface, and comes in by the same way:
// an id, slots of its own, credentials, errors, panics and the log.
type Beside struct {
	Path   string // and what is below it
	AtOnce int    // requests that are worked on, a quarter of them, at least 16, of one address; more are answered 503
	Probe  bool   // it asks for no credentials, and nobody is told of its answers
	// Serve gives the status and the body, as JSON, of the answer to a GET.
	Serve func(r *http.Request, c calendar.Caller) (status int, body any, err error)

	rooms *admit.Control
}

// beside gives what answers a path beside the interface, nil for none.
func (a *api) beside(path string) *Beside {
	for i := range a.o.Beside {
		b := &a.o.Beside[i]
		if rest, ok := strings.CutPrefix(path, b.Path); ok && (rest == "" || rest[0] == '/') {
			return b
		}
	}
	return nil
}

// serveBeside answers a request beside the interface.
func (a *api) serveBeside(w http.ResponseWriter, r *http.Request, c *call) {
	defer a.answerPanic(w, r)
	c.pass = c.beside.rooms.Arrive(r)
	defer c.pass.Leave()
	status, body, err := a.askBeside(w, r, c)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		a.fail(w, r, err)
		return
	}
	w.Header()[headerType] = valueJSON
	a.send(w, r, status, b.Bytes())
}

func (a *api) askBeside(w http.ResponseWriter, r *http.Request, c *call) (status int, body any, err error) {
	if !c.pass.Enter(admit.Login, 1) {
		return 0, nil, calendar.Fail(calendar.CodeUnavailable, 0)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set(headerAllow, "GET, HEAD") // OPTIONS is for the interface
		return 0, nil, calendar.Fail(calendar.CodeMethodNotAllowed, 0)
	}
	if !c.beside.Probe {
		c.caller, err = a.Users.Authenticate(r.Context(), strings.Join(r.Header["Authorization"], ", "))
		if over := a.count(w, r, c.caller.ID); over != nil {
			err = over
		}
	}
	if err != nil {
		return 0, nil, err
	}
	return c.beside.Serve(r, c.caller)
}
