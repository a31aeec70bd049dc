package query

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// SuggestParams are the parameters of suggestions (LISTINGS 4). The caller must not change
// them.
func SuggestParams() []Param { return suggestTable.params }

var suggestTable = newTable(suggestParams())

// The limits of suggestions.
const (
	maxSuggested = 20 // of a kind
	defSuggested = 5
	maxSuggestQ  = 100 // characters
)

func suggestParams() []Param {
	kinds := make([]string, len(calendar.Kinds))
	for i, k := range calendar.Kinds {
		kinds[i] = k.Collection()
	}
	var typos Param
	for _, p := range eventParams() {
		if p.Name == "typos" {
			typos = p
		}
	}
	typos.Default, typos.read = `"auto"`, func(ctx context.Context, q *parser, p *Param) {
		q.run.typos = typosAuto
		if q.sent(p.Name) {
			q.run.typos = typosOff
			readTypos(ctx, q, p)
		}
	}
	return []Param{
		{Name: "q", Declared: "string", Required: true, Extension: true, read: readStart, Schema: map[string]any{"minLength": 1, "maxLength": maxSuggestQ}},
		{Name: "kinds", Declared: "array of string", Enum: kinds, Extension: true, read: readKinds},
		{Name: "limit", Declared: "integer", Default: strconv.Itoa(defSuggested), Extension: true, read: readSuggested, Schema: map[string]any{"minimum": 1, "maximum": maxSuggested}},
		typos,
		languageParam(),
	}
}

// readStart reads what was typed.
func readStart(_ context.Context, q *parser, p *Param) {
	text, ok := q.text(p.Name, maxSuggestQ)
	if !ok {
		return
	}
	q.run.search = readmodel.ParseSearch(text, q.Lang)
	switch e := &q.run.search; {
	case e.IsZero():
		q.bad.Add(p.Name, calendar.ReasonNoWord)
	case !e.Within():
		q.bad.Add(p.Name, calendar.ReasonTooMuch, strconv.Itoa(readmodel.MaxWords))
	}
	q.run.upcomingAt = calendar.Wall(q.now.Unix())
	q.resolved = q.resolved.Number(int64(q.run.upcomingAt))
}

func readKinds(_ context.Context, q *parser, p *Param) {
	list := q.list(p.Name)
	for _, word := range list {
		if !slices.Contains(p.Enum, word) {
			q.bad.Add(p.Name, calendar.ReasonWord, strings.Join(p.Enum, ","))
			return
		}
	}
	for _, k := range calendar.Kinds {
		if list == nil || slices.Contains(list, k.Collection()) {
			q.run.kinds = append(q.run.kinds, k)
		}
	}
}

