package feed_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsAccounts is how many accounts natsServers have. Each is a JetStream of its
// own, so tests that run side by side share servers but no stream.
const natsAccounts = 128

// natsServers are nats-server processes of a test: one alone, or a cluster.
type natsServers struct {
	All []*natsServer

	mu   sync.Mutex
	used int
}

// natsServer is one process.
type natsServer struct {
	Name string
	// Dir is the folder of its JetStream store; it may be changed or removed
	// while the process does not run.
	Dir string

	t      *testing.T
	port   int
	config string
	cmd    *exec.Cmd
}

// startNATS starts n nats-server processes with JetStream on free ports of this
// machine, a cluster where there is more than one, and waits until JetStream
// answers. They end with the test. The program is that of the module that go.mod
// names.
func startNATS(t *testing.T, n int) *natsServers {
	t.Helper()
	servers := &natsServers{}
	ports := freePorts(2 * n)
	routes := make([]string, 0, n)
	for i := range n {
		routes = append(routes, fmt.Sprintf(`"nats://127.0.0.1:%d"`, ports[n+i]))
	}
	for i := range n {
		server := &natsServer{Name: fmt.Sprintf("s%d", i+1), Dir: t.TempDir(), t: t, port: ports[i]}
		var conf bytes.Buffer
		fmt.Fprintf(&conf, "server_name: %s\nlisten: \"127.0.0.1:%d\"\n", server.Name, server.port)
		fmt.Fprintf(&conf, "jetstream { store_dir: %q, max_memory_store: 1GB, max_file_store: 1TB }\n", server.Dir)
		conf.WriteString("system_account: SYS\naccounts {\n  SYS { users: [{user: sys, password: secret}] }\n")
		for a := range natsAccounts {
			fmt.Fprintf(&conf, "  A%d { jetstream: enabled, users: [{user: a%d, password: secret}] }\n", a, a)
		}
		conf.WriteString("}\n")
		if n > 1 {
			fmt.Fprintf(&conf, "cluster { name: test, listen: \"127.0.0.1:%d\", routes: [%s] }\n", ports[n+i], strings.Join(routes, ", "))
		}
		server.config = filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(server.config, conf.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		servers.All = append(servers.All, server)
	}
	natsProgram(t)
	for _, server := range servers.All {
		server.Start()
		t.Cleanup(server.Kill9)
	}
	servers.Ready(t)
	return servers
}

// freePorts returns n ports of this machine that no one listens on, below those
// that the system gives to outgoing connections.
func freePorts(n int) (ports []int) {
	for port := 20_000 + rand.IntN(9_000); len(ports) < n; port++ {
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = listener.Close()
			ports = append(ports, port)
		}
	}
	return ports
}

// Account returns the URLs of all servers with the user of an account that no one
// else has.
func (natsServers *natsServers) Account(t *testing.T) string {
	t.Helper()
	natsServers.mu.Lock()
	defer natsServers.mu.Unlock()
	if natsServers.used == natsAccounts {
		t.Fatal("no account is left, raise natsAccounts")
	}
	user := fmt.Sprintf("a%d", natsServers.used)
	natsServers.used++
	urls := make([]string, 0, len(natsServers.All))
	for _, natsServer := range natsServers.All {
		urls = append(urls, natsServer.URL(user))
	}
	return strings.Join(urls, ",")
}

// Server returns the server of a name.
func (natsServers *natsServers) Server(t *testing.T, name string) *natsServer {
	t.Helper()
	for _, natsServer := range natsServers.All {
		if natsServer.Name == name {
			return natsServer
		}
	}
	t.Fatalf("no server %q", name)
	return nil
}

// Ready waits until JetStream answers, which in a cluster takes a leader that
// knows all the servers.
func (natsServers *natsServers) Ready(t *testing.T) {
	t.Helper()
	waitFor(t, func() bool { return natsServers.ready(t.Context()) == nil })
}

// ready makes a stream of all servers and deletes it.
func (natsServers *natsServers) ready(ctx context.Context) error {
	conn, err := nats.Connect(natsServers.All[0].URL(fmt.Sprintf("a%d", natsAccounts-1)))
	if err != nil {
		return err
	}
	defer conn.Close()
	jetStream, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := jetStream.CreateStream(ctx, jetstream.StreamConfig{Name: "READY", Replicas: len(natsServers.All)}); err != nil {
		return err
	}
	return jetStream.DeleteStream(ctx, "READY")
}

// URL returns the URL of the server for a user.
func (natsServer *natsServer) URL(user string) string {
	address := url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", natsServer.port), User: url.UserPassword(user, "secret")}
	return address.String()
}

// Start starts the process; it does not wait for it to be ready.
func (natsServer *natsServer) Start() {
	natsServer.t.Helper()
	natsServer.cmd = exec.Command(natsProgram(natsServer.t), "-c", natsServer.config, "-l", natsServer.config+".log")
	natsServer.cmd.Stderr = os.Stderr // why it does not start; all else is in its log
	if err := natsServer.cmd.Start(); err != nil {
		natsServer.t.Fatal(err)
	}
}

// Kill9 ends the process as a loss of power to it would, and waits for its end.
// It does nothing when the process does not run.
func (natsServer *natsServer) Kill9() {
	if natsServer.cmd == nil {
		return
	}
	_ = natsServer.cmd.Process.Kill() // it may have ended
	_ = natsServer.cmd.Wait()         // with "killed"
	natsServer.cmd = nil
}

var natsBuild struct {
	sync.Once
	path, problem string
}

// natsProgram returns the path of the nats-server program of go.mod, built once for each
// test program unless DAYBOOK_NATS_SERVER names one. The race detector is not for it.
func natsProgram(t *testing.T) string {
	t.Helper()
	natsBuild.Do(func() {
		if natsBuild.path = os.Getenv("DAYBOOK_NATS_SERVER"); natsBuild.path != "" {
			return
		}
		// Not below the folder of a test: others use it too.
		natsBuild.path = filepath.Join(os.TempDir(), fmt.Sprintf("daybook-test-natsserver-%d", os.Getuid()))
		part := fmt.Sprintf("%s.%d", natsBuild.path, os.Getpid())
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", part, "github.com/nats-io/nats-server/v2")
		if out, err := cmd.CombinedOutput(); err != nil {
			natsBuild.problem = fmt.Sprintf("%v\n%s", err, out)
			return
		}
		if err := os.Rename(part, natsBuild.path); err != nil {
			natsBuild.problem = err.Error()
		}
	})
	if natsBuild.problem != "" {
		t.Fatalf("build nats-server: %s", natsBuild.problem)
	}
	return natsBuild.path
}
