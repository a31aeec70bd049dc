package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"daybook/internal/httpapi"
	"daybook/internal/testkit/world"
)

// TestTermsOfOneRequest: an entry finds the term that an entry before it makes, by
// slug and by name (3.1.6).
func TestTermsOfOneRequest(t *testing.T) {
	t.Parallel()
	_, editor, _ := newWorld(t)
	for i, c := range []struct {
		sent  []any
		slugs []string
	}{
		{[]any{"Slug One", "slug-one", "SLUG-ONE", "slug one"}, []string{"slug-one"}},
		{[]any{"Slug One", "slug-one"}, []string{"slug-one"}}, // it is there by now
		{[]any{"été Jazz", "ete-jazz", "ÉTÉ JAZZ"}, []string{"ete-jazz"}},
		{[]any{"two-words", "Two Words"}, []string{"two-words", "two-words-2"}}, // neither slug nor name of the first
	} {
		for _, field := range []string{"tags", "categories"} {
			made := editor.Event(fmt.Sprint("Concert ", i, field), obj{field: c.sent})
			var slugs []string
			for j := range made.Len(field) {
				slugs = append(slugs, made.String(fmt.Sprintf("%s.%d.slug", field, j)))
			}
			slices.Sort(slugs)
			if !slices.Equal(slugs, c.slugs) {
				t.Errorf("%s %q: terms %q, want %q", field, c.sent, slugs, c.slugs)
			}
		}
	}
}

// TestDocumentedExtensions: what the documentation says about roles, further
// roots and lists of ids (8.2, 10).
func TestDocumentedExtensions(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	_, _, nobody := newWorld(t, world.Options{HTTP: httpapi.Options{Prefixes: []string{"rest"}, Namespaces: []string{"other/v2"}}})
	doc := nobody.Get("/doc")
	doc.WantField("x-roles.4.name", "administrator").WantField("x-roles.5.name", "auditor").WantField("x-roles.5.x-extension", true)
	if _, marked := doc.Lookup("x-roles.4.x-extension"); marked {
		t.Error("the administrator is marked as an extension")
	}
	if _, marked := doc.Lookup("servers.0.x-extension"); marked {
		t.Error("the root itself is marked as an extension")
	}
	for _, root := range []string{"/rest/calendar/events/v1", "/api/other/v2", "/fr/rest/other/v2"} {
		nobody.Do("GET", "/"+root+"/doc", nil).WantField("servers.0.url", world.Base+root).WantField("servers.0.x-extension", true)
	}
	for path, want := range map[string]string{
		"/events include": "integer", "/events venue": "integer", "/events categories": "string",
		"/tags include": "string", "/categories exclude": "string",
	} {
		path, name, _ := strings.Cut(path, " ")
		for _, p := range doc.Get("paths." + path + ".get.parameters").([]any) {
			p := p.(map[string]any)
			if got := p["schema"].(map[string]any); p["name"] == name && got["items"].(map[string]any)["type"] != want {
				t.Errorf("%s of %s: %v, want %v", name, path, got["items"], want)
			}
		}
	}
}
