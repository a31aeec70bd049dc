package elastic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/internal/testkit/engines"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/readmodeltest"
)

// engine is one of the engines that tests run against.
type engine struct {
	flavour elastic.Flavour
	env     string
}

var searchEngines = []engine{
	{elastic.Elasticsearch, "DAYBOOK_TEST_ELASTICSEARCH"},
	{elastic.OpenSearch, "DAYBOOK_TEST_OPENSEARCH"},
}

func (engine engine) url(tb testing.TB) string {
	tb.Helper()
	url := strings.TrimSuffix(os.Getenv(engine.env), "/")
	if url == "" {
		engines.Require(tb, string(engine.flavour), engine.env+" is not set")
	}
	return url
}

// onEach runs a test on both engines.
func onEach(t *testing.T, run func(t *testing.T, engine engine)) {
	t.Helper()
	for _, engine := range searchEngines {
		t.Run(string(engine.flavour), func(t *testing.T) {
			t.Parallel()
			engine.url(t)
			run(t, engine)
		})
	}
}

// onOne returns the engine of a test of what is the same on both.
func onOne(t *testing.T) engine {
	t.Helper()
	t.Parallel()
	searchEngines[0].url(t)
	return searchEngines[0]
}

// run begins the names of all indices of this run of the tests.
var run = "t" + strconv.FormatInt(time.Now().UnixNano(), 36)

// TestMain tells the engines that the indices of this run need not outlive a
// crash of theirs, and drops them at the end. gc_deletes -1 makes them forget
// deleted documents with their versions at once; see spare.
func TestMain(m *testing.M) {
	each := func(do func(url string) error) {
		for _, engine := range searchEngines {
			url := strings.TrimSuffix(os.Getenv(engine.env), "/")
			if url == "" {
				continue
			}
			if err := do(url); err != nil {
				fmt.Fprintln(os.Stderr, engine.flavour, err)
				os.Exit(1)
			}
		}
	}
	each(func(url string) error {
		_, err := request(http.MethodPut, url+"/_index_template/"+run, `{"index_patterns":["`+run+`*"],"priority":1000000,`+
			`"template":{"settings":{"index":{"translog.durability":"async","gc_deletes":"-1"}}}}`)
		return err
	})
	status := m.Run()
	each(func(url string) error {
		err := dropIndices(url, run)
		_, last := request(http.MethodDelete, url+"/_index_template/"+run, "")
		return errors.Join(err, last)
	})
	os.Exit(status)
}

// dropIndices drops the indices whose names begin so.
func dropIndices(url, prefix string) error {
	answer, err := request(http.MethodGet, url+"/"+prefix+"*/_alias", "")
	if err != nil {
		return err
	}
	var found map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		return err
	}
	names := slices.DeleteFunc(slices.Collect(maps.Keys(found)), func(name string) bool { return !strings.HasPrefix(name, prefix) })
	for part := range slices.Chunk(names, 40) { // names stand in the request line
		if _, err := request(http.MethodDelete, url+"/"+strings.Join(part, ",")+"?ignore_unavailable=true", ""); err != nil {
			return err
		}
	}
	return nil
}

var prefixes atomic.Int64

// prefix gives a prefix of its own for a test; its indices are dropped at the end.
func (engine engine) prefix(tb testing.TB) string {
	tb.Helper()
	engine.url(tb)
	return run + strconv.FormatInt(prefixes.Add(1), 36) + "x"
}

// spares are prefixes whose indices are there and empty.
var spares = map[elastic.Flavour]chan string{
	elastic.Elasticsearch: make(chan string, 100), elastic.OpenSearch: make(chan string, 100),
}

// spare gives a prefix whose indices another test had and that are empty again,
// because making them takes an engine longer than most tests; else a new one.
func (engine engine) spare(tb testing.TB) string {
	tb.Helper()
	var prefix string
	select {
	case prefix = <-spares[engine.flavour]:
	default:
		prefix = engine.prefix(tb)
	}
	tb.Cleanup(func() {
		if !tb.Failed() && engine.empty(tb, prefix) {
			spares[engine.flavour] <- prefix
		}
	})
	return prefix
}

// empty deletes all documents of a prefix.
func (engine engine) empty(tb testing.TB, prefix string) bool {
	tb.Helper()
	base := engine.url(tb) + "/"
	const most = 2000
	ask(tb, http.MethodPost, base+prefix+"-*/_refresh", "")
	var found struct {
		Hits struct {
			Hits []struct {
				Index string `json:"_index"`
				ID    string `json:"_id"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal([]byte(ask(tb, http.MethodPost, base+prefix+"-*/_search?size="+strconv.Itoa(most), `{"_source":false}`)), &found); err != nil {
		tb.Errorf("list the documents: %v", err)
	}
	hits := found.Hits.Hits
	if len(hits) == 0 || len(hits) == most {
		return false
	}
	var lines strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&lines, `{"delete":{"_index":%q,"_id":%q}}`+"\n", h.Index, h.ID)
	}
	var done struct{ Errors bool }
	answer := ask(tb, http.MethodPost, base+"_bulk?refresh=true", lines.String())
	if err := json.Unmarshal([]byte(answer), &done); err != nil || done.Errors {
		tb.Errorf("empty %s: %v, %s", prefix, err, answer)
		return false
	}
	return true
}

// ask sends a request to an engine itself.
func ask(tb testing.TB, method, url, body string) string {
	tb.Helper()
	answer, err := request(method, url, body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer
}

func request(method, url, body string) (string, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return string(bytes.TrimSpace(data)), err
}

// open opens an index, and makes the first generation if none exists.
func (engine engine) open(tb testing.TB, options elastic.Options) *elastic.Index {
	tb.Helper()
	return engine.openAt(tb, engine.url(tb), options)
}

func (engine engine) openAt(tb testing.TB, url string, options elastic.Options) *elastic.Index {
	tb.Helper()
	index := engine.attach(tb, url, options)
	if err := index.Sound(tb.Context()); errors.Is(err, readmodel.ErrUnsound) {
		_, err := index.Next(tb.Context())
		if err == nil {
			err = index.Promote(tb.Context())
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return index
}

// attach opens an index with what there is.
func (engine engine) attach(tb testing.TB, url string, options elastic.Options) *elastic.Index {
	tb.Helper()
	if options.Prefix == "" {
		options.Prefix = engine.spare(tb)
	}
	if options.Timeout == 0 {
		options.Timeout = time.Minute // a busy machine is no finding
	}
	options.Flavour = engine.flavour
	index, err := elastic.Open(url, options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = index.Close() })
	if err := index.Reach(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return index
}

func TestSuite(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		readmodeltest.Run(t, readmodeltest.Harness{
			Open: func(tb testing.TB) readmodel.Index {
				tb.Helper()
				if e.flavour == elastic.OpenSearch && strings.HasSuffix(tb.Name(), "random_events") {
					// The server gives few documents at a time, so that orders by the least number of
					// ids are put together.
					return e.open(tb, elastic.Options{Prefix: e.prefix(tb), MaxResultWindow: readmodel.WalkStep})
				}
				return e.open(tb, elastic.Options{})
			},
			Slow: true,
		})
		readmodeltest.RunGenerations(t, func(tb testing.TB) readmodel.Generations {
			tb.Helper()
			return e.open(tb, elastic.Options{Prefix: e.prefix(tb)}) // a spare one may have generations
		})
	})
}
