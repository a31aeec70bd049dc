package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// rounds is how often both sides of a ratio are measured, one after the other;
// the median of the ratios counts, so that what else the machine does meanwhile
// counts less.
const rounds = 3

func median[T cmp.Ordered](v []T) T {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// compare measures requests to a service and another side in turn.
func compare(s *service, own func() (figures, error), other func() (float64, error)) (pair, error) {
	var a, b, ratio, each []float64
	for range rounds {
		before, err := s.processor()
		if err != nil {
			return pair{}, err
		}
		f, err := own()
		if err != nil {
			return pair{}, err
		}
		after, err := s.processor()
		if err != nil {
			return pair{}, err
		}
		y, err := other()
		if err != nil {
			return pair{}, errors.Join(errors.New("the other side"), err)
		}
		if f.n == 0 || y == 0 {
			return pair{}, errors.New("nothing was answered: measure for longer")
		}
		a, b, ratio = append(a, f.rate), append(b, y), append(ratio, f.rate/y)
		each = append(each, float64(after-before)*float64(tick)/float64(f.n))
	}
	return pair{median(a), median(b), median(ratio), time.Duration(median(each))}, nil
}

// bareRate gives the rate at which a server that does nothing else sends the same
// bytes.
func bareRate(ctx context.Context, dir string, body []byte, callers int, span time.Duration, errw io.Writer) (float64, error) {
	path := filepath.Join(dir, "bytes")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	bare, err := start(ctx, errw, self, "bare", path)
	if err != nil {
		return 0, err
	}
	f, err := gets(ctx, callers, span, nil, func(int, int) string { return bare.root })
	return f.rate, errors.Join(err, bare.stop())
}
