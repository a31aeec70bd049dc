package htmltext

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	nethtml "golang.org/x/net/html"

	"daybook/calendar"
)

// subset are the elements of the safe subset of interface 2.5.
var subset = setOf("a abbr b blockquote br caption cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd " +
	"li ol p pre q s small span strong sub sup table tbody td tfoot th thead tr u ul")

// attributes are those that elements of the subset may have besides lang and dir.
var attributes = map[string]string{
	"a": "href title rel", "abbr": "title", "blockquote": "cite", "img": "src alt title width height", "td": "colspan rowspan", "th": "colspan rowspan",
}

// voids are the elements of the subset that have no end tag.
var voids = setOf("br hr img")

// urlAttrs are the attributes that hold a URL.
var urlAttrs = setOf("href src cite")

// blocks are the elements of the subset whose begin and end give a line break in plain text,
// those of p two. Cells have none: a tab stands between them.
var blocks = setOf("blockquote caption dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody tfoot thead tr ul")

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
	return !blocks[element] && !outerBlocks[element] && element != "br" && element != "td" && element != "th"
}

var absoluteURL = regexp.MustCompile(`(?i)^https?://`)

func newPolicy() *bluemonday.Policy {
	policy := bluemonday.NewPolicy()
	policy.AllowAttrs("lang", "dir").Globally()
	policy.AllowURLSchemes("http", "https", "mailto", "tel")
	policy.AllowRelativeURLs(true)
	policy.AllowNoAttrs().OnElements(slices.Collect(maps.Keys(subset))...)
	for element, names := range attributes {
		policy.AllowAttrs(strings.Fields(strings.Replace(names, "src ", "", 1))...).OnElements(element)
	}
	policy.AllowAttrs("src").Matching(absoluteURL).OnElements("img")
	return policy
}

// append appends a token as it stands in cleaned HTML.
func (t *token) append(data []byte) []byte {
	if t.kind == nethtml.TextToken {
		return append(data, t.raw...)
	}
	if t.kind == nethtml.EndTagToken {
		return append(append(append(data, "</"...), t.name...), '>')
	}
	data = append(append(data, '<'), t.name...)
	for _, attribute := range t.attrs {
		data = append(append(append(data, ' '), attribute.Key...), `="`...)
		data = append(append(data, attrEscaper.Replace(attribute.Val)...), '"')
	}
	if voids[t.name] && t.kind == nethtml.SelfClosingTagToken {
		return append(data, " />"...)
	}
	return append(data, '>')
}

var attrEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// safeAttrs returns the attributes of a tag that the policy lets pass; of several with one
// name the first one counts, as in a browser. Their values are those that were sent: the
// policy would rewrite international URLs.
func (c *Cleaner) safeAttrs(t token) (safe []nethtml.Attribute) {
	for i, attribute := range t.attrs {
		if slices.ContainsFunc(t.attrs[:i], func(before nethtml.Attribute) bool { return before.Key == attribute.Key }) {
			continue
		}
		attribute.Val = calendar.Plain(attribute.Val)
		if urlAttrs[attribute.Key] {
			attribute.Val = calendar.Trim(attribute.Val)
		}
		tag := nethtml.Token{Type: nethtml.StartTagToken, Data: t.name, Attr: []nethtml.Attribute{attribute}}
		if strings.Contains(c.policy.Sanitize(tag.String()), " "+attribute.Key+`="`) {
			safe = append(safe, attribute)
		}
	}
	return safe
}
