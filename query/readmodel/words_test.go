package readmodel

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The words of a text with their places are its tokens, and stand where they are from.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aé e\u0301か\u3099\u200dﾞｶ½ﬁß음하\u11ab音乐 .,\u00ad\u0345ςŉऀ\u09c7\u09be")))).Draw(t, "text")
		words := wordsOf(text)
		var tokens []string
		from := 0 // of the word before; one character may be of two words
		for _, textWord := range words {
			tokens = append(tokens, textWord.token)
			if textWord.from > textWord.to || textWord.to > len(text) || textWord.from < from {
				t.Fatalf("%q: %q at %d to %d, behind %d", text, textWord.token, textWord.from, textWord.to, from)
			}
			from = textWord.from
			if part := Tokens(text[textWord.from:textWord.to]); textWord.token != Break && !slices.Contains(part, textWord.token) && len(textWord.token) < maxTokenRunes {
				t.Fatalf("%q: %q at %q", text, textWord.token, text[textWord.from:textWord.to])
			}
		}
		if want := Tokens(text); !slices.Equal(tokens, want) && len(tokens)+len(want) > 0 {
			t.Fatalf("%q: %q, want %q", text, strings.Join(tokens, " "), strings.Join(want, " "))
		}
	})
}
