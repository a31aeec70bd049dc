package render

import (
	"iter"
	"regexp"
	"strings"
)

// blockElement matches the tags that make a text a finished document (2.5).
var blockElement = regexp.MustCompile(`(?i)</?(p|div|[uod]l|table|blockquote|pre|h[1-6r]|figure)([^a-z0-9]|$)`)

// paragraphs yields the parts of the shown form of a description or excerpt of a post: text
// without any block element gets paragraphs and line breaks, other text stays as stored. It
// yields all of them.
func paragraphs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.Contains(text, "<") && blockElement.MatchString(text) {
			yield(text)
			return
		}
		begin, before := "<p>", "" // of the next paragraph; the line before this one in its own
		for text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"); text != "" || before != ""; {
			end := lineEnd(text)
			line := strings.TrimSpace(text[:end])
			text = strings.TrimPrefix(text[end:], "\n")
			switch {
			case before == "" && line != "":
				yield(begin)
				begin = "\n<p>"
			case before != "" && line == "":
				yield("</p>")
			case strings.HasSuffix(before, "<br />") || strings.HasSuffix(before, "<br/>") || strings.HasSuffix(before, "<br>"):
				yield("\n")
			case before != "":
				yield("<br />\n")
			}
			yield(line)
			before = line
		}
	}
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
