// Command loadgen measures a daybook program from outside: it fills calendars, loads the
// service over HTTP as clients would, and prints the rows of docs/benchmarks/README.md.
//
//	loadgen [FLAGS] [GROUP OR PART OF THE NAME OF A ROW ...]
//
// Without a name all groups but hostile are measured. Rows that need servers are measured
// on those that DAYBOOK_TEST_POSTGRES, …_NATS and …_ELASTICSEARCH name.
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// check ends the run after what is deferred: a benchmark has nothing to do about an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

//go:embed *.json
var data embed.FS

// read decodes a file of data.
func read[T any](file string) (value T) {
	check(json.Unmarshal(must(data.ReadFile(file)), &value))
	return value
}

// bench is one run of the program.
type bench struct {
	ctx            context.Context // of the whole run
	output, stderr io.Writer
	directory      string   // removed at the end
	cleanup        []func() // of a group

	binary, source   string
	span, mixed      time.Duration
	events           int
	measured, missed int // rows
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintln(stderr, "loadgen:", problem)
			code = 1
		}
	}()
	b := &bench{ctx: ctx, output: stdout, stderr: stderr}
	flags := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	flags.StringVar(&b.binary, "binary", "", "daybook program to measure; built from -source if empty")
	flags.StringVar(&b.source, "source", ".", "sources of the program and of the benchmark of the event store in PostgreSQL")
	flags.DurationVar(&b.span, "for", 2*time.Second, "time of one measurement, of which a ratio takes six; an attack lasts 15 times as long")
	flags.DurationVar(&b.mixed, "mixed", 0, "time of the mixed load before memory is read again (default 10m if memory is asked for by name, else 1m)")
	flags.IntVar(&b.events, "events", 0, "number of events instead of those of each group")
	check(flags.Parse(args))
	switch flags.Arg(0) { // the first two are processes of a run
	case "bare":
		b.serveBare(flags.Arg(1))
	case "attack":
		b.attack(flags.Args()[1:])
	default:
		b.measure(flags.Args())
	}
	return code
}

// measure measures the rows that words choose: groups by their name, others by a part of theirs.
func (bench *bench) measure(words []string) {
	groups := read[[]group]("rows.json")
	if bench.mixed == 0 {
		if bench.mixed = time.Minute; strings.Contains(fmt.Sprint(words), "memory") {
			bench.mixed *= 10
		}
	}
	bench.directory = must(os.MkdirTemp("", "daybook-bench-"))
	defer func() { check(os.RemoveAll(bench.directory)) }()
	if bench.binary == "" {
		bench.binary = bench.directory + "/daybook"
		bench.run("go", "build", "-C", bench.source, "-o", bench.binary, "./cmd/daybook")
	}
	begin := time.Now()
	fmt.Fprintf(bench.output, "daybook benchmarks, %s, %s, %d cores\n", begin.Format(time.DateOnly), runtime.Version(), runtime.NumCPU())
	for _, g := range groups {
		g.Rows = slices.DeleteFunc(g.Rows, func(r row) bool {
			return (len(words) > 0 || g.Name == "hostile") && !slices.ContainsFunc(words, func(word string) bool {
				isGroup := slices.ContainsFunc(groups, func(other group) bool { return other.Name == word })
				return word == g.Name || !isGroup && strings.Contains(r.Name, word)
			})
		})
		if len(g.Rows) > 0 {
			bench.measureGroup(g)
		}
	}
	if bench.measured == 0 {
		check(fmt.Errorf("no row of %q was measured", words))
	}
	fmt.Fprintf(bench.output, "\n%d of %d rows are not met; the whole run took %s\n", bench.missed, bench.measured, time.Since(begin).Round(time.Second))
}

// measureGroup measures the rows of a group.
func (bench *bench) measureGroup(group group) {
	size := cmp.Or(bench.events, group.Size)
	fmt.Fprintf(bench.output, "\n"+group.Title+"\n%-50s %-9s %12s %12s %7s\n", size, group.Name, "bound", "measured", "against", "ratio")
	for _, name := range group.Needs {
		if server(name) == "" {
			for _, row := range group.Rows {
				fmt.Fprintf(bench.output, "%-50s not measured: no %s\n", row.Name, name)
			}
			return
		}
	}
	directory := bench.directory + "/" + group.Name
	defer func() {
		for _, f := range slices.Backward(bench.cleanup) {
			f()
		}
		bench.cleanup = nil
		check(os.RemoveAll(directory))
	}()
	calendar := bench.open(group, directory, cmp.Or(group.Filled, size))
	if group.Small > 0 {
		calendar.small = bench.open(group, directory+"/small", min(group.Small, size))
	}
	for _, row := range group.Rows {
		calendar.measureRow(row)
	}
}

// server returns the URL of a server, "" if none exists.
func server(name string) string { return os.Getenv("DAYBOOK_TEST_" + strings.ToUpper(name)) }

// run runs a command and returns what it prints.
func (bench *bench) run(name string, args ...string) string {
	command := exec.CommandContext(bench.ctx, name, args...)
	command.Env, command.Stderr = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), bench.stderr
	data, err := command.Output()
	if err != nil {
		check(fmt.Errorf("%s: %w\n%s", command, err, data))
	}
	return strings.TrimSpace(string(data))
}
