package canonjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner and the writer of calendar before this package. twin_test.go holds the new
// ones against them.

// oldScanner reads JSON whose types are known beforehand; encoding/json needs
// several times as long for a record. What it gives lies in the text.
type oldScanner struct {
	b    string
	i    int
	last int // bytes of the last text with escapes: the next one may be as long
}

// oldNewScanner makes a oldScanner of a text.
func oldNewScanner(text string) *oldScanner { return &oldScanner{b: text} }

var oldErrCut = errors.New("unexpected end of JSON")

// oldMaxDepth bounds the nesting of values that are skipped over.
const oldMaxDepth = 64

func (s *oldScanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return
		}
	}
}

// take reads one byte that has to be c, after white space.
func (s *oldScanner) take(c byte) error {
	s.space()
	if s.i >= len(s.b) {
		return oldErrCut
	}
	if s.b[s.i] != c {
		return fmt.Errorf("%q at byte %d instead of %q", s.b[s.i], s.i, c)
	}
	s.i++
	return nil
}

// is tells whether the next byte after white space is c, and steps over it.
func (s *oldScanner) is(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// End checks that nothing follows.
func (s *oldScanner) End() error {
	s.space()
	if s.i < len(s.b) {
		return fmt.Errorf("%q at byte %d after the end", s.b[s.i], s.i)
	}
	return nil
}

// word steps over a literal.
func (s *oldScanner) word(w string) bool {
	s.space()
	if len(s.b)-s.i >= len(w) && s.b[s.i:s.i+len(w)] == w {
		s.i += len(w)
		return true
	}
	return false
}

func (s *oldScanner) null() bool { return s.word("null") }

// Boolean reads true or false.
func (s *oldScanner) Boolean() (bool, error) {
	switch {
	case s.word("true"):
		return true, nil
	case s.word("false"):
		return false, nil
	}
	return false, errors.New("not a boolean")
}

// number gives the text of a JSON number.
func (s *oldScanner) number() (string, error) {
	s.space()
	from := s.i
	digits := func() bool {
		n := s.i
		for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
			s.i++
		}
		return s.i > n
	}
	next := func(c byte) bool {
		if s.i < len(s.b) && s.b[s.i] == c {
			s.i++
			return true
		}
		return false
	}
	next('-')
	ok := next('0') || digits()
	if ok && next('.') {
		ok = digits()
	}
	if ok && (next('e') || next('E')) {
		if !next('+') {
			next('-')
		}
		ok = digits()
	}
	if !ok {
		return "", errors.New("not a number")
	}
	return s.b[from:s.i], nil
}

// Integer reads a whole number of 64 bits.
func (s *oldScanner) Integer() (int64, error) {
	b, err := s.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(b, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("not an integer: %s", b)
	}
	return n, nil
}

// Text gives a JSON text, unescaped; it is valid UTF-8.
func (s *oldScanner) Text() (string, error) {
	if err := s.take('"'); err != nil {
		return "", err
	}
	from, all := s.i, uint64(0)
	// Eight bytes at a time as long as there is nothing to look at in them.
	for ; s.i+8 <= len(s.b); s.i += 8 {
		w := binary.LittleEndian.Uint64([]byte(s.b[s.i : s.i+8]))
		if oldSpecial(w) {
			break
		}
		all |= w
	}
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			out := s.b[from:s.i]
			s.i++
			if all&highBits != 0 && !utf8.ValidString(out) {
				return "", errors.New("invalid UTF-8")
			}
			return out, nil
		case c == '\\':
			return s.unescape(from)
		case c < ' ':
			return "", fmt.Errorf("control character at byte %d", s.i)
		default:
			all |= uint64(c)
		}
		s.i++
	}
	return "", oldErrCut
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// oldSpecial tells whether one of eight bytes may be a control character, a quote, a
// backslash or one of others. It may take one above them for such a byte, never the other
// way round.
func oldSpecial(w uint64, others ...byte) bool {
	found := (w-lowBits*' ')&^w | zeros(w^lowBits*'"') | zeros(w^lowBits*'\\')
	for _, c := range others {
		found |= zeros(w ^ lowBits*uint64(c))
	}
	return found&highBits != 0
}

// zeros has the high bit of each of eight bytes that is 0, and maybe of some above one.
func zeros(w uint64) uint64 { return (w - lowBits) &^ w }

