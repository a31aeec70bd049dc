package archtest

import (
	"bytes"
	"context"
	"encoding/json"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "daybook"

// arrows are the imports within the module that each package may have; a new
// arrow is a decision with an ADR. "*" is everything. Packages of one test
// suite or of tests only are in testOnly.
var arrows = map[string][]string{
	"calendar":                  {"internal/canonjson"},
	"eventstore":                {"calendar"},
	"eventstore/verify":         {"calendar", "eventstore"},
	"eventstore/memstore":       {"calendar", "eventstore"},
	"eventstore/sqlite":         {"calendar", "eventstore", "internal/ground/compact", "internal/ground/pause"},
	"eventstore/postgres":       {"calendar", "eventstore", "internal/ground/lifecycle", "internal/ground/pause", "internal/lease"},
	"eventstore/feed":           {"calendar", "eventstore", "internal/ground/lifecycle", "internal/ground/pause"},
	"command":                   {"calendar", "eventstore", "internal/ground/cache", "internal/htmltext"},
	"projector":                 {"calendar", "eventstore", "internal/ground/lifecycle", "query/readmodel"},
	"projector/upkeep":          {"calendar", "eventstore", "internal/ground/lifecycle", "internal/ground/pause", "projector", "query/readmodel"},
	"query":                     {"calendar", "internal/formats", "internal/ground/cache", "internal/ground/keylock", "internal/htmltext", "internal/param", "query/readmodel"},
	"query/past":                {"calendar", "eventstore", "internal/ground/keylock", "internal/history", "internal/htmltext", "internal/param", "query", "query/readmodel", "query/readmodel/memindex"},
	"query/readmodel":           {"calendar", "internal/htmltext"},
	"query/readmodel/memindex":  {"calendar", "internal/ground/compact", "query/readmodel"},
	"query/readmodel/elastic":   {"calendar", "internal/ground/compact", "query/readmodel"},
	"internal/access":           {"calendar", "eventstore"},
	"internal/audit":            {"calendar", "eventstore", "eventstore/verify", "internal/proof"},
	"internal/canonjson":        {},
	"internal/demo":             {"calendar", "command", "eventstore"},
	"internal/desk":             {},
	"internal/history":          {"calendar", "eventstore", "internal/ground/cache", "internal/texts"},
	"internal/formats":          {"calendar", "internal/canonjson", "internal/htmltext", "internal/texts"},
	"internal/htmltext":         {"calendar"},
	"internal/httpapi":          {"calendar", "command", "eventstore", "internal/formats", "internal/ground/cache", "internal/history", "internal/htmltext", "internal/httpapi/admit", "internal/httpapi/openapi", "internal/pages", "internal/param", "internal/proof", "internal/render", "internal/texts", "query", "query/past", "query/readmodel"},
	"internal/httpapi/admit":    {"calendar", "internal/ground/keylock"},
	"internal/httpapi/openapi":  {"calendar", "internal/history", "internal/param", "internal/texts", "query/readmodel"},
	"internal/importer":         {"calendar", "command", "eventstore", "internal/access", "internal/canonjson", "internal/texts"},
	"internal/lease":            {"eventstore", "internal/ground/lifecycle", "internal/ground/pause"},
	"internal/pages":            {"calendar", "command", "eventstore", "internal/desk", "internal/history", "internal/htmltext", "internal/param", "internal/proof", "internal/render", "internal/texts", "query", "query/past"},
	"internal/param":            {"calendar", "internal/canonjson"},
	"internal/proof":            {"calendar", "eventstore", "internal/ground/pause", "internal/ground/wholefile", "internal/history"},
	"internal/render":           {"calendar", "internal/canonjson", "internal/formats", "internal/htmltext", "query", "query/readmodel"},
	"internal/status":           {"calendar", "eventstore", "eventstore/feed", "internal/ground/pause", "internal/lease", "internal/proof", "projector", "query/past", "query/readmodel"},
	"internal/telemetry":        {"calendar", "eventstore", "internal/httpapi", "internal/status", "query"},
	"internal/texts":            {"calendar"},
	"internal/ground/cache":     {},
	"internal/ground/compact":   {},
	"internal/ground/keylock":   {},
	"internal/ground/lifecycle": {},
	"internal/ground/pause":     {},
	"internal/ground/wholefile": {},
	"cmd/daybook":               {"*"},
	"cmd/loadgen":               {},
}

// layers are those of the program, from the top. Imports go down, or stay in their layer.
var layers = [][]string{
	{"cmd/daybook", "cmd/loadgen"},
	{"internal/status", "internal/telemetry"},
	{"internal/httpapi", "internal/audit", "internal/importer", "internal/demo", "internal/pages"},
	{"command", "query", "query/past", "projector", "projector/upkeep", "internal/access", "internal/history", "internal/httpapi/admit", "internal/httpapi/openapi", "internal/proof", "internal/render"},
	{"eventstore/memstore", "eventstore/sqlite", "eventstore/postgres", "eventstore/feed", "query/readmodel/memindex", "query/readmodel/elastic", "internal/formats"},
	{"eventstore", "eventstore/verify", "query/readmodel", "internal/desk", "internal/htmltext", "internal/lease", "internal/param", "internal/texts"},
	{"calendar"},
	{"internal/canonjson", ground},
}

// ground is the folder of packages that know nothing of calendars.
const ground = "internal/ground"

// layerOf returns the layer of a package, counted from the top; -1: it has none.
func layerOf(name string) int {
	if strings.HasPrefix(name, ground+"/") {
		name = ground
	}
	return slices.IndexFunc(layers, func(layer []string) bool { return slices.Contains(layer, name) })
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for name, to := range arrows {
		if layerOf(name) < 0 {
			t.Errorf("%s is in no layer", name)
		}
		for _, other := range to {
			if other != "*" && (layerOf(other) < layerOf(name) || strings.HasPrefix(name, ground)) {
				t.Errorf("the arrow from %s to %s goes up", name, other)
			}
		}
	}
	for _, name := range slices.Concat(layers...) {
		if _, known := arrows[name]; !known && name != ground {
			t.Errorf("%s is in a layer and is no package", name)
		}
	}
}

// testOnly are packages that only tests import; the binary never links them.
var testOnly = []string{
	"eventstore/storetest", "query/readmodel/readmodeltest", "internal/testkit/world", "internal/testkit/engines", "internal/testkit/browser", "internal/testkit/golden", "internal/testkit/play", "internal/testkit/table", "internal/archtest", "internal/e2e",
}

// drivers are libraries that the packages of the domain never import.
var drivers = []string{
	"github.com/nats-io/", "modernc.org/sqlite", "database/sql", "github.com/jackc/", "github.com/elastic/",
}

// measuring are libraries that only internal/telemetry and the program import:
// all other packages are handed functions (ADR 24).
var (
	measuring = []string{"github.com/prometheus/", "go.opentelemetry.io/"}
	measurers = []string{"internal/telemetry", "cmd/daybook"}
)

type goPackage struct {
	ImportPath, Dir                             string
	GoFiles, TestGoFiles, XTestGoFiles, Imports []string
	Deps                                        []string
}

// listed are the packages of the module.
var listed = sync.OnceValues(func() (out []goPackage, err error) {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,Deps", module+"/...")
	cmd.Dir = filepath.Join("..", "..")
	text, err := cmd.Output()
	for d := json.NewDecoder(bytes.NewReader(text)); err == nil && d.More(); {
		var p goPackage
		err = d.Decode(&p)
		out = append(out, p)
	}
	return out, err
})

func packages(t *testing.T) []goPackage {
	t.Helper()
	all, err := listed()
	if err != nil || len(all) < 10 {
		t.Fatalf("go list found %d packages only: %v", len(all), err)
	}
	return all
}

// TestArrows: packages import what the arrows allow, have one comment each, and the program
// links neither a server nor what is for tests.
func TestArrows(t *testing.T) {
	t.Parallel()
	for _, goPackage := range packages(t) {
		name := strings.TrimPrefix(goPackage.ImportPath, module+"/")
		for _, imp := range violations(name, goPackage.Imports) {
			t.Errorf("%s imports %s, which is not allowed", name, imp)
		}
		comments := 0
		for _, f := range goPackage.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(goPackage.Dir, f), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if file.Doc != nil {
				comments++
			}
		}
		if comments != 1 && len(goPackage.GoFiles) > 0 {
			t.Errorf("%s has %d package comments, want 1", name, comments)
		}
		if !strings.HasPrefix(name, "cmd/") {
			continue
		}
		for _, d := range goPackage.Deps {
			if d == "testing" || slices.Contains(testOnly, strings.TrimPrefix(d, module+"/")) || strings.HasPrefix(d, "github.com/nats-io/nats-server/") {
				t.Errorf("%s links %s", name, d)
			}
		}
		if name == "cmd/daybook" && !slices.Contains(goPackage.Deps, "github.com/nats-io/nats.go") {
			t.Errorf("the program does not link the client of NATS: is the list whole?")
		}
	}
}

