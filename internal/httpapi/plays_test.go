package httpapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/testkit/play"
	"daybook/internal/testkit/world"
)

// playWorld makes the service that a play names in its first line.
func playWorld(t *testing.T, name string) *world.World {
	t.Helper()
	options := world.Options{Wait: time.Millisecond}
	switch name {
	case "service", "brief":
	case "aged":
		options.HTTP.ReadMaxAge = 60
	case "few":
		options.HTTP.CalendarLimit = 9
	case "views":
		return viewsWorld(t, pages.Options{ExternalLinks: true})
	case "desk":
		return viewsWorld(t, pages.Options{ExternalLinks: true, Desk: true})
	case "alone":
		return viewsWorld(t, pages.Options{})
	default:
		options.Pages = &pages.Options{ExternalLinks: true}
		switch name {
		case "pages":
		case "cairo":
			options.Site = zoneOf(t, "Africa/Cairo")
		case "proofs":
			options.HTTP.PublicHistory = httpapi.PublicHistoryProofs
		case "none":
			options.HTTP.PublicHistory = httpapi.PublicHistoryNone
		case "euro":
			options.Site, options.HTTP.Currency = newYork(t), calendar.Currency{Symbol: "€", Position: "postfix", Code: "EUR"}
		case "policies":
			options.Pages = &pages.Options{
				ExternalLinks: true,
				Images:        []string{"img.example.org"}, Tiles: "https://{s}.t.example/{z}/{x}/{y}.png", TileHosts: []string{"a", "b"}, TilesBy: "© <Mappers>",
				Embed: []string{"https://www.example.org"}, Robots: "none", MaxAge: -1,
			}
		default:
			t.Fatalf("no world %q", name)
		}
	}
	return world.New(t, options)
}

// TestPlays plays every file of testdata/plays. Their form is described with package play.
func TestPlays(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	files, err := filepath.Glob("testdata/plays/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no plays", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		for _, name := range strings.Fields(first)[1:] {
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				t.Parallel()
				play.Play(t, playWorld(t, name), file, nil)
			})
		}
	}
}
