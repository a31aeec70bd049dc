// Command loadgen measures a daybook: it builds the binary, fills calendars of
// several sizes, and loads the service over HTTP as clients would. It is a
// client only and imports no server package.
//
//	loadgen [-only PARTS] [-weight heavy,light] [-for 2s] [-out FILE] [-binary FILE]
//	        [-write-size 10000] [-large-size 100000] [-list-size 50000] [-created 20000]
//	        [-past-size 20000] [-changes-size 1000000]
//	        [-distributed-size 20000] [-postgres URL] [-nats URL] [-elasticsearch URL] [-opensearch URL]
//	        [-hostile-size 20000] [-hostile-for 30s] [-attack NAME]
//	loadgen [FLAGS] hostile
//	loadgen [FLAGS] [-sizes 1000,10000,100000,1000000] growth
//	loadgen [FLAGS] [-sizes 10000,1000000] -elasticsearch URL growth-search
//
// The word hostile measures a reader and a writer under attacks and nothing else,
// growth the embedded size with ever more events, growth-search the same with the
// read model in Elasticsearch.
//
// The distributed size is measured on the servers that are named, by flag or by
// DAYBOOK_TEST_POSTGRES and so on. They must be for tests: the feed of the NATS
// server is deleted.
//
// Figures come as ratios against a raw loop or a bare server of the same run,
// or as times at the 50th and 99th percentile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

type options struct {
	only    []string // parts; none: all
	weights []weight // the first is held against the bounds
	span    time.Duration
	binary  string

	// Numbers of events.
	writeSize, largeSize, listSize int
	created                        int // through HTTP, for what they take of the disk

	// Numbers of changes.
	pastSize, changesSize int

	distributed int
	servers     servers
	store       []string // arguments of the store; none: SQLite

	hostile    int // number of events under attack; 0: none
	hostileFor time.Duration
	attack     string // part of the name of attacks; "": all

	bench string // hostile, growth, growth-search; "": the parts
	sizes []int  // of growth
}

func run(ctx context.Context, args []string, out, errw io.Writer) int {
	if len(args) > 0 && args[0] == "bare" {
		return fail(errw, serveBare(ctx, args[1:], out))
	}
	if len(args) > 0 && args[0] == "attack" {
		return fail(errw, runAttack(ctx, args[1:], out, errw))
	}
	fs := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	fs.SetOutput(errw)
	var o options
	only := fs.String("only", "", "parts to measure, with commas between: "+strings.Join(parts, ", ")+"; empty: all")
	of := fs.String("weight", "heavy,light", "weights of the events; the first is held against the bounds, and is that of events under attack")
	fs.IntVar(&o.writeSize, "write-size", 10_000, "number of events of a small calendar, for creates and updates; from 100")
	fs.IntVar(&o.largeSize, "large-size", 100_000, "number of events of a large one, from 100")
	fs.IntVar(&o.listSize, "list-size", 50_000, "number of events for lists and memory, from 1000")
	fs.IntVar(&o.created, "created", 20_000, "number of events created for the bytes of the disk, from 10")
	fs.IntVar(&o.pastSize, "past-size", 20_000, "number of changes for lists of the past, from 100")
	fs.IntVar(&o.changesSize, "changes-size", 1_000_000, "number of changes of a large log, for its pages, from 100")
	sizes := fs.String("sizes", "", "numbers of events of growth, with commas between; empty: 1000,10000,100000,1000000, and 10000,1000000 for growth-search")
	fs.DurationVar(&o.span, "for", 2*time.Second, "time of one measurement")
	fs.StringVar(&o.binary, "binary", "", "daybook binary; empty: built from ./cmd/daybook")
	fs.IntVar(&o.distributed, "distributed-size", 20000, "number of events of the distributed size; 0: none")
	fs.IntVar(&o.hostile, "hostile-size", 20_000, "number of events under attack, from 100; 0: no attacks")
	fs.DurationVar(&o.hostileFor, "hostile-for", 30*time.Second, "time of each attack")
	fs.StringVar(&o.attack, "attack", "", "only attacks whose name has this in it; empty: all")
	for _, server := range []struct {
		url  *string
		name string
	}{
		{&o.servers.postgres, "postgres"},
		{&o.servers.nats, "nats"},
		{&o.servers.elasticsearch, "elasticsearch"},
		{&o.servers.opensearch, "opensearch"},
	} {
		variable := "DAYBOOK_TEST_" + strings.ToUpper(server.name)
		fs.StringVar(server.url, server.name, strings.TrimSuffix(os.Getenv(variable), "/"), "URL of a server for tests; default: that of "+variable)
	}
	file := fs.String("out", "", "file that gets the text too")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	var err error
	if o.only, err = chosen(*only); err == nil {
		if o.weights, err = weighed(*of); err == nil {
			err = o.check(strings.Join(fs.Args(), " "), *sizes)
		}
	}
	if err != nil {
		fmt.Fprintln(errw, "loadgen:", err)
		return 2
	}
	if *file != "" {
		f, err := os.Create(*file)
		if err != nil {
			return fail(errw, err)
		}
		out = io.MultiWriter(out, f)
		return fail(errw, errors.Join(bench(ctx, o, out, errw), f.Close()))
	}
	return fail(errw, bench(ctx, o, out, errw))
}

