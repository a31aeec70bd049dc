package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// Embeds are the linked records that the view of an event is to hold.
type Embeds uint8

// The kinds of linked records, in the order of linkKinds.
const (
	EmbedVenues Embeds = 1 << iota
	EmbedOrganizers
	EmbedCategories
	EmbedTags
	// EmbedTouched asks for the last touch, also of what is blanked.
	EmbedTouched

	EmbedNone Embeds = 0
	EmbedAll         = EmbedVenues | EmbedOrganizers | EmbedCategories | EmbedTags
)

// EmbedsOf returns what the keys of an answer need, all for nil. The rest costs nothing:
// it is neither loaded nor rendered.
func EmbedsOf(fields []string) Embeds {
	if fields == nil {
		return EmbedAll
	}
	e := EmbedNone
	for _, f := range fields {
		switch f {
		case "venue", "venues":
			e |= EmbedVenues
		case "organizer":
			e |= EmbedOrganizers
		case "categories":
			e |= EmbedCategories
		case "tags":
			e |= EmbedTags
		case "json_ld":
			e |= EmbedVenues | EmbedOrganizers
		}
	}
	return e
}

// ErrTooLarge says that an answer would have more bytes than Options.MaxAnswer.
var ErrTooLarge = errors.New("answer too large")

// loadedAtOnce is how many linked records are loaded before their texts are counted.
// Each may have some 800 kB.
const loadedAtOnce = 128

// linkKinds are the kinds that events link to.
var linkKinds = [...]calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag}

// links are the ids that an event links to, by place in linkKinds.
type links [len(linkKinds)][]calendar.ID

// linksOf returns the links that are to be embedded, or looked at.
func linksOf(event *calendar.Record, e Embeds) (l links) {
	for at, k := range linkKinds {
		if e&(1<<at|EmbedTouched) != 0 {
			l[at] = event.Fields.IDs(linkField(k))
		}
	}
	return l
}

// join fills in what events embed (interface 3.1.7).
type join struct {
	// records returns records in the order of ids, nil for those that are not shown.
	records func(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error)
	// counts returns the listed events of terms; nil: none are known.
	counts    func(ctx context.Context, k calendar.Kind, ids []calendar.ID) (map[calendar.ID]int, error)
	caller    calendar.Caller
	lang      calendar.Lang
	now       time.Time
	embeds    Embeds
	withdrawn *Withdrawn // are not shown
	left      int        // bytes that the shown texts may have

	found   map[calendar.ID]linked
	counted map[calendar.ID]int // terms
}

// linked is a record that an event links to, nil for one that the answer does not show, and
// when it was written last.
type linked struct {
	record  *calendar.Record
	changed time.Time
}

// views completes views of a kind: events have their linked records unless they are blanked,
// terms their counts. ErrTooLarge says that the texts of linked records are more than the answer
// may have.
func (j *join) views(ctx context.Context, k calendar.Kind, views []View) error {
	var linked []calendar.ID
	terms := map[calendar.Kind][]calendar.ID{}
	of := make([]links, len(views))
	for i := range views {
		v := &views[i]
		switch v.Touched = v.Record.Changed; {
		case k.IsTerm():
			terms[k] = append(terms[k], v.Record.ID)
		case k == calendar.KindEvent && (!v.Blanked || j.embeds&EmbedTouched != 0):
			of[i] = linksOf(v.Record, j.embeds)
			linked = slices.Concat(linked, of[i][0], of[i][1], of[i][2], of[i][3])
		}
	}
	slices.Sort(linked)
	if err := j.load(ctx, slices.Compact(linked)); err != nil {
		return err
	}
	for id, l := range j.found {
		if r := l.record; r != nil && r.Kind.IsTerm() {
			terms[r.Kind] = append(terms[r.Kind], id)
		}
	}
	if err := j.count(ctx, terms); err != nil {
		return err
	}
	for i := range views {
		v := &views[i]
		for _, id := range slices.Concat(of[i][:]...) {
			if at := j.found[id].changed; at.After(v.Touched) {
				v.Touched = at
			}
		}
		if k.IsTerm() {
			v.Count = j.countOf(v.Record.ID)
		}
		if !v.Blanked {
			v.Venues, v.Organizers = j.posts(of[i][0], linkKinds[0]), j.posts(of[i][1], linkKinds[1])
			v.Categories, v.Tags = j.terms(of[i][2], linkKinds[2]), j.terms(of[i][3], linkKinds[3])
		}
		v.Mark = v.mark()
	}
	return nil
}

