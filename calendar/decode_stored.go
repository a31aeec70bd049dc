package calendar

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeRecord reads EncodeRecord. An unknown field, a field given twice, or a value that
// does not fit the table is an error that names the field.
func DecodeRecord(b []byte) (*Record, error) { return decodeRecord(string(b), nil) }

// DecodeText is DecodeRecord of a text. The texts of the record lie in it, so it lives
// as long as one of them.
func DecodeText(text string) (*Record, error) { return decodeRecord(text, nil) }

// DecodeSome is DecodeText of some fields alone, and the record lives on without the text.
func DecodeSome(text string, names []string) (*Record, error) {
	r, err := decodeRecord(text, names)
	if err == nil {
		r.Fields = r.Fields.Copy(names)
	}
	return r, err
}

// decodeRecord reads a record with some of its fields; nil is all.
func decodeRecord(text string, names []string) (*Record, error) {
	r := &Record{}
	s := Scanner{b: text}
	// The kind comes after the fields in canonical order, so the fields are
	// skipped over and read in a second look.
	var at, held int
	var seen [6]bool
	err := s.Object(func(key string) error {
		var err error
		var n int
		switch key {
		case "changed":
			n = 0
			var v string
			if v, err = s.Text(); err == nil {
				r.Changed, err = parseChanged(v)
			}
		case "deleted":
			n = 1
			r.Deleted, err = s.Boolean()
		case "erased":
			n = -1
			r.Erased, err = s.Boolean()
		case "fields":
			n = 2
			at = s.i
			err = s.Object(func(string) error {
				held++
				return s.skip()
			})
		case "home":
			n = 3
			var v string
			if v, err = s.Text(); err == nil {
				var ok bool
				if r.Home, ok = ParseLang(v); !ok {
					err = fmt.Errorf("unknown language %q", v)
				}
			}
		case "id":
			n = 4
			var v int64
			v, err = s.Integer()
			r.ID = ID(v)
		case "kind":
			n = 5
			var v string
			if v, err = s.Text(); err == nil {
				var ok bool
				if r.Kind, ok = ParseKind(v); !ok {
					err = fmt.Errorf("unknown kind %q", v)
				}
			}
		case "version":
			r.Version, err = s.Integer()
			n = -1
		default:
			return fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if n >= 0 {
			seen[n] = true
		}
		return nil
	})
	if err == nil {
		err = s.End()
	}
	if err == nil && (!seen[0] || !seen[2] || !seen[3] || !seen[4] || !seen[5] || r.Version < 1 || r.ID < 1 || r.Erased && !r.Deleted) {
		err = errors.New("not a whole record")
	}
	if err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}
	s.i = at
	if names != nil {
		held = len(names)
	}
	if r.Fields, err = decodeFields(&s, SpecOf(r.Kind), held, names, false); err != nil {
		return nil, fmt.Errorf("decode record %d: %w", r.ID, err)
	}
	r.Sum = SumOf(text)
	return r, nil
}

// DecodeChange reads a stored change by its name. home is the language of the
// record; only ".created" keeps it.
func DecodeChange(name string, id ID, home Lang, fields json.RawMessage) (Change, error) {
	c := Change{Name: name, ID: id}
	kind, _, _ := strings.Cut(name, ".")
	c.Kind, _ = ParseKind(kind)
	verb, err := c.verb()
	if err != nil {
		return Change{}, err
	}
	if verb == Created {
		c.Home = home
	}
	s := Scanner{b: string(fields)}
	c.Fields, err = decodeFields(&s, SpecOf(c.Kind), 4, nil, true)
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return Change{}, fmt.Errorf("decode %s of record %d: %w", name, id, err)
	}
	return c, nil
}

