// Package query is the read side: it turns parameters into criteria, criteria
// into a filter of the read model, and the answer into views that the REST
// interface renders.
package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"daybook/calendar"
	"daybook/internal/ground/cache"
	"daybook/internal/param"
	"daybook/query/readmodel"
)

// Records reads single records from the event store; they are never older than
// the last finished write. The implementation is command.Records.
type Records interface {
	// Load returns records in the order of ids; nil for unknown and deleted ones.
	Load(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error)
	// BySlug returns the live record of a kind that holds the slug, any case; nil when none does.
	BySlug(ctx context.Context, kind calendar.Kind, slug string) (*calendar.Record, error)
	// ByName returns the live records of a kind whose shown name in the language
	// equals name, case aside, by id.
	ByName(ctx context.Context, kind calendar.Kind, language calendar.Lang, name string) ([]*calendar.Record, error)
	// Absent is the error of a record of a kind that Load does not give:
	// calendar.CodeErased for one that was erased, else calendar.CodeNotFound.
	Absent(ctx context.Context, kind calendar.Kind, id calendar.ID) error
	// Head returns the position of the last entry of the store.
	Head(ctx context.Context) (calendar.Position, error)
}

// Options of a Service; the zero value works.
type Options struct {
	Site   *time.Location   `kong:"-"` // site zone; nil UTC
	Sunday bool             `kong:"-"` // weeks begin on Sunday, else on Monday
	Now    func() time.Time `kong:"-"` // nil: time.Now
	// PerPageMax is the largest page; 0: 100.
	PerPageMax int `default:"100" min:"50" max:"1000" placeholder:"N" help:"largest page of a list, 50 to 1000"`
	// PositionWait is the longest wait for a position; 0: 5 s.
	PositionWait time.Duration `default:"5s" min:"1ns" max:"5m" placeholder:"DURATION" help:"longest wait of a list for a position, up to 5m"`
	// LocalIndex says that the index is in this process, so that a document costs
	// less than a record of the store. Single reads then take it from there as
	// long as the index shows all that the store has.
	LocalIndex bool `kong:"-"`
	// MaxAnswer is the largest answer in bytes; what would be larger is refused. 0: 8 MiB.
	MaxAnswer int `type:"mebibytes" default:"8" min:"1" max:"1024" placeholder:"N" help:"MiB of the largest answer, 1 to 1024; larger ones are refused"`
	// CostBands are the bands that the costs of events are counted in; nil: those between 10, 25, 50
	// and 100.
	CostBands CostBands `default:"10,25,50,100" placeholder:"LIST" type:"bands" help:"bounds of the cost bands of events, up to 20 rising numbers above 0"`
	// QueryBudget is what a request may cost at most, see Criteria.Cost; 0: 90.
	QueryBudget int `default:"90" min:"25" max:"10000" placeholder:"N" help:"greatest cost of one request, 25 to 10000: a list 1, a facet 1, typos 3, relevance or distance 1, highlights 1, collapse 2; requests above it are refused"`
	// Clean reads names of terms in filters as writes read them, so that a name
	// fits as it was sent and as it is answered; nil: they are taken as sent.
	Clean calendar.Cleaner `kong:"-"`
	// ProtectedNow are, ascending, the events of lists of the past that are protected now:
	// no count of then tells their links.
	ProtectedNow []calendar.ID `kong:"-"`
}

// WithDefaults returns the options with the defaults of those that were left out.
func (options Options) WithDefaults() Options {
	options.Site = cmp.Or(options.Site, time.UTC)
	options.PerPageMax = cmp.Or(options.PerPageMax, 100)
	options.MaxAnswer = cmp.Or(options.MaxAnswer, 8<<20)
	options.PositionWait = cmp.Or(options.PositionWait, 5*time.Second)
	options.QueryBudget = cmp.Or(options.QueryBudget, 90)
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.CostBands == nil {
		options.CostBands, _ = ReadCostBands("10,25,50,100")
	}
	return options
}

// Request is a list request.
type Request struct {
	Kind   calendar.Kind
	Input  calendar.Input // query string: string, []any of string for names sent as list
	Lang   calendar.Lang  // language of the root; multilang_language in Input wins
	Caller calendar.Caller
	Past   Past
	// Of limits a list of events to those of one record: a venue, organizer, category or
	// tag. The zero value does not.
	Of Of
	// Sheet is what a list of events is shown on.
	Sheet Sheet
	// Params are those of another list, of Params; nil: those of the list of Kind.
	Params Parameters
	// Refused are problems that are known already: they are reported with those of Input.
	Refused []calendar.FieldError
}

// Past is what a list of a moment in the past has besides others; the zero value is for
// the present.
type Past struct {
	AsOf string    // as links carry the point
	Now  time.Time // the moment, from which words are read; zero: that of the Service
	// FormOnly checks what needs no look at the records: whatever is named is known.
	FormOnly bool
	// Withdrawn are the records that the caller gets no more.
	Withdrawn Withdrawn
}

// Withdrawn are records, ascending, that lists of the past hold and a caller gets no more:
// they are left out, embedded ones too.
type Withdrawn []calendar.ID

func (withdrawn Withdrawn) has(id calendar.ID) bool {
	_, found := slices.BinarySearch(withdrawn, id)
	return found
}

// Of names a record that events are of.
type Of struct {
	Kind calendar.Kind
	ID   calendar.ID
}

