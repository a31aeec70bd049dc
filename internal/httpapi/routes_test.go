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
	var builder strings.Builder
	for _, route := range routes {
		fmt.Fprintf(&builder, "%-32s %-10s %s\n", route.Template, route.Kind, route.allow[0])
	}
	golden.Compare(t, "routes.golden", builder.String())
}
