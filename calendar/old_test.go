package calendar

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// The stored form as it was read and written before internal/canonjson. twin_test.go holds
// the present code against it.

// EncodeRecord gives the canonical JSON of a record: sorted keys, no white
// space, no escaping of < > &. A field that the table of the kind lacks, or a
// value of another Go type than its row says, is an error that names the field.
func oldEncodeRecord(r *Record) ([]byte, error) {
	state, _, err := oldEncodeParts(r)
	return state, err
}

// encodeRecord gives the record and the part of it that are its fields.
func oldEncodeParts(r *Record) (state, fields []byte, err error) {
	s := SpecOf(r.Kind)
	if s == nil {
		return nil, nil, fmt.Errorf("encode record %d: unknown kind %d", r.ID, r.Kind)
	}
	if r.Home >= langCount {
		return nil, nil, fmt.Errorf("encode record %d: unknown language %d", r.ID, r.Home)
	}
	b := make([]byte, 0, 1536)
	b = append(b, `{"changed":"`...)
	b = r.Changed.UTC().AppendFormat(b, changedLayout)
	b = append(b, '"')
	if r.Deleted {
		b = append(b, `,"deleted":true`...)
	}
	if r.Erased {
		b = append(b, `,"erased":true`...)
	}
	b = append(b, `,"fields":`...)
	from := len(b)
	if b, err = oldAppendFields(s, b, r.Fields, false); err != nil {
		return nil, nil, fmt.Errorf("encode record %d: %w", r.ID, err)
	}
	end := len(b)
	b = append(b, `,"home":"`...)
	b = append(b, r.Home.String()...)
	b = append(b, `","id":`...)
	b = strconv.AppendInt(b, int64(r.ID), 10)
	b = append(b, `,"kind":"`...)
	b = append(b, r.Kind.String()...)
	b = append(b, `","version":`...)
	b = strconv.AppendInt(b, r.Version, 10)
	b = append(b, '}')
	return b, b[from:end:end], nil
}

// EncodeChange gives the canonical JSON of the fields of a change: values by
// name, null for removed ones. The secret of a change is not part of it.
func oldEncodeChange(c Change) ([]byte, error) {
	if _, err := c.verb(); err != nil {
		return nil, err
	}
	b, err := oldAppendFields(SpecOf(c.Kind), make([]byte, 0, 512), c.Fields, true)
	if err != nil {
		return nil, fmt.Errorf("encode %s of record %d: %w", c.Name, c.ID, err)
	}
	return b, nil
}

// EncodeBoth gives EncodeChange of a change and EncodeRecord of the record that Apply
// made with it. The fields of a new record are those that the change sets: they are
// written once and lie in the record.
func oldEncodeBoth(c Change, after *Record) (fields, state []byte, err error) {
	if state, fields, err = oldEncodeParts(after); err != nil {
		return nil, nil, err
	}
	if verb, err := c.verb(); err != nil || verb != Created || len(c.Fields) != len(after.Fields) {
		fields, err = oldEncodeChange(c)
		return fields, state, err
	}
	return fields, state, nil
}

// appendFields appends the object of the fields, by the sorted rows of the table.
func oldAppendFields(s *Spec, b []byte, fields Fields, removals bool) ([]byte, error) {
	b = append(b, '{')
	left := len(fields)
	for _, f := range s.stored {
		if left == 0 {
			break
		}
		v, ok := fields[f.Name]
		if !ok {
			continue
		}
		left--
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f.Name...)
		b = append(b, '"', ':')
		if v == nil && removals {
			b = append(b, "null"...)
			continue
		}
		var err error
		if b, err = oldAppendValue(b, f.Stored, v); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	if left > 0 {
		for name := range fields {
			if f := s.Field(name); f == nil || f.Stored == 0 {
				return nil, fmt.Errorf("unknown field %q of kind %s", name, s.Kind)
			}
		}
	}
	return append(b, '}'), nil
}

func oldAppendValue(b []byte, t Type, v any) ([]byte, error) {
	switch t {
	case TypeString:
		if v, ok := v.(string); ok {
			return oldAppendJSON(b, v), nil
		}
	case TypeText:
		if v, ok := v.(Text); ok {
			return oldAppendTextField(b, v), nil
		}
	case TypeBool:
		if v, ok := v.(bool); ok {
			return strconv.AppendBool(b, v), nil
		}
	case TypeNumber:
		if v, ok := v.(float64); ok {
			return oldAppendNumber(b, v)
		}
	case TypeID:
		if v, ok := v.(ID); ok {
			return strconv.AppendInt(b, int64(v), 10), nil
		}
	case TypeIDs:
		if v, ok := v.([]ID); ok {
			return oldAppendList(b, v, func(b []byte, id ID) []byte { return strconv.AppendInt(b, int64(id), 10) }), nil
		}
	case TypeStrings:
		if v, ok := v.([]string); ok {
			return oldAppendList(b, v, oldAppendJSON[string]), nil
		}
	case TypeWall:
		if v, ok := v.(Wall); ok {
			return oldAppendWall(b, v)
		}
	}
	return nil, fmt.Errorf("value of Go type %T does not fit the table", v)
}

func oldAppendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, v)
	}
	return append(b, ']')
}

func oldAppendTextField(b []byte, t Text) []byte {
	b = append(b, '{')
	for _, l := range oldTextOrder {
		if t[l] == "" {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, l.String()...)
		b = append(b, '"', ':')
		b = oldAppendJSON(b, t[l])
	}
	return append(b, '}')
}

