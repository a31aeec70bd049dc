package pages

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tokens reads the colours of a theme from the style.
func tokens(t *testing.T, theme string) map[string]colour {
	t.Helper()
	css, err := assetFiles.ReadFile("assets/daybook.css")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(css), `:root[data-theme="`+theme+`"] {`)
	if !ok {
		t.Fatalf("no theme %s", theme)
	}
	block, _, _ := strings.Cut(after, "}")
	out := map[string]colour{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
		if out[m[1]], err = readColour(m[2]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestContrast: every pair of PAGES P5.1 has the contrast that it states (P13.22).
func TestContrast(t *testing.T) {
	t.Parallel()
	for theme, least := range map[string]struct {
		ink, muted, accent, edge [3]float64 // on page, card, sunken
		on, signs, category      float64
	}{
		"light": {[3]float64{16.7, 17.4, 15.4}, [3]float64{6.8, 7.1, 6.3}, [3]float64{6.2, 6.4, 5.7}, [3]float64{3.8, 4.0, 3.5}, 6.4, 5.8, 6.6},
		"dark":  {[3]float64{16.1, 14.6, 16.7}, [3]float64{8.4, 7.6, 8.7}, [3]float64{8.9, 8.0, 9.2}, [3]float64{5.0, 4.5, 5.1}, 8.5, 8.2, 7.6},
	} {
		c := tokens(t, theme)
		check := func(name string, a, b colour, want float64) {
			if got := contrast(a, b); got < want-0.06 { // they are stated with one digit
				t.Errorf("%s, %s: %.2f, want %.1f", theme, name, got, want)
			}
		}
		for i, ground := range []string{"page", "card", "sunken"} {
			check("ink on "+ground, c["ink"], c[ground], least.ink[i])
			check("muted on "+ground, c["muted"], c[ground], least.muted[i])
			check("accent on "+ground, c["accent"], c[ground], least.accent[i])
			check("edge on "+ground, c["edge"], c[ground], least.edge[i])
			for _, sign := range []string{"good", "warning", "bad"} {
				check(sign+" on "+ground, c[sign], c[ground], min(least.signs, 5.0))
			}
		}
		check("on accent", c["on-accent"], c["accent"], least.on)
		for i := range 8 {
			n := strconv.Itoa(i)
			check("category "+n, c["ink-"+n], c["tint-"+n], least.category)
		}
	}
}

// TestAccent: an accent gets the nearest lightness that can be read in each theme
// (PAGES P5.3, P13.22).
func TestAccent(t *testing.T) {
	t.Parallel()
	light, dark := tokens(t, "light"), tokens(t, "dark")
	for accent, want := range map[string]struct{ darkened, lightened bool }{
		"#ffff00": {darkened: true}, "#000080": {lightened: true}, "#0b5fae": {lightened: true}, "#767676": {darkened: true, lightened: true},
	} {
		c, err := readColour(accent)
		if err != nil {
			t.Fatal(err)
		}
		inLight, inDark := c.readable(light["page"], light["card"]), c.readable(dark["page"], dark["card"])
		for _, x := range []struct {
			on, c   colour
			ground  string
			changed bool
		}{{light["page"], inLight, "page", want.darkened}, {light["card"], inLight, "card", want.darkened}, {dark["page"], inDark, "dark page", want.lightened}, {dark["card"], inDark, "dark card", want.lightened}} {
			if got := contrast(x.c, x.on); got < leastContrast {
				t.Errorf("%s as %s on %s: %.2f", accent, x.c, x.ground, got)
			}
			if (x.c.String() != accent) != x.changed {
				t.Errorf("%s became %s on %s", accent, x.c, x.ground)
			}
		}
		if inLight.luminance() > c.luminance()+1e-3 || inDark.luminance() < c.luminance()-1e-3 {
			t.Errorf("%s: %s in light, %s in dark", accent, inLight, inDark)
		}
	}
	for _, bad := range []string{"", "red", "#fff", "#12345g", "#1234567"} {
		if _, err := readColour(bad); err == nil {
			t.Errorf("%q is a colour", bad)
		}
	}
}
