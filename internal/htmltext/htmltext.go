// Package htmltext does the text work of the rules that needs more than the
// standard library: reading names as HTML, reducing HTML to the safe subset and
// transliterating to ASCII (interface 2.5, 3.7). It implements calendar.Cleaner.
package htmltext

import (
	"bytes"
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

// New makes a Cleaner.
func New() *Cleaner { return &Cleaner{policy: newPolicy()} }

// Name reads text as HTML: br and the begin and end of every element that is not inline
// become a space, other tags, comments and script and style with their content go,
// entities that end in ";" are decoded; then control characters and characters of
// direction are removed, the text is brought into normal form C, runs of white space
// become one space and both ends are trimmed. A name that is escaped for an answer reads
// back as itself.
func (cleaner *Cleaner) Name(text string) string {
	var builder strings.Builder
	read(text, func(token nethtml.Token) {
		switch {
		case token.Type == nethtml.TextToken:
			builder.WriteString(entity.ReplaceAllStringFunc(token.Data, decodeEntity))
		case blocks[token.Data] || separating[token.Data]:
			builder.WriteByte(' ')
		}
	})
	text = strings.Map(func(letter rune) rune {
		if unicode.IsControl(letter) && !unicode.IsSpace(letter) || calendar.IsDirection(letter) {
			return -1
		}
		return letter
	}, strings.ToValidUTF8(builder.String(), "\uFFFD"))
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
func (cleaner *Cleaner) HTML(text string) string {
	var data []byte
	read(calendar.Plain(text), func(token nethtml.Token) {
		switch {
		case token.Type == nethtml.TextToken:
			data = appendText(data, token.Data)
		case token.Type == nethtml.EndTagToken && token.Data == "br": // what a browser makes of it
			data = append(data, "<br>"...)
		case subset[token.Data] && (token.Type != nethtml.EndTagToken || !voids[token.Data]):
			token.Attr = cleaner.safeAttrs(token)
			data = appendToken(data, token)
		case separating[token.Data]:
			data = append(data, '\n')
		}
	})
	return calendar.Trim(string(data))
}

// ASCII transliterates to ASCII, Chinese included: each Chinese character gives
// a word with a space behind it.
func (cleaner *Cleaner) ASCII(text string) string { return unidecode.Unidecode(text) }

// read reads the texts and tags of text without script and style elements. The data of a text
// is as it stands. Of several attributes with one name the first one counts, as in a browser;
// a tag that text ends within is none.
func read(text string, f func(nethtml.Token)) {
	if !strings.Contains(text, "<") {
		f(nethtml.Token{Type: nethtml.TextToken, Data: text})
		return
	}
	tokenizer := nethtml.NewTokenizer(strings.NewReader(text))
	inside := false // of script or style: the next token may be its content
	for {
		switch kind := tokenizer.Next(); kind {
		case nethtml.ErrorToken: // the end; reading from a string returns no other error
			return
		case nethtml.TextToken:
			if !inside {
				f(nethtml.Token{Type: kind, Data: string(tokenizer.Raw())})
			}
			inside = false
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken, nethtml.EndTagToken:
			tag := tokenizer.Token()
			if tag.Data == "script" || tag.Data == "style" {
				inside = kind != nethtml.EndTagToken
				continue
			}
			// Of other elements only the tags go, whatever a browser makes of
			// their content; so tags in it have to be seen.
			tokenizer.NextIsNotRawText()
			inside = false
			f(tag)
		default:
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
// characters of direction go; they are looked for in what is written already, so that what
// is left around a removed one is seen too.
func appendText(data []byte, text string) []byte {
	for _, letter := range []byte(strings.ReplaceAll(text, "<", "&lt;")) {
		if letter == ';' {
			before, numeric := bytes.CutSuffix(bytes.TrimRight(data, "xX0123456789abcdefABCDEF"), []byte("&#"))
			decoded := html.UnescapeString(string(data[len(before):]) + ";")
			if numeric && (calendar.Plain(decoded) == "" || decoded == "\r") {
				data = before
				continue
			}
		}
		data = append(data, letter)
	}
	return data
}
