package pages

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFind: PAGES P1.1, P13.2 and P13.8.
func TestFind(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/paths.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		path, want, is := strings.Cut(strings.TrimSpace(line), " = ")
		if !is {
			continue
		}
		route, ok := Find(path)
		if got := fmt.Sprintf("%s %s %s %s %t", route.name, route.language, cmp.Or(route.slug, "-"), cmp.Or(route.moved, "-"), route.wrong); !ok || got != want {
			t.Errorf("%s: %t %s, want %s", path, ok, got, want)
		}
	}
	for _, path := range []string{"/en/", "/nothing/", "/event/", "/event/a/b/", "/events/x/", "/events/month/a/", "/events/category/", "/event/a/history/b/", "/apis", "/venues/x/", "/fr/robots.txt"} {
		if route, ok := Find(path); ok {
			t.Errorf("%s is a page: %+v", path, route)
		}
	}
}

func TestWeekPath(t *testing.T) {
	t.Parallel()
	for day := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2031; day = day.AddDate(0, 0, 1) {
		path := units[1].path(day)
		route, ok := Find(path)
		if !ok || route.wrong || route.first.Weekday() != time.Monday || day.Sub(route.first) < 0 || day.Sub(route.first) > 6*24*time.Hour {
			t.Fatalf("%s: %s begins on %s", day.Format(time.DateOnly), path, route.first.Format(time.DateOnly))
		}
	}
}
