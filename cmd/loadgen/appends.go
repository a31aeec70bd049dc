package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// appends runs the benchmark of the SQLite event store, which has the raw loop
// beside it, and prints the ratios. It is a test binary, because a client has no
// way to the store but through HTTP.
func appends(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	binary := filepath.Join(dir, "sqlite.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./eventstore/sqlite")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = errw
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the benchmark of the event store: %w", err)
	}
	rates := map[string][]float64{}
	for range rounds {
		run := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.bench", "^BenchmarkAppend$/callers/^keyed=true$|^BenchmarkAppend$/^raw$", "-test.benchtime", o.span.String())
		run.Dir, run.Stderr = dir, errw
		text, err := run.Output()
		if err != nil {
			return fmt.Errorf("benchmark of the event store: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			if name, rate, ok := benchMetric(line, "appends/s"); ok {
				rates[name] = append(rates[name], rate)
			}
		}
	}
	raw := rates["raw"]
	if len(raw) != rounds {
		return errors.New("the benchmark of the event store has no raw loop")
	}
	t := newTable(r, []weight{heavy}, "appends to the event store in SQLite with versions, claims, chain and idempotency keys", "raw commits")
	for _, row := range []struct {
		name, bench string
		least       float64
	}{
		{"append, 1 caller", "callers=1/keyed=true", 0.65},
		{"appends, 8 callers", "callers=8/keyed=true", 0},
		{"appends, 64 callers", "callers=64/keyed=true", 1.5},
	} {
		own := rates[row.bench]
		if len(own) != rounds {
			return fmt.Errorf("the benchmark of the event store has no %q", row.bench)
		}
		ratio := make([]float64, rounds)
		for i := range own {
			ratio[i] = own[i] / raw[i]
		}
		t.row(row.name, row.least, []pair{{own: median(own), other: median(raw), ratio: median(ratio), processor: -1}})
	}
	return nil
}

// benchMetric reads a line of the benchmark of appends: the name below it, and a metric.
func benchMetric(line, metric string) (name string, value float64, ok bool) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return "", 0, false
	}
	name, ok = strings.CutPrefix(fields[0], "BenchmarkAppend/")
	if !ok {
		return "", 0, false
	}
	if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of processors
		name = name[:i]
	}
	for i := 2; i < len(fields); i++ {
		if fields[i] == metric {
			value, err := strconv.ParseFloat(fields[i-1], 64)
			return name, value, err == nil
		}
	}
	return "", 0, false
}
