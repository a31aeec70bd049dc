package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far long work has come: a bar on a terminal, a plain line
// now and then elsewhere.
type progress struct {
	c          *console
	name, unit string
	bar        *progressbar.ProgressBar
	next       time.Time
	last       [2]int
}

// plainEvery is the time between two plain lines.
const plainEvery = 5 * time.Second

func newProgress(c *console, name, unit string) *progress {
	return &progress{c: c, name: name, unit: unit, next: time.Now().Add(plainEvery)}
}

func (p *progress) set(done, total int) {
	p.last = [2]int{done, total}
	if p.c.terminal {
		if p.bar == nil {
			p.bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(p.c.err), progressbar.OptionSetDescription(p.name),
				progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.unit),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30))
		}
		if p.bar.GetMax() != total && total > 0 {
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

func (p *progress) line() {
	if p.last[1] > 0 {
		fmt.Fprintf(p.c.err, "%s: %d of %d %s\n", p.name, p.last[0], p.last[1], p.unit)
	} else {
		fmt.Fprintf(p.c.err, "%s: %d %s\n", p.name, p.last[0], p.unit)
	}
}

func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		fmt.Fprintln(p.c.err)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
