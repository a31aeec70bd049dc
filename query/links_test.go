package query

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		name   string
		params []LinkParam
		page   int
		want   string
	}{
		{"page 1 has no page", window, 1, encoded},
		{"page 2", window, 2, "page=2&" + encoded},
		{"nothing sent", nil, 1, ""},
		{"page alone", nil, 7, "page=7"},
		{
			"element with a comma",
			[]LinkParam{{"categories[]", "Jazz, blues"}, {"categories[]", "folk"}},
			1,
			"categories%5B%5D=Jazz%2C%20blues&categories%5B%5D=folk",
		},
		{"unreserved stay", []LinkParam{{"search", "a-b.c_d~e"}}, 1, "search=a-b.c_d~e"},
		{
			"the rest is encoded",
			[]LinkParam{{"search", "+&=é音\x80!*'()"}},
			1,
			"search=%2B%26%3D%C3%A9%E9%9F%B3%80%21%2A%27%28%29",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			links := LinksTo("https://h/list/", tt.params)
			want := strings.TrimSuffix("https://h/list/?"+tt.want, "?")
			if got := links.Page(tt.page); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestPageLinksReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		links := LinksTo("", []LinkParam{{"search", value}})
		got, err := url.ParseQuery(strings.TrimPrefix(links.Page(3), "?"))
		if err != nil || got.Get("search") != value || got.Get("page") != "3" {
			t.Fatalf("%q reads back as %q, %v", value, got, err)
		}
	})
}
