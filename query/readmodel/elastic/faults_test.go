package elastic_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/testkit/engines"
	"daybook/query/readmodel"
	"daybook/query/readmodel/elastic"
	"daybook/query/readmodel/readmodeltest"
)

// proxy stands before an engine and does harm to requests.
type proxy struct {
	*httptest.Server
	// harm may answer a request itself (status above 0), or cut the connection
	// (status -1), before or (status -2) after the engine has done what was asked.
	harm     atomic.Pointer[func(request *http.Request, body string) (status int, answer string)]
	requests sync.Map // path → *atomic.Int64
}

func (engine engine) proxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	target := engine.url(t)
	p.Server = httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		last := request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:]
		n, _ := p.requests.LoadOrStore(last, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		status, answer := 0, ""
		if harm := p.harm.Load(); harm != nil {
			status, answer = (*harm)(request, string(body))
		}
		if status == -1 {
			panic(http.ErrAbortHandler)
		}
		if status > 0 {
			writer.Header().Set("X-Elastic-Product", "Elasticsearch")
			writer.Header().Set("Content-Type", "application/json")
			writer.WriteHeader(status)
			_, _ = io.WriteString(writer, answer)
			return
		}
		out, err := http.NewRequestWithContext(request.Context(), request.Method, target+request.URL.String(), bytes.NewReader(body))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		out.Header = request.Header.Clone()
		res, err := http.DefaultClient.Do(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		if status == -2 {
			panic(http.ErrAbortHandler)
		}
		maps.Copy(writer.Header(), res.Header)
		writer.WriteHeader(res.StatusCode)
		_, _ = io.Copy(writer, res.Body)
	}))
	t.Cleanup(p.Close)
	return p
}

