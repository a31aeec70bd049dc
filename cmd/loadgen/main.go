// Command loadgen measures a daybook program from outside: it fills calendars, loads the
// service over HTTP as clients would, and prints the rows of docs/benchmarks/README.md.
//
//	loadgen [FLAGS] [GROUP OR PART OF THE NAME OF A ROW ...]
//
// Without a name all groups but hostile are measured. Rows that need servers are measured
// on those that flags or DAYBOOK_TEST_POSTGRES, …_NATS and …_ELASTICSEARCH name.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// failure is what must and check panic with. It ends the run after what is deferred, like
// the errors inside of encoding/json: a benchmark has nothing to do about an error.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case failure:
			fmt.Fprintln(stderr, "loadgen:", problem)
			code = 1
		default:
			panic(problem)
		}
	}()
	b := &bench{ctx: ctx, out: stdout, stderr: stderr, sizes: map[string]*int{}, servers: map[string]*string{}}
	switch {
	case len(args) == 2 && args[0] == "bare":
		b.serveBare(args[1])
	case len(args) == 4 && args[0] == "attack":
		b.attack(args[1], args[2], args[3])
	default:
		b.measure(args)
	}
	return code
}

// bench is one run of the program.
type bench struct {
	ctx         context.Context // of the whole run
	out, stderr io.Writer
	directory   string   // removed at the end
	cleanup     []func() // of a group
	only        []string
	servers     map[string]*string // URLs
	sizes       map[string]*int    // events of the calendar of a group

	binary, source             string
	span, mixedFor, hostileFor time.Duration
	measured, missed           int // rows
}

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(b.out, format, args...) }

// measure reads the flags and measures the rows that they choose.
func (b *bench) measure(args []string) {
	flags := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	flags.SetOutput(b.stderr)
	only := flags.String("only", "", "groups or parts of names of rows, separated by commas")
	file := flags.String("out", "", "file that receives the text, too")
	flags.StringVar(&b.binary, "binary", "", "daybook program to measure; built from -source if empty")
	flags.StringVar(&b.source, "source", ".", "sources of the program and of the benchmark of the event store in PostgreSQL")
	flags.DurationVar(&b.span, "for", 2*time.Second, "time of one measurement; both sides of a ratio are measured three times")
	flags.DurationVar(&b.mixedFor, "mixed", time.Minute, "time of the mixed load before memory is read again")
	flags.DurationVar(&b.hostileFor, "hostile-for", 30*time.Second, "time of an attack")
	for _, g := range groups {
		b.sizes[g.name] = flags.Int(g.name+"-size", g.size, "number of events")
	}
	for _, server := range []string{"postgres", "nats", "elasticsearch"} {
		b.servers[server] = flags.String(server, os.Getenv("DAYBOOK_TEST_"+strings.ToUpper(server)), "URL of a server")
	}
	check(flags.Parse(args))
	for _, word := range append(strings.Split(*only, ","), flags.Args()...) {
		if word == "" {
			continue
		}
		if b.only = append(b.only, word); !slices.ContainsFunc(groups, func(g group) bool { return len(b.chosen(g, word)) > 0 }) {
			check(fmt.Errorf("no group or row is called %q", word))
		}
	}
	if *file != "" {
		f := must(os.Create(*file))
		defer func() { check(f.Close()) }()
		b.out = io.MultiWriter(b.out, f)
	}
	b.directory = must(os.MkdirTemp("", "daybook-bench-"))
	defer func() { check(os.RemoveAll(b.directory)) }()
	if b.binary == "" {
		b.binary = filepath.Join(b.directory, "daybook")
		b.run("go", "build", "-C", b.source, "-trimpath", "-o", b.binary, "./cmd/daybook")
	}
	begin := time.Now()
	b.printf("daybook benchmarks, %s, %s, %d cores\n", begin.UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU())
	for _, g := range groups {
		b.group(g)
	}
	b.printf("\n%d of %d rows are not met; the whole run took %s\n", b.missed, b.measured, time.Since(begin).Round(time.Second))
}

// run runs a command and returns what it prints.
func (b *bench) run(name string, args ...string) string {
	c := exec.CommandContext(b.ctx, name, args...)
	c.Env, c.Stderr = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "DAYBOOK_TEST_POSTGRES="+*b.servers["postgres"]), b.stderr
	out, err := c.Output()
	if err != nil {
		check(fmt.Errorf("%s: %w\n%s", c, err, out))
	}
	return strings.TrimSpace(string(out))
}
