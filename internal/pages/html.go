package pages

import (
	"bytes"
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

// The highest headings inside of a description, and of texts that no heading stands above.
const (
	leastHeading = 3
	leastBare    = 2
)

// onPage makes shown HTML fit into a page: headings move below those of the page, in order,
// links say that strangers wrote them, and pictures of hosts that are not allowed become
// links (PAGES.md P2.1).
func (p *Pages) onPage(r *Request, shown string, least int) (string, error) {
	if shown == "" {
		return "", nil
	}
	nodes, err := html.ParseFragment(strings.NewReader(shown), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return "", err
	}
	var levels []int // of the headings that are open, as they were written
	var out bytes.Buffer
	for _, n := range nodes {
		p.settle(r, n, least, &levels)
		if err := html.Render(&out, n); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

func (p *Pages) settle(r *Request, n *html.Node, least int, levels *[]int) {
	if n.Type == html.ElementNode {
		switch level := slices.Index(headings, n.DataAtom) + 1; {
		case level > 0:
			open := *levels
			for len(open) > 0 && open[len(open)-1] >= level {
				open = open[:len(open)-1]
			}
			*levels = append(open, level)
			name := headings[min(least+len(*levels)-1, len(headings))-1]
			n.DataAtom, n.Data = name, name.String()
		case n.DataAtom == atom.A:
			setAttribute(n, "rel", linkRel)
		case n.DataAtom == atom.Img:
			p.settleImage(r, n, isLinked(n))
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.settle(r, c, least, levels)
	}
}

// settleImage shows a picture of an allowed host, and links another one, or has its text
// stand in the link that it is in.
func (p *Pages) settleImage(r *Request, n *html.Node, linked bool) {
	src := attribute(n, "src")
	if p.showsImage(r, src) {
		setAttribute(n, "loading", "lazy")
		setAttribute(n, "decoding", "async")
		setAttribute(n, "referrerpolicy", "no-referrer")
		return
	}
	text := attribute(n, "alt")
	if strings.TrimSpace(text) == "" {
		text = hostOf(src)
	}
	if linked { // a link holds no other one
		n.Type, n.DataAtom, n.Data, n.Attr = html.TextNode, 0, text, nil
		return
	}
	n.DataAtom, n.Data = atom.A, "a"
	n.Attr = []html.Attribute{{Key: "href", Val: src}, {Key: "rel", Val: linkRel}}
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

// isLinked tells whether a node is inside of a link.
func isLinked(n *html.Node) bool {
	for up := n.Parent; up != nil; up = up.Parent {
		if up.DataAtom == atom.A {
			return true
		}
	}
	return false
}

// showsImage tells whether the picture of a URL is loaded by pages: as the policy of the
// page allows it.
func (p *Pages) showsImage(r *Request, src string) bool {
	u, err := url.Parse(src)
	secure := err == nil && strings.EqualFold(u.Scheme, "https")
	if err != nil || u.Host == "" || !secure && (!strings.EqualFold(u.Scheme, "http") || strings.HasPrefix(r.Base, "https:")) {
		return false
	}
	host := strings.ToLower(u.Host)
	return p.o.AnyImage && secure || slices.ContainsFunc(p.o.Images, func(h string) bool {
		below, wild := strings.CutPrefix(h, "*")
		return h == host || wild && strings.HasSuffix(host, below)
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
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}
