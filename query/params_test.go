package query

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

// The golden file is written by hand from the interface, so there is no -update.
func TestParamsGolden(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/params.golden")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			cells := strings.Split(line, "|")
			for i, cell := range cells {
				cells[i] = strings.TrimSpace(cell)
			}
			want = append(want, strings.Join(cells, "|"))
		}
	}
	var got []string
	for _, k := range calendar.Kinds {
		got = append(got, k.Collection())
		for _, p := range Params(k) {
			ext := ""
			if p.Extension {
				ext = "extension"
			}
			cells := []string{p.Name, p.Type, p.Format, p.Default, strings.Join(p.Enum, " "), ext}
			got = append(got, strings.Join(cells, "|"))
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("parameter tables (-want +got):\n%s", d)
	}
}

func TestIsDefault(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value string
		want        bool
	}{
		{"strict_dates", "false", true},
		{"strict_dates", "0", true},
		{"strict_dates", "true", false},
		{"highlight", "no", true},
		{"typos", "off", true},
		{"typos", "auto", false},
		{"geoloc_radius", "25", true},
		{"geoloc_radius", "30", false},
		{"search", "", false},
		{"featured", "false", false},
		{"unknown", "x", false},
	} {
		if got := IsDefault(calendar.KindEvent, tc.name, tc.value); got != tc.want {
			t.Errorf("%s=%s: %t", tc.name, tc.value, got)
		}
	}
}
