package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit/golden"
	"daybook/internal/texts"
)

// TestRoutesGolden: the table of routes is what the golden file says.
func TestRoutesGolden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, rt := range routes {
		fmt.Fprintf(&b, "%-32s %-10s %s\n", rt.Template, rt.kind, rt.allow[0])
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
		for _, op := range rt.Operations {
			id := "op." + op.Text
			if _, ok := texts.Documentation[id]; !ok {
				t.Errorf("%s: missing", id)
			}
			for _, arg := range op.Args {
				if texts.Documentation[arg.Text] == (calendar.Text{}) {
					t.Errorf("%s %s: %s has no description", rt.Pattern, op.ID, arg.Name)
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
