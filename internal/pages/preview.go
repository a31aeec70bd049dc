package pages

import (
	"html"
	"regexp"
	"strings"

	"daybook/calendar"
)

// bar is what stands above a preview.
type bar struct{ Text, User string }

// Bar is that of a preview, nil for what everybody sees.
func (l *layout) Bar() *bar {
	if !l.r.Preview || l.r.User == "" { // nobody has been let in
		return nil
	}
	b := &bar{Text: word("preview", l.Lang), User: l.r.User}
	if l.Status != "" {
		b.Text = l.text("preview.status", word("status."+string(l.Status), l.Lang))
	}
	return b
}

// previewed are the links of a page, and the starts of its forms.
var previewed = regexp.MustCompile(`<a [^>]*?href="([^"]*)"|<form[^>]*>`)

// keepPreview makes the links and forms of a page lead to previews.
func (r *Request) keepPreview(page []byte) []byte {
	return previewed.ReplaceAllFunc(page, func(tag []byte) []byte {
		found := string(tag)
		before, _, isLink := strings.Cut(found, `href="`)
		if !isLink {
			if strings.Contains(found, `method="post"`) {
				return tag
			}
			return append(tag, `<input type="hidden" name="`+paramPreview+`" value="true">`...)
		}
		href := html.UnescapeString(found[len(before)+len(`href="`) : len(found)-1])
		if !r.leadsToPage(href) {
			return tag
		}
		return []byte(before + `href="` + html.EscapeString(withPreview(href)) + `"`)
	})
}

// leadsToPage tells whether a link is one to a page of the calendar.
func (r *Request) leadsToPage(href string) bool {
	path, _, _ := strings.Cut(href, "#")
	path, _, _ = strings.Cut(path, "?")
	below, ok := strings.CutPrefix(path, r.Path)
	if !ok || !strings.HasPrefix(below, "/") || strings.HasPrefix(below, "//") {
		return false
	}
	route, ok := Find(below)
	return ok && route.IsPage()
}

func withPreview(href string) string {
	href, fragment, has := strings.Cut(href, "#")
	by := "?"
	if strings.Contains(href, "?") {
		by = "&"
	}
	if href += by + paramPreview + "=true"; has {
		href += "#" + fragment
	}
	return href
}

// statusOf is the status that a preview tells, "" for terms.
func statusOf(k calendar.Kind, s calendar.Status) calendar.Status {
	if k.IsTerm() {
		return ""
	}
	return s
}
