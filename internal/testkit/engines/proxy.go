package engines

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy passes TCP connections on to a server, and does what networks and load
// balancers do to them when a test says so. It ends with the test.
type Proxy struct {
	t        testing.TB
	listener net.Listener

	mu      sync.Mutex
	target  string
	deaf    bool // new connections are swallowed, too
	closed  bool
	passing map[*passed]bool
	running sync.WaitGroup
}

// passed is one connection through a Proxy.
type passed struct {
	front, back net.Conn // back nil: there is none
	swallow     atomic.Bool
}

// NewProxy starts a Proxy before the server at an address, host:port.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{t: t, listener: l, target: target, passing: map[*passed]bool{}}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		_ = l.Close()
		p.Break()
		p.running.Wait()
	})
	return p
}

// Addr is where the proxy listens, host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL gives a URL with the address of the proxy in place of the server's.
func (p *Proxy) URL(server string) string {
	p.t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		p.t.Fatal(err)
	}
	u.Host = p.Addr()
	return u.String()
}

// Switch makes connections from now on go to another server, and breaks those that
// are there.
func (p *Proxy) Switch(target string) {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	p.Break()
}

// Break ends all connections that are there.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.passing {
		c.close()
	}
}

// Swallow makes the connections that are there say nothing any more, neither an
// answer nor an end, as a dead host behind a load balancer does; new ones are fine.
func (p *Proxy) Swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.passing {
		c.swallow.Store(true)
	}
}

// Deaf makes the proxy swallow new connections, too, or stops that.
func (p *Proxy) Deaf(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = on
}

func (p *Proxy) accept() {
	for {
		front, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.mu.Lock()
		target, deaf := p.target, p.deaf
		p.mu.Unlock()
		c := &passed{front: front}
		c.swallow.Store(deaf)
		if !deaf {
			if c.back, err = net.Dial("tcp", target); err != nil { //nolint:noctx // on this machine
				_ = front.Close()
				continue
			}
		}
		p.mu.Lock()
		if p.closed || target != p.target {
			c.close()
		}
		p.passing[c] = true
		p.mu.Unlock()
		p.running.Go(func() { p.pass(c) })
	}
}

// pass carries bytes both ways until an end is closed.
func (p *Proxy) pass(c *passed) {
	var both sync.WaitGroup
	if c.back != nil {
		both.Go(func() {
			c.copy(c.front, c.back)
			if !c.swallow.Load() { // else nobody hears of the end
				c.close()
			}
		})
	}
	c.copy(c.back, c.front)
	c.close()
	both.Wait()
	p.mu.Lock()
	delete(p.passing, c)
	p.mu.Unlock()
}

func (c *passed) copy(to io.Writer, from io.Reader) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 && !c.swallow.Load() {
			_, err = to.Write(b[:n])
		}
		if err != nil {
			return
		}
	}
}

func (c *passed) close() {
	_ = c.front.Close()
	if c.back != nil {
		_ = c.back.Close()
	}
}
