package calendar

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// marshal is json.Marshal without the escaping of < > &, so that stored bytes
// are the canonical form: sorted keys, no insignificant space, plain UTF-8.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// TextForm is a way to write texts in JSON.
type TextForm struct {
	escapes [256]string // "": as it is
	others  []byte      // what is looked at beside quotes, backslashes and control characters
	stored  bool        // separators of lines, and each byte that is no UTF-8, have escapes
}

// NewTextForm makes a form with further escapes, for ASCII. Text that is no UTF-8 is
// written with U+FFFD.
func NewTextForm(further map[byte]string) *TextForm {
	f := &TextForm{}
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

// lineLead is the first byte of the separators of lines U+2028 and U+2029.
const lineLead = 0xe2

// stored is the form of encoding/json without HTML escaping.
var stored = func() *TextForm {
	f := NewTextForm(map[byte]string{'\b': `\b`, '\f': `\f`})
	f.stored, f.others = true, []byte{lineLead}
	return f
}()

// AppendJSON writes a text as encoding/json does without HTML escaping.
// Invalid UTF-8 becomes U+FFFD.
func AppendJSON[T string | []byte](b []byte, s T) []byte {
	return append(AppendText(append(b, '"'), s, stored), '"')
}

// AppendText writes a text in a form, without the quotes around it.
func AppendText[T string | []byte](b []byte, s T, f *TextForm) []byte {
	valid := utf8.Valid([]byte(s))
	if !valid && !f.stored {
		s, valid = T(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD"))), true
	}
	start := 0
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) {
			w := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
			if Special(w, f.others...) || !valid && w&highBits != 0 {
				break
			}
			i += 8
		}
		if i == len(s) {
			break
		}
		escape, size := f.escapes[s[i]], 1
		if f.stored && (s[i] == lineLead || !valid && s[i] >= utf8.RuneSelf) {
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

// maxNested is how deep the values lie that ReadJSON reads.
const maxNested = 32

// ReadJSON reads one value of valid UTF-8 with nothing behind it, as encoding/json does into
// an any, numbers as json.Number, in less than half of the time. Half surrogates and what
// is nested more than 32 deep it refuses too: whether that, or anything that it refuses, is
// JSON is for encoding/json to say. The texts lie in text.
func ReadJSON(text string) (any, error) {
	s := Scanner{b: text}
	v, err := s.any(0)
	if err == nil {
		err = s.End()
	}
	return v, err
}

func (s *Scanner) any(depth int) (any, error) {
	if depth > maxNested {
		return nil, errors.New("nested too deeply")
	}
	if s.space(); s.i == len(s.b) {
		return nil, errCut
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

// HasLoneSurrogate reports whether a text of valid JSON escapes half of a surrogate pair,
// of which encoding/json makes U+FFFD.
func HasLoneSurrogate(text []byte) bool {
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
