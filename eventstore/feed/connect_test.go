package feed_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"daybook/eventstore/feed"
)

// listen starts a server with settings in the process and gives its address.
func listen(t *testing.T, o *server.Options) string {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	o.JetStream, o.StoreDir = true, t.TempDir()
	s, err := server.NewServer(o)
	check(t, err)
	s.Start()
	t.Cleanup(func() {
		// A stream that is made while the server ends stays open.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
		defer cancel()
		for s.NumClients() > 0 || atWork(t, s) {
			pause(ctx, t)
		}
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(limit) {
		t.Fatal("server is not ready")
	}
	return "127.0.0.1:" + strconv.Itoa(s.Addr().(*net.TCPAddr).Port)
}

// atWork reports whether requests of JetStream are being worked on.
func atWork(t *testing.T, s *server.Server) bool {
	t.Helper()
	info, err := s.Jsz(nil)
	check(t, err)
	return info.API.Inflight > 0
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, b, 0o600))
	return path
}

// certificates are an authority and a certificate of it, as files.
type certificates struct{ ca, cert, key string }

func issue(t *testing.T) certificates {
	t.Helper()
	template := func(n int64, ca bool) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(n), Subject: pkix.Name{CommonName: "test"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: ca, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	ca := template(1, true)
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	check(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.CreateCertificate(rand.Reader, template(2, false), ca, key.Public(), caKey)
	check(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	check(t, err)
	file := func(name, kind string, b []byte) string {
		return write(t, name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return certificates{file("ca.pem", "CERTIFICATE", caDER), file("cert.pem", "CERTIFICATE", der), file("key.pem", "EC PRIVATE KEY", keyDER)}
}

func (c certificates) server(t *testing.T, clients bool) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	check(t, err)
	pool := x509.NewCertPool()
	b, err := os.ReadFile(c.ca)
	check(t, err)
	pool.AppendCertsFromPEM(b)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	if clients {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config
}

// operator is an operator with one account and its users, as nsc makes them, and
// a system account.
type operator struct {
	key, account, system nkeys.KeyPair
	disk                 int64 // bytes that the account's streams may take
}

func newOperator(t *testing.T) operator {
	t.Helper()
	pair := func(create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
		k, err := create()
		check(t, err)
		return k
	}
	return operator{pair(nkeys.CreateOperator), pair(nkeys.CreateAccount), pair(nkeys.CreateAccount), jwt.NoLimit}
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	check(t, err)
	return p
}

// options are those of a server that trusts the operator.
func (o operator) options(t *testing.T) *server.Options {
	t.Helper()
	accounts := new(server.MemAccResolver)
	for _, k := range []nkeys.KeyPair{o.account, o.system} {
		claims := jwt.NewAccountClaims(public(t, k))
		if k == o.account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: o.disk, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
		}
		token, err := claims.Encode(o.key)
		check(t, err)
		check(t, accounts.Store(public(t, k), token))
	}
	return &server.Options{TrustedKeys: []string{public(t, o.key)}, AccountResolver: accounts, SystemAccount: public(t, o.system)}
}

// credentials is a file of a new user of the account.
func (o operator) credentials(t *testing.T) string {
	t.Helper()
	user, err := nkeys.CreateUser()
	check(t, err)
	token, err := jwt.NewUserClaims(public(t, user)).Encode(o.account)
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	b, err := jwt.FormatUserConfig(token, seed)
	check(t, err)
	return write(t, "user.creds", b)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	ours, theirs := issue(t), issue(t)
	user, err := nkeys.CreateUser()
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	stranger, err := nkeys.CreateUser()
	check(t, err)
	strangerSeed, err := stranger.Seed()
	check(t, err)
	operator := newOperator(t)
	rows, err := os.ReadFile(filepath.Join("testdata", "connect.txt"))
	check(t, err)
	text := strings.NewReplacer(
		"{open}", listen(t, &server.Options{}),
		"{password}", listen(t, &server.Options{Username: "daybook", Password: "right"}),
		"{token}", listen(t, &server.Options{Authorization: "right"}),
		"{nkey}", listen(t, &server.Options{Nkeys: []*server.NkeyUser{{Nkey: public(t, user)}}}),
		"{secure}", listen(t, &server.Options{TLSConfig: ours.server(t, false), TLS: true, TLSTimeout: 5}),
		"{mutual}", listen(t, &server.Options{TLSConfig: ours.server(t, true), TLS: true, TLSVerify: true, TLSTimeout: 5}),
		"{domain}", listen(t, &server.Options{JetStreamDomain: "hub"}),
		"{decentral}", listen(t, operator.options(t)),
		"{usersFile}", operator.credentials(t), "{foreignFile}", newOperator(t).credentials(t),
		"{seedFile}", write(t, "user.nk", seed), "{strangerFile}", write(t, "stranger.nk", strangerSeed), "{nonsense}", write(t, "nonsense", []byte("nonsense")),
		"{ours.ca}", ours.ca, "{ours.cert}", ours.cert, "{ours.key}", ours.key,
		"{theirs.ca}", theirs.ca, "{theirs.cert}", theirs.cert, "{theirs.key}", theirs.key,
	).Replace(string(rows))
	for line := range strings.Lines(text) {
		if line[0] == '#' {
			continue
		}
		row := append(strings.Split(strings.TrimSpace(line), " | "), "", "", "")
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			var o feed.ConnectOptions
			for setting := range strings.FieldsSeq(row[2]) {
				name, value, _ := strings.Cut(setting, "=")
				*map[string]*string{
					"Credentials": &o.Credentials, "NKey": &o.NKey, "CA": &o.CA, "Cert": &o.Cert, "Key": &o.Key, "Domain": &o.Domain, "APIPrefix": &o.APIPrefix,
				}[name] = value
			}
			conn, js, err := feed.Connect(row[1], o)
			if err == nil {
				defer conn.Close()
			}
			if row[3] == "" {
				check(t, err)
				if _, err := js.AccountInfo(within(t)); err != nil {
					t.Errorf("JetStream does not answer: %v", err)
				}
				return
			}
			// The alert of a server that refuses a certificate may be lost: then it is tried on.
			for ctx := within(t); err == nil; pause(ctx, t) {
				if conn, _, err = feed.Connect(row[1], o); err == nil {
					conn.Close()
				}
			}
			for want := range strings.SplitSeq(row[3], "; ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "secretword") {
				t.Errorf("got %q, which shows a password", err)
			}
		})
	}
}

// closing is a server that ends each connection after the TLS handshake.
type closing struct {
	net.Listener
	config *tls.Config
	taken  atomic.Int32
}

// serve takes connections until the listener is closed.
func (s *closing) serve() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		s.taken.Add(1)
		_, _ = io.WriteString(conn, `INFO {"server_id":"x","tls_required":true,"max_payload":1048576}`+"\r\n")
		_ = tls.Server(conn, s.config).Handshake()
		_ = conn.Close()
	}
}

func startClosing(t *testing.T, config *tls.Config) *closing {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	check(t, err)
	s := &closing{Listener: l, config: config}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve()
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return s
}

// A server that ends connections without saying why may be about to stop: it is
// tried on.
func TestConnectEndedByServer(t *testing.T) {
	t.Parallel()
	ours := issue(t)
	s := startClosing(t, ours.server(t, false))
	conn, _, err := feed.Connect("tls://"+s.Addr().String(), feed.ConnectOptions{CA: ours.ca})
	check(t, err)
	defer conn.Close()
	for ctx, tried := within(t), s.taken.Load(); s.taken.Load() <= tried+1; {
		pause(ctx, t)
	}
}

// Servers that are out of reach are logged once, without passwords.
func TestConnectOutOfReach(t *testing.T) {
	t.Parallel()
	log := new(lines)
	conn, _, err := feed.Connect("nats://daybook:secretword@127.0.0.1:1", feed.ConnectOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
	check(t, err)
	defer conn.Close()
	log.want(within(t), t, "NATS is out of reach")
	if strings.Contains(log.String(), "secretword") {
		t.Errorf("the log shows a password:\n%s", log)
	}
}
