package httpapi

import (
	"context"
	"errors"
	"html/template"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/internal/history"
	public "daybook/internal/pages"
	"daybook/internal/proof"
	"daybook/query"
	"daybook/query/past"
)

// publicPast tells pages of the past, by the same gates as the routes of the interface.
type publicPast struct {
	Deps

	everybody bool // reads the past
	now       func() time.Time
	site      *time.Location
}

// PublicPast tells pages of the past as the interface tells it.
func PublicPast(d Deps, o Options) public.Past {
	setDefaults(&o)
	return &publicPast{Deps: d, everybody: o.PublicHistory == PublicHistoryAll, now: o.Now, site: o.Site}
}

// Named returns the records that a path may name.
func (p *publicPast) Named(ctx context.Context, k calendar.Kind, id calendar.ID, slug string) ([]*calendar.Record, error) {
	return p.Records.Named(ctx, k, id, slug)
}

// WasPublic reports whether everybody could read a record at any time, under a slug.
func (p *publicPast) WasPublic(ctx context.Context, r *calendar.Record, slug string) (bool, error) {
	return p.Deps.History.WasPublic(ctx, r, slug)
}

// Open tells whether a caller may read the past at all.
func (p *publicPast) Open(c calendar.Caller) bool { return p.everybody || c.ReadsAll() }

// Moved gives an event as it was before its start was moved.
func (p *publicPast) Moved(ctx context.Context, c calendar.Caller, r *calendar.Record) (*calendar.Record, error) {
	if r.Version == 1 {
		return nil, nil // it was not moved
	}
	return p.Deps.History.Moved(ctx, c, r)
}

// mostCounted is of how many versions at most it is counted which ones are open. In a
// longer history a page is as many versions, of which some may not be open.
const mostCounted = 1000

// History tells a page of the versions of a record.
func (p *publicPast) History(ctx context.Context, to public.Reader, r *calendar.Record, page, perPage int) (*public.History, error) {
	version, _, err := p.Deps.History.Present(ctx, to.Caller, r.Kind, r.ID)
	if err != nil {
		return nil, err
	}
	limit := 1
	if version <= mostCounted {
		limit = mostCounted
	}
	open, err := p.Past.TimeMap(ctx, r.Kind, r.ID, to.Caller, 0, limit)
	if err != nil {
		return nil, err
	}
	out := &public.History{Only: open.First.Number == open.Last.Number}
	walk := history.Walk{Record: r.ID, Most: mostCounted, Page: perPage}
	if numbers := open.Versions; version <= mostCounted {
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
	_, err = p.Deps.History.Walk(ctx, history.Listener{Caller: to.Caller, Lang: to.Lang}, walk, func(_ int64, e *history.Entry) (bool, error) {
		if e == nil {
			return true, nil
		}
		at, err := versionOf(e.Version, e.Position, e.Time)
		out.Told = append(out.Told, public.Told{
			Version: at, Summary: template.HTML(e.SummaryHTML(r.Kind, to.Lang)), //nolint:gosec // made by the history
			Actor: actorOf(e.Actor), Reason: e.Reason, Changes: changesOf(e.Changes, r.Kind, to.Lang),
		})
		return true, err
	})
	return out, err
}

func pagesOf(total, perPage int) int { return (total + perPage - 1) / perPage }

func versionOf(number int64, position calendar.Position, written string) (public.Version, error) {
	at, err := time.Parse(history.TimeLayout, written)
	return public.Version{Number: number, Position: position, Time: at}, err
}

// actorOf names who made a change, "" where that is not told.
func actorOf(a *history.Actor) string {
	switch {
	case a == nil || a.ID == 0:
		return ""
	case a.Name == "":
		return "#" + a.ID.String()
	default:
		return a.Name
	}
}

// mostOfText is how much of a text pages get, in bytes: they show words of it.
const mostOfText = 64 << 10

// changesOf are changes as pages show them.
func changesOf(told []history.ToldChange, k calendar.Kind, l calendar.Lang) []public.Change {
	out := make([]public.Change, len(told))
	for i := range told {
		c := &told[i]
		out[i] = public.Change{Field: c.Field, Label: c.Label(k, l), HTML: c.IsText(), Before: valueOf(c, c.Before, false, l), After: valueOf(c, c.After, true, l)}
	}
	return out
}

func valueOf(c *history.ToldChange, v any, after bool, l calendar.Lang) public.Value {
	if clock, ok := v.(calendar.Wall); ok {
		return public.Value{Clock: clock, Day: c.IsDay(after)}
	}
	text := c.Written(after, l)
	if len(text) > mostOfText {
		text = strings.ToValidUTF8(text[:mostOfText], "")
	}
	return public.Value{Text: strings.Clone(text), Clock: calendar.NoWall}
}

// Compare tells what differs between two versions.
func (p *publicPast) Compare(ctx context.Context, to public.Reader, r *calendar.Record, from, upto int64) (*public.Difference, error) {
	d, err := p.Deps.History.Diff(ctx, history.Listener{Caller: to.Caller, Lang: to.Lang}, r.Kind, r.ID, from, upto)
	if err != nil {
		return nil, err
	}
	out := &public.Difference{Changes: changesOf(d.Changes, r.Kind, to.Lang)}
	if out.To, err = versionOf(d.To.Version, d.To.Position, d.To.Time); err == nil && d.From.Version > 0 {
		out.From, err = versionOf(d.From.Version, d.From.Position, d.From.Time)
	}
	return out, err
}

// Checkpoint returns the newest signed head of the log.
func (p *publicPast) Checkpoint(ctx context.Context) (public.Checkpoint, error) {
	c, err := p.Proofs.Checkpoint(ctx, 0)
	if errors.Is(err, proof.ErrNoCheckpoint) {
		err = nil
	}
	return public.Checkpoint{Size: c.Size, Time: c.Time}, err
}

// At gives a record as it was.
func (p *publicPast) At(ctx context.Context, to public.Reader, r *calendar.Record, point string) (*public.Then, error) {
	var problems calendar.Problems
	at := history.ParsePoint(point, true, p.now(), p.site, &problems)
	if at.Form == history.ByPosition {
		head, err := p.Records.Head(ctx)
		if err != nil {
			return nil, err
		}
		at.CheckHead(head, &problems)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	found, err := p.Past.Read(ctx, past.Request{Kind: r.Kind, ID: r.ID, Caller: to.Caller, Lang: to.Lang, Embeds: query.EmbedAll, Point: at})
	if err != nil {
		return nil, err
	}
	v := found.Version
	return &public.Then{Version: public.Version{Number: v.Number, Position: v.Position, Time: v.Time}, View: found.View}, nil
}
