package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"daybook/internal/testkit/engines"
	"daybook/internal/testkit/world"
	"daybook/query/readmodel/elastic"
)

// Clients that others' generators make of the served documentation read and write
// events. The programs stand in clients/, with the versions of all that they need.

// TestTypeScriptClient: openapi-typescript makes types of the whole documentation,
// and a program that is checked against them does its work.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	tool := nodePackages(t, "package.json", "package-lock.json")
	svc := embedded(t, world.Options{})
	dir := t.TempDir()
	copied(t, dir, "package.json", "tsconfig.json", "client.ts")
	must(t, os.Symlink(filepath.Join(tool, "node_modules"), filepath.Join(dir, "node_modules")))
	// A field with a default would else be one that has to be sent.
	program(t, dir, nil, "node", "node_modules/openapi-typescript/bin/cli.js", svc.Base+root+"/doc", "-o", "api.ts", "--default-non-nullable=false")
	types, err := os.ReadFile(filepath.Join(dir, "api.ts"))
	must(t, err)
	for name := range svc.Document().Components.Schemas {
		if name == "JSONPatch" {
			continue // a list has no class of its own
		}
		if !strings.Contains(string(types), "\n        "+name+": ") {
			t.Errorf("no type of the schema %s", name)
		}
	}
	program(t, dir, nil, "node", "node_modules/typescript/bin/tsc", "-p", "tsconfig.json")
	onBothSizes(t, svc, dir, "node", "client.js")
}

// TestPythonClient: openapi-generator makes a Python client of the whole documentation, and
// a program does its work with it.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	python := filepath.Join(pythonPackages(t), "bin", "python")
	svc := embedded(t, world.Options{})
	dir := generated(t, svc, "python")
	copied(t, dir, "client.py")
	models, err := os.ReadFile(filepath.Join(dir, "generated", "models", "__init__.py"))
	must(t, err)
	for name := range svc.Document().Components.Schemas {
		if name == "JSONPatch" || strings.HasSuffix(name, "Form") || strings.HasSuffix(name, "Multipart") {
			continue // a list has no class, and the fields of forms are parameters
		}
		if !strings.Contains(string(models), "import "+name+"\n") {
			t.Errorf("no model of the schema %s", name)
		}
	}
	onBothSizes(t, svc, dir, python, "client.py")
}

// TestGoClients: openapi-generator and oapi-codegen make Go clients of the whole
// documentation, and a program does its work with each.
func TestGoClients(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skipf("%s did not run: it is slow and -short is set", t.Name())
	}
	svc := embedded(t, world.Options{})
	works := func(dir string) {
		t.Helper()
		program(t, dir, []string{"CGO_ENABLED=0"}, "go", "test", "-trimpath", "-vet=off", "-c", "-o", "client", ".")
		leavesEvent(t, svc, dir, filepath.Join(dir, "client"))
	}
	dir := generated(t, svc, "go")
	copied(t, dir, "go/go.mod", "go/go.sum", "go/openapi_generator_test.go")
	works(dir)
	dir = t.TempDir()
	copied(t, dir, "go/go.mod", "go/go.sum", "go/oapi_codegen_test.go")
	program(t, dir, nil, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "generated", "-o", "client.go", svc.Base+root+"/doc")
	works(dir)
}

// generated returns the folder of a client that openapi-generator makes of the documentation
// of a service. The program comes from Maven Central.
func generated(t *testing.T, svc *service, language string) string {
	t.Helper()
	const generator = "org.openapitools:openapi-generator-cli:7.25.0"
	tool := installed(t, "java", []string{"java", "mvn"}, nil, []string{"mvn", "-q", "-B", "dependency:copy", "-Dartifact=" + generator, "-DoutputDirectory=."})
	dir := t.TempDir()
	program(t, dir, nil, "java", "-jar", filepath.Join(tool, "openapi-generator-cli-7.25.0.jar"), "generate", "-i", svc.Base+root+"/doc",
		"-g", language, "-o", ".", "--package-name", "generated", "--global-property", "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false")
	return dir
}

