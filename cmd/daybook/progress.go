package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"daybook/calendar"
)

// progress shows how far long work has come: a bar on a terminal, a plain line now and then
// elsewhere.
type progress struct {
	*progressbar.ProgressBar

	console    *console
	name, unit string
	next       time.Time // of a line
}

// lineEvery is the time between two lines.
const lineEvery = 5 * time.Second

func newProgress(console *console, name, unit string) *progress {
	// It is made now and of unknown length: its clock has to run from the
	// beginning of the work, or the first rates are invented.
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(console.err), progressbar.OptionSetVisibility(console.terminal), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0)) // no rendering next to what is printed here
	bar.StartWithoutRender()
	return &progress{bar, console, name, unit, time.Now().Add(lineEvery)}
}

// set notes that done of total units are done; total below 1: it is not known of how many.
func (progress *progress) set(done, total int) {
	if total > 0 && total != progress.GetMax() {
		progress.ChangeMax(total)
	}
	_ = progress.Set(done)
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

// end leaves the bar where it is: work that broke off is not shown as whole.
func (progress *progress) end() {
	if progress.String() != "" {
		fmt.Fprintln(progress.console.err)
	}
}
