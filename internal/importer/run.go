package importer

import (
	"cmp"
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
	// maxUnderWay is how many lines are applied at the same time.
	maxUnderWay = 128
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
func (importer *Importer) Run(ctx context.Context, reader io.Reader) (Report, error) {
	err := importer.run(ctx, reader)
	importer.options.Progress(importer.report)
	if err != nil {
		importer.report.Stopped = err.Error()
	}
	return importer.report, err
}

func (importer *Importer) run(ctx context.Context, reader io.Reader) error {
	importer.epoch, importer.changes = importer.store.Epoch().History, map[string]*job{}
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	var before Line
	for line, err := range lines(reader) {
		if err != nil {
			return cmp.Or(importer.count(0), err)
		}
		if line.bad == nil {
			line.bad = line.parse()
		}
		if line.text = nil; line.bad != nil {
			line.Line = Line{}
		}
		underWay := maxUnderWay
		// A slug that a deleted record gives up is free for the lines behind it, and for none
		// before it. A record may be named by its key and by its id.
		if line.Action == ActionDelete || before.Action == ActionDelete || (line.ID != 0) != (before.ID != 0) || len(importer.changes) >= maxNames {
			underWay = 0
		}
		if err := importer.count(underWay); err != nil {
			return err
		}
		before = line.Line
		job := &job{line: line, done: make(chan struct{})}
		importer.enqueue(job)
		working.Go(func() { importer.work(ctx, job) })
	}
	if err := importer.count(0); err != nil {
		return err
	}
	if importer.store.Epoch().History != importer.epoch {
		return lostHistory(importer.report.Lines)
	}
	return importer.store.Sync(ctx) // lines that were found applied are durable, too
}

// enqueue has a job wait for those before it that change what has one of its names, or may
// make it.
func (importer *Importer) enqueue(job *job) {
	importer.jobs = append(importer.jobs, job)
	names, changed := importer.names(job.line)
	for i, name := range names {
		before := importer.changes[name]
		if before != nil && before != job {
			job.after = append(job.after, before)
		}
		if before == nil || i < changed {
			importer.changes[name] = job
		}
	}
}

// names returns the names of what a line changes, and behind them those of what it links:
// keys, ids and slugs. Records of equal names ask for one slug, so they get its numbers in
// the order of the file, and one that lines make by its name is made once.
func (importer *Importer) names(line *line) (names []string, changed int) {
	if line.bad != nil {
		return nil, 0
	}
	add := func(kind calendar.Kind, input calendar.Input) {
		if slug := importer.commands.SlugOf(kind, input); slug.Key != "" {
			names = append(names, slug.Space+" "+slug.Key)
		}
	}
	if line.ID != 0 {
		names = append(names, "id "+line.ID.String())
	} else {
		names = append(names, "key "+line.key)
	}
	if _, sent := line.Fields["slug"]; sent || line.Action == ActionCreate || line.Action == ActionPut {
		add(line.kind, line.Fields)
	}
	changed = len(names)
	for field, value := range line.links {
		switch key, ok := keyOf(*value); v := (*value).(type) {
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
	}
	return names, changed
}

// work applies one line after those that it waits for, which are done or with other
// workers: they came before it.
func (importer *Importer) work(ctx context.Context, job *job) {
	defer close(job.done)
	for _, before := range job.after {
		<-before.done
	}
	job.after = nil
	if job.err = ctx.Err(); job.err == nil {
		job.repeated, job.err = importer.apply(ctx, job.line)
	}
	job.Fields = nil // the job is remembered, and a line may be large
}

// count waits for all lines but some, and counts what is done, in the order of the file.
// Without lines under way their names are forgotten.
func (importer *Importer) count(underWay int) error {
	for len(importer.jobs) > 0 {
		job := importer.jobs[0]
		if len(importer.jobs) <= underWay {
			select {
			case <-job.done:
			default:
				return nil
			}
		}
		<-job.done
		importer.jobs = importer.jobs[1:]
		reason, refused := refusal(job.err)
		switch {
		case errors.Is(job.err, eventstore.ErrHistory):
			return lostHistory(job.number)
		case job.err != nil && !refused:
			return fmt.Errorf("import line %d: %w", job.number, job.err)
		case refused:
			importer.report.Refused = append(importer.report.Refused, Refusal{Line: job.number, Key: job.Key, Reason: reason})
		case job.repeated:
			importer.report.Repeated++
		default:
			importer.report.Applied++
		}
		if importer.report.Lines++; importer.report.Lines%100 == 0 {
			importer.options.Progress(importer.report)
		}
	}
	clear(importer.changes)
	return nil
}

func lostHistory(line int64) error {
	return fmt.Errorf("import line %d: %w, in which lines may be missing: import the source again", line, eventstore.ErrHistory)
}
