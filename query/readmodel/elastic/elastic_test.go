package elastic_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/internal/testkit"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/readmodeltest"
)

// engine is one of the engines that tests run against.
type engine struct {
	flavour elastic.Flavour
	env     string
}

var engines = []engine{
	{elastic.Elasticsearch, "DAYBOOK_TEST_ELASTICSEARCH"},
	{elastic.OpenSearch, "DAYBOOK_TEST_OPENSEARCH"},
}

func (e engine) url(tb testing.TB) string {
	tb.Helper()
	url := strings.TrimSuffix(os.Getenv(e.env), "/")
	if url == "" {
		testkit.Require(tb, string(e.flavour), e.env+" is not set")
	}
	return url
}

// onEach runs a test on both engines.
func onEach(t *testing.T, run func(t *testing.T, e engine)) {
	t.Helper()
	for _, e := range engines {
		t.Run(string(e.flavour), func(t *testing.T) {
			t.Parallel()
			e.url(t)
			run(t, e)
		})
	}
}

var prefixes atomic.Int64

// prefix gives a prefix of its own for a test; its indices are dropped at the end.
func (e engine) prefix(tb testing.TB) string {
	tb.Helper()
	url := e.url(tb)
	prefix := "t" + strconv.FormatInt(time.Now().UnixNano(), 36) + strconv.FormatInt(prefixes.Add(1), 36)
	tb.Cleanup(func() {
		var found map[string]json.RawMessage
		if err := json.Unmarshal([]byte(ask(tb, http.MethodGet, url+"/"+prefix+"-*/_alias", "")), &found); err != nil {
			tb.Errorf("list the indices: %v", err)
		}
		names := make([]string, 0, len(found))
		for name := range found {
			if strings.HasPrefix(name, prefix+"-") {
				names = append(names, name)
			}
		}
		for ; len(names) > 0; names = names[min(20, len(names)):] {
			ask(tb, http.MethodDelete, url+"/"+strings.Join(names[:min(20, len(names))], ","), "")
		}
	})
	return prefix
}

// ask sends a request to an engine itself.
func ask(tb testing.TB, method, url, body string) string {
	tb.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return string(bytes.TrimSpace(b))
}

func (e engine) open(tb testing.TB, o elastic.Options) *elastic.Index {
	tb.Helper()
	if o.Prefix == "" {
		o.Prefix = e.prefix(tb)
	}
	o.Flavour = e.flavour
	x, err := elastic.Open(tb.Context(), e.url(tb), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(x.Close)
	return x
}

func TestSuite(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		readmodeltest.Run(t, readmodeltest.Harness{
			Open: func(tb testing.TB) readmodel.Index {
				tb.Helper()
				return e.open(tb, elastic.Options{})
			},
			Slow: true,
		})
	})
}
