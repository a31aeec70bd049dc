package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"daybook/calendar"
)

// progress shows how far long work has come: a bar on a terminal, a plain line now and then
// elsewhere.
type progress struct {
	console    *console
	name, unit string
	terminal   io.Writer // of the bar; io.Discard elsewhere
	bar        *progressbar.ProgressBar
	next       time.Time // of a line
	total      int
	begun      bool // set was called
}

// lineEvery is the time between two lines.
const lineEvery = 5 * time.Second

func newProgress(console *console, name, unit string) *progress {
	p := &progress{console: console, name: name, unit: unit, terminal: io.Discard, next: time.Now().Add(lineEvery)}
	if console.terminal {
		p.terminal = console.err
	}
	// It is made now and of unknown length: its clock has to run from the
	// beginning of the work, or the first rates are invented.
	p.bar = progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(p.terminal), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0)) // no rendering next to what is printed here
	p.bar.StartWithoutRender()
	return p
}

// set notes that done of total units are done; total below 1: it is not known of how many.
func (progress *progress) set(done, total int) {
	if total > 0 && total != progress.total {
		progress.bar.ChangeMax(total)
	}
	progress.total, progress.begun = total, true
	_ = progress.bar.Set(done)
	if now := time.Now(); !progress.console.terminal && now.After(progress.next) {
		progress.next = now.Add(lineEvery)
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %d", total)
		}
		fmt.Fprintf(progress.console.err, "%s: %d%s %s\n", progress.name, done, of, progress.unit)
	}
}

// at is set for positions.
func (progress *progress) at(done, total calendar.Position) { progress.set(int(done), int(total)) }

// aside prints a line of its own.
func (progress *progress) aside(format string, args ...any) {
	if progress.begun {
		_ = progress.bar.Clear()
	}
	fmt.Fprintf(progress.console.err, format, args...)
}

// end leaves the bar where it is: work that broke off is not shown as whole.
func (progress *progress) end() {
	if progress.begun {
		fmt.Fprintln(progress.terminal)
	}
}
