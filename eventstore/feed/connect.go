package feed

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"daybook/internal/ground/lifecycle"
)

// Times of a connection. One over which nothing comes any more is given up after three
// pings' time, one that takes nothing any more after a write's, far sooner than the client
// would by itself: another one is made, and what is asked meanwhile has a deadline of its
// own.
const (
	reconnectWait = 250 * time.Millisecond
	pingEvery     = 2 * time.Second
	pingsMissed   = 2
	writeWait     = 5 * time.Second
)

// ConnectOptions are the settings of a connection to NATS servers. The zero value works.
// Files are read again whenever a connection is made, so they may be replaced while the
// program runs.
type ConnectOptions struct {
	Log *slog.Logger `kong:"-"` // nil: no log
	// Credentials is a file with a user's JWT and seed (".creds"), NKey one with a user's
	// nkey seed. User and password, or a token as the user, may stand in the URLs instead.
	Credentials string `placeholder:"FILE" type:"file" help:"NATS credentials (.creds)"`
	NKey        string `name:"nkey" placeholder:"FILE" type:"file" help:"NATS nkey seed, instead of credentials"`
	// CA is a PEM file of the authorities that the servers' certificates are checked with;
	// "": those of the system. Cert and Key are PEM files of the client's own certificate.
	CA   string `placeholder:"FILE" type:"file" help:"PEM certificates of the authorities of the feed's servers"`
	Cert string `placeholder:"FILE" type:"file" help:"PEM certificate of this client for the feed, with --feed-key"`
	Key  string `placeholder:"FILE" type:"file" help:"PEM key of --feed-cert"`
	// Domain is the JetStream domain, APIPrefix the prefix of the JetStream API in place of
	// "$JS.API". At most one of them.
	Domain    string `placeholder:"NAME" help:"JetStream domain"`
	APIPrefix string `placeholder:"SUBJECT" help:"prefix of the JetStream API, instead of a domain"`
}

// Connect connects to one server or a cluster; urls are separated by commas.
//
// A file that cannot be used is an error, and so are credentials and certificates that do
// not fit a server; it names the setting. Servers that are out of reach are none: they are
// tried for ever, because nothing depends on the feed (see the package).
func Connect(urls string, connectOptions ConnectOptions) (*nats.Conn, jetstream.JetStream, error) {
	if connectOptions.Log == nil {
		connectOptions.Log = slog.New(slog.DiscardHandler)
	}
	files, err := connectOptions.files()
	if err != nil {
		return nil, nil, err
	}
	options := append(connectOptions.options(), files...)
	conn, err := nats.Connect(urls, options...)
	if err != nil && hint(err) == "" {
		connectOptions.Log.Warn("NATS is out of reach, trying on", "error", err)
		conn, err = nats.Connect(urls, append(options, nats.RetryOnFailedConnect(true))...)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("connect: %w", explain(err))
	}
	prefix := cmp.Or(connectOptions.APIPrefix, jetstream.DefaultAPIPrefix)
	if connectOptions.Domain != "" {
		prefix = "$JS." + connectOptions.Domain + ".API"
	}
	jetStream, err := jetstream.NewWithAPIPrefix(conn, prefix, jetstream.WithDefaultTimeout(requestWait), jetstream.WithPublishAsyncTimeout(requestWait))
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("domain or API prefix: %w", err)
	}
	return conn, jetStream, nil
}

// options returns the options of the client but for those of files.
func (connectOptions *ConnectOptions) options() []nats.Option {
	ctx, outage := context.Background(), lifecycle.Outage{Log: connectOptions.Log, Message: "NATS connection"}
	connected := func(conn *nats.Conn) {
		outage.Note(ctx, nil)
		connectOptions.Log.Info("connected to NATS", "server", conn.ConnectedServerName(), "address", conn.ConnectedAddr())
	}
	return []nats.Option{
		nats.Name("daybook"),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsMissed),
		nats.FlusherTimeout(writeWait),
		// Credentials that were renewed are accepted again some time.
		nats.IgnoreAuthErrorAbort(),
		// What is published while no one listens would come late and be refused.
		nats.ReconnectBufSize(-1),
		nats.ConnectHandler(connected),
		nats.ReconnectHandler(connected),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { outage.Note(ctx, explain(err)) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { outage.Note(ctx, err) }),
	}
}

// files returns the options that read files, each tried once: the client would name
// neither setting nor file.
func (connectOptions *ConnectOptions) files() ([]nats.Option, error) {
	var options []nats.Option
	var tried nats.Options
	if connectOptions.NKey != "" {
		opt, err := nats.NkeyOptionFromSeed(connectOptions.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey file %s: %w", connectOptions.NKey, err)
		}
		options = append(options, opt)
	}
	for _, f := range []struct {
		setting, path string
		option        nats.Option
	}{
		{"credentials file", connectOptions.Credentials, nats.UserCredentials(connectOptions.Credentials)},
		{"CA file", connectOptions.CA, nats.RootCAs(connectOptions.CA)},
		{"client certificate", connectOptions.Cert, nats.ClientCert(connectOptions.Cert, connectOptions.Key)},
	} {
		if f.path == "" {
			continue
		}
		err := f.option(&tried)
		if err == nil && f.path == connectOptions.Credentials {
			_, jwtErr := tried.UserJWT()
			_, seedErr := tried.SignatureCB([]byte("try"))
			err = errors.Join(jwtErr, seedErr)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", f.setting, f.path, err)
		}
		options = append(options, f.option)
	}
	return options, nil
}

// explain adds the setting that is to be looked at.
func explain(err error) error {
	if text := hint(err); text != "" {
		return fmt.Errorf("%s: %w", text, err)
	}
	return err
}

// hint names the setting that is to be looked at where the server was reached and trying
// again mends nothing, "" elsewhere.
func hint(err error) string {
	is := func(target error) bool { return errors.Is(err, target) }
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	alert, _ := errors.AsType[*net.OpError](err)
	switch {
	case is(nats.ErrSecureConnWanted):
		return "the server offers no TLS, use a nats:// URL without CA and certificates"
	case alert != nil && alert.Op == "remote error":
		return "the server refuses TLS, look at the client certificate and its key"
	case unverified, plain:
		return "the server's certificate is not trusted, look at the CA file"
	case is(nats.ErrAuthorization), is(nats.ErrAuthExpired), is(nats.ErrAuthRevoked), is(nats.ErrAccountAuthExpired), is(nats.ErrSecureConnRequired):
		return "look at the credentials file, the nkey file, or user and password of the URL"
	default:
		return ""
	}
}