// decodeFields reads an object of about so many fields, of which some are wanted; nil is all.
func decodeFields(s *Scanner, spec *Spec, about int, names []string, removals bool) (Fields, error) {
	fields := make(Fields, about)
	next := 0 // in spec.stored: canonical JSON has the fields in this order
	err := s.Object(func(key string) error {
		for next < len(spec.stored) && spec.stored[next].Name < key {
			next++
		}
		var f *Field
		if next < len(spec.stored) && spec.stored[next].Name == key {
			f = spec.stored[next]
			next++
		} else {
			f = spec.byName[key]
		}
		if f == nil || f.Stored == 0 {
			return fmt.Errorf("unknown field %q of kind %s", key, spec.Kind)
		}
		if _, ok := fields[f.Name]; ok {
			return fmt.Errorf("field %s: given twice", f.Name)
		}
		if names != nil && !slices.Contains(names, f.Name) {
			return s.skip()
		}
		if removals && s.null() {
			fields[f.Name] = nil
			return nil
		}
		v, err := s.value(f.Stored)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		fields[f.Name] = v
		return nil
	})
	return fields, err
}

// Scanner reads JSON whose types are known beforehand; encoding/json needs
// several times as long for a record. What it gives lies in the text.
type Scanner struct {
	b    string
	i    int
	last int // bytes of the last text with escapes: the next one may be as long
}

// NewScanner makes a Scanner of a text.
func NewScanner(text string) *Scanner { return &Scanner{b: text} }

var errCut = errors.New("unexpected end of JSON")

// maxDepth bounds the nesting of values that are skipped over.
const maxDepth = 64

