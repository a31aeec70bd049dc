// Command loadgen measures a daybook: it builds the binary, fills calendars of
// several sizes, and loads the service over HTTP as clients would. It is a
// client only and imports no server package.
//
//	loadgen [-sizes 10000,100000] [-ratio-size 50000] [-distributed-size 20000] [-for 2s] [-appends=false] [-out FILE]
//	        [-only PARTS] [-postgres URL] [-nats URL] [-elasticsearch URL] [-opensearch URL]
//	        [-hostile-size 20000] [-hostile-for 30s] [-attack NAME] [-weight heavy]
//	loadgen [FLAGS] hostile
//
// The word hostile measures a reader and a writer under attacks and nothing else.
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
	sizes     []int
	ratioSize int
	span      time.Duration
	binary    string
	appends   bool

	distributed int
	servers     servers
	only        string // parts of the distributed size; "": all

	hostile    int // number of events under attack; 0: none
	hostileFor time.Duration
	attack     string // part of the name of attacks; "": all
	weight     weight // of the events under attack
	alone      bool   // nothing but attacks
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
	sizes := fs.String("sizes", "10000,100000", "numbers of events to measure lists with; empty: none")
	var o options
	fs.IntVar(&o.ratioSize, "ratio-size", 50000, "number of events for the ratios against a bare server; 0: none")
	fs.DurationVar(&o.span, "for", 2*time.Second, "time of one measurement")
	fs.StringVar(&o.binary, "binary", "", "daybook binary; empty: built from ./cmd/daybook")
	fs.BoolVar(&o.appends, "appends", true, "measure appends to the event store too")
	fs.IntVar(&o.distributed, "distributed-size", 20000, "number of events of the distributed size; 0: none")
	fs.StringVar(&o.only, "only", "", "parts of the distributed size to measure: appends, relay, projection, lists, with commas between; empty: all")
	fs.IntVar(&o.hostile, "hostile-size", 20_000, "number of events under attack, from 100; 0: no attacks")
	fs.DurationVar(&o.hostileFor, "hostile-for", 30*time.Second, "time of each attack")
	fs.StringVar(&o.attack, "attack", "", "only attacks whose name has this in it; empty: all")
	of := fs.String("weight", string(heavy), "weight of the events under attack: light or heavy")
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
	if o.weight = weight(*of); o.weight != light && o.weight != heavy {
		fmt.Fprintf(errw, "loadgen: -weight: must be light or heavy, not %q\n", *of)
		return 2
	}
	if o.hostile != 0 && o.hostile < 100 {
		fmt.Fprintf(errw, "loadgen: -hostile-size: must be 0 or a number from 100, not %d\n", o.hostile)
		return 2
	}
	switch o.alone = fs.NArg() == 1 && fs.Arg(0) == "hostile"; {
	case fs.NArg() > 0 && !o.alone:
		fmt.Fprintf(errw, "loadgen: there is no bench %q, only hostile\n", strings.Join(fs.Args(), " "))
		return 2
	case o.alone && o.hostile == 0:
		fmt.Fprintln(errw, "loadgen: hostile: needs a -hostile-size")
		return 2
	}
	for s := range strings.SplitSeq(*sizes, ",") {
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 100 {
			fmt.Fprintf(errw, "loadgen: -sizes: must be numbers from 100, not %q\n", s)
			return 2
		}
		o.sizes = append(o.sizes, n)
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
	if !o.alone {
		if err := friendly(ctx, o, dir, out, errw); err != nil {
			return err
		}
	}
	if o.hostile > 0 {
		if err := hostile(ctx, o, filepath.Join(dir, "hostile"), out, errw); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nthe whole run took %s\n", time.Since(begin).Round(time.Second))
	return nil
}

// friendly measures what clients get who mean well.
func friendly(ctx context.Context, o options, dir string, out, errw io.Writer) error {
	if o.appends {
		if err := appends(ctx, o, dir, out, errw); err != nil {
			return err
		}
	}
	if o.ratioSize > 0 {
		if err := ratios(ctx, o, filepath.Join(dir, "ratios"), out, errw); err != nil {
			return err
		}
	}
	for _, n := range o.sizes {
		if err := lists(ctx, o, n, filepath.Join(dir, strconv.Itoa(n)), out, errw); err != nil {
			return err
		}
	}
	return distributed(ctx, o, filepath.Join(dir, "distributed"), out, errw)
}
