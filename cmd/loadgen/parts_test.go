package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// program builds daybook once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loadgen-test-")
	if err != nil {
		return "", err
	}
	programDir = dir
	binary := filepath.Join(dir, "daybook")
	build := exec.Command("go", "build", "-o", binary, "daybook/cmd/daybook")
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0") // CI sets -race
	build.Stderr = os.Stderr
	return binary, build.Run()
})

var programDir string // removed at the end

// bounded runs the bench on small calendars and gives its text.
func bounded(t *testing.T, args ...string) string {
	t.Helper()
	binary, err := program()
	if err != nil {
		t.Fatalf("build daybook: %v", err)
	}
	var out, errw strings.Builder
	args = append([]string{
		"-binary", binary, "-for", "20ms", "-write-size", "100", "-large-size", "150", "-list-size", "1000", "-created", "20",
		"-postgres", "", "-nats", "", "-elasticsearch", "", "-opensearch", "",
	}, args...)
	if code := run(t.Context(), args, &out, &errw); code != 0 {
		t.Fatalf("%v: ended with %d\n%s\n%s", args, code, out.String(), errw.String())
	}
	return out.String()
}

func hasRow(t *testing.T, text, name, rest string) {
	t.Helper()
	if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\S* .*` + rest).MatchString(text) {
		t.Errorf("no row of %q", name)
	}
}

// Each row of the embedded size is measured on heavy and on light events, and has its
// bound with a verdict.
func TestParts(t *testing.T) {
	t.Parallel()
	const figures = `\| .*\d.* heavy .*\| .*\d.* light .*`
	text := bounded(t, "-only", "writes,sizes,lists,disk")
	for _, row := range writeRows {
		hasRow(t, text, row.title(), `\|.* us .*\|.* us .*\| \d\.\d\d (not )?met`)
	}
	for _, row := range listRows {
		hasRow(t, text, row.name, `\|.*\|.*\|`)
		if row.least > 0 {
			hasRow(t, text, row.name, `\|.*\|.*\| \d\.\d\d (not )?met`)
		}
	}
	for _, coding := range []string{"gzip", "zstd"} {
		hasRow(t, text, coding, `(not )?met`)
	}
	for name, bound := range map[string]string{
		"one update, visible in a list, p50": "3 ms", "start from snapshot": "1 s", "resident memory, 10 s at rest after all that": "250 MB",
		"disk for each event, while it serves": "5 kB", "disk for each event, after it was stopped": "5 kB",
	} {
		hasRow(t, text, name, figures+`at most `+bound+`: (not )?met`)
	}
	for _, name := range []string{"JSON of an event as it is sent", "JSON of the answer", "processor time of that start", "at its peak"} {
		hasRow(t, text, name, figures)
	}
	if n := strings.Count(text, "\ncreate through HTTP, 8 clients"); n != 2 {
		t.Errorf("%d rows of creates with 8 clients, want one against raw commits and one against a small calendar", n)
	}
	if !regexp.MustCompile(`(?m)^\d+ of 19 rows that have a bound are not met$`).MatchString(text) {
		t.Errorf("no sum of the rows that are missed")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Pages are measured against lists and against a bare server, kept and made anew.
func TestPagesPart(t *testing.T) {
	t.Parallel()
	text := bounded(t, "-only", "pages", "-weight", "heavy")
	for _, row := range pageRows {
		hasRow(t, text, row.name, `\|.* us .*\| \d\.\d\d (not )?met`)
	}
	if !strings.Contains(text, "of 8 rows that have a bound are not met") {
		t.Errorf("no sum of the rows that are missed:\n%s", text)
	}
}

// One weight alone has one group of columns; a part that was not asked for has no row.
func TestOnePart(t *testing.T) {
	t.Parallel()
	text := bounded(t, "-only", "disk", "-weight", "light")
	hasRow(t, text, "disk for each event, while it serves", `\| .* light +\| at most`)
	for _, other := range []string{"heavy", "create through", "default list", "hostile", "distributed"} {
		if strings.Contains(text, other) {
			t.Errorf("there is %q in the text of light events on disk:\n%s", other, text)
		}
	}
}

// A bound is for the first weight; what is just reached is met.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &report{Writer: &out}
	tab := newTable(r, []weight{heavy, light}, "title", "other")
	tab.row("reached", 0.6, []pair{{ratio: 0.6}, {ratio: 0.1}})
	tab.row("missed", 0.6, []pair{{ratio: 0.59}, {ratio: 3}})
	tab.row("free", 0, []pair{{ratio: 0.1}, {ratio: 0.1}})
	r.figure("small", tab.weights, []float64{5, 9}, "kB", 5)
	r.figure("large", tab.weights, []float64{5.1, 1}, "kB", 5)
	for name, want := range map[string]string{"reached": `0\.60 met$`, "missed": `0\.60 not met$`, "free": `\|$`, "small": `at most 5 kB: met$`, "large": `at most 5 kB: not met$`} {
		hasRow(t, out.String(), name, want)
	}
	if r.rows != 4 || r.missed != 2 {
		t.Errorf("%d rows and %d missed, want 4 and 2", r.rows, r.missed)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"-only", "writes,speed"}, `no part "speed", only appends, writes`},
		{[]string{"-weight", "feather"}, `-weight: must be light, heavy or heavy,light, not "feather"`},
		{[]string{"-weight", "heavy,heavy"}, `-weight: must be`},
		{[]string{"-weight", ""}, `-weight: must be`},
		{[]string{"-write-size", "99"}, "-write-size: must be a number from 100, not 99"},
		{[]string{"-large-size", "0"}, "-large-size: must be"},
		{[]string{"-list-size", "999"}, "-list-size: must be a number from 1000"},
		{[]string{"-created", "1"}, "-created: must be"},
		{[]string{"-distributed-size", "7"}, "-distributed-size: must be 0 or a number from 100"},
		{[]string{"-hostile-size", "-1"}, "-hostile-size: must be 0 or"},
		{[]string{"-sizes", "100"}, "only growth and growth-search have sizes"},
		{[]string{"-sizes", "100,some", "growth"}, `-sizes: must be numbers from 100, not "some"`},
		{[]string{"-elasticsearch", "", "growth-search"}, "needs the URL of -elasticsearch"},
		{[]string{"shrinking"}, `no bench "shrinking", only hostile, growth and growth-search`},
	} {
		var out, errw strings.Builder
		if code := run(t.Context(), c.args, &out, &errw); code != 2 || !strings.Contains(errw.String(), c.says) {
			t.Errorf("%v: ended with %d: %s", c.args, code, errw.String())
		}
	}
}

// Of the items of a raw _bulk only a mark that is there already may be refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"errors":false,"items":[{"index":{"status":201}}]}`:                                                     "",
		`{"errors":true,"items":[{"index":{"status":201}},{"index":{"status":409,"error":{"type":"conflict"}}}]}`: "",
		`{"errors":true,"items":[{"index":{"status":409}},{"index":{"status":429,"error":{"type":"rejected"}}}]}`: `429: {"type":"rejected"}`,
		`{"errors":true,"items":`: "unexpected end",
	} {
		switch err := refused([]byte(answer)); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", answer, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want %q", answer, err, want)
		}
	}
}

// Callers are clients of their own: each has one address and keeps its connection.
func TestCallersHaveAddresses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8")
	}
	const callers = 4
	var mu sync.Mutex
	from, asked := map[string]bool{}, 0
	all := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		mu.Lock()
		from[host] = true
		if asked++; asked == callers {
			close(all)
		}
		mu.Unlock()
		<-all // so that each caller needs a connection
	}))
	defer s.Close()
	if _, err := gets(t.Context(), callers, 50*time.Millisecond, nil, func(int, int) string { return s.URL }); err != nil {
		t.Fatal(err)
	}
	if len(from) != callers {
		t.Errorf("%d callers came from %v", callers, from)
	}
}

// A machine that does other things for longer than a measurement takes still gives one.
func TestEachCallerWorks(t *testing.T) {
	t.Parallel()
	f, err := measure(3, 0, func(_, turn int) (time.Duration, error) {
		if turn > 0 {
			t.Errorf("turn %d after the end", turn)
		}
		return time.Millisecond, nil
	})
	if err != nil || f.n != 3 || f.p50 != time.Millisecond {
		t.Errorf("got %+v, %v", f, err)
	}
}
