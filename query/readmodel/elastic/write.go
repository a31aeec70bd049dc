package elastic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/elastic/go-elasticsearch/v8/esapi"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// bulkTries is how often an item is sent to an engine that is too busy.
const bulkTries = 6

// item is one item of a bulk request: its lines, and what became of it.
type item struct {
	lines []byte
	err   error // ErrRefused: refused
}

// Write takes a batch: the documents together with their reach, then the quarantine, then
// the position, each acknowledged before the next, so the position is never ahead. The version of a
// document is its position; the engine ignores older ones. What the engine is too
// busy for is sent again, up to six times; a document that it cannot read is
// ErrRefused; everything else fails the batch: readmodel.ErrUnavailable, or
// readmodel.ErrMoved when the writer has to read Marks again.
func (x *Index) Write(ctx context.Context, b readmodel.Batch) ([]error, error) {
	if p := max(b.Mark.Position, b.Reach.Position); p > math.MaxInt64 {
		return nil, fmt.Errorf("write: position %d is too large", p)
	}
	g, err := x.writable(ctx)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	errs := make([]error, len(b.Documents))
	items := make([]*item, 0, len(b.Documents))
	places := make([]int, 0, len(b.Documents))
	for i, lines := range x.lines(g, b.Documents, errs) {
		if errs[i] == nil {
			items = append(items, &item{lines: lines})
			places = append(places, i)
		}
	}
	reach := b.Reach
	switch {
	case len(items)+len(b.Quarantined) == 0:
		reach = calendar.Mark{}
	case reach.Position < b.Mark.Position:
		reach = b.Mark
	}
	marks, err := x.reaching(ctx, g, reach)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	if err := x.bulk(ctx, append(marks, items...)); err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	x.reached(g, reach, len(marks) > 0)
	for i, it := range items {
		errs[places[i]] = it.err
	}
	if err := x.writeState(ctx, x.names().write(stateName, g), b); err != nil {
		return nil, err
	}
	return errs, nil
}

// reaching gives the items that go before those of documents: their reach and the first
// entry of the event store, unless they are kept.
func (x *Index) reaching(ctx context.Context, g generation, m calendar.Mark) ([]*item, error) {
	x.mu.Lock()
	known := x.bound == g
	kept, origin := known && m.Position <= x.reach.Position, known && x.origin.Position > 0
	x.mu.Unlock()
	if kept || m.Position == 0 {
		return nil, nil
	}
	index := x.names().write(stateName, g)
	items := []*item{{lines: markLines(index, whatReach, m)}}
	if x.o.First != nil && !origin {
		first, err := x.o.First(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: first entry: %w", readmodel.ErrUnavailable, err)
		}
		items = append(items, &item{lines: markLines(index, whatOrigin, first)})
	}
	return items, nil
}

// reached notes that a reach is kept, and that it was written.
func (x *Index) reached(g generation, m calendar.Mark, written bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !written || x.bound != g {
		return
	}
	x.reach = m
	if x.o.First != nil {
		x.origin = calendar.Mark{Position: 1}
	}
}

// markLines makes the item of a mark.
func markLines(index, what string, m calendar.Mark) []byte {
	lines := appendAction(nil, index, what, m.Position)
	return fmt.Appendf(lines, `{"what":%q,"position":%d,"hash":"%x"}`+"\n", what, m.Position, m.Hash)
}