func oldAppendWall(b []byte, w Wall) ([]byte, error) {
	if w != NoWall && (w < minWall || w > maxWall) {
		return nil, fmt.Errorf("wall clock %d lies outside of the years 0001 to 9999", int64(w))
	}
	b = append(b, '"')
	if w == NoWall {
		b = append(b, noWallText...)
	} else {
		b = w.UTC().AppendFormat(b, WallLayout)
	}
	return append(b, '"'), nil
}

// appendNumber writes a number as encoding/json does, so that the bytes stay the
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

// DecodeRecord reads EncodeRecord. An unknown field, a field given twice, or a value that
// does not fit the table is an error that names the field.
func oldDecodeRecord(b []byte) (*Record, error) { return oldDecodeFrom(string(b), nil) }

// DecodeText is DecodeRecord of a text. The texts of the record lie in it, so it lives
// as long as one of them.
func oldDecodeText(text string) (*Record, error) { return oldDecodeFrom(text, nil) }

// DecodeSome is DecodeText of some fields alone, and the record lives on without the text.
func oldDecodeSome(text string, names []string) (*Record, error) {
	r, err := oldDecodeFrom(text, names)
	if err == nil {
		r.Fields = r.Fields.Copy(names)
	}
	return r, err
}

// decodeRecord reads a record with some of its fields; nil is all.
func oldDecodeFrom(text string, names []string) (*Record, error) {
	r := &Record{}
	s := oldScanner{b: text}
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
				r.Changed, err = oldParseChanged(v)
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
	if r.Fields, err = oldDecodeFields(&s, SpecOf(r.Kind), held, names, false); err != nil {
		return nil, fmt.Errorf("decode record %d: %w", r.ID, err)
	}
	r.Sum = SumOf(text)
	return r, nil
}

// DecodeChange reads a stored change by its name. home is the language of the
// record; only ".created" keeps it.
func oldDecodeChange(name string, id ID, home Lang, fields json.RawMessage) (Change, error) {
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
	s := oldScanner{b: string(fields)}
	c.Fields, err = oldDecodeFields(&s, SpecOf(c.Kind), 4, nil, true)
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return Change{}, fmt.Errorf("decode %s of record %d: %w", name, id, err)
	}
	return c, nil
}

// decodeFields reads an object of about so many fields, of which some are wanted; nil is all.
func oldDecodeFields(s *oldScanner, spec *Spec, about int, names []string, removals bool) (Fields, error) {
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
type oldScanner struct {
	b    string
	i    int
	last int // bytes of the last text with escapes: the next one may be as long
}

// NewScanner makes a Scanner of a text.
func oldNewScanner(text string) *oldScanner { return &oldScanner{b: text} }

var oldErrCut = errors.New("unexpected end of JSON")

// maxDepth bounds the nesting of values that are skipped over.
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
			if all&oldHighBits != 0 && !utf8.ValidString(out) {
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
	oldLowBits  = 0x0101010101010101
	oldHighBits = 0x8080808080808080
)

// Special tells whether one of eight bytes may be a control character, a quote, a
// backslash or one of others. It may take one above them for such a byte, never the other
// way round.
func oldSpecial(w uint64, others ...byte) bool {
	found := (w-oldLowBits*' ')&^w | oldZeros(w^oldLowBits*'"') | oldZeros(w^oldLowBits*'\\')
	for _, c := range others {
		found |= oldZeros(w ^ oldLowBits*uint64(c))
	}
	return found&oldHighBits != 0
}

// zeros has the high bit of each of eight bytes that is 0, and maybe of some above one.
func oldZeros(w uint64) uint64 { return (w - oldLowBits) &^ w }

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

// value reads a value of a stored type.
func (s *oldScanner) value(t Type) (any, error) {
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
		return oldParseStoredWall(w)
	default:
		return nil, fmt.Errorf("unknown type %d", t)
	}
}

// parseStoredWall reads the form of WallLayout, years 0001 to 9999.
func oldParseStoredWall(b string) (Wall, error) {
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

// TextForm is a way to write texts in JSON.
type oldTextForm struct {
	escapes [256]string // "": as it is
	others  []byte      // what is looked at beside quotes, backslashes and control characters
	stored  bool        // separators of lines, and each byte that is no UTF-8, have escapes
}

// NewTextForm makes a form with further escapes, for ASCII. Text that is no UTF-8 is
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

// lineLead is the first byte of the separators of lines U+2028 and U+2029.
const oldLineLead = 0xe2

// stored is the form of encoding/json without HTML escaping.
var oldStored = func() *oldTextForm {
	f := oldNewTextForm(map[byte]string{'\b': `\b`, '\f': `\f`})
	f.stored, f.others = true, []byte{oldLineLead}
	return f
}()

// AppendJSON writes a text as encoding/json does without HTML escaping.
// Invalid UTF-8 becomes U+FFFD.
func oldAppendJSON[T string | []byte](b []byte, s T) []byte {
	return append(oldAppendText(append(b, '"'), s, oldStored), '"')
}

// AppendText writes a text in a form, without the quotes around it.
func oldAppendText[T string | []byte](b []byte, s T, f *oldTextForm) []byte {
	valid := utf8.Valid([]byte(s))
	if !valid && !f.stored {
		s, valid = T(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD"))), true
	}
	start := 0
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) {
			w := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
			if oldSpecial(w, f.others...) || !valid && w&oldHighBits != 0 {
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

// oldTextOrder are the languages in the order of their names, as canonical JSON has
// the keys of a Text.
var oldTextOrder = func() []Lang {
	o := slices.Clone(Langs[:])
	slices.SortFunc(o, func(a, b Lang) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return o
}()

// oldParseChanged reads the form of changedLayout.
func oldParseChanged(s string) (time.Time, error) {
	t, err := time.Parse(changedLayout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("not a moment: %q", s)
	}
	return t, nil
}
