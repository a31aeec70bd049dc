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

// embedding are the keys of an answer that show linked records.
var embedding = map[string]Embeds{
	"venue": EmbedVenues, "venues": EmbedVenues, "organizer": EmbedOrganizers, "categories": EmbedCategories, "tags": EmbedTags,
	"json_ld": EmbedVenues | EmbedOrganizers,
}

// EmbedsOf returns what the keys of an answer need, all for nil. The rest costs nothing:
// it is neither loaded nor rendered.
func EmbedsOf(fields []string) (embeds Embeds) {
	if fields == nil {
		return EmbedAll
	}
	for _, name := range fields {
		embeds |= embedding[name]
	}
	return embeds
}

// ErrTooLarge says that an answer would have more bytes than Options.MaxAnswer.
var ErrTooLarge = errors.New("answer too large")

// loadedAtOnce is how many linked records are loaded before their texts are counted.
// Each may have some 800 kB.
const loadedAtOnce = 128

// linkKinds are the kinds that events link to.
var linkKinds = [...]calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindCategory, calendar.KindTag}

// appendLinks appends the ids of the records that are to be embedded, or looked at.
func appendLinks(ids []calendar.ID, event *calendar.Record, embeds Embeds) []calendar.ID {
	for index, kind := range linkKinds {
		if embeds&(1<<index|EmbedTouched) != 0 {
			ids = append(ids, event.Fields.IDs(linkFields[kind])...)
		}
	}
	return ids
}

// join fills in what events embed (interface 3.1.7).
type join struct {
	// records returns records in the order of ids, nil for those that are not shown.
	records func(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error)
	// counts returns the counted events of terms; nil: none are known.
	counts    func(ctx context.Context, terms []*calendar.Record) (map[calendar.ID]int, error)
	caller    calendar.Caller
	language  calendar.Lang
	now       time.Time
	embeds    Embeds
	withdrawn Withdrawn // are not shown
	left      int       // bytes that the shown texts may have

	ids     []calendar.ID // ascending
	found   []joinedRecord
	counted map[calendar.ID]int // terms
}

// joinedRecord is a record that an event links to.
type joinedRecord struct {
	LinkedView // without a Record where the answer does not show it
	changed    time.Time
	sortName   string // of terms: the shown name without case and accents
}

// View makes the view of a record from the store, for single reads and answers of writes:
// linked records come from the store, counts from the read model. While the read model is
// out of reach the last known counts stand, so single records stay readable. Protected
// events are not blanked here: the caller of View checks the right to read first.
func (service *Service) View(ctx context.Context, caller calendar.Caller, record *calendar.Record, language calendar.Lang, embeds Embeds, moment Moment) (View, error) {
	if moment.Load == nil {
		moment.Load, moment.counts = service.records.Load, service.lastingCounts
	}
	now := cmp.Or(moment.Now, service.settings.Now())
	views := []View{{Record: record, Status: record.Status(cmp.Or(moment.Own, now))}}
	join := join{records: moment.Load, counts: moment.counts, caller: caller, language: language, now: now, embeds: embeds, left: service.settings.MaxAnswer}
	err := join.views(ctx, views)
	return views[0], err
}

