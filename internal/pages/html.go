package pages

import (
	"errors"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// linkRel is what links of descriptions say of where they lead.
const linkRel = "nofollow ugc noopener"

// headings by their level, from 1 on.
var headings = []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}

// OnPage makes shown HTML fit into a page: headings move below those of the page, to a level
// from the highest on and in order, links say that strangers wrote them, and pictures of
// hosts that are not allowed become links (PAGES.md P2.1).
func (l *look) OnPage(shown string, highest int) (template.HTML, error) {
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(shown), root)
	for _, n := range nodes {
		root.AppendChild(n)
	}
	var open []int // levels of the headings above, as they were written
	for n := range root.Descendants() {
		switch level := slices.Index(headings, n.DataAtom) + 1; {
		case level > 0:
			for len(open) > 0 && open[len(open)-1] >= level {
				open = open[:len(open)-1]
			}
			open = append(open, level)
			n.DataAtom = headings[min(highest+len(open)-1, len(headings))-1]
			n.Data = n.DataAtom.String()
		case n.DataAtom == atom.A:
			setAttribute(n, "rel", linkRel)
		case n.DataAtom == atom.Img:
			l.settleImage(n)
		}
	}
	var out strings.Builder
	for _, n := range nodes {
		err = errors.Join(err, html.Render(&out, n))
	}
	return template.HTML(out.String()), err //nolint:gosec // cleaned when it was stored or at the start, and settled here
}

// settleImage shows a picture of an allowed host, and links another one, or has its text
// stand in the link that it is in.
func (l *look) settleImage(n *html.Node) {
	src := attribute(n, "src")
	if l.ShowsImage(src) {
		setAttribute(n, "loading", "lazy")
		setAttribute(n, "decoding", "async")
		setAttribute(n, "referrerpolicy", "no-referrer")
		return
	}
	text := attribute(n, "alt")
	if strings.TrimSpace(text) == "" {
		text = hostOf(src)
	}
	for up := range n.Ancestors() {
		if up.DataAtom == atom.A { // a link holds no other one
			n.Type, n.DataAtom, n.Data, n.Attr = html.TextNode, 0, text, nil
			return
		}
	}
	n.DataAtom, n.Data = atom.A, "a"
	n.Attr = []html.Attribute{{Key: "href", Val: src}, {Key: "rel", Val: linkRel}}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

// ShowsImage reports whether the picture of a URL is loaded by pages: as the policy of the
// page allows it.
func (l *look) ShowsImage(src string) bool {
	address, err := url.Parse(src)
	if err != nil || address.Host == "" || address.Scheme != "https" && (address.Scheme != "http" || strings.HasPrefix(l.Base, "https:")) {
		return false
	}
	host := strings.ToLower(address.Host)
	return l.o.AnyImage && address.Scheme == "https" || slices.ContainsFunc(l.o.Images, func(text string) bool {
		below, wild := strings.CutPrefix(text, "*")
		return text == host || wild && strings.HasSuffix(host, below)
	})
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func setAttribute(n *html.Node, key, value string) {
	n.Attr = slices.DeleteFunc(n.Attr, func(attribute html.Attribute) bool { return attribute.Key == key })
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}
