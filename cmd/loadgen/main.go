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
	ctx         context.Context // of the whole run
	out, stderr io.Writer
	directory   string   // removed at the end
	cleanup     []func() // of a group

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
	b := &bench{ctx: ctx, out: stdout, stderr: stderr}
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
func (b *bench) measure(words []string) {
	groups := read[[]group]("rows.json")
	if b.mixed == 0 {
		if b.mixed = time.Minute; strings.Contains(fmt.Sprint(words), "memory") {
			b.mixed *= 10
		}
	}
	b.directory = must(os.MkdirTemp("", "daybook-bench-"))
	defer func() { check(os.RemoveAll(b.directory)) }()
	if b.binary == "" {
		b.binary = b.directory + "/daybook"
		b.run("go", "build", "-C", b.source, "-o", b.binary, "./cmd/daybook")
	}
	begin := time.Now()
	fmt.Fprintf(b.out, "daybook benchmarks, %s, %s, %d cores\n", begin.Format(time.DateOnly), runtime.Version(), runtime.NumCPU())
	for _, g := range groups {
		g.Rows = slices.DeleteFunc(g.Rows, func(r row) bool {
			return (len(words) > 0 || g.Name == "hostile") && !slices.ContainsFunc(words, func(word string) bool {
				isGroup := slices.ContainsFunc(groups, func(other group) bool { return other.Name == word })
				return word == g.Name || !isGroup && strings.Contains(r.Name, word)
			})
		})
		if len(g.Rows) > 0 {
			b.measureGroup(g)
		}
	}
	if b.measured == 0 {
		check(fmt.Errorf("no row of %q was measured", words))
	}
	fmt.Fprintf(b.out, "\n%d of %d rows are not met; the whole run took %s\n", b.missed, b.measured, time.Since(begin).Round(time.Second))
}

// measureGroup measures the rows of a group.
func (b *bench) measureGroup(g group) {
	size := cmp.Or(b.events, g.Size)
	fmt.Fprintf(b.out, "\n"+g.Title+"\n%-50s %-9s %12s %12s %7s\n", size, g.Name, "bound", "measured", "against", "ratio")
	for _, name := range g.Needs {
		if server(name) == "" {
			for _, row := range g.Rows {
				fmt.Fprintf(b.out, "%-50s not measured: no %s\n", row.Name, name)
			}
			return
		}
	}
	directory := b.directory + "/" + g.Name
	defer func() {
		for _, f := range slices.Backward(b.cleanup) {
			f()
		}
		b.cleanup = nil
		check(os.RemoveAll(directory))
	}()
	calendar := b.open(g, directory, cmp.Or(g.Filled, size))
	if g.Small > 0 {
		calendar.small = b.open(g, directory+"/small", min(g.Small, size))
	}
	for _, row := range g.Rows {
		calendar.measureRow(row)
	}
}

// server returns the URL of a server, "" if none exists.
func server(name string) string { return os.Getenv("DAYBOOK_TEST_" + strings.ToUpper(name)) }

// run runs a command and returns what it prints.
func (b *bench) run(name string, args ...string) string {
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), b.stderr
	out, err := cmd.Output()
	if err != nil {
		check(fmt.Errorf("%s: %w\n%s", cmd, err, out))
	}
	return strings.TrimSpace(string(out))
}
