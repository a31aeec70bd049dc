package play

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"

	"daybook/internal/testkit/world"
)

// Document returns the document of an answer.
func Document(response *world.Response) *goquery.Document {
	document, err := goquery.NewDocumentFromReader(bytes.NewReader(response.Body))
	if err != nil {
		response.Fatal(err)
	}
	return document
}

// Words is the text of an element with its blanks made one; those of other widths stay.
func Words(element *goquery.Selection) string {
	return strings.Join(strings.FieldsFunc(element.Text(), func(letter rune) bool { return strings.ContainsRune(" \n\t", letter) }), " ")
}

// selected returns the words of the elements that a CSS selector finds, the first one's with
// ":first", with " @name" an attribute of theirs, with " #" their number.
func selected(response *world.Response, selector string) string {
	selector, attribute, ofAttribute := strings.Cut(selector, " @")
	selector, counted := strings.CutSuffix(selector, " #")
	selector, first := strings.CutSuffix(selector, ":first")
	found := Document(response).FindMatcher(cascadia.MustCompile(selector))
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
func graphOf(response *world.Response) *world.Response {
	graph := *response
	graph.Body = []byte(Document(response).Find(`script[type="application/ld+json"]`).Text())
	return graph.WantField("@context", "https://schema.org")
}