func readSuggested(_ context.Context, q *parser, p *Param) {
	n := q.integer(p.Name, defSuggested)
	if n < 1 || n > maxSuggested {
		q.bad.Add(p.Name, calendar.ReasonRange, "1", strconv.Itoa(maxSuggested))
	}
	q.run.suggested = int(n)
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
// they show is the public view, whoever asks. A read model elsewhere is asked for all kinds
// at once.
func (s *Service) Suggest(ctx context.Context, c *Criteria) (out []Suggested, at calendar.Position, err error) {
	err = s.index.Still(ctx, func(ctx context.Context) error {
		snap, err := s.snapshot(ctx)
		if err != nil {
			return err
		}
		out, at = make([]Suggested, len(c.run.kinds)), snap.gen.Position
		if s.o.LocalIndex {
			for i := range out {
				if out[i], err = s.suggestKind(ctx, c, c.run.kinds[i], snap); err != nil {
					return err
				}
			}
			return nil
		}
		g, all := errgroup.WithContext(ctx)
		for i := range out {
			g.Go(func() (err error) {
				out[i], err = s.suggestKind(all, c, c.run.kinds[i], snap)
				return err
			})
		}
		return g.Wait()
	})
	return out, at, err
}

func (s *Service) suggestKind(ctx context.Context, c *Criteria, k calendar.Kind, snap *snapshot) (Suggested, error) {
	of := Suggested{Kind: k}
	found, err := s.stepped(c, func(c *Criteria) (_ int, err error) {
		if k == calendar.KindEvent {
			of.List, err = s.suggestEvents(ctx, c, snap)
		} else {
			of.List, err = s.suggestOthers(ctx, c, k, snap)
		}
		return len(of.List), err
	})
	if err != nil {
		return Suggested{}, err
	}
	of.Spelling = found.run.spelling()
	return of, nil
}

// coming admits the counted events that end now or later.
func (c *Criteria) coming(snap *snapshot) readmodel.And {
	return append(slices.Clone(snap.counted), readmodel.Range{Field: readmodel.FieldUTCEnd, Min: new(int64(c.run.upcomingAt))})
}

// name is the search for what was typed, in names alone.
func (c *Criteria) name() readmodel.Text { return c.text([]string{readmodel.TextName}) }

// suggestFields are those of events that suggestions show, or depend on.
var suggestFields = []string{"title", "slug", "status", "date_utc", "author", "start_date", "end_date", "timezone", "all_day", "venue"}

func (s *Service) suggestEvents(ctx context.Context, c *Criteria, snap *snapshot) ([]Suggestion, error) {
	name := c.name()
	titles, _, err := s.index.Titles(ctx, readmodel.Titles{
		Kind: calendar.KindEvent, Filter: append(c.coming(snap), name), Lang: c.Lang, Limit: c.run.suggested, Fields: suggestFields,
		Sort: append([]readmodel.Sort{{Rank: &readmodel.Relevance{Text: name}, Desc: true}}, byStart(false)...),
	})
	if err != nil || len(titles) == 0 {
		return nil, err
	}
	venues, err := snap.directory(ctx, s, calendar.KindVenue)
	if err != nil {
		return nil, err
	}
	seen := venues.visible(calendar.Caller{}, snap, nil).seen
	out := make([]Suggestion, len(titles))
	now := time.Unix(snap.now, 0)
	for i, t := range titles {
		v := &out[i].View
		v.Record, v.Status = t.Record, t.Record.Status(now)
		out[i].Count = t.Count
		for _, id := range t.Record.Fields.IDs("venue") {
			if at, ok := venues.find(id); ok && seen[at] {
				v.Venues = []LinkedView{{Record: venues.records[at]}}
				break
			}
		}
	}
	return out, nil
}

func (s *Service) suggestOthers(ctx context.Context, c *Criteria, k calendar.Kind, snap *snapshot) ([]Suggestion, error) {
	name := c.name()
	f := readmodel.And{name}
	if k.IsPost() {
		f = append(f, snap.published)
	}
	found, err := s.index.Counts(ctx, k, readmodel.FieldID, f)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	counts, err := s.suggestCounts(ctx, c, k, keys(found), snap)
	if err != nil {
		return nil, err
	}
	d, err := snap.directory(ctx, s, k)
	if err != nil {
		return nil, err
	}
	type entry struct {
		record       *calendar.Record
		score, count int
		name         string // folded
	}
	all := make([]entry, 0, len(found))
	named := map[string]int{} // by folded name
	rank := readmodel.Relevance{Text: name}
	for id := range found {
		if at, ok := d.find(id); ok && counts[id] > 0 {
			r := d.records[at]
			folded := readmodel.Fold(d.label(at, c.Lang))
			named[oneBlank(folded)]++
			all = append(all, entry{r, rank.Score(r), counts[id], folded})
		}
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(b.score-a.score, b.count-a.count, strings.Compare(a.name, b.name), cmp.Compare(a.record.ID, b.record.ID))
	})
	out := make([]Suggestion, min(len(all), c.run.suggested))
	now := time.Unix(snap.now, 0)
	for i := range out {
		out[i] = Suggestion{
			View: View{Record: all[i].record}, Count: all[i].count,
			Namesake: k == calendar.KindVenue && named[oneBlank(all[i].name)] > 1,
		}
		if k.IsPost() {
			out[i].View.Status = all[i].record.Status(now)
		}
	}
	return out, nil
}

// oneBlank gives a text with each run of white space as one blank.
func oneBlank(text string) string { return strings.Join(strings.Fields(text), " ") }

// suggestCounts gives the coming events of some records of a kind.
func (s *Service) suggestCounts(ctx context.Context, c *Criteria, k calendar.Kind, ids []calendar.ID, snap *snapshot) (map[calendar.ID]int, error) {
	if some, ok := s.index.(readmodel.Counter); ok {
		return some.CountsOf(ctx, calendar.KindEvent, linkField(k), c.coming(snap), ids)
	}
	return s.index.Counts(ctx, calendar.KindEvent, linkField(k), c.coming(snap))
}

// Typed is what suggestions are for.
func (c *Criteria) Typed() readmodel.Expression { return c.run.search }