// violations returns the imports of a package that the arrows do not allow.
func violations(name string, imports []string) []string {
	var bad []string
	for _, imp := range imports {
		inner, ours := strings.CutPrefix(imp, module+"/")
		library := func(path string) bool { return strings.HasPrefix(imp, path) }
		switch {
		case slices.Contains(testOnly, name):
		case slices.ContainsFunc(measuring, library) && !slices.Contains(measurers, name):
			bad = append(bad, imp)
		case ours && slices.Contains(testOnly, inner):
			bad = append(bad, imp)
		case ours:
			allowed, known := arrows[name]
			if !known || !slices.Contains(allowed, inner) && !slices.Contains(allowed, "*") {
				bad = append(bad, imp)
			}
		case (name == "calendar" || name == "internal/canonjson") && strings.Contains(imp, "."):
			bad = append(bad, imp)
		case name == "command" || name == "query" || name == "projector" || name == "calendar":
			if slices.ContainsFunc(drivers, library) {
				bad = append(bad, imp)
			}
		}
	}
	return bad
}

func TestArrowsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, imp string }{
		{"calendar", "golang.org/x/text/unicode/norm"},
		{"internal/canonjson", "golang.org/x/text/unicode/norm"},
		{"internal/canonjson", module + "/calendar"},
		{"calendar", module + "/eventstore"},
		{"query", module + "/eventstore"},
		{"command", "database/sql"},
		{"projector", "go.opentelemetry.io/otel/trace"},
		{"internal/httpapi", "github.com/prometheus/client_golang/prometheus"},
		{"eventstore/sqlite", "github.com/prometheus/client_golang/prometheus"},
		{"internal/httpapi", module + "/cmd/daybook"},
		{"cmd/daybook", module + "/internal/testkit/world"},
		{"a/new/package", module + "/calendar"},
	} {
		if len(violations(c.name, []string{c.imp})) == 0 {
			t.Errorf("%s may import %s", c.name, c.imp)
		}
	}
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	want := []string{
		".ci", ".git", ".gitignore", ".golangci.yml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
		"calendar", "cmd", "command", "deploy", "docker-compose.yml", "docs", "eventstore", "go.mod", "go.sum",
		"internal", "projector", "query",
	}
	cmd := exec.CommandContext(t.Context(), "git", "ls-tree", "--name-only", "HEAD")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !slices.Contains(want, name) {
			t.Errorf("%s stands at the top level, which has no place for it", name)
		}
	}
}
