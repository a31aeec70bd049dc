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
func paragraphs(text string) string {
	if text == "" || blockElement.MatchString(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	var builder strings.Builder
	builder.Grow(len(text) + 16)
	open := false
	for text != "" {
		n := lineEnd(text)
		line := strings.TrimSpace(text[:n])
		text = strings.TrimPrefix(text[n:], "\n")
		switch {
		case line == "":
			if open {
				builder.WriteString("</p>")
			}
			open = false
			continue
		case !open:
			if builder.Len() > 0 {
				builder.WriteByte('\n')
			}
			builder.WriteString("<p>")
			open = true
		case endsInBreak(builder.String()):
			builder.WriteByte('\n')
		default:
			builder.WriteString("<br />\n")
		}
		builder.WriteString(line)
	}
	if open {
		builder.WriteString("</p>")
	}
	return builder.String()
}

// lineEnd returns where the first line ends. A break inside a tag belongs to an
// attribute.
func lineEnd(text string) int {
	inTag := false
	for i := range len(text) {
		switch text[i] {
		case '\n':
			if !inTag {
				return i
			}
		case '<':
			inTag = inTag || i+1 < len(text) && (text[i+1] == '/' || htmltext.IsAlphanumeric(text[i+1]))
		case '>':
			inTag = false
		}
	}
	return len(text)
}

func endsInBreak(text string) bool {
	return strings.HasSuffix(text, "<br />") || strings.HasSuffix(text, "<br/>") || strings.HasSuffix(text, "<br>")
}
