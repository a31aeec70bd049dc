package pages

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
)

// colour is one of sRGB, each part from 0 to 1.
type colour struct{ r, g, b float64 }

// readColour reads #rrggbb.
func readColour(s string) (colour, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "#"))
	if err != nil || len(b) != 3 || s[0] != '#' {
		return colour{}, fmt.Errorf("%q: a colour is #rrggbb", s)
	}
	return colour{float64(b[0]) / 255, float64(b[1]) / 255, float64(b[2]) / 255}, nil
}

func (c colour) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c.r*255)), int(math.Round(c.g*255)), int(math.Round(c.b*255)))
}

// luminance is the relative luminance of WCAG 2.2.
func (c colour) luminance() float64 {
	linear := func(x float64) float64 {
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	if x < y {
		x, y = y, x
	}
	return (x + 0.05) / (y + 0.05)
}

// leastContrast is that of an accent on what it stands on (PAGES.md P5.3).
const leastContrast = 4.5

// readable gives the colour of the nearest lightness (HSL) that has leastContrast on all
// grounds.
func (c colour) readable(grounds ...colour) colour {
	h, s, l := c.hsl()
	fits := func(c colour) bool {
		for _, g := range grounds {
			if contrast(c, g) < leastContrast {
				return false
			}
		}
		return true
	}
	for step := range 1001 {
		away := float64(step) / 1000
		for _, l := range [2]float64{l - away, l + away} {
			if l < 0 || l > 1 {
				continue
			}
			next, _ := readColour(fromHSL(h, s, l).String()) // as it will be written
			if fits(next) {
				return next
			}
		}
	}
	return c
}

// maxTint is the share of a colour in its tint.
const maxTint = 0.12

// tint returns the strongest tint of a ground by a colour that can be read on it.
func (c colour) tint(ground colour) colour {
	for share := maxTint; ; share -= 0.01 {
		mix := func(a, b float64) float64 { return a*share + b*(1-share) }
		tint, _ := readColour(colour{mix(c.r, ground.r), mix(c.g, ground.g), mix(c.b, ground.b)}.String())
		if share <= 0 || contrast(c, tint) >= leastContrast {
			return tint
		}
	}
}

// on gives the better of black and white to write on a colour.
func (c colour) on(dark, light colour) colour {
	if contrast(c, dark) > contrast(c, light) {
		return dark
	}
	return light
}

func (c colour) hsl() (h, s, l float64) {
	least, most := min(c.r, c.g, c.b), max(c.r, c.g, c.b)
	l = (least + most) / 2
	d := most - least
	if d == 0 {
		return 0, 0, l
	}
	s = d / (1 - math.Abs(2*l-1))
	switch most {
	case c.r:
		h = math.Mod((c.g-c.b)/d+6, 6)
	case c.g:
		h = (c.b-c.r)/d + 2
	default:
		h = (c.r-c.g)/d + 4
	}
	return h * 60, s, l
}

func fromHSL(h, s, l float64) colour {
	chroma := (1 - math.Abs(2*l-1)) * s
	x := chroma * (1 - math.Abs(math.Mod(h/60, 2)-1))
	m := l - chroma/2
	r, g, b := 0.0, 0.0, 0.0
	switch int(h/60) % 6 {
	case 0:
		r, g = chroma, x
	case 1:
		r, g = x, chroma
	case 2:
		g, b = chroma, x
	case 3:
		g, b = x, chroma
	case 4:
		r, b = x, chroma
	default:
		r, b = chroma, x
	}
	return colour{r + m, g + m, b + m}
}
