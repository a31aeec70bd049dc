package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesSettings: what the settings of the pages make of them. Those that are refused
// are in testdata/script/settings.txt.
func TestPagesSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const svg = `<?xml version="1.0"?><!-- a logo --><svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>`
	home := filepath.Dir(write("home/home.en.html", `<p>Welcome <script>alert(1)</script></p>`))
	config, _, err := settingsOf(t, []string{
		"--pages-external-links=false", "--pages-robots", "none", "--pages-cache", "0s", "--pages-embed", "www.example.org,*.example.com",
		"--pages-week-start", "sunday", "--pages-clock", "24", "--pages-images", "img.example.org,*.example.com:8443",
		"--pages-tiles", "https://{s}.t.example/{z}/{x}/{y}.png", "--pages-tiles-hosts", "a,b", "--brand-logo", write("logo.svg", svg),
		"--brand-accent", "#ffff00", "--brand-footer", "Imprint=/imprint,fr:Mentions légales=https://example.org/fr?a=b", "--brand-home", home,
		"--api-prefix", "Events",
	}, []string{"DAYBOOK_BRAND_NAME=Town hall"})
	must(t, err)
	options := config.pageOptions()
	if !config.Pages || options.ExternalLinks || options.Robots != "none" || options.MaxAge >= 0 || len(options.Embed) != 2 || options.WeekStart != "sunday" || options.Clock != "24" || len(options.Images) != 2 ||
		options.Brand.Logo == nil || len(options.Brand.Footer) != 2 || options.Brand.Footer[1].Label != "Mentions légales" || options.Brand.Name != "Town hall" ||
		config.api(nil).CalendarName != "Town hall" || options.Namespace != "/Events/calendar/events/v1" {
		t.Errorf("got %+v", options)
	}
	if text := options.Brand.Home[3]; !strings.Contains(text.HTML, "Welcome") || strings.Contains(text.HTML, "script") {
		t.Errorf("PAGES 13.27: the home text is %q", text.HTML)
	}
	if config, _, err = settingsOf(t, nil, nil); err != nil || config.api(nil).CalendarName != "" || config.pageOptions().Brand.Name != "" {
		t.Errorf("without settings: feeds are named %q, %v", config.api(nil).CalendarName, err)
	}
}

// TestWithoutPages: with --pages=false no route of the pages is there, whatever is asked
// for and how (PAGES 13.52).
func TestWithoutPages(t *testing.T) {
	t.Parallel()
	server := startServer(t, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--pages=false")
	if strings.Contains(server.announced, "pages: ") {
		t.Errorf("it prints\n%s", server.announced)
	}
	for _, path := range []string{
		"/", "/fr/", "/events/", "/events", "/events/month/2026-07/", "/event/x/", "/docs/", "/embed/events/", "/sitemap.xml", "/robots.txt",
		"/favicon.svg", "/oembed?url=x", "/assets/daybook.css", "/desk/", pathMetrics, "/events/?preview=true", "/events/?multilang_language=fr",
	} {
		status, header, data := server.full("GET", server.host+path, "", "", map[string]string{"Accept": "text/html"})
		if status != 404 || !strings.Contains(string(data), `"code":"rest_no_route"`) || !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %d %q %.80s", path, status, header.Get("Content-Type"), data)
		}
	}
	server.ends()
}
