package elastic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
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
// busy for, or does not answer, is sent again, up to six times; a document that it cannot read is
// ErrRefused; everything else fails the batch: readmodel.ErrUnavailable, or
// readmodel.ErrMoved when the writer has to read Marks again.
func (engine *Index) Write(ctx context.Context, batch readmodel.Batch) ([]error, error) {
	bound, err := engine.writable(ctx)
	if err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	documents := engine.items(bound.generation, batch.Documents)
	items := slices.DeleteFunc(slices.Clone(documents), func(it *item) bool { return it.err != nil })
	if batch.Reach.Position < batch.Mark.Position {
		batch.Reach = batch.Mark
	}
	if batch.Reach.Position > bound.marks.Reach.Position && len(items)+len(batch.Quarantined) > 0 {
		reach, err := engine.reach(ctx, bound, batch.Reach)
		if err != nil {
			return nil, fmt.Errorf("write: %w", err)
		}
		items = slices.Insert(items, 0, reach)
	}
	if err := engine.bulk(ctx, items); err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	if len(batch.Healed)+len(batch.Quarantined) > 0 {
		if err := engine.changeQuarantine(ctx, bound.generation, &batch); err != nil {
			return nil, fmt.Errorf("write quarantine: %w", err)
		}
		engine.forget()
	}
	if batch.Mark.Position > 0 {
		position := engine.state(bound.generation, statePosition, batch.Mark.Position, stored(batch.Mark))
		err := engine.bulk(ctx, []*item{position})
		if err = cmp.Or(err, position.err); err != nil {
			return nil, fmt.Errorf("write position: %w", err)
		}
		engine.wake()
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
func (engine *Index) writable(ctx context.Context) (state, error) {
	state, err := engine.look(ctx, engine.recent(), noRefresh)
	if err != nil {
		return state, err
	}
	engine.mu.Lock()
	defer engine.mu.Unlock()
	if engine.bound.generation.isZero() {
		engine.bound = state
	}
	switch {
	case engine.bound.generation != state.generation:
		err = readmodel.ErrMoved
	case !state.generation.current():
		err = ErrSchema
	}
	return engine.bound, err
}

// items makes the items of documents, on all processors.
func (engine *Index) items(generation generation, documents []readmodel.Document) []*item {
	items := make([]*item, len(documents))
	var group sync.WaitGroup
	for i := range documents {
		group.Go(func() {
			items[i] = &item{err: documents[i].Check()}
			if items[i].err == nil {
				items[i].lines = engine.names().item(generation, &documents[i])
			}
		})
	}
	group.Wait()
	return items
}

// state makes the item of a document of the state.
func (engine *Index) state(generation generation, id string, version calendar.Position, document any) *item {
	lines := append(action(engine.names().write(stateName, generation), id, version), encode(document)...)
	return &item{lines: append(lines, '\n')}
}

// reach makes the item that is written with documents: their reach and the first entry of
// the event store.
func (engine *Index) reach(ctx context.Context, bound state, reach calendar.Mark) (*item, error) {
	first := bound.first
	if engine.options.First != nil && first.Position == 0 {
		var err error
		if first, err = engine.options.First(ctx); err != nil {
			return nil, fmt.Errorf("%w: first entry: %w", readmodel.ErrUnavailable, err)
		}
		engine.mu.Lock()
		engine.bound.first = first
		engine.mu.Unlock()
	}
	return engine.state(bound.generation, stateReach, reach.Position, struct {
		storedMark

		First storedMark `json:"first"`
	}{stored(reach), stored(first)}), nil
}

// changeQuarantine puts the records that a batch names into the quarantine or out of it, by
// its document, unless another process has changed that meanwhile; then it does so again.
func (engine *Index) changeQuarantine(ctx context.Context, generation generation, batch *readmodel.Batch) error {
	index := engine.names().write(stateName, generation)
	for {
		state, err := engine.stateOf(ctx, index)
		if err != nil {
			return engine.orMoved(err)
		}
		records := slices.DeleteFunc(state.quarantine.records, func(quarantined readmodel.Quarantined) bool {
			return slices.Contains(batch.Healed, quarantined.ID) || slices.ContainsFunc(batch.Quarantined, func(other readmodel.Quarantined) bool { return other.ID == quarantined.ID })
		})
		records = append(records, batch.Quarantined...)
		slices.SortFunc(records, func(a, b readmodel.Quarantined) int { return cmp.Compare(a.ID, b.ID) })
		indexRequest := esapi.IndexRequest{Index: index, DocumentID: stateQuarantine, RequireAlias: new(true), Body: bytes.NewReader(encode(object{stateQuarantine: records}))}
		if indexRequest.OpType = "create"; state.quarantine.version > 0 {
			indexRequest.OpType, indexRequest.IfSeqNo, indexRequest.IfPrimaryTerm = "", &state.quarantine.number, &state.quarantine.term
		}
		err = engine.conn.do(ctx, engine.options.WriteTimeout, "write", indexRequest, nil)
		if statusOf(err) != http.StatusConflict {
			return engine.orMoved(err)
		}
	}
}

// bulk sends items until each is acknowledged or refused, in requests of up to
// Options.BulkBytes or one item.
func (engine *Index) bulk(ctx context.Context, items []*item) error {
	limit := engine.options.BulkBytes
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.Multiplier = engine.options.MinWait, 3 // 6 s in all
	_, err := backoff.Retry(ctx, func() (none struct{}, _ error) {
		var busy []*item
		var cause error
		for rest := items; len(rest) > 0; {
			count, size := 1, len(rest[0].lines)
			for count < len(rest) && size+len(rest[count].lines) <= limit {
				size += len(rest[count].lines)
				count++
			}
			again, why, err := engine.bulkOnce(ctx, rest[:count])
			tooLarge := statusOf(err) == http.StatusRequestEntityTooLarge
			switch {
			case tooLarge && count > 1: // for a proxy
				limit = size / 2
				continue
			case tooLarge:
				rest[0].err = fmt.Errorf("%w: %w", readmodel.ErrRefused, err)
			case err != nil:
				return none, backoff.Permanent(err)
			case len(again) > 0:
				busy, cause = append(busy, again...), why
			}
			rest = rest[count:]
		}
		if items = busy; len(items) > 0 {
			return none, fmt.Errorf("%w: %d items: %w", readmodel.ErrUnavailable, len(items), cause)
		}
		return none, nil
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0), backoff.WithMaxTries(bulkTries), backoff.WithNotify(func(err error, duration time.Duration) {
		engine.options.Log.Warn("search engine is busy, items are sent again", "items", len(items), "wait", duration, "error", err)
	}))
	return err
}

// bulkOnce sends one request, and returns the items that the engine was too busy
// for, with its reason.
func (engine *Index) bulkOnce(ctx context.Context, items []*item) (busy []*item, why, err error) {
	var body []byte
	for _, item := range items {
		body = append(body, item.lines...)
	}
	var answer struct {
		Items []map[string]struct {
			Status int
			Error  serverError
		}
	}
	err = engine.conn.do(ctx, engine.options.WriteTimeout, "bulk", esapi.BulkRequest{
		Body: bytes.NewReader(body), RequireAlias: new(true), FilterPath: []string{"errors", "items.*.status", "items.*.error"},
	}, &answer)
	switch status := statusOf(err); {
	case busyStatus(status), status == 0 && errors.Is(err, readmodel.ErrUnavailable):
		return items, err, nil
	case err != nil:
		return nil, nil, engine.orMoved(err)
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
				return nil, nil, engine.orMoved(translate(e))
			}
		}
	}
	return busy, why, nil
}

func busyStatus(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// orMoved tells a writer whose generation was dropped to look for the present one.
func (engine *Index) orMoved(err error) error {
	if !errors.Is(err, errGone) {
		return err
	}
	engine.forget()
	return fmt.Errorf("%w: %w", readmodel.ErrMoved, err)
}
