package readmodeltest

import (
	"embed"
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
)

// phrase is one line of the corpus of phrases: whether a search fits a text. The
// corpus is the contract of searching (interface 4.7), whatever the engine.
type phrase struct {
	line        string // with its place
	text, query string // the text may be HTML: a description
	fits        bool
}

//go:embed testdata/phrases
var phraseFiles embed.FS

// readPhrases returns the corpus of a language.
func readPhrases(t testing.TB, language calendar.Lang) (phrases []phrase) {
	t.Helper()
	name := "testdata/phrases/" + language.String() + ".txt"
	content, err := phraseFiles.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(content), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		text, query, ok := strings.Cut(line[1:], " :: ")
		if !ok || line[0] != '+' && line[0] != '-' {
			t.Fatalf("%s:%d: not of the form + text :: query", name, i+1)
		}
		text = strings.ReplaceAll(strings.TrimPrefix(text, " "), `\n`, "\n")
		phrases = append(phrases, phrase{fmt.Sprintf("%s:%d: %s", name, i+1, line), text, query, line[0] == '+'})
	}
	return phrases
}
