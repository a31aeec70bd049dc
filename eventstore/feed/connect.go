package feed

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Times of a connection. One over which nothing comes any more is given up after
// three pings' time, one that takes nothing any more after a write's, far sooner than
// the client would by itself: another one is made, and what is asked meanwhile has a
// deadline of its own.
const (
	reconnectWait = 250 * time.Millisecond
	jitter        = 250 * time.Millisecond
	jitterTLS     = 750 * time.Millisecond
	pingEvery     = 2 * time.Second
	pingsMissed   = 2
	writeWait     = 5 * time.Second
)

// ConnectOptions are the settings of a connection to NATS servers. The zero
// value works. Files are read again whenever a connection is made, so they may
// be replaced while the program runs.
type ConnectOptions struct {
	Log *slog.Logger // nil: no log
	// Name is what the servers show for the connection. "": "daybook".
	Name string
	// Credentials is a file with a user's JWT and seed (".creds"), NKey one with
	// a user's nkey seed. At most one of them; user and password, or a token as
	// the user, may stand in the URLs instead.
	Credentials, NKey string
	// CA is a PEM file of the authorities that the servers' certificates are
	// checked with; "": those of the system. Cert and Key are PEM files of the
	// client's own certificate.
	CA, Cert, Key string
	// Domain is the JetStream domain, APIPrefix the prefix of the JetStream API
	// in place of "$JS.API". At most one of them.
	Domain, APIPrefix string
	// Nats are further options of the client.
	Nats []nats.Option
}

// Connect connects to one server or a cluster; urls are separated by commas:
// nats, tls, ws or wss, with user and password where the server wants them.
//
// What is wrong by itself is an error that names the setting: a URL, a file, a
// certificate, or credentials that one of the servers refuses while none takes
// the connection. Servers that are out of reach are none: they are tried for
// ever, at the start as later, because nothing depends on the feed (see the
// package). It takes no longer than two attempts of each server, 2 s each.
func Connect(urls string, o ConnectOptions) (*nats.Conn, jetstream.JetStream, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	servers, err := parseURLs(urls)
	if err != nil {
		return nil, nil, err
	}
	if o.Domain != "" && o.APIPrefix != "" {
		return nil, nil, errors.New("feed: domain and API prefix are set, at most one of them may be")
	}
	opts, err := o.options()
	if err != nil {
		return nil, nil, err
	}
	list := strings.Join(servers, ",")
	conn, err := nats.Connect(list, opts...)
	if err != nil {
		// The client tells the error of one server, and that one not for sure.
		if refused := refusal(servers, opts); refused != nil {
			return nil, nil, refused
		}
		if wrong(err) {
			return nil, nil, fmt.Errorf("feed: connect to %s: %w", redacted(servers), explain(err))
		}
		o.Log.Warn("NATS is out of reach, trying on", "servers", redacted(servers), "error", err)
		conn, err = nats.Connect(list, append(opts, nats.RetryOnFailedConnect(true))...)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("feed: connect to %s: %w", redacted(servers), err)
	}
	var js jetstream.JetStream
	switch {
	case o.Domain != "":
		js, err = jetstream.NewWithDomain(conn, o.Domain)
	case o.APIPrefix != "":
		js, err = jetstream.NewWithAPIPrefix(conn, o.APIPrefix)
	default:
		js, err = jetstream.New(conn)
	}
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("feed: domain or API prefix: %w", err)
	}
	return conn, js, nil
}

// parseURLs splits and checks. The errors never show a password.
func parseURLs(urls string) ([]string, error) {
	var out []string
	for i, text := range strings.Split(urls, ",") {
		text = strings.TrimSpace(text)
		if text != "" && !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(text)
		if err != nil {
			if cause, ok := errors.AsType[*url.Error](err); ok {
				err = cause.Err // without the text
			}
			return nil, fmt.Errorf("feed: URL %d: not well formed: %w", i+1, withoutText(err))
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return nil, fmt.Errorf("feed: URL %d: scheme %q, must be nats, tls, ws or wss", i+1, u.Scheme)
		}
		if u.Hostname() == "" {
			return nil, fmt.Errorf("feed: URL %d: host is missing", i+1)
		}
		out = append(out, text)
	}
	return out, nil
}

