package htmltext

import (
	"html"
	"net/url"
	"strings"
	"unicode"

	nethtml "golang.org/x/net/html"
)

// PlainText returns the text of HTML that a Cleaner has cleaned: entities decoded, a tab
// between the cells of a row, and the line breaks of its elements. It is the only reader
// of stored HTML: for answers, pages, search and highlights (LISTINGS, “plain text”).
func PlainText(text string) string { return PlainTextWithLinks(text, "") }

// PlainTextWithLinks is PlainText with the target of each link in parentheses behind its
// text, unless the text shows it. Links to a part of page have none. text is an answer of
// AbsoluteLinks.
func PlainTextWithLinks(text, page string) string {
	w := &plainWriter{page: page}
	read(text, func(t nethtml.Token) {
		if t.Type == nethtml.TextToken {
			w.text(html.UnescapeString(t.Data))
		} else {
			w.tag(t)
		}
	})
	w.endLink()
	return strings.TrimRight(w.b.String(), "\t\n ")
}

// AbsoluteLinks returns cleaned HTML with href, src and cite resolved against base.
func AbsoluteLinks(text, base string) string {
	from, err := url.Parse(base)
	if err != nil || !strings.Contains(text, `="`) {
		return text
	}
	out := make([]byte, 0, len(text)+len(base))
	read(text, func(t nethtml.Token) {
		for i := range t.Attr {
			attribute := &t.Attr[i]
			if target, err := url.Parse(attribute.Val); urlAttrs[attribute.Key] && err == nil && !target.IsAbs() {
				attribute.Val = from.ResolveReference(target).String()
			}
		}
		out = appendToken(out, t)
	})
	return string(out)
}

// plainWriter joins texts and what stands between them.
type plainWriter struct {
	b      strings.Builder
	breaks int  // line breaks before the next text
	blank  bool // white space before the next text

	cells  bool // a cell of the present row has begun
	filled bool // the row holds text or a tab
	atCell bool // nothing follows the beginning of a cell

	page     string // whose links have targets; "": no links have
	target   string // of the link that is open
	linkFrom int    // where its text begins in b
}

func (w *plainWriter) tag(t nethtml.Token) {
	begins := t.Type != nethtml.EndTagToken
	switch t.Data {
	case "a":
		w.endLink()
		if w.page != "" && begins {
			w.beginLink(t)
		}
	case "br":
		w.breaks++
	case "td", "th":
		if begins {
			w.cell()
		}
	case "tr":
		w.cells, w.filled, w.atCell = false, false, false
		w.breaks = max(w.breaks, 1)
	case "p":
		w.breakLine(2)
	default:
		if blocks[t.Data] {
			w.breakLine(1)
		}
	}
}

// breakLine breaks the line before the next text, unless that begins a cell.
func (w *plainWriter) breakLine(breaks int) {
	if !w.atCell {
		w.breaks = max(w.breaks, breaks)
	}
}

// cell begins a cell.
func (w *plainWriter) cell() {
	switch {
	case !w.cells:
		w.breaks = max(w.breaks, 1)
	case w.b.Len() > 0:
		if !w.filled {
			w.separate()
		}
		w.b.WriteByte('\t')
		w.breaks, w.blank, w.filled = 0, false, true
	}
	w.cells, w.atCell = true, true
}

// text writes text; a run of white space is a blank.
func (w *plainWriter) text(text string) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			w.blank = !w.atCell
			continue
		}
		w.separate()
		w.b.WriteRune(r)
	}
}

// separate writes what stands between the text so far and the next one.
func (w *plainWriter) separate() {
	switch {
	case w.b.Len() == 0:
	case w.breaks > 0:
		w.b.WriteString("\n\n"[:min(w.breaks, 2)])
	case w.blank:
		w.b.WriteByte(' ')
	}
	w.breaks, w.blank, w.atCell, w.filled = 0, false, false, true
}

func (w *plainWriter) beginLink(t nethtml.Token) {
	for _, attribute := range t.Attr {
		if attribute.Key == "href" && absoluteURL.MatchString(attribute.Val) && !strings.HasPrefix(attribute.Val, w.page+"#") {
			w.target, w.linkFrom = attribute.Val, w.b.Len()
		}
	}
}

// endLink writes the target of the link that is open.
func (w *plainWriter) endLink() {
	target := w.target
	if target == "" {
		return
	}
	w.target = ""
	_, short, _ := strings.Cut(target, "://")
	switch text := w.b.String()[w.linkFrom:]; {
	case text == "" || strings.HasSuffix(text, "\t"):
		w.text("(" + target + ")")
	case !strings.Contains(text, strings.TrimSuffix(short, "/")):
		w.b.WriteString(" (" + target + ")")
	}
}
