package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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

func TestProgressBar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		show, end := progress[int](&console{err: &text, terminal: true}, "import", "lines")
		for done := 1000; done <= 3000; done += 1000 {
			<-time.After(200 * time.Millisecond)
			show(done, 5000)
		}
		end()
		got := text.String()
		rates := regexp.MustCompile(`([1-9]\d*)/5000, (\d+) lines/s`).FindAllStringSubmatch(got, -1)
		if len(rates) < 2 {
			t.Errorf("the bar shows no rates: %q", got)
		}
		for _, texts := range rates {
			if texts[2] != "5000" {
				t.Errorf("a rate of %s lines/s after %s lines, want 5000", texts[2], texts[1])
			}
		}
		if strings.Contains(got, "100%") {
			t.Errorf("work that broke off is shown as whole: %q", got)
		}
	})
}

// Where nobody looks at a bar, a line tells now and then how far the work is.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		show, end := progress[int](&console{err: &text}, "import", "lines")
		for done := 1000; done <= 7000; done += 1000 {
			<-time.After(2 * time.Second)
			show(done, 7000)
		}
		end()
		if got, want := text.String(), "import: 3000 of 7000 lines\nimport: 6000 of 7000 lines\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
