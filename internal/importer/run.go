package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
)

const (
	// workers is how many lines are applied at the same time.
	workers = 64
	// maxNames is how many names of lines are remembered.
	maxNames = 16384
)

// job is a line that is applied after others.
type job struct {
	*line
	after []*job
	done  chan struct{}

	repeated bool
	err      error
}

// Run applies all lines of reader, which may be gzip. It ends early only with the context, when
// the store is out of reach or goes over to another history, in which lines that were
// applied may be missing, or when reader cannot be read; running it again goes on from there.
// It is for one run.
func (im *Importer) Run(ctx context.Context, reader io.Reader) (Report, error) {
	err := im.run(ctx, reader)
	im.o.Progress(im.report)
	return im.report, err
}

func (im *Importer) run(ctx context.Context, reader io.Reader) error {
	in, err := Open(reader)
	if err != nil {
		return err
	}
	im.epoch, im.changes = im.store.Epoch().History, map[string]*job{}
	ctx, stop := context.WithCancel(ctx)
	var working errgroup.Group
	working.SetLimit(workers)
	defer func() {
		stop()
		_ = working.Wait() // errors are those of the jobs
	}()
	lines, byID := newLines(in), false
	for {
		text, long, readErr := lines.next()
		if readErr != nil {
			if errors.Is(readErr, io.EOF) {
				readErr = nil
			}
			err := cmp.Or(im.count(0), readErr)
			switch {
			case err != nil:
				return err
			case im.store.Epoch().History != im.epoch:
				return lostHistory(im.report.Lines)
			}
			return im.store.Sync(ctx) // lines that were found applied are durable, too
		}
		j := &job{line: newLine(lines.n, text, long), done: make(chan struct{})}
		// A slug that a deleted record gives up is free for the lines behind it, and for none
		// before it. A record may be named by its key and by its id.
		alone := j.bad == nil && j.Action == ActionDelete
		if alone || len(im.changes) >= maxNames || byID != (j.ID != 0) {
			err = im.count(0)
			byID = j.ID != 0
		} else {
			err = im.count(4 * workers)
		}
		if err != nil {
			return err
		}
		im.enqueue(j)
		working.Go(func() error {
			im.work(ctx, j)
			return nil
		})
		if alone {
			if err := im.count(0); err != nil {
				return err
			}
		}
	}
}

// enqueue has a job wait for those before it that change what has one of its names, or may
// make it.
func (im *Importer) enqueue(j *job) {
	im.jobs = append(im.jobs, j)
	names, changed := im.names(j.line)
	for i, name := range names {
		before := im.changes[name]
		if before != nil && before != j {
			j.after = append(j.after, before)
		}
		if before == nil || i < changed {
			im.changes[name] = j
		}
	}
}

// names returns the names of what a line changes, and behind them those of what it links:
// keys, ids and slugs. Records of equal names ask for one slug, so they get its numbers in
// the order of the file, and one that lines make by its name is made once.
func (im *Importer) names(l *line) (names []string, changed int) {
	if l.bad != nil {
		return nil, 0
	}
	add := func(kind calendar.Kind, in calendar.Input) {
		if slug := im.commands.SlugOf(kind, in); slug.Key != "" {
			names = append(names, slug.Space+" "+slug.Key)
		}
	}
	if l.ID != 0 {
		names = append(names, "id "+l.ID.String())
	} else {
		names = append(names, "key "+im.keyOf(l))
	}
	if _, sent := l.Fields["slug"]; sent || l.Action == ActionCreate || l.Action == ActionPut {
		add(l.kind, l.Fields)
	}
	changed = len(names)
	_, _ = l.replaceLinks(func(field *calendar.Field, v any) (any, error) { // it returns no error
		switch key, ok := keyOf(v); v := v.(type) {
		case json.Number:
			names = append(names, "id "+v.String())
		case string:
			add(field.Links, calendar.Input{field.Links.NameField(): v})
		case map[string]any:
			if ok {
				names = append(names, "key "+key)
			} else {
				add(field.Links, v)
			}
		}
		return nil, nil
	})
	return names, changed
}

// work applies one line after those that it waits for, which are done or with other
// workers: they came before it.
func (im *Importer) work(ctx context.Context, j *job) {
	defer close(j.done)
	for _, before := range j.after {
		<-before.done
	}
	j.after = nil
	if j.err = ctx.Err(); j.err == nil {
		j.repeated, j.err = im.apply(ctx, j.line)
	}
	j.Fields = nil // the job is remembered, and a line may be large
}

// count waits for all lines but some, and counts what is done, in the order of the file.
// Without lines under way their names are forgotten.
func (im *Importer) count(underWay int) error {
	for len(im.jobs) > 0 {
		j := im.jobs[0]
		if len(im.jobs) <= underWay {
			select {
			case <-j.done:
			default:
				return nil
			}
		}
		<-j.done
		im.jobs = im.jobs[1:]
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
	}
	clear(im.changes)
	return nil
}

func lostHistory(line int64) error {
	return fmt.Errorf("import line %d: %w, in which lines may be missing: import the source again", line, eventstore.ErrHistory)
}
