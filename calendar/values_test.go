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
		var in, value any
		decoder := json.NewDecoder(strings.NewReader(row[1]))
		decoder.UseNumber()
		if err := decoder.Decode(&in); err != nil {
			t.Fatalf("%s: %v", row[1], err)
		}
		text, _ := in.(string)
		var ok bool
		switch row[0] {
		case "bool":
			value, ok = ParseBool(in)
		case "int":
			value, ok = ParseInt(in)
		case "nearest":
			value, ok = ParseNearestInt(text)
		case "id":
			value, ok = ParseID(in)
		case "number":
			value, ok = ParseNumber(in)
		case "list":
			value, ok = ParseList(in), true
		default:
			t.Fatalf("nothing reads %s", row[0])
		}
		got := "refused"
		if ok {
			data, err := marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			got = string(data)
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
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "s"))
		if once := Plain(text); Plain(once) != once {
			t.Fatalf("Plain(%q) changes again", text)
		}
	})
}
