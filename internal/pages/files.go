package pages

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"daybook/calendar"
)

// robots tells search engines what they may read.
func (p *Pages) robots(r *Request) []byte {
	if p.o.NoRobots {
		return []byte("User-agent: *\nDisallow: /\n")
	}
	var out strings.Builder
	out.WriteString("User-agent: *\n")
	for _, below := range append(slices.Clone(p.o.Prefixes), "embed") {
		for _, l := range calendar.Langs {
			out.WriteString("Disallow: " + r.Path + segments[l] + "/" + below + "/\n")
		}
	}
	out.WriteString("Allow: " + r.Path + "/\n\nSitemap: " + r.Base + "/sitemap.xml\n")
	return []byte(out.String())
}

// openSearch describes the search to browsers (OpenSearch 1.1).
func (p *Pages) openSearch(r *Request) []byte {
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>%s</ShortName><Description>%s</Description><InputEncoding>UTF-8</InputEncoding><Image width="16" height="16" type="image/svg+xml">%s/favicon.svg</Image><Url type="text/html" template="%s/search/?search={searchTerms}"/></OpenSearchDescription>
`, escaped(p.o.Brand.Name), escaped(word("search.title", calendar.LangEN)), escaped(r.Base), escaped(r.Base))
}

// serveFile answers a path that is there once.
func (p *Pages) serveFile(ctx context.Context, r *Request) (*Answer, error) {
	text := func(media string, body []byte) (*Answer, error) {
		return &Answer{Status: http.StatusOK, Type: media, Body: body, Lang: calendar.LangEN}, nil
	}
	switch r.Route.file {
	case "/robots.txt":
		return text("text/plain; charset=utf-8", p.robots(r))
	case "/opensearch.xml":
		return text("application/opensearchdescription+xml; charset=utf-8", p.openSearch(r))
	case "/favicon.svg", "/favicon.ico":
		return text(medias[".svg"], p.assets.named["favicon.svg"].Body)
	}
	switch r.Route.file {
	case "/oembed":
		return p.serveOEmbed(ctx, r)
	case elementFile:
		a, err := text(medias[".js"], p.script)
		a.Open, a.Cache = true, "public, max-age=300, stale-while-revalidate=86400"
		return a, err
	}
	body, err := p.sitemap(ctx, r)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, calendar.Fail(calendar.CodePageNotFound, calendar.KindEvent)
	}
	return text(typeXML, body)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // into memory
	return b.String()
}
