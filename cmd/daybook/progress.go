package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

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
