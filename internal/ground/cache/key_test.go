package cache

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// hostile are texts that run into their neighbours where keys are joined by a
// separator, or that look like parts.
var hostile = []string{
	"", " ", "\n", "\x00", "title", "slug", "title\nslug", "title,slug", "\nslug", "a b", "a", "b", " b", "_fields", "\n_fields\n",
	"n\x02", "t\x01a", "-", "s\x01t\x01a", "1", "12", ":", "&", "=", "\xff",
}

// parts draws a sequence of parts: int64, string, []string (also nil), []int64.
func parts(t *rapid.T, label string) []any {
	text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
	number := rapid.OneOf(rapid.Int64Range(-2, 130), rapid.Int64())
	return rapid.SliceOfN(rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(number, func(n int64) any { return n }),
		rapid.Map(rapid.SliceOfN(text, 0, 3), func(texts []string) any { return texts }),
		rapid.Map(rapid.SliceOfN(number, 0, 3), func(l []int64) any { return l }),
		rapid.SampledFrom([]any{[]string(nil), []int64(nil)}),
	), 0, 4).Draw(t, label)
}

func keyOf(parts []any) Key {
	var key Key
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			key = key.Text(p)
		case int64:
			key = key.Number(p)
		case []string:
			key = key.Texts(p)
		case []int64:
			key = Numbers(key, p)
		}
	}
	return key
}

// plain makes parts comparable as the key tells them apart: lists without elements
// are alike whatever they would hold.
func plain(parts []any) []any {
	out := make([]any, 0, len(parts))
	for _, p := range parts {
		v := reflect.ValueOf(p)
		if v.Kind() != reflect.Slice {
			out = append(out, p)
			continue
		}
		if v.IsNil() {
			out = append(out, "no list")
			continue
		}
		list := []any{v.Len()}
		for i := range v.Len() {
			list = append(list, v.Index(i).Interface())
		}
		out = append(out, list)
	}
	return out
}

// TestDifferentPartsDifferentKeys: two sequences of parts have one key when they
// are the same, and only then.
func TestDifferentPartsDifferentKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts(t, "a"), parts(t, "b")
		if equal := reflect.DeepEqual(plain(a), plain(b)); equal != bytes.Equal(keyOf(a), keyOf(b)) {
			t.Fatalf("%#v and %#v: keys %q and %q, same parts %t", a, b, keyOf(a), keyOf(b), equal)
		}
		if joined := keyOf(a).Join(keyOf(b)); !bytes.Equal(joined, keyOf(append(append([]any{}, a...), b...))) {
			t.Fatalf("%#v and %#v joined: %q", a, b, joined)
		}
	})
}

// TestNeighbours: every two hostile texts, apart, together and as a list, have keys
// of their own.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	seen := map[string][]any{}
	add := func(parts ...any) {
		key := keyOf(parts).String()
		if other, known := seen[key]; known {
			t.Errorf("%#v and %#v have one key %q", other, parts, key)
		}
		seen[key] = parts
	}
	for _, a := range hostile {
		add(a)
		add([]string{a})
		for _, b := range hostile {
			add(a, b)
			add([]string{a, b})
			add(a, []string{b})
			add([]string{a}, b)
		}
	}
	add([]string(nil))
	add([]string{})
	add(int64(1), int64(23))
	add(int64(12), int64(3))
	add([]int64{1, 23})
	add([]int64{1}, int64(23))
}
