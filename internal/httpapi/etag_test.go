package httpapi

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query"
)

func TestNoneMatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sent []string
		etag string
		want bool
	}{
		"not sent":       {nil, `"3-a"`, false},
		"equal":          {[]string{`"3-a"`}, `"3-a"`, true},
		"weak sent":      {[]string{`W/"3-a"`}, `"3-a"`, true},
		"weak held":      {[]string{`"3-a"`}, `W/"3-a"`, true},
		"list":           {[]string{`"x", W/"y","3-a"`}, `"3-a"`, true},
		"several":        {[]string{`"x"`, `"3-a"`}, `"3-a"`, true},
		"star":           {[]string{`*`}, `"3-a"`, true},
		"other mark":     {[]string{`"3-b"`}, `"3-a"`, false},
		"comma inside":   {[]string{`"a,b"`}, `"a,b"`, true},
		"part of quoted": {[]string{`"a,b"`}, `"b"`, false},
		"unquoted":       {[]string{`3-a`}, `"3-a"`, false},
		"empty":          {[]string{``}, `"3-a"`, false},
	} {
		if got := noneMatch(http.Header{"If-None-Match": tc.sent}, tc.etag); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestMatchVersions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sent []string
		want []int64
	}{
		"not sent":        {nil, nil},
		"empty":           {[]string{""}, nil},
		"one":             {[]string{`"3-a"`}, []int64{3}},
		"weak":            {[]string{`W/"3-a"`}, []int64{3}},
		"list":            {[]string{`"3-a", "4-b"`, `"5-c"`}, []int64{3, 4, 5}},
		"star":            {[]string{"*"}, []int64{0}},
		"foreign":         {[]string{`"abc"`, `"x-1"`, `7`, `"0-a"`, `"-1-a"`}, []int64{}},
		"garbage":         {[]string{`"`}, []int64{}},
		"of a list (4.1)": {[]string{`W/"6e7d289788d75ee3"`}, []int64{}},
	} {
		if diff := cmp.Diff(tc.want, matchVersions(http.Header{"If-Match": tc.sent})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRecordTag: the mark changes with everything besides the version that the
// answer depends on.
func TestRecordTag(t *testing.T) {
	t.Parallel()
	a := &api{}
	en := rootOf(origin{"https://x", "x", ""}, location{prefix: "api", namespace: Namespace}, 0)
	fr := rootOf(origin{"https://x", "x", ""}, location{segment: "/fr", prefix: "api", namespace: Namespace}, 0)
	other := rootOf(origin{"https://x", "x", ""}, location{prefix: "api", namespace: Namespace}, 7)
	view := func(mark uint64, version int64) *query.View {
		r := tagRecord("a")
		r.Version = version
		return &query.View{Record: r, Mark: mark}
	}
	seen := map[string]string{}
	for name, tag := range map[string]string{
		"plain":    a.recordTag(en, calendar.LangEN, view(1, 3), nil),
		"mark":     a.recordTag(en, calendar.LangEN, view(2, 3), nil),
		"version":  a.recordTag(en, calendar.LangEN, view(1, 4), nil),
		"root":     a.recordTag(fr, calendar.LangEN, view(1, 3), nil),
		"lang":     a.recordTag(en, calendar.LangFR, view(1, 3), nil),
		"fields":   a.recordTag(en, calendar.LangEN, view(1, 3), []string{"id"}),
		"fields 2": a.recordTag(en, calendar.LangEN, view(1, 3), []string{"id", "name"}),
		"settings": a.recordTag(other, calendar.LangEN, view(1, 3), nil),
	} {
		if other, ok := seen[tag]; ok {
			t.Errorf("%s and %s have the same tag %s", name, other, tag)
		}
		seen[tag] = name
	}
}

// TestTagsNameTheContent: the same id, version and mark with another content have
// another tag; so does another rendering of the same.
func TestTagsNameTheContent(t *testing.T) {
	t.Parallel()
	a := &api{}
	view := func(sum uint64) *query.View {
		return &query.View{Record: &calendar.Record{ID: 1, Kind: calendar.KindEvent, Version: 2, Sum: sum}, Mark: 7}
	}
	one, other := view(1), view(3)
	rt := &root{}
	if a.recordTag(rt, calendar.LangEN, one, nil) == a.recordTag(rt, calendar.LangEN, other, nil) {
		t.Error("two contents have one tag")
	}
	c := &call{route: &route{kind: calendar.KindEvent}, root: rt}
	keys := map[string]bool{}
	at := shownAt(3)
	lost, healed := at, at
	lost.Hash[31] = 1
	healed.Content = 1
	for _, g := range []query.Generation{{Shown: at}, {Shown: lost}, {Shown: healed}, {Shown: at, Due: 1}} {
		keys[c.key(listKey, g, 0, nil)] = true
	}
	if len(keys) != 4 {
		t.Errorf("%d keys for 4 states", len(keys))
	}
}

// TestEncodedTag: an encoding makes another tag of a strong one alone.
func TestEncodedTag(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{`"1-a"`: `"1-a-zstd"`, `W/"a"`: `W/"a"`, "": ""} {
		if got := encodedTag(tag, encodingZstd); got != want {
			t.Errorf("%s: got %s, want %s", tag, got, want)
		}
	}
}
