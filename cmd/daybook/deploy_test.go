package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	yaml "github.com/oasdiff/yaml3"

	"daybook/internal/testkit/engines"
)

// repository is the top of the repository, seen from here.
var repository = filepath.Join("..", "..")

func deployFile(t *testing.T, name ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{repository}, name...)...))
	must(t, err)
	return string(data)
}

// yamlDocuments returns the documents of a YAML file. A key that stands twice is an
// error.
func yamlDocuments(t *testing.T, text string) []map[string]any {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var out []map[string]any
	for {
		var doc map[string]any
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out
		}
		must(t, err)
		out = append(out, doc)
	}
}

// at follows keys and positions into a YAML value; nil where there is nothing.
func at(value any, path ...any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			m, _ := value.(map[string]any)
			value = m[key]
		case int:
			values, _ := value.([]any)
			if key >= len(values) {
				return nil
			}
			value = values[key]
		}
	}
	return value
}

// stringsIn gives a YAML list of texts.
func stringsIn(value any) []string {
	values, _ := value.([]any)
	out := make([]string, 0, len(values))
	for _, e := range values {
		out = append(out, fmt.Sprint(e))
	}
	return out
}

// serves checks that the program takes a command line in an environment: what
// config print reports it, by name.
func serves(t *testing.T, args []string, env map[string]string) map[string]string {
	t.Helper()
	if len(args) == 0 || args[0] != "serve" {
		t.Errorf("runs %v, not serve", args)
		return nil
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		if strings.HasPrefix(name, "DAYBOOK_") && !slices.ContainsFunc(flagsOf(t, "serve"), func(flag *kong.Flag) bool { return variable(flag.Value) == name }) {
			t.Errorf("%s is no setting of serve", name)
		}
		list = append(list, name+"="+value)
	}
	_, values, err := settingsOf(t, args[1:], list)
	if err != nil {
		t.Errorf("serve refuses %v in %v: %v", args, env, err)
		return nil
	}
	return values
}

// placeholder is how a file takes a value from the environment: ${NAME:?why} must
// be given, ${NAME:-default} may be.
var placeholder = regexp.MustCompile(`\$\{([A-Z_]+)(:\?[^}]*|:-[^}]*)?\}`)

// filled puts values in the place of the placeholders: defaults, and a password
// where one must be given.
func filled(value any) string {
	return placeholder.ReplaceAllStringFunc(fmt.Sprint(value), func(p string) string {
		texts := placeholder.FindStringSubmatch(p)
		if d, ok := strings.CutPrefix(texts[2], ":-"); ok {
			return d
		}
		return "given"
	})
}

// openPasswords gives what stands as a password in a text: the password of a URL,
// or what a name that reports a secret is set to.
func openPasswords(text string) []string {
	var out []string
	for _, texts := range regexp.MustCompile(`[a-z]+://[^\s:/@]*:([^\s@]+)@`).FindAllStringSubmatch(text, -1) {
		out = append(out, texts[1])
	}
	for _, texts := range regexp.MustCompile(`(?im)(?:password|secret|token|credential)s?["']?\s*[:=]\s*["']?([^\s"',}]+)`).FindAllStringSubmatch(text, -1) {
		out = append(out, texts[1])
	}
	return slices.DeleteFunc(out, func(p string) bool {
		return p[0] == '$' || p[0] == '?' || strings.HasPrefix(p, "…") // given, must be given, left out
	})
}

// TestNoOpenPassword: no file of deploy has a password in it.
func TestNoOpenPassword(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(repository, "deploy", "*"))
	must(t, err)
	inner, err := filepath.Glob(filepath.Join(repository, "deploy", "[!e]*", "*"))
	must(t, err)
	read := 0
	for _, name := range append(append(files, inner...), filepath.Join(repository, "docker-compose.yml")) {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		read++
		data, err := os.ReadFile(name)
		must(t, err)
		for _, text := range openPasswords(string(data)) {
			if strings.HasPrefix(text, "scram-") { // how PostgreSQL keeps them
				continue
			}
			t.Errorf("%s has the password %q", name, text)
		}
	}
	if read < 10 {
		t.Errorf("read %d files only", read)
	}
}

// urlsOf are the servers that each role has a need of.
var urlsOf = map[string][]string{"api": {"store", "index"}, "relay": {"store", "feed"}, "projector": {"store", "feed", "index"}}

// runs checks that a deployment runs a role with the URLs that it needs and no others, and gives
// it more time to end than it drains.
func runs(t *testing.T, role string, args []string, env map[string]string, grace time.Duration) map[string]string {
	t.Helper()
	got := serves(t, args, env)
	for _, setting := range []string{"store", "feed", "index"} {
		if needs := slices.Contains(urlsOf[role], setting); (got[setting] != "") != needs {
			t.Errorf("%s: the URL of %s is %q, and it needs it: %t", role, setting, got[setting], needs)
		}
	}
	if drains, err := time.ParseDuration(got["drain-limit"]); err != nil || got["role"] != role || grace <= drains {
		t.Errorf("serves as %q, want %q; it has %s to end, and drains for up to %s", got["role"], role, grace, got["drain-limit"])
	}
	return got
}

