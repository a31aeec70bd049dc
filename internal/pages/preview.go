package pages

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

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

// keepPreview makes the links and forms of a page lead to previews.
func (r *Request) keepPreview(page []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(page) + len(page)/16)
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.Bytes()
		}
		raw := bytes.Clone(z.Raw())
		if kind != html.StartTagToken {
			out.Write(raw)
			continue
		}
		t := z.Token()
		switch t.DataAtom {
		case atom.A:
			for i, a := range t.Attr {
				if a.Key == "href" && r.leadsToPage(a.Val) {
					t.Attr[i].Val = withPreview(a.Val)
					raw = []byte(t.String())
				}
			}
			out.Write(raw)
		case atom.Form:
			out.Write(raw)
			if !hasAttribute(t, "method", "post") {
				out.WriteString(`<input type="hidden" name="` + paramPreview + `" value="true">`)
			}
		default:
			out.Write(raw)
		}
	}
}

func hasAttribute(t html.Token, key, value string) bool {
	for _, a := range t.Attr {
		if a.Key == key && strings.EqualFold(a.Val, value) {
			return true
		}
	}
	return false
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
