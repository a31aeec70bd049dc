package pages

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// colour is one of sRGB: red, green and blue, each from 0 to 1.
type colour [3]float64

// readColour reads #rrggbb.
func readColour(text string) (colour colour, err error) {
	data, err := hex.DecodeString(strings.TrimPrefix(text, "#"))
	if err != nil || len(data) != len(colour) || text[0] != '#' {
		return colour, errors.New("must be a colour as #0b5fae")
	}
	for i, part := range data {
		colour[i] = float64(part) / 255
	}
	return colour, nil
}

func (c colour) String() string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0]*255)), int(math.Round(c[1]*255)), int(math.Round(c[2]*255)))
}

// each returns the colour with its parts changed, rounded to what String writes.
func (c colour) each(change func(i int) float64) colour {
	for i := range c {
		c[i] = math.Round(change(i)*255) / 255
	}
	return c
}

// luminance is the relative luminance of WCAG 2.2.
func (c colour) luminance() (sum float64) {
	for i, share := range [...]float64{0.2126, 0.7152, 0.0722} {
		if c[i] <= 0.04045 {
			sum += share * c[i] / 12.92
		} else {
			sum += share * math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	return sum
}

// contrast is the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// minContrast is that of an accent on what it stands on (PAGES.md P5.3).
const minContrast = 4.5

// readable returns the colour of the nearest lightness (HSL) that has minContrast on all
// grounds.
func (c colour) readable(grounds ...colour) colour {
	lightness := (slices.Min(c[:]) + slices.Max(c[:])) / 2
	for step := range 1001 {
		away := float64(step) / 1000
		for _, until := range [...]float64{lightness - away, lightness + away} {
			next := c.at(lightness, until)
			if until >= 0 && until <= 1 && !slices.ContainsFunc(grounds, func(g colour) bool { return contrast(next, g) < minContrast }) {
				return next
			}
		}
	}
	return c
}

// at returns the colour, whose lightness is given, with another one; hue and saturation stay.
func (c colour) at(lightness, until float64) colour {
	share := min(until, 1-until) / max(min(lightness, 1-lightness), 1e-9) // black and white have no parts to share
	return c.each(func(i int) float64 { return until + (c[i]-lightness)*share })
}

// maxTint is the share of a colour in its tint.
const maxTint = 0.12

// tint returns the strongest tint of a ground by a colour that can be read on it.
func (c colour) tint(ground colour) colour {
	for share := maxTint; ; share -= 0.01 {
		tint := c.each(func(i int) float64 { return c[i]*share + ground[i]*(1-share) })
		if share <= 0 || contrast(c, tint) >= minContrast {
			return tint
		}
	}
}
