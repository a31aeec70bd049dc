package elastic

import (
	"context"
	"maps"
	"strings"
	"sync"
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
	points map[string]string // by the names of the indices
	walks  map[string]int    // by point: those that read it, and may outlive the reading
	over   bool
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
		last = &still{view: v, points: map[string]string{}, walks: map[string]int{}}
		return read(context.WithValue(ctx, stillKey{}, last))
	})
}

// closeAll closes the points that no walk reads.
func (x *Index) closeAll(s *still) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, point := range s.points {
		if s.walks[point] == 0 {
			x.closePoint(point)
		}
	}
}

// point gives the one of some indices. s.mu is held.
func (s *still) point(ctx context.Context, x *Index, indices []string) (string, error) {
	name := strings.Join(indices, ",")
	if point, known := s.points[name]; known {
		return point, nil
	}
	point, err := x.openPoint(ctx, stillLife, indices...)
	if err == nil {
		s.points[name] = point
	}
	return point, err
}

// walk begins a walk of the point of an index.
func (s *still) walk(ctx context.Context, x *Index, index string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	point, err := s.point(ctx, x, []string{index})
	if err == nil {
		s.walks[point]++
	}
	return point, err
}

// walked tells that a walk has ended; who is the last closes the point.
func (s *still) walked(x *Index, point string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.walks[point]--; s.over && s.walks[point] == 0 {
		x.closePoint(point)
	}
}

// search makes a search of some indices one of their point.
func (s *still) search(ctx context.Context, x *Index, body object, indices []string) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	point, err := s.point(ctx, x, indices)
	if err != nil {
		return nil, err
	}
	body = maps.Clone(body)
	body["pit"] = object{"id": point, "keep_alive": stillLife}
	return body, nil
}
