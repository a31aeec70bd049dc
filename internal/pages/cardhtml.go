package pages

import (
	"html/template"
	"strconv"
	"strings"

	"daybook/calendar"
)

// A list page is mostly cards, then addresses of its selection, and html/template takes some
// 40 calls by reflection for each card. So these are written here (ADR 63); the templates of
// the same names are what they mean, and a test holds one against the other byte by byte.

// html gives the card as HTML for a page in a language.
func (c *card) html(l calendar.Lang) template.HTML {
	w := &markup{b: make([]byte, 0, 1536)}
	w.raw(`<article data-event-id="`).id(c.ID).raw(`" data-version="`).id(calendar.ID(c.Version)).raw(`"`)
	if c.VenueID != 0 {
		w.raw(` data-venue-id="`).id(c.VenueID).raw(`"`)
	}
	w.raw(` class="card colour-`).id(calendar.ID(c.Colour))
	w.when(c.Past, ` is-past`).when(c.Featured, ` is-featured`).raw("\">\n")
	w.raw(`<p class="tile" aria-hidden="true"><span>`).text(c.Weekday).raw(`</span><b>`).text(c.Day).raw(`</b><span>`).text(c.Month).raw("</span></p>\n")
	w.raw(`<div class="about"><h3><a href="`).url(c.Href).raw(`" data-event-id="`).id(c.ID)
	w.raw(`" data-start="`).text(c.Start).raw(`" data-end="`).text(c.End).raw(`"`).lang(c.Language).raw(`>`)
	if c.Marked != "" {
		w.raw(string(c.Marked))
	} else {
		w.text(c.Title)
	}
	w.raw("</a></h3>\n<p class=\"when\"><time datetime=\"").text(c.Start).raw(`">`).text(c.When).raw(`</time>`)
	for _, badge := range []struct {
		name string
		is   bool
	}{{"now", c.Now}, {"past", c.Past}, {"protected", c.Protected}, {"featured", c.Featured}} {
		if badge.is {
			w.raw(` <span class="badge" data-badge="`).raw(badge.name).raw(`">`).text(word("badge."+badge.name, l)).raw(`</span>`)
		}
	}
	w.raw(`</p>`)
	if c.Venue != "" {
		w.raw(`<p class="where"><span data-field="venue"`).lang(c.VenueLang).raw(`>`).text(c.Venue).raw(`</span>`)
		if c.City != "" {
			w.raw(`, `).text(c.City)
		}
		w.raw(`</p>`)
	}
	if c.Snippet != "" {
		w.raw(`<p class="snippet">`).raw(string(c.Snippet)).raw(`</p>`)
	}
	if len(c.Categories) > 0 || c.Cost != "" {
		w.raw(`<p class="chips">`)
		for i := range c.Categories {
			chip := &c.Categories[i]
			w.raw(`<a class="chip colour-`).id(calendar.ID(chip.Colour)).raw(`" data-field="category" href="`).url(chip.Href).raw(`"`)
			w.lang(chip.Lang).raw(`>`).text(chip.Label).raw(`</a> `)
		}
		if c.Cost != "" {
			w.raw(`<span class="cost" data-field="cost">`).text(c.Cost).raw(`</span>`)
		}
		w.raw(`</p>`)
	}
	w.raw("\n</div>")
	if c.Image != "" {
		w.raw(`<img src="`).url(c.Image).raw(`" alt="" width="160" height="120" loading="lazy" decoding="async" referrerpolicy="no-referrer">`)
	}
	w.raw("</article>\n")
	return template.HTML(w.b) //nolint:gosec // all but marks of a search is escaped, and these are by LISTINGS 3.4
}

// exportsHTML gives the drawer of a selection as HTML for a page in a language.
func exportsHTML(all []export, l calendar.Lang) template.HTML {
	if len(all) == 0 {
		return ""
	}
	w := &markup{b: make([]byte, 0, 8192)}
	w.raw(`<details id="selection-as"><summary>`).text(word("selection", l)).raw(`</summary><ul>`)
	for i := range all {
		e := &all[i]
		w.raw(`<li data-format="`).text(e.Format).raw(`"><span>`).text(e.Label).raw(`</span> `)
		shown := e.Text
		if e.URL != "" {
			shown = e.URL
			w.raw(`<a href="`).address(string(safeURL(e.URL))).raw(`">`).text(shown).raw(`</a>`)
		} else {
			w.raw(`<code>`).text(shown).raw(`</code>`)
		}
		w.raw(` <button type="button" data-copy="`).text(shown).raw(`" data-copied="`).text(word("copied", l)).raw(`" hidden>`).text(word("copy", l)).raw(`</button></li>`)
	}
	return template.HTML(w.raw(`</ul></details>`).b) //nolint:gosec // all is escaped
}

// markup writes HTML; what is not raw is escaped for texts and quoted attributes.
type markup struct{ b []byte }

// raw writes HTML as it is.
func (w *markup) raw(s string) *markup { w.b = append(w.b, s...); return w }

func (w *markup) when(is bool, s string) *markup {
	if is {
		w.raw(s)
	}
	return w
}

func (w *markup) id(n calendar.ID) *markup { w.b = strconv.AppendInt(w.b, int64(n), 10); return w }

func (w *markup) lang(tag string) *markup {
	if tag != "" {
		w.raw(` lang="`).text(tag).raw(`"`)
	}
	return w
}

// text escapes what html/template escapes.
func (w *markup) text(s string) *markup {
	from := 0
	for i := range len(s) {
		var with string
		switch s[i] {
		case 0:
			with = "\uFFFD"
		case '"':
			with = "&#34;"
		case '&':
			with = "&amp;"
		case '\'':
			with = "&#39;"
		case '+':
			with = "&#43;"
		case '<':
			with = "&lt;"
		case '>':
			with = "&gt;"
		default:
			continue
		}
		w.b = append(append(w.b, s[from:i]...), with...)
		from = i + 1
	}
	w.b = append(w.b, s[from:]...)
	return w
}

// refused is what html/template writes in the place of an address whose scheme may run.
const refused = "#ZgotmplZ"

// url writes an address: one without a scheme, or with one that runs nothing. What may not
// stand in one is written in percents.
func (w *markup) url(s string) *markup {
	if scheme, _, has := strings.Cut(s, ":"); has && !strings.Contains(scheme, "/") &&
		!strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "mailto") {
		return w.raw(refused)
	}
	return w.address(s)
}

// address writes an address of a scheme that was looked at.
func (w *markup) address(s string) *markup {
	const hex = "0123456789abcdef"
	isHex := func(i int) bool { return i < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i]) >= 0 }
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~!#$*,/:;=?@[]", c) >= 0,
			c == '%' && isHex(i+1) && isHex(i+2):
			w.b = append(w.b, c)
		case c == '&' || c == '+':
			w.text(s[i : i+1])
		default:
			w.b = append(w.b, '%', hex[c>>4], hex[c&15])
		}
	}
	return w
}
