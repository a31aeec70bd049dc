package query

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// readTyped reads what was typed.
func readTyped(q *parser, v *param.Value) {
	text, ok := text(v)
	if !ok {
		return
	}
	q.search = readmodel.ParseSearch(text, q.Lang)
	switch e := &q.search; {
	case e.IsZero():
		v.Refuse(calendar.ReasonNoWord)
	case !e.Within():
		v.Refuse(calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
	q.fromNow()
}

func readSuggestTypos(q *parser, v *param.Value) {
	if _, sent := v.Sent(); !sent {
		q.typos = typosAuto
	}
	readTypos(q, v)
}

func readKinds(q *parser, v *param.Value) {
	list := v.Words()
	for _, k := range calendar.Kinds {
		if list == nil || slices.Contains(list, k.Collection()) {
			q.kinds = append(q.kinds, k)
		}
	}
}

// Suggested are the suggestions of a kind.
type Suggested struct {
	Kind               calendar.Kind
	readmodel.Spelling // that they fit with
	List               []Suggestion
}

// Suggestion is a record whose name fits what was typed, with what suggestions show of it;
// of the venues of an event the first one.
type Suggestion struct {
	View  View
	Count int // events: that have the name; others: coming events
	// Namesake tells that another venue that fits has the same name.
	Namesake bool
}

// Suggest answers the criteria of suggestions: for each kind those that fit best. What
// they show is the public view, no matter who asks.
func (s *Service) Suggest(ctx context.Context, c *Criteria) (out []Suggested, at calendar.Position, err error) {
	out, err = present(ctx, s, func(st *state) ([]Suggested, error) {
		at = st.gen.Position
		out := make([]Suggested, len(c.kinds))
		g, all := errgroup.WithContext(ctx) // a read model elsewhere answers for all kinds at the same time
		for i := range out {
			g.Go(func() (err error) {
				out[i], err = st.suggestKind(all, c, c.kinds[i])
				return err
			})
		}
		return out, g.Wait()
	})
	return out, at, err
}

func (st *state) suggestKind(ctx context.Context, c *Criteria, k calendar.Kind) (Suggested, error) {
	of := Suggested{Kind: k}
	found, err := stepped(c, func(c *Criteria) (_ int, err error) {
		if k == calendar.KindEvent {
			of.List, err = st.suggestEvents(ctx, c)
		} else {
			of.List, err = st.suggestOthers(ctx, c, k)
		}
		return len(of.List), err
	})
	if err != nil {
		return Suggested{}, err
	}
	of.Spelling = found.spelling()
	return of, nil
}

func (st *state) suggestEvents(ctx context.Context, c *Criteria) ([]Suggestion, error) {
	name := c.name()
	page, err := st.view.Search(ctx, readmodel.Query{
		Kind: calendar.KindEvent, Filter: append(st.coming(c.upcomingAt), name), Limit: c.suggested,
		Sort:     append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: name}, Desc: true}}, byStart(false)...),
		Collapse: &readmodel.Collapse{Field: readmodel.FieldTitleKey(c.Lang)},
	})
	if err != nil || page.Total == 0 {
		return nil, err
	}
	venues, err := st.visible(ctx, c, calendar.KindVenue)
	if err != nil {
		return nil, err
	}
	out := make([]Suggestion, len(page.Documents))
	now := st.moment()
	for i, d := range page.Documents {
		v := &out[i].View
		v.Record, v.Status = d.Record, d.Record.Status(now)
		out[i].Count = d.Repeats.Count
		for _, id := range d.Record.Fields.IDs("venue") {
			if at, ok := venues.find(id); ok && venues.seen[at] {
				v.Venues = []LinkedView{{Record: venues.records[at]}}
				break
			}
		}
	}
	return out, nil
}

func (st *state) suggestOthers(ctx context.Context, c *Criteria, k calendar.Kind) ([]Suggestion, error) {
	name := c.name()
	f := readmodel.And{name}
	if k.IsPost() {
		f = append(f, st.published)
	}
	found, err := readmodel.Counts(ctx, st.view, k, readmodel.FieldID, f)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	counts, err := st.eventsOf(ctx, k, append(st.coming(c.upcomingAt), in(linkField(k), keys(found)...)))
	if err != nil {
		return nil, err
	}
	d, err := st.directory(ctx, k)
	if err != nil {
		return nil, err
	}
	type entry struct {
		Suggestion
		score int
		name  string // folded
	}
	all := make([]entry, 0, len(found))
	named := map[string]int{} // by folded name
	rank := readmodel.Relevance{Text: name}
	now := st.moment()
	for id := range found {
		at, ok := d.find(id)
		if !ok || counts[id] == 0 {
			continue
		}
		r := d.records[at]
		label, _ := r.Name(c.Lang)
		folded := readmodel.Fold(label)
		named[oneBlank(folded)]++
		all = append(all, entry{Suggestion{View: View{Record: r, Status: statusOf(r, now)}, Count: counts[id]}, rank.Score(r), folded})
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(b.score-a.score, b.Count-a.Count, strings.Compare(a.name, b.name), cmp.Compare(a.View.Record.ID, b.View.Record.ID))
	})
	out := make([]Suggestion, min(len(all), c.suggested))
	for i := range out {
		out[i] = all[i].Suggestion
		out[i].Namesake = k == calendar.KindVenue && named[oneBlank(all[i].name)] > 1
	}
	return out, nil
}

// oneBlank gives a text with each run of white space as one blank.
func oneBlank(text string) string { return strings.Join(strings.Fields(text), " ") }

// Typed is what suggestions are for.
func (c *Criteria) Typed() readmodel.Expression { return c.search }
