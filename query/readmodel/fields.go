package readmodel

import "daybook/calendar"

// The fields of the schema that filters and orders name. Which kinds have them
// and what they are made from is in the schema.
const (
	// Id fields (In, Counts, Exists).
	FieldID         = "id" // also sortable
	FieldAuthor     = "author"
	FieldCategories = "categories"
	FieldTags       = "tags"
	FieldVenue      = "venue"
	FieldOrganizer  = "organizer"
	FieldParent     = "parent"      // categories
	FieldPostParent = "post_parent" // events

	// Keyword fields (Term, Contains, Exists). FieldSlug is sortable.
	FieldStatus       = "status"        // stored status; "future" and due is the query's business
	FieldFormerStatus = "former_status" // of trashed posts
	FieldSlug         = "slug"

	// Boolean fields (Term "true"/"false"; absent counts as "false").
	FieldHidden    = "hide_from_listings"
	FieldFeatured  = "featured"
	FieldTicketed  = "ticketed"
	FieldProtected = "protected"

	// Numbers (Range), all sortable: wall clocks as seconds (calendar.Wall).
	FieldStart     = "start_date"     // event's own wall clock
	FieldEnd       = "end_date"       // event's own wall clock
	FieldUTCStart  = "utc_start_date" // instants
	FieldUTCEnd    = "utc_end_date"
	FieldDate      = "date"     // publication, site-local
	FieldPublished = "date_utc" // publication, UTC; absent when never published

	// FieldPoint is the place of a venue (Near, Exists).
	FieldPoint = "point"
)

// The text fields (Text). For venues the details are one field per detail:
// interface 4.7 lists them; they are shown the same in all languages.
const (
	TextName        = "name" // title, venue, organizer or name, by kind
	TextDescription = "description"
	TextExcerpt     = "excerpt"
	TextAddress     = "address"
	TextCity        = "city"
	TextCountry     = "country"
	TextProvince    = "province"
	TextState       = "state"
	TextStateProv   = "stateprovince"
	TextZip         = "zip"
	TextPhone       = "phone"
	TextEmail       = "email"
	TextWebsite     = "website"
)

// FieldNameLower is the keyword field of the shown name in a language, lower
// case: for finding by name and for Contains.
func FieldNameLower(l calendar.Lang) string { return "name_lower." + l.String() }

// FieldNameKey is the sortable keyword of the shown name in a language, without
// case and accents.
func FieldNameKey(l calendar.Lang) string { return "name_key." + l.String() }

// FieldDescriptionKey is the sortable keyword of the shown description of a term,
// its text without case, accents and tags; every term has one.
func FieldDescriptionKey(l calendar.Lang) string { return "description_key." + l.String() }
