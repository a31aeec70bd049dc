package elastic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"golang.org/x/sync/errgroup"

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
// busy for, or does not answer, is sent again, up to six times; a document that it cannot read is
// ErrRefused; everything else fails the batch: readmodel.ErrUnavailable, or
// readmodel.ErrMoved when the writer has to read Marks again.
func (x *Index) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	bound, err := x.writable(ctx)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	documents := x.items(bound.gen, batch.Documents)
	items := slices.DeleteFunc(slices.Clone(documents), func(it *item) bool { return it.err != nil })
	if batch.Reach.Position < batch.Mark.Position {
		batch.Reach = batch.Mark
	}
	if batch.Reach.Position > bound.marks.Reach.Position && len(items)+len(batch.Quarantined) > 0 {
		reach, err := x.reach(ctx, bound, batch.Reach)
		if err != nil {
			return nil, fmt.Errorf("write: %w", err)
		}
		items = slices.Insert(items, 0, reach)
	}
	if err := x.bulk(ctx, items); err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	if len(batch.Healed)+len(batch.Quarantined) > 0 {
		if err := x.changeQuarantine(ctx, bound.gen, &batch); err != nil {
			return nil, fmt.Errorf("write quarantine: %w", err)
		}
		x.forget()
	}
	if batch.Mark.Position > 0 {
		position := x.state(bound.gen, statePosition, batch.Mark.Position, stored(batch.Mark))
		err := x.bulk(ctx, []*item{position})
		if err = cmp.Or(err, position.err); err != nil {
			return nil, fmt.Errorf("write position: %w", err)
		}
		x.wake()
	}
	errs := make([]error, len(documents))
	for i, it := range documents {
		errs[i] = it.err
	}
	return errs, nil
}

