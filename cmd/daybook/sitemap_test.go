package main

import (
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// compareSiteMap holds the site map against the lists: every event once, in the file of
// the month in which it starts, and of the other records those that have coming events
// (PAGES 13.16).
func compareSiteMap(t *testing.T, s *server) {
	t.Helper()
	read := func(u string) (out struct {
		Maps []string `xml:"sitemap>loc"`
		URLs []struct {
			Loc     string `xml:"loc"`
			LastMod string `xml:"lastmod"`
		} `xml:"url"`
	},
	) {
		t.Helper()
		status, b := s.try("GET", u, "", "")
		if status != 200 {
			t.Fatalf("%s: status %d", u, status)
		}
		if err := xml.Unmarshal(b, &out); err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		return out
	}
	base, _, _ := strings.Cut(s.root, "/api/")
	found := map[string]string{} // URL → file
	for _, file := range read(base + "/sitemap.xml").Maps {
		name := strings.TrimSuffix(strings.TrimPrefix(file, base+"/sitemap/"), ".xml")
		for _, u := range read(file).URLs {
			if found[u.Loc] != "" {
				t.Errorf("%s is in %s and in %s", u.Loc, found[u.Loc], name)
			}
			found[u.Loc] = name
			if _, err := time.Parse(time.RFC3339, u.LastMod); err != nil && name != "pages" {
				t.Errorf("%s: lastmod %q", u.Loc, u.LastMod)
			}
		}
	}
	want := map[string]string{}
	walk := func(params string, take func(e map[string]any)) {
		for page, pages := 1, 1.0; float64(page) <= pages; page++ {
			list := s.want(200, "GET", fmt.Sprintf("/events?%s&per_page=100&page=%d", params, page), "", "")
			pages = list["total_pages"].(float64)
			for _, e := range list["events"].([]any) {
				take(e.(map[string]any))
			}
		}
	}
	walk("ends_after=1900-01-01", func(e map[string]any) {
		want[e["url"].(string)] = "events-" + e["utc_start_date"].(string)[:len("2006-01")]
	})
	events := len(want)
	walk("overlap=true", func(e map[string]any) {
		for field, of := range map[string][2]string{
			"venue": {"venues-1", "/venue/"}, "organizer": {"organizers-1", "/organizer/"}, "categories": {"terms-1", "/events/category/"}, "tags": {"terms-1", "/events/tag/"},
		} {
			linked, ok := e[field].([]any)
			if !ok {
				linked = []any{e[field]}
			}
			for _, r := range linked {
				r, _ := r.(map[string]any) // else there is none
				if slug, ok := r["slug"].(string); ok {
					want[base+of[1]+slug+"/"] = of[0]
				}
			}
		}
	})
	if events != 6787 || len(want) == events {
		t.Errorf("%d events and %d other records should be in the site map", events, len(want)-events)
	}
	wrong := 0
	for u, file := range want {
		if found[u] != file {
			if wrong++; wrong < 10 {
				t.Errorf("%s is in %q, want %s", u, found[u], file)
			}
		}
	}
	for u, file := range found {
		if file != "pages" && want[u] == "" {
			if wrong++; wrong < 10 {
				t.Errorf("%s of %s should not be in the site map", u, file)
			}
		}
	}
	all := slices.Sorted(maps.Keys(found))
	for range 20 {
		u := all[rand.IntN(len(all))]
		if status, b := s.try("GET", u, "", ""); status != 200 || strings.Contains(string(b), `name="robots"`) {
			t.Errorf("%s: status %d, or it is not to be indexed", u, status)
		}
	}
}
