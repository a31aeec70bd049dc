package past

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/internal/history"
	"daybook/internal/htmltext"
	"daybook/query"
	"daybook/query/readmodel"
	"daybook/query/readmodel/memindex"
)

// pointKey names a point as it was asked for while the log ended at head. With head 0 it names the
// entries that count there, by the greatest position and the greatest time, UTC, of them: those up to
// the one that are not after the other. Points with the same entries have the same key.
type pointKey struct {
	eventstore.Point

	head  calendar.Position
	epoch eventstore.Epoch
	texts bool // it can be searched
}

// point is the read model of the entries that count at a point, which never changes, and
// what is known of its records now.
type point struct {
	key   pointKey // with head 0
	index *memindex.Index
	ids   []calendar.ID // ascending
	bytes int
	asked pointKey // the last one that was answered from the store, under mu of the Service

	mu   sync.Mutex        // of what follows
	seen calendar.Position // up to where the log was read for closed
	// closed are the records that not everybody may read now, as they are now.
	closed map[calendar.ID]*calendar.Record
	lists  *query.Service // at moment; nil: closed has changed
	moment time.Time
}

// pageEntries is how much is read in one piece.
const pageEntries = 1000

// recordBytes is what a record of a point takes besides its text.
const recordBytes = 256

// inParallel calls do for each of some pieces of work on all processors, until one fails.
func inParallel(ctx context.Context, pieces int, do func(ctx context.Context, piece int) error) error {
	work, within := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for piece := 0; piece < pieces && within.Err() == nil; piece++ {
		work.Go(func() error { return do(within, piece) })
	}
	return cmp.Or(work.Wait(), ctx.Err())
}

// read makes the point of a key.
func (service *Service) read(ctx context.Context, pointKey pointKey) (*point, error) {
	documents, seen, err := service.latest(ctx, pointKey)
	if err != nil {
		return nil, err
	}
	moment := &point{key: pointKey, seen: seen, closed: map[calendar.ID]*calendar.Record{}}
	decode := func(document *readmodel.Document) *calendar.Record {
		if ctx.Err() != nil { // nobody waits
			document.Record.Deleted = true
			return document.Record
		}
		body := unsafe.String(unsafe.SliceData(document.Body), len(document.Body)) //nolint:gosec // it is never changed
		record, err := calendar.DecodeRecord(body)
		if err != nil || record.Kind != document.Record.Kind { // present lists lack it, too
			service.options.Log.WarnContext(ctx, "left out of a point of the past", "position", document.Position, "error", err)
			document.Record.Deleted = true
			return document.Record
		}
		if !record.Deleted {
			moment.mu.Lock()
			defer moment.mu.Unlock()
			moment.ids = append(moment.ids, record.ID)
			moment.bytes += recordBytes + len(document.Body)
			moment.note(record, service.options.Query.Now())
		}
		return record
	}
	moment.index = memindex.New(memindex.Options{Logger: service.options.Log, NoTexts: !pointKey.texts, Once: decode})
	_, err = moment.index.Write(ctx, readmodel.Batch{Documents: documents, Mark: calendar.Mark{Position: pointKey.Position}})
	slices.Sort(moment.ids)
	return moment, cmp.Or(err, ctx.Err())
}

// latest returns the last state that counts of each record that lists have, not yet decoded, and
// a position up to which every entry counts.
func (service *Service) latest(ctx context.Context, pointKey pointKey) ([]readmodel.Document, calendar.Position, error) {
	var mu sync.Mutex
	latest, size, whole := map[calendar.ID]readmodel.Document{}, 0, pointKey.Position
	pages := int((pointKey.Position + pageEntries - 1) / pageEntries)
	err := inParallel(ctx, pages, func(ctx context.Context, page int) error {
		after := calendar.Position(page) * pageEntries
		return service.entries(ctx, after, min(after+pageEntries, pointKey.Position), func(entry *eventstore.Entry) error {
			mu.Lock()
			defer mu.Unlock()
			if entry.Time.After(pointKey.Time) {
				whole = min(whole, entry.Position-1)
			} else if before := latest[entry.ID]; entry.Redacted == nil && slices.Contains(calendar.Kinds[:], entry.Kind) && before.Position < entry.Position {
				size += len(entry.State) - len(before.Body)
				latest[entry.ID] = readmodel.Document{
					Position: entry.Position, Body: bytes.Clone(entry.State), // without what changed, which is as large
					Record: &calendar.Record{Kind: entry.Kind, ID: entry.ID},
				}
			}
			if size+len(latest)*recordBytes > service.options.Memory {
				return &calendar.Error{Code: calendar.CodeAsOfTooLarge, Limit: service.options.Memory}
			}
			return nil
		})
	})
	return slices.Collect(maps.Values(latest)), whole, err
}