// TestSchemas: docker-compose.yml and the manifests are what their schemas allow. That
// is a module of its own, with what it needs, which is built where DAYBOOK_REQUIRE names it.
func TestSchemas(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	if !engines.Required("schemas") {
		engines.Require(t, "schemas", "DAYBOOK_REQUIRE does not name it")
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = filepath.Join(repository, "internal", "schemas")
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
		return cmd
	}
	if out, err := command("mod", "download").CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	if out, err := command("test", "-vet=off", "./...").CombinedOutput(); err != nil {
		t.Errorf("go test in internal/schemas: %v\n%s", err, out)
	}
}

// TestCompose: docker-compose.yml runs the three roles with settings that the program takes,
// the URLs that they need and no others, as users that own nothing.
func TestCompose(t *testing.T) {
	t.Parallel()
	text := deployFile(t, "docker-compose.yml")
	services, _ := yamlDocuments(t, text)[0]["services"].(map[string]any)
	for _, role := range []string{"api", "relay", "projector"} {
		service := services[role]
		env := map[string]string{}
		for name, value := range at(service, "environment").(map[string]any) {
			env[name] = filled(value)
		}
		stop, err := time.ParseDuration(fmt.Sprint(at(service, "stop_grace_period")))
		must(t, err)
		got := runs(t, role, stringsIn(at(service, "command")), env, stop)
		if got["listen"] != "0.0.0.0:8080" {
			t.Errorf("%s serves on %s", role, got["listen"])
		}
		for setting, engine := range map[string]string{"store": "postgres:5432", "feed": "nats:4222", "index": "elasticsearch:9200"} {
			address, err := url.Parse(got[setting])
			if err != nil || got[setting] != "" && (address.Host != engine || address.User.String() != "daybook:given") {
				t.Errorf("%s: %s is %q, want the service %s with the password of the environment", role, setting, got[setting], engine)
			}
		}
	}
	if strings.Contains(text, "PASSWORD:-") {
		t.Error("a password has a default")
	}
	for module, service := range map[string]string{"github.com/nats-io/nats-server/v2": "nats", "github.com/elastic/go-elasticsearch/v8": "elasticsearch"} {
		texts := regexp.MustCompile(regexp.QuoteMeta(module) + ` v(\S+)`).FindStringSubmatch(deployFile(t, "go.mod"))
		if i := fmt.Sprint(at(services[service], "image")); texts == nil || !strings.Contains(i, ":"+texts[1]) {
			t.Errorf("%s: image %s, tested with %v", service, i, texts)
		}
	}
}

