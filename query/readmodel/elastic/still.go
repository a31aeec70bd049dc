package elastic

import (
	"context"
	"maps"
	"strings"
	"sync"

	"daybook/query/readmodel"
)

const (
	// stillLife is how long the server keeps a point in time for the next read of it.
	stillLife = "30s"
	// mostStill is how many readings there are at once: each holds a point in time of every
	// index that it reads, and OpenSearch refuses more than 300 of one.
	mostStill = 16
)

// still is what reads show that are made under one context: each index as it was when it
// was read first. What is of another index is of the same position or later, as always.
type still struct {
	view   view
	mu     sync.Mutex
	points map[string]*point // by the names of the indices
	over   bool
}

// point is a point in time.
type point struct {
	opening sync.Mutex
	id      string // "": it is to be opened

	walks int // that read it, and may outlive the reading; still.mu is held
}

type stillKey struct{}

func stillOf(ctx context.Context) *still {
	s, _ := ctx.Value(stillKey{}).(*still)
	return s
}

// Still does readmodel.Index by points in time. They are closed while the caller goes on: it
// is one request for each.
func (x *Index) Still(ctx context.Context, read func(ctx context.Context) error) error {
	if stillOf(ctx) != nil {
		return read(ctx)
	}
	select {
	case x.points <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	var last *still
	defer func() { //nolint:contextcheck // also after the end of the request
		go func() {
			defer func() { <-x.points }()
			if last != nil {
				x.closeAll(last)
			}
		}()
	}()
	return x.reading(ctx, func(v view) error {
		if last != nil { // it begins again on another view
			x.closeAll(last) //nolint:contextcheck // also after the end of the request
		}
		last = &still{view: v, points: map[string]*point{}}
		return read(context.WithValue(ctx, stillKey{}, last))
	})
}

// closeAll closes the points that no walk reads. All reads but walks have ended.
func (x *Index) closeAll(s *still) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, p := range s.points {
		if p.walks == 0 && p.id != "" {
			x.closePoint(p.id)
		}
	}
}

// open gives the point of some indices. The first who asks opens it while others wait.
func (s *still) open(ctx context.Context, x *Index, indices []string) (p *point, err error) {
	name := strings.Join(indices, ",")
	s.mu.Lock()
	if p = s.points[name]; p == nil {
		p = &point{}
		s.points[name] = p
	}
	s.mu.Unlock()
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.id == "" {
		p.id, err = x.openPoint(ctx, stillLife, indices...)
	}
	return p, err
}

// walk begins a walk of the point of an index.
func (s *still) walk(ctx context.Context, x *Index, index string) (*point, error) {
	p, err := s.open(ctx, x, []string{index})
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.walks++
	}
	return p, err
}

// walked tells that a walk has ended; who is the last closes the point.
func (s *still) walked(x *Index, p *point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.walks--; s.over && p.walks == 0 {
		x.closePoint(p.id)
	}
}

// search makes a search of some indices one of their point.
func (s *still) search(ctx context.Context, x *Index, body object, indices []string) (object, error) {
	p, err := s.open(ctx, x, indices)
	if err != nil {
		return nil, err
	}
	body = maps.Clone(body)
	body["pit"] = object{"id": p.id, "keep_alive": stillLife}
	return body, nil
}

// View implements readmodel.Index.
func (x *Index) View(ctx context.Context) (readmodel.View, error) {
	return readmodel.StillView(ctx, x)
}
