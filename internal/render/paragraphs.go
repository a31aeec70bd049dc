package render

import (
	"strings"

	"daybook/internal/htmltext"
)

// blockElements are the elements that make a text a finished document (2.5).
var blockElements = map[string]bool{
	"p": true, "div": true, "ul": true, "ol": true, "dl": true, "table": true, "blockquote": true, "pre": true,
	"h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "hr": true, "figure": true,
}

// paragraphs returns the shown form of a description or excerpt of a post: text without any block
// element gets paragraphs and line breaks, other text stays as stored.
func paragraphs(s string) string {
	if s == "" || hasBlock(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	var b strings.Builder
	b.Grow(len(s) + 16)
	open := false
	for s != "" {
		n := lineEnd(s)
		line := strings.TrimSpace(s[:n])
		s = strings.TrimPrefix(s[n:], "\n")
		switch {
		case line == "":
			if open {
				b.WriteString("</p>")
			}
			open = false
			continue
		case !open:
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("<p>")
			open = true
		case endsInBreak(b.String()):
			b.WriteByte('\n')
		default:
			b.WriteString("<br />\n")
		}
		b.WriteString(line)
	}
	if open {
		b.WriteString("</p>")
	}
	return b.String()
}

// lineEnd returns where the first line ends. A break inside a tag belongs to an
// attribute.
func lineEnd(s string) int {
	inTag := false
	for i := range len(s) {
		switch s[i] {
		case '\n':
			if !inTag {
				return i
			}
		case '<':
			inTag = inTag || i+1 < len(s) && (s[i+1] == '/' || htmltext.IsAlphanumeric(s[i+1]))
		case '>':
			inTag = false
		}
	}
	return len(s)
}

func endsInBreak(s string) bool {
	return strings.HasSuffix(s, "<br />") || strings.HasSuffix(s, "<br/>") || strings.HasSuffix(s, "<br>")
}

// hasBlock reports whether a text contains a block element.
func hasBlock(s string) bool {
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return false
		}
		s = strings.TrimPrefix(s[i+1:], "/")
		n := 0
		for n < len(s) && n < len("blockquote") && htmltext.IsAlphanumeric(s[n]) {
			n++
		}
		if blockElements[strings.ToLower(s[:n])] && (n == len(s) || !htmltext.IsAlphanumeric(s[n])) {
			return true
		}
	}
}
