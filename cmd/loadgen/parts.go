package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parts are what -only chooses from, in the order in which they are measured.
var parts = []string{"appends", "writes", "sizes", "lists", "listings", "pages", "disk", "past", "postgres", "relay", "projection", "engines", "hostile"}

// wants tells whether a part is to be measured.
func (o *options) wants(part string) bool { return len(o.only) == 0 || slices.Contains(o.only, part) }

// chosen reads the names of parts, with commas between.
func chosen(text string) ([]string, error) {
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		switch {
		case name == "":
		case !slices.Contains(parts, name):
			return nil, fmt.Errorf("-only: there is no part %q, only %s", name, strings.Join(parts, ", "))
		default:
			out = append(out, name)
		}
	}
	return out, nil
}

// weighed reads weights, with commas between.
func weighed(text string) ([]weight, error) {
	var out []weight
	for name := range strings.SplitSeq(text, ",") {
		w := weight(name)
		if w != light && w != heavy || slices.Contains(out, w) {
			return nil, fmt.Errorf("-weight: must be light, heavy or heavy,light, not %q", text)
		}
		out = append(out, w)
	}
	return out, nil
}

// report writes rows, and counts those that miss their bound.
type report struct {
	io.Writer
	rows, missed int
}

// verdict counts a row that has a bound.
func (r *report) verdict(met bool) string {
	r.rows++
	if met {
		return "met"
	}
	r.missed++
	return "not met"
}

// pair are two rates of one row and their ratio, all medians.
type pair struct {
	own, other, ratio float64
	processor         time.Duration // of the service for each request; below 0: not known
}

// table has a row for each thing that is measured and a group of columns for each
// weight.
type table struct {
	*report
	weights []weight
}

// newTable writes the head; other names the side that ours is compared with.
func newTable(r *report, weights []weight, title, other string) *table {
	fmt.Fprintf(r, "\n%s\n%-44s", title, "")
	for _, w := range weights {
		fmt.Fprintf(r, "  | %-42s", w+" events")
	}
	fmt.Fprintf(r, "  |\n%-44s", "")
	for range weights {
		fmt.Fprintf(r, "  | %10s %12s %7s %10s", "per second", other, "ratio", "processor")
	}
	fmt.Fprintf(r, "  | at least\n")
	return &table{r, weights}
}

// row writes one; the bound is that of the first weight, 0 for none.
func (t *table) row(name string, least float64, pairs []pair) {
	fmt.Fprintf(t, "%-44s", name)
	for _, p := range pairs {
		used := ""
		if p.processor >= 0 {
			used = strconv.FormatInt(p.processor.Microseconds(), 10) + " us"
		}
		fmt.Fprintf(t, "  | %10.0f %12.0f %7.2f %10s", p.own, p.other, p.ratio, used)
	}
	if least == 0 {
		fmt.Fprintf(t, "  |\n")
		return
	}
	fmt.Fprintf(t, "  | %.2f %s\n", least, t.verdict(pairs[0].ratio >= least))
}

// figure is one value of a row with the same bound for all weights' first.
func (r *report) figure(name string, weights []weight, values []float64, unit string, most float64) {
	fmt.Fprintf(r, "%-44s", name)
	for i, w := range weights {
		fmt.Fprintf(r, "  | %10.2f %-2s %-28s", values[i], unit, w)
	}
	if most == 0 {
		fmt.Fprintf(r, "  |\n")
		return
	}
	fmt.Fprintf(r, "  | at most %g %s: %s\n", most, unit, r.verdict(values[0] <= most))
}

// friendly measures what clients get who mean well.
func friendly(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	for _, part := range []struct {
		name string
		run  func(ctx context.Context, o options, dir string, r *report, errw io.Writer) error
	}{
		{"appends", appends},
		{"writes", writes},
		{"sizes", sizes},
		{"lists", lists},
		{"listings", listings},
		{"pages", pages},
		{"disk", disk},
		{"past", past},
	} {
		if !o.wants(part.name) {
			continue
		}
		if err := part.run(ctx, o, filepath.Join(dir, part.name), r, errw); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !slices.ContainsFunc([]string{"postgres", "relay", "projection", "engines"}, o.wants) {
		return nil
	}
	return distributed(ctx, o, filepath.Join(dir, "distributed"), r, errw)
}
