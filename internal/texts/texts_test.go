package texts

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"daybook/calendar"
)

// areas are the tables, with the folders whose code reads them.
var areas = map[string]struct {
	table   Table
	folders []string
}{
	"messages":      {Messages, []string{".", "../httpapi", "../formats"}},
	"documentation": {Documentation, []string{"../httpapi", "../httpapi/openapi", "../param"}},
	"pages":         {Pages, []string{"../pages"}},
	"sentences":     {Sentences, []string{"../history"}},
}

var (
	places       = regexp.MustCompile(`\{[^}]*\}`)
	place        = regexp.MustCompile(`^\{[1-9]\}$`)
	oneSentence  = regexp.MustCompile(`^(status\.note\..*|history\.(proves|checkpoint))$`)
	frenchSpaces = regexp.MustCompile("[^\u202f][;!?]|[^\u00a0]:")
	// Messages hold words of the interface, with signs of their own.
	messageSpaces = regexp.MustCompile("[^\u202f][;!?]( |$)|[^\u00a0]:( |$)")
	messageSigns  = regexp.MustCompile(`\p{Han}[,:;!?]|[,:;!?]\p{Han}`)
	// Some things are counted in other classes of numbers in other languages.
	pluralForm = regexp.MustCompile(`^count\.\w+\.(one|many)$`)
	// All others differ between any two languages.
	mayBeEqual = regexp.MustCompile(`^(facet|feed|arg|op|status|header|title|basic|bearer)\b`)
)

// placesIn returns the sorted places of a text.
func placesIn(text string) []string {
	found := places.FindAllString(text, -1)
	slices.Sort(found)
	return found
}

func TestEveryTextInEveryLanguage(t *testing.T) {
	t.Parallel()
	for area, of := range areas {
		for key, text := range of.table {
			english := placesIn(text[calendar.LangEN])
			for _, lang := range calendar.Langs {
				if text[lang] == "" && pluralForm.MatchString(key) {
					continue
				}
				if strings.Trim(text[lang], " ") == "" {
					t.Errorf("%s: %s has no text in %s", area, key, lang)
				}
				got := placesIn(text[lang])
				if !slices.Equal(got, english) && text[calendar.LangEN] != "" && !strings.HasPrefix(key, "date.days") { // languages leave out other parts
					t.Errorf("%s: %s names %v in %s, %v in English", area, key, got, lang, english)
				}
				for _, p := range got {
					if !place.MatchString(p) {
						t.Errorf("%s: %s has the place %s in %s", area, key, p, lang)
					}
				}
				if strings.HasPrefix(key, "count.") && !slices.Equal(got, []string{"{1}"}) {
					t.Errorf("%s: %s has no number in %s", area, key, lang)
				}
				for _, other := range calendar.Langs[:lang] {
					if (area == "messages" || area == "documentation") && !mayBeEqual.MatchString(key) && text[lang] == text[other] {
						t.Errorf("%s: %s is the same in %s and %s: %q", area, key, lang, other, text[lang])
					}
				}
			}
			if area == "messages" && !strings.ContainsFunc(text[calendar.LangCN], func(r rune) bool { return unicode.Is(unicode.Han, r) }) && !mayBeEqual.MatchString(key) {
				t.Errorf("%s: %s is not Chinese: %q", area, key, text[calendar.LangCN])
			}
			if area == "messages" && (messageSpaces.MatchString(text[calendar.LangFR]) || messageSigns.MatchString(text[calendar.LangCN])) {
				t.Errorf("%s: spaces or signs of %s: %q", area, key, text)
			}
			for l, said := range text { // these are one sentence each
				if oneSentence.MatchString(key) && strings.Count(said, ".")+strings.Count(said, "。") != 1 {
					t.Errorf("%s: %s is several sentences in %s: %q", area, key, calendar.Lang(l), said)
				}
			}
			if area == "pages" && (frenchSpaces.MatchString(text[calendar.LangFR]) || strings.ContainsAny(text[calendar.LangCN], ",;:!?()")) {
				t.Errorf("%s: spaces or signs of %s: %q", area, key, text)
			}
		}
	}
}

