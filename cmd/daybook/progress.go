package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"daybook/calendar"
)

// progress shows how far long work has come: a bar on a terminal, a plain line
// now and then elsewhere.
type progress struct {
	c          *console
	name, unit string
	bar        *progressbar.ProgressBar
	next       time.Time
	last       [2]int
	begun      bool // set was called
}

// plainEvery is the time between two plain lines.
const plainEvery = 5 * time.Second

func newProgress(c *console, name, unit string) *progress {
	p := &progress{c: c, name: name, unit: unit, next: time.Now().Add(plainEvery)}
	if c.terminal {
		// It is made now and of unknown length: its clock has to run from the
		// beginning of the work, or the first rates are invented.
		p.bar = progressbar.NewOptions(-1,
			progressbar.OptionSetWriter(c.err), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30),
			progressbar.OptionSetSpinnerChangeInterval(0)) // no rendering beside what is printed here
		p.bar.StartWithoutRender()
	}
	return p
}

// set tells that done of total units are done; total below 1: nobody knows of
// how many.
func (p *progress) set(done, total int) {
	before := p.last[1]
	p.last, p.begun = [2]int{done, total}, true
	if p.bar != nil {
		if total > 0 && total != before {
			p.bar.ChangeMax(total)
		}
		_ = p.bar.Set(done)
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(plainEvery)
		p.line()
	}
}

// at is set for positions.
func (p *progress) at(done, total calendar.Position) { p.set(int(done), int(total)) }

func (p *progress) line() {
	if p.last[1] > 0 {
		fmt.Fprintf(p.c.err, "%s: %d of %d %s\n", p.name, p.last[0], p.last[1], p.unit)
	} else {
		fmt.Fprintf(p.c.err, "%s: %d %s\n", p.name, p.last[0], p.unit)
	}
}

// aside prints a line of its own.
func (p *progress) aside(format string, args ...any) {
	if p.bar != nil && p.begun {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.c.err, format, args...)
}

// done leaves the bar where it is: work that broke off is not shown as whole.
func (p *progress) done() {
	if p.bar == nil || !p.begun {
		return
	}
	if p.last[1] < 1 {
		_ = p.bar.Finish()
	}
	fmt.Fprintln(p.c.err)
}