// views completes views: events have their linked records unless they are blanked,
// terms their counts. ErrTooLarge says that the texts of linked records are more than the answer
// may have.
func (join *join) views(ctx context.Context, views []View) error {
	var terms []*calendar.Record
	var links []calendar.ID // of the first view, of the second one, and so on
	ends := make([]int, len(views))
	for i := range views {
		view := &views[i]
		if view.Touched = view.Record.Changed; view.Record.Kind.IsTerm() {
			terms = append(terms, view.Record)
		}
		if !view.Blanked || join.embeds&EmbedTouched != 0 {
			links = appendLinks(links, view.Record, join.embeds)
		}
		ends[i] = len(links)
	}
	if err := join.load(ctx, links); err != nil {
		return err
	}
	for i := range join.found {
		if record := join.found[i].Record; record != nil && record.Kind.IsTerm() {
			terms = append(terms, record)
		}
	}
	if join.counts != nil && len(terms) > 0 {
		var err error
		if join.counted, err = join.counts(ctx, terms); err != nil {
			return err
		}
	}
	all := make([]LinkedView, 0, len(links)) // parts of it are what the views have
	from := 0
	for i := range views {
		view := &views[i]
		for _, id := range links[from:ends[i]] {
			linked := join.linked(id)
			if linked.changed.After(view.Touched) {
				view.Touched = linked.changed
			}
			if linked.Record != nil && !view.Blanked {
				linked.Count = join.countOf(linked.Record)
				all = append(all, linked.LinkedView)
				list := view.linked(linked.Record.Kind)
				*list = all[len(all)-len(*list)-1 : len(all) : len(all)] // links stand by kind, see appendLinks
			}
		}
		from = ends[i]
		slices.SortFunc(view.Categories, join.byName)
		slices.SortFunc(view.Tags, join.byName)
		if view.Record.Kind.IsTerm() {
			view.Count = join.countOf(view.Record)
		}
		view.Mark = view.mark()
	}
	return nil
}

// byName orders terms by their shown names, then by id.
func (join *join) byName(one, other LinkedView) int {
	id, otherID := one.Record.ID, other.Record.ID
	return cmp.Or(strings.Compare(join.linked(id).sortName, join.linked(otherID).sortName), cmp.Compare(id, otherID))
}

// linked returns what was found of a record that a view links to.
func (join *join) linked(id calendar.ID) *joinedRecord {
	index, _ := slices.BinarySearch(join.ids, id)
	return &join.found[index]
}

// linked returns the list of the linked records of a kind.
func (view *View) linked(kind calendar.Kind) *[]LinkedView {
	return [...]*[]LinkedView{
		calendar.KindVenue: &view.Venues, calendar.KindOrganizer: &view.Organizers, calendar.KindCategory: &view.Categories, calendar.KindTag: &view.Tags,
	}[kind]
}

func (join *join) countOf(record *calendar.Record) int {
	if join.counts == nil || !record.Kind.IsTerm() {
		return NoCount
	}
	return join.counted[record.ID]
}

// load loads records while their shown texts are within the limits.
func (join *join) load(ctx context.Context, ids []calendar.ID) error {
	join.ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	join.found = make([]joinedRecord, 0, len(join.ids))
	for subset := range slices.Chunk(join.ids, loadedAtOnce) {
		records, err := join.records(ctx, subset...)
		if err != nil {
			return err
		}
		for _, record := range records {
			var linked joinedRecord
			if record != nil {
				linked.changed = record.Changed
			}
			if record != nil && isShown(record, join.caller, join.now) && !join.withdrawn.has(record.ID) {
				linked.Record, linked.Status = record, record.Status(join.now)
				if record.Kind.IsTerm() {
					name, _ := record.Name(join.language)
					linked.sortName = readmodel.Fold(name)
				}
				shown, _ := record.Fields.Text("description").In(join.language, record.Home)
				if join.left -= len(shown); join.left < 0 {
					return ErrTooLarge
				}
			}
			join.found = append(join.found, linked)
		}
	}
	return nil
}

// isShown reports whether an answer to a caller embeds a record.
func isShown(record *calendar.Record, caller calendar.Caller, now time.Time) bool {
	return !record.Deleted && record.Status(now) != calendar.StatusTrash && calendar.MayRead(caller, record, now)
}

// mark is a hash of all that the view depends on besides the version of its record.
func (view *View) mark() uint64 {
	hash := calendar.HashStart.Text(string(view.Status))
	if view.Blanked {
		hash = hash.Number(1)
	}
	hash = hash.Number(uint64(view.Count))
	for _, kind := range linkKinds {
		list := *view.linked(kind)
		hash = hash.Number(uint64(len(list)))
		for _, linkedView := range list {
			record := linkedView.Record
			hash = hash.Number(uint64(record.ID)).Number(uint64(record.Version)).Number(record.Sum).Text(string(linkedView.Status)).Number(uint64(linkedView.Count))
		}
	}
	return uint64(hash)
}