// TestKeys: a key that stands in code is that of a text, and each text is used: its key
// stands in code, or two parts of it that are put together.
func TestKeys(t *testing.T) {
	t.Parallel()
	keys := regexp.MustCompile(`^[a-z_]+(\.[A-Za-z0-9_-]+)*$`)
	inFiles := map[string]*regexp.Regexp{"templates/*.html": regexp.MustCompile(`\bt "([^"]+)"`), "*.tmpl": regexp.MustCompile(`\bText "([^"]+)"`), "*.json": regexp.MustCompile(`"text": "(arg\.[^"]+)"`), "element/*.json": regexp.MustCompile(`: "([^"]+)"`)}
	for area, of := range areas {
		used, asked := map[string]bool{}, map[string]bool{}
		for _, folder := range of.folders {
			for pattern, inFile := range inFiles {
				files, err := filepath.Glob(filepath.Join(folder, pattern))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range files {
					data, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					for _, datas := range inFile.FindAllSubmatch(data, -1) {
						used[string(datas[1])], asked[string(datas[1])] = true, true
					}
				}
			}
			sources, err := filepath.Glob(filepath.Join(folder, "*.go"))
			if err != nil || len(sources) == 0 {
				t.Fatalf("%s: %d files, %v", folder, len(sources), err)
			}
			for _, name := range sources {
				if !strings.HasSuffix(name, "_test.go") {
					literals(t, name, used, asked)
				}
			}
		}
		for key := range asked {
			if keys.MatchString(key) && Messages[key] == none && Documentation[key] == none && Pages[key] == none && Sentences[key] == none {
				t.Errorf("%s: there is no text %s", area, key)
			}
		}
		for key := range of.table {
			is := used[key]
			for i := range key {
				is = is || used[key[:i]] && (strings.HasSuffix(key[:i], ".") || strings.HasPrefix(key[i:], "."))
			}
			if !is {
				t.Errorf("%s: nothing uses %s", area, key)
			}
		}
	}
}

var none calendar.Text

// literals notes the texts that stand in a source, and those that are asked for as keys.
func literals(t *testing.T, name string, used, asked map[string]bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	note := func(expr ast.Expr, in map[string]bool) {
		if lit, ok := expr.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				in[text] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			note(n, used)
		case *ast.CallExpr:
			var called string
			switch f := n.Fun.(type) {
			case *ast.Ident:
				called = f.Name
			case *ast.SelectorExpr:
				called = f.Sel.Name
			}
			if len(n.Args) > 0 && slices.Contains([]string{"word", "text", "of", "In", "describe"}, called) {
				note(n.Args[0], asked)
			}
		case *ast.IndexExpr:
			if of, ok := n.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Documentation" {
				note(n.Index, asked)
			}
		}
		return true
	})
}

// TestFiles: keys stand in order, each once.
func TestFiles(t *testing.T) {
	t.Parallel()
	key := regexp.MustCompile(`(?m)^  "([^"]+)": `)
	for area := range areas {
		for _, lang := range calendar.Langs {
			name := area + "." + lang.String() + ".json"
			data, err := files.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, datas := range key.FindAllSubmatch(data, -1) {
				keys = append(keys, string(datas[1]))
			}
			var texts map[string]string
			if err := json.Unmarshal(data, &texts); err != nil || len(texts) != len(keys) || !slices.IsSorted(keys) {
				t.Errorf("%s: %d keys stand for %d texts, in order: %t, %v", name, len(keys), len(texts), slices.IsSorted(keys), err)
			}
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		values []string
		want   string
	}{
		{"{2} to {1}", []string{"a", "b"}, "b to a"},
		{"{1}{1}", []string{"{1}"}, "{1}{1}"},
		{"from {1} to {2}", []string{"{2}"}, "from {2} to {2}"},
		{"{1} stays", nil, "{1} stays"},
		{"{", []string{"a"}, "{"},
		{"%s {x} {", []string{"a"}, "%s {x} {"},
	} {
		if got := Fill(tt.text, tt.values...); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.text, tt.values, got, tt.want)
		}
	}
}
