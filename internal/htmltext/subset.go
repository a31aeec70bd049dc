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

// attributes are those that elements of the subset may have besides lang and dir, and src of img.
var attributes = map[string]string{
	"a": "href title rel", "abbr": "title", "blockquote": "cite", "img": "alt title width height", "td": "colspan rowspan", "th": "colspan rowspan",
}

// voids are the elements of the subset that have no end tag.
var voids = setOf("br hr img")

// urlAttrs are the attributes that hold a URL.
var urlAttrs = setOf("href src cite")

// blocks are the elements of the subset whose begin and end give a line break in plain text,
// those of p two. Cells have none: a tab stands between them.
var blocks = setOf("blockquote caption dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre table tbody tfoot thead tr ul")

// separating are the other elements that separate words: those outside of the subset that HTML
// shows as a block, and line breaks and cells. All others stand inside of a line, also those
// that HTML does not know.
var separating = setOf("address article aside body button center details dialog dir fieldset footer form frameset header " +
	"hgroup html legend listing main menu nav noframes optgroup option plaintext search section summary xmp br td th")

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

var absoluteURL = regexp.MustCompile(`(?i)^https?://`)

func newPolicy() *bluemonday.Policy {
	policy := bluemonday.NewPolicy()
	policy.AllowAttrs("lang", "dir").Globally()
	policy.AllowURLSchemes("http", "https", "mailto", "tel")
	policy.AllowRelativeURLs(true)
	policy.AllowNoAttrs().OnElements(slices.Collect(maps.Keys(subset))...)
	for element, names := range attributes {
		policy.AllowAttrs(strings.Fields(names)...).OnElements(element)
	}
	policy.AllowAttrs("src").Matching(absoluteURL).OnElements("img")
	return policy
}

// appendToken appends a token as it stands in cleaned HTML.
func appendToken(data []byte, token nethtml.Token) []byte {
	switch token.Type {
	case nethtml.TextToken:
		return append(data, token.Data...)
	case nethtml.EndTagToken:
		return append(data, "</"+token.Data+">"...)
	default:
		data = append(data, "<"+token.Data...)
		for _, attribute := range token.Attr {
			data = append(data, " "+attribute.Key+`="`+Escape(attribute.Val)+`"`...)
		}
		if voids[token.Data] && token.Type == nethtml.SelfClosingTagToken {
			return append(data, " />"...)
		}
		return append(data, '>')
	}
}

// Escape returns a text as HTML, in the form of texts and of values of attributes.
var Escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace

// safeAttrs returns the attributes of a tag that the policy lets pass. Their values are those that were sent: the
// policy would rewrite international URLs.
func (cleaner *Cleaner) safeAttrs(token nethtml.Token) (safe []nethtml.Attribute) {
	for _, attribute := range token.Attr {
		attribute.Val = calendar.Plain(attribute.Val)
		if urlAttrs[attribute.Key] {
			attribute.Val = calendar.Trim(attribute.Val)
		}
		tag := nethtml.Token{Type: nethtml.StartTagToken, Data: token.Data, Attr: []nethtml.Attribute{attribute}}
		if strings.Contains(cleaner.policy.Sanitize(tag.String()), " "+attribute.Key+`="`) {
			safe = append(safe, attribute)
		}
	}
	return safe
}
