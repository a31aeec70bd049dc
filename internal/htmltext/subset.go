package htmltext

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	nethtml "golang.org/x/net/html"

	"daybook/calendar"
)

// subset is the safe subset of interface 2.5: the elements with the attributes
// that they may have beside lang and dir.
var subset = map[string][]string{
	"a": {"href", "title", "rel"}, "abbr": {"title"}, "b": nil, "blockquote": {"cite"}, "br": nil, "caption": nil,
	"cite": nil, "code": nil, "dd": nil, "del": nil, "div": nil, "dl": nil, "dt": nil, "em": nil, "figcaption": nil,
	"figure": nil, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "hr": nil, "i": nil,
	"img": {"src", "alt", "title", "width", "height"}, "ins": nil, "kbd": nil, "li": nil, "ol": nil, "p": nil,
	"pre": nil, "q": nil, "s": nil, "small": nil, "span": nil, "strong": nil, "sub": nil, "sup": nil, "table": nil,
	"tbody": nil, "td": {"colspan", "rowspan"}, "tfoot": nil, "th": {"colspan", "rowspan"}, "thead": nil, "tr": nil,
	"u": nil, "ul": nil,
}

func inSubset(element string) bool { _, ok := subset[element]; return ok }

// voids are the elements of the subset that have no end tag.
var voids = map[string]bool{"br": true, "hr": true, "img": true}

// urlAttrs are the attributes that hold a URL.
var urlAttrs = map[string]bool{"href": true, "src": true, "cite": true}

// lineBreaks are the line breaks that begin and end of an element of the subset give in
// plain text. Cells have none: a tab stands between them.
var lineBreaks = map[string]int{
	"blockquote": 1, "caption": 1, "dd": 1, "div": 1, "dl": 1, "dt": 1, "figcaption": 1, "figure": 1, "h1": 1, "h2": 1,
	"h3": 1, "h4": 1, "h5": 1, "h6": 1, "hr": 1, "li": 1, "ol": 1, "p": 2, "pre": 1, "table": 1, "tbody": 1, "tfoot": 1,
	"thead": 1, "tr": 1, "ul": 1,
}

// outerBlocks are the elements outside of the subset that HTML shows as a block.
var outerBlocks = setOf("address article aside body button center details dialog dir fieldset footer form frameset header " +
	"hgroup html legend listing main menu nav noframes optgroup option plaintext search section summary xmp")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// isInline reports whether an element stands inside of a line, so that it does not
// separate words. Elements that HTML does not know are inline.
func isInline(element string) bool {
	switch element {
	case "br", "td", "th":
		return false
	}
	return lineBreaks[element] == 0 && !outerBlocks[element]
}

var absoluteURL = regexp.MustCompile(`(?i)^https?://`)

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowAttrs("lang", "dir").Globally()
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.AllowRelativeURLs(true)
	for name, attrs := range subset {
		p.AllowElements(name)
		p.AllowNoAttrs().OnElements(name)
		for _, a := range attrs {
			if a == "src" {
				p.AllowAttrs(a).Matching(absoluteURL).OnElements(name)
			} else {
				p.AllowAttrs(a).OnElements(name)
			}
		}
	}
	return p
}

// appendTag appends a start tag of the subset with the attributes that are
// safe; of others a block leaves a line break.
func (c *Cleaner) appendTag(out []byte, t token) []byte {
	if !inSubset(t.name) {
		if outerBlocks[t.name] {
			out = append(out, '\n')
		}
		return out
	}
	out = append(append(out, '<'), t.name...)
	for _, a := range c.safeAttrs(t) {
		out = append(append(out, ' '), a.Key...)
		out = append(out, '=', '"')
		out = append(out, attrEscaper.Replace(a.Val)...)
		out = append(out, '"')
	}
	if voids[t.name] && t.kind == nethtml.SelfClosingTagToken {
		return append(out, " />"...)
	}
	return append(out, '>')
}

var attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// safeAttrs gives the attributes of a tag that the policy lets pass, each once.
// Their values are those that were sent: the policy would rewrite international
// URLs.
func (c *Cleaner) safeAttrs(t token) []nethtml.Attribute {
	var sent []nethtml.Attribute
	seen := make(map[string]bool)
	for _, a := range t.attrs {
		if a.Key != "lang" && a.Key != "dir" && !slices.Contains(subset[t.name], a.Key) {
			continue
		}
		if seen[a.Key] { // the first one counts, as in a browser
			continue
		}
		seen[a.Key] = true
		a.Val = calendar.Plain(a.Val)
		if urlAttrs[a.Key] {
			a.Val = calendar.Trim(a.Val)
		}
		sent = append(sent, a)
	}
	if len(sent) == 0 {
		return nil
	}
	tag := nethtml.Token{Type: nethtml.StartTagToken, Data: t.name, Attr: sent}
	z := nethtml.NewTokenizer(strings.NewReader(c.policy.Sanitize(tag.String())))
	passed := make(map[string]bool, len(sent))
	for kind := z.Next(); kind != nethtml.ErrorToken; kind = z.Next() {
		for _, a := range z.Token().Attr {
			passed[a.Key] = true
		}
	}
	var safe []nethtml.Attribute
	for _, a := range sent {
		if passed[a.Key] {
			safe = append(safe, a)
		}
	}
	return safe
}
