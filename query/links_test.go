package query

import (
	"strings"
	"testing"
)

func TestPageLinks(t *testing.T) {
	t.Parallel()
	// The example of interface 4.3.
	window := []LinkParam{
		{"per_page", "2"},
		{"start_date", "2026-05-01 00:00:00"},
		{"end_date", "2028-05-01 23:59:59"},
		{"strict_dates", "false"},
		{"categories", "jazz,folk"},
	}
	const encoded = "per_page=2&start_date=2026-05-01%2000%3A00%3A00&end_date=2028-05-01%2023%3A59%3A59" +
		"&strict_dates=false&categories=jazz%2Cfolk"
	for _, tt := range []struct {
		params []LinkParam
		page   int
		want   string
	}{
		{window, 1, encoded},
		{window, 2, "page=2&" + encoded},
		{nil, 1, ""},
		{nil, 7, "page=7"},
		{[]LinkParam{{"categories[]", "Jazz, blues"}, {"categories[]", "folk"}}, 1, "categories%5B%5D=Jazz%2C%20blues&categories%5B%5D=folk"},
		{[]LinkParam{{"search", "a-b.c_d~e+&=é音\x80!*'()"}}, 1, "search=a-b.c_d~e%2B%26%3D%C3%A9%E9%9F%B3%80%21%2A%27%28%29"},
	} {
		links := LinksTo("https://h/list/", tt.params)
		if got, want := links.Page(tt.page), strings.TrimSuffix("https://h/list/?"+tt.want, "?"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
