package render

import (
	"regexp"
	"strings"
)

var (
	// blockElement matches the tags that make a text a finished document (2.5).
	blockElement = regexp.MustCompile(`(?i)</?(p|div|[uod]l|table|blockquote|pre|h[1-6r]|figure)([^a-z0-9]|$)`)
	// textLine matches a line. A break inside a tag belongs to an attribute.
	textLine  = regexp.MustCompile(`(<[/0-9A-Za-z][^>]*>?|[^\n])*\n?`)
	lineBreak = regexp.MustCompile(`<br ?/?>$`)
)

// paragraphs returns the shown form of a description or excerpt of a post: text without any block
// element gets paragraphs and line breaks, other text stays as stored.
func paragraphs(text string) string {
	if text == "" || blockElement.MatchString(text) {
		return text
	}
	var builder strings.Builder
	before := "" // the line before this one in its paragraph
	for _, line := range append(textLine.FindAllString(text, -1), "") {
		switch line = strings.TrimSpace(line); {
		case before == "" && line != "" && builder.Len() > 0:
			builder.WriteString("\n<p>")
		case before == "" && line != "":
			builder.WriteString("<p>")
		case before != "" && line == "":
			builder.WriteString("</p>")
		case lineBreak.MatchString(before):
			builder.WriteString("\n")
		case before != "":
			builder.WriteString("<br />\n")
		}
		builder.WriteString(line)
		before = line
	}
	return builder.String()
}
