package feed_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(limit) {
		t.Fatal("server is not ready")
	}
	return "127.0.0.1:" + strconv.Itoa(s.Addr().(*net.TCPAddr).Port)
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

func TestConnect(t *testing.T) {
	t.Parallel()
	ours, theirs := issue(t), issue(t)
	user, err := nkeys.CreateUser()
	check(t, err)
	public, err := user.PublicKey()
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	seedFile := write(t, "user.nk", seed)
	stranger, err := nkeys.CreateUser()
	check(t, err)
	strangerSeed, err := stranger.Seed()
	check(t, err)
	strangerFile := write(t, "stranger.nk", strangerSeed)
	nonsense := write(t, "nonsense", []byte("nonsense"))

	open := listen(t, &server.Options{})
	password := listen(t, &server.Options{Username: "daybook", Password: "right"})
	token := listen(t, &server.Options{Authorization: "right"})
	nkey := listen(t, &server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}})
	secure := listen(t, &server.Options{TLSConfig: ours.server(t, false), TLS: true, TLSTimeout: 5})
	mutual := listen(t, &server.Options{TLSConfig: ours.server(t, true), TLS: true, TLSVerify: true, TLSTimeout: 5})
	domain := listen(t, &server.Options{JetStreamDomain: "hub"})

	type options = feed.ConnectOptions
	cases := map[string]struct {
		urls string
		o    options
		want []string // of the error; none: it works
	}{
		"open":                 {urls: "nats://" + open},
		"without scheme":       {urls: open},
		"two, one is down":     {urls: "nats://127.0.0.1:1, nats://" + open},
		"password":             {urls: "nats://daybook:right@" + password},
		"wrong password":       {urls: "nats://daybook:secretword@" + password, want: []string{"password of the URL", password}},
		"no password":          {urls: "nats://" + password, want: []string{"password of the URL"}},
		"token":                {urls: "nats://right@" + token},
		"nkey":                 {urls: "nats://" + nkey, o: options{NKey: seedFile}},
		"nkey of another":      {urls: "nats://" + nkey, o: options{NKey: strangerFile}, want: []string{"nkey file"}},
		"nkey file missing":    {urls: "nats://" + nkey, o: options{NKey: "missing.nk"}, want: []string{"nkey file missing.nk"}},
		"nkey file damaged":    {urls: "nats://" + nkey, o: options{NKey: nonsense}, want: []string{"nkey file " + nonsense}},
		"credentials missing":  {urls: "nats://" + open, o: options{Credentials: "missing.creds"}, want: []string{"credentials file missing.creds"}},
		"credentials damaged":  {urls: "nats://" + open, o: options{Credentials: nonsense}, want: []string{"credentials file " + nonsense}},
		"credentials and nkey": {urls: "nats://" + open, o: options{Credentials: nonsense, NKey: seedFile}, want: []string{"at most one"}},
		"TLS":                  {urls: "tls://" + secure, o: options{CA: ours.ca}},
		"TLS of a nats URL":    {urls: "nats://" + secure, o: options{CA: ours.ca}},
		"TLS, CA of others":    {urls: "tls://" + secure, o: options{CA: theirs.ca}, want: []string{"CA file"}},
		"TLS, CA of system":    {urls: "tls://" + secure, want: []string{"CA file"}},
		"TLS not offered":      {urls: "nats://" + open, o: options{CA: ours.ca}, want: []string{"offers no TLS"}},
		"CA file missing":      {urls: "tls://" + secure, o: options{CA: "missing.pem"}, want: []string{"CA file missing.pem"}},
		"CA file damaged":      {urls: "tls://" + secure, o: options{CA: nonsense}, want: []string{"CA file " + nonsense}},
		"client certificate":   {urls: "tls://" + mutual, o: options{CA: ours.ca, Cert: ours.cert, Key: ours.key}},
		"no certificate":       {urls: "tls://" + mutual, o: options{CA: ours.ca}, want: []string{"client certificate"}},
		"certificate of other": {urls: "tls://" + mutual, o: options{CA: ours.ca, Cert: theirs.cert, Key: theirs.key}, want: []string{"client certificate"}},
		"certificate alone":    {urls: "tls://" + mutual, o: options{CA: ours.ca, Cert: ours.cert}, want: []string{"key file is not set"}},
		"key alone":            {urls: "tls://" + mutual, o: options{CA: ours.ca, Key: ours.key}, want: []string{"certificate file is not set"}},
		"key of another":       {urls: "tls://" + mutual, o: options{CA: ours.ca, Cert: ours.cert, Key: theirs.key}, want: []string{"client certificate " + ours.cert}},
		"domain":               {urls: "nats://" + domain, o: options{Domain: "hub"}},
		"API prefix":           {urls: "nats://" + domain, o: options{APIPrefix: "$JS.hub.API"}},
		"domain and prefix":    {urls: "nats://" + domain, o: options{Domain: "hub", APIPrefix: "x"}, want: []string{"at most one"}},
		"no URL":               {urls: "", want: []string{"URL 1"}},
		"other scheme":         {urls: "nats://" + open + ",http://" + open, want: []string{"URL 2", "scheme"}},
		"no host":              {urls: "nats://:4222", want: []string{"URL 1", "host"}},
		"port is no number":    {urls: "nats://daybook:secretword@host:port", want: []string{"URL 1"}},
		"bad escape":           {urls: "nats://daybook:secretword%zz@host", want: []string{"URL 1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, js, err := feed.Connect(c.urls, c.o)
			if err == nil {
				defer conn.Close()
			}
			if len(c.want) == 0 {
				check(t, err)
				if _, err := js.AccountInfo(within(t)); err != nil {
					t.Errorf("JetStream does not answer: %v", err)
				}
				return
			}
			if err == nil && c.o.CA != "" && !conn.IsConnected() {
				return // the server closed the connection before it was read why
			}
			if err == nil {
				t.Fatal("connected, want an error")
			}
			for _, want := range c.want {
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
