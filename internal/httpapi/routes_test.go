package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"daybook/internal/testkit/golden"
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
