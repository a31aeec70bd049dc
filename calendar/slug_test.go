package calendar

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMakeSlug(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Quay concert & picnic":         "quay-concert-picnic",
		"音乐会":                           "yin-le-hui",
		"Café – Night":                  "cafe-night",
		"a.b/c_d":                       "a-b-c_d",
		"  -- x --  ":                   "x",
		"l’été":                         "lete",
		"one\u00a0two\u3000three":       "one-two-three",
		"3 − 2":                         "3-2",
		"🎷":                             "",
		"!?":                            "",
		"UPPER":                         "upper",
		strings.Repeat("ab ", 100):      strings.TrimSuffix(strings.Repeat("ab-", 67)[:200], "-"),
		strings.Repeat("x", 199) + " y": strings.Repeat("x", 199),
	} {
		if got := MakeSlug(in, plainCleaner{}); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func isSlug(s string) bool {
	if s == "" || len(s) > maxSlug || strings.Contains(s, "--") || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func FuzzMakeSlug(f *testing.F) {
	f.Add("Quay concert & picnic")
	f.Add("—音/乐.会—")
	f.Fuzz(func(t *testing.T, in string) {
		s := MakeSlug(in, plainCleaner{})
		if s != "" && !isSlug(s) {
			t.Fatalf("%q: got %q, which is no slug", in, s)
		}
		if again := MakeSlug(s, plainCleaner{}); again != s {
			t.Fatalf("%q: got %q, and of that %q", in, s, again)
		}
	})
}

// Interface 3.7.
func TestSlugs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxSlug)
	music := &Record{ID: 30, Kind: KindCategory, Home: LangEN, Fields: Fields{"slug": "music"}}
	parents := []*Record{music, {ID: 33, Kind: KindCategory, Fields: Fields{"slug": long}}}
	for _, tc := range []struct {
		name  string
		kind  Kind
		given attrSet // nil: a create
		s     situation
		when  attrSet
		want  any
	}{
		{"from the name", KindVenue, nil, situation{}, attrSet{"venue": "River Hall"}, "river-hall"},
		{"from what was sent", KindVenue, nil, situation{}, attrSet{"venue": "River Hall", "slug": "<b>Old</b> &amp; Hall"}, "old-hall"},
		{"a name is not read as HTML again", KindVenue, nil, situation{}, attrSet{"venue": "1 < 2 > 0"}, "1-2-0"},
		{"a name of which nothing is left", KindVenue, nil, situation{}, attrSet{"venue": "🎷"}, "100"},
		{"empty on create", KindVenue, nil, situation{}, attrSet{"venue": "Hall", "slug": Clear{}}, "hall"},
		{"numbered", KindVenue, nil, situation{taken: []string{"hall", "hall-2"}}, attrSet{"venue": "Hall"}, "hall-3"},
		{"a hole is filled", KindVenue, nil, situation{taken: []string{"hall", "hall-3"}}, attrSet{"venue": "Hall"}, "hall-2"},
		{"numbered though sent", KindVenue, nil, situation{taken: []string{"x"}}, attrSet{"venue": "Hall", "slug": "x"}, "x-2"},
		{"numbered within 200 bytes", KindVenue, nil, situation{taken: []string{long}}, attrSet{"venue": "Hall", "slug": long}, long[:198] + "-2"},
		{"draft", KindVenue, nil, situation{}, attrSet{"venue": "Hall", "status": "draft"}, nil},
		{"pending", KindEvent, nil, situation{}, attrSet{"status": "pending"}, nil},
		{"contributor's draft", KindEvent, nil, situation{caller: contributor}, attrSet{}, nil},
		{"draft with a slug", KindEvent, nil, situation{}, attrSet{"status": "draft", "slug": "x"}, "x"},
		{"private", KindEvent, nil, situation{}, attrSet{"status": "private"}, "quay-concert"},
		{"scheduled", KindEvent, nil, situation{}, attrSet{"date": "2027-01-01"}, "quay-concert"},
		{"first publication", KindEvent, attrSet{"status": "draft"}, situation{}, attrSet{"status": "publish", "title": "Night"}, "night"},
		{"back to draft keeps it", KindEvent, attrSet{}, situation{}, attrSet{"status": "draft"}, "quay-concert"},
		{"a new name never changes it", KindEvent, attrSet{}, situation{}, attrSet{"title": "Night"}, "quay-concert"},
		{"renamed", KindEvent, attrSet{}, situation{}, attrSet{"slug": "Night"}, "night"},
		{"made anew", KindEvent, attrSet{"slug": "x"}, situation{}, attrSet{"slug": Clear{}}, "quay-concert"},
		{"made anew on a draft", KindEvent, attrSet{"slug": "x", "status": "draft"}, situation{}, attrSet{"slug": Clear{}}, nil},
		{"made anew while published", KindEvent, attrSet{"slug": "x", "status": "draft"}, situation{}, attrSet{"slug": Clear{}, "status": "publish"}, "quay-concert"},
		{"child category", KindCategory, nil, situation{parents: parents}, attrSet{"name": "Jazz", "parent": ID(30)}, "jazz"},
		{"child category, taken", KindCategory, nil, situation{parents: parents, taken: []string{"jazz"}}, attrSet{"name": "Jazz", "parent": ID(30)}, "jazz-music"},
		{
			"child category, both taken", KindCategory, nil,
			situation{parents: parents, taken: []string{"jazz", "jazz-music"}},
			attrSet{"name": "Jazz", "parent": ID(30)},
			"jazz-music-2",
		},
		{"child category, sent", KindCategory, nil, situation{parents: parents, taken: []string{"x"}}, attrSet{"name": "Jazz", "slug": "x", "parent": ID(30)}, "x-music"},
		{"child category, update", KindCategory, attrSet{"name": "Jazz"}, situation{parents: parents, taken: []string{"x"}}, attrSet{"slug": "x", "parent": ID(30)}, "x-music"},
		{"child category, long", KindCategory, nil, situation{parents: parents, taken: []string{long}}, attrSet{"name": "Jazz", "slug": long, "parent": ID(30)}, long[:194] + "-music"},
		{"child of a parent with a long slug", KindCategory, nil, situation{parents: parents, taken: []string{"jazz"}}, attrSet{"name": "Jazz", "parent": ID(33)}, "jazz-2"},
		{"category without parent, taken", KindCategory, nil, situation{taken: []string{"jazz"}}, attrSet{"name": "Jazz"}, "jazz-2"},
		{"tag", KindTag, nil, situation{taken: []string{"jazz"}}, attrSet{"name": "Jazz"}, "jazz-2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.given == nil {
				wantFields(t, created(t, tc.kind, tc.s, tc.when).Fields, map[string]any{"slug": tc.want})
				return
			}
			before := created(t, tc.kind, situation{}, tc.given)
			wantFields(t, updated(t, before, tc.s, attrs(t, tc.when)).Fields, map[string]any{"slug": tc.want})
		})
	}
	t.Run("nothing left of what was sent", func(t *testing.T) {
		t.Parallel()
		_, err := Create(KindVenue, 1, attrs(t, attrSet{"venue": "Hall", "slug": "<b>!</b>"}), situation{}.decision())
		wantRefused(t, err, FieldError{Field: "slug", Reason: ReasonSlug})
	})
}

