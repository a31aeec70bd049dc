package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/piprate/json-gold/ld"
	"golang.org/x/net/html"

	"daybook/calendar"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/testkit/world"
)

// schemaOrg returns the part of the context of schema.org that pages use.
type schemaOrg struct{ document any }

func (schemaOrg schemaOrg) LoadDocument(text string) (*ld.RemoteDocument, error) {
	if !strings.HasPrefix(text, "https://schema.org") {
		return nil, ld.NewJsonLdError(ld.LoadingDocumentFailed, text)
	}
	return &ld.RemoteDocument{DocumentURL: text, Document: schemaOrg.document}, nil
}

// TestLinkedData: two readers that have nothing of ours find the same statements in the
// structured data of pages, those that search engines ask for among them (PAGES 13.17).
func TestLinkedData(t *testing.T) {
	t.Parallel()
	w := world.New(t, world.Options{HTTP: httpapi.Options{Currency: calendar.Currency{Symbol: "€", Position: "prefix", Code: "EUR"}}, Pages: &pages.Options{ExternalLinks: true}})
	editor := w.As(calendar.Editor)
	hall := editor.Create(calendar.KindVenue, world.Object{"venue": "Salle & co", "address": "1 rue Haute", "city": "Lyon", "country": "France", "geo_lat": 45.75, "geo_lng": 4.85})
	plain := editor.Create(calendar.KindVenue, world.Object{"venue": "Somewhere"})
	club := editor.Create(calendar.KindOrganizer, world.Object{"organizer": "Club"})
	editor.Event("Quay &lt;/script&gt; concert", world.Object{
		"slug": "concert", "venue": []calendar.ID{hall.ID(), plain.ID()}, "organizer": club.ID(), "cost": []string{"5", "12.50"}, "description": "<p>Words</p>",
		"start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00", "timezone": "America/New_York",
	})
	editor.Event("Fair", world.Object{"slug": "fair", "all_day": true, "start_date": "2026-07-05", "end_date": "2026-07-06", "venue": plain.ID(), "cost": "0"})
	dir := t.TempDir()
	var names []string
	for name, path := range map[string]string{"concert.html": "//event/concert/", "fair.html": "//event/fair/", "hall.html": "//venue/salle-co/", "club.html": "//organizer/club/"} {
		names = append(names, name)
		must(t, os.WriteFile(filepath.Join(dir, name), w.As(calendar.Anonymous).Do(http.MethodGet, path, nil).Want(200).Body, 0o600))
	}
	copied(t, dir, "schema-org.json", "linked_data.py")
	context, err := os.ReadFile(filepath.Join(dir, "schema-org.json"))
	must(t, err)
	var schema schemaOrg
	must(t, json.Unmarshal(context, &schema.document))
	quads := map[string]string{}
	for _, name := range names {
		page, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		var document any
		must(t, json.Unmarshal([]byte(linkedData(t, string(page))), &document))
		jsonLdOptions := ld.NewJsonLdOptions("https://calendar.example.org/" + name)
		jsonLdOptions.DocumentLoader, jsonLdOptions.Format, jsonLdOptions.Algorithm = schema, "application/n-quads", ld.AlgorithmURDNA2015
		normal, err := ld.NewJsonLdProcessor().Normalize(document, jsonLdOptions)
		must(t, err)
		quads[name] = normal.(string)
	}
	for name, wants := range map[string][]string{
		"concert.html": {
			`<http://schema.org/name> "Quay </script> concert"`, `<http://schema.org/startDate> "2026-07-04T18:30:00-04:00"`, `<http://schema.org/endDate> "2026-07-04T21:00:00-04:00"`,
			`<http://schema.org/streetAddress> "1 rue Haute"`, `<http://schema.org/addressLocality> "Somewhere"`, `<http://schema.org/eventStatus> <https://schema.org/EventScheduled>`,
			`<http://schema.org/lowPrice> "5"`, `<http://schema.org/highPrice> "12.50"`, `<http://schema.org/priceCurrency> "EUR"`, `<http://schema.org/url> <https://calendar.example.org/event/concert/>`,
			`<http://schema.org/description> "Words"`, "<http://schema.org/BreadcrumbList>", "<http://schema.org/Organization>",
		},
		"fair.html": {`<http://schema.org/startDate> "2026-07-05"`, `<http://schema.org/endDate> "2026-07-06"`, `<http://schema.org/isAccessibleForFree> "true"`},
		"hall.html": {"<http://schema.org/Place>", `<http://schema.org/name> "Salle & co"`, `<http://schema.org/addressLocality> "Lyon"`},
		"club.html": {"<http://schema.org/Organization>", `<http://schema.org/name> "Club"`},
	} {
		for _, want := range wants {
			if !strings.Contains(quads[name], want) {
				t.Errorf("%s says nothing of %s:\n%s", name, want, quads[name])
			}
		}
	}
	python := filepath.Join(pythonPackages(t), "bin", "python")
	for _, name := range names {
		if diff := cmp.Diff(quads[name], program(t, dir, nil, python, "linked_data.py", name)); diff != "" {
			t.Errorf("%s is read in two ways:\n%s", name, diff)
		}
	}
}

// linkedData returns the text of the script of structured data of a page.
func linkedData(t *testing.T, page string) string {
	t.Helper()
	tokenizer := html.NewTokenizer(strings.NewReader(page))
	for {
		switch tokenizer.Next() {
		case html.ErrorToken:
			t.Fatalf("no structured data in %s", page)
		case html.StartTagToken:
			if strings.Contains(string(tokenizer.Raw()), "application/ld+json") {
				tokenizer.Next()
				return string(tokenizer.Text())
			}
		default:
		}
	}
}
