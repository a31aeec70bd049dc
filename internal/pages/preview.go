package pages

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// bar is what stands above a preview.
type bar struct{ Text, User string }

// Bar is that of a preview, nil for what everybody sees.
func (l *look) Bar() *bar {
	if !l.Preview || l.User == "" { // nobody has been let in
		return nil
	}
	b := &bar{Text: l.text("preview"), User: l.User}
	if l.Status != "" {
		b.Text = l.text("preview.status", l.text("status."+string(l.Status)))
	}
	return b
}

// previewed are the links of a page, and the starts of its forms.
var previewed = regexp.MustCompile(`<a [^>]*?href="([^"]*)"|<form[^>]*>`)

// keepPreview makes the links and forms of a page lead to previews.
func (r *Request) keepPreview(page []byte) []byte {
	return previewed.ReplaceAllFunc(page, func(tag []byte) []byte {
		before, href, isLink := strings.Cut(string(tag), `href="`)
		switch {
		case isLink:
			return []byte(before + `href="` + html.EscapeString(r.toPreview(html.UnescapeString(strings.TrimSuffix(href, `"`)))) + `"`)
		case strings.Contains(before, `method="post"`):
			return tag
		}
		return append(slices.Clip(tag), `<input type="hidden" name="`+paramPreview+`" value="true">`...)
	})
}

// toPreview makes a link to a page of the calendar lead to its preview.
func (r *Request) toPreview(href string) string {
	u, err := url.Parse(href)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return href
	}
	below, ok := strings.CutPrefix(u.EscapedPath(), r.Path)
	if route, is := Find(below); !ok || !is || !route.IsPage() {
		return href
	}
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+paramPreview+"=true", "&")
	return u.String()
}
