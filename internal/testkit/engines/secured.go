package engines

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Secured is an HTTPS server before a server of plain HTTP, as a cluster with its
// security on: it takes requests with the right Authorization header only.
type Secured struct {
	URL string // https://127.0.0.1:PORT
	CA  []byte // PEM of the authority that its certificate is by
	// Taken and Refused count requests with the right header and others.
	Taken, Refused atomic.Int64
}

// NewSecured starts one before the server at target.
func NewSecured(t testing.TB, target, authorization string) *Secured {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	authority, key := certificate(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, nil)
	leaf, leafKey := certificate(t, &x509.Certificate{
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, authority, key)

	wantScheme, want, _ := strings.Cut(authorization, " ")
	s := &Secured{CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Del("Authorization") // the server behind must not depend on it
	}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if strings.EqualFold(scheme, wantScheme) && credentials == want { // RFC 9110, 11.1
			s.Taken.Add(1)
			proxy.ServeHTTP(w, r)
			return
		}
		s.Refused.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"type":"security_exception","reason":"missing or wrong authentication"},"status":401}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	server.TLS = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}},
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// certificate makes a certificate by an authority, without one by itself.
func certificate(t testing.TB, c, by *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.SerialNumber, c.Subject = big.NewInt(now.UnixNano()), pkix.Name{CommonName: "daybook test"}
	c.NotBefore, c.NotAfter = now.Add(-time.Hour), now.Add(time.Hour)
	if by == nil {
		by, key = c, own
	} else {
		c.Subject.CommonName = "127.0.0.1"
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, by, &own.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return made, own
}
