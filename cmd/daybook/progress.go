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
	c           *console
	name, unit  string
	bar         *progressbar.ProgressBar
	next        time.Time
	done, total int
	begun       bool // set was called
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
			progressbar.OptionSetSpinnerChangeInterval(0)) // no rendering next to what is printed here
		p.bar.StartWithoutRender()
	}
	return p
}

// set notes that done of total units are done; total below 1: it is not known of how many.
func (p *progress) set(done, total int) {
	known := total > 0 && total != p.total
	p.done, p.total, p.begun = done, total, true
	switch now := time.Now(); {
	case p.bar != nil:
		if known {
			p.bar.ChangeMax(total)
		}
		_ = p.bar.Set(done)
	case now.After(p.next):
		p.next = now.Add(plainEvery)
		of := ""
		if total > 0 {
			of = fmt.Sprintf(" of %d", total)
		}
		fmt.Fprintf(p.c.err, "%s: %d%s %s\n", p.name, done, of, p.unit)
	}
}

// at is set for positions.
func (p *progress) at(done, total calendar.Position) { p.set(int(done), int(total)) }

// aside prints a line of its own.
func (p *progress) aside(format string, args ...any) {
	if p.bar != nil && p.begun {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.c.err, format, args...)
}

// end leaves the bar where it is: work that broke off is not shown as whole.
func (p *progress) end() {
	if p.bar == nil || !p.begun {
		return
	}
	if p.total < 1 {
		_ = p.bar.Finish()
	}
	fmt.Fprintln(p.c.err)
}