// withoutText drops what an error of a URL quotes: it may be part of a password.
func withoutText(err error) error {
	text, _, _ := strings.Cut(err.Error(), `"`)
	return errors.New(strings.TrimSpace(text))
}

// redacted gives the hosts without users and passwords.
func redacted(servers []string) string {
	out := make([]string, len(servers))
	for i, s := range servers {
		u, err := url.Parse(s)
		if err != nil {
			continue // checked before
		}
		out[i] = u.Scheme + "://" + u.Host
	}
	return strings.Join(out, ",")
}

// options makes the options of the client, and tries those that read files.
func (o *ConnectOptions) options() ([]nats.Option, error) {
	name := o.Name
	if name == "" {
		name = "daybook"
	}
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	l := &connLog{log: o.Log}
	return slices.Concat([]nats.Option{
		nats.Name(name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(jitter, jitterTLS),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsMissed),
		nats.FlusherTimeout(writeWait),
		// Credentials that were renewed are accepted again some time.
		nats.IgnoreAuthErrorAbort(),
		// What is published while nobody listens would come late and be refused.
		nats.ReconnectBufSize(-1),
		nats.ConnectHandler(l.connected),
		nats.ReconnectHandler(l.connected),
		nats.DisconnectErrHandler(l.lost),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.tell("NATS is out of reach, trying on", explain(err)) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.tell("NATS client", err) }),
		nats.LameDuckModeHandler(func(c *nats.Conn) {
			o.Log.Info("NATS server is about to stop", "server", c.ConnectedServerName())
		}),
	}, files, o.Nats), nil
}

// files gives the options that read files, each tried once: the client would
// name neither setting nor file.
func (o *ConnectOptions) files() ([]nats.Option, error) {
	var opts []nats.Option
	var tried nats.Options
	if o.Credentials != "" && o.NKey != "" {
		return nil, errors.New("feed: credentials file and nkey file are set, at most one of them may be")
	}
	if f := o.Credentials; f != "" {
		opt := nats.UserCredentials(f)
		if err := opt(&tried); err != nil {
			return nil, fmt.Errorf("feed: credentials file %s: %w", f, err)
		}
		if _, err := tried.UserJWT(); err != nil {
			return nil, fmt.Errorf("feed: credentials file %s: user JWT: %w", f, err)
		}
		if _, err := tried.SignatureCB([]byte("try")); err != nil {
			return nil, fmt.Errorf("feed: credentials file %s: user seed: %w", f, err)
		}
		opts = append(opts, opt)
	}
	if f := o.NKey; f != "" {
		opt, err := nats.NkeyOptionFromSeed(f)
		if err != nil {
			return nil, fmt.Errorf("feed: nkey file %s: %w", f, err)
		}
		opts = append(opts, opt)
	}
	if f := o.CA; f != "" {
		opt := nats.RootCAs(f)
		if err := opt(&tried); err != nil {
			return nil, fmt.Errorf("feed: CA file %s: %w", f, err)
		}
		opts = append(opts, opt)
	}
	switch {
	case o.Cert != "" && o.Key != "":
		opt := nats.ClientCert(o.Cert, o.Key)
		if err := opt(&tried); err != nil {
			return nil, fmt.Errorf("feed: client certificate %s with key %s: %w", o.Cert, o.Key, err)
		}
		opts = append(opts, opt)
	case o.Cert != "":
		return nil, fmt.Errorf("feed: client certificate %s: its key file is not set", o.Cert)
	case o.Key != "":
		return nil, fmt.Errorf("feed: client key %s: its certificate file is not set", o.Key)
	}
	return opts, nil
}

