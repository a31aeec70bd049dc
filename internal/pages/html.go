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
func (builder *pageBuilder) OnPage(shown string, highest int) (template.HTML, error) {
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(shown), root)
	for _, node := range nodes {
		root.AppendChild(node)
	}
	var open []int // levels of the headings above, as they were written
	for node := range root.Descendants() {
		switch level := slices.Index(headings, node.DataAtom) + 1; {
		case level > 0:
			for len(open) > 0 && open[len(open)-1] >= level {
				open = open[:len(open)-1]
			}
			open = append(open, level)
			node.DataAtom = headings[min(highest+len(open)-1, len(headings))-1]
			node.Data = node.DataAtom.String()
		case node.DataAtom == atom.A:
			setAttribute(node, "rel", linkRel)
		case node.DataAtom == atom.Img:
			builder.settleImage(node)
		}
	}
	var result strings.Builder
	for _, node := range nodes {
		err = errors.Join(err, html.Render(&result, node))
	}
	return template.HTML(result.String()), err //nolint:gosec // cleaned when it was stored or at the start, and settled here
}

// settleImage shows a picture of an allowed host, and links another one, or has its text
// stand in the link that it is in.
func (builder *pageBuilder) settleImage(node *html.Node) {
	src := attribute(node, "src")
	if builder.ShowsImage(src) {
		setAttribute(node, "loading", "lazy")
		setAttribute(node, "decoding", "async")
		setAttribute(node, "referrerpolicy", "no-referrer")
		return
	}
	text := attribute(node, "alt")
	if strings.TrimSpace(text) == "" {
		text = hostOf(src)
	}
	for up := range node.Ancestors() {
		if up.DataAtom == atom.A { // a link holds no other one
			node.Type, node.DataAtom, node.Data, node.Attr = html.TextNode, 0, text, nil
			return
		}
	}
	node.DataAtom, node.Data = atom.A, "a"
	node.Attr = []html.Attribute{{Key: "href", Val: src}, {Key: "rel", Val: linkRel}}
	node.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

// ShowsImage reports whether the picture of a URL is loaded by pages: as the policy of the
// page allows it.
func (builder *pageBuilder) ShowsImage(src string) bool {
	address, err := url.Parse(src)
	if err != nil || address.Host == "" || address.Scheme != "https" && (address.Scheme != "http" || strings.HasPrefix(builder.Base, "https:")) {
		return false
	}
	host := strings.ToLower(address.Host)
	return slices.ContainsFunc(builder.options.Images, func(text string) bool {
		below, wild := strings.CutPrefix(text, "*")
		return text == host || text == address.Scheme+":" || wild && strings.HasSuffix(host, below)
	})
}

func attribute(node *html.Node, key string) string {
	for _, a := range node.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func setAttribute(node *html.Node, key, value string) {
	node.Attr = slices.DeleteFunc(node.Attr, func(attribute html.Attribute) bool { return attribute.Key == key })
	node.Attr = append(node.Attr, html.Attribute{Key: key, Val: value})
}
