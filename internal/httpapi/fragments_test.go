package httpapi

import (
	"bytes"
	"maps"
	"testing"

	"daybook/calendar"
	"daybook/query"
)

// TestFragments: what is embedded is the same with fragments and without, also after
// anything that it depends on has become another.
func TestFragments(t *testing.T) {
	t.Parallel()
	with, without := testRenderer(t, calendar.LangEN), testRenderer(t, calendar.LangEN)
	var err error
	if with.a.fragments, err = newFragmentCache(1 << 20); err != nil {
		t.Fatal(err)
	}
	if without.a.fragments, err = newFragmentCache(-1); err != nil || without.a.fragments.c != nil {
		t.Fatalf("no cache: %v, %v", without.a.fragments, err)
	}
	v := exampleView(t)
	same := func(what string) {
		t.Helper()
		for range 2 {
			if got, want := with.appendView(nil, v), without.appendView(nil, v); !bytes.Equal(got, want) {
				t.Errorf("%s: got %s, want %s", what, got, want)
			}
		}
	}
	same("first")
	change := func(r *calendar.Record, field string, value any) *calendar.Record {
		other := *r
		other.Fields = maps.Clone(r.Fields)
		other.Fields[field] = value
		other.Sum++
		return &other
	}
	v.Venues[0].Record = change(v.Venues[0].Record, "city", "Another city")
	same("another content of a venue under one version")
	v.Venues[0].Status = calendar.StatusPrivate
	same("another status of a venue")
	v.Categories[0].Count += 7
	same("another count of a category")
	v.Categories[0] = query.TermView{Record: change(v.Categories[0].Record, "slug", "another"), Count: v.Categories[0].Count}
	same("another content of a category")
	with.lang, without.lang = calendar.LangFR, calendar.LangFR
	same("another language")
}
