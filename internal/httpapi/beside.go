package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
)

// Beside is a path that is answered next to the interface, and comes in by the same way:
// an id, slots of its own, credentials, errors, panics and the log.
type Beside struct {
	Path   string // and what is below it
	AtOnce int    // requests that are worked on, a quarter of them, at least 16, of one address; more are answered 503
	Probe  bool   // it asks for no credentials, and nobody is told of its answers
	// Serve returns the status and the body, as JSON, of the answer to a GET.
	Serve func(r *http.Request, c calendar.Caller) (status int, body any, err error)

	rooms *admit.Control
}

// findBeside returns what answers a path next to the interface, nil for none.
func (c *call) findBeside() *Beside {
	for i := range c.o.Beside {
		b := &c.o.Beside[i]
		if _, ok := cutPath(c.r.URL.Path, b.Path); ok {
			return b
		}
	}
	return nil
}

// answerBeside answers a request next to the interface.
func (c *call) answerBeside() (err error) {
	c.pass = c.beside.rooms.Arrive(c.r)
	if !c.pass.Enter(admit.Login, 1) {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	if !isRead(c.r.Method) {
		c.w.Header().Set(headerAllow, "GET, HEAD") // OPTIONS is for the interface
		return calendar.Fail(calendar.CodeMethodNotAllowed, 0)
	}
	if !c.beside.Probe {
		c.caller, err = c.Users.Authenticate(c.r.Context(), strings.Join(c.r.Header["Authorization"], ", "))
		if err = cmp.Or(c.count(c.caller.ID), err); err != nil {
			return err
		}
	}
	status, shown, err := c.beside.Serve(c.r, c.caller)
	if err != nil {
		return err
	}
	body, err := appendJSON(nil, shown)
	if err != nil {
		return err
	}
	c.w.Header()[headerType] = valueJSON
	c.send(status, body)
	return nil
}