func (s *Scanner) space() {
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
func (s *Scanner) take(c byte) error {
	s.space()
	if s.i >= len(s.b) {
		return errCut
	}
	if s.b[s.i] != c {
		return fmt.Errorf("%q at byte %d instead of %q", s.b[s.i], s.i, c)
	}
	s.i++
	return nil
}

// is tells whether the next byte after white space is c, and steps over it.
func (s *Scanner) is(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// End checks that nothing follows.
func (s *Scanner) End() error {
	s.space()
	if s.i < len(s.b) {
		return fmt.Errorf("%q at byte %d after the end", s.b[s.i], s.i)
	}
	return nil
}

// word steps over a literal.
func (s *Scanner) word(w string) bool {
	s.space()
	if len(s.b)-s.i >= len(w) && s.b[s.i:s.i+len(w)] == w {
		s.i += len(w)
		return true
	}
	return false
}

func (s *Scanner) null() bool { return s.word("null") }

// Boolean reads true or false.
func (s *Scanner) Boolean() (bool, error) {
	switch {
	case s.word("true"):
		return true, nil
	case s.word("false"):
		return false, nil
	}
	return false, errors.New("not a boolean")
}

// number gives the text of a JSON number.
func (s *Scanner) number() (string, error) {
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
func (s *Scanner) Integer() (int64, error) {
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
func (s *Scanner) Text() (string, error) {
	if err := s.take('"'); err != nil {
		return "", err
	}
	from, all := s.i, uint64(0)
	// Eight bytes at a time as long as there is nothing to look at in them.
	for ; s.i+8 <= len(s.b); s.i += 8 {
		w := binary.LittleEndian.Uint64([]byte(s.b[s.i : s.i+8]))
		if Special(w) {
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
	return "", errCut
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// Special tells whether one of eight bytes may be a control character, a quote, a
// backslash or one of others. It may take one above them for such a byte, never the other
// way round.
func Special(w uint64, others ...byte) bool {
	found := (w-lowBits*' ')&^w | zeros(w^lowBits*'"') | zeros(w^lowBits*'\\')
	for _, c := range others {
		found |= zeros(w ^ lowBits*uint64(c))
	}
	return found&highBits != 0
}

// zeros has the high bit of each of eight bytes that is 0, and maybe of some above one.
func zeros(w uint64) uint64 { return (w - lowBits) &^ w }

// unescape is the slow way of text, from the first backslash on.
func (s *Scanner) unescape(from int) (string, error) {
	var out strings.Builder
	out.Grow(max(s.last, s.i-from+32))
	out.WriteString(s.b[from:s.i])
	for s.i < len(s.b) {
		run := s.i
		for s.i+8 <= len(s.b) && !Special(binary.LittleEndian.Uint64([]byte(s.b[s.i:s.i+8]))) {
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
			return "", errCut
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
	return "", errCut
}

// unicode reads the digits of \u, and the second half of a surrogate pair.
func (s *Scanner) unicode() (rune, error) {
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

func (s *Scanner) hex4() (rune, error) {
	if len(s.b)-s.i < 4 {
		return 0, errCut
	}
	n, err := strconv.ParseUint(s.b[s.i:s.i+4], 16, 16)
	if err != nil {
		return 0, errors.New("\\u without four hexadecimal digits")
	}
	s.i += 4
	return rune(n), nil
}

// Object calls f with each key; f reads the value.
func (s *Scanner) Object(f func(key string) error) error {
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
func (s *Scanner) List(f func() error) error {
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
func (s *Scanner) Raw() (string, error) {
	s.space()
	from := s.i
	if err := s.skip(); err != nil {
		return "", err
	}
	return s.b[from:s.i], nil
}

// skip steps over one value of any type. Texts are not looked into: whoever reads
// the value checks them.
func (s *Scanner) skip() error { return s.skipTo(0) }

func (s *Scanner) skipTo(depth int) error {
	if depth > maxDepth {
		return errors.New("nested too deeply")
	}
	s.space()
	if s.i >= len(s.b) {
		return errCut
	}
	switch s.b[s.i] {
	case '{':
		return s.Object(func(string) error { return s.skipTo(depth + 1) })
	case '[':
		return s.List(func() error { return s.skipTo(depth + 1) })
	case '"':
		for s.i++; s.i < len(s.b); s.i++ {
			for s.i+8 <= len(s.b) && !Special(binary.LittleEndian.Uint64([]byte(s.b[s.i:s.i+8]))) {
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
		return errCut
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

// value reads a value of a stored type.
func (s *Scanner) value(t Type) (any, error) {
	switch t {
	case TypeString:
		return s.Text()
	case TypeText:
		var t Text
		err := s.Object(func(key string) error {
			l, ok := ParseLang(key)
			if !ok {
				return fmt.Errorf("unknown language %q", key)
			}
			var err error
			t[l], err = s.Text()
			return err
		})
		return t, err
	case TypeBool:
		return s.Boolean()
	case TypeNumber:
		b, err := s.number()
		if err != nil {
			return nil, err
		}
		return strconv.ParseFloat(b, 64)
	case TypeID:
		n, err := s.Integer()
		return ID(n), err
	case TypeIDs:
		ids := []ID{}
		err := s.List(func() error {
			n, err := s.Integer()
			ids = append(ids, ID(n))
			return err
		})
		return ids, err
	case TypeStrings:
		list := []string{}
		err := s.List(func() error {
			v, err := s.Text()
			list = append(list, v)
			return err
		})
		return list, err
	case TypeWall:
		w, err := s.Text()
		if err != nil {
			return nil, err
		}
		return parseStoredWall(w)
	default:
		return nil, fmt.Errorf("unknown type %d", t)
	}
}

// parseStoredWall reads the form of WallLayout, years 0001 to 9999.
func parseStoredWall(b string) (Wall, error) {
	if b == noWallText {
		return NoWall, nil
	}
	bad := func() (Wall, error) { return 0, fmt.Errorf("not a wall clock: %q", b) }
	if len(b) != len(WallLayout) || b[4] != '-' || b[7] != '-' || b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return bad()
	}
	var part [6]int
	for n, at := range [6][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		for _, c := range []byte(b[at[0]:at[1]]) {
			if c < '0' || c > '9' {
				return bad()
			}
			part[n] = part[n]*10 + int(c-'0')
		}
	}
	t := time.Date(part[0], time.Month(part[1]), part[2], part[3], part[4], part[5], 0, time.UTC)
	// time.Date rolls over what does not exist.
	if y, m, d := t.Date(); y == 0 || y != part[0] || int(m) != part[1] || d != part[2] ||
		part[3] > 23 || part[4] > 59 || part[5] > 59 {
		return bad()
	}
	return Wall(t.Unix()), nil
}
