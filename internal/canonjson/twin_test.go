package canonjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// seeds are JSON texts, right and wrong; stored ones among them.
func seeds(tb testing.TB) []string {
	tb.Helper()
	list := []string{
		`{"a":"x","n":2.50,"l":[1,null,[]],"t":true,"f":false,"o":{"x":{}}}`, "\t{ \"a\" :\r\n[ 1 , -0.5e+7 ] }\n", `[]`, `"x"`, `-1E-2`, `0`, `-0`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`,
		`{"a":"\u00e9\n\"\ud83d\ude00\ud800\/\\"}`, `"\ud83d\ude00"`, `"\udc00\ud800"`, `"\ud800\u0061"`, `"\ufffd"`, `"\ud800\ufffd"`, `"\u+123"`, `{"":""}`, `{"a":1,"a":{"b":2}}`, `{"\u0061":1,"a":2}`,
		`{"a":}`, `{"a":1`, `{"a"`, `{`, `{"a":1,}`, `{,"a":1}`, `[1,]`, `[1 2]`, `{"a" 1}`, `{"a":1 "b":2}`, `{1:2}`, `{} {}`, `{} x`, "{}\x00", "\x00", "[1\x00]",
		`01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `--1`, `0x1`, `1.5.2`, `1-2`, `tru`, `truex`, `nul`, `null`, `NaN`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\\"`, `"\\\"`, `"\\\""`, "\"a\nb\"", "\"a\x7f\"", "\"\xff\"", "\"\\n\xff\"",
		"\"\x00\"", "\ufeff{}", strings.Repeat("[", 40) + strings.Repeat("]", 40), strings.Repeat("[", 70) + strings.Repeat("]", 70), strings.Repeat("[", 40), `{"fields":{"x":["` + "\x01\xff\\q" + `"]}}`,
		`["x",true,["a","b"],[1,2],{"en":"x","fr":"y"},-1.5e3,77]`,
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "calendar", "testdata", "changes", "*.golden"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no stored changes: %v", err)
	}
	for _, name := range append(files, filepath.Join("..", "..", "calendar", "testdata", "record.golden")) {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, string(text))
	}
	return list
}

// ofStandard returns the JSON of encoding/json without HTML escaping.
func ofStandard(tb testing.TB, v any) []byte {
	tb.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func FuzzWriter(f *testing.F) {
	for _, s := range append(seeds(f), "<&>\u2028\u2029\x00\x1f\x7f\xff é😀\"\\\b\f\n\r\t", "\xed\xa0\x80", "", "\ufffd\xff\xfe\xe2\x80", "音乐会 à quai … – ’", "\xe2\x80\xa8\xff") {
		f.Add(s, []byte(s))
	}
	html := map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"}
	forms := []struct {
		old *oldTextForm
		now *Escapes
	}{{oldStored, Stored}, {oldNewTextForm(nil), NewEscapes(nil)}, {oldNewTextForm(html), NewEscapes(html)}}
	f.Fuzz(func(t *testing.T, s string, b []byte) {
		for _, s := range []string{s, string(b)} {
			got := AppendString([]byte("x"), s)[1:]
			if old := oldAppendJSON(nil, s); !bytes.Equal(got, old) {
				t.Errorf("%q: got %q, before %q", s, got, old)
			}
			if want := ofStandard(t, s); !bytes.Equal(got, want) {
				t.Errorf("%q: got %q, want %q", s, got, want)
			}
			if of := AppendString(nil, []byte(s)); !bytes.Equal(of, got) {
				t.Errorf("%q: got %q of bytes, %q of a string", s, of, got)
			}
			for i, form := range forms {
				got, old := AppendText([]byte("x"), s, form.now), oldAppendText([]byte("x"), s, form.old)
				if !bytes.Equal(got, old) {
					t.Errorf("form %d of %q: got %q, before %q", i, s, got, old)
				}
			}
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e21, 1e20, 1e-6, 1e-7, 42.3554, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()} {
		f.Add(math.Float64bits(v))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		v := math.Float64frombits(bits)
		got, err := AppendNumber([]byte("x"), v)
		old, fault := oldAppendNumber([]byte("x"), v)
		if !bytes.Equal(got, old) || (err == nil) != (fault == nil) {
			t.Fatalf("%v: got %q, %v; before %q, %v", v, got, err, old, fault)
		}
		if err != nil {
			return
		}
		if want := ofStandard(t, v); v != 0 && string(got[1:]) != string(want) {
			t.Errorf("%v: got %q, want %q", v, got[1:], want)
		}
		n, err := NewReader(string(got[1:])).Number()
		if back, fault := n.Float64(); err != nil || fault != nil || back != v {
			t.Errorf("%v: read back as %v, %v, %v", v, back, err, fault)
		}
	})
}

// oldNumber reads a number as values of the type were read.
func oldNumber(s *oldScanner) (any, error) {
	n, err := s.number()
	if err != nil {
		return nil, err
	}
	return strconv.ParseFloat(n, 64)
}

func newNumber(r *Reader) (any, error) {
	n, err := r.Number()
	if err != nil {
		return nil, err
	}
	return n.Float64()
}

// reads are reads of the same type by the old scanner and by the new reader: those of the
// stored types, and of others.
var reads = map[string]struct {
	old func(s *oldScanner) (any, error)
	now func(r *Reader) (any, error)
}{
	"string": {func(s *oldScanner) (any, error) { return s.Text() }, func(r *Reader) (any, error) { return r.String() }},
	"bool":   {func(s *oldScanner) (any, error) { return s.Boolean() }, func(r *Reader) (any, error) { return r.Bool() }},
	"number": {oldNumber, newNumber},
	"int":    {func(s *oldScanner) (any, error) { return s.Integer() }, func(r *Reader) (any, error) { return r.Int() }},
	"null":   {func(s *oldScanner) (any, error) { return s.null(), nil }, func(r *Reader) (any, error) { return r.Null(), nil }},
	"raw":    {func(s *oldScanner) (any, error) { return s.Raw() }, func(r *Reader) (any, error) { return r.Raw() }},
	"ints": {
		func(s *oldScanner) (any, error) {
			list := []int64{}
			return &list, s.List(func() error { n, err := s.Integer(); list = append(list, n); return err })
		},
		func(r *Reader) (any, error) {
			list := []int64{}
			return &list, r.List(func() error { n, err := r.Int(); list = append(list, n); return err })
		},
	},
	"strings": {
		func(s *oldScanner) (any, error) {
			list := []string{}
			return &list, s.List(func() error { n, err := s.Text(); list = append(list, n); return err })
		},
		func(r *Reader) (any, error) {
			list := []string{}
			return &list, r.List(func() error { n, err := r.String(); list = append(list, n); return err })
		},
	},
	"texts": {
		func(s *oldScanner) (any, error) {
			m := map[string]string{}
			return m, s.Object(func(k string) (err error) { m[k], err = s.Text(); return err })
		},
		func(r *Reader) (any, error) {
			m := map[string]string{}
			return m, r.Object(func(k string) (err error) { m[k], err = r.String(); return err })
		},
	},
	"fields": {
		func(s *oldScanner) (any, error) {
			m := map[string]string{}
			return m, s.Object(func(k string) (err error) { m[k], err = s.Raw(); return err })
		},
		func(r *Reader) (any, error) {
			m := map[string]string{}
			return m, r.Object(func(k string) (err error) { m[k], err = r.Raw(); return err })
		},
	},
}

// tooDeep reports whether the old scanner refused a text for its nesting alone.
func tooDeep(err error) bool { return err != nil && err.Error() == "nested too deeply" }

func FuzzReader(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, read := range reads {
			s, r := oldNewScanner(text), NewReader(text)
			want, fault := read.old(s)
			got, err := read.now(r)
			if tooDeep(fault) {
				continue
			}
			// Old numbers end before what cannot follow; the caller refuses it then.
			if (fault == nil) != (err == nil) || err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %q: got %#v, %v; before %#v, %v", name, text, got, err, want, fault)
			}
			if err == nil && (s.i != r.i || (s.End() == nil) != (r.End() == nil)) {
				t.Errorf("%s of %q: at byte %d, before at %d", name, text, r.i, s.i)
			}
		}
		got, err := Value(text)
		want, fault := oldReadJSON(text)
		if !tooDeep(fault) && ((fault == nil) != (err == nil) || err == nil && !reflect.DeepEqual(got, want)) {
			t.Errorf("value of %q: got %#v, %v; before %#v, %v", text, got, err, want, fault)
		}
		if !utf8.ValidString(text) {
			return
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var standard any
		fault = d.Decode(&standard)
		if fault == nil {
			if _, end := d.Token(); !errors.Is(end, io.EOF) {
				fault = errors.New("more")
			}
		}
		switch lone := fault == nil && oldHasLoneSurrogate([]byte(text)); {
		case lone != (fault == nil && err != nil):
			t.Errorf("%q: got %v, half of a surrogate pair: %v", text, err, lone)
		case fault != nil && err == nil:
			t.Errorf("%q: got %#v, encoding/json: %v", text, got, fault)
		case err == nil && !reflect.DeepEqual(got, standard):
			t.Errorf("%q: got %#v, encoding/json %#v", text, got, standard)
		}
	})
}