// onBothSizes runs a client against a service of each size.
func onBothSizes(t *testing.T, first *service, dir string, command ...string) {
	t.Helper()
	leavesEvent(t, first, dir, command...)
	for _, flavour := range engines.SearchServers() {
		t.Run(flavour, func(t *testing.T) {
			t.Parallel()
			leavesEvent(t, distributed(elastic.Flavour(flavour))(t, world.Options{}), dir, command...)
		})
	}
}

// leavesEvent runs a client, and looks at the event that it leaves.
func leavesEvent(t *testing.T, svc *service, dir string, command ...string) {
	t.Helper()
	out := program(t, dir, []string{"DAYBOOK_URL=" + svc.Base + root, "DAYBOOK_TOKEN=" + svc.User("editor").Token}, command...)
	id, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	must(t, err)
	svc.as(t, "editor").read("/events/" + fmt.Sprint(id)).fields(obj{
		"title": "Typed recital", "start_date": "2027-07-04 00:00:00", "end_date": "2027-07-05 23:59:59", "all_day": true,
		"author": svc.User("editor").User.String(), "venue.venue": "Typed hall", "tags.0.name": "typed", "cost": "$5 – $12",
	})
}

// nodePackages returns the folder where packages are installed in node_modules.
func nodePackages(t *testing.T, pins ...string) string {
	t.Helper()
	return installed(t, "node", []string{"node", "npm"}, pins, []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"})
}

// pythonPackages returns the folder of an environment of Python with its packages.
func pythonPackages(t *testing.T) string {
	t.Helper()
	return installed(t, "python", []string{"python3"}, []string{"requirements.txt"},
		[]string{"python3", "-m", "venv", "."},
		[]string{"bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", "requirements.txt"})
}

// installed returns the folder where a generator is installed by commands that are run
// next to the files with its versions: a folder in the cache of the user, for all runs
// with the same versions. Where DAYBOOK_REQUIRE does not name the tool, the test does not run,
// so that a plain test run needs Go alone.
func installed(t *testing.T, tool string, programs, pins []string, commands ...[]string) string {
	t.Helper()
	if !engines.Required(tool) {
		engines.Require(t, tool, "DAYBOOK_REQUIRE does not name it")
	}
	sum := sha256.New()
	for _, text := range programs {
		path, err := exec.LookPath(text)
		if err != nil {
			engines.Require(t, tool, err.Error())
		}
		version, err := exec.CommandContext(t.Context(), path, "--version").Output()
		if err != nil {
			engines.Require(t, tool, fmt.Sprintf("%s --version: %v", text, err))
		}
		fmt.Fprintf(sum, "%s %s\n", path, version)
	}
	for _, name := range pins {
		data, err := os.ReadFile(filepath.Join("clients", name))
		must(t, err)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(data), data)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		engines.Require(t, tool, err.Error())
	}
	dir := filepath.Join(cache, "daybook-test-clients", fmt.Sprintf("%s-%x", tool, sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	must(t, os.MkdirAll(filepath.Dir(dir), 0o750))
	part, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".") //nolint:usetesting // it becomes the cache; other tests may install the same
	must(t, err)
	defer func() { _ = os.RemoveAll(part) }()
	copied(t, part, pins...)
	for _, command := range commands {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = part
		if out, err := cmd.CombinedOutput(); err != nil {
			engines.Require(t, tool, fmt.Sprintf("%s: %v\n%s", strings.Join(command, " "), err, out))
		}
	}
	if err := os.Rename(part, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // else another run was first
			t.Fatal(err)
		}
	}
	return dir
}

// copied copies files of clients/ to a folder.
func copied(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("clients", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o600))
	}
}

// program runs a program in a folder and gives what it prints.
func program(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"}, env)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(command, " "), err, out, &errs)
	}
	return string(out)
}
