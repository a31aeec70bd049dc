package elastic

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/query/readmodel"
)

// errProduct says that the servers run another product than the flavour.
var errProduct = errors.New("wrong product")

// conn sends requests and reads answers. It is made of the transport and the
// requests of go-elasticsearch alone: its root package brings the typed client,
// which takes minutes and 1.6 GB to compile and which OpenSearch refuses.
type conn struct {
	o       *Options
	client  *elastictransport.Client
	http    *http.Transport
	reached atomic.Bool // it is known who answers
}

func connect(urls string, o *Options) (*conn, error) {
	var addresses []*url.URL
	for s := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("index url: must be http://host:port or https://host:port, several with commas between them")
		}
		if o.User != "" || o.APIKey != "" {
			u.User = nil // the client would take it first
		}
		addresses = append(addresses, u)
	}
	c := &conn{o: o, http: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer(o).DialContext,
		TLSHandshakeTimeout: min(5*time.Second, o.Timeout),
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     idleConn,
		ReadBufferSize:      readBuffer,
		// Servers pack every answer for who takes it packed, which costs both sides more
		// than the bytes between them.
		DisableCompression: true,
	}}
	if len(o.CACert) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.CACert) {
			return nil, errors.New("index: no certificate in the PEM")
		}
		c.http.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	var transport http.RoundTripper = c.http
	if o.Transport != nil {
		transport = o.Transport
	}
	options := []elastictransport.Option{
		elastictransport.WithURLs(addresses...),
		elastictransport.WithTransport(transport),
		elastictransport.WithInterceptors(checkHeader(o.Flavour)),
		elastictransport.WithRetry(1, http.StatusBadGateway),
		elastictransport.WithRetryOnError(func(_ *http.Request, err error) bool { return !errors.Is(err, errProduct) }),
	}
	if o.User != "" {
		options = append(options, elastictransport.WithBasicAuth(o.User, o.Password))
	}
	if o.APIKey != "" {
		options = append(options, elastictransport.WithAPIKey(o.APIKey))
	}
	client, err := elastictransport.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("index client: %w", err)
	}
	c.client = client
	return c, nil
}

const (
	productHeader = "X-Elastic-Product"
	productName   = "Elasticsearch"
)

// checkHeader refuses answers without the product header, which Elasticsearch has
// and OpenSearch has not.
func checkHeader(f Flavour) elastictransport.InterceptorFunc {
	return func(next elastictransport.RoundTripFunc) elastictransport.RoundTripFunc {
		return func(r *http.Request) (*http.Response, error) {
			res, err := next(r)
			if err == nil && f == Elasticsearch && res.StatusCode < 300 && res.Header.Get(productHeader) != productName {
				_ = res.Body.Close()
				return nil, fmt.Errorf("%w: the server is not Elasticsearch; set --index-flavour %s if it is OpenSearch", errProduct, OpenSearch)
			}
			return res, err
		}
	}
}

// checkProduct asks who answers, before anything is written.
func (c *conn) checkProduct(ctx context.Context) error {
	var info struct {
		Version struct {
			Number       string `json:"number"`
			Distribution string `json:"distribution"`
		} `json:"version"`
	}
	if err := c.ask(ctx, c.o.Timeout, "ask for the product", esapi.InfoRequest{}, &info); err != nil {
		return err
	}
	if c.o.Flavour == OpenSearch && info.Version.Distribution != string(OpenSearch) {
		return fmt.Errorf("%w: the server is not OpenSearch; set --index-flavour %s if it is Elasticsearch", errProduct, Elasticsearch)
	}
	c.reached.Store(true)
	return nil
}

type request interface {
	Do(ctx context.Context, t esapi.Transport) (*esapi.Response, error)
}

// serverError is an answer that is no success.
type serverError struct {
	status int
	kind   string // the engine's name of the error
	reason string
}

func (e *serverError) Error() string {
	return fmt.Sprintf("status %d: %s: %s", e.status, e.kind, cut(e.reason, 500))
}

func cut(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + " …"
	}
	return s
}

// idleConn is how long a connection may be silent and is still trusted. What stands in
// between may have forgotten one that was silent for longer, without a word.
const idleConn = 10 * time.Second

// readBuffer is what is read of an answer at a time: less are more calls of the system.
const readBuffer = 32 << 10

// dialer makes connections that are asked for a sign of life while they are silent.
func dialer(o *Options) *net.Dialer {
	return &net.Dialer{
		Timeout:         min(3*time.Second, o.Timeout),
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
	}
}

