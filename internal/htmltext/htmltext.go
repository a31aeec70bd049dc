// Package htmltext does the text work of the rules that needs more than the
// standard library: reading names as HTML, reducing HTML to the safe subset and
// transliterating to ASCII (interface 2.5, 3.7). It implements calendar.Cleaner.
package htmltext

import (
	"html"
	"regexp"
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

// Name reads text as HTML: br and the begin and end of every element that is not inline
// become a space, other tags, comments and script and style with their content go,
// entities that end in ";" are decoded; then control characters and characters of
// direction are removed, the text is brought into normal form C, runs of white space
// become one space and both ends are trimmed. A name that is escaped for an answer reads
// back as itself.
func (c *Cleaner) Name(text string) string {
	if strings.ContainsAny(text, "<&") {
		var builder strings.Builder
		read(text, func(t token) {
			switch {
			case t.kind == nethtml.TextToken:
				builder.WriteString(entity.ReplaceAllStringFunc(t.raw, decodeEntity))
			case !isInline(t.name):
				builder.WriteByte(' ')
			}
		})
		text = builder.String()
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || calendar.IsDirection(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(norm.NFC.String(text)), " ")
}

// NameKey returns the form in which names are compared: normal form C, runs of white space
// one space, lower case (interface 2.5). Names that a Cleaner did not make have one too.
func NameKey(name string) string {
	return calendar.Fold(norm.NFC.String(strings.Join(strings.Fields(name), " ")))
}

// HTML trims text and reduces it to the safe subset; a removed tag of an element that HTML
// shows as a block leaves a line break. Text and entities stay as they were sent, but for
// "<" that begins no tag: it becomes "&lt;", so that what is left after a removed tag
// never makes a new one. What HTML returns is not changed by HTML.
func (c *Cleaner) HTML(text string) string {
	text = calendar.Plain(text)
	if !strings.ContainsAny(text, "<&") {
		return calendar.Trim(text)
	}
	out := make([]byte, 0, len(text))
	read(text, func(t token) {
		switch {
		case t.kind == nethtml.TextToken:
			out = appendText(out, t.raw)
		case t.kind == nethtml.EndTagToken && t.name == "br": // what a browser makes of it
			out = append(out, "<br>"...)
		case subset[t.name] && (t.kind != nethtml.EndTagToken || !voids[t.name]):
			t.attrs = c.safeAttrs(t)
			out = t.append(out)
		case outerBlocks[t.name]:
			out = append(out, '\n')
		}
	})
	return calendar.Trim(string(out))
}

// ASCII transliterates to ASCII, Chinese included: each Chinese character gives
// a word with a space behind it.
func (c *Cleaner) ASCII(text string) string { return unidecode.Unidecode(text) }

// token is a text or a tag of an HTML text.
type token struct {
	kind  nethtml.TokenType
	raw   string // a text as it stands
	name  string // element, lower case
	attrs []nethtml.Attribute
}

// read reads the texts and tags of text without script and style elements. A tag that text ends
// within is none.
func read(text string, f func(token)) {
	tokenizer := nethtml.NewTokenizer(strings.NewReader(text))
	inside := false // of script or style: the next token may be its content
	for {
		t := token{kind: tokenizer.Next()}
		switch t.kind {
		case nethtml.ErrorToken: // the end; reading from a string returns no other error
			return
		case nethtml.TextToken:
			if t.raw = string(tokenizer.Raw()); !inside {
				f(t)
			}
			inside = false
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken, nethtml.EndTagToken:
			tag := tokenizer.Token()
			if t.name = tag.Data; t.name == "script" || t.name == "style" {
				inside = t.kind != nethtml.EndTagToken
				continue
			}
			// Of other elements only the tags go, whatever a browser makes of
			// their content; so tags in it have to be seen.
			tokenizer.NextIsNotRawText()
			inside, t.attrs = false, tag.Attr
			f(t)
		case nethtml.CommentToken, nethtml.DoctypeToken:
			inside = false
		}
	}
}

// entity matches an entity that ends in ";"; others are none.
var entity = regexp.MustCompile(`&#?[0-9A-Za-z]+;`)

// decodeEntity decodes an entity, where it is one as a whole: of "&notit;" only the beginning
// is. The standard library would make U+FFFD of a reference without a digit.
func decodeEntity(text string) string {
	decoded := html.UnescapeString(text)
	if strings.EqualFold(text, "&#x;") || strings.HasSuffix(decoded, ";") && decoded != ";" {
		return text
	}
	return decoded
}

// appendText appends text to cleaned HTML. References to control characters and to
// characters of direction go;
// they are looked for in what is written already, so that what is left around a
// removed one is seen too.
func appendText(out []byte, text string) []byte {
	for _, c := range []byte(text) {
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

// controlReference returns where a numeric reference to such a character begins, when out ends
// in one that lacks its ";"; else -1.
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
func IsAlphanumeric[C byte | rune](value C) bool {
	return value >= '0' && value <= '9' || value >= 'a' && value <= 'z' || value >= 'A' && value <= 'Z'
}
