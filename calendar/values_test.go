package calendar

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseBool(t *testing.T) {
	t.Parallel()
	for _, v := range []any{true, json.Number("1"), "true", "TRUE", "1", "yes", "On", " yes "} {
		if got, ok := ParseBool(v); !got || !ok {
			t.Errorf("ParseBool(%#v) = %v, %v; want true", v, got, ok)
		}
	}
	for _, v := range []any{false, json.Number("0"), "false", "0", "no", "OFF"} {
		if got, ok := ParseBool(v); got || !ok {
			t.Errorf("ParseBool(%#v) = %v, %v; want false", v, got, ok)
		}
	}
	for _, v := range []any{nil, "", "2", json.Number("2"), json.Number("0.5"), "y", "truee", "maybe", []any{true}, map[string]any{}} {
		if got, ok := ParseBool(v); ok {
			t.Errorf("ParseBool(%#v) = %v, want it refused", v, got)
		}
	}
}

func TestParseInt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want int64
	}{
		{json.Number("3"), 3},
		{"3", 3},
		{" 3\u00a0", 3},
		{json.Number("2.0"), 2},
		{"2.00", 2},
		{json.Number("1e0"), 1},
		{"1E+3", 1000},
		{"1200e-2", 12},
		{"-7", -7},
		{"+7", 7},
		{"007", 7},
		{"0.000e99999999999999", 0},
		{"9223372036854775807", math.MaxInt64},
		{"-9223372036854775808", math.MinInt64},
	}
	for _, tt := range tests {
		if got, ok := ParseInt(tt.in); !ok || got != tt.want {
			t.Errorf("ParseInt(%#v) = %d, %v; want %d", tt.in, got, ok, tt.want)
		}
	}
	for _, v := range []any{
		nil, true, "", " ", "2.5", json.Number("2.5"), "foo", "1e", "e1", ".", "-", "0x10", "1_000", "1,000", "NaN", "Inf",
		"9223372036854775808", "1e19", "1e999999999999", "1e-1", "٣",
		[]any{json.Number("1")},
	} {
		if got, ok := ParseInt(v); ok {
			t.Errorf("ParseInt(%#v) = %d, want it refused", v, got)
		}
	}
}

func TestParseNearestInt(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"3.0": 3, "-1e2": -100, "9223372036854775807": math.MaxInt64, "9223372036854775808": math.MaxInt64,
		"1e300": math.MaxInt64, "-1e300": math.MinInt64, "-9223372036854775809": math.MinInt64, "0e300": 0,
	} {
		if got, ok := ParseNearestInt(s); !ok || got != want {
			t.Errorf("ParseNearestInt(%q) = %d, %v; want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "1.5", "1e-300", "x"} {
		if got, ok := ParseNearestInt(s); ok {
			t.Errorf("ParseNearestInt(%q) = %d, want it refused", s, got)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, v := range []any{json.Number("5"), "5", " 5 ", "005", json.Number("5.0")} {
		if got, ok := ParseID(v); !ok || got != 5 {
			t.Errorf("ParseID(%#v) = %d, %v; want 5", v, got, ok)
		}
	}
	for _, v := range []any{json.Number("0"), "0", json.Number("-5"), "-5", "+5", "5.0", "1e3", json.Number("5.5"), "", "x", nil, true, "99999999999999999999"} {
		if got, ok := ParseID(v); ok {
			t.Errorf("ParseID(%#v) = %d, want it refused", v, got)
		}
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want float64
	}{
		{json.Number("42.3554"), 42.3554},
		{json.Number("1e2"), 100},
		{"-71.0501", -71.0501},
		{" 5 ", 5},
		{"+5", 5},
		{".5", 0.5},
		{"-0", 0},
	}
	for _, tt := range tests {
		got, ok := ParseNumber(tt.in)
		if !ok || got != tt.want || math.Signbit(got) != math.Signbit(tt.want) {
			t.Errorf("ParseNumber(%#v) = %v, %v; want %v", tt.in, got, ok, tt.want)
		}
	}
	for _, v := range []any{nil, true, "", "x", "1e2", "1,5", "0x1p2", "Inf", "nan", "1_0", json.Number("1e999"), []any{}} {
		if got, ok := ParseNumber(v); ok {
			t.Errorf("ParseNumber(%#v) = %v, want it refused", v, got)
		}
	}
}

func TestParseList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   any
		want []any
	}{
		{"null", nil, nil},
		{"empty text", "", nil},
		{"blanks and commas", " , ,, ", nil},
		{"comma text", "jazz , folk,jazz", []any{"jazz", "folk"}},
		{"one number", json.Number("5"), []any{json.Number("5")}},
		{"elements are not split", []any{"a,b", " c "}, []any{"a,b", "c"}},
		{"empty and equal ones", []any{"", nil, json.Number("5"), "5", json.Number("5")}, []any{json.Number("5"), "5"}},
		{"objects stay", []any{map[string]any{}, []any{}, true}, []any{map[string]any{}, []any{}, true}},
		{"object alone", map[string]any{"a": "b"}, []any{map[string]any{"a": "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ParseList(tt.in)); diff != "" {
				t.Errorf("ParseList (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"abc", "abc"},
		{"a\x00b\x07c\x7fd\u0085e", "abcde"},
		{"a\r\nb\rc\nd\te", "a\nb\nc\nd\te"},
		{"a\xffb", "a\uFFFDb"},
		{"音乐\u200d会", "音乐\u200d会"},
	}
	for _, tt := range tests {
		if got := Plain(tt.in); got != tt.want {
			t.Errorf("Plain(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		if once := Plain(s); Plain(once) != once {
			t.Fatalf("Plain(%q) changes again", s)
		}
	})
}
