package httpapi

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRoutesGolden: what the router answers is what the golden file says, and so
// is the table.
func TestRoutesGolden(t *testing.T) {
	t.Parallel()
	a := &api{}
	a.mux, a.find = a.newMux()
	registered := map[string][]string{}
	walk := func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		registered[pattern] = append(registered[pattern], method)
		return nil
	}
	if err := chi.Walk(a.mux.(chi.Router), walk); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, rt := range routes {
		fmt.Fprintf(&b, "%-32s %-10s %s\n", rt.template(), rt.kind, rt.allowAll())
		if diff := cmp.Diff(sorted(strings.Split(rt.allowAll(), ", ")), sorted(registered[rt.pattern])); diff != "" {
			t.Errorf("%s: methods (-table +router):\n%s", rt.pattern, diff)
		}
	}
	if len(registered) != len(routes) {
		t.Errorf("%d patterns registered, %d routes", len(registered), len(routes))
	}
	const golden = "testdata/routes.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTexts: every text of the catalog is there in all languages, differs from
// the English one, and is used.
func TestTexts(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, name := range []string{"openapi.go", "operations.go", "proofs.go", "reason.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(b)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`"([a-z]+(?:\.[A-Za-z_-]+)*)"`).FindAllStringSubmatch(source.String(), -1) {
		used[m[1]] = true
	}
	prefixes := []string{"header.", "status.", "arg.header.", "arg.told.", "op.", "arg.id.", "arg.slug.", "default.", "role."}
	for id, text := range texts {
		for i, s := range text {
			if s == "" {
				t.Errorf("%s: nothing in language %d", id, i)
			}
		}
		known := used[id]
		for _, p := range prefixes {
			known = known || strings.HasPrefix(id, p)
		}
		if !known {
			t.Errorf("%s: not used", id)
		}
	}
	for _, rt := range routes {
		for _, op := range rt.operations() {
			id := op.textID()
			if _, ok := texts[id]; !ok {
				t.Errorf("%s: missing", id)
			}
			for _, arg := range op.args {
				for i, s := range arg.description {
					if s == "" {
						t.Errorf("%s %s: %s has no description in language %d", rt.pattern, op.verb, arg.name, i)
					}
				}
			}
			for _, name := range op.sends() {
				if _, ok := texts["arg.header."+name]; !ok {
					t.Errorf("arg.header.%s: missing", name)
				}
			}
		}
	}
}
