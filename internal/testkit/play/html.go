package play

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"

	"daybook/internal/testkit/world"
)

// Document returns the document of an answer.
func Document(t testing.TB, response *world.Response) *goquery.Document {
	t.Helper()
	document, err := goquery.NewDocumentFromReader(bytes.NewReader(response.Body))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// Words is the text of an element with its blanks made one; those of other widths stay.
func Words(element *goquery.Selection) string {
	return strings.Join(strings.FieldsFunc(element.Text(), func(letter rune) bool { return letter == ' ' || letter == '\n' || letter == '\t' }), " ")
}

// selected returns the words of the elements that a CSS selector finds, the first one's with
// ":first", with " @name" an attribute of theirs, with " #" their number.
func selected(t testing.TB, response *world.Response, selector string) string {
	t.Helper()
	selector, attribute, ofAttribute := strings.Cut(selector, " @")
	selector, counted := strings.CutSuffix(selector, " #")
	selector, first := strings.CutSuffix(selector, ":first")
	found := Document(t, response).FindMatcher(cascadia.MustCompile(selector))
	switch {
	case counted:
		return strconv.Itoa(found.Length())
	case first:
		found = found.First()
	}
	return strings.Join(found.Map(func(_ int, element *goquery.Selection) string {
		if ofAttribute {
			return element.AttrOr(attribute, "")
		}
		return Words(element)
	}), " | ")
}

// graphOf is the structured data of a page.
func graphOf(t testing.TB, response *world.Response) any {
	t.Helper()
	text := Document(t, response).Find(`script[type="application/ld+json"]`).Text()
	var document map[string]any
	if err := json.Unmarshal([]byte(text), &document); err != nil || document["@context"] != "https://schema.org" {
		t.Fatalf("%v: %s", err, text)
	}
	graph, _ := world.Lookup(document, "@graph.0")
	return graph
}