// Criteria are the checked parameters of one list request.
type Criteria struct {
	Request // in the language that was asked for

	Page    int
	PerPage int
	Fields  []string // of _fields; nil: all
	// Links are the parameters that links carry, in the order of the parameter
	// table, without page (interface 4.3): name and the value not yet encoded. Sent are
	// those of them that were sent, with no default.
	Links, Sent []LinkParam
	// Walk is a list in steps, which follow each other by cursors; nil: it is in pages.
	Walk *walk
	// Paged reports that a page was asked for, by its number or size.
	Paged bool
	// Moves reports that the window follows the day: by its default, by when, or by a date in
	// words.
	Moves bool

	Venues   bool // features=venues
	BOM, Raw bool // csv_bom, csv_raw

	Typos bool // typos was sent: the list tells its step
	// Search is what texts have to fit, or what suggestions are for.
	Search          readmodel.Expression
	Highlight       bool
	HighlightLength int // characters

	// Zone is that of the answer to a calendar widget, nil for that of each event.
	Zone *time.Location
	// Embeds are the linked records that views are to hold.
	Embeds Embeds
	// Facets are the names of those that are counted.
	Facets []string
	// Cost is that of the request: 1, and what its parameters add (LISTINGS 6).
	Cost int
	// LooksUp reports that a check asked the store: a moment
	// later the same request may mean another thing.
	LooksUp bool
	// Key names everything that the answer depends on besides the state of the read
	// model: two criteria with one key have the same answer at one Generation. It
	// holds the resolved dates, the language and the caller's view.
	Key string

	window window
	typos  string

	filters readmodel.And       // of parameters that say it by themselves
	chosen  map[string][]option // of facets, that events are filtered by

	facetLimit int
	facetTexts map[string]string // of facets of which only the values are wanted whose label contains it
	collapse   bool

	geoloc  *bool
	near    *circle
	box     *box
	include []calendar.ID // events and terms; nil: not sent

	statuses []calendar.Status // nil: not sent

	hasEvents  *bool         // by hide_empty, too
	upcomingAt calendar.Wall // only_with_upcoming, and suggestions: the present second, UTC; 0: not sent

	orderBy string
	desc    bool

	zoom      int             // of a map
	kinds     []calendar.Kind // of suggestions
	suggested int             // of each kind

	sort string // a word of sort; "": the order of all lists

	hides bool // a parameter was sent that leaves blanked events out
}

// LinkParam is one parameter of a link.
type LinkParam = param.LinkParam

// Generation names a state of the read model as lists show it: the history, how far
// it goes and what the documents hold. It changes with each visible change, also with
// one that leaves the position, and whenever a scheduled post becomes due.
type Generation struct {
	readmodel.VisibleState
	Due int64 // Unix time of the last due publication that is counted in
}

// Key adds the generation to a key. All of it stands in every key of what depends
// on the state of the read model.
func (generation Generation) Key(key cache.Key) cache.Key {
	return key.Number(int64(generation.Position)).Text(string(generation.Hash[:])).Number(int64(generation.Content)).Number(generation.Due)
}

// ErrUnavailable is that of lists while the read model is out of reach.
var ErrUnavailable = readmodel.ErrUnavailable

// NoCount is the count of a term where none is told.
const NoCount = -1

// View is a record with all that its answer embeds, as one caller sees it.
type View struct {
	Record *calendar.Record
	Status calendar.Status // that holds now
	// Blanked reports that the event is protected and the caller gets it blanked
	// (interface 6.3).
	Blanked bool
	// Venues and Organizers are the linked ones that the caller may see, in
	// stored order; events only.
	Venues, Organizers []LinkedView
	// Categories and Tags are the live linked terms in the order of 3.1.7.
	Categories, Tags []LinkedView
	Count            int // terms: listed events that carry it, or NoCount
	// Distance is that of an event in whole metres, nil where no one asks for it.
	Distance *int64
	// Touched is the last touch of an event: the latest last write of it and of all that
	// it is linked to. Views with EmbedTouched have it.
	Touched time.Time
	// Repeats is the group that an event stands for, of a list that collapses.
	Repeats *readmodel.Repeats
	// Mark changes with everything besides the record's version that the view
	// depends on: embedded records, counts, due publications, blanking.
	Mark uint64
}

// Moment is the one that a view shows; the zero value is the present.
type Moment struct {
	Now time.Time // zero: now
	// Own is the moment of the status of the record itself; zero: Now.
	Own time.Time
	// Load returns linked records as they were, nil for those that are not shown: terms have
	// no counts then. nil: they are as they are now.
	Load func(ctx context.Context, ids ...calendar.ID) ([]*calendar.Record, error)

	counts func(ctx context.Context, terms []*calendar.Record) (map[calendar.ID]int, error) // of terms, nil for none
}

// LinkedView is an embedded record.
type LinkedView struct {
	Record *calendar.Record
	Status calendar.Status // "" for terms
	Count  int             // of terms: listed events that carry it, or NoCount
}

// List is the answer to a list request.
type List struct {
	Views      []View
	Total      int
	TotalPages int
	Position   calendar.Position // up to which the list shows all changes
	Facets     []Facet           // those that were asked for, in that order
	// Next is the cursor of the next step, "" for the last one and for pages.
	Next string
	// Spelling is the one that the search was made with.
	readmodel.Spelling
}

// IsFree reports whether an event has a cost and all of it is nothing.
func IsFree(record *calendar.Record) bool {
	return readmodel.Match(isFree, record)
}
