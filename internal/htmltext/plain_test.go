package htmltext_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"daybook/internal/htmltext"
)

// plainTexts are cleaned texts as they are shown, and what is left of them without HTML.
var plainTexts = map[string]string{
	"":                                     "",
	"plain":                                "plain",
	" a\n\nb\t c ":                         "a b c",
	"<p>One<br />\nTwo</p>\n<p>Three</p>":  "One\nTwo\n\nThree",
	"<p>a &amp; b &lt;c&gt; &nbsp; d</p>":  "a & b <c> d",
	"a &amp;amp; &#233; 1 &lt; 2":          "a &amp; é 1 < 2",
	"<ul>\n<li>a</li>\n<li>b</li></ul>\nc": "a\nb\nc",
	"<h2>T</h2>x<hr />y":                   "T\nx\ny",
	"<em>a</em><strong>b</strong> c":       "ab c",
	`a<img src="https://x.example/a.jpg" alt="picture">b`: "ab",
	"<p></p><p></p><p>x</p>":                              "x",
	`<a href="/x?a>y">z</a> 1 < 2`:                        "z 1 < 2",

	// Breaks that meet count once, the greater; each br for itself.
	"a<br><br>b":                                        "a\n\nb",
	"a<br/><br/><br/><br/>b":                            "a\n\nb",
	"a<p>b</p>c":                                        "a\n\nb\n\nc",
	"<div>a<br></div><div>b</div>":                      "a\nb",
	"<div>a</div><div><br></div><div>b</div>":           "a\n\nb",
	"<div><ul><li>a</li></ul></div><p>b</p>":            "a\n\nb",
	"<blockquote><p>a</p></blockquote>b":                "a\n\nb",
	"Intro:<ul><li>One</li><li>Two</li></ul>":           "Intro:\nOne\nTwo",
	"a<ol><li>b<li>c</ol>d":                             "a\nb\nc\nd",
	"<dl><dt>Doors</dt><dd>Seven</dd></dl>":             "Doors\nSeven",
	"a<pre>b\n  c</pre>d":                               "a\nb c\nd",
	"<figure><img><figcaption>a</figcaption></figure>b": "a\nb",
	"a <br> b <p> c </p> d":                             "a\nb\n\nc\n\nd",

	// Tables.
	"<table><tr><td>10:00</td><td>Opening</td></tr></table>":                                                          "10:00\tOpening",
	"a<table><caption>b</caption><thead><tr><th>c</th><th>d</th></tr></thead><tbody><tr><td>e<td>f<tr><td>g</table>h": "a\nb\nc\td\ne\tf\ng\nh",
	"<table>\n<tr>\n<td> a </td>\n<td> b </td>\n</tr>\n<tr>\n<td>c</td>\n<td>d</td>\n</tr>\n</table>":                 "a\tb\nc\td",
	"<tr><td><p>a</p></td><td><p>b</p><p>c</p></td></tr><tr><td>d</td></tr>":                                          "a\tb\n\nc\n\nd",
	"<tr><td>a</td><td></td><td>b</td></tr><tr><td></td><td>c</td></tr>":                                              "a\t\tb\n\tc",
	"<tr><td></td><td>a</td></tr>":    "a",
	"x<td>a</td><td>b</td></tr><tr>c": "x\na\tb\nc",
	"<table><tr><td>a<table><tr><td>b</td><td>c</td></tr></table></td><td>d</td></tr></table>":                           "a\nb\tc\nd",
	"<table><tr><td>Line<br>two</td><td>b</td></tr></table><p>c</p>":                                                     "Line\ntwo\tb\n\nc",
	`<a href="https://x.example/">a</a>`:                                                                                 "a",
	"<table><tr><th>When</th></tr><tr><td>10:00 – <b>10:30</b></td></tr></table><table><tr><td>Second</td></tr></table>": "When\n10:00 – 10:30\nSecond",
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	for in, want := range plainTexts {
		if got := htmltext.PlainText(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestPlainTextWithLinks(t *testing.T) {
	t.Parallel()
	const page = "https://c.example/event/jazz/"
	for in, want := range map[string]string{
		`Buy <a href="https://t.example/1?a=1&amp;b=2">tickets</a>, soon`:                                "Buy tickets (https://t.example/1?a=1&b=2), soon",
		`<p>See <a href="/venue/hall/" title="x">the <b>hall</b></a></p><p>b</p>`:                        "See the hall (https://c.example/venue/hall/)\n\nb",
		`<a href="../b">b</a> <a href="//x.example/c">c</a> <a href="?d=1">d</a>`:                        "b (https://c.example/event/b) c (https://x.example/c) d (https://c.example/event/jazz/?d=1)",
		`<a href="https://t.example/">https://t.example/</a> <a href="https://t.example/">t.example</a>`: "https://t.example/ t.example",
		`<a href="http://t.example/a/">at t.example/a today</a>`:                                         "at t.example/a today",
		`<a href="https://t.example/a">t.example</a>`:                                                    "t.example (https://t.example/a)",
		`<a href="mailto:a@b.example">a</a> <a href="tel:+1">b</a> <a href="#c">c</a>`:                   "a b c",
		`<a>a</a> <a title="b">b</a>`:                                                                    "a b",
		`<a href="https://t.example/a">one <a href="https://t.example/b">two</a>`:                        "one (https://t.example/a) two (https://t.example/b)",
		`<ul><li><a href="https://t.example/a">a</a></li><li>b</li></ul>`:                                "a (https://t.example/a)\nb",
		`x<p><a href="https://t.example/a"><img src="https://t.example/b.jpg"></a></p>y`:                 "x\n\n(https://t.example/a)\n\ny",
		`<tr><td><a href="https://t.example/a">a</a></td><td>b</td></tr>`:                                "a (https://t.example/a)\tb",
		`<a href="https://例え.example/événement">l</a>`:                                                   "l (https://例え.example/événement)",
	} {
		if got := htmltext.PlainTextWithLinks(htmltext.AbsoluteLinks(in, page), page); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestAbsoluteLinks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                    "",
		`<p>1 < 2 href="/a"</p>`:              `<p>1 < 2 href="/a"</p>`,
		`<a title="x" href="/a?b=1&amp;c=2">`: `<a title="x" href="https://c.example:8/a?b=1&amp;c=2">`,
		`<a href="#a">b</a><blockquote cite="c">d</blockquote>`:                     `<a href="https://c.example:8/event/e/#a">b</a><blockquote cite="https://c.example:8/event/e/c">d</blockquote>`,
		`<a href="mailto:a@b.example">a</a><a href="https://x.example/">b</a>`:      `<a href="mailto:a@b.example">a</a><a href="https://x.example/">b</a>`,
		`<img src="https://x.example/a.jpg" alt="/a"><a href="//x.example/b">b</a>`: `<img src="https://x.example/a.jpg" alt="/a"><a href="https://x.example/b">b</a>`,
		`<a href="https://x.example/a" title="/a">a</a><br />`:                      `<a href="https://x.example/a" title="/a">a</a><br />`,
	} {
		if got := htmltext.AbsoluteLinks(in, "https://c.example:8/event/e/"); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}

// No element of a page but the inline ones lets two words become one, whether it is
// kept or removed, in descriptions, in plain text and in names.
func TestElementsSeparateWords(t *testing.T) {
	t.Parallel()
	cleaner := htmltext.New()
	inline := strings.Fields("a abbr audio b bdi bdo big canvas cite code data del dfn em embed font i iframe img input ins kbd label map mark " +
		"meter noscript object output picture progress q rp rt ruby s samp select small source span strike strong sub sup svg template textarea " +
		"time title tt u var video wbr custom-x")
	blocks := strings.FieldsSeq("address article aside blockquote body br button caption center dd details dialog div dl dt fieldset figcaption " +
		"figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol optgroup option p pre section summary table tbody td tfoot th thead tr ul")
	for text := range blocks {
		html := "Jazz<" + text + ">Night</" + text + ">Two"
		if got := strings.Fields(htmltext.PlainText(cleaner.HTML(html))); strings.Join(got, " ") != "Jazz Night Two" && !slices.Contains([]string{"td", "th", "hr"}, text) { // their end tags are none, or separate no words
			t.Errorf("%s: the text is %q", html, got)
		}
		if got := strings.Fields(htmltext.PlainText(cleaner.HTML("<" + text + ">Jazz</" + text + "><" + text + ">Night</" + text + ">"))); len(got) != 2 {
			t.Errorf("two of %s: the text is %q", text, got)
		}
		if got := cleaner.Name(html); got != "Jazz Night Two" {
			t.Errorf("%s: the name is %q", html, got)
		}
	}
	for _, text := range inline {
		html := "Jazz<" + text + ">Night</" + text + ">Two"
		if got := cleaner.Name(html); got != "JazzNightTwo" {
			t.Errorf("%s: the name is %q", html, got)
		}
		if got := htmltext.PlainText(cleaner.HTML(html)); got != "JazzNightTwo" {
			t.Errorf("%s: the text is %q", html, got)
		}
	}
}

// Plain text of whatever is sent: trimmed, without two blanks, three line breaks, or
// blanks next to line breaks and tabs.
func TestPlainTextProperties(t *testing.T) {
	t.Parallel()
	cleaner := htmltext.New()
	part := rapid.SampledFrom([]string{
		"a", "b", " ", "\n", "&nbsp;", "<p>", "</p>", "<br>", "<hr>", "<li>", "</li>", "<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<th>", "<b>",
		"<a href='/x'>", "<a href='https://x.example/'>", "</a>", "<div>", "</div>", "<", ">", "&lt;", "<section>",
	})
	rapid.Check(t, func(t *rapid.T) {
		const page = "https://c.example/e/"
		html := htmltext.AbsoluteLinks(cleaner.HTML(strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")), page)
		for _, got := range []string{htmltext.PlainText(html), htmltext.PlainTextWithLinks(html, page)} {
			for _, bad := range []string{"  ", "\n\n\n", " \n", "\n ", " \t", "\t ", "\u00a0"} {
				if strings.Contains(got, bad) {
					t.Fatalf("the text of %q is %q, with %q", html, got, bad)
				}
			}
			if got != strings.TrimSpace(got) {
				t.Fatalf("the text of %q is %q", html, got)
			}
		}
	})
}
