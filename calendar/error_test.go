package calendar

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
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