// entries calls use with the entries behind a position up to another one.
func (service *Service) entries(ctx context.Context, after, position calendar.Position, use func(*eventstore.Entry) error) error {
	for after < position {
		page, err := service.store.Read(ctx, eventstore.Range{After: uint64(after), Limit: int(min(pageEntries, position-after))})
		if err == nil && len(page) == 0 {
			err = eventstore.ErrHistory
		}
		for i := 0; i < len(page) && err == nil; i++ {
			after, err = page[i].Position, use(&page[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow learns how the records are now, when the log ends at head.
func (point *point) follow(ctx context.Context, service *Service, head calendar.Position) error {
	changed, now := point.ids, service.options.Query.Now()
	if head <= point.seen {
		return nil
	}
	if head-point.seen <= calendar.Position(len(point.ids)) { // few entries
		changed = nil
		err := service.entries(ctx, point.seen, head, func(entry *eventstore.Entry) error {
			if _, ours := slices.BinarySearch(point.ids, entry.ID); ours {
				changed = append(changed, entry.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for subset := range slices.Chunk(changed, pageEntries) {
		states, err := service.store.Load(ctx, subset...)
		if err != nil {
			return err
		}
		for i := range states {
			record, err := calendar.DecodeRecord(states[i].Record)
			if err != nil {
				return fmt.Errorf("version %d of a record of a point: %w: %w", states[i].Version, eventstore.ErrDamaged, err)
			}
			point.note(record, now)
		}
	}
	point.seen = head
	return nil
}

// note notes how a record is now.
func (point *point) note(record *calendar.Record, now time.Time) {
	point.lists = nil
	if history.Gate(calendar.Caller{}, record.Kind, record, now) != nil {
		point.closed[record.ID] = history.Outline(record)
	} else {
		delete(point.closed, record.ID)
	}
}

// records are the records of a point.
type records struct{ index readmodel.Index }

// Load implements query.Records.
func (records records) Load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error) {
	return readmodel.Get(ctx, records.index, ids...)
}

// BySlug implements query.Records.
func (records records) BySlug(ctx context.Context, kind calendar.Kind, slug string) (*calendar.Record, error) {
	found, err := records.all(ctx, kind, readmodel.Term{Field: readmodel.FieldSlug, Value: strings.ToLower(slug)})
	return append(found, nil)[0], err // none with an error
}

// ByName implements query.Records.
func (records records) ByName(ctx context.Context, kind calendar.Kind, language calendar.Lang, name string) ([]*calendar.Record, error) {
	return records.all(ctx, kind, readmodel.Term{Field: readmodel.FieldNameLower.In(language), Value: htmltext.NameKey(name)})
}

func (records records) all(ctx context.Context, kind calendar.Kind, filter readmodel.Filter) (all []*calendar.Record, err error) {
	var page readmodel.Page
	err = readmodel.Read(ctx, records.index, func(view readmodel.View) (err error) {
		page, err = view.Search(ctx, readmodel.Query{Kind: kind, Filter: filter, Sort: readmodel.By(false, readmodel.FieldID), Limit: pageEntries})
		return err
	})
	for i := range page.Documents {
		all = append(all, page.Documents[i].Record)
	}
	return all, err
}

// Absent implements query.Records: lists know nothing else of what is erased.
func (records) Absent(_ context.Context, kind calendar.Kind, _ calendar.ID) error {
	return calendar.Fail(calendar.CodeNotFound, kind)
}

// Head implements query.Records.
func (records records) Head(ctx context.Context) (calendar.Position, error) {
	shown, err := records.index.Visible(ctx)
	return shown.Position, err
}
