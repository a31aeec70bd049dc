package canonjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
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
func ofStandard(tb testing.TB, value any) []byte {
	tb.Helper()
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		tb.Fatal(err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

func FuzzWriter(f *testing.F) {
	for _, text := range append(seeds(f), "<&>\u2028\u2029\x00\x1f\x7f\xff é😀\"\\\b\f\n\r\t", "\xed\xa0\x80", "", "\ufffd\xff\xfe\xe2\x80", "音乐会 à quai … – ’", "\xe2\x80\xa8\xff") {
		f.Add(text, []byte(text))
	}
	html := NewEscapes(map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"})
	var pairs []string
	for c, escape := range html.texts {
		if escape != "" {
			pairs = append(pairs, string(rune(c)), escape)
		}
	}
	escape := strings.NewReplacer(pairs...)
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		for _, text := range []string{text, string(data)} {
			got := AppendString([]byte("x"), text)[1:]
			if want := ofStandard(t, text); !bytes.Equal(got, want) {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
			if of := AppendString(nil, []byte(text)); !bytes.Equal(of, got) {
				t.Errorf("%q: got %q of bytes, %q of a string", text, of, got)
			}
			want := escape.Replace(strings.ToValidUTF8(text, "\uFFFD"))
			if got := AppendText(nil, text, html); string(got) != want {
				t.Errorf("other form of %q: got %q, want %q", text, got, want)
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
		if infinite := math.IsInf(v, 0) || math.IsNaN(v); infinite || err != nil {
			if infinite != (err != nil) {
				t.Errorf("%v: got %q, %v", v, got, err)
			}
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

// reads are typed reads, with values of their types for encoding/json to read into.
var reads = map[string]struct {
	into func() any
	read func(reader *Reader) (any, error)
}{
	"string": {func() any { return new(string) }, func(reader *Reader) (any, error) { text, err := reader.String(); return &text, err }},
	"bool":   {func() any { return new(bool) }, func(reader *Reader) (any, error) { b, err := reader.Bool(); return &b, err }},
	"number": {func() any { return new(json.Number) }, func(reader *Reader) (any, error) { n, err := reader.Number(); return &n, err }},
	"int":    {func() any { return new(int64) }, func(reader *Reader) (any, error) { n, err := reader.Int(); return &n, err }},
	"ints": {func() any { return &[]int64{} }, func(reader *Reader) (any, error) {
		list := []int64{}
		err := reader.List(func() error { n, err := reader.Int(); list = append(list, n); return err })
		return &list, err
	}},
	"texts": {func() any { return &map[string]string{} }, func(reader *Reader) (any, error) {
		m := map[string]string{}
		err := reader.Object(func(k string) (err error) { m[k], err = reader.String(); return err })
		return &m, err
	}},
	"raw": {func() any { return &map[string]json.RawMessage{} }, func(reader *Reader) (any, error) {
		m := map[string]json.RawMessage{}
		err := reader.Object(func(k string) error { raw, err := reader.Raw(); m[k] = json.RawMessage(raw); return err })
		return &m, err
	}},
}

// FuzzReader holds what is read against encoding/json, which takes null for any type, text for
// numbers and half of a surrogate pair.
func FuzzReader(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			if _, err := Value(text); err == nil {
				t.Errorf("%q is read", text)
			}
			return
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var standard any
		fault := decoder.Decode(&standard)
		if fault == nil {
			if _, end := decoder.Token(); !errors.Is(end, io.EOF) {
				fault = errors.New("more")
			}
		}
		surrogate := strings.Contains(strings.ToLower(text), `\ud`)
		got, err := Value(text)
		switch {
		case err == nil && fault != nil, err != nil && fault == nil && !surrogate:
			t.Errorf("%q: got %#v, %v; encoding/json %v", text, got, err, fault)
		case err == nil && !reflect.DeepEqual(got, standard):
			t.Errorf("%q: got %#v, encoding/json %#v", text, got, standard)
		case err == nil && surrogate && strings.Contains(fmt.Sprint(standard), "\uFFFD") && !strings.Contains(text, "\uFFFD") && !strings.Contains(strings.ToLower(text), `\ufffd`):
			t.Errorf("%q is read with half of a surrogate pair", text)
		}
		for name, read := range reads {
			reader, want := NewReader(text), read.into()
			got, err := read.read(reader)
			if err == nil {
				err = reader.End()
			}
			fault := json.Unmarshal([]byte(text), want)
			switch {
			case err == nil && fault == nil && reflect.DeepEqual(got, want):
			case err != nil && (fault != nil || surrogate || name == "number" || strings.Contains(text, "null")):
			case err == nil && fault != nil && name == "raw": // strings are not looked into
			default:
				t.Errorf("%s of %q: got %#v, %v; encoding/json %#v, %v", name, text, got, err, want, fault)
			}
		}
	})
}
