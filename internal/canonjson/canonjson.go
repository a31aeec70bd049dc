// Package canonjson reads and writes the JSON form of stored records, of which hashes are
// made: sorted keys, no white space, plain UTF-8, no escaping of < > &. It does not depend
// on experiments of encoding/json, and reads a record in a third of its time.
package canonjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Escapes are the escapes of a form of JSON strings by byte; an empty one leaves the byte
// as it is.
type Escapes [256]string

// Stored is the form of encoding/json without HTML escaping.
var Stored = NewEscapes(map[byte]string{'\b': `\b`, '\f': `\f`})

// NewEscapes returns a form with further escapes, for ASCII.
func NewEscapes(further map[byte]string) *Escapes {
	escapes := &Escapes{'"': `\"`, '\\': `\\`}
	for c := range byte(' ') {
		escapes[c] = fmt.Sprintf(`\u%04x`, c)
	}
	escapes['\n'], escapes['\r'], escapes['\t'] = `\n`, `\r`, `\t`
	for c, escape := range further {
		escapes[c] = escape
	}
	return escapes
}

// AppendString appends a string in the stored form, with its quotes.
func AppendString[T string | []byte](data []byte, value T) []byte {
	return append(AppendText(append(data, '"'), string(value), Stored), '"')
}

// AppendText appends a string in a form, without quotes. The stored form has escapes for
// U+2028, for U+2029 and for each byte that is not UTF-8. In others, bytes that are not
// UTF-8 become U+FFFD.
func AppendText(data []byte, text string, escapes *Escapes) []byte {
	valid := utf8.ValidString(text)
	if !valid && escapes != Stored {
		text, valid = strings.ToValidUTF8(text, "\uFFFD"), true
	}
	from := 0
	for i := 0; i < len(text); {
		escape, size := escapes[text[i]], 1
		if escapes == Stored && (text[i] == 0xe2 || !valid && text[i] >= utf8.RuneSelf) { // 0xe2 begins U+2028
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			if r == '\u2028' || r == '\u2029' || r == utf8.RuneError && size == 1 {
				escape = fmt.Sprintf(`\u%04x`, r)
			}
		}
		if escape != "" {
			data = append(append(data, text[from:i]...), escape...)
			from = i + size
		}
		i += size
	}
	return append(data, text[from:]...)
}

// AppendNumber appends a finite number as encoding/json does, but 0 for -0.
func AppendNumber(data []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errors.New("a number has to be finite")
	}
	if v == 0 {
		return append(data, '0'), nil
	}
	text, err := json.Marshal(v)
	return append(data, text...), err
}

// Reader reads JSON whose types are known beforehand. Strings without escapes are parts of
// the text, so they retain it. A copy of a Reader reads on from the same place.
type Reader struct {
	text string
	i    int
}

// NewReader returns a Reader of a text.
func NewReader(text string) *Reader { return &Reader{text: text} }

var (
	errEnd   = errors.New("unexpected end of JSON")
	errDepth = errors.New("nested too deeply")
)

// maxDepth bounds the nesting of values, as in encoding/json.
const maxDepth = 10_000

