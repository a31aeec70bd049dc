// Package cork lets a handler send an answer in one write. net/http sends the
// header with what else fits in its buffer first and the rest of a long body after
// it: two system calls, and a client that is woken twice.
package cork

import (
	"context"
	"net"
	"net/http"
)

// conn is a TCP connection that may keep back what was written last. Only the
// goroutine that serves it writes.
type conn struct {
	*net.TCPConn
	corked bool
	held   []byte // written already, as far as the writer knows
	parts  [2][]byte
}

const (
	// fullBuffer is the size of the buffer of net/http. Were it another, nothing would
	// be kept back.
	fullBuffer = 4 << 10
	// shortest is the shortest body that may not fit into it with the header.
	shortest = fullBuffer / 2
)

// Write keeps a full buffer back while the connection is corked; what comes next
// is sent together with it.
func (c *conn) Write(p []byte) (int, error) {
	switch {
	case len(c.held) > 0:
		return c.both(p)
	case c.corked && len(p) == fullBuffer:
		c.held = append(c.held, p...)
		return len(p), nil
	}
	return c.TCPConn.Write(p)
}

// both sends what is held and then p.
func (c *conn) both(p []byte) (int, error) {
	held := len(c.held)
	c.parts = [2][]byte{c.held, p}
	buffers := net.Buffers(c.parts[:])
	n, err := buffers.WriteTo(c.TCPConn)
	c.parts = [2][]byte{}
	c.held = c.held[:0]
	return max(int(n)-held, 0), err
}

// uncork sends what is held.
func (c *conn) uncork() {
	c.corked = false
	if len(c.held) > 0 {
		// An error comes again with the next write, as that of a buffer would.
		_, _ = c.TCPConn.Write(c.held)
		c.held = c.held[:0]
	}
}

type listener struct{ net.Listener }

// Listener gives a listener whose TCP connections can be corked.
func Listener(l net.Listener) net.Listener { return listener{l} }

// Accept waits for the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if t, ok := c.(*net.TCPConn); ok {
		return &conn{TCPConn: t}, err
	}
	return c, err
}

type key struct{}

// Context is the ConnContext of an http.Server on a Listener.
func Context(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, key{}, c)
	}
	return ctx
}

// Write writes and flushes the whole body of an answer, so that its beginning does
// not go out before the rest. On other connections it only writes.
func Write(w http.ResponseWriter, r *http.Request, body []byte) error {
	c, ok := r.Context().Value(key{}).(*conn)
	if !ok || len(body) < shortest {
		_, err := w.Write(body)
		return err
	}
	c.corked = true
	defer c.uncork()
	if _, err := w.Write(body); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
