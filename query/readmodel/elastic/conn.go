package elastic

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"golang.org/x/sync/singleflight"

	"daybook/query/readmodel"
)

const (
	// changeLimit is how long making, moving or dropping indices may take.
	changeLimit = time.Minute
	// probeLimit is how long the servers have to answer again after they were silent, and
	// probeWait how long a request waits for that.
	probeLimit = 2 * time.Second
	probeWait  = 300 * time.Millisecond
	// idleLimit is how long a connection may be silent and is still trusted: a firewall may
	// have forgotten one that was silent for longer.
	idleLimit = 10 * time.Second
)

// errGone says that indices of a generation are not there any more.
var errGone = fmt.Errorf("%w: generation is gone", readmodel.ErrUnavailable)

// conn sends requests and reads answers. It is made of the transport and the
// requests of go-elasticsearch alone: its root package brings the typed client,
// which takes minutes and 1.6 GB to compile and which OpenSearch refuses.
type conn struct {
	options *Options
	client  *elastictransport.Client
	http    *http.Transport
	key     atomic.Pointer[string] // of Options.APIKey
	reached atomic.Bool            // the product was checked

	answers atomic.Uint64 // received so far
	silent  atomic.Bool   // a request ended without one
	probe   singleflight.Group
}

func connect(urls string, options *Options) (*conn, error) {
	var addresses []*url.URL
	for text := range strings.SplitSeq(urls, ",") {
		address, err := url.Parse(strings.TrimSpace(text))
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
			return nil, errors.New("index url: must be http://host:port or https://host:port, several with commas between them")
		}
		if options.APIKey != nil {
			address.User = nil // the client would use it first
		}
		addresses = append(addresses, address)
	}
	dialer := &net.Dialer{Timeout: min(3*time.Second, options.Timeout)}
	c := &conn{options: options, http: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: min(5*time.Second, options.Timeout),
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     idleLimit,
		ReadBufferSize:      32 << 10,
		// Compressing an answer costs both sides more than sending it.
		DisableCompression: true,
	}}
	if len(options.CACert) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(options.CACert) {
			return nil, errors.New("index: no certificate in the PEM")
		}
		c.http.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	var transport http.RoundTripper = c.http
	if options.Transport != nil {
		transport = options.Transport
	}
	var interceptors []elastictransport.InterceptorFunc
	if options.APIKey != nil {
		key, err := options.APIKey()
		if err != nil {
			return nil, err
		}
		c.key.Store(&key)
		interceptors = append(interceptors, c.authorize)
	}
	var err error
	c.client, err = elastictransport.NewClient(
		elastictransport.WithURLs(addresses...),
		elastictransport.WithTransport(transport),
		elastictransport.WithInterceptors(interceptors...),
		elastictransport.WithRetry(1, http.StatusBadGateway),
		elastictransport.WithRetryOnError(func(*http.Request, error) bool { return true }),
	)
	if err != nil {
		return nil, fmt.Errorf("index client: %w", err)
	}
	return c, nil
}

// authorize sends the API key. One that is refused is read again: it may have been rotated.
func (conn *conn) authorize(next elastictransport.RoundTripFunc) elastictransport.RoundTripFunc {
	return func(request *http.Request) (*http.Response, error) {
		for {
			sent := *conn.key.Load()
			request.Header.Set("Authorization", "ApiKey "+sent)
			response, err := next(request)
			if err != nil || response.StatusCode != http.StatusUnauthorized {
				return response, err
			}
			key, err := conn.options.APIKey()
			if err != nil || key == sent {
				return response, nil //nolint:nilerr // the answer says that the key is refused
			}
			_ = response.Body.Close()
			conn.key.Store(&key)
			request = request.Clone(request.Context())
			if request.GetBody != nil {
				if request.Body, err = request.GetBody(); err != nil {
					return nil, err
				}
			}
		}
	}
}

// checkProduct asks which product answers, before anything is written.
func (conn *conn) checkProduct(ctx context.Context) error {
	var info struct {
		Version struct {
			Distribution string `json:"distribution"`
		} `json:"version"`
	}
	if err := conn.ask(ctx, conn.options.Timeout, "ask for the product", esapi.InfoRequest{}, &info); err != nil {
		return err
	}
	switch isOpenSearch := info.Version.Distribution == string(OpenSearch); {
	case isOpenSearch && conn.options.Flavour == Elasticsearch:
		return errors.New("wrong product: the server is not Elasticsearch; set --index-flavour opensearch if it is OpenSearch")
	case !isOpenSearch && conn.options.Flavour == OpenSearch:
		return errors.New("wrong product: the server is not OpenSearch; set --index-flavour elasticsearch if it is Elasticsearch")
	}
	conn.reached.Store(true)
	return nil
}

