// Package htmltext does the text work of the rules that needs more than the
// standard library: reading names as HTML, reducing HTML to the safe subset and
// transliterating to ASCII (interface 2.5, 3.7). It implements calendar.Cleaner.
package htmltext

import (
	"html"
	"strings"
	"unicode"

	"github.com/gosimple/unidecode"
	"github.com/microcosm-cc/bluemonday"
	nethtml "golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"daybook/calendar"
)

// Cleaner implements calendar.Cleaner. It is safe for use by many goroutines.
type Cleaner struct{ policy *bluemonday.Policy }

var _ calendar.Cleaner = (*Cleaner)(nil)

// New makes a Cleaner.
func New() *Cleaner { return &Cleaner{policy: newPolicy()} }

// Name reads s as HTML: br and the begin and end of every element that is not inline
// become a space, other tags, comments and script and style with their content go,
// entities that end in ";" are decoded; then control characters and characters of
// direction are removed, the text is brought into normal form C, runs of white space
// become one space and both ends are trimmed. A name that is escaped for an answer reads
// back as itself.
func (c *Cleaner) Name(s string) string {
	if strings.ContainsAny(s, "<&") {
		var b strings.Builder
		read(s, func(t token) {
			switch {
			case t.kind == nethtml.TextToken:
				b.WriteString(decodeEntities(string(t.raw)))
			case !isInline(t.name):
				b.WriteByte(' ')
			}
		})
		s = b.String()
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || calendar.IsDirection(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(norm.NFC.String(s)), " ")
}

// NameKey returns the form in which names are compared: normal form C, runs of white space
// one space, lower case (interface 2.5). Names that a Cleaner did not make have one too.
func NameKey(name string) string {
	return calendar.Fold(norm.NFC.String(strings.Join(strings.Fields(name), " ")))
}

// HTML trims s and reduces it to the safe subset; a removed tag of an element that HTML
// shows as a block leaves a line break. Text and entities stay as they were sent, but for
// "<" that begins no tag: it becomes "&lt;", so that what is left after a removed tag
// never makes a new one. What HTML returns is not changed by HTML.
func (c *Cleaner) HTML(s string) string {
	s = calendar.Plain(s)
	if !strings.ContainsAny(s, "<&") {
		return calendar.Trim(s)
	}
	out := make([]byte, 0, len(s))
	read(s, func(t token) {
		switch t.kind {
		case nethtml.TextToken:
			out = appendText(out, t.raw)
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			out = c.appendTag(out, t)
		case nethtml.EndTagToken:
			switch {
			case t.name == "br": // what a browser makes of it
				out = append(out, "<br>"...)
			case inSubset(t.name) && !voids[t.name]:
				out = append(append(append(out, "</"...), t.name...), '>')
			case outerBlocks[t.name]:
				out = append(out, '\n')
			}
		case nethtml.ErrorToken, nethtml.CommentToken, nethtml.DoctypeToken: // go
		}
	})
	return calendar.Trim(string(out))
}

// ASCII transliterates to ASCII, Chinese included: each Chinese character gives
// a word with a space behind it.
func (c *Cleaner) ASCII(s string) string { return unidecode.Unidecode(s) }

// token is one token of an HTML text; raw is valid until the next one is read.
type token struct {
	kind  nethtml.TokenType
	raw   []byte // text as it stands
	name  string // element, lower case
	attrs []nethtml.Attribute
}

// read tokenizes s without script and style elements. A tag that s ends within
// is none.
func read(s string, f func(token)) {
	z := nethtml.NewTokenizer(strings.NewReader(s))
	inside := false // of script or style: the next token may be its content
	for {
		t := token{kind: z.Next()}
		switch t.kind {
		case nethtml.ErrorToken: // the end; reading from a string gives no other error
			return
		case nethtml.TextToken:
			t.raw = z.Raw()
			if !inside {
				f(t)
			}
			inside = false
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken, nethtml.EndTagToken:
			name, hasAttr := z.TagName()
			t.name = string(name)
			if t.name == "script" || t.name == "style" {
				inside = t.kind != nethtml.EndTagToken
				continue
			}
			// Of other elements only the tags go, whatever a browser makes of
			// their content; so tags in it have to be seen.
			z.NextIsNotRawText()
			inside = false
			for hasAttr && t.kind != nethtml.EndTagToken {
				var key, val []byte
				key, val, hasAttr = z.TagAttr()
				t.attrs = append(t.attrs, nethtml.Attribute{Key: string(key), Val: string(val)})
			}
			f(t)
		case nethtml.CommentToken, nethtml.DoctypeToken:
			inside = false
		}
	}
}

// decodeEntities decodes the entities that end in ";" and no others.
func decodeEntities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := 1
		for n < len(s) && (IsAlphanumeric(s[n]) || n == 1 && s[n] == '#') {
			n++
		}
		// The standard library would make U+FFFD of a reference without a digit.
		if n == len(s) || s[n] != ';' || strings.EqualFold(s[:n], "&#x") {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		entity := s[:n+1]
		decoded := html.UnescapeString(entity)
		// A ";" that is left means that only the beginning is an entity: "&notit;".
		if strings.HasSuffix(decoded, ";") && decoded != ";" {
			decoded = entity
		}
		b.WriteString(decoded)
		s = s[n+1:]
	}
}

// appendText appends text to cleaned HTML. References to control characters and to
// characters of direction go;
// they are looked for in what is written already, so that what is left around a
// removed one is seen too.
func appendText(out, text []byte) []byte {
	for _, c := range text {
		switch c {
		case '<':
			out = append(out, "&lt;"...)
		case ';':
			if i := controlReference(out); i >= 0 {
				out = out[:i]
			} else {
				out = append(out, c)
			}
		default:
			out = append(out, c)
		}
	}
	return out
}

// controlReference gives where a numeric reference to such a character begins, when out ends in one that lacks its ";"; else -1.
func controlReference(out []byte) int {
	i := len(out)
	for i > 0 && IsAlphanumeric(out[i-1]) {
		i--
	}
	if i == len(out) || i < 2 || out[i-1] != '#' || out[i-2] != '&' {
		return -1
	}
	r := []rune(html.UnescapeString(string(out[i-2:]) + ";"))
	if len(r) != 1 || !calendar.IsDirection(r[0]) && (!unicode.IsControl(r[0]) || r[0] == '\n' || r[0] == '\t') {
		return -1
	}
	return i - 2
}

// IsAlphanumeric reports whether a character is a letter or digit of ASCII.
func IsAlphanumeric[C byte | rune](c C) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
