package calendar

import "strings"

// The reasons for which a value is refused (interface 2 to 4, 9). What follows
// "args" is what FieldError.Args carry, in that order; the others carry
// none. Each has a message in every language (internal/texts).

// The value has another type than the field (2.2). Clients see these as
// rest_invalid_type, see Reason.Detail.
const (
	ReasonTypeText    Reason = "type_text"    // must be text
	ReasonTypeBool    Reason = "type_bool"    // must be true or false
	ReasonTypeInteger Reason = "type_integer" // must be a whole number
	ReasonTypeID      Reason = "type_id"      // must be an id: digits, greater than 0
	ReasonTypeNumber  Reason = "type_number"  // must be a number
	ReasonTypeList    Reason = "type_list"    // must be a list: an array or comma text
	ReasonTypeDate    Reason = "type_date"    // must be a date, sent as text
	ReasonTypeCost    Reason = "type_cost"    // must be text, a number, or a list of these
	ReasonTypeImage   Reason = "type_image"   // must be the id of an image or a URL
	ReasonTypeLinks   Reason = "type_links"   // must be ids, inline data, or a list of these
	ReasonTypeObject  Reason = "type_object"  // must be an object
	ReasonTypeTerms   Reason = "type_terms"   // must be ids, slugs or names, or a list of these
)

// The value has the right type but not a right form.
const (
	ReasonUTF8        Reason = "utf8"         // no valid UTF-8, in a query string
	ReasonEmpty       Reason = "empty"        // must not be empty
	ReasonZero        Reason = "zero"         // must not be "0"
	ReasonNothingLeft Reason = "nothing_left" // name: nothing is left after cleaning
	ReasonSlug        Reason = "slug"         // slug: no letter or digit is left
	ReasonNotInEnum   Reason = "not_in_enum"  // must be one of; args: the allowed words, comma separated. Seen as rest_not_in_enum
	ReasonWord        Reason = "word"         // must be one of; args: the allowed words, comma separated
	ReasonStatus      Reason = "status"       // must be one of; args: the allowed words, comma separated
	ReasonTooLong     Reason = "too_long"     // args: the limit in characters
	ReasonTooMany     Reason = "too_many"     // list; args: the limit in elements
	ReasonNoWord      Reason = "no_word"      // has no word in it
	ReasonTooMuch     Reason = "too_much"     // search; args: the limit in words
	ReasonAnswerSize  Reason = "answer_size"  // asks for an answer that is too large; args: the limit in bytes
	ReasonTooSmall    Reason = "too_small"    // args: the least value
	ReasonRange       Reason = "range"        // args: the least and the greatest value
	ReasonBox         Reason = "box"          // not west, south, east, north in degrees
	ReasonFacet       Reason = "facet"        // no text of a facet that is asked for; args: the facets that take one
	ReasonRangeAbove  Reason = "range_above"  // args: must be above the first, up to the second
	ReasonDate        Reason = "date"         // no date of 2.4
	ReasonDateRange   Reason = "date_range"   // year outside 0001–9999
	ReasonZone        Reason = "zone"         // no time zone of 3.1.3
	ReasonURL         Reason = "url"          // must be an absolute http or https URL
	ReasonEmail       Reason = "email"        // must be an e-mail address
	ReasonImage       Reason = "image"        // neither an id nor an absolute http or https URL
	ReasonCost        Reason = "cost"         // a JSON number below zero
	ReasonCursor      Reason = "cursor"       // no cursor of a list with these parameters
	ReasonEntry       Reason = "entry"        // an element of a list has no allowed form; args: the entry
	ReasonInline      Reason = "inline"       // inline data with a bad field; args: the entry, then name, reason and args of the bad field
)

// The value names something that is not there, or that the caller may not use.
const (
	ReasonUnknownEvent     Reason = "unknown_event"     // args: the entry
	ReasonUnknownVenue     Reason = "unknown_venue"     // args: the entry
	ReasonUnknownOrganizer Reason = "unknown_organizer" // args: the entry
	ReasonUnknownCategory  Reason = "unknown_category"  // args: the entry
	ReasonUnknownTag       Reason = "unknown_tag"       // args: the entry
	ReasonUnknownImage     Reason = "unknown_image"     // args: the entry
	ReasonUnknownUser      Reason = "unknown_user"      // args: the entry
	ReasonOtherAuthor      Reason = "other_author"      // the caller may name nobody else as author
	ReasonImageURLRight    Reason = "image_url_right"   // the caller may not use images by URL
	ReasonTermRight        Reason = "term_right"        // no such term, and the caller may not create one; args: the entry
	ReasonReaders          Reason = "readers"           // for editors, administrators and auditors only
	ReasonStatusFilter     Reason = "status_filter"     // the caller may filter by the status "publish" only
)

// The value does not fit to another one.
const (
	ReasonEndBeforeStart Reason = "end_before_start"
	ReasonPairMissing    Reason = "pair_missing" // a coordinate without its partner, on the missing one; args: the name of the other
	ReasonSelfParent     Reason = "self_parent"  // an event cannot be its own parent
	ReasonGeolocConflict Reason = "geoloc"       // geoloc=false together with coordinates
	ReasonTogether       Reason = "together"     // not to be sent with another one; args: its name
)

// The value names no point in time that can be asked for.
const (
	ReasonPoint          Reason = "point"            // no date of 2.4 and no "position:N"
	ReasonPointOrVersion Reason = "point_or_version" // no date of 2.4, no "position:N", no "version:N"
	ReasonFuture         Reason = "future"           // later than now
	ReasonAhead          Reason = "ahead"            // above the newest position; args: that
)

// The value of a request header is bad (2.10).
const (
	ReasonHeaderKey      Reason = "header_key"      // Idempotency-Key: 1–255 printable ASCII characters
	ReasonHeaderPosition Reason = "header_position" // Daybook-Min-Position: digits
	ReasonHeaderReason   Reason = "header_reason"   // Daybook-Reason: printable ASCII with percent-encoded UTF-8
	ReasonHeaderTime     Reason = "header_time"     // Accept-Datetime: IMF-fixdate
	ReasonHeaderHost     Reason = "header_host"     // Host: a host with or without a port
)

// Detail returns the code of a reason in "details" of an answer
// (interface 7.1): "rest_invalid_type", "rest_not_in_enum", or "" for reasons
// without a structure.
func (reason Reason) Detail() string {
	switch {
	case strings.HasPrefix(string(reason), "type_"):
		return "rest_invalid_type"
	case reason == ReasonNotInEnum:
		return "rest_not_in_enum"
	default:
		return ""
	}
}

// UnknownReason is the reason for a value that names no record of a kind.
func UnknownReason(kind Kind) Reason { return Reason("unknown_" + kind.String()) }
