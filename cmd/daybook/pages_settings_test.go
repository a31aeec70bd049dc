package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesSettings: each setting of the pages is checked at the start, by an error that
// names it and says what would be right.
func TestPagesSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const svg = `<?xml version="1.0"?><!-- a logo --><svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>`
	for _, tc := range []struct{ name, value, must string }{
		{"pages", "maybe", "true or false"},
		{"pages-external-links", "x", "true or false"},
		{"pages-robots", "follow", "index or none"},
		{"pages-cache", "-1s", "whole seconds"},
		{"pages-cache", "1500ms", "whole seconds"},
		{"pages-cache", "25h", "24h"},
		{"pages-embed", "a b", "must be a host"},
		{"pages-embed", "a;script-src *", "must be a host"},
		{"pages-week-start", "friday", "monday or sunday"},
		{"pages-clock", "13", "12, 24"},
		{"pages-images", "https://img.example.org/x", "must be a host"},
		{"pages-images", "img.example.org;", "must be a host"},
		{"pages-tiles", "https://t.example/{z}/{x}.png", "{z}, {x} and {y}"},
		{"pages-tiles", "javascript:{z}{x}{y}", "http or https"},
		{"pages-tiles", "https://{s}.t.example/{z}/{x}/{y}.png", "need each other"},
		{"pages-tiles-hosts", "a,b.c/", "word"},
		{"brand-name", " ", "1 to 100 characters"},
		{"brand-logo", filepath.Join(dir, "none.svg"), "can be read"},
		{"brand-logo", write("text.svg", "<p>no</p>"), "SVG, PNG or WebP"},
		{"brand-logo", write("large.svg", svg+strings.Repeat(" ", 200_000)), "at most 200000"},
		{"brand-accent", "blue", "#0b5fae"},
		{"brand-footer", "Imprint", "Label=URL"},
		{"brand-footer", "Imprint=javascript:alert(1)", "Label=URL"},
		{"brand-home", filepath.Join(dir, "nowhere"), "home.en.html"},
		{"brand-home", filepath.Dir(write("bad/home.fr.html", "\xff")), "home.fr.html: must be UTF-8"},
		{"api-prefix", "events", `must not begin with "events"`}, // PAGES 13.52
		{"api-prefix", "oembed/v2", `"oembed"`},
		{"api-prefix", "health", `"health"`},
		{"more-prefixes", "wp-json,history/x", `"history"`},
	} {
		args := []string{"--" + tc.name, tc.value}
		if tc.value == "maybe" || tc.value == "x" {
			args = []string{"--" + tc.name + "=" + tc.value}
		}
		_, _, err := settingsOf(t, args, nil)
		if err == nil || !strings.Contains(err.Error(), "--"+tc.name) || !strings.Contains(err.Error(), tc.must) {
			t.Errorf("--%s %q: %v, want %q", tc.name, tc.value, err, tc.must)
		}
	}
	home := filepath.Dir(write("home/home.en.html", `<p>Welcome <script>alert(1)</script></p>`))
	s, _, err := settingsOf(t, []string{
		"--pages-external-links=false", "--pages-robots", "none", "--pages-cache", "0s", "--pages-embed", "www.example.org,*.example.com",
		"--pages-week-start", "sunday", "--pages-clock", "24", "--pages-images", "img.example.org,*.example.com:8443",
		"--pages-tiles", "https://{s}.t.example/{z}/{x}/{y}.png", "--pages-tiles-hosts", "a,b", "--brand-logo", write("logo.svg", svg),
		"--brand-accent", "#ffff00", "--brand-footer", "Imprint=/imprint,fr:Mentions légales=https://example.org/fr?a=b", "--brand-home", home,
		"--api-prefix", "Events",
	}, []string{"DAYBOOK_BRAND_NAME=Town hall"})
	if err != nil {
		t.Fatal(err)
	}
	o := s.pageOptions()
	if !s.pages || !o.NoExternalLinks || !o.NoRobots || o.MaxAge >= 0 || len(o.Embed) != 2 || !o.Sunday || o.Clock != 24 || len(o.Images) != 2 ||
		o.Brand.Logo == nil || len(o.Brand.Footer) != 2 || o.Brand.Footer[1].Label != "Mentions légales" || o.Brand.Name != "Town hall" ||
		s.feedName() != "Town hall" || o.Namespace != "/Events/calendar/events/v1" {
		t.Errorf("got %+v", o)
	}
	if text := o.Brand.Home[3]; !strings.Contains(text.HTML, "Welcome") || strings.Contains(text.HTML, "script") {
		t.Errorf("PAGES 13.27: the home text is %q", text.HTML)
	}
	if s, _, err = settingsOf(t, nil, nil); err != nil || s.feedName() != "" || s.pageOptions().Brand.Name != "Calendar" {
		t.Errorf("without settings: feeds are named %q, %v", s.feedName(), err)
	}
}

// TestWithoutPages: with --pages=false no route of the pages is there, whatever is asked
// for and how (PAGES 13.52).
func TestWithoutPages(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--pages=false")
	for _, path := range []string{
		"/", "/fr/", "/events/", "/events", "/events/month/2026-07/", "/event/x/", "/docs/", "/embed/events/", "/sitemap.xml", "/robots.txt",
		"/favicon.svg", "/oembed?url=x", "/assets/daybook.css", "/events/?preview=true", "/events/?multilang_language=fr",
	} {
		status, h, b := s.full("GET", "http://"+strings.TrimPrefix(s.host, "http://")+path, "", "", map[string]string{"Accept": "text/html"})
		if status != http.StatusNotFound || !strings.Contains(string(b), `"code":"rest_no_route"`) || !strings.HasPrefix(h.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %q %.80s", path, status, h.Get("Content-Type"), b)
		}
	}
	if status := s.drain(); status != exitOK {
		t.Errorf("drained with status %d", status)
	}
}
