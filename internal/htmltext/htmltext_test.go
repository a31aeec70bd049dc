package htmltext_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/internal/htmltext"
)

func TestName(t *testing.T) {
	t.Parallel()
	cleaner := htmltext.New()
	tests := []struct{ name, in, want string }{
		{"plain", "River Hall", "River Hall"},
		{"trimmed", " \u00a0River Hall\u3000\n", "River Hall"},
		{"runs of white space", "River  Hall\u00a0 A\u3000B\vC\fD\u0085E", "River Hall A B C D E"},
		{"normal form C", "Cafe\u0301 Neu, \u1100\u1161, \u212b", "Café Neu, 가, Å"},
		{"composed behind a removed tag", "Cafe<b></b>&#x301;", "Café"},
		{"br", "Jazz<br>Night<BR/>Two</br>three", "Jazz Night Two three"},
		{"blocks", "<p>Jazz</p><p>Night</p><ul><li>one<li>two</ul><h2>three</h2>four<hr>five", "Jazz Night one two three four five"},
		{"tables and lists", "<table><caption>a</caption><tr><th>b</th><td>c</td></tr></table><dl><dt>d</dt><dd>e</dd></dl><figure>f<figcaption>g</figcaption></figure>", "a b c d e f g"},
		{"blocks outside of the subset", "<section>a</section><article>b</article>c<address>d</address>e<button>f</button><option>g<summary>h</summary>i", "a b c d e f g h i"},
		{"inline elements", "Ja<b>zz</b> <span>N</span>ig<font>h</font><img src=x>t", "Jazz Night"},
		{"directions", "a\u202eb&#x202E;c\u2066d&#8297;e\u200ef\u200fg\u061ch", "abcde\u200ef\u200fg\u061ch"},
		{"ampersand", "Concert & picnic", "Concert & picnic"},
		{"entity", "Concert &amp; picnic", "Concert & picnic"},
		{"decoded once", "&amp;lt;b&amp;gt;", "&lt;b&gt;"},
		{"entities need their semicolon", "&copy 2026 &amp &copy; &notit; &#65; &#x42; &#67", "&copy 2026 &amp © &notit; A B &#67"},
		{"entity for a semicolon", "a&semi;b&#59;c", "a;b;c"},
		{"unknown entity", "&nosuch; &; &#; &#x;", "&nosuch; &; &#; &#x;"},
		{"escaped tag becomes text", "&lt;b&gt;", "<b>"},
		{"tags", "<b>Big</b> <i class=x>show</i><br>", "Big show"},
		{"script goes with its content", "a<script>alert('<b>')</script>b<STYLE>p{}</style>c", "abc"},
		{"script without end", "a<script>alert(1)", "a"},
		{"script inside of a raw element", "<iframe><script>x</script>y</iframe><title><i>z</i></title>", "yz"},
		{"comment", "a<!-- <b> -->b<!doctype html>c<?php x ?>d", "abcd"},
		{"less than", "3 < 5 <3", "3 < 5 <3"},
		{"open tag at the end", "a<b", "a"},
		{"line breaks and tabs", "a\r\nb\tc \n\n d\u2028e", "a b c d e"},
		{"line break as entity", "a&#10;b&#13;&#9;c", "a b c"},
		{"control characters", "a\x00b\x1bc&#1;d&#127;e", "abcde"},
		{"quotes and dashes", `"It's" – a 'show' — yes…`, `"It's" – a 'show' — yes…`},
		{"nothing left", "<p></p>&nbsp;", ""},
		{"invalid utf-8", "a\xffb", "a\ufffdb"},
		{"emoji", "👩‍🎤 live", "👩‍🎤 live"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cleaner.Name(tt.in); got != tt.want {
				t.Errorf("Name(%q):\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	cleaner := htmltext.New()
	tests := []struct{ name, in, want string }{
		{"plain text stays", " One\nTwo\n\nThree & \"four\" – 'five' > 4 ", "One\nTwo\n\nThree & \"four\" – 'five' > 4"},
		{"entities stay", "&amp; &lt;b&gt; &nbsp;&copy &#233;", "&amp; &lt;b&gt; &nbsp;&copy &#233;"},
		{"line ends", "a\r\nb\rc", "a\nb\nc"},
		{"subset stays", "<p>One<br />\nTwo</p>\n<p>Three</p>", "<p>One<br />\nTwo</p>\n<p>Three</p>"},
		{"void forms", "<br><br/><hr /><p/>", "<br><br /><hr /><p>"},
		{"names in lower case", "<P><STRONG>a</STRONG></P>", "<p><strong>a</strong></p>"},
		{"attributes", `<a href='https://x.example/?a=1&b=2' title="t" rel=nofollow target=_blank onclick="x()" style="a" class=b id=c>l</a>`, `<a href="https://x.example/?a=1&amp;b=2" title="t" rel="nofollow">l</a>`},
		{"lang and dir on all", `<p lang="fr" dir=ltr data-x="1">a</p>`, `<p lang="fr" dir="ltr">a</p>`},
		{"attributes of others", `<p href="https://x.example" colspan="2">a</p><td colspan=2 rowspan="3" width=5>b</td>`, `<p>a</p><td colspan="2" rowspan="3">b</td>`},
		{"first of equal attributes", `<a href="/a" href="javascript:x">l</a>`, `<a href="/a">l</a>`},
		{"links", `<a href="/a/b?c#d">1</a><a href="mailto:a@b.example">2</a><a href="tel:+1">3</a><a href="//x.example/">4</a>`, `<a href="/a/b?c#d">1</a><a href="mailto:a@b.example">2</a><a href="tel:+1">3</a><a href="//x.example/">4</a>`},
		{"international link", `<a href="https://例え.example/événement">l</a>`, `<a href="https://例え.example/événement">l</a>`},
		{"bad schemes", `<a href="javascript:alert(1)">1</a><a href=" JaVa&#x0A;Script:x">2</a><a href="data:text/html,x">3</a><a href="vbscript&colon;x">4</a><a href="java&#0;script:x">5</a>`, `<a>1</a><a>2</a><a>3</a><a>4</a><a>5</a>`},
		{"images", `<img src="https://x.example/a.jpg" alt='"a"' width=1 height="2" onerror=x><img src="/a.jpg" alt="b"><img src="data:image/png;base64,AA"><img src="//x.example/a.jpg"/>`, `<img src="https://x.example/a.jpg" alt="&quot;a&quot;" width="1" height="2"><img alt="b"><img><img />`},
		{"quotation", `<blockquote cite="https://x.example/">a</blockquote><blockquote cite="javascript:x">b</blockquote>`, `<blockquote cite="https://x.example/">a</blockquote><blockquote>b</blockquote>`},
		{"script and style", "a<script src=x>alert('</p>')</script>b<style>p{}</style>c<SCRIPT/>d</script>e", "abce"},
		{"other tags only", "<section><custom-x>a</custom-x><iframe><b>c</b></iframe><textarea><script>x</script>d</textarea></section>", "a<b>c</b>d"},
		{"foreign elements", `<svg><style><img src=x onerror=y></style><p>a</p></svg><math><mtext>b`, "<p>a</p>b"},
		{"comments", "a<!-- x --><!doctype html><![CDATA[y]]>b", "ab"},
		{"no tag", "3 < 5 <3 <", "3 &lt; 5 &lt;3 &lt;"},
		{"no new tag from the rest", "<<b>script>alert(1)<</b>/script>", "&lt;<b>script>alert(1)&lt;</b>/script>"},
		{"no new entity for a control character", "&#&#1;1;&#x07;a&#00;&#10;", "a&#00;&#10;"},
		{"control characters", "<scr\x00ipt>x</script>a\x07b", "ab"},
		{"end tags of voids", "a</br>b</img>c", "a<br>bc"},
		{"removed blocks leave line breaks", "<section>A</section><section>B</section>", "A\n\nB"},
		{"removed blocks of all kinds", "<details><summary>a</summary>b</details><address>c</address>d<form><fieldset><legend>e</legend>f<select><option>g<option>h</select></form>", "a\nb\n\nc\nd\n\n\ne\nf\ng\nh"},
		{"inline elements go without a trace", "Ja<mark>zz</mark> Ni<font color=red>g</font>h<custom-x>t</custom-x>", "Jazz Night"},
		{"directions", "a\u202eb&#x202E;c\u2066d&#8297;e\u200ef\u200fg\u061ch", "abcde\u200ef\u200fg\u061ch"},
		{"directions in attributes", "<a title='a\u202eb&#x2067;c'>d</a>", `<a title="abc">d</a>`},
		{"open tag at the end", "a<p title=", "a"},
		{"nothing left", "<script>x</script> \u00a0", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := cleaner.HTML(tt.in)
			if got != tt.want {
				t.Errorf("HTML(%q):\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again := cleaner.HTML(got); again != got {
				t.Errorf("HTML changes its own answer:\n got %q\nfrom %q", again, got)
			}
		})
	}
}

// subsetTable is the list of interface 2.5.
const subsetTable = "a[href,title,rel] abbr[title] b blockquote[cite] br caption cite code dd del div dl dt em figcaption figure " +
	"h1 h2 h3 h4 h5 h6 hr i img[src,alt,title,width,height] ins kbd li ol p pre q s small span strong sub sup table tbody " +
	"td[colspan,rowspan] tfoot th[colspan,rowspan] thead tr u ul"

// elementsOnly lets the elements of the subset pass, without attributes.
var elementsOnly = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	for row := range strings.FieldsSeq(subsetTable) {
		name, _, _ := strings.Cut(row, "[")
		p.AllowElements(name)
		p.AllowNoAttrs().OnElements(name)
	}
	return p
}()

// Every element and attribute of interface 2.5 stays, and nothing else is in
// the subset.
func TestSubsetIsTheOneOfTheInterface(t *testing.T) {
	t.Parallel()
	cleaner := htmltext.New()
	allowed := make(map[string][]string)
	for row := range strings.FieldsSeq(subsetTable) {
		name, attrs, _ := strings.Cut(strings.TrimSuffix(row, "]"), "[")
		allowed[name] = append(strings.FieldsFunc(attrs, func(r rune) bool { return r == ',' }), "lang", "dir")
	}
	all := []string{
		"a", "abbr", "address", "article", "aside", "audio", "b", "base", "blockquote", "body", "br", "button", "canvas", "caption",
		"cite", "code", "col", "dd", "del", "details", "div", "dl", "dt", "em", "embed", "figcaption", "figure", "font", "footer", "form",
		"frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins",
		"kbd", "label", "li", "link", "main", "mark", "marquee", "math", "meta", "nav", "noscript", "object", "ol", "option", "p", "param",
		"picture", "plaintext", "pre", "q", "s", "samp", "section", "select", "small", "source", "span", "strike", "strong", "sub", "sup",
		"svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "title", "tr", "tt", "u", "ul", "var", "video", "wbr", "xmp",
	}
	attrs := []string{
		"href", "title", "rel", "cite", "src", "alt", "width", "height", "colspan", "rowspan", "lang", "dir", "class", "id", "style", "name",
		"target", "onclick", "onload", "onerror", "srcset", "formaction", "action", "xlink:href", "background", "data-x", "datetime",
	}
	for _, e := range all {
		_, ok := allowed[e]
		if got := cleaner.HTML("<" + e + ">x"); strings.HasPrefix(got, "<"+e+">") != ok {
			t.Errorf("element %s: got %q, in the subset: %v", e, got, ok)
		}
		for _, a := range attrs {
			if got := cleaner.HTML("<" + e + " " + a + `="https://x.example/">x`); strings.Contains(got, a+"=") != slices.Contains(allowed[e], a) {
				t.Errorf("attribute %s of %s: got %q", a, e, got)
			}
		}
	}
}

var nameEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// checkName: an answered name, written back, changes nothing.
func checkName(t interface{ Fatalf(string, ...any) }, cleaner *htmltext.Cleaner, text string) {
	name := cleaner.Name(text)
	if back := cleaner.Name(nameEscaper.Replace(name)); back != name {
		t.Fatalf("Name(%q) = %q is written back as %q", text, name, back)
	}
	if name != calendar.Trim(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsFunc(name, calendar.IsDirection) || !norm.NFC.IsNormalString(name) {
		t.Fatalf("Name(%q) = %q is not clean", text, name)
	}
}

// checkHTML: cleaned HTML stays as it is, and a browser finds nothing in it that
// is not in the subset.
func checkHTML(t interface{ Fatalf(string, ...any) }, cleaner *htmltext.Cleaner, text string) {
	clean := cleaner.HTML(text)
	if again := cleaner.HTML(clean); again != clean {
		t.Fatalf("HTML(%q) = %q changes again to %q", text, clean, again)
	}
	if strings.ContainsFunc(clean, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		t.Fatalf("HTML(%q) = %q holds control characters", text, clean)
	}
	// Another cleaner with a policy of its own finds nothing to remove.
	if a, b := tagNames(clean), tagNames(elementsOnly.Sanitize(clean)); !slices.Equal(a, b) {
		t.Fatalf("HTML(%q) = %q: tags %v, by a policy of elements only %v", text, clean, a, b)
	}
	doc, err := html.Parse(strings.NewReader("<body>" + clean))
	if err != nil {
		t.Fatalf("parse %q: %v", clean, err)
	}
	for node := range doc.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		switch node.Data {
		case "script", "style", "iframe", "object", "embed", "svg", "math", "form", "input", "link", "meta", "base", "title", "textarea":
			t.Fatalf("HTML(%q) = %q holds <%s>", text, clean, node.Data)
		}
		if node.Namespace != "" {
			t.Fatalf("HTML(%q) = %q holds a foreign element", text, clean)
		}
		for _, attribute := range node.Attr {
			switch attribute.Key {
			case "href", "cite", "src":
				address, err := url.Parse(attribute.Val)
				if err != nil || !slices.Contains([]string{"", "http", "https", "mailto", "tel"}, address.Scheme) {
					t.Fatalf("HTML(%q) = %q holds the URL %q", text, clean, attribute.Val)
				}
			case "title", "rel", "alt", "width", "height", "colspan", "rowspan", "lang", "dir":
			default:
				t.Fatalf("HTML(%q) = %q holds the attribute %s", text, clean, attribute.Key)
			}
		}
	}
}

func tagNames(text string) []string {
	var names []string
	tokenizer := html.NewTokenizer(strings.NewReader(text))
	for kind := tokenizer.Next(); kind != html.ErrorToken; kind = tokenizer.Next() {
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
			name, _ := tokenizer.TagName()
			names = append(names, string(name))
		}
	}
	return names
}

var seeds = []string{
	"Quay concert &amp; picnic", "One\nTwo\n\nThree", "<p>One<br />\nTwo</p>", "<scr<script>x</script>ipt>alert(1)</script>",
	`<img src=x onerror="alert(1)">`, `<a href="jav&#x09;ascript:x">y</a>`, "<svg><style><p title='</style><script>x'>", "<<b>script>",
	"&#&#1;1;", "&am<b>p;lt;", "<textarea><p title='</textarea><img src=x onerror=y>'>", "<math><mi><mglyph><style><!--</style><img title='--><script>'>",
	"<!--><script>x</script>-->", "</p/onclick=x>", "<a href=`x`onclick=y>", "\x00<\x00script>", "&lt;script&gt;", "<p\u00a0x>", "<%x>", "a\u2028\tb",
	"<p>A<br>B</p><table><tr><td>1<td>2</table>", "<section>A</section><section>B</section>", "Cafe\u0301", "<\u0338", "a\u202eb", "&#x202e;&#&#x2066;1;",
}

func FuzzName(f *testing.F) {
	for _, text := range seeds {
		f.Add(text)
	}
	cleaner := htmltext.New()
	f.Fuzz(func(t *testing.T, text string) { checkName(t, cleaner, text) })
}

func FuzzHTML(f *testing.F) {
	for _, text := range seeds {
		f.Add(text)
	}
	cleaner := htmltext.New()
	f.Fuzz(func(t *testing.T, text string) { checkHTML(t, cleaner, text) })
}

// The same over texts that are put together from the parts that matter.
func TestCleaningProperties(t *testing.T) {
	t.Parallel()
	cleaner := htmltext.New()
	part := rapid.SampledFrom([]string{
		"<", ">", "/", "&", ";", "#", "x", "1", "\"", "'", "=", " ", "\n", "\t", "\r", "\x00", "\u00a0", "a", "p", "b", "script", "style",
		"<p>", "</p>", "<script>", "</script>", "<b", "<img ", "src=", "onerror=", "href=", "javascript:", "https://x.example/", "<!--", "-->",
		"&lt;", "&amp;", "&#1;", "&#x7f;", "lt;", "amp;", "<svg>", "<title>", "<textarea>", "<br/>", "音", "\u0301", "\u202e", "<section>", "<td>", "</tr>", "&#x202e;", "<a title='", "<![CDATA[", "]]>",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
		checkName(t, cleaner, text)
		checkHTML(t, cleaner, text)
	})
}
