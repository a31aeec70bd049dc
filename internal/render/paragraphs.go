package render

import (
	"regexp"
	"strings"
)

// blockElement matches the tags that make a text a finished document (2.5).
var blockElement = regexp.MustCompile(`(?i)</?(p|div|[uod]l|table|blockquote|pre|h[1-6r]|figure)([^a-z0-9]|$)`)

// paragraphs returns the shown form of a description or excerpt of a post: text without any block
// element gets paragraphs and line breaks, other text stays as stored.
func paragraphs(text string) string {
	if text == "" || blockElement.MatchString(text) {
		return text
	}
	var builder strings.Builder
	builder.Grow(len(text) + 64)
	before := "" // the line before this one in its paragraph
	for text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"); text != "" || before != ""; {
		end := lineEnd(text)
		line := strings.TrimSpace(text[:end])
		text = strings.TrimPrefix(text[end:], "\n")
		switch {
		case before == "" && line != "" && builder.Len() > 0:
			builder.WriteString("\n<p>")
		case before == "" && line != "":
			builder.WriteString("<p>")
		case before != "" && line == "":
			builder.WriteString("</p>")
		case strings.HasSuffix(before, "<br />") || strings.HasSuffix(before, "<br/>") || strings.HasSuffix(before, "<br>"):
			builder.WriteString("\n")
		case before != "":
			builder.WriteString("<br />\n")
		}
		builder.WriteString(line)
		before = line
	}
	return builder.String()
}

// tagStarts are the characters that make < the begin of a tag.
const tagStarts = "/0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// lineEnd returns where the first line ends. A break inside a tag belongs to an attribute. Most
// texts have no tag in a line, and are read fast.
func lineEnd(text string) int {
	if line, _, _ := strings.Cut(text, "\n"); !strings.Contains(line, "<") {
		return len(line)
	}
	inTag := false
	for i := range len(text) {
		switch text[i] {
		case '\n':
			if !inTag {
				return i
			}
		case '<':
			inTag = inTag || i+1 < len(text) && strings.IndexByte(tagStarts, text[i+1]) >= 0
		case '>':
			inTag = false
		}
	}
	return len(text)
}