// count finds the counts of terms, by kind.
func (j *join) count(ctx context.Context, terms map[calendar.Kind][]calendar.ID) error {
	j.counted = map[calendar.ID]int{}
	for k, ids := range terms {
		if j.counts == nil {
			return nil
		}
		slices.Sort(ids)
		counts, err := j.counts(ctx, k, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			j.counted[id] = counts[id]
		}
	}
	return nil
}

func (j *join) countOf(id calendar.ID) int {
	if count, counted := j.counted[id]; counted {
		return count
	}
	return NoCount
}

// load loads records while their shown texts are within the limits.
func (j *join) load(ctx context.Context, ids []calendar.ID) error {
	j.found = make(map[calendar.ID]linked, len(ids))
	for some := range slices.Chunk(ids, loadedAtOnce) {
		records, err := j.records(ctx, some...)
		if err != nil {
			return err
		}
		for i, r := range records {
			if r == nil {
				continue
			}
			l := linked{changed: r.Changed}
			if isShown(r, j.caller, j.now) && !j.withdrawn.has(r.Kind, r.ID) {
				l.record = r
				shown, _ := r.Fields.Text("description").In(j.lang, r.Home)
				if j.left -= len(shown); j.left < 0 {
					return ErrTooLarge
				}
			}
			j.found[some[i]] = l
		}
	}
	return nil
}

// isShown reports whether an answer to a caller embeds a record.
func isShown(r *calendar.Record, c calendar.Caller, now time.Time) bool {
	switch status := statusOf(r, now); {
	case r.Deleted || status == calendar.StatusTrash:
		return false
	case r.Kind.IsTerm() || status == calendar.StatusPublish:
		return true
	default:
		return calendar.MayRead(c, r, now)
	}
}

// statusOf returns the status of a record at a moment, "" for terms.
func statusOf(r *calendar.Record, at time.Time) calendar.Status {
	if !r.Kind.IsPost() {
		return ""
	}
	return r.Status(at)
}

// posts returns the venues or organizers that are not trashed and that the caller could
// read singly, in stored order.
func (j *join) posts(ids []calendar.ID, k calendar.Kind) (out []LinkedView) {
	for _, id := range ids {
		if r := j.found[id].record; r != nil && r.Kind == k {
			out = append(out, LinkedView{Record: r, Status: r.Status(j.now)})
		}
	}
	return out
}

// terms returns the live terms by shown name without case and accents, then id.
func (j *join) terms(ids []calendar.ID, k calendar.Kind) (out []TermView) {
	for _, id := range ids {
		if r := j.found[id].record; r != nil && r.Kind == k {
			out = append(out, TermView{Record: r, Count: j.countOf(id)})
		}
	}
	names := make(map[calendar.ID]string, len(out)) // folded
	for _, t := range out {
		name, _ := t.Record.Name(j.lang)
		names[t.Record.ID] = readmodel.Fold(name)
	}
	slices.SortFunc(out, func(a, b TermView) int {
		x, y := a.Record.ID, b.Record.ID
		return cmp.Or(strings.Compare(names[x], names[y]), cmp.Compare(x, y))
	})
	return out
}

// mark is a hash of all that the view depends on besides the version of its record.
func (v *View) mark() uint64 {
	h := calendar.HashStart.Text(string(v.Status))
	if v.Blanked {
		h = h.Number(1)
	}
	h = h.Number(uint64(v.Count))
	for _, list := range [...][]LinkedView{v.Venues, v.Organizers} {
		h = h.Number(uint64(len(list)))
		for _, l := range list {
			h = of(h, l.Record).Text(string(l.Status))
		}
	}
	for _, list := range [...][]TermView{v.Categories, v.Tags} {
		h = h.Number(uint64(len(list)))
		for _, t := range list {
			h = of(h, t.Record).Number(uint64(t.Count))
		}
	}
	return uint64(h)
}

// of adds the content of a record to a hash.
func of(h calendar.Hash, r *calendar.Record) calendar.Hash {
	return h.Number(uint64(r.ID)).Number(uint64(r.Version)).Number(r.Sum)
}