// peek returns the next byte after white space, 0 at the end.
func (r *Reader) peek() byte {
	for ; r.i < len(r.text); r.i++ {
		switch c := r.text[r.i]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// is steps over a byte if it is the next one.
func (r *Reader) is(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.i++
	return true
}

func (r *Reader) take(c byte) error {
	switch {
	case r.is(c):
		return nil
	case r.i == len(r.text):
		return errEnd
	}
	return fmt.Errorf("%q at byte %d instead of %q", r.text[r.i], r.i, c)
}

// End returns an error if anything follows.
func (r *Reader) End() error {
	if r.peek(); r.i < len(r.text) {
		return fmt.Errorf("%q at byte %d after the end", r.text[r.i], r.i)
	}
	return nil
}

func (r *Reader) word(text string) bool {
	r.peek()
	if !strings.HasPrefix(r.text[r.i:], text) {
		return false
	}
	r.i += len(text)
	return true
}

// Null steps over null if it is the next value.
func (r *Reader) Null() bool { return r.word("null") }

// Bool reads a boolean.
func (r *Reader) Bool() (bool, error) {
	is := r.word("true")
	if !is && !r.word("false") {
		return false, errors.New("not a boolean")
	}
	return is, nil
}

// Number reads a number of any size.
func (r *Reader) Number() (json.Number, error) {
	r.peek()
	from := r.i
	next := func(set string) bool {
		if r.i == len(r.text) || strings.IndexByte(set, r.text[r.i]) < 0 {
			return false
		}
		r.i++
		return true
	}
	digits := func() bool {
		n := r.i
		for r.i < len(r.text) && r.text[r.i]-'0' <= 9 {
			r.i++
		}
		return r.i > n
	}
	next("-")
	ok := next("0") || digits()
	if ok && next(".") {
		ok = digits()
	}
	if ok && next("eE") {
		next("+-")
		ok = digits()
	}
	if !ok {
		return "", errors.New("not a number")
	}
	return json.Number(r.text[from:r.i]), nil
}

// Int reads a whole number of 64 bits.
func (r *Reader) Int() (int64, error) {
	n, err := r.Number()
	if err != nil {
		return 0, err
	}
	return n.Int64()
}

// quoted returns what stands between quotes, as it is.
func (r *Reader) quoted() (string, error) {
	if err := r.take('"'); err != nil {
		return "", err
	}
	for end := r.i; ; end++ {
		n := strings.IndexByte(r.text[end:], '"')
		if n < 0 {
			return "", errEnd
		}
		end += n
		raw := r.text[r.i:end]
		backslashes := 0
		for backslashes < len(raw) && raw[len(raw)-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			r.i = end + 1
			return raw, nil
		}
	}
}

// String reads a string; it is valid UTF-8.
func (r *Reader) String() (string, error) {
	raw, err := r.quoted()
	if err != nil {
		return "", err
	}
	escapes, all := false, byte(0)
	for i := range len(raw) {
		c := raw[i]
		if c < ' ' {
			return "", errors.New("control character in a string")
		}
		escapes = escapes || c == '\\'
		all |= c
	}
	if all >= utf8.RuneSelf && !utf8.ValidString(raw) {
		return "", errors.New("invalid UTF-8")
	}
	if !escapes {
		return raw, nil
	}
	return unescape(raw)
}

// unescape returns a string with each escape replaced; something follows each backslash.
func unescape(text string) (string, error) {
	var out strings.Builder
	out.Grow(len(text))
	for {
		n := strings.IndexByte(text, '\\')
		if n < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(text[:n])
		text = text[n:]
		const names, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		if at := strings.IndexByte(names, text[1]); at >= 0 {
			out.WriteByte(meant[at])
			text = text[2:]
			continue
		}
		c := codeUnit(text)
		if c < 0 {
			return "", fmt.Errorf("unknown escape %.6q", text)
		}
		text = text[6:]
		if utf16.IsSurrogate(c) {
			if c = utf16.DecodeRune(c, codeUnit(text)); c == utf8.RuneError {
				return "", errors.New("half of a surrogate pair")
			}
			text = text[6:]
		}
		out.WriteRune(c)
	}
}

// codeUnit returns the code unit of \u at the start of a string, -1 if it has none.
func codeUnit(text string) rune {
	if len(text) < 6 || text[:2] != `\u` {
		return -1
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Object calls field with each key; field reads the value.
func (r *Reader) Object(field func(key string) error) error {
	return r.list('{', '}', func() error {
		key, err := r.String()
		if err == nil {
			err = r.take(':')
		}
		if err != nil {
			return err
		}
		return field(key)
	})
}

// List calls element for each element; element reads it.
func (r *Reader) List(element func() error) error { return r.list('[', ']', element) }

func (r *Reader) list(begin, end byte, one func() error) error {
	err := r.take(begin)
	if err != nil || r.is(end) {
		return err
	}
	for {
		if err := one(); err != nil || r.is(end) {
			return err
		}
		if err := r.take(','); err != nil {
			return err
		}
	}
}

// Raw returns the text of one value of any type. It does not look into strings, which may
// contain control characters, unknown escapes and invalid UTF-8.
func (r *Reader) Raw() (string, error) {
	r.peek()
	from := r.i
	err := r.skip(0)
	return r.text[from:r.i], err
}

func (r *Reader) skip(depth int) (err error) {
	if depth > maxDepth {
		return errDepth
	}
	switch r.peek() {
	case '{':
		return r.Object(func(string) error { return r.skip(depth + 1) })
	case '[':
		return r.List(func() error { return r.skip(depth + 1) })
	case '"':
		_, err = r.quoted()
	default:
		if !r.word("true") && !r.word("false") && !r.word("null") {
			_, err = r.Number()
		}
	}
	return err
}

// Value reads a text of one value as encoding/json does into an any, numbers as
// json.Number. It refuses invalid UTF-8 and half of a surrogate pair, too.
func Value(text string) (any, error) {
	reader := NewReader(text)
	value, err := reader.value(0)
	if err != nil {
		return nil, err
	}
	return value, reader.End()
}

func (r *Reader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	switch r.peek() {
	case '{':
		out := map[string]any{}
		return out, r.Object(func(key string) (err error) {
			out[key], err = r.value(depth + 1)
			return err
		})
	case '[':
		out := []any{}
		err := r.List(func() error {
			v, err := r.value(depth + 1)
			out = append(out, v)
			return err
		})
		return out, err
	case '"':
		return r.String()
	case 't', 'f':
		return r.Bool()
	case 'n':
		if r.Null() {
			return nil, nil
		}
	}
	return r.Number()
}
