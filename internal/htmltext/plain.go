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
	writer := &plainWriter{page: page}
	read(text, func(token nethtml.Token) {
		if token.Type == nethtml.TextToken {
			writer.text(html.UnescapeString(token.Data))
		} else {
			writer.tag(token)
		}
	})
	writer.endLink()
	return strings.TrimRight(writer.builder.String(), "\t\n ")
}

// AbsoluteLinks returns cleaned HTML with href, src and cite resolved against base.
func AbsoluteLinks(text, base string) string {
	from, err := url.Parse(base)
	if err != nil || !strings.Contains(text, `="`) {
		return text
	}
	data := make([]byte, 0, len(text)+len(base))
	read(text, func(token nethtml.Token) {
		for i := range token.Attr {
			attribute := &token.Attr[i]
			if target, err := url.Parse(attribute.Val); urlAttrs[attribute.Key] && err == nil && !target.IsAbs() {
				attribute.Val = from.ResolveReference(target).String()
			}
		}
		data = appendToken(data, token)
	})
	return string(data)
}

// plainWriter joins texts and what stands between them.
type plainWriter struct {
	builder strings.Builder
	breaks  int  // line breaks before the next text
	blank   bool // white space before the next text

	cells  bool // a cell of the present row has begun
	filled bool // the row holds text or a tab
	atCell bool // nothing follows the beginning of a cell

	page     string // whose links have targets; "": no links have
	target   string // of the link that is open
	linkFrom int    // where its text begins in b
}

func (plainWriter *plainWriter) tag(token nethtml.Token) {
	begins := token.Type != nethtml.EndTagToken
	switch token.Data {
	case "a":
		plainWriter.endLink()
		if plainWriter.page != "" && begins {
			plainWriter.beginLink(token)
		}
	case "br":
		plainWriter.breaks++
	case "td", "th":
		if begins {
			plainWriter.cell()
		}
	case "tr":
		plainWriter.cells, plainWriter.filled, plainWriter.atCell = false, false, false
		plainWriter.breaks = max(plainWriter.breaks, 1)
	case "p":
		plainWriter.breakLine(2)
	default:
		if blocks[token.Data] {
			plainWriter.breakLine(1)
		}
	}
}

// breakLine breaks the line before the next text, unless that begins a cell.
func (plainWriter *plainWriter) breakLine(breaks int) {
	if !plainWriter.atCell {
		plainWriter.breaks = max(plainWriter.breaks, breaks)
	}
}

// cell begins a cell.
func (plainWriter *plainWriter) cell() {
	switch {
	case !plainWriter.cells:
		plainWriter.breaks = max(plainWriter.breaks, 1)
	case plainWriter.builder.Len() > 0:
		if !plainWriter.filled {
			plainWriter.separate()
		}
		plainWriter.builder.WriteByte('\t')
		plainWriter.breaks, plainWriter.blank, plainWriter.filled = 0, false, true
	}
	plainWriter.cells, plainWriter.atCell = true, true
}

// text writes text; a run of white space is a blank.
func (plainWriter *plainWriter) text(text string) {
	for _, letter := range text {
		if unicode.IsSpace(letter) {
			plainWriter.blank = !plainWriter.atCell
			continue
		}
		plainWriter.separate()
		plainWriter.builder.WriteRune(letter)
	}
}

// separate writes what stands between the text so far and the next one.
func (plainWriter *plainWriter) separate() {
	switch {
	case plainWriter.builder.Len() == 0:
	case plainWriter.breaks > 0:
		plainWriter.builder.WriteString("\n\n"[:min(plainWriter.breaks, 2)])
	case plainWriter.blank:
		plainWriter.builder.WriteByte(' ')
	}
	plainWriter.breaks, plainWriter.blank, plainWriter.atCell, plainWriter.filled = 0, false, false, true
}

func (plainWriter *plainWriter) beginLink(token nethtml.Token) {
	for _, attribute := range token.Attr {
		if attribute.Key == "href" && absoluteURL.MatchString(attribute.Val) && !strings.HasPrefix(attribute.Val, plainWriter.page+"#") {
			plainWriter.target, plainWriter.linkFrom = attribute.Val, plainWriter.builder.Len()
		}
	}
}

// endLink writes the target of the link that is open.
func (plainWriter *plainWriter) endLink() {
	target := plainWriter.target
	if target == "" {
		return
	}
	plainWriter.target = ""
	_, short, _ := strings.Cut(target, "://")
	switch text := plainWriter.builder.String()[plainWriter.linkFrom:]; {
	case text == "" || strings.HasSuffix(text, "\t"):
		plainWriter.text("(" + target + ")")
	case !strings.Contains(text, strings.TrimSuffix(short, "/")):
		plainWriter.builder.WriteString(" (" + target + ")")
	}
}
