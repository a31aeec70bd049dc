package calendar

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseValues(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "values.txt", "values", 3) {
		var in, v any
		d := json.NewDecoder(strings.NewReader(row[1]))
		d.UseNumber()
		if err := d.Decode(&in); err != nil {
			t.Fatalf("%s: %v", row[1], err)
		}
		text, _ := in.(string)
		var ok bool
		switch row[0] {
		case "bool":
			v, ok = ParseBool(in)
		case "int":
			v, ok = ParseInt(in)
		case "nearest":
			v, ok = ParseNearestInt(text)
		case "id":
			v, ok = ParseID(in)
		case "number":
			v, ok = ParseNumber(in)
		case "list":
			v, ok = ParseList(in), true
		default:
			t.Fatalf("nothing reads %s", row[0])
		}
		got := "refused"
		if ok {
			b, err := marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if got != row[2] {
			t.Errorf("%s of %s: got %s, want %s", row[0], row[1], got, row[2])
		}
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