func (proxy *proxy) count(last string) int64 {
	if n, ok := proxy.requests.Load(last); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

func (proxy *proxy) set(harm func(request *http.Request, body string) (int, string)) {
	if harm == nil {
		proxy.harm.Store(nil)
		return
	}
	proxy.harm.Store(&harm)
}

func (engine engine) through(t *testing.T, proxy *proxy, options elastic.Options) *elastic.Index {
	t.Helper()
	options.MinWait = time.Millisecond
	return engine.openAt(t, proxy.URL, options)
}

func tag(id calendar.ID, position calendar.Position, name string) readmodel.Document {
	return record(&calendar.Record{ID: id, Kind: calendar.KindTag, Version: int64(position), Home: calendar.LangEN, Changed: readmodeltest.Now, Fields: calendar.Fields{
		"name": calendar.Text{calendar.LangEN: name}, "slug": fmt.Sprintf("s%d", id),
	}}, position)
}

func record(record *calendar.Record, position calendar.Position) readmodel.Document {
	body, err := calendar.EncodeRecord(record)
	if err != nil {
		panic(err)
	}
	record.Sum = calendar.SumOf(body)
	return readmodel.Document{Position: position, Record: record, Body: body}
}

func tags(from, to calendar.ID) readmodel.Batch {
	var batch readmodel.Batch
	for id := from; id <= to; id++ {
		batch.Documents = append(batch.Documents, tag(id, calendar.Position(id), "name"))
	}
	batch.Mark = readmodeltest.At(calendar.Position(to))
	return batch
}

func mustWrite(t *testing.T, index readmodel.Index, batch readmodel.Batch) {
	t.Helper()
	errs, err := index.Write(t.Context(), batch)
	if err = errors.Join(append(errs, err)...); err != nil {
		t.Fatalf("write: %v", err)
	}
	if err := index.Wait(t.Context(), batch.Mark.Position); err != nil {
		t.Fatalf("wait: %v", err)
	}
}

func search(ctx context.Context, index readmodel.Index, query readmodel.Query) (page readmodel.Page, err error) {
	err = readmodel.Read(ctx, index, func(view readmodel.View) error {
		page, err = view.Search(ctx, query)
		return err
	})
	return page, err
}

func total(t *testing.T, index readmodel.Index) int {
	t.Helper()
	page, err := search(t.Context(), index, readmodel.Query{Kind: calendar.KindTag})
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

func position(t *testing.T, index readmodel.Index, want calendar.Position) {
	t.Helper()
	if marks, err := index.Marks(t.Context()); err != nil || marks.All.Position != want {
		t.Errorf("marks %v, %v; want position %d", marks, err, want)
	}
}

// TestBusy: what the engine is too busy for is sent again, and nothing else.
func TestBusy(t *testing.T) {
	engine := onOne(t)
	proxy := engine.proxy(t)
	index := engine.through(t, proxy, elastic.Options{BulkBytes: 2000})
	var bulks []int // items of each request of documents
	step := 0
	var mu sync.Mutex
	proxy.set(func(request *http.Request, body string) (int, string) {
		if !strings.HasSuffix(request.URL.Path, "_bulk") || strings.Contains(body, `"_id":"position"`) {
			return 0, ""
		}
		mu.Lock()
		defer mu.Unlock()
		n := strings.Count(body, `{"index"`)
		bulks = append(bulks, n)
		step++
		busy := `{"index":{"status":%d,"error":{"type":"es_rejected_execution_exception","reason":"queue is full"}}}`
		switch step {
		case 1:
			return 429, `{"error":{"type":"circuit_breaking_exception","reason":"too large"},"status":429}`
		case 2:
			return 503, `no json`
		case 3:
			items := make([]string, n)
			for i := range items {
				items[i] = fmt.Sprintf(busy, []int{429, 503}[i%2])
			}
			return 200, `{"errors":true,"items":[` + strings.Join(items, ",") + `]}`
		}
		return 0, ""
	})
	mustWrite(t, index, tags(1, 20))
	if got := total(t, index); got != 20 {
		t.Errorf("%d tags, want 20", got)
	}
	if len(bulks) < 6 || bulks[0] >= 20 {
		t.Errorf("requests of %v items: neither split nor sent again", bulks)
	}
	// For ever too busy: the batch fails and the position stays.
	proxy.set(func(request *http.Request, _ string) (int, string) {
		if strings.HasSuffix(request.URL.Path, "_bulk") {
			return 429, `{"error":{"type":"es_rejected_execution_exception","reason":"queue is full"},"status":429}`
		}
		return 0, ""
	})
	if _, err := index.Write(t.Context(), tags(21, 22)); !errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("write to an engine that is always busy: %v", err)
	}
	proxy.set(nil)
	position(t, index, 20)
	mustWrite(t, index, tags(21, 22))
	position(t, index, 22)
}

// TestRefused: a document that the engine refuses stops itself only.
func TestRefused(t *testing.T) {
	engine := onOne(t)
	proxy := engine.proxy(t)
	index := engine.through(t, proxy, elastic.Options{})
	mustWrite(t, index, tags(1, 1))
	proxy.set(func(request *http.Request, body string) (int, string) {
		if !strings.HasSuffix(request.URL.Path, "_bulk") || !strings.Contains(body, `"_id":"3"`) {
			return 0, ""
		}
		return http.StatusOK, `{"errors":true,"items":[{"index":{"status":201}},{"index":{"status":201}},` + // the first is a mark
			`{"index":{"status":400,"error":{"type":"document_parsing_exception","reason":"no number"}}},{"index":{"status":201}}]}`
	})
	errs, err := index.Write(t.Context(), tags(2, 4))
	if err != nil || errs[0] != nil || errs[2] != nil || !errors.Is(errs[1], readmodel.ErrRefused) || !strings.Contains(errs[1].Error(), "no number") {
		t.Fatalf("write: %v, %v", errs, err)
	}
	position(t, index, 4)
}

// eventuallyNil waits until a call succeeds: an index that was opened takes a moment.
func eventuallyNil(t *testing.T, call func() error) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(20 * time.Millisecond) {
		err := call()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestOutage: without the engine all calls fail soon and with ErrUnavailable;
// afterwards they go on as if nothing had been.
func TestOutage(t *testing.T) {
	engine := onOne(t)
	proxy := engine.proxy(t)
	index := engine.through(t, proxy, elastic.Options{Timeout: 2 * time.Second, RefreshInterval: time.Millisecond})
	mustWrite(t, index, tags(1, 3))
	for name, harm := range map[string]func(*http.Request, string) (int, string){
		"cut":       func(*http.Request, string) (int, string) { return -1, "" },
		"bad proxy": func(*http.Request, string) (int, string) { return 502, "<html>" },
		"no answer": func(request *http.Request, _ string) (int, string) { <-request.Context().Done(); return -1, "" },
		"half":      func(*http.Request, string) (int, string) { return 200, `{"hits":{"total"` },
		"no rights": func(*http.Request, string) (int, string) {
			return 403, `{"error":{"type":"security_exception","reason":"y"},"status":403}`
		},
	} {
		proxy.set(harm)
		<-time.After(2 * time.Millisecond) // what was seen within the refresh interval counts
		started := time.Now()
		_, err := search(t.Context(), index, readmodel.Query{Kind: calendar.KindTag})
		_, visible := index.Visible(t.Context())
		_, write := index.Write(t.Context(), readmodel.Batch{Documents: []readmodel.Document{tag(9, 9, "x")}, Mark: readmodeltest.At(9)})
		_, get := readmodel.Get(t.Context(), index, 1)
		for what, err := range map[string]error{"search": err, "visible": visible, "write": write, "get": get, "wait": index.Wait(t.Context(), 9)} {
			if !errors.Is(err, readmodel.ErrUnavailable) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if took := time.Since(started); took > time.Minute {
			t.Errorf("%s: five calls took %v", name, took)
		}
		proxy.set(nil)
		eventuallyNil(t, func() error {
			_, err := index.Visible(t.Context())
			return err
		})
	}
	position(t, index, 3)
	if got := total(t, index); got != 3 {
		t.Errorf("%d tags, want 3", got)
	}
}

// weighed tells how large the largest answer to a search was.
type weighed struct{ most atomic.Int64 }

func (weighed *weighed) RoundTrip(request *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(request)
	if err != nil || !strings.HasSuffix(request.URL.Path, "/_search") {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	weighed.most.Store(max(weighed.most.Load(), int64(len(body))))
	return res, err
}

// TestScanOfLargeBodies: who reads all documents does so in pages of some megabytes,
// however large they are.
func TestScanOfLargeBodies(t *testing.T) {
	engine := onOne(t)
	w := &weighed{}
	index := engine.open(t, elastic.Options{Transport: w, Prefix: engine.prefix(t)})
	large, random := "", rand.New(rand.NewPCG(1, 1))
	for len(large) < 90_000 { // of what packing makes no shorter
		large += strconv.FormatUint(random.Uint64(), 36)
	}
	const n = 120
	for from := 1; from <= n; from += 20 {
		var batch readmodel.Batch
		for id := from; id < from+20; id++ {
			batch.Documents = append(batch.Documents, record(&calendar.Record{
				ID: calendar.ID(id), Kind: calendar.KindTag, Version: 1, Home: calendar.LangEN, Changed: readmodeltest.Now,
				Fields: calendar.Fields{"name": calendar.Text{calendar.LangEN: "a"}, "description": calendar.Text{calendar.LangEN: large}},
			}, calendar.Position(id)))
		}
		batch.Mark = readmodeltest.At(calendar.Position(from + 19))
		mustWrite(t, index, batch)
	}
	walked := 0
	err := readmodel.Read(t.Context(), index, func(view readmodel.View) error {
		return view.Walk(t.Context(), readmodel.Query{Kind: calendar.KindTag}, func(some []readmodel.Document) error {
			walked += len(some)
			return nil
		})
	})
	if err != nil || walked != n {
		t.Errorf("%d, %v; want %d tags", walked, err, n)
	}
	if got := w.most.Load(); got > 8<<20 || got < 1<<20 {
		t.Errorf("the largest answer has %d bytes", got)
	}
}

// TestSilence: while the servers accept connections and answer nothing, the calls of that
// moment fail within the time of one request, however many wait for the same, and later ones
// immediately; once the servers answer, calls succeed.
func TestSilence(t *testing.T) {
	engine := onOne(t)
	proxy := engines.NewProxy(t, engine.url(t))
	index := engine.openAt(t, proxy.URL, elastic.Options{Timeout: 4 * time.Second, RefreshInterval: time.Millisecond, Prefix: engine.prefix(t)})
	mustWrite(t, index, tags(1, 3))
	calls := map[string]func() error{
		"search": func() error {
			_, err := search(t.Context(), index, readmodel.Query{Kind: calendar.KindTag})
			return err
		},
		"wait": func() error { return index.Wait(t.Context(), 9) },
		"write": func() error {
			_, err := index.Write(t.Context(), tags(4, 5))
			return err
		},
	}
	fail := func(within time.Duration) {
		t.Helper()
		var all sync.WaitGroup
		for what, call := range calls {
			for range 5 {
				all.Go(func() {
					began := time.Now()
					if err := call(); !errors.Is(err, readmodel.ErrUnavailable) {
						t.Errorf("%s: %v, want ErrUnavailable", what, err)
					}
					if took := time.Since(began); took > within {
						t.Errorf("%s took %s, want at most %s", what, took, within)
					}
				})
			}
		}
		all.Wait()
	}
	proxy.Swallow(true)
	fail(7 * time.Second) // that of one request, on a busy machine
	for range 3 {
		fail(time.Second)
	}
	proxy.Swallow(false)
	eventuallyNil(t, calls["search"])
	position(t, index, 3)
}

// TestCutAnswer: the engine took a batch of which the answer was lost.
func TestCutAnswer(t *testing.T) {
	engine := onOne(t)
	proxy := engine.proxy(t)
	index := engine.through(t, proxy, elastic.Options{})
	proxy.set(func(request *http.Request, _ string) (int, string) {
		if strings.HasSuffix(request.URL.Path, "_bulk") {
			return -2, ""
		}
		return 0, ""
	})
	if _, err := index.Write(t.Context(), tags(1, 5)); !errors.Is(err, readmodel.ErrUnavailable) {
		t.Fatalf("write: %v", err)
	}
	proxy.set(nil)
	position(t, index, 0)
	mustWrite(t, index, tags(1, 5))
	position(t, index, 5)
	if got := total(t, index); got != 5 {
		t.Errorf("%d tags, want 5", got)
	}
}

// TestSlowWrite: a write that is not answered in time is sent again.
func TestSlowWrite(t *testing.T) {
	engine := onOne(t)
	proxy := engine.proxy(t)
	index := engine.through(t, proxy, elastic.Options{WriteTimeout: 2 * time.Second})
	var hung atomic.Bool
	proxy.set(func(request *http.Request, _ string) (int, string) {
		if strings.HasSuffix(request.URL.Path, "_bulk") && hung.CompareAndSwap(false, true) {
			<-request.Context().Done()
			return -1, ""
		}
		return 0, ""
	})
	began := time.Now()
	mustWrite(t, index, tags(1, 5))
	if took := time.Since(began); !hung.Load() || took > 20*time.Second {
		t.Errorf("written after %s", took)
	}
}

// TestSharedRefresh: many who wait for one position, in a process that does not
// write, cost one refresh.
func TestSharedRefresh(t *testing.T) {
	engine := onOne(t)
	proxy := engine.proxy(t)
	options := elastic.Options{Prefix: engine.prefix(t), RefreshInterval: time.Hour}
	reader, writer := engine.through(t, proxy, options), engine.open(t, options)
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			if err := reader.Wait(t.Context(), 7); err != nil {
				t.Error(err)
			}
			if got := total(t, reader); got != 7 {
				t.Errorf("%d tags after the wait, want 7", got)
			}
		})
	}
	if _, err := writer.Write(t.Context(), tags(1, 7)); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if n := proxy.count("_refresh"); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}

func TestWrongProduct(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, e engine) {
		t.Helper()
		other := elastic.OpenSearch
		if e.flavour == elastic.OpenSearch {
			other = elastic.Elasticsearch
		}
		prefix := e.prefix(t)
		index, err := elastic.Open(e.url(t), elastic.Options{Flavour: other, Prefix: prefix})
		if err == nil {
			err = index.Reach(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "--index-flavour "+string(e.flavour)) {
			t.Errorf("error %v", err)
		}
		if got := ask(t, http.MethodGet, e.url(t)+"/"+prefix+"-*/_alias", ""); got != "{}" {
			t.Errorf("made on the wrong product: %s", got)
		}
	})
	for _, urls := range []string{"", "127.0.0.1:9200", "ftp://x", "http://"} {
		if _, err := elastic.Open(urls, elastic.Options{}); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%q: %v", urls, err)
		}
	}
	index, err := elastic.Open("http://127.0.0.1:1", elastic.Options{Timeout: time.Second})
	if err == nil {
		err = index.Reach(t.Context())
	}
	if !errors.Is(err, readmodel.ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
}
