package play

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"daybook/internal/testkit/world"
)

// Root returns the document of an answer.
func Root(t testing.TB, response *world.Response) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(response.Body)))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// Under returns the elements below a node, in document order, of a name ("" any) and with
// attributes: name, or name=value.
func Under(node *html.Node, name string, attributes ...string) (out []*html.Node) {
	for n := range node.Descendants() {
		if n.Type == html.ElementNode && (name == "" || n.Data == name) && !slices.ContainsFunc(attributes, func(text string) bool {
			key, value, valued := strings.Cut(text, "=")
			got, has := attrOf(n, key)
			return !has || valued && got != value
		}) {
			out = append(out, n)
		}
	}
	return out
}

func attrOf(node *html.Node, key string) (string, bool) {
	for _, attribute := range node.Attr {
		if attribute.Key == key {
			return attribute.Val, true
		}
	}
	return "", false
}

// Value returns the value of an attribute of a node, "" for none.
func Value(node *html.Node, key string) string { text, _ := attrOf(node, key); return text }

// Words is the text of a node with its blanks made one; those of other widths stay.
func Words(node *html.Node) string {
	var builder strings.Builder
	for n := range node.Descendants() {
		if n.Type == html.TextNode {
			builder.WriteString(n.Data)
		}
	}
	return strings.Join(strings.FieldsFunc(builder.String(), func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }), " ")
}

// selected returns the words of the elements that "name[attribute=value] > name:first" finds,
// with " @name" an attribute of theirs, with " #" their number.
func selected(t testing.TB, response *world.Response, selector string) string {
	t.Helper()
	selector, attribute, ofAttribute := strings.Cut(selector, " @")
	selector, counted := strings.CutSuffix(selector, " #")
	found := []*html.Node{Root(t, response)}
	for step := range strings.SplitSeq(selector, " > ") {
		step, first := strings.CutSuffix(step, ":first")
		name, rest, _ := strings.Cut(strings.ReplaceAll(step, "]", ""), "[")
		var attributes []string
		if rest != "" {
			attributes = strings.Split(rest, "[")
		}
		next := make([]*html.Node, 0, len(found))
		for _, node := range found {
			next = append(next, Under(node, name, attributes...)...)
		}
		if found = next; first && len(found) > 0 {
			found = found[:1]
		}
	}
	if counted {
		return strconv.Itoa(len(found))
	}
	out := make([]string, len(found))
	for i, node := range found {
		out[i] = Words(node)
		if ofAttribute {
			out[i] = Value(node, attribute)
		}
	}
	return strings.Join(out, " | ")
}

// graphOf is the structured data of a page.
func graphOf(t testing.TB, response *world.Response) any {
	t.Helper()
	scripts := Under(Root(t, response), "script", "type=application/ld+json")
	if len(scripts) != 1 {
		t.Fatalf("%s: %d scripts of structured data", response.Request, len(scripts))
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(Words(scripts[0])), &doc); err != nil || doc["@context"] != "https://schema.org" {
		t.Fatalf("%v: %s", err, Words(scripts[0]))
	}
	graph, _ := world.Lookup(doc, "@graph.0")
	return graph
}
