package render

import (
	"regexp"
	"strings"

	"daybook/internal/htmltext"
)

// blockElement matches the tags that make a text a finished document (2.5).
var blockElement = regexp.MustCompile(`(?i)</?(p|div|[uod]l|table|blockquote|pre|h[1-6r]|figure)([^a-z0-9]|$)`)

// paragraphs returns the shown form of a description or excerpt of a post: text without any block
// element gets paragraphs and line breaks, other text stays as stored.
func paragraphs(s string) string {
	if s == "" || blockElement.MatchString(s) {
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
