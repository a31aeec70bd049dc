package pages

import (
	"io/fs"
	"regexp"
	"testing"
)

// TestTemplatesRunNothing: no page holds an inline script, style or handler (PAGES P6.3).
func TestTemplatesRunNothing(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|\s(style|on[a-z]+)=|<script(?: type="application/ld\+json"| type="module" src="\{\{[^"]*"[^"]*"\}\}")?>`)
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		text, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range inline.FindAllString(string(text), -1) {
			if found != `<script type="application/ld+json">` && found[:min(len(found), 28)] != `<script type="module" src="{` {
				t.Errorf("%s: %s", name, found)
			}
		}
	}
}