// writable returns the state that the writer is bound to. Its generation may have ceased
// to answer since the last look; what is written to it then is not lost: it is
// missing in the new one, where the writer goes on from an older position.
func (x *Index) writable(ctx context.Context) (state, error) {
	state, err := x.look(ctx, x.recent(), noRefresh)
	if err != nil {
		return state, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.bound.gen.isZero() {
		x.bound = state
	}
	switch {
	case x.bound.gen != state.gen:
		err = readmodel.ErrMoved
	case !state.gen.current():
		err = ErrSchema
	}
	return x.bound, err
}

// items makes the items of documents, on all processors.
func (x *Index) items(generation generation, documents []readmodel.Document) []*item {
	out := make([]*item, len(documents))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range documents {
		group.Go(func() error {
			out[i] = &item{err: documents[i].Check()}
			if out[i].err == nil {
				out[i].lines = x.names().item(generation, &documents[i])
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	return out
}

// state makes the item of a document of the state.
func (x *Index) state(generation generation, id string, version calendar.Position, document any) *item {
	lines := append(action(x.names().write(stateName, generation), id, version), encode(document)...)
	return &item{lines: append(lines, '\n')}
}

// reach makes the item that is written with documents: their reach and the first entry of
// the event store.
func (x *Index) reach(ctx context.Context, bound state, reach calendar.Mark) (*item, error) {
	first := bound.first
	if x.options.First != nil && first.Position == 0 {
		var err error
		if first, err = x.options.First(ctx); err != nil {
			return nil, fmt.Errorf("%w: first entry: %w", readmodel.ErrUnavailable, err)
		}
		x.mu.Lock()
		x.bound.first = first
		x.mu.Unlock()
	}
	return x.state(bound.gen, stateReach, reach.Position, struct {
		storedMark

		First storedMark `json:"first"`
	}{stored(reach), stored(first)}), nil
}

// changeQuarantine puts the records that a batch names into the quarantine or out of it, by
// its document, unless another process has changed that meanwhile; then it does so again.
func (x *Index) changeQuarantine(ctx context.Context, generation generation, batch *readmodel.Batch) error {
	index := x.names().write(stateName, generation)
	for {
		state, err := x.stateOf(ctx, index)
		if err != nil {
			return x.orMoved(err)
		}
		records := slices.DeleteFunc(state.quarantine.records, func(quarantined readmodel.Quarantined) bool {
			return slices.Contains(batch.Healed, quarantined.ID) || slices.ContainsFunc(batch.Quarantined, func(other readmodel.Quarantined) bool { return other.ID == quarantined.ID })
		})
		records = append(records, batch.Quarantined...)
		slices.SortFunc(records, func(a, b readmodel.Quarantined) int { return cmp.Compare(a.ID, b.ID) })
		alias := true
		indexRequest := esapi.IndexRequest{Index: index, DocumentID: stateQuarantine, RequireAlias: &alias, Body: bytes.NewReader(encode(object{stateQuarantine: records}))}
		if indexRequest.OpType = "create"; state.quarantine.version > 0 {
			indexRequest.OpType, indexRequest.IfSeqNo, indexRequest.IfPrimaryTerm = "", &state.quarantine.number, &state.quarantine.term
		}
		err = x.conn.do(ctx, x.options.WriteTimeout, "write", indexRequest, nil)
		if e, answered := errors.AsType[*serverError](err); !answered || e.status != http.StatusConflict {
			return x.orMoved(err)
		}
	}
}

// bulk sends items until each is acknowledged or refused, in requests of up to
// Options.BulkBytes or one item.
func (x *Index) bulk(ctx context.Context, items []*item) error {
	limit := x.options.BulkBytes
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.Multiplier = x.options.MinWait, 3 // 6 s in all
	_, err := backoff.Retry(ctx, func() (none struct{}, _ error) {
		var busy []*item
		var cause error
		for rest := items; len(rest) > 0; {
			n, size := 1, len(rest[0].lines)
			for n < len(rest) && size+len(rest[n].lines) <= limit {
				size += len(rest[n].lines)
				n++
			}
			again, why, err := x.bulkOnce(ctx, rest[:n])
			e, answered := errors.AsType[*serverError](err)
			tooLarge := answered && e.status == http.StatusRequestEntityTooLarge
			switch {
			case tooLarge && n > 1: // for a proxy
				limit = size / 2
				continue
			case tooLarge:
				rest[0].err = fmt.Errorf("%w: %w", readmodel.ErrRefused, e)
			case err != nil:
				return none, backoff.Permanent(err)
			case len(again) > 0:
				busy, cause = append(busy, again...), why
			}
			rest = rest[n:]
		}
		if items = busy; len(items) > 0 {
			return none, fmt.Errorf("%w: %d items: %w", readmodel.ErrUnavailable, len(items), cause)
		}
		return none, nil
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithMaxTries(bulkTries), backoff.WithNotify(func(err error, duration time.Duration) {
		x.options.Log.Warn("search engine is busy, items are sent again", "items", len(items), "wait", duration, "error", err)
	}))
	return err
}

// bulkOnce sends one request, and returns the items that the engine was too busy
// for, with its reason.
func (x *Index) bulkOnce(ctx context.Context, items []*item) (busy []*item, why, err error) {
	var body []byte
	for _, item := range items {
		body = append(body, item.lines...)
	}
	alias := true
	var answer struct {
		Items []map[string]struct {
			Status int
			Error  serverError
		}
	}
	err = x.conn.do(ctx, x.options.WriteTimeout, "bulk", esapi.BulkRequest{
		Body: bytes.NewReader(body), RequireAlias: &alias, FilterPath: []string{"errors", "items.*.status", "items.*.error"},
	}, &answer)
	e, answered := errors.AsType[*serverError](err)
	switch {
	case answered && busyStatus(e.status), !answered && errors.Is(err, readmodel.ErrUnavailable):
		return items, err, nil
	case err != nil:
		return nil, nil, x.orMoved(err)
	case len(answer.Items) != len(items):
		return nil, nil, fmt.Errorf("%w: %d results for %d items", readmodel.ErrUnavailable, len(answer.Items), len(items))
	}
	for i, result := range answer.Items {
		for _, r := range result {
			e := &r.Error
			e.status = r.Status
			switch {
			case r.Status < 300, r.Status == http.StatusConflict, r.Status == http.StatusNotFound && e.Type == "":
				items[i].err = nil // written, older than what is there, or deleted before
			case busyStatus(r.Status):
				busy, why = append(busy, items[i]), e
			case e.Type == kindDocument, e.Type == kindMapper, r.Status == http.StatusRequestEntityTooLarge:
				items[i].err = fmt.Errorf("%w: %w", readmodel.ErrRefused, e)
			default:
				return nil, nil, x.orMoved(translate(e))
			}
		}
	}
	return busy, why, nil
}

func busyStatus(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// orMoved tells a writer whose generation was dropped to look for the present one.
func (x *Index) orMoved(err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	x.forget()
	return fmt.Errorf("%w: %w", readmodel.ErrMoved, err)
}