// Many records of one name must not cost one look-up each.
func TestNumberingAsksSeldom(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 15, 16, 17, 18, 33, 34, 35, 1000, 99999} {
		asked := 0
		d := situation{}.decision()
		d.Taken = func(slug string) bool {
			asked++
			if slug == "hall" {
				return true
			}
			var i int
			_, err := fmt.Sscanf(slug, "hall-%d", &i)
			return err == nil && i <= n
		}
		c, err := Create(KindVenue, 1, attrs(t, attrSet{"venue": "Hall"}), d)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.Fields.String("slug"), fmt.Sprintf("hall-%d", max(n+1, 2)); got != want {
			t.Errorf("%d taken: got %s, want %s", n, got, want)
		}
		if asked > 60 {
			t.Errorf("%d taken: asked %d times", n, asked)
		}
	}
}

func TestFreeSlugProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9 ._/-]{1,220}`).Draw(rt, "name")
		taken := rapid.SliceOfN(rapid.IntRange(2, 30), 0, 20).Draw(rt, "taken")
		base := MakeSlug(name, plainCleaner{})
		if base == "" {
			base = "100"
		}
		held := []string{base}
		for _, n := range taken {
			suffix := fmt.Sprintf("-%d", n)
			held = append(held, cutSlug(base, maxSlug-len(suffix))+suffix)
		}
		r := created(rt, KindVenue, situation{taken: held}, attrSet{"venue": name})
		if slug := r.Slug(); !isSlug(slug) || slices.Contains(held, slug) {
			rt.Fatalf("got %q, held %v", slug, held)
		}
		gone := trashed(rt, r, situation{taken: []string{r.Slug() + trashedSuffix}})
		back := updated(rt, gone, situation{}, attrs(rt, nil))
		if back.Slug() != r.Slug() {
			rt.Fatalf("got %q back, want %q", back.Slug(), r.Slug())
		}
		if plain := strings.TrimSuffix(gone.Slug(), trashedSuffix); !isSlug(plain) || plain == gone.Slug() {
			rt.Fatalf("trashed slug %q", gone.Slug())
		}
	})
}
