package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/testkit/golden"
	"daybook/internal/texts"
)

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
		fmt.Fprintf(&b, "%-32s %-10s %s\n", rt.Template, rt.kind, rt.allow)
		if diff := cmp.Diff(slices.Sorted(strings.SplitSeq(rt.allow, ", ")), slices.Sorted(slices.Values(registered[rt.pattern]))); diff != "" {
			t.Errorf("%s: methods (-table +router):\n%s", rt.pattern, diff)
		}
	}
	if len(registered) != len(routes) {
		t.Errorf("%d patterns registered, %d routes", len(registered), len(routes))
	}
	golden.Compare(t, "routes.golden", b.String())
}

// TestDescribed: every operation, argument and header that is sent is described, and every
// description of a field or parameter is that of one.
func TestDescribed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	describes := func(what string, k calendar.Kind, name string) {
		key := what + "." + k.String() + "." + name
		if _, own := texts.Documentation[key]; !own {
			key = what + "." + name
		}
		used[key] = true
	}
	for _, rt := range routes {
		for _, op := range rt.operations {
			id := "op." + op.Text
			if _, ok := texts.Documentation[id]; !ok {
				t.Errorf("%s: missing", id)
			}
			for _, arg := range op.Args {
				if texts.Documentation[arg.Text] == (calendar.Text{}) {
					t.Errorf("%s %s: %s has no description", rt.pattern, op.ID, arg.Name)
				}
				if strings.HasPrefix(arg.Text, "param.") {
					describes("param", rt.kind, arg.Name)
				}
				if arg.Field != nil {
					describes("field", rt.kind, arg.Name)
				}
			}
			for _, name := range op.Sends {
				if _, ok := texts.Documentation["arg.header."+name]; !ok {
					t.Errorf("arg.header.%s: missing", name)
				}
			}
		}
	}
	for key := range texts.Documentation {
		if !used[key] && (strings.HasPrefix(key, "param.") || strings.HasPrefix(key, "field.")) {
			t.Errorf("%s describes nothing", key)
		}
	}
}