// check takes the word of a bench and finds numbers that cannot be measured with.
func (o *options) check(bench, sizes string) error {
	o.bench = bench
	switch {
	case bench == "" || bench == "hostile" && o.hostile > 0:
	case bench == "hostile":
		return errors.New("hostile: needs a -hostile-size")
	case bench == "growth" || bench == "growth-search" && o.servers.elasticsearch != "":
	case bench == "growth-search":
		return errors.New("growth-search: needs the URL of -elasticsearch")
	default:
		return fmt.Errorf("there is no bench %q, only hostile, growth and growth-search", bench)
	}
	if sizes == "" {
		sizes = map[string]string{"growth": "1000,10000,100000,1000000", "growth-search": "10000,1000000"}[bench]
	} else if !strings.HasPrefix(bench, "growth") {
		return errors.New("-sizes: only growth and growth-search have sizes")
	}
	for s := range strings.SplitSeq(sizes, ",") {
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 100 {
			return fmt.Errorf("-sizes: must be numbers from 100, not %q", s)
		}
		o.sizes = append(o.sizes, n)
	}
	for _, n := range []struct {
		name         string
		value, least int
	}{
		{"write-size", o.writeSize, 100},
		{"large-size", o.largeSize, 100},
		{"list-size", o.listSize, 1000},
		{"created", o.created, 10},
		{"past-size", o.pastSize, 100},
		{"changes-size", o.changesSize, 100},
	} {
		if n.value < n.least {
			return fmt.Errorf("-%s: must be a number from %d, not %d", n.name, n.least, n.value)
		}
	}
	for name, value := range map[string]int{"hostile-size": o.hostile, "distributed-size": o.distributed} {
		if value != 0 && value < 100 {
			return fmt.Errorf("-%s: must be 0 or a number from 100, not %d", name, value)
		}
	}
	return nil
}

func fail(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(w, "loadgen:", err)
	return 1
}

func bench(ctx context.Context, o options, out, errw io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "daybook-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.binary == "" {
		o.binary = filepath.Join(dir, "daybook")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", o.binary, "./cmd/daybook")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = errw
		if err := build.Run(); err != nil {
			return fmt.Errorf("build daybook: %w", err)
		}
	}
	begin := time.Now()
	flush, err := flushTime(dir)
	if err != nil {
		return fmt.Errorf("time of a flush: %w", err)
	}
	fmt.Fprintf(out, "daybook benchmarks, %s, %s, %d cores, a flush of the disk takes %s\n",
		time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), flush.Round(time.Microsecond))
	r := &report{Writer: out}
	switch o.bench {
	case "growth":
		err = growth(ctx, o, filepath.Join(dir, "growth"), r, errw)
	case "growth-search":
		err = growthSearch(ctx, o, filepath.Join(dir, "growth"), r, errw)
	case "":
		err = friendly(ctx, o, dir, r, errw)
	}
	if err != nil {
		return err
	}
	if r.rows > 0 {
		fmt.Fprintf(out, "\n%d of %d rows that have a bound are not met\n", r.missed, r.rows)
	}
	if o.hostile > 0 && (o.bench == "hostile" || o.bench == "" && o.wants("hostile")) {
		if err := hostile(ctx, o, filepath.Join(dir, "hostile"), out, errw); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nthe whole run took %s\n", time.Since(begin).Round(time.Second))
	return nil
}
