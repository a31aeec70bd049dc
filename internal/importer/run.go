package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"daybook/calendar"
	"daybook/eventstore"
)

const (
	// workers is how many lines are applied at the same time.
	workers = 64
	// maxLines is how many lines are remembered by their names.
	maxLines = 4096
)

// job is a line with the jobs that have to end before it begins.
type job struct {
	*line
	after []*job
	done  chan struct{}

	repeated bool
	err      error
}

// Run applies all lines of r, which may be gzip. It ends early only with the context, when
// the store is out of reach or goes over to another history, in which lines that were
// applied may be missing, or when r cannot be read; running it again goes on from there.
// It is for one run.
func (im *Importer) Run(ctx context.Context, r io.Reader) (Report, error) {
	defer func() { im.o.Progress(im.report) }()
	in, err := Open(r)
	if err != nil {
		return im.report, err
	}
	im.epoch = im.store.Epoch().History
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs, order := make(chan *job), make(chan *job, 4*workers)
	var working sync.WaitGroup
	defer working.Wait()
	for range workers {
		working.Go(func() {
			for j := range jobs {
				im.work(ctx, j)
			}
		})
	}
	var readFault error
	go func() {
		defer close(order)
		defer close(jobs)
		readFault = im.schedule(ctx, newLines(in), jobs, order)
	}()
	for j := range order {
		<-j.done
		if err = im.count(j); err != nil && context.Cause(ctx) == nil {
			stop(err)
		}
	}
	switch err := context.Cause(ctx); {
	case err != nil:
		return im.report, err
	case readFault != nil:
		return im.report, readFault
	case im.store.Epoch().History != im.epoch:
		return im.report, lostHistory(im.report.Lines)
	}
	return im.report, im.store.Sync(ctx) // lines that were found applied are durable, too
}

// schedule hands lines to the workers in the order of the file, and then to who counts them.
func (im *Importer) schedule(ctx context.Context, l *lines, jobs, order chan<- *job) error {
	names, byID := &uses{changes: map[string]*job{}, looks: map[string][]*job{}}, false
	for {
		text, long, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		j := &job{line: newLine(l.n, text, long), done: make(chan struct{})}
		// A record may be named by its key and by its id.
		if other := (j.ID != 0) != byID; other || len(names.lines) == maxLines {
			names.settle()
			byID = byID != other
		}
		// A slug that it gives up is free for the lines behind it, and for none before it.
		alone := j.bad == nil && j.Action == ActionDelete
		if alone {
			names.settle()
		}
		names.add(j, im)
		for _, to := range []chan<- *job{jobs, order} {
			select {
			case to <- j:
			case <-ctx.Done():
				return nil
			}
		}
		if alone {
			names.settle()
		}
	}
}

// uses are the lines that may be under way, by the names that they use.
type uses struct {
	lines   []*job
	changes map[string]*job   // the last line that changes what has a name
	looks   map[string][]*job // those that look it up since
}

// add has a job wait for those before it that use its names: where one of both changes what
// has the name, or may make it.
func (u *uses) add(j *job, im *Importer) {
	u.lines = append(u.lines, j)
	changed, linked := im.names(j.line)
	for _, name := range changed {
		if before := u.changes[name]; before != nil {
			j.after = append(append(j.after, before), u.looks[name]...)
		}
		u.changes[name], u.looks[name] = j, nil
	}
	for _, name := range linked {
		switch before := u.changes[name]; before {
		case nil:
			u.changes[name] = j
		case j:
		default:
			j.after = append(j.after, before)
			u.looks[name] = append(u.looks[name], j)
		}
	}
}

// settle waits for all lines and forgets them.
func (u *uses) settle() {
	for _, j := range u.lines {
		<-j.done
	}
	u.lines = nil
	clear(u.changes)
	clear(u.looks)
}

// names returns the names of what a line changes and of what it links: keys, ids and slugs.
// Records of equal names ask for one slug, so they get its numbers in the order of the
// file, and one that lines make by its name is made once.
func (im *Importer) names(l *line) (changed, linked []string) {
	if l.bad != nil {
		return nil, nil
	}
	if key := im.keyOf(l); l.ID != 0 {
		changed = append(changed, "id "+l.ID.String())
	} else {
		changed = append(changed, "key "+key)
	}
	add := func(names *[]string, k calendar.Kind, in calendar.Input) {
		if slug := im.commands.SlugOf(k, in); slug.Key != "" {
			*names = append(*names, slug.Space+" "+slug.Key)
		}
	}
	if _, sent := l.Fields["slug"]; sent || l.Action == ActionCreate || l.Action == ActionPut {
		add(&changed, l.kind, l.Fields)
	}
	_, _ = replaceLinks(l.Fields, func(f linkField, v any) (any, error) { // it returns no error
		switch key, ok := keyOf(v); v := v.(type) {
		case json.Number:
			linked = append(linked, "id "+v.String())
		case string:
			add(&linked, f.kind, calendar.Input{f.kind.NameField(): v})
		case map[string]any:
			if ok {
				linked = append(linked, "key "+key)
			} else {
				add(&linked, f.kind, v)
			}
		}
		return nil, nil
	})
	return changed, linked
}

// work applies one line after those that it waits for, which are done or with other
// workers: they came before it.
func (im *Importer) work(ctx context.Context, j *job) {
	defer close(j.done)
	for _, before := range j.after {
		<-before.done
	}
	j.after = nil
	if j.err = context.Cause(ctx); j.err == nil {
		j.repeated, j.err = im.apply(ctx, j.line)
	}
	j.Fields = nil // the job is remembered, and a line may be large
}

// count counts a line.
func (im *Importer) count(j *job) error {
	reason, refused := refusal(j.err)
	switch {
	case errors.Is(j.err, eventstore.ErrHistory):
		return lostHistory(j.n)
	case j.err != nil && !refused:
		return fmt.Errorf("import line %d: %w", j.n, j.err)
	case refused:
		im.report.Refused = append(im.report.Refused, Refusal{Line: j.n, Key: j.Key, Reason: reason})
	case j.repeated:
		im.report.Repeated++
	default:
		im.report.Applied++
	}
	if im.report.Lines++; im.report.Lines%100 == 0 {
		im.o.Progress(im.report)
	}
	return nil
}

func lostHistory(line int64) error {
	return fmt.Errorf("import line %d: %w, in which lines may be missing: import the source again", line, eventstore.ErrHistory)
}
