// Command daybook is the calendar: the service and the tools that go with its
// data.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	_ "time/tzdata" // zones work on machines that have no zone database

	"github.com/urfave/cli/v3"
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
	exitTampered = 4 // what is stored is not what was written
	exitUnsigned = 5 // there is nothing signed to check against
)

// console is what a command talks through.
type console struct {
	in       io.Reader
	out, err io.Writer
	terminal bool   // err is a terminal: progress bars are welcome
	command  string // whose errors are told; "": not known yet
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

// act is what one command does of several, by its first argument.
type act struct {
	name, args, brief string
}

// subcommand is one command of the program.
type subcommand struct {
	group             string // of help
	name, args, brief string
	acts              []act
	settings          []string // groups and names of the settings it takes
	run               func(ctx context.Context, c *console, s *settings, args []string) error
}

// takes tells whether a command takes a setting.
func (sub *subcommand) takes(d *setting) bool {
	return slices.Contains(sub.settings, d.group) || slices.Contains(sub.settings, d.name) || d.name == fileSetting && sub.settings != nil
}

// subcommands are all commands.
func subcommands() []*subcommand {
	const serving, records, model, tools = "Service", "Records", "Read model", "Tools"
	return []*subcommand{
		{serving, "serve", "", "run the service", nil, []string{ofStore, ofFeed, ofIndex, ofRole, ofInterface, ofPages, ofProofs, ofProcess}, runServe},
		{serving, "demo", "", "run the service on a made-up calendar in a temporary directory", nil, []string{ofInterface, ofPages, ofProofs, ofProcess, "seed"}, runDemo},
		{serving, "health", "", "ask a running service how it is", nil, []string{ofStore, ofFeed, ofIndex, "json"}, runHealth},
		{serving, "ready", "", "ask the process at --listen whether it is ready, as a probe", nil, []string{"listen"}, runReady},
		{serving, "user", "", "manage users and their tokens", []act{
			{"add", "NAME --role ROLE", "make a user and print the token"},
			{"list", "", "list the users"},
			{"token", "NAME", "withdraw the token of a user and print a new one"},
			{"revoke", "NAME", "withdraw the token of a user"},
		}, []string{ofStore, "user-role", "new-log", "json"}, runUser},
		{records, "import", "FILE.ndjson[.gz]", "apply changes from a file", nil, []string{ofStore, "json", "source", "timezone"}, runImport},
		{records, "export", "", "print all entries and checkpoints, one JSON object a line", nil, []string{ofStore, "file"}, runExport},
		{records, "history", "KIND ID", "print the history of one record", []act{
			{"diff", "KIND ID FROM TO", "print what differs between two versions"},
			{"at", "KIND ID POINT", "print the record as it was: at a date, position:N or version:N"},
		}, []string{ofStore, "json", "lang", "timezone"}, runHistory},
		{records, "changes", "", "follow the changes of all records", []act{
			{"tail", "", "print entries as they come, until a signal"},
		}, []string{ofStore, "json", "lang", "from", "kind"}, runChanges},
		{records, "erase", "KIND ID", "erase a record for good, in every version and every place", nil, []string{ofStore, ofFeed, ofIndex, "base-url", "api-prefix", "erase-reason", "erase-by", "yes", "compact", "json"}, runErase},
		{records, "verify", "", "check every entry against the chain", nil, []string{ofStore, "json", "file", "key", "checkpoint", "witness"}, runVerify},
		{records, "audit", "", "prove the log to others: checkpoints, proofs, keys, exports", auditActs, []string{ofStore, ofProofs, "base-url", "api-prefix", "json", "file", "key", "checkpoint", "witness", "size", "origin", "until", "into", "timezone"}, runAudit},
		{records, "migrate", "", "bring the schema of a PostgreSQL event store to the present form, as its owner; or carry the store of a directory into it", nil, []string{"store", "store-schema", "service-role", "to", "data"}, runMigrate},
		{model, "rebuild", "", "make the read model anew from the event store", nil, []string{ofStore, ofIndex, "back"}, runRebuild},
		{model, "retry", "ID", "project a quarantined record again", nil, []string{ofStore, ofIndex}, runRetry},
		{tools, "config", "", "print the settings in force", []act{
			{"print", "", "print them as variables of the environment, and where they came from"},
		}, []string{"json", ofStore, ofFeed, ofIndex, ofRole, ofInterface, ofPages, ofProofs, ofProcess}, runConfig},
		{tools, "version", "", "print the version", nil, nil, runVersion},
	}
}

// flagOf is a setting on the command line. It takes any text: what is wrong with
// settings is told of all at once, wherever they come from.
type flagOf struct {
	*cli.StringFlag
	setting
}

func (f *flagOf) IsBoolFlag() bool     { return f.boolean }
func (f *flagOf) TakesValue() bool     { return !f.boolean }
func (f *flagOf) TypeName() string     { return f.value }
func (f *flagOf) GetEnvVars() []string { return strings.Fields(f.env()) }
func (f *flagOf) String() string       { return cli.FlagStringer(f) }

// command gives a command as the command line is read by.
func (sub *subcommand) command(c *console, env []string) *cli.Command {
	of := func(args ...string) cli.ActionFunc {
		return func(ctx context.Context, cmd *cli.Command) error {
			c.command = sub.name
			s, err := readSettings(sub, cmd, env)
			if err != nil {
				return err
			}
			return sub.run(ctx, c, s, append(args, cmd.Args().Slice()...))
		}
	}
	wrong := func(_ context.Context, cmd *cli.Command, err error, _ bool) error {
		c.command = sub.name
		return usageError("%w; see %s --help", err, cmd.FullName())
	}
	out := &cli.Command{
		Name: sub.name, Category: sub.group, Usage: sub.brief, ArgsUsage: sub.args, Action: of(), OnUsageError: wrong, HideHelpCommand: true,
	}
	for _, d := range (&settings{}).table() {
		if sub.takes(&d) {
			out.Flags = append(out.Flags, &flagOf{&cli.StringFlag{Name: d.option(), Category: d.group, Usage: d.brief, Value: d.def}, d})
		}
	}
	for _, a := range sub.acts {
		out.Commands = append(out.Commands, &cli.Command{
			Name: a.name, Usage: a.brief, ArgsUsage: a.args, Action: of(a.name), OnUsageError: wrong,
		})
	}
	return out
}

// run is the program. It returns the exit status and never exits by itself.
func run(ctx context.Context, args, env []string, in io.Reader, out, errw io.Writer) int {
	c := &console{in: in, out: out, err: errw, terminal: isTerminal(errw)}
	program := &cli.Command{
		Name: "daybook", Usage: "an events calendar: a REST service that keeps the history of every record",
		Description: "Each setting of a command is a flag, a variable of the environment (--per-page-max is DAYBOOK_PER_PAGE_MAX) or a line of the file that --config names.",
		Writer:      out, ErrWriter: errw, ExitErrHandler: func(context.Context, *cli.Command, error) {},
		EnableShellCompletion: true, ConfigureShellCompletionCommand: func(cmd *cli.Command) {
			cmd.Hidden, cmd.Category, cmd.Usage = false, "Tools", "print what completes commands and flags in bash, zsh, fish or pwsh"
		},
		OnUsageError: func(_ context.Context, _ *cli.Command, err error, _ bool) error {
			return usageError("%w; see daybook help", err)
		},
		Action: func(_ context.Context, cmd *cli.Command) error {
			if cmd.Args().Present() {
				return usageError("no command %q; see daybook help", cmd.Args().First())
			}
			return &exitError{exitUsage, cmp.Or(cli.ShowRootCommandHelp(cmd), errors.New(""))}
		},
	}
	for _, sub := range subcommands() {
		program.Commands = append(program.Commands, sub.command(c, env))
	}
	err := program.Run(ctx, append([]string{program.Name}, gathered(args)...))
	if err == nil {
		return exitOK
	}
	status := exitFailed
	if e, ok := errors.AsType[*exitError](err); ok {
		status = e.status
	} else if c.command == "" {
		status = exitUsage
	}
	if text := err.Error(); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(c.err, "%s: %s\n", strings.TrimSpace(program.Name+" "+c.command), line)
		}
	}
	return status
}

func runVersion(_ context.Context, c *console, _ *settings, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	_, err := fmt.Fprintln(c.out, "daybook", version)
	return err
}