// unescape is the slow way of text, from the first backslash on.
func (s *oldScanner) unescape(from int) (string, error) {
	var out strings.Builder
	out.Grow(max(s.last, s.i-from+32))
	out.WriteString(s.b[from:s.i])
	for s.i < len(s.b) {
		run := s.i
		for s.i+8 <= len(s.b) && !oldSpecial(binary.LittleEndian.Uint64([]byte(s.b[s.i:s.i+8]))) {
			s.i += 8
		}
		for s.i < len(s.b) && s.b[s.i] >= ' ' && s.b[s.i] != '"' && s.b[s.i] != '\\' {
			s.i++
		}
		if out.WriteString(s.b[run:s.i]); s.i == len(s.b) {
			break
		}
		c := s.b[s.i]
		s.i++
		switch {
		case c == '"':
			if !utf8.ValidString(out.String()) {
				return "", errors.New("invalid UTF-8")
			}
			if s.last = out.Len(); out.Cap() > 2*s.last+64 {
				return strings.Clone(out.String()), nil
			}
			return out.String(), nil
		case c < ' ':
			return "", fmt.Errorf("control character at byte %d", s.i-1)
		}
		if s.i >= len(s.b) {
			return "", oldErrCut
		}
		c = s.b[s.i]
		s.i++
		switch c {
		case '"', '\\', '/':
			out.WriteByte(c)
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case 'u':
			r, err := s.unicode()
			if err != nil {
				return "", err
			}
			out.WriteRune(r)
		default:
			return "", fmt.Errorf("unknown escape %q", c)
		}
	}
	return "", oldErrCut
}

// unicode reads the digits of \u, and the second half of a surrogate pair.
func (s *oldScanner) unicode() (rune, error) {
	r, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if len(s.b)-s.i >= 6 && s.b[s.i] == '\\' && s.b[s.i+1] == 'u' {
		s.i += 2
		low, err := s.hex4()
		if err != nil {
			return 0, err
		}
		if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
			return whole, nil
		}
	}
	return 0, errors.New("half of a surrogate pair")
}

func (s *oldScanner) hex4() (rune, error) {
	if len(s.b)-s.i < 4 {
		return 0, oldErrCut
	}
	n, err := strconv.ParseUint(s.b[s.i:s.i+4], 16, 16)
	if err != nil {
		return 0, errors.New("\\u without four hexadecimal digits")
	}
	s.i += 4
	return rune(n), nil
}

// Object calls f with each key; f reads the value.
func (s *oldScanner) Object(f func(key string) error) error {
	if err := s.take('{'); err != nil {
		return err
	}
	if s.is('}') {
		return nil
	}
	for {
		key, err := s.Text()
		if err != nil {
			return err
		}
		if err := s.take(':'); err != nil {
			return err
		}
		if err := f(key); err != nil {
			return err
		}
		if s.is('}') {
			return nil
		}
		if err := s.take(','); err != nil {
			return err
		}
	}
}

// List calls f for each element.
func (s *oldScanner) List(f func() error) error {
	if err := s.take('['); err != nil {
		return err
	}
	if s.is(']') {
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		if s.is(']') {
			return nil
		}
		if err := s.take(','); err != nil {
			return err
		}
	}
}

// Raw gives the text of one value of any type, as skip steps over it.
func (s *oldScanner) Raw() (string, error) {
	s.space()
	from := s.i
	if err := s.skip(); err != nil {
		return "", err
	}
	return s.b[from:s.i], nil
}

// skip steps over one value of any type. Texts are not looked into: whoever reads
// the value checks them.
func (s *oldScanner) skip() error { return s.skipTo(0) }

func (s *oldScanner) skipTo(depth int) error {
	if depth > oldMaxDepth {
		return errors.New("nested too deeply")
	}
	s.space()
	if s.i >= len(s.b) {
		return oldErrCut
	}
	switch s.b[s.i] {
	case '{':
		return s.Object(func(string) error { return s.skipTo(depth + 1) })
	case '[':
		return s.List(func() error { return s.skipTo(depth + 1) })
	case '"':
		for s.i++; s.i < len(s.b); s.i++ {
			for s.i+8 <= len(s.b) && !oldSpecial(binary.LittleEndian.Uint64([]byte(s.b[s.i:s.i+8]))) {
				s.i += 8
			}
			if s.i == len(s.b) {
				break
			}
			switch s.b[s.i] {
			case '"':
				s.i++
				return nil
			case '\\':
				s.i++
			}
		}
		return oldErrCut
	case 't', 'f':
		_, err := s.Boolean()
		return err
	case 'n':
		if !s.null() {
			return errors.New("not a value")
		}
		return nil
	default:
		_, err := s.number()
		return err
	}
}

// oldTextForm is a way to write texts in JSON.
type oldTextForm struct {
	escapes [256]string // "": as it is
	others  []byte      // what is looked at beside quotes, backslashes and control characters
	stored  bool        // separators of lines, and each byte that is no UTF-8, have escapes
}

