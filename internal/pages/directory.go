package pages

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"daybook/calendar"
	"daybook/query"
)

// directoryEntry is one of a directory.
type directoryEntry struct {
	link

	Detail   string
	Children []directoryEntry
}

type directoryBody struct {
	Count   string
	Entries []directoryEntry
}

// eachOf hands over the records of a request, page after page, and tells the position of
// the last one. Records that leave meanwhile may make a page that is counted one that is not there.
func (p *Pages) eachOf(ctx context.Context, r query.Request, do func(*query.View)) (position calendar.Position, err error) {
	r.Input[paramPerPage] = strconv.Itoa(mostPerPage)
	for page, pages := 1, 1; page <= pages; page++ {
		r.Input[paramPage] = strconv.Itoa(page)
		c, err := p.Lists.Parse(ctx, r)
		if err != nil {
			return 0, err
		}
		found, err := p.Lists.Run(ctx, c)
		if refused, ok := errors.AsType[*calendar.Error](err); ok && page > 1 && refused.Code == calendar.CodePageNotFound {
			break
		} else if err != nil {
			return 0, err
		}
		position, pages = found.Position, found.TotalPages
		for i := range found.Views {
			do(&found.Views[i])
		}
	}
	return position, nil
}

// serveDirectory lists what is linked from a listed event, by name; categories with those
// that they are below.
func (p *Pages) serveDirectory(ctx context.Context, l *layout) (*Answer, error) {
	k := l.r.Route.kind
	l.Title = word(l.r.Route.title, l.Lang)
	l.Heading, l.Canonical = l.Title, l.r.Route.below()
	l.NoIndex = l.r.parametered()
	var all []calendar.ID
	of := map[calendar.ID]*directoryEntry{}
	parents := map[calendar.ID]calendar.ID{}
	add := func(v *query.View) {
		label, in := v.Record.Name(l.Lang)
		e := directoryEntry{link: link{Href: p.hrefOf(l.r, v.Record, v.Status), Label: label, Lang: otherLang(in, l.Lang)}, Detail: v.Record.Fields.String("city")}
		if k.IsTerm() && v.Count > 0 {
			e.Count = l.say.number(v.Count)
		}
		all = append(all, v.Record.ID)
		of[v.Record.ID], parents[v.Record.ID] = &e, v.Record.Fields.ID("parent")
	}
	var err error
	if l.Position, err = p.eachOf(ctx, query.Request{Kind: k, Input: listed(k), Lang: l.Lang, Caller: l.r.Caller}, add); err != nil {
		return nil, err
	}
	for queue := all; len(queue) > 0; queue = queue[1:] {
		if up := parents[queue[0]]; up != 0 && of[up] == nil {
			v, err := p.Lists.Read(ctx, k, up, "", l.r.Caller, l.Lang, query.EmbedNone, nil)
			if _, refused := errors.AsType[*calendar.Error](err); refused {
				continue
			} else if err != nil {
				return nil, err
			}
			add(&v)
			queue = append(slices.Clip(queue), up)
		}
	}
	order := collator(l.Lang)
	slices.SortStableFunc(all, func(a, c calendar.ID) int { return order.CompareString(of[a].Label, of[c].Label) })
	l.NoIndex = l.NoIndex || len(all) == 0
	l.Body = &directoryBody{Count: l.count(k.Collection(), len(all)), Entries: tree(all, of, parents)}
	return p.render(l, http.StatusOK)
}

// tree puts entries in order below their parents; one whose parent is not there stands on top.
func tree(ids []calendar.ID, of map[calendar.ID]*directoryEntry, parents map[calendar.ID]calendar.ID) []directoryEntry {
	children := map[calendar.ID][]calendar.ID{}
	for _, id := range ids {
		up := parents[id]
		if of[up] == nil {
			up = 0
		}
		children[up] = append(children[up], id)
	}
	var below func(id calendar.ID) []directoryEntry
	below = func(id calendar.ID) (out []directoryEntry) {
		for _, child := range children[id] {
			e := *of[child]
			e.Children = below(child)
			out = append(out, e)
		}
		return out
	}
	return below(0)
}
