package archtest

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

// TestFieldNames: a name that stands as a text where the fields of a record are read
// is a row of a field table, of the type that is read. A name with a slip returns the
// zero value and no error.
func TestFieldNames(t *testing.T) {
	t.Parallel()
	types := map[string]calendar.Type{
		"Text": calendar.TypeText, "String": calendar.TypeString, "Bool": calendar.TypeBool, "BoolOr": calendar.TypeBool,
		"ID": calendar.TypeID, "IDs": calendar.TypeIDs, "Strings": calendar.TypeStrings, "Wall": calendar.TypeWall, "Number": calendar.TypeNumber,
	}
	read := 0
	for _, dir := range []string{"calendar", "command", "projector", "query", "query/readmodel", "internal/access", "internal/httpapi"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		set := token.NewFileSet()
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				method, ok := call.Fun.(*ast.SelectorExpr)
				name, isText := call.Args[0].(*ast.BasicLit)
				if !ok || !isText || name.Kind != token.STRING {
					return true
				}
				of, stored := types[method.Sel.Name]
				if _, made := method.X.(*ast.CallExpr); !stored || made { // as a key of a cache
					return true
				}
				read++
				if field, _ := strconv.Unquote(name.Value); !isRow(field, of) {
					t.Errorf("%s: %s(%s) reads no row of a field table", set.Position(call.Pos()), method.Sel.Name, name.Value)
				}
				return true
			})
		}
	}
	if read < 50 {
		t.Errorf("found %d reads of fields only", read)
	}
}

func isRow(name string, of calendar.Type) bool {
	for kind := range calendar.Kind(255) {
		if field := calendar.SpecOf(kind).Field(name); field != nil && field.Stored == of {
			return true
		}
	}
	return false
}
