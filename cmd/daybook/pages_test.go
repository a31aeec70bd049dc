package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// declared returns the names that a file declares: NAME, and TYPE.NAME for methods and
// for what a struct or an interface has.
func declared(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	must(t, err)
	names := make(map[string]bool)
	fields := func(of string, list *ast.FieldList) {
		for _, field := range list.List {
			for _, name := range field.Names {
				names[of+"."+name.Name] = true
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if id, ok := of.(*ast.Ident); ok {
					name = id.Name + "." + name
				}
			}
			names[name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						names[name.Name] = true
					}
				case *ast.TypeSpec:
					names[s.Name.Name] = true
					switch of := s.Type.(type) {
					case *ast.StructType:
						fields(s.Name.Name, of.Fields)
					case *ast.InterfaceType:
						fields(s.Name.Name, of.Methods)
					}
				}
			}
		}
	}
	return names
}

// TestPagesNameWhatExists: the places in the code, the metrics, commands and flags that
// the pages for builders name are there.
func TestPagesNameWhatExists(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	metrics, err := os.ReadFile(filepath.Join(root, "docs", "observability.md"))
	must(t, err)
	quoted := regexp.MustCompile("`[^`\n]+`")
	place := regexp.MustCompile(`^([a-z0-9_/]+/[a-zA-Z0-9_./]+?)(?::([A-Za-z.]+))?$`)
	for page, least := range map[string]int{"where-is-my-change.md": 35, "adding.md": 25} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		must(t, err)
		looked := 0
		for _, word := range quoted.FindAllString(string(text), -1) {
			word = strings.Trim(word, "`")
			looked++
			if at := place.FindStringSubmatch(word); at != nil {
				path := filepath.Join(root, filepath.FromSlash(at[1]))
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: there is no %s", page, at[1])
				} else if at[2] != "" && !declared(t, path)[at[2]] {
					t.Errorf("%s: %s does not declare %s", page, at[1], at[2])
				}
			} else if strings.HasPrefix(word, "daybook_") {
				if !strings.Contains(string(metrics), word) {
					t.Errorf("%s: there is no metric %s", page, word)
				}
			} else if words := strings.Fields(word); words[0] == "daybook" || strings.HasPrefix(word, "--") {
				checkCommand(t, page, words)
			} else {
				looked--
			}
		}
		if looked < least {
			t.Errorf("%s: %d names were looked for, want at least %d", page, looked, least)
		}
	}
}

// checkCommand looks that a command has the flags that stand behind it; one without a
// command is a flag of serve.
func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	name := "serve"
	if words[0] == "daybook" {
		name = words[1]
	}
	flags := flagsOf(t, name)
	if flags == nil {
		t.Errorf("%s: there is no command %q", page, name)
		return
	}
	for _, word := range words {
		flag, ok := strings.CutPrefix(word, "--")
		if ok && !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == flag }) {
			t.Errorf("%s: daybook %s has no flag --%s", page, name, flag)
		}
	}
}
