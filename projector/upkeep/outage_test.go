package upkeep

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"daybook/eventstore/memstore"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// troubled is an index whose coming generation is refused, or dropped before it is promoted,
// for some times.
type troubled struct {
	readmodel.Generations
	refused, dropped int
}

func (troubled *troubled) Sound(ctx context.Context) error {
	if troubled.refused > 0 {
		return readmodel.ErrUnsound
	}
	return troubled.Generations.Sound(ctx)
}

func (troubled *troubled) Next(ctx context.Context) (readmodel.Index, error) {
	if troubled.refused--; troubled.refused >= 0 {
		return nil, readmodel.ErrUnavailable
	}
	return troubled.Generations.Next(ctx)
}

func (troubled *troubled) Promote(ctx context.Context) error {
	if troubled.dropped--; troubled.dropped >= 0 {
		if err := troubled.Forget(ctx); err != nil { // as after an erasure
			return err
		}
	}
	return troubled.Generations.Promote(ctx)
}

func trouble(t *testing.T, refused, dropped int) (history, *troubled) {
	t.Helper()
	store := history{memstore.New(), t}
	store.add("venue")
	index, err := memindex.Open(t.Context(), filepath.Join(t.TempDir(), "snapshot"), memindex.Options{Epoch: store.epoch})
	if err != nil {
		t.Fatal(err)
	}
	return store, &troubled{index, refused, dropped}
}

// TestRebuildDuringErasures: a coming generation that an erasure dropped is filled again, a
// few times.
func TestRebuildDuringErasures(t *testing.T) {
	t.Parallel()
	for dropped, want := range map[int]error{0: nil, maxRebuilds - 1: nil, maxRebuilds: readmodel.ErrNoNext} {
		store, index := trouble(t, 0, dropped)
		n, err := New(index, store, source{store}, Options{}).Rebuild(t.Context(), nil)
		if !errors.Is(err, want) || err == nil && n != 1 {
			t.Errorf("dropped %d times: %d records, %v; want 1, %v", dropped, n, err, want)
		}
	}
}

// TestOutageOnce: a read model that cannot be made for a while is one line, and one when it
// is made.
func TestOutageOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, index := trouble(t, 5, 0)
		var log bytes.Buffer
		upkeep := New(index, store, source{store}, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- upkeep.Project(ctx) }()
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble of synctest
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for line, want := range map[string]int{"msg=\"read model is not made yet\" error=": 1, "msg=\"the read model is filled anew": 1, "msg=\"outage ended\" outage=\"read model is not made yet\" after=10": 1} {
			if got := strings.Count(log.String(), line); got != want {
				t.Errorf("%d times %q, want %d:\n%s", got, line, want, &log)
			}
		}
	})
}
