package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"syscall"
)

// disk measures what a created event takes of the disk, in all files of the data
// folder: those of the store, the feed, the snapshot and whatever else.
func disk(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	fmt.Fprintf(r, "\ndisk, %d events created through HTTP with idempotency keys, all files of the data folder\n", o.created)
	values := func() []float64 { return make([]float64, len(o.weights)) }
	sent, answered, running, closed := values(), values(), values(), values()
	for i, w := range o.weights {
		err := func() (err error) {
			at := filepath.Join(dir, string(w))
			s, err := filled(ctx, o, at, 100, w, errw)
			if err != nil {
				return err
			}
			on := true
			defer func() {
				if on {
					_ = s.stop()
				}
			}()
			a, err := newAuthor(ctx, s, w)
			if err != nil {
				return err
			}
			const some = 50
			bodies, err := a.bodies(some)
			if err != nil {
				return err
			}
			for _, b := range bodies {
				r, err := a.keyed(ctx, http.MethodPost, "/events", b)
				if err != nil {
					return err
				}
				answer, _, err := do(http.DefaultClient, r)
				if err != nil {
					return err
				}
				sent[i] += float64(len(b)) / some / 1000
				answered[i] += float64(len(answer)) / some / 1000
			}
			data := filepath.Join(at, "data")
			before, err := used(data)
			if err != nil {
				return err
			}
			if err := a.createAll(ctx, 8, o.created); err != nil {
				return err
			}
			if err := s.settle(ctx); err != nil {
				return err
			}
			after, err := used(data)
			if err != nil {
				return err
			}
			running[i] = (after - before) / float64(o.created) / 1000
			on = false
			if err := s.stop(); err != nil {
				return fmt.Errorf("stop: %w", err)
			}
			if after, err = used(data); err != nil {
				return err
			}
			closed[i] = (after - before) / float64(o.created) / 1000
			return nil
		}()
		if err != nil {
			return err
		}
	}
	r.figure("JSON of an event as it is sent", o.weights, sent, "kB", 0)
	r.figure("JSON of the answer", o.weights, answered, "kB", 0)
	r.figure("disk for each event, while it serves", o.weights, running, "kB", 5)
	r.figure("disk for each event, after it was stopped", o.weights, closed, "kB", 5)
	return nil
}

// used gives the bytes of the disk that the files below a folder take.
func used(dir string) (float64, error) {
	var sum float64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // the service has files that come and go
			return nil
		}
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			sum += float64(st.Blocks) * 512
		}
		return nil
	})
	return sum, err
}
