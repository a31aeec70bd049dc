package calendar

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constantsOf gives the values of the constants of a type that a file declares.
func constantsOf(t *testing.T, file, typeName string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); ok && id.Name == typeName {
			for _, e := range v.Values {
				if lit, ok := e.(*ast.BasicLit); ok {
					s, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, s)
				}
			}
		}
		return true
	})
	slices.Sort(out)
	return out
}

func TestListsOfCodesAndReasonsAreWhole(t *testing.T) {
	t.Parallel()
	var codes, reasons []string
	for _, c := range Codes {
		codes = append(codes, string(c))
	}
	for _, r := range Reasons {
		reasons = append(reasons, string(r))
	}
	slices.Sort(codes)
	slices.Sort(reasons)
	if want := constantsOf(t, "error.go", "Code"); !slices.Equal(codes, want) {
		t.Errorf("Codes: got %v, declared %v", codes, want)
	}
	if want := constantsOf(t, "reasons.go", "Reason"); !slices.Equal(reasons, want) {
		t.Errorf("Reasons: got %v, declared %v", reasons, want)
	}
}

// checkPhrase fails for a missing or untranslated text.
func checkPhrase(t *testing.T, what string, p phrase) {
	t.Helper()
	for _, l := range Langs {
		if strings.TrimSpace(p[l]) == "" {
			t.Errorf("%s: no text in %s", what, l)
		}
		for n := 1; n <= 3; n++ {
			arg := "%" + strconv.Itoa(n)
			if strings.Contains(p[l], arg) != strings.Contains(p[LangEN], arg) {
				t.Errorf("%s: the text in %s names other things than the English one", what, l)
			}
		}
		for _, other := range Langs {
			if l != other && p[l] == p[other] {
				t.Errorf("%s: the texts in %s and %s are equal: %q", what, l, other, p[l])
			}
		}
	}
	if !strings.ContainsFunc(p[LangCN], func(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }) {
		t.Errorf("%s: the Chinese text is %q", what, p[LangCN])
	}
}

func TestEveryCodeHasAMessageInEveryLanguage(t *testing.T) {
	t.Parallel()
	if len(messages) != len(Codes) {
		t.Errorf("%d messages for %d codes", len(messages), len(Codes))
	}
	for _, c := range Codes {
		p, ok := messages[c]
		if !ok {
			t.Errorf("no message for %s", c)
			continue
		}
		checkPhrase(t, string(c), p)
	}
	for c, kinds := range kindMessages {
		for k, p := range kinds {
			checkPhrase(t, string(c)+" "+k.String(), p)
		}
	}
	for _, c := range []Code{CodeNotAccessible, CodeInTrash, CodeNotFound, CodePageNotFound} {
		for _, k := range Kinds {
			if _, ok := kindMessages[c][k]; !ok && (k.IsPost() || c == CodeNotFound) {
				t.Errorf("no message for %s of kind %s", c, k)
			}
		}
	}
}

func TestEveryReasonHasAMessageInEveryLanguage(t *testing.T) {
	t.Parallel()
	if len(reasonMessages) != len(Reasons) {
		t.Errorf("%d messages for %d reasons", len(reasonMessages), len(Reasons))
	}
	for _, r := range Reasons {
		p, ok := reasonMessages[r]
		if !ok {
			t.Errorf("no message for %s", r)
			continue
		}
		checkPhrase(t, string(r), p)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	invalid := &Error{Code: CodeInvalidParam, Fields: []FieldError{{Field: "website"}, {Field: "featured"}}}
	for _, tc := range []struct {
		name string
		got  string
		want string
	}{
		{"invalid en", invalid.Message(LangEN), "Invalid parameters: website, featured"},
		{"invalid fr", invalid.Message(LangFR), "Paramètres non valides : website, featured"},
		{"missing", (&Error{Code: CodeMissingParam, Missing: []string{"title", "end_date"}}).Message(LangES), "Faltan parámetros: title, end_date"},
		{"kind", Fail(CodeInTrash, KindVenue).Message(LangEN), "The venue is in the trash already."},
		{"kind cn", Fail(CodeNotFound, KindTag).Message(LangCN), "未找到该标签。"},
		{"no kind", Fail(CodeNotFound, 0).Message(LangEN), "The record was not found."},
		{"unknown code shows nothing", (&Error{Code: "oops"}).Message(LangEN), "The service has made an error."},
		{"url", FieldError{"website", ReasonURL, nil}.Message(LangEN), "website: must be an absolute http or https URL"},
		{"bool", FieldError{"featured", ReasonTypeBool, nil}.Message(LangEN), "featured: must be true or false"},
		{"args", FieldError{"geo_lat", ReasonRange, []string{"-90", "90"}}.Message(LangEN), "geo_lat: must be between -90 and 90"},
		{"entry", FieldError{"tags", ReasonUnknownTag, []string{"99"}}.Message(LangEN), `tags: there is no tag "99"`},
		{"entry that looks like an argument", FieldError{"venue", ReasonInline, []string{"%2", "zip", string(ReasonTypeText)}}.Message(LangEN), `venue: the data of "%2" is refused: zip: must be text`},
		{
			"search cn", FieldError{"search", ReasonTooMuch, []string{"32", "8"}}.Message(LangCN),
			"search: 不得超过 32 个不同的词,其中带引号的多词文字和连续中日韩文字不得超过 8 段",
		},
		{
			"search en", FieldError{"search", ReasonTooMuch, []string{"32", "8"}}.Message(LangEN),
			"search: must not have more than 32 different words, 8 of them quoted texts of several words or runs of Chinese, Japanese or Korean characters",
		},
		{
			"search fr", FieldError{"search", ReasonTooMuch, []string{"32", "8"}}.Message(LangFR),
			"search: ne doit pas dépasser 32 mots différents, dont 8 textes de plusieurs mots entre guillemets ou suites de caractères chinois, japonais ou coréens",
		},
		{
			"search es", FieldError{"search", ReasonTooMuch, []string{"32", "8"}}.Message(LangES),
			"search: no debe tener más de 32 palabras distintas, de ellas 8 textos de varias palabras entre comillas o series de caracteres chinos, japoneses o coreanos",
		},
		{
			"inline", FieldError{"venue", ReasonInline, []string{"Hall", "zip", string(ReasonTooLong), "1000"}}.Message(LangEN),
			`venue: the data of "Hall" is refused: zip: must not be longer than 1000 characters`,
		},
		{"long entry", FieldError{"tags", ReasonEntry, []string{strings.Repeat("é", 200)}}.Message(LangEN), `tags: "` + strings.Repeat("é", 100) + `…" has no form that is accepted`},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}
