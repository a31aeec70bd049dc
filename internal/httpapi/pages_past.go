package httpapi

import (
	"context"
	"errors"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	public "daybook/internal/pages"
	"daybook/internal/param"
	"daybook/internal/proof"
	"daybook/query"
	"daybook/query/past"
)

// publicPast reads the past for pages, by the same gates as the routes of the interface.
type publicPast struct {
	*history.Reader

	deps      Deps
	everybody bool // reads the past
	site      *time.Location
	now       func() time.Time
}

// PublicPast returns the past for pages.
func PublicPast(deps Deps, options Options) public.HistoryReader {
	setDefaults(&options)
	return &publicPast{Reader: deps.History, deps: deps, everybody: options.PublicHistory == PublicHistoryAll, site: options.Site, now: options.Now}
}

// Named returns the records that a path may name.
func (publicPast *publicPast) Named(ctx context.Context, kind calendar.Kind, id calendar.ID, slug string) ([]*calendar.Record, error) {
	return publicPast.deps.Records.Named(ctx, kind, id, slug)
}

// Open reports whether a caller may read the past at all.
func (publicPast *publicPast) Open(caller calendar.Caller) bool {
	return publicPast.everybody || caller.ReadsAll()
}

// maxCounted is up to how many versions a history is paged by the open ones. Pages of a
// longer one have as many versions, of which some may not be open.
const maxCounted = 1000

// History reads a page of the versions of a record.
func (publicPast *publicPast) History(ctx context.Context, viewer history.Viewer, record *calendar.Record, page, perPage int) (*public.History, error) {
	present, err := publicPast.Present(ctx, viewer, record.Kind, record.ID)
	if err != nil {
		return nil, err
	}
	version, limit := present.Version, 1
	if version <= maxCounted {
		limit = maxCounted
	}
	open, err := publicPast.TimeMap(ctx, viewer, record.Kind, record.ID, 0, limit)
	if err != nil {
		return nil, err
	}
	out := &public.History{Only: open.First.Number == open.Last.Number}
	walk := &history.Walk{Record: record.ID}
	out.Entries = publicPast.Entries(ctx, viewer, walk)
	if numbers := open.Versions; version <= maxCounted {
		out.Pages = pagesOf(len(numbers), perPage)
		last := len(numbers) - (page-1)*perPage
		if last <= 0 {
			return out, nil
		}
		walk.From, walk.To = numbers[max(last-perPage, 0)].Number, numbers[last-1].Number
	} else {
		out.Pages = pagesOf(int(version-open.First.Number+1), perPage)
		walk.To = version - int64(page-1)*int64(perPage)
		walk.From = max(open.First.Number, walk.To-int64(perPage)+1)
	}
	return out, nil
}

func pagesOf(total, perPage int) int { return (total + perPage - 1) / perPage }

// Checkpoint returns the newest signed head of the log.
func (publicPast *publicPast) Checkpoint(ctx context.Context) (public.Checkpoint, error) {
	checkpoint, err := publicPast.deps.Proofs.Checkpoint(ctx, 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = nil
	}
	return public.Checkpoint{Size: checkpoint.Size, Time: checkpoint.Time}, err
}

// At returns a record as it was.
func (publicPast *publicPast) At(ctx context.Context, viewer history.Viewer, record *calendar.Record, point string) (*public.PastRecord, error) {
	var problems calendar.Problems
	head, err := publicPast.Head(ctx)
	if err != nil {
		return nil, err
	}
	at := param.ParsePoint(point, true, publicPast.now(), publicPast.site, head, &problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	found, err := publicPast.deps.Past.Read(ctx, past.Request{Kind: record.Kind, ID: record.ID, Caller: viewer.Caller, Lang: viewer.Lang, Embeds: query.EmbedAll, Point: at})
	if err != nil {
		return nil, err
	}
	return &public.PastRecord{Version: found.Version.Number, Time: found.Version.Time.Time, View: found.View}, nil
}