type request interface {
	Do(ctx context.Context, t esapi.Transport) (*esapi.Response, error)
}

// plainRequest is a request that the client has no type for, or not for both engines.
type plainRequest struct {
	method, path string
	body         []byte
}

// Do sends the request.
func (plainRequest plainRequest) Do(ctx context.Context, t esapi.Transport) (*esapi.Response, error) {
	request, err := http.NewRequestWithContext(ctx, plainRequest.method, plainRequest.path, bytes.NewReader(plainRequest.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := t.Perform(request) //nolint:bodyclose // the caller closes it
	if err != nil {
		return nil, err
	}
	return &esapi.Response{StatusCode: response.StatusCode, Body: response.Body, Header: response.Header}, nil
}

// do sends a request once the product was checked, and decodes the answer into result unless
// that is nil. It fails immediately while the servers are known to be silent.
func (conn *conn) do(ctx context.Context, limit time.Duration, what string, request request, result any) error {
	if !conn.reached.Load() {
		return fmt.Errorf("%s: %w: not reached since the start", what, readmodel.ErrUnavailable)
	}
	if conn.silent.Load() {
		answer := conn.probe.DoChan("", func() (any, error) {
			return nil, conn.ask(context.WithoutCancel(ctx), probeLimit, "probe", esapi.InfoRequest{}, nil)
		})
		select {
		case <-answer:
		case <-time.After(probeWait):
		case <-ctx.Done():
		}
		if conn.silent.Load() {
			return fmt.Errorf("%s: %w: no answer to earlier requests", what, readmodel.ErrUnavailable)
		}
	}
	return conn.ask(ctx, limit, what, request, result)
}

func (conn *conn) ask(ctx context.Context, limit time.Duration, what string, request request, result any) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	before := conn.answers.Load()
	err := conn.send(within, request, result)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, ctx.Err())
	case within.Err() != nil:
		conn.http.CloseIdleConnections() // they may be dead, too
		if conn.answers.Load() == before {
			conn.silent.Store(true)
		}
	}
	return fmt.Errorf("%s: %w", what, translate(err))
}

func (conn *conn) send(ctx context.Context, request request, result any) error {
	res, err := request.Do(ctx, conn.client)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	conn.answers.Add(1)
	conn.silent.Store(false)
	switch {
	case res.IsError():
		return readError(res.StatusCode, body)
	case result == nil:
		return nil
	}
	return json.Unmarshal(body, result)
}

// serverError is an answer that is no success.
type serverError struct {
	status int
	Type   string        `json:"type"` // the engine's name of the error
	Reason string        `json:"reason"`
	Root   []serverError `json:"root_cause"`
	Cause  *serverError  `json:"caused_by"`
}

func (serverError *serverError) Error() string {
	reason := serverError.Reason
	if len(serverError.Root) > 0 && serverError.Root[0].Reason != serverError.Reason {
		reason += ": " + serverError.Root[0].Reason
	} else if serverError.Cause != nil {
		reason += ": " + serverError.Cause.Reason
	}
	if len(reason) > 500 {
		reason = strings.ToValidUTF8(reason[:500], "") + " …"
	}
	return fmt.Sprintf("status %d: %s: %s", serverError.status, serverError.Type, reason)
}

func readError(status int, body []byte) *serverError {
	var answer struct{ Error serverError }
	if json.Unmarshal(body, &answer) != nil || answer.Error.Type+answer.Error.Reason == "" {
		answer.Error = serverError{Reason: string(body)}
	}
	answer.Error.status = status
	return &answer.Error
}

// statusOf returns the status of an answer that is no success, 0 for another error.
func statusOf(err error) int {
	if problem, answered := errors.AsType[*serverError](err); answered {
		return problem.status
	}
	return 0
}

// The engines' names of errors that are told apart by more than their status.
const (
	kindNoIndex = "index_not_found_exception"
	kindClosed  = "index_closed_exception"
	// The two of a document that cannot be read: of Elasticsearch, and of OpenSearch.
	kindDocument = "document_parsing_exception"
	kindMapper   = "mapper_parsing_exception"
)

// translate turns what went wrong into an error of the port, by status and name.
func translate(err error) error {
	problem, answered := errors.AsType[*serverError](err)
	if answered && slices.ContainsFunc(append(problem.Root, *problem), func(cause serverError) bool { return cause.Type == kindNoIndex }) {
		return fmt.Errorf("%w: %w", errGone, problem)
	}
	return fmt.Errorf("%w: %w", readmodel.ErrUnavailable, err)
}
