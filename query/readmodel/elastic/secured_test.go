package elastic_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/internal/testkit/engines"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
)

func key(text string) func() (string, error) { return func() (string, error) { return text, nil } }

// TestCredentials: each way to name a user or a key sends the header that belongs
// to it, with every request, over TLS by the authority that was named.
func TestCredentials(t *testing.T) {
	engine := onOne(t)
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	for _, c := range []struct {
		name, in, header string
		options          elastic.Options
	}{
		{"user of the url", "bob:s%40cret@", basic("bob", "s@cret"), elastic.Options{}},
		{"key", "", "ApiKey a2V5", elastic.Options{APIKey: key("a2V5")}},
		{"key before the user of the url", "bob:other@", "ApiKey a2V5", elastic.Options{APIKey: key("a2V5")}},
	} {
		secured := engines.NewSecured(t, engine.url(t), c.header)
		open := func(in string, options elastic.Options) (*elastic.Index, error) {
			options.Flavour, options.CACert = engine.flavour, secured.CA
			index, err := elastic.Open(strings.Replace(secured.URL, "https://", "https://"+in, 1), options)
			if err == nil {
				t.Cleanup(func() { _ = index.Close() })
				err = index.Reach(t.Context())
			}
			return index, err
		}
		c.options.Prefix = engine.spare(t)
		engine.open(t, elastic.Options{Prefix: c.options.Prefix}) // makes it
		index, err := open(c.in, c.options)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		mustWrite(t, index, tags(1, 3))
		if got := total(t, index); got != 3 {
			t.Errorf("%s: %d tags, want 3", c.name, got)
		}
		if secured.Taken.Load() < 5 || secured.Refused.Load() != 0 {
			t.Errorf("%s: %d requests with the header, %d without", c.name, secured.Taken.Load(), secured.Refused.Load())
		}
		taken := secured.Taken.Load()
		for in, options := range map[string]elastic.Options{"": {}, "eve:hidden@": {}, "eve@": {APIKey: key("aGlkZGVu")}} {
			_, err := open(in, options)
			if !errors.Is(err, readmodel.ErrUnavailable) || !strings.Contains(err.Error(), "401") {
				t.Errorf("%s: with the wrong credentials: %v", c.name, err)
			} else if strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "aGlkZGVu") {
				t.Errorf("%s: the error tells a secret: %v", c.name, err)
			}
		}
		if secured.Taken.Load() != taken || secured.Refused.Load() == 0 {
			t.Errorf("%s: wrong credentials reached the engine", c.name)
		}
	}
}

// TestRotatedKey: a key that is refused is read again, and what was refused is sent again.
func TestRotatedKey(t *testing.T) {
	engine := onOne(t)
	var taken, stored atomic.Value // the key of the servers, and that of the file
	taken.Store("old")
	stored.Store("old")
	var refused, read atomic.Int64
	proxy := engine.proxy(t)
	proxy.set(func(request *http.Request, _ string) (int, string) {
		if request.Header.Get("Authorization") == "ApiKey "+taken.Load().(string) {
			return 0, ""
		}
		refused.Add(1)
		return 401, `{"error":{"type":"security_exception","reason":"wrong key"},"status":401}`
	})
	index := engine.through(t, proxy, elastic.Options{APIKey: func() (string, error) {
		read.Add(1)
		return stored.Load().(string), nil
	}})
	mustWrite(t, index, tags(1, 3))
	if refused.Load() != 0 || read.Load() != 1 {
		t.Errorf("%d requests refused, key read %d times, want 0 and once", refused.Load(), read.Load())
	}
	taken.Store("new")
	if _, err := index.Write(t.Context(), tags(4, 5)); !errors.Is(err, readmodel.ErrUnavailable) || !strings.Contains(err.Error(), "401") {
		t.Errorf("write with the old key: %v", err)
	}
	stored.Store("new")
	refused.Store(0)
	mustWrite(t, index, tags(4, 5))
	if got := total(t, index); got != 5 || refused.Load() != 1 {
		t.Errorf("%d tags, want 5; %d requests refused, want 1", got, refused.Load())
	}
}

// TestAuthority: a server whose certificate is by no one that was named gets no
// request, so no credentials.
func TestAuthority(t *testing.T) {
	engine := onOne(t)
	secured := engines.NewSecured(t, engine.url(t), "ApiKey x")
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	other, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url string
		ca  []byte
	}{
		"system":       {secured.URL, nil},
		"another one":  {secured.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other})},
		"another name": {strings.Replace(secured.URL, "127.0.0.1", "localhost", 1), secured.CA},
		"plain http":   {strings.Replace(secured.URL, "https", "http", 1), secured.CA},
	} {
		index, err := elastic.Open(c.url, elastic.Options{Flavour: engine.flavour, APIKey: key("x"), CACert: c.ca})
		if err == nil {
			err = index.Reach(t.Context())
		}
		if !errors.Is(err, readmodel.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
		_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
		_, host := errors.AsType[x509.HostnameError](err)
		if name != "plain http" && !unknown && !host {
			t.Errorf("%s: %v does not tell what is wrong", name, err)
		}
	}
	if secured.Taken.Load()+secured.Refused.Load() != 0 {
		t.Errorf("%d requests reached a server that is not trusted", secured.Taken.Load()+secured.Refused.Load())
	}
	if _, err := elastic.Open(secured.URL, elastic.Options{CACert: []byte("none")}); err == nil || errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("no certificate: %v", err)
	}
}
