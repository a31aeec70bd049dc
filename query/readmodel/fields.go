package readmodel

import "daybook/calendar"

// The fields of the schema that filters and orders name. Which kinds have them
// and what they are made from is in the schema.
const (
	// Numbers that are ids.
	FieldID         = "id" // also sortable
	FieldAuthor     = "author"
	FieldCategories = "categories"
	FieldTags       = "tags"
	FieldVenue      = "venue"
	FieldOrganizer  = "organizer"
	FieldParent     = "parent"      // categories
	FieldLanguages  = "languages"   // the languages that hold a text, as LanguageID has them
	FieldPostParent = "post_parent" // events

	// Keyword fields. FieldSlug is sortable.
	FieldStatus      = "status"       // stored status; "future" and due is the query's business
	FieldEventStatus = "event_status" // of events; each has one
	FieldSlug        = "slug"

	// Keyword fields that are "true" or have no value.
	FieldHidden    = "hide_from_listings"
	FieldFeatured  = "featured"
	FieldTicketed  = "ticketed"
	FieldProtected = "protected"
	FieldAllDay    = "all_day"

	// Numbers, all sortable: wall clocks as seconds (calendar.Wall).
	FieldStart     = "start_date"     // event's own wall clock
	FieldEnd       = "end_date"       // event's own wall clock
	FieldUTCStart  = "utc_start_date" // instants
	FieldUTCEnd    = "utc_end_date"
	FieldDate      = "date"     // publication, site-local
	FieldPublished = "date_utc" // publication, UTC; absent when never published
	FieldModified  = "modified_utc"
	// FieldCost is the lowest number of a cost in hundredths, CostFree of what is free,
	// absent where no number is known. It is not sortable.
	FieldCost = "cost"

	// FieldRepeats is a number that repeats of an event share, see Collapse. It is not
	// sortable.
	FieldRepeats = "repeats"

	// Numbers that follow from others of the same event; none is sortable. The wall clock is the event's own.
	FieldMonth    = "start_month"   // of the start: 12 · year + month − 1
	FieldWeekday  = "start_weekday" // of the start: 1 is Monday, 7 Sunday
	FieldMinute   = "start_minute"  // of the day of the start, 0 to 1,439; all-day events have none
	FieldDuration = "duration"      // seconds from start to end, of all-day events 86,400 a day
)

// CostFree is the FieldCost of events of which every cost is zero or a word for that.
const CostFree = -1

// LanguageID is what FieldLanguages has for a language.
func LanguageID(language calendar.Lang) calendar.ID { return calendar.ID(language) + 1 }

// The text fields (Text) that all posts have. Others are details of venues and organizers, one
// field each, which are shown the same in all languages (interface 4.7).
const (
	TextName        = "name" // title, venue, organizer or name, by kind
	TextDescription = "description"
	TextExcerpt     = "excerpt"
)

// InLanguage is a field of each language.
type InLanguage string

// In returns the name of the field in a language.
func (field InLanguage) In(language calendar.Lang) string {
	return string(field) + "." + language.String()
}

// The fields that follow from what a language shows.
const (
	// FieldNameLower is the keyword of the name, as names are compared (htmltext.NameKey): for
	// finding by name and for Contains.
	FieldNameLower InLanguage = "name_lower"
	// FieldNameKey is the sortable keyword of the name, without case and accents.
	FieldNameKey InLanguage = "name_key"
	// FieldDescriptionKey is the sortable keyword of the description of a term, its text
	// without case, accents and tags; every term has one.
	FieldDescriptionKey InLanguage = "description_key"
	// FieldTitleKey is a number that events with the same name share, see Collapse. It is not
	// sortable.
	FieldTitleKey InLanguage = "title_key"
)

// FieldLack is the id of events that have no value in FieldPublished or FieldModified. It
// is sortable: behind that field in an order it puts them last, by id.
func FieldLack(name string) string { return "lacks." + name }
