package readmodel

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEachToken: the words of a text with their places are its tokens, and stand where they are from.
func TestEachToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aé e\u0301か\u3099\u200dﾞｶ½ﬁß음하\u11ab音乐 .,\u00ad\u0345ςŉऀ\u09c7\u09be")))).Draw(t, "text")
		letters := []rune(text)
		var tokens []string
		before := 0 // where the word before begins; one character may be of two words
		eachToken(text, func(token string, span textSpan) {
			tokens = append(tokens, token)
			if span.from > span.until || span.until > len(letters) || span.from < before {
				t.Fatalf("%q: %q at %d to %d, behind %d", text, token, span.from, span.until, before)
			}
			before = span.from
			word := string(letters[span.from:span.until])
			if token != Break && !slices.Contains(Tokens(word), token) && len(token) < maxTokenRunes {
				t.Fatalf("%q: %q at %q", text, token, word)
			}
		})
		if want := Tokens(text); !slices.Equal(tokens, want) && len(tokens)+len(want) > 0 {
			t.Fatalf("%q: %q, want %q", text, strings.Join(tokens, " "), strings.Join(want, " "))
		}
	})
}