// writable gives the generation that the writer is bound to. It may have ceased
// to answer since the last look; what is written to it then is not lost: it is
// missing in the new one, where the writer goes on from an older position.
func (x *Index) writable(ctx context.Context) (generation, error) {
	v, err := x.look(ctx, x.o.Now().Add(-x.o.RefreshInterval), noRefresh)
	if err != nil {
		return generation{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bound.isZero() {
		x.bound, x.reach, x.origin = v.gen, v.marks.Reach, v.origin
	}
	switch {
	case x.bound != v.gen:
		return generation{}, readmodel.ErrMoved
	case !v.gen.current():
		return generation{}, ErrSchema
	}
	return v.gen, nil
}

// lines makes the lines of documents, on all processors.
func (x *Index) lines(g generation, docs []readmodel.Document, errs []error) [][]byte {
	out := make([][]byte, len(docs))
	var next atomic.Int64
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(docs) {
				return
			}
			if errs[i] = check(&docs[i]); errs[i] == nil {
				out[i] = x.names().item(g, &docs[i])
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, len(docs)/16) {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return out
}

func quarantineID(id calendar.ID) string { return whatQuarantined + "-" + id.String() }

// writeState writes quarantine and position. What was healed is counted last, so that who
// sees the count and refreshes sees the records.
func (x *Index) writeState(ctx context.Context, index string, b readmodel.Batch) error {
	items := make([]*item, 0, len(b.Healed)+len(b.Quarantined))
	for _, id := range b.Healed {
		items = append(items, &item{lines: fmt.Appendf(nil, `{"delete":{"_index":%q,"_id":%q}}`+"\n", index, quarantineID(id))})
	}
	for _, p := range b.Quarantined {
		lines := appendAction(nil, index, quarantineID(p.ID), 0)
		lines = append(lines, `{"id":`...)
		lines = strconv.AppendInt(lines, int64(p.ID), 10)
		lines = appendField(lines, fieldWhat, whatQuarantined)
		lines = appendField(lines, fieldReason, p.Reason)
		lines = strconv.AppendUint(appendName(lines, fieldAt), uint64(p.Position), 10)
		items = append(items, &item{lines: append(lines, "}\n"...)})
	}
	if err := x.bulkAll(ctx, items); err != nil {
		return fmt.Errorf("write quarantine: %w", err)
	}
	if len(b.Healed) > 0 {
		count := fmt.Appendf(nil, `{"index":{"_index":%q,"_id":%q}}`+"\n"+`{"what":%q}`+"\n", index, whatHeals, whatHeals)
		if err := x.bulkAll(ctx, []*item{{lines: count}}); err != nil {
			return fmt.Errorf("count what is healed: %w", err)
		}
	}
	if b.Mark.Position == 0 {
		if len(b.Healed) > 0 {
			x.forget()
		}
		return nil
	}
	if err := x.bulkAll(ctx, []*item{{lines: markLines(index, whatPosition, b.Mark)}}); err != nil {
		return fmt.Errorf("write the position: %w", err)
	}
	x.wake()
	return nil
}

// bulkAll sends items of which none may be refused.
func (x *Index) bulkAll(ctx context.Context, items []*item) error {
	if err := x.bulk(ctx, items); err != nil {
		return err
	}
	for _, it := range items {
		if it.err != nil {
			return fmt.Errorf("%w: %w", readmodel.ErrUnavailable, it.err)
		}
	}
	return nil
}

// bulk sends items until each is acknowledged or refused, in requests of up to
// Options.BulkBytes or one item.
func (x *Index) bulk(ctx context.Context, items []*item) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = x.o.MinWait, x.o.MaxWait
	_, err := backoff.Retry(ctx, func() (none struct{}, _ error) {
		var busy []*item
		var cause error
		for from := 0; from < len(items); {
			end, size := from+1, len(items[from].lines)
			for end < len(items) && size+len(items[end].lines) <= x.o.BulkBytes {
				size += len(items[end].lines)
				end++
			}
			again, why, err := x.bulkOnce(ctx, items[from:end], size)
			if err != nil {
				return none, backoff.Permanent(err)
			}
			if len(again) > 0 {
				busy, cause = append(busy, again...), why
			}
			from = end
		}
		if items = busy; len(items) > 0 {
			return none, fmt.Errorf("%w: %d items: %w", readmodel.ErrUnavailable, len(items), cause)
		}
		return none, nil
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithMaxTries(bulkTries), backoff.WithNotify(func(err error, d time.Duration) {
		x.o.Log.Warn("search engine is busy, items are sent again", "items", len(items), "wait", d, "error", err)
	}))
	return err
}

type bulkAnswer struct {
	Errors bool `json:"errors"`
	Items  []map[string]struct {
		Status int `json:"status"`
		Error  *struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
			Cause  *struct {
				Reason string `json:"reason"`
			} `json:"caused_by"`
		} `json:"error"`
	} `json:"items"`
}

// bulkOnce sends one request, and gives the items that the engine was too busy
// for, with its reason.
func (x *Index) bulkOnce(ctx context.Context, items []*item, size int) (busy []*item, why, err error) {
	body := make([]byte, 0, size)
	for _, it := range items {
		body = append(body, it.lines...)
	}
	alias := true
	var a bulkAnswer
	err = x.c.do(ctx, x.o.WriteTimeout, "bulk", esapi.BulkRequest{
		Body: bytes.NewReader(body), RequireAlias: &alias, FilterPath: []string{"errors", "items.*.status", "items.*.error"},
	}, &a)
	if e, ok := errors.AsType[*serverError](err); ok {
		switch e.status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return items, e, nil
		case http.StatusRequestEntityTooLarge:
			return x.halves(ctx, items, size, e)
		}
	}
	switch {
	case errors.Is(err, readmodel.ErrQuery): // the request itself, not a document
		return nil, nil, fmt.Errorf("%w: %w", readmodel.ErrUnavailable, err)
	case err != nil:
		return nil, nil, x.orMoved(err)
	case len(a.Items) != len(items):
		return nil, nil, fmt.Errorf("%w: %d results for %d items", readmodel.ErrUnavailable, len(a.Items), len(items))
	}
	for i, result := range a.Items {
		for _, r := range result {
			e := &serverError{status: r.Status}
			if r.Error != nil {
				e.kind, e.reason = r.Error.Type, r.Error.Reason
				if r.Error.Cause != nil {
					e.reason += ": " + r.Error.Cause.Reason
				}
			}
			switch {
			case r.Status < 300, r.Status == http.StatusConflict, r.Status == http.StatusNotFound && r.Error == nil:
				items[i].err = nil // written, older than what is there, or deleted before
			case r.Status == http.StatusTooManyRequests, r.Status == http.StatusServiceUnavailable:
				busy, why = append(busy, items[i]), e
			case e.kind == kindDocument, e.kind == kindMapper, r.Status == http.StatusRequestEntityTooLarge:
				items[i].err = fmt.Errorf("%w: %w", readmodel.ErrRefused, e)
			default:
				return nil, nil, x.orMoved(translate(e))
			}
		}
	}
	return busy, why, nil
}

// halves sends a request that something on the way finds too large in two parts.
func (x *Index) halves(ctx context.Context, items []*item, size int, e error) (busy []*item, why, err error) {
	if len(items) == 1 {
		items[0].err = fmt.Errorf("%w: %w", readmodel.ErrRefused, e)
		return nil, nil, nil
	}
	half := len(items) / 2
	for _, part := range [][]*item{items[:half], items[half:]} {
		more, cause, err := x.bulkOnce(ctx, part, size)
		if err != nil {
			return nil, nil, err
		}
		if len(more) > 0 {
			busy, why = append(busy, more...), cause
		}
	}
	return busy, why, nil
}

// orMoved tells a writer whose generation was dropped to look for the present one.
func (x *Index) orMoved(err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	x.forget()
	return fmt.Errorf("%w: %w", readmodel.ErrMoved, err)
}
