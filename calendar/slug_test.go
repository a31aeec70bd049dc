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

func isSlug(text string) bool {
	if text == "" || len(text) > maxSlug || strings.Contains(text, "--") || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

func FuzzMakeSlug(f *testing.F) {
	f.Add("Quay concert & picnic")
	f.Add("—音/乐.会—")
	f.Fuzz(func(t *testing.T, in string) {
		text := MakeSlug(in, plainCleaner{})
		if text != "" && !isSlug(text) {
			t.Fatalf("%q: got %q, which is no slug", in, text)
		}
		if again := MakeSlug(text, plainCleaner{}); again != text {
			t.Fatalf("%q: got %q, and of that %q", in, text, again)
		}
	})
}

// Many records of one name must not cost one look-up each.
func TestNumberingAsksSeldom(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 15, 16, 17, 18, 33, 34, 35, 1000, 99999} {
		asked := 0
		decision := situation{}.decision()
		decision.Taken = func(_ Kind, _ ID, slug string) bool {
			asked++
			if slug == "hall" {
				return true
			}
			var i int
			_, err := fmt.Sscanf(slug, "hall-%d", &i)
			return err == nil && i <= n
		}
		change, err := Create(KindVenue, 1, attrs(t, attrSet{"venue": "Hall"}), decision)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := change.Fields.String("slug"), fmt.Sprintf("hall-%d", max(n+1, 2)); got != want {
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
		record := created(rt, KindVenue, situation{taken: held}, attrSet{"venue": name})
		if slug := record.Slug(); !isSlug(slug) || slices.Contains(held, slug) {
			rt.Fatalf("got %q, held %v", slug, held)
		}
		gone := applied(rt, record)(Remove(record, situation{taken: []string{record.Slug() + trashedSuffix}}.decision()))
		back := applied(rt, gone)(Update(gone, attrs(rt, nil), situation{}.decision()))
		if back.Slug() != record.Slug() {
			rt.Fatalf("got %q back, want %q", back.Slug(), record.Slug())
		}
		if plain := strings.TrimSuffix(gone.Slug(), trashedSuffix); !isSlug(plain) || plain == gone.Slug() {
			rt.Fatalf("trashed slug %q", gone.Slug())
		}
	})
}