// refusal asks the servers, each alone, whether one refuses the settings; nil
// when none does.
func refusal(servers []string, opts []nats.Option) error {
	// Nobody is told of connections that are made to find out.
	opts = append(slices.Clip(opts), nats.NoReconnect(), nats.ConnectHandler(nil), nats.ReconnectHandler(nil),
		nats.DisconnectErrHandler(nil), nats.ReconnectErrHandler(nil), nats.ErrorHandler(nil), nats.ClosedHandler(nil))
	refused := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			conn, err := nats.Connect(s, opts...)
			if err == nil {
				conn.Close() // it was away only a moment
				return
			}
			if !wrong(err) {
				err = alert(s, opts)
			}
			if wrong(err) {
				refused[i] = fmt.Errorf("feed: connect to %s: %w", redacted(servers[i:i+1]), explain(err))
			}
		})
	}
	wg.Wait()
	for _, err := range refused {
		if err != nil {
			return err
		}
	}
	return nil
}

// alertWait is how long a server may take to refuse a certificate.
const alertWait = 2 * time.Second

// alert gives the TLS alert with which a server refuses the client's certificate.
// In TLS 1.3 it comes after the handshake, and a client that has written by then
// may lose it together with the connection; so here nothing is written. Any other
// end, also none within alertWait, says nothing of the settings.
func alert(server string, opts []nats.Option) error {
	o := nats.GetDefaultOptions()
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return err
		}
	}
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "ws" {
		return err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLSConfig != nil {
		config = o.TLSConfig.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = u.Hostname()
	}
	if o.TLSCertCB != nil {
		cert, err := o.TLSCertCB()
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	if o.RootCAsCB != nil {
		if config.RootCAs, err = o.RootCAsCB(); err != nil {
			return err
		}
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "wss":
		port = "443"
	case port == "":
		port = strconv.Itoa(nats.DefaultPort)
	}
	ctx, cancel := context.WithTimeout(context.Background(), alertWait)
	defer cancel()
	var d net.Dialer
	plain, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = plain.Close() })()
	defer func() { _ = plain.Close() }()
	if u.Scheme != "wss" { // the server introduces itself before it speaks TLS
		info, err := bufio.NewReader(io.LimitReader(plain, 1<<20)).ReadString('\n')
		if err != nil {
			return err
		}
		if !o.Secure && !strings.Contains(info, `"tls_required":true`) {
			return nil
		}
	}
	conn := tls.Client(plain, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// remote is the Op of a TLS alert that the server sent.
const remote = "remote error"

// wrong tells whether trying again mends nothing: the server was reached and the
// settings do not fit.
func wrong(err error) bool {
	if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) ||
		errors.Is(err, nats.ErrAuthRevoked) || errors.Is(err, nats.ErrAccountAuthExpired) ||
		errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrSecureConnRequired) {
		return true
	}
	return wrongTLS(err)
}

func wrongTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	return alerted(err)
}

func alerted(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == remote
}

// explain adds the setting that is to be looked at.
func explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("the server offers no TLS, use a nats:// URL without CA and certificates: %w", err)
	case alerted(err):
		return fmt.Errorf("the server refuses TLS, look at the client certificate and its key: %w", err)
	case wrongTLS(err):
		return fmt.Errorf("the server's certificate is not trusted, look at the CA file: %w", err)
	case wrong(err):
		return fmt.Errorf("look at the credentials file, the nkey file, or user and password of the URL: %w", err)
	default:
		return err
	}
}

// connLog logs what happens to a connection. What is tried for ever fails in the
// same way many times and is told once.
type connLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	told map[string]bool
}

func (l *connLog) connected(c *nats.Conn) {
	l.mu.Lock()
	l.told = nil
	l.mu.Unlock()
	l.log.Info("connected to NATS", "server", c.ConnectedServerName(), "address", c.ConnectedAddr())
}

func (l *connLog) lost(c *nats.Conn, err error) {
	if c.IsClosed() || err == nil { // closed by the program itself
		return
	}
	l.log.Warn("NATS connection lost", "error", err)
}

func (l *connLog) tell(text string, err error) {
	key := text + err.Error()
	l.mu.Lock()
	defer l.mu.Unlock()
	level := slog.LevelWarn
	if l.told[key] {
		level = slog.LevelDebug
	}
	if l.told == nil {
		l.told = map[string]bool{}
	}
	l.told[key] = true
	l.log.Log(context.Background(), level, "NATS connection", "text", text, "error", err)
}
