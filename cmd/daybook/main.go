// Command daybook is the calendar: the service and the tools that go with its
// data.
package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"
	_ "time/tzdata" // zones work on machines that have no zone database

	"github.com/alecthomas/kong"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"daybook/internal/formats"
	"daybook/internal/httpapi"
	"daybook/internal/telemetry"
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

// console is what a command talks through. Errors of out end the command with that error,
// so that no one has to look at them.
type console struct {
	*config  // the settings of the command
	*backend // of a task; nil: it is not open

	stdin       io.Reader
	input       io.Reader // of a task; nil: none
	output, err io.Writer
	terminal    bool   // err is a terminal: progress bars are welcome
	name        string // with its act, as "user add"
	tag         *kong.Tag
}

// logger is the log of the service or, from warnings on, of a command.
func (console *console) logger(from string) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(from))
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(console.err, options)
	if console.LogFormat == "json" {
		handler = slog.NewJSONHandler(console.err, options)
	}
	return slog.New(telemetry.LogHandler{Handler: handler, RequestID: httpapi.RequestID})
}

// printJSON prints a value in one line.
func (console *console) printJSON(value any) error {
	text, err := formats.Marshal(value)
	return console.finish(err, "%s\n", text)
}

//go:embed output.tmpl
var outputText string

var outputs = template.Must(template.New("").Funcs(template.FuncMap{
	"counted": counted,
	"json":    func(value any) string { return string(formats.AppendJSON(nil, value)) },
}).Parse(outputText))

// print prints a value as JSON where that is wanted, else by a template.
func (console *console) print(name string, value any) error {
	if console.JSON {
		return console.printJSON(value)
	}
	var text bytes.Buffer
	if err := outputs.ExecuteTemplate(&text, name, value); err != nil {
		return err
	}
	_, err := console.output.Write(text.Bytes())
	return err
}

// finish prints what was done, unless it failed.
func (console *console) finish(err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintf(console.output, format, args...)
	}
	return err
}

// counted is a number with the word for what it counts.
func counted(number any, one, more string) string {
	text := fmt.Sprint(number)
	if text == "1" {
		return text + " " + one
	}
	return text + " " + more
}

// printer writes what a command prints, and notes the first error of writing.
type printer struct {
	io.Writer
	err error
}

func (printer *printer) Write(data []byte) (count int, err error) {
	if printer.err == nil {
		count, printer.err = printer.Writer.Write(data)
	}
	return count, printer.err
}

// exitError is an error that chooses the exit status.
type exitError struct {
	status int
	error
}

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

const description = "An events calendar: a REST service that keeps the history of every record.\n\n" +
	"Each setting of a command is a flag, a variable of the environment (--per-page-max is DAYBOOK_PER_PAGE_MAX) " +
	"or a line of the file that --config names."

// helpText is the help of a flag, with its default and its variable of the environment.
func helpText(value *kong.Value) string {
	var more []string
	if value.HasDefault && value.Default != "false" {
		more = append(more, "default: "+value.Default)
	}
	if name := variable(value); name != "" {
		more = append(more, "$"+name)
	}
	if more == nil {
		return value.Help
	}
	return value.Help + " (" + strings.Join(more, ", ") + ")"
}

// run is the program. It returns the exit status and never exits by itself.
func run(ctx context.Context, args, env []string, input io.Reader, output, errw io.Writer) int {
	printed := &printer{Writer: output}
	file, ok := errw.(*os.File)
	c := &console{stdin: input, output: printed, err: errw, terminal: ok && term.IsTerminal(int(file.Fd()))}
	err := cmp.Or(execute(ctx, c, args, env), printed.err)
	if err != nil && err.Error() != "" {
		name, _, _ := strings.Cut(c.name, " ")
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(c.err, "%s: %s\n", strings.TrimSpace("daybook "+name), line)
		}
	}
	return exitStatus(err)
}

func exitStatus(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.status
	}
	return exitFailed
}

// execute reads the command line and runs the command that it names.
func execute(ctx context.Context, console *console, args, env []string) error {
	helped := false
	console.config = &config{}
	reader := &settingsReader{env: map[string]string{}}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		reader.env[name] = value
	}
	kong, err := reader.parser(console.config, console.output, func(int) { helped = true })
	if err != nil {
		return err
	}
	if len(args) == 0 {
		_, _ = kong.Parse([]string{"--help"})
		return &exitError{exitUsage, errors.New("")}
	}
	if args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if line, asked := reader.env["COMP_LINE"]; asked && args[0] == "completion" {
		return complete(console.output, kong.Model, line)
	}
	parsed, err := reader.read(kong, console.config, args)
	if helped {
		return nil
	}
	node := cmp.Or(parsed.Selected(), kong.Model.Node)
	console.name, console.tag = node.Path(), node.Tag
	if err != nil {
		return err
	}
	switch command := node.Target.Addr().Interface().(type) {
	case runner:
		return command.Run(ctx, console)
	case task:
		return perform(ctx, console, command)
	default: // it needs neither a store nor a service
		return parsed.Run(console, reader)
	}
}

// runner is a command that is more than a task.
type runner interface {
	Run(ctx context.Context, c *console) error
}

type versionCommand struct{}

// Run prints the version.
func (*versionCommand) Run(console *console) error {
	return console.finish(nil, "daybook %s\n", version)
}

type completionCommand struct {
	Shell string `arg:"" choices:"bash, zsh, fish or pwsh" help:"bash, zsh, fish or pwsh"`
}

// Run prints the script of a shell: it asks the program for the words that may follow.
func (completionCommand *completionCommand) Run(console *console) error {
	return console.print(completionCommand.Shell, nil)
}

// complete prints the words that may stand at the end of a line.
func complete(writer io.Writer, model *kong.Application, line string) error {
	begun := line[strings.LastIndex(line, " ")+1:]
	node := model.Node
	for word := range strings.FieldsSeq(line) {
		for _, child := range node.Children {
			if child.Name == word && child.Name != begun {
				node = child
			}
		}
	}
	offer := func(word string) {
		if strings.HasPrefix(word, begun) {
			fmt.Fprintln(writer, word)
		}
	}
	for _, child := range node.Children {
		offer(child.Name)
	}
	for _, flag := range slices.Concat(node.AllFlags(true)...) {
		offer("--" + flag.Name)
	}
	return nil
}

// lineEvery is the time between two lines of progress.
const lineEvery = 5 * time.Second

// progress returns what shows how far long work has come, and what ends that: a bar on a terminal,
// a plain line now and then elsewhere. A total below 1 is not known.
func progress[N ~int | ~uint64](console *console, name, unit string) (show func(done, total N), end func()) {
	// It is made now and of unknown length: its clock has to run from the
	// beginning of the work, or the first rates are invented.
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(console.err), progressbar.OptionSetVisibility(console.terminal), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0)) // no rendering next to what is printed here
	bar.StartWithoutRender()
	next, of := time.Now().Add(lineEvery), ""
	show = func(done, total N) {
		if most := int(total); most > 0 && most != bar.GetMax() {
			bar.ChangeMax(most)
			of = fmt.Sprintf(" of %d", most)
		}
		_ = bar.Set(int(done))
		if now := time.Now(); !console.terminal && now.After(next) {
			next = now.Add(lineEvery)
			fmt.Fprintf(console.err, "%s: %d%s %s\n", name, done, of, unit)
		}
	}
	return show, func() { // work that broke off is not shown as whole
		if bar.String() != "" {
			fmt.Fprintln(console.err)
		}
	}
}
