package pages

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"daybook/calendar"
)

// Brand is what a calendar looks like (PAGES.md P5.3).
type Brand struct {
	Name   string       `placeholder:"TEXT" trim:" " pattern:"^.{1,100}$" must:"be a text of 1 to 100 characters" help:"name of the calendar on pages, and in feeds without --calendar-name; empty: Calendar on pages"` // "": Calendar
	Logo   *Logo        `placeholder:"FILE" type:"logo" help:"SVG, PNG or WebP of at most 200 kB, shown instead of the name"`                                                                                           // stands for the name; nil: none
	Accent string       `placeholder:"COLOUR" type:"accent" help:"colour of links and buttons, for example #0b5fae; made darker or lighter where its contrast is too low"`                                              // #rrggbb, "": that of P5.1
	Footer []FooterLink `placeholder:"LIST" type:"footer" help:"links at the end of pages, for example Imprint=https://…, fr:Mentions légales=https://…"`
	Home   Home         `placeholder:"DIR" type:"home" help:"directory with the text of the home page: home.en.html, home.cn.html, home.es.html, home.fr.html; the English one replaces missing ones"`
}

// FooterLink is one in the footer, for one language or, without Lang, for all.
type FooterLink struct {
	Lang       *calendar.Lang
	Label, URL string
}

// External tells that the link leads to another site.
func (footerLink FooterLink) External() bool { return strings.HasPrefix(footerLink.URL, "http") }

// Home is the text of the home page in each language.
type Home [len(calendar.Langs)]HomeText

// HomeText is HTML of the safe subset (interface 2.5), and the language that it is in.
type HomeText struct {
	HTML string
	Lang calendar.Lang
}

// Logo is a picture that stands for the name.
type Logo struct {
	body []byte
	ext  string // ".svg", ".png" or ".webp"
}

// NewLogo takes an SVG, PNG or WebP.
func NewLogo(body []byte) (*Logo, error) {
	media := http.DetectContentType(body)
	if isSVG(body) {
		media = medias[".svg"]
	}
	for _, ext := range []string{".svg", ".png", ".webp"} {
		if medias[ext] == media {
			return &Logo{body, ext}, nil
		}
	}
	return nil, errors.New("must be an SVG, PNG or WebP")
}

// isSVG reports whether the first element of an XML document is that of SVG.
func isSVG(body []byte) bool {
	for decoder := xml.NewDecoder(bytes.NewReader(body)); ; {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		if first, ok := token.(xml.StartElement); ok {
			return first.Name.Local == "svg" && first.Name.Space == "http://www.w3.org/2000/svg"
		}
	}
}

// CheckAccent refuses what is no colour.
func CheckAccent(text string) error {
	_, err := readColour(text)
	return err
}

// ReadFooterLink reads Label=URL. A label may begin with a language: fr:Label.
func ReadFooterLink(text string) (FooterLink, error) {
	label, to, _ := strings.Cut(text, "=")
	footerLink := FooterLink{Label: strings.TrimSpace(label), URL: strings.TrimSpace(to)}
	if tag, rest, ok := strings.Cut(footerLink.Label, ":"); ok {
		if language, known := calendar.ParseLang(tag); known {
			footerLink.Lang, footerLink.Label = &language, strings.TrimSpace(rest)
		}
	}
	address, err := url.Parse(footerLink.URL)
	switch {
	case err != nil || footerLink.Label == "" || !utf8.ValidString(footerLink.Label):
	case address.Host != "" && (address.Scheme == "http" || address.Scheme == "https"), address.Scheme == "mailto",
		address.Host == "" && address.Scheme == "" && strings.HasPrefix(footerLink.URL, "/"):
		return footerLink, nil
	}
	return footerLink, fmt.Errorf("%q must be Label=URL, as Imprint=https://example.org/imprint", text)
}

// Logo is the path of the logo, "" for none.
func (builder *pageBuilder) Logo() string {
	if logo := builder.options.Brand.Logo; logo != nil {
		return builder.Asset(logoName + logo.ext)
	}
	return ""
}

// HomeText is the text of the home page in the language of the page.
func (builder *pageBuilder) HomeText() HomeText { return builder.options.Brand.Home[builder.language] }
