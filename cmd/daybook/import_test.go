package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// tagText gives a line without a key.
func tagText(name string) string {
	return `{"action":"create","kind":"tag","fields":{"name":"` + name + `"}}` + "\n"
}

func TestSourceName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	for path, want := range map[string]string{
		"/data/events.ndjson": "events", "events.ndjson.gz": "events", "a_b-c.1": "a_b-c.1", long + ".ndjson": long,
	} {
		if got := sourceName(path); got != want {
			t.Errorf("%s: got %s, want %s as stores have it", path, got, want)
		}
	}
	names := map[string]string{}
	for _, path := range []string{"活动", "场地", "--", "my events", "my-events", "caf\xe9", "café", long + "1", long + "2", long} {
		got := sourceName(path + ".ndjson")
		if other, there := names[got]; there {
			t.Errorf("%q and %q are both %s", path, other, got)
		}
		names[got] = path
		if len(got) > 64 || got != sourceName("/other/"+path+".ndjson.gz") {
			t.Errorf("%q: %s is too long or not always the same", path, got)
		}
	}
}

// TestImportOfTwoFiles: files whose names differ only in what a source name
// cannot hold are two sources.
func TestImportOfTwoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"活动.ndjson", "场地.ndjson", strings.Repeat("x", 70) + "1.ndjson", strings.Repeat("x", 70) + "2.ndjson"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tagText(name)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1 lines: 1 applied", "1 lines: 0 applied, 1 applied before"} {
			if out := mustTool(t, "import", path, "--data", filepath.Join(dir, "data")); !strings.HasPrefix(out, want) {
				t.Errorf("%s: got %q, want %q", name, out, want)
			}
		}
	}
}

func TestImportFromAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, pipe := filepath.Join(dir, "data"), filepath.Join(dir, "pipe.ndjson")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write := func() {
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(w, tagText("piped"))
		_ = w.Close()
	}
	for _, path := range []string{pipe, "/dev/stdin"} {
		for _, named := range []bool{false, true} {
			args := []string{"import", path, "--data", data}
			if named {
				args = append(args, "--source", "s")
			}
			if path == pipe {
				go write()
			}
			out, errText, status := tool(t, strings.NewReader(tagText("piped")), args...)
			if named && (status != exitOK || !strings.HasPrefix(out, "1 lines: ")) {
				t.Errorf("%s: status %d, %q and %q", path, status, out, errText)
			}
			if !named && (status != exitUsage || !strings.Contains(errText, "--source")) {
				t.Errorf("%s without a source: status %d and %q", path, status, errText)
			}
		}
	}
	if _, errText, status := tool(t, nil, "import", dir, "--data", data); status != exitFailed || !strings.Contains(errText, "is a directory") {
		t.Errorf("a directory: status %d and %q", status, errText)
	}
}

// TestImportStops: an import that breaks off tells what it did and where.
func TestImportStops(t *testing.T) {
	t.Parallel()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = io.WriteString(w, "\n"+tagText("a")+"\n\n"+tagText("")+"{")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"import", "-", "--source", "s", "--data", data}
	out, errText, status := tool(t, bytes.NewReader(z.Bytes()), append(args, "--json")...)
	if status != exitFailed || !strings.Contains(errText, "import stopped: read line 6: ") {
		t.Errorf("status %d and %q", status, errText)
	}
	var got imported
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if got.Lines != 2 || got.Applied != 1 || len(got.Refused) != 1 || got.Refused[0].Line != 5 || !strings.HasPrefix(got.Stopped, "read line 6: ") {
		t.Errorf("got %+v", got)
	}
	out, errText, status = tool(t, bytes.NewReader(z.Bytes()), args...)
	if status != exitFailed || out != "2 lines: 0 applied, 1 applied before, 1 refused\n" || !strings.Contains(errText, "line 5 refused") {
		t.Errorf("status %d, %q and %q", status, out, errText)
	}
}

func TestProgressBar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		p := newProgress(&console{err: &text, terminal: true}, "import", "lines")
		for done := 1000; done <= 3000; done += 1000 {
			<-time.After(200 * time.Millisecond)
			p.aside(func(w io.Writer) { fmt.Fprintf(w, "line %d refused\n", done) })
			p.set(done, 5000)
		}
		p.done()
		got := text.String()
		rates := regexp.MustCompile(`([1-9]\d*)/5000, (\d+) lines/s`).FindAllStringSubmatch(got, -1)
		if len(rates) < 2 {
			t.Errorf("the bar shows no rates: %q", got)
		}
		for _, r := range rates {
			if r[2] != "5000" {
				t.Errorf("a rate of %s lines/s after %s lines, want 5000", r[2], r[1])
			}
		}
		for line := range strings.Lines(got) {
			if i := strings.Index(line, "line "); i > 0 && strings.Contains(line, "refused") && line[i-1] != '\r' {
				t.Errorf("the refusal sticks to the bar: %q", line)
			}
		}
		if strings.Contains(got, "100%") {
			t.Errorf("work that broke off is shown as whole: %q", got)
		}
	})
}
