package feed_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"daybook/eventstore/feed"
)

// listen starts a server with settings in the process and gives its address.
func listen(t *testing.T, options *server.Options) string {
	t.Helper()
	options.Host, options.Port, options.NoSigs, options.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	options.JetStream, options.StoreDir = true, t.TempDir()
	// Else the server grants three quarters of what the disk has left, which may be less.
	options.JetStreamMaxStore = cmp.Or(options.JetStreamMaxStore, 2*feed.DefaultMaxBytes)
	s, err := server.NewServer(options)
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

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, data, 0o600))
	return path
}

// certificate is one that is its own authority, as files.
type certificate struct{ cert, key string }

func issue(t *testing.T) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	check(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	check(t, err)
	return certificate{
		write(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		write(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})),
	}
}

// server starts a server with TLS, which may want certificates of its clients.
func (certificate certificate) server(t *testing.T, clients bool) string {
	t.Helper()
	config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: certificate.cert, KeyFile: certificate.key, CaFile: certificate.cert, Verify: clients})
	check(t, err)
	return listen(t, &server.Options{TLSConfig: config, TLS: true, TLSVerify: clients, TLSTimeout: 5})
}

// operator is an operator with one account and its users, as nsc makes them, and
// a system account.
type operator struct {
	key, account, system nkeys.KeyPair
	disk                 int64 // bytes that the account's streams may take
}

func newOperator(t *testing.T) operator {
	t.Helper()
	return operator{pair(t, nkeys.CreateOperator), pair(t, nkeys.CreateAccount), pair(t, nkeys.CreateAccount), jwt.NoLimit}
}

func pair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	keyPair, err := create()
	check(t, err)
	return keyPair
}

func public(t *testing.T, keyPair nkeys.KeyPair) string {
	t.Helper()
	text, err := keyPair.PublicKey()
	check(t, err)
	return text
}

// options are those of a server that trusts the operator.
func (operator operator) options(t *testing.T) *server.Options {
	t.Helper()
	accounts := new(server.MemAccResolver)
	for _, keyPair := range []nkeys.KeyPair{operator.account, operator.system} {
		claims := jwt.NewAccountClaims(public(t, keyPair))
		if keyPair == operator.account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: operator.disk, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
		}
		token, err := claims.Encode(operator.key)
		check(t, err)
		check(t, accounts.Store(public(t, keyPair), token))
	}
	return &server.Options{TrustedKeys: []string{public(t, operator.key)}, AccountResolver: accounts, SystemAccount: public(t, operator.system)}
}

// credentials is a file of a new user of the account.
func (operator operator) credentials(t *testing.T) string {
	t.Helper()
	user := pair(t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(public(t, user)).Encode(operator.account)
	check(t, err)
	seed, err := user.Seed()
	check(t, err)
	data, err := jwt.FormatUserConfig(token, seed)
	check(t, err)
	return write(t, "user.creds", data)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	ours, theirs := issue(t), issue(t)
	seed := func(keyPair nkeys.KeyPair) string {
		data, err := keyPair.Seed()
		check(t, err)
		return write(t, "user.nk", data)
	}
	user, stranger := pair(t, nkeys.CreateUser), pair(t, nkeys.CreateUser)
	operator := newOperator(t)
	rows, err := os.ReadFile(filepath.Join("testdata", "connect.txt"))
	check(t, err)
	text := strings.NewReplacer(
		"{open}", listen(t, &server.Options{}),
		"{password}", listen(t, &server.Options{Username: "daybook", Password: "right"}),
		"{token}", listen(t, &server.Options{Authorization: "right"}),
		"{nkey}", listen(t, &server.Options{Nkeys: []*server.NkeyUser{{Nkey: public(t, user)}}}),
		"{secure}", ours.server(t, false),
		"{mutual}", ours.server(t, true),
		"{domain}", listen(t, &server.Options{JetStreamDomain: "hub"}),
		"{decentral}", listen(t, operator.options(t)),
		"{usersFile}", operator.credentials(t), "{foreignFile}", newOperator(t).credentials(t),
		"{seedFile}", seed(user), "{strangerFile}", seed(stranger), "{nonsense}", write(t, "nonsense", []byte("nonsense")),
		"{ours.ca}", ours.cert, "{ours.cert}", ours.cert, "{ours.key}", ours.key,
		"{theirs.ca}", theirs.cert, "{theirs.cert}", theirs.cert, "{theirs.key}", theirs.key,
	).Replace(string(rows))
	for line := range strings.Lines(text) {
		if line[0] == '#' {
			continue
		}
		row := append(strings.Split(strings.TrimSpace(line), " | "), "", "", "")
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			var connectOptions feed.ConnectOptions
			for setting := range strings.FieldsSeq(row[2]) {
				name, value, _ := strings.Cut(setting, "=")
				*map[string]*string{
					"Credentials": &connectOptions.Credentials, "NKey": &connectOptions.NKey, "CA": &connectOptions.CA, "Cert": &connectOptions.Cert, "Key": &connectOptions.Key, "Domain": &connectOptions.Domain, "APIPrefix": &connectOptions.APIPrefix,
				}[name] = value
			}
			conn, jetStream, err := feed.Connect(row[1], connectOptions)
			if err == nil {
				defer conn.Close()
			}
			if row[3] == "" {
				check(t, err)
				if _, err := jetStream.AccountInfo(within(t)); err != nil {
					t.Errorf("JetStream does not answer: %v", err)
				}
				return
			}
			// The alert of a server that refuses a certificate may be lost: then it is tried on.
			for ctx := within(t); err == nil; pause(ctx, t) {
				if conn, _, err = feed.Connect(row[1], connectOptions); err == nil {
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

// logged has the lines of a log.
type logged chan string

func (logged logged) Write(data []byte) (int, error) {
	logged <- string(data)
	return len(data), nil
}

// Servers that are out of reach are logged, without passwords.
func TestConnectOutOfReach(t *testing.T) {
	t.Parallel()
	log := make(logged, 1000)
	conn, _, err := feed.Connect("nats://daybook:secretword@127.0.0.1:1", feed.ConnectOptions{Log: slog.New(slog.NewTextHandler(log, nil))})
	check(t, err)
	defer conn.Close()
	if line := <-log; !strings.Contains(line, "NATS is out of reach") || strings.Contains(line, "secretword") {
		t.Errorf("logged %q", line)
	}
}
