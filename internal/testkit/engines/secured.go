package engines

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// Secured is an HTTPS server before a server of plain HTTP, as a cluster with its
// security on: it takes requests with the right Authorization header only.
type Secured struct {
	URL string // https://127.0.0.1:PORT
	CA  []byte // PEM of its certificate, which is by nobody else
	// Taken and Refused count requests with the right header and others.
	Taken, Refused atomic.Int64
}

// NewSecured starts one before the server at target.
func NewSecured(t testing.TB, target, authorization string) *Secured {
	t.Helper()
	to, err := url.Parse(target)
	must(t, err)
	wantScheme, want, _ := strings.Cut(authorization, " ")
	secured := &Secured{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewTLSServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		scheme, credentials, _ := strings.Cut(request.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, wantScheme) && credentials == want { // RFC 9110, 11.1
			secured.Taken.Add(1)
			request.Header.Del("Authorization") // the server behind must not depend on it
			proxy.ServeHTTP(writer, request)
			return
		}
		secured.Refused.Add(1)
		writer.Header().Set("Content-Type", "application/json")
		writer.Header().Set("X-Elastic-Product", "Elasticsearch")
		writer.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(writer, `{"error":{"type":"security_exception","reason":"missing or wrong authentication"},"status":401}`)
	}))
	t.Cleanup(server.Close)
	secured.URL, secured.CA = server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return secured
}
