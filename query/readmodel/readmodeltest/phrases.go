package readmodeltest

import (
	"embed"
	"fmt"
	"strings"

	"daybook/calendar"
)

// Phrase is one line of the corpus of phrases: whether a search fits a text. The
// corpus is the contract of searching (interface 4.7), whatever the engine.
type Phrase struct {
	Lang  calendar.Lang // of the text and of the request
	Line  int
	Text  string // may be HTML: a description
	Query string
	Fits  bool
}

// String returns the place and the words of the line.
func (phrase Phrase) String() string {
	return fmt.Sprintf("%s.txt:%d: %q in %q", phrase.Lang, phrase.Line, phrase.Query, phrase.Text)
}

//go:embed testdata/phrases
var phraseFiles embed.FS

// Phrases returns the corpus of a language.
func Phrases(language calendar.Lang) ([]Phrase, error) {
	name := "testdata/phrases/" + language.String() + ".txt"
	content, err := phraseFiles.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var phrases []Phrase
	line := 0
	for s := range strings.Lines(string(content)) {
		line++
		s = strings.TrimSuffix(s, "\n")
		if s == "" || s[0] == '#' {
			continue
		}
		text, query, ok := strings.Cut(s[1:], " :: ")
		if !ok || s[0] != '+' && s[0] != '-' {
			return nil, fmt.Errorf("%s:%d: not of the form + text :: query", name, line)
		}
		phrases = append(phrases, Phrase{
			Lang: language, Line: line, Query: query, Fits: s[0] == '+',
			Text: strings.ReplaceAll(strings.TrimPrefix(text, " "), `\n`, "\n"),
		})
	}
	return phrases, nil
}