// oldNewTextForm makes a form with further escapes, for ASCII. Text that is no UTF-8 is
// written with U+FFFD.
func oldNewTextForm(further map[byte]string) *oldTextForm {
	f := &oldTextForm{}
	for c := range byte(' ') {
		f.escapes[c] = fmt.Sprintf(`\u%04x`, c)
	}
	f.escapes['"'], f.escapes['\\'], f.escapes['\n'], f.escapes['\r'], f.escapes['\t'] = `\"`, `\\`, `\n`, `\r`, `\t`
	for c, escape := range further {
		if f.escapes[c] = escape; c >= ' ' {
			f.others = append(f.others, c)
		}
	}
	return f
}

// oldLineLead is the first byte of the separators of lines U+2028 and U+2029.
const oldLineLead = 0xe2

// oldStored is the form of encoding/json without HTML escaping.
var oldStored = func() *oldTextForm {
	f := oldNewTextForm(map[byte]string{'\b': `\b`, '\f': `\f`})
	f.stored, f.others = true, []byte{oldLineLead}
	return f
}()

// oldAppendJSON writes a text as encoding/json does without HTML escaping.
// Invalid UTF-8 becomes U+FFFD.
func oldAppendJSON[T string | []byte](b []byte, s T) []byte {
	return append(oldAppendText(append(b, '"'), s, oldStored), '"')
}

// oldAppendText writes a text in a form, without the quotes around it.
func oldAppendText[T string | []byte](b []byte, s T, f *oldTextForm) []byte {
	valid := utf8.Valid([]byte(s))
	if !valid && !f.stored {
		s, valid = T(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD"))), true
	}
	start := 0
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) {
			w := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
			if oldSpecial(w, f.others...) || !valid && w&highBits != 0 {
				break
			}
			i += 8
		}
		if i == len(s) {
			break
		}
		escape, size := f.escapes[s[i]], 1
		if f.stored && (s[i] == oldLineLead || !valid && s[i] >= utf8.RuneSelf) {
			var r rune
			switch r, size = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))])); {
			case r == utf8.RuneError && size == 1:
				escape = `\ufffd`
			case r == '\u2028':
				escape = `\u2028`
			case r == '\u2029':
				escape = `\u2029`
			}
		}
		if escape != "" {
			b = append(append(b, s[start:i]...), escape...)
			start = i + size
		}
		i += size - 1
	}
	return append(b, s[start:]...)
}

// oldMaxNested is how deep the values lie that oldReadJSON reads.
const oldMaxNested = 32

// oldReadJSON reads one value of valid UTF-8 with nothing behind it, as encoding/json does into
// an any, numbers as json.Number, in less than half of the time. Half surrogates and what
// is nested more than 32 deep it refuses too: whether that, or anything that it refuses, is
// JSON is for encoding/json to say. The texts lie in text.
func oldReadJSON(text string) (any, error) {
	s := oldScanner{b: text}
	v, err := s.any(0)
	if err == nil {
		err = s.End()
	}
	return v, err
}

func (s *oldScanner) any(depth int) (any, error) {
	if depth > oldMaxNested {
		return nil, errors.New("nested too deeply")
	}
	if s.space(); s.i == len(s.b) {
		return nil, oldErrCut
	}
	switch s.b[s.i] {
	case '{':
		out := map[string]any{}
		return out, s.Object(func(key string) (err error) {
			out[key], err = s.any(depth + 1)
			return err
		})
	case '[':
		out := []any{}
		err := s.List(func() error {
			v, err := s.any(depth + 1)
			out = append(out, v)
			return err
		})
		return out, err
	case '"':
		return s.Text()
	case 't', 'f':
		return s.Boolean()
	case 'n':
		if s.null() {
			return nil, nil
		}
	}
	n, err := s.number()
	return json.Number(n), err
}

// oldHasLoneSurrogate reports whether a text of valid JSON escapes half of a surrogate pair,
// of which encoding/json makes U+FFFD.
func oldHasLoneSurrogate(text []byte) bool {
	escaped := func(i int) rune { // the code unit of an escape at i, -1 for none
		if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if r := escaped(i); utf16.IsSurrogate(r) {
			if utf16.DecodeRune(r, escaped(i+6)) == utf8.RuneError {
				return true
			}
			i += 6
		}
		i++ // what is escaped
	}
	return false
}

// oldAppendNumber writes a number as encoding/json does, so that the bytes stay the
// same whoever writes them.
func oldAppendNumber(b []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errors.New("a number has to be finite")
	}
	if v == 0 {
		return append(b, '0'), nil // no -0
	}
	j, err := json.Marshal(v)
	return append(b, j...), err
}
