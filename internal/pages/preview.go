package pages

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// previewed are the links of a page, and the starts of its forms.
var previewed = regexp.MustCompile(`<a [^>]*?href="([^"]*)"|<form[^>]*>`)

// keepPreview makes the links and forms of a page lead to previews.
func (request *Request) keepPreview(page []byte) []byte {
	return previewed.ReplaceAllFunc(page, func(tag []byte) []byte {
		before, href, isLink := strings.Cut(string(tag), `href="`)
		switch {
		case isLink:
			return []byte(before + `href="` + html.EscapeString(request.toPreview(html.UnescapeString(strings.TrimSuffix(href, `"`)))) + `"`)
		case strings.Contains(before, `method="post"`):
			return tag
		}
		return append(slices.Clip(tag), `<input type="hidden" name="`+paramPreview+`" value="true">`...)
	})
}

// toPreview makes a link to a page of the calendar lead to its preview.
func (request *Request) toPreview(href string) string {
	address, err := url.Parse(href)
	if err != nil || address.Scheme != "" || address.Host != "" || address.Path == "" {
		return href
	}
	below, ok := strings.CutPrefix(address.EscapedPath(), request.Path)
	if route, is := Find(below); !ok || !is || route.name == "" {
		return href
	}
	address.RawQuery = strings.TrimPrefix(address.RawQuery+"&"+paramPreview+"=true", "&")
	return address.String()
}
