// Command daybook is the calendar: the service and the tools that go with its
// data.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	_ "time/tzdata" // zones work on machines that have no zone database
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// Exit statuses of every command.
const (
	exitOK       = 0
	exitFailed   = 1 // the work could not be done, or a check found something
	exitUsage    = 2 // the command line or a setting is wrong
	exitRefusals = 3 // the work is done, but some input was refused
)

// console is what a command talks through.
type console struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // err is a terminal: progress bars are welcome
}

// exitError is an error that chooses the exit status.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// subcommand is one command of the program.
type subcommand struct {
	name, args, brief string
	settings          []string // names of the settings it takes
	run               func(ctx context.Context, c *console, s *settings, args []string) error
}

var subcommands []subcommand

func init() {
	subcommands = []subcommand{
		{"serve", "", "run the service", serveSettings, runServe},
		{"demo", "", "run the service on a made-up calendar in a temporary directory", demoSettings, runDemo},
		{"user", "add NAME --role ROLE | list | token NAME | revoke NAME", "manage users and their tokens", slices.Concat(storeSettings, []string{"user-role", "json"}), runUser},
		{"import", "FILE.ndjson[.gz]", "apply changes from a file", slices.Concat(storeSettings, []string{"json", "source", "timezone"}), runImport},
		{"convert", "conferences FILE.ndjson.gz", "print another format as changes to import", nil, runConvert},
		{"rebuild", "", "make the read model anew from the event store", slices.Concat(storeSettings, indexSettings, []string{"back"}), runRebuild},
		{"verify", "", "check every entry against the chain", slices.Concat(storeSettings, []string{"json"}), runVerify},
		{"export", "", "print all entries, one JSON object a line", storeSettings, runExport},
		{"history", "KIND ID", "print the history of one record", slices.Concat(storeSettings, []string{"json"}), runHistory},
		{"retry", "ID", "project a quarantined record again", slices.Concat(storeSettings, indexSettings), runRetry},
		{"config", "print", "print the settings in force", append([]string{"json"}, serveSettings...), runConfig},
		{"health", "", "ask a running service how it is", slices.Concat(storeSettings, feedSettings, indexSettings, []string{"json"}), runHealth},
		{"version", "", "print the version", nil, runVersion},
		{"migrate", "", "bring the schema of a PostgreSQL event store to the present form, as its owner; or carry the store of a directory into it", []string{"store", "store-schema", "service-role", "to", "data"}, runMigrate},
		{"ready", "", "ask the process at --listen whether it is ready, as a probe", []string{"listen"}, runReady},
	}
}

// run is the program. It returns the exit status and never exits by itself.
func run(ctx context.Context, args, env []string, in io.Reader, out, errw io.Writer) int {
	c := &console{in: in, out: out, err: errw, terminal: isTerminal(errw)}
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		usage(c.out)
		if len(args) == 0 {
			return exitUsage
		}
		return exitOK
	}
	i := slices.IndexFunc(subcommands, func(s subcommand) bool { return s.name == args[0] })
	if i < 0 {
		fmt.Fprintf(c.err, "daybook: no command %q; see daybook help\n", args[0])
		return exitUsage
	}
	sub := subcommands[i]
	s, rest, err := readSettings(sub, args[1:], env)
	if errors.Is(err, flag.ErrHelp) {
		subUsage(c.out, sub)
		return exitOK
	}
	if err == nil {
		err = sub.run(ctx, c, s, rest)
	}
	if err == nil {
		return exitOK
	}
	status := exitFailed
	if e, ok := errors.AsType[*exitError](err); ok {
		status = e.status
	}
	if text := err.Error(); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(c.err, "daybook %s: %s\n", sub.name, line)
		}
	}
	return status
}

func usage(w io.Writer) {
	fmt.Fprint(w, "daybook is an events calendar: a REST service that keeps the history of every record.\n\nusage: daybook COMMAND [ARGUMENTS] [--SETTING VALUE …]\n\n")
	for _, s := range subcommands {
		fmt.Fprintf(w, "  %-9s %s\n", s.name, s.brief)
	}
	fmt.Fprint(w, "\ndaybook COMMAND --help tells its settings. Each setting may also come from the\nenvironment: --per-page-max is DAYBOOK_PER_PAGE_MAX.\n")
}

func subUsage(w io.Writer, sub subcommand) {
	fmt.Fprintf(w, "%s\n\nusage: daybook %s", sub.brief, sub.name)
	if sub.args != "" {
		fmt.Fprint(w, " ", sub.args)
	}
	fmt.Fprint(w, "\n\n")
	for _, name := range sub.settings {
		d := settingNamed(name)
		def := d.def
		if def != "" {
			def = " (default " + def + ")"
		}
		fmt.Fprintf(w, "  --%-20s %s%s\n", strings.TrimSpace(d.option()+" "+d.value), d.brief, def)
	}
}

func runVersion(_ context.Context, c *console, _ *settings, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	_, err := fmt.Fprintln(c.out, "daybook", version)
	return err
}