// do sends a request and decodes the answer into out (nil: not read), once it is known
// who answers.
func (c *conn) do(ctx context.Context, limit time.Duration, what string, r request, out any) error {
	if !c.reached.Load() {
		return fmt.Errorf("%s: %w: not reached since the start", what, readmodel.ErrUnavailable)
	}
	return c.ask(ctx, limit, what, r, out)
}

func (c *conn) ask(ctx context.Context, limit time.Duration, what string, r request, out any) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := c.send(within, r, out)
	if err == nil {
		return nil
	}
	if within.Err() != nil {
		// Who does not answer may be at the end of all connections that are there.
		c.http.CloseIdleConnections()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	return fmt.Errorf("%s: %w", what, translate(err))
}

func (c *conn) send(ctx context.Context, r request, out any) error {
	res, err := r.Do(ctx, c.client)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	all := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // the pool makes nothing else
	defer func() {
		if all.Cap() <= mostKept {
			all.Reset()
			buffers.Put(all)
		}
	}()
	if n, err := strconv.Atoi(res.Header.Get("Content-Length")); err == nil && n > 0 && n <= mostKnown {
		all.Grow(n + bytes.MinRead) // else it is read again and again into larger ones
	}
	if _, err := all.ReadFrom(res.Body); err != nil {
		return err
	}
	body := all.Bytes()
	if res.IsError() {
		return readError(res.StatusCode, body)
	}
	if out == nil {
		return nil
	}
	if d, ok := out.(decoder); ok {
		if d.decode(body) {
			return nil
		}
		d.reset()
	}
	return json.Unmarshal(body, out)
}

// mostKnown is the largest length of an answer for which room is made at once.
const mostKnown = 64 << 20

// buffers are what answers are read into: Elasticsearch does not tell how long they get.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// mostKept is the largest of them that is used again.
const mostKept = 1 << 20

func readError(status int, body []byte) *serverError {
	e := &serverError{status: status}
	var answer struct {
		Error json.RawMessage `json:"error"`
		Found *bool           `json:"found"`
	}
	var cause struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
		Root   []struct {
			Reason string `json:"reason"`
		} `json:"root_cause"`
	}
	switch {
	case json.Unmarshal(body, &answer) != nil:
		e.reason = string(body)
	case answer.Error == nil && answer.Found != nil:
		e.kind = kindNotFound
	case json.Unmarshal(answer.Error, &cause) != nil:
		e.reason = string(bytes.Trim(answer.Error, `"`))
	default:
		e.kind, e.reason = cause.Type, cause.Reason
		if len(cause.Root) > 0 && cause.Root[0].Reason != cause.Reason {
			e.reason += ": " + cause.Root[0].Reason
		}
	}
	return e
}

// The engines' names of errors that are told apart by more than their status.
const (
	kindNotFound = "document_missing"
	kindNoIndex  = "index_not_found_exception"
	kindNoAlias  = "aliases_not_found_exception"
	kindExists   = "resource_already_exists_exception"
	kindClosed   = "index_closed_exception"
	// The two of a query that cannot be read.
	kindQuery        = "parsing_exception"
	kindQueryContent = "x_content_parse_exception"
	// The two of a document that cannot be read: of Elasticsearch, and of OpenSearch.
	kindDocument = "document_parsing_exception"
	kindMapper   = "mapper_parsing_exception"
)

// translate turns what went wrong into an error of the port, by status and name.
func translate(err error) error {
	if errors.Is(err, errProduct) {
		return err
	}
	e, ok := errors.AsType[*serverError](err)
	if !ok { // no answer, or one that was cut off
		return fmt.Errorf("%w: %w", readmodel.ErrUnavailable, err)
	}
	switch {
	case e.status == http.StatusNotFound && e.kind == kindNoIndex:
		return fmt.Errorf("%w: %w", errGone, e)
	case e.status == http.StatusBadRequest && (e.kind == kindQuery || e.kind == kindQueryContent):
		// Every other 400 is about the server: a closed index, a limit, an alias.
		return fmt.Errorf("%w: %w", readmodel.ErrQuery, e)
	default:
		return fmt.Errorf("%w: %w", readmodel.ErrUnavailable, e)
	}
}

// isKind tells whether the engine answered with an error of a name.
func isKind(err error, kind string) bool {
	e, ok := errors.AsType[*serverError](err)
	return ok && e.kind == kind
}
