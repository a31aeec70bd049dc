package engines

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy passes TCP connections on to a server, and does what networks and load
// balancers do to them when a test says so. It ends with the test.
type Proxy struct {
	URL string // of the server that it was made for, by way of the proxy

	mu     sync.Mutex
	target string
	deaf   bool   // new connections are swallowed, too
	ends   []*end // of all connections
}

// end is one end of a connection, to which nothing is written once it is swallowed.
type end struct {
	net.Conn
	swallowed atomic.Bool
}

func (end *end) Write(data []byte) (int, error) {
	if end.swallowed.Load() {
		return len(data), nil
	}
	return end.Conn.Write(data)
}

// NewProxy starts a Proxy before the server at a URL.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	must(t, err)
	proxy := &Proxy{target: host(server)}
	proxy.URL = strings.Replace(server, proxy.target, listener.Addr().String(), 1)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			front, err := listener.Accept()
			if err != nil {
				return // closed
			}
			proxy.mu.Lock()
			if back, err := net.Dial("tcp", proxy.target); err != nil { //nolint:noctx // on this machine
				_ = front.Close()
			} else {
				proxy.pass(&running, front, back)
			}
			proxy.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		proxy.Switch("")
		running.Wait()
	})
	return proxy
}

// host is the address in a URL, host:port.
func host(server string) string {
	address, _ := url.Parse(server) // of a test
	return address.Host
}

// Switch makes connections from now on go to the server at a URL, and breaks those that
// are there.
func (proxy *Proxy) Switch(server string) {
	proxy.mu.Lock()
	defer proxy.mu.Unlock()
	proxy.target = host(server)
	for _, end := range proxy.ends {
		_ = end.Close()
	}
	proxy.ends = nil
}

// Swallow makes the connections that are there say nothing any more, neither an
// answer nor an end, as a dead host behind a load balancer does; new ones are fine, or
// swallowed too.
func (proxy *Proxy) Swallow(newToo bool) {
	proxy.mu.Lock()
	defer proxy.mu.Unlock()
	proxy.deaf = newToo
	for _, end := range proxy.ends {
		end.swallowed.Store(true)
	}
}

// pass carries bytes both ways until an end is closed.
func (proxy *Proxy) pass(running *sync.WaitGroup, front, back net.Conn) {
	client, server := &end{Conn: front}, &end{Conn: back}
	for from, to := range map[*end]*end{server: client, client: server} {
		to.swallowed.Store(proxy.deaf)
		proxy.ends = append(proxy.ends, to)
		running.Go(func() {
			_, _ = io.Copy(to, from)
			if from == client || !to.swallowed.Load() { // else nobody hears of the end
				_ = front.Close()
				_ = back.Close()
			}
		})
	}
}
