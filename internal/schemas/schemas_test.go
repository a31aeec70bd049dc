// Package schemas holds the files of deploy and docker-compose.yml against the schemas
// that those publish who read them: the Compose Specification and the OpenAPI document
// of Kubernetes. It is a module of its own, so that what it needs for that is no need of
// the program; cmd/daybook has it run with the other tests (ADR 25).
package schemas_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// repository is the top of the repository, seen from here.
var repository = filepath.Join("..", "..")

// project loads a compose file as docker compose does: interpolated, by its schema, and
// with all that its parts name.
func project(t *testing.T, text string, env map[string]string) (*types.Project, error) {
	t.Helper()
	dir, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: dir, Environment: env, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "docker-compose.yml"), Content: []byte(text)}},
	})
}

func composeFile(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(repository, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// passwords are those that the compose file asks for; the second is of digits alone.
func passwords() map[string]string {
	return map[string]string{
		"POSTGRES_PASSWORD": "p", "OWNER_PASSWORD": "o", "STORE_PASSWORD": "s", "NATS_PASSWORD": "20241122", "ELASTIC_PASSWORD": "e", "INDEX_PASSWORD": "i",
	}
}

// TestCompose: the file is one by its schema, asks for each password, gives each role
// the URLs that it needs, and lets there be several api processes.
func TestCompose(t *testing.T) {
	t.Parallel()
	text := composeFile(t)
	p, err := project(t, text, passwords())
	if err != nil {
		t.Fatal(err)
	}
	for name := range passwords() {
		less := passwords()
		delete(less, name)
		if _, err := project(t, text, less); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for name, want := range map[string][]string{
		"api": {"DAYBOOK_INDEX", "DAYBOOK_STORE"}, "relay": {"DAYBOOK_FEED", "DAYBOOK_STORE"}, "projector": {"DAYBOOK_FEED", "DAYBOOK_INDEX", "DAYBOOK_STORE"},
		"migrate": {"DAYBOOK_STORE"}, "postgres": nil, "nats": nil, "elasticsearch": nil, "index-user": nil,
	} {
		var got []string
		for k := range p.Services[name].Environment {
			if slices.Contains([]string{"DAYBOOK_STORE", "DAYBOOK_FEED", "DAYBOOK_INDEX"}, k) {
				got = append(got, k)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has the URLs %q, want %q", name, got, want)
		}
	}
	if got := *p.Services["nats"].Environment["NATS_PASSWORD"]; got != `"20241122"` {
		t.Errorf("the password of nats is %s, a number to it", got)
	}
	ports := p.Services["api"].Ports
	if len(ports) != 1 || ports[0].Target != 8080 || ports[0].HostIP != "127.0.0.1" || !strings.Contains(ports[0].Published, "-") {
		t.Errorf("ports of api: %+v, want a range for several", ports)
	}
	if len(p.Services) != 8 {
		t.Errorf("%d services", len(p.Services))
	}
	for _, change := range [][2]string{
		{"mem_limit: 2g", "memory_limit: 2g"},
		{"networks: [engines, front]", "networks: [engines, back]"},
		{"index-user: {condition", "index-users: {condition"},
		{"interval: 10s", "interval: often"},
		{"pids_limit: 256", "pids_limit: [256]"},
	} {
		broken := strings.Replace(text, change[0], change[1], 1)
		if broken == text {
			t.Fatalf("%q is not there", change[0])
		}
		if _, err := project(t, broken, passwords()); err == nil {
			t.Errorf("%q is taken", change[1])
		}
	}
}

// kubernetes makes a validator of the kinds that Kubernetes knows, by apiVersion/kind,
// which takes no field that a kind has not.
func kubernetes(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(openapi.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for name, d := range doc["definitions"].(map[string]any) {
		definition := d.(map[string]any)
		if definition["properties"] != nil && definition["additionalProperties"] == nil {
			definition["additionalProperties"] = false
		}
		if definition["format"] == "int-or-string" {
			definition["type"] = []any{"string", "integer"}
		}
		of, _ := definition["x-kubernetes-group-version-kind"].([]any)
		for _, k := range of {
			gvk := k.(map[string]any)
			version, _ := gvk["version"].(string)
			if group, _ := gvk["group"].(string); group != "" {
				version = group + "/" + version
			}
			kinds[version+"/"+fmt.Sprint(gvk["kind"])] = name
		}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	if err := c.AddResource("kubernetes.json", doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for kind, name := range kinds {
		if !slices.Contains(used, kind) {
			continue
		}
		if out[kind], err = c.Compile("kubernetes.json#/definitions/" + name); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) != len(used) {
		t.Fatalf("found the schemas of %v, want those of %v", slices.Sorted(maps.Keys(out)), used)
	}
	return out
}

// used are the kinds of deploy/kubernetes.
var used = []string{
	"apps/v1/Deployment", "batch/v1/Job", "networking.k8s.io/v1/NetworkPolicy", "policy/v1/PodDisruptionBudget", "v1/Namespace", "v1/Service", "v1/ServiceAccount", "v1/ConfigMap",
}

// documents returns the documents of a YAML text as JSON has them.
func documents(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(text))
	var out []map[string]any
	for {
		var doc map[string]any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v.(map[string]any))
	}
}

// TestKubernetes: each document of the folder is what its kind may be, and so is what
// kustomize makes of them, where it is installed.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	schemas := kubernetes(t)
	check := func(where string, text []byte) (n int) {
		t.Helper()
		for _, doc := range documents(t, text) {
			kind := fmt.Sprint(doc["apiVersion"], "/", doc["kind"])
			schema := schemas[kind]
			if schema == nil {
				t.Errorf("%s: no schema of %s", where, kind)
				continue
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%s: %s: %v", where, kind, err)
			}
			n++
		}
		return n
	}
	dir := filepath.Join(repository, "deploy", "kubernetes")
	for _, folder := range []string{dir, filepath.Join(dir, "migrate")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, file := range files {
			if filepath.Base(file) == "kustomization.yaml" {
				continue
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n += check(file, b)
		}
		if n == 0 {
			t.Errorf("%s: nothing was read", folder)
		}
		if kubectl, err := exec.LookPath("kubectl"); err == nil {
			out, err := exec.CommandContext(t.Context(), kubectl, "kustomize", folder).Output()
			if err != nil {
				t.Fatalf("kubectl kustomize: %v", err)
			}
			if made := check("kustomize "+folder, out); made < n {
				t.Errorf("kustomize makes %d documents of %d", made, n)
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "api.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"replicas: 2", "replicas: two"},
		{"readOnlyRootFilesystem", "readonlyRootFilesystem"},
		{"  selector:", "  selectors:"},
		{"containerPort: 8080", "containerPort: http"},
		{"secretKeyRef", "secretRef"},
		{"        - name: daybook\n", "        - title: daybook\n"},
	} {
		broken := bytes.Replace(b, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(broken, b) {
			t.Fatalf("%q is not there", change[0])
		}
		taken := true
		for _, doc := range documents(t, broken) {
			if schemas[fmt.Sprint(doc["apiVersion"], "/", doc["kind"])].Validate(doc) != nil {
				taken = false
			}
		}
		if taken {
			t.Errorf("%q is taken", change[1])
		}
	}
}
