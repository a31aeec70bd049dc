package texts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"daybook/calendar"
)

// constantsOf returns the constants of a type that a file of calendar declares.
func constantsOf(t *testing.T, file, typeName string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "calendar", file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		valueSpec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := valueSpec.Type.(*ast.Ident); ok && id.Name == typeName {
			for _, expr := range valueSpec.Values {
				if lit, ok := expr.(*ast.BasicLit); ok {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, text)
				}
			}
		}
		return true
	})
	return out
}

// TestMessagesOfErrors: every code and reason has a message, and no message is of another one.
func TestMessagesOfErrors(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for _, c := range constantsOf(t, "error.go", "Code") {
		key := "code." + c
		want[key] = true
		for _, kind := range calendar.Kinds {
			switch calendar.Code(c) {
			case calendar.CodeNotFound:
				want[key+"."+kind.String()] = true
			case calendar.CodeNotAccessible, calendar.CodeInTrash, calendar.CodePageNotFound:
				want[key+"."+kind.String()] = kind.IsPost()
			case calendar.CodeTermExists:
				want[key+"."+kind.String()] = kind.IsTerm()
			default:
			}
		}
	}
	for _, r := range constantsOf(t, "reasons.go", "Reason") {
		want["reason."+r] = true
	}
	for key, is := range want {
		if _, ok := Messages[key]; ok != is {
			t.Errorf("%s has a message: %t", key, ok)
		}
	}
	for key := range Messages {
		if !want[key] && (strings.HasPrefix(key, "code.") || strings.HasPrefix(key, "reason.")) {
			t.Errorf("%s is the message of nothing", key)
		}
	}
}

func TestFieldMessages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field  string
		reason calendar.Reason
		args   []string
		want   string
	}{
		{"website", calendar.ReasonURL, nil, "website: must be an absolute http or https URL"},
		{"geo_lat", calendar.ReasonRange, []string{"-90", "90"}, "geo_lat: must be between -90 and 90"},
		{"tags", calendar.ReasonUnknownTag, []string{"99"}, `tags: there is no tag "99"`},
		{"venue", calendar.ReasonInline, []string{"{2}", "zip", string(calendar.ReasonTypeText)}, `venue: the data of "{2}" is refused: zip: must be text`},
		{"venue", calendar.ReasonInline, []string{"Hall", "zip", string(calendar.ReasonTooLong), "1000"}, `venue: the data of "Hall" is refused: zip: must not be longer than 1000 characters`},
		{"tags", calendar.ReasonEntry, []string{strings.Repeat("é", 200)}, `tags: "` + strings.Repeat("é", 100) + `…" has no form that is accepted`},
		{"search", calendar.ReasonTooMuch, []string{"32"}, "search: must not have more than 32 different words, those of rows and quoted texts included"},
	} {
		fieldError := calendar.FieldError{Field: tt.field, Reason: tt.reason, Args: tt.args}
		if got := FieldMessage(fieldError, calendar.LangEN); got != tt.want {
			t.Errorf("%+v: got %q, want %q", fieldError, got, tt.want)
		}
	}
	search := calendar.FieldError{Field: "search", Reason: calendar.ReasonTooMuch, Args: []string{"32"}}
	if got, want := FieldMessage(search, calendar.LangCN), "search: 不得超过 32 个不同的词，连写和带引号的文字中的词也计算在内"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
