package param

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit/table"
)

func isTestList(name string) bool { return name == "tags" || name == "venue" }

// wantedInput is an Input in JSON, its numbers as they are written.
func wantedInput(t *testing.T, text string) (input calendar.Input) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&input); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return input
}

func TestPairs(t *testing.T) {
	t.Parallel()
	for _, row := range table.Rows(t, "pairs.txt") {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			if bad := ParsePairs(row[1]).Invalid(); (bad != nil) != (row[0] == "invalid UTF-8") {
				t.Errorf("invalid %v", bad)
			}
			if diff := cmp.Diff(wantedInput(t, row[2]), ParsePairs(row[1]).Input(isTestList)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", row[1], diff)
			}
		})
	}
}

// FuzzPairs: whatever is sent, decoding ends and gives only the Go types that
// an Input may hold.
func FuzzPairs(f *testing.F) {
	for _, text := range []string{"a=1", "a[]=1&a[0]=2", "a[b][c]=1&a=2", "tags=1&tags[]=2&tags[x]=3", "%=[&]=%5B", "a[0][][b]=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for name, value := range ParsePairs(raw).Input(isTestList) {
			checkValue(t, name, value)
		}
	})
}

func checkValue(t *testing.T, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
	case []any:
		for _, value := range v {
			checkValue(t, name, value)
		}
	case map[string]any:
		for _, value := range v {
			checkValue(t, name, value)
		}
	default:
		t.Errorf("%s: %T", name, v)
	}
}
