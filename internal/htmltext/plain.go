package htmltext

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PlainText returns the text of HTML that a Cleaner has cleaned: entities decoded, a tab
// between the cells of a row, and the line breaks of its elements. It is the only reader
// of stored HTML: for answers, pages, search and highlights (LISTINGS, “plain text”).
func PlainText(s string) string { return (&plainWriter{}).read(s) }

// PlainTextWithLinks is PlainText with the target of each link in parentheses behind its
// text, unless the text shows it. Links to a part of page have none. s is an answer of
// AbsoluteLinks.
func PlainTextWithLinks(s, page string) string {
	return (&plainWriter{links: true, page: page}).read(s)
}

// AbsoluteLinks returns cleaned HTML with href, src and cite resolved against base.
func AbsoluteLinks(s, base string) string {
	if !strings.Contains(s, `="`) {
		return s
	}
	var from *url.URL
	var b strings.Builder
	written := 0
	for at := 0; ; {
		start, end := nextTag(s, at)
		if start < 0 {
			break
		}
		at = end
		for name, value := range attributes(s[start:end]) {
			if !urlAttrs[name] {
				continue
			}
			target, err := url.Parse(html.UnescapeString(value))
			if err != nil || target.IsAbs() {
				continue
			}
			if from == nil {
				if from, err = url.Parse(base); err != nil {
					return s
				}
			}
			// value is a part of s, so its place is where the rest of the tag begins.
			place := start + strings.Index(s[start:end], " "+name+`="`+value) + len(name) + len(` ="`)
			b.WriteString(s[written:place])
			_, _ = attrEscaper.WriteString(&b, from.ResolveReference(target).String()) // a Builder takes all
			written = place + len(value)
		}
	}
	if written == 0 {
		return s
	}
	return b.String() + s[written:]
}

// nextTag returns the place of the first tag of s from at on; start is -1 when there is none.
func nextTag(s string, at int) (start, end int) {
	for at < len(s) {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 {
			break
		}
		at += i
		if n := tagLength(s[at:]); n > 0 {
			return at, at + n
		}
		at++
	}
	return -1, len(s)
}

// tagLength returns the length of the tag that s begins with; 0 when it is none.
func tagLength(s string) int {
	if len(s) < 2 || s[1] != '/' && !IsAlphanumeric(s[1]) {
		return 0
	}
	var quote byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return 0
}

// attributes yields names and values, still escaped, of the attributes of a tag, as a
// Cleaner writes them.
func attributes(tag string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for {
			_, rest, ok := strings.Cut(tag, " ")
			if !ok {
				return
			}
			name, rest, ok := strings.Cut(rest, `="`)
			if !ok {
				return
			}
			value, rest, ok := strings.Cut(rest, `"`)
			if !ok || !yield(name, value) {
				return
			}
			tag = rest
		}
	}
}

// plainWriter joins texts and what stands between them.
type plainWriter struct {
	b      strings.Builder
	breaks int  // line breaks before the next text
	blank  bool // white space before the next text

	cells  bool // a cell of the present row has begun
	filled bool // the row holds text or a tab
	atCell bool // nothing follows the beginning of a cell

	links    bool
	page     string
	target   string // of the link that is open
	linkFrom int    // where its text begins in b
}

func (w *plainWriter) read(s string) string {
	if !strings.ContainsAny(s, "<&") {
		w.text(s)
		return w.b.String()
	}
	w.b.Grow(len(s))
	for at := 0; at < len(s); {
		start, end := nextTag(s, at)
		if start < 0 {
			w.text(html.UnescapeString(s[at:]))
			break
		}
		if at < start {
			w.text(html.UnescapeString(s[at:start]))
		}
		w.tag(s[start:end])
		at = end
	}
	w.endLink()
	return strings.TrimRight(w.b.String(), "\t\n ")
}

func (w *plainWriter) tag(tag string) {
	name, isEnd := strings.CutPrefix(tag[1:], "/")
	n := 0
	for IsAlphanumeric(name[n]) {
		n++
	}
	name = strings.ToLower(name[:n])
	switch name {
	case "a":
		w.endLink()
		if w.links && !isEnd {
			w.beginLink(tag)
		}
	case "br":
		w.breaks++
	case "td", "th":
		if !isEnd {
			w.cell()
		}
	default:
		if name == "tr" {
			w.cells, w.filled, w.atCell = false, false, false
		}
		if !w.atCell {
			w.breaks = max(w.breaks, lineBreaks[name])
		}
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
func (w *plainWriter) text(s string) {
	for s != "" {
		n := strings.IndexFunc(s, unicode.IsSpace)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s)
			s = s[size:]
			w.blank = !w.atCell
			continue
		}
		if n < 0 {
			n = len(s)
		}
		w.separate()
		w.b.WriteString(s[:n])
		s = s[n:]
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

func (w *plainWriter) beginLink(tag string) {
	for name, value := range attributes(tag) {
		if name != "href" {
			continue
		}
		target := html.UnescapeString(value)
		if absoluteURL.MatchString(target) && !strings.HasPrefix(target, w.page+"#") {
			w.target, w.linkFrom = target, w.b.Len()
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
