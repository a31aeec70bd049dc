package pages

import (
	"regexp"
	"strconv"
	"testing"
)

// pair is a token in a light-dark().
var pair = regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`)

// tokens reads the colours of both themes from the style.
func tokens(t *testing.T) (light, dark map[string]colour) {
	t.Helper()
	css, err := assetFiles.ReadFile("assets/" + styleName)
	if err != nil {
		t.Fatal(err)
	}
	light, dark = map[string]colour{}, map[string]colour{}
	for _, texts := range pair.FindAllStringSubmatch(string(css), -1) {
		light[texts[1]], _ = readColour(texts[2])
		dark[texts[1]], _ = readColour(texts[3])
	}
	return light, dark
}

// TestContrast: every pair of PAGES P5.1 has the contrast that it states (P13.22).
func TestContrast(t *testing.T) {
	t.Parallel()
	light, dark := tokens(t)
	for theme, least := range map[string]struct {
		c                                   map[string]colour
		ink, muted, accent, edge            [3]float64 // on page, card, sunken
		on, signs, tints, categories, marks float64
	}{
		"light": {light, [3]float64{16.7, 17.4, 15.4}, [3]float64{6.8, 7.1, 6.3}, [3]float64{6.2, 6.4, 5.7}, [3]float64{3.8, 4.0, 3.5}, 6.4, 5.8, 5.5, 6.5, 3.2},
		"dark":  {dark, [3]float64{16.1, 14.6, 16.7}, [3]float64{8.4, 7.6, 8.7}, [3]float64{8.9, 8.0, 9.2}, [3]float64{5.0, 4.5, 5.1}, 8.5, 8.2, 7.1, 7.5, 4.3},
	} {
		check := func(a, b string, want float64) {
			t.Helper()
			if got := contrast(least.c[a], least.c[b]); got < want-0.06 { // they are stated with one digit
				t.Errorf("%s, %s on %s: %.2f, want %.1f", theme, a, b, got, want)
			}
		}
		for i, ground := range []string{"page", "card", "sunken"} {
			check("ink", ground, least.ink[i])
			check("muted", ground, least.muted[i])
			check("accent", ground, least.accent[i])
			check("edge", ground, least.edge[i])
			for _, sign := range []string{"good", "warning", "bad"} {
				check(sign, ground, least.signs)
			}
			for i := range 8 {
				check("mark-"+strconv.Itoa(i), ground, least.marks)
			}
		}
		check("on-accent", "accent", least.on)
		for _, sign := range []string{"accent", "good", "warning", "bad"} {
			check(sign, sign+"-tint", least.tints)
		}
		for i := range 8 {
			n := strconv.Itoa(i)
			check("ink-"+n, "tint-"+n, least.categories)
			check("mark-"+n, "tint-"+n, least.marks)
		}
	}
}

// TestAccent: an accent gets the nearest lightness that can be read in each theme
// (PAGES P5.3, P13.22).
func TestAccent(t *testing.T) {
	t.Parallel()
	light, dark := tokens(t)
	for accent, want := range map[string]struct{ darkened, lightened bool }{
		"#ffff00": {darkened: true}, "#000080": {lightened: true}, "#0b5fae": {lightened: true}, "#767676": {darkened: true, lightened: true},
	} {
		c, err := readColour(accent)
		if err != nil {
			t.Fatal(err)
		}
		inLight, inDark := c.readable(light["page"], light["card"]), c.readable(dark["page"], dark["card"])
		for _, x := range []struct {
			colour, c colour
			ground    string
			changed   bool
		}{{light["page"], inLight, "page", want.darkened}, {light["card"], inLight, "card", want.darkened}, {dark["page"], inDark, "dark page", want.lightened}, {dark["card"], inDark, "dark card", want.lightened}} {
			if got := contrast(x.c, x.colour); got < minContrast {
				t.Errorf("%s as %s on %s: %.2f", accent, x.c, x.ground, got)
			}
			if (x.c.String() != accent) != x.changed {
				t.Errorf("%s became %s on %s", accent, x.c, x.ground)
			}
		}
		if onLight, onDark := contrast(inLight, inLight.tint(light["card"])), contrast(inDark, inDark.tint(dark["card"])); min(onLight, onDark) < minContrast {
			t.Errorf("%s on its tint: %.2f, %.2f", accent, onLight, onDark)
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