// TestDockerfile: the image is built by the Go version of go.mod, has nothing but
// the program and runs it as nobody.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text := deployFile(t, "deploy", "Dockerfile")
	goVersion := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(deployFile(t, "go.mod"))[1]
	for _, want := range []string{
		"FROM golang:" + goVersion + "-", "deploy/release ${TARGETOS}/${TARGETARCH}", "FROM scratch\n", "USER 65532:65532\n",
		`ENTRYPOINT ["/daybook"]`, `CMD ["/daybook", "ready"]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	env := map[string]string{}
	for _, texts := range regexp.MustCompile(`(DAYBOOK_[A-Z_]+)=(\S+)`).FindAllStringSubmatch(text, -1) {
		env[texts[1]] = texts[2]
	}
	if got := serves(t, []string{"serve"}, env); got["data"] != "/data" || got["listen"] != "0.0.0.0:8080" {
		t.Errorf("serves %v", got)
	}
	// Every folder with Go code of the program goes into the image.
	ignore := deployFile(t, "deploy", "Dockerfile.dockerignore")
	entries, err := os.ReadDir(repository)
	must(t, err)
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() && name[0] != '.' && !slices.Contains([]string{"bin", "deploy", "docs"}, name) && !strings.Contains(ignore, "!"+name+"\n") && !strings.HasPrefix(name, "daybook-data") {
			t.Errorf("%s is not in the image", name)
		}
	}
}

// TestRelease: a released binary is static and small, shows its version, and has the checksum that is published.
func TestRelease(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	out := t.TempDir()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = out
		cmd.Env = append(os.Environ(), "OUT="+out, "VERSION=1.2.3", "NO_SBOM=1", "BUILD_FLAGS=") // the packages are in the build cache
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		return string(text)
	}
	release, err := filepath.Abs(filepath.Join(repository, "deploy", "release"))
	must(t, err)
	run(release, runtime.GOOS+"/"+runtime.GOARCH)
	name := "daybook-" + runtime.GOOS + "-" + runtime.GOARCH
	if got := run("./"+name, "--version"); got != "daybook 1.2.3\n" {
		t.Errorf("version %q", got)
	}
	if file, err := os.Stat(filepath.Join(out, name)); err != nil || file.Size() > 45<<20 {
		t.Errorf("%v, %v", file, err)
	}
	run("sha256sum", "--check", "SHA256SUMS")
}

// TestKubernetes: each role has probes, settings that the program takes, and its URLs from a
// secret.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	dir := []string{"deploy", "kubernetes"}
	kustomization := yamlDocuments(t, deployFile(t, append(dir, "kustomization.yaml")...))[0]
	shared := map[string]string{}
	for _, text := range stringsIn(at(kustomization, "configMapGenerator", 0, "literals")) {
		name, value, _ := strings.Cut(text, "=")
		shared[name] = value
	}
	found := map[string]map[string]any{} // by kind/name
	for _, file := range stringsIn(kustomization["resources"]) {
		for _, doc := range yamlDocuments(t, deployFile(t, append(dir, file)...)) {
			found[fmt.Sprint(doc["kind"], "/", at(doc, "metadata", "name"))] = doc
		}
	}
	for _, role := range []string{"api", "relay", "projector"} {
		pod := at(found["Deployment/"+role], "spec", "template", "spec")
		c := at(pod, "containers", 0)
		env := maps.Clone(shared)
		for _, e := range at(c, "env").([]any) {
			name := fmt.Sprint(at(e, "name"))
			if v := at(e, "value"); v != nil {
				env[name] = fmt.Sprint(v)
				continue
			}
			if at(e, "valueFrom", "secretKeyRef", "name") != "daybook-urls" {
				t.Errorf("%s: %s is not from the secret", role, name)
			}
			env[name] = map[any]string{"store": "postgres://p/d", "feed": "nats://n:4222", "index": "https://e:9200"}[at(e, "valueFrom", "secretKeyRef", "key")]
		}
		grace, _ := at(pod, "terminationGracePeriodSeconds").(int)
		got := runs(t, role, stringsIn(at(c, "args")), env, time.Duration(grace)*time.Second)
		if duration, err := time.ParseDuration(got["drain-delay"]); err != nil || duration < defaultLameDuck {
			t.Errorf("%s: closes its listener %q after it is not ready", role, got["drain-delay"])
		}
		for probe, path := range map[string]string{"startupProbe": pathLive, "livenessProbe": pathLive, "readinessProbe": pathReady} {
			if at(c, probe, "httpGet", "path") != path {
				t.Errorf("%s: %s is %v", role, probe, at(c, probe))
			}
		}
	}
}

// TestUnit: the systemd unit serves the embedded size from its state directory.
func TestUnit(t *testing.T) {
	t.Parallel()
	text := deployFile(t, "deploy", "daybook.service")
	env, once := map[string]string{}, map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if name == "Environment" {
			k, v, _ := strings.Cut(value, "=")
			env[k] = v
			continue
		}
		once[name] = value
	}
	args := strings.Fields(once["ExecStart"])
	if len(args) == 0 || !filepath.IsAbs(args[0]) {
		t.Fatalf("starts %v", args)
	}
	stop, err := time.ParseDuration(once["TimeoutStopSec"] + "s")
	must(t, err)
	got := runs(t, "all", args[1:], env, stop)
	if got["data"] != "/var/lib/"+once["StateDirectory"] || !strings.HasPrefix(got["listen"], "127.0.0.1:") {
		t.Errorf("serves %v", got)
	}
	for name, want := range map[string]string{
		"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "CapabilityBoundingSet": "", "StateDirectoryMode": "0700",
	} {
		if v, ok := once[name]; !ok || v != want {
			t.Errorf("%s=%s, want %s", name, v, want)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	// Where the program is not installed, the check is of the rest.
	name := filepath.Join(t.TempDir(), "daybook.service")
	must(t, os.WriteFile(name, []byte(strings.Replace(text, "ExecStart="+args[0], "ExecStart=/bin/true", 1)), 0o600))
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", name).CombinedOutput(); err != nil || bytes.Contains(out, []byte("daybook.service")) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// documentedMetrics returns the names of the metrics of the service, by the page that
// telemetry holds its metrics against.
func documentedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `(daybook_[a-z_]+)` ")
	for _, texts := range row.FindAllStringSubmatch(deployFile(t, "docs", "observability.md"), -1) {
		out[texts[1]] = true
	}
	if len(out) < 30 {
		t.Fatalf("read %d metrics only", len(out))
	}
	return out
}

// TestDashboard: the dashboard reads metrics that there are, and all of them.
func TestDashboard(t *testing.T) {
	t.Parallel()
	known, read := documentedMetrics(t), map[string]bool{}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	must(t, json.Unmarshal([]byte(deployFile(t, "deploy", "grafana", "daybook.json")), &dashboard))
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`\bdaybook_[a-z_]+`).FindAllString(target.Expr, -1) {
				if base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""); !known[name] && known[base] {
					name = base // a histogram
				}
				if read[name] = true; !known[name] {
					t.Errorf("%s reads %s", target.Expr, name)
				}
			}
		}
	}
	for name := range known {
		if !read[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}
