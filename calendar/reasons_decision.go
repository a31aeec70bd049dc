package calendar

// The reasons that only a decision can find, because they depend on the stored
// record, the moment or several fields together.
const (
	ReasonBeforeStart Reason = "before_start" // end_date before the start
	ReasonSlugEmpty   Reason = "slug_empty"   // nothing is left of the slug
	ReasonYears       Reason = "years"        // the date leaves the years 0001–9999
	ReasonOwnParent   Reason = "own_parent"   // post_parent names the event itself
	ReasonPair        Reason = "pair"         // missing coordinate; Args: the other field
)
