package calendar

import "time"

// ---- decoding (decode.go) ----

// Missing names the required fields that were not sent (null counts as not
// sent), in the order of the table.
func (s *Spec) Missing(in Input) []string { return nil }

// Language gives the language of a request: the selector in the input, else
// that of the root. A bad selector is a problem of "multilang_language".
func Language(in Input, root Lang, p *Problems) Lang { return root }

// Decode reads an input by the table; refused values are added to p. Links with
// inline data are decoded by the spec of their kind.
func (s *Spec) Decode(in Input, op Op, l Lang, rules *Rules, c Caller, p *Problems) *Attrs {
	return nil
}

// ParseBool reads a boolean by the rule of interface 2.2.
func ParseBool(v any) (value, ok bool) { return false, false }

// ParseInt reads an integer in any numeric spelling.
func ParseInt(v any) (int64, bool) { return 0, false }

// ParseID reads an id greater than 0.
func ParseID(v any) (ID, bool) { return 0, false }

// ParseNumber reads a number.
func ParseNumber(v any) (float64, bool) { return 0, false }

// ParseList reads a list: array elements as they are, comma text split and
// trimmed; empty elements skipped, equal ones once.
func ParseList(v any) []any { return nil }

// Trim removes Unicode white space, the no-break space included, at both ends.
func Trim(s string) string { return s }

// ---- dates and zones (dates.go, zones.go) ----

// Date is a date of interface 2.4 that is read but not yet resolved.
type Date struct{ stub int }

// ParseDate reads a date (2.4).
func ParseDate(s string) (Date, bool) { return Date{}, false }

// IsInstant tells whether the date names an instant by itself (offset, Z, Unix
// seconds); the others are wall clocks or words.
func (d Date) IsInstant() bool { return false }

// IsWord tells whether the date depends on the present moment.
func (d Date) IsWord() bool { return false }

// Wall resolves the date to a wall clock in a zone; instants are converted.
func (d Date) Wall(now time.Time, z *time.Location) Wall { return 0 }

// Instant resolves the date to an instant: a wall clock is read in the zone (in
// a gap moved forward, in an overlap the first reading).
func (d Date) Instant(now time.Time, z *time.Location) time.Time { return now }

// WallToInstant reads a wall clock in a zone, by the rule of 2.4.
func WallToInstant(w Wall, z *time.Location) time.Time { return time.Time{} }

// Zone is a time zone of an event (3.1.3).
type Zone struct {
	Name     string // as answered
	Location *time.Location
}

// ParseZone reads a zone name (3.1.3).
func ParseZone(s string) (Zone, bool) { return Zone{}, false }

// Abbreviation gives timezone_abbr at an instant.
func (z Zone) Abbreviation(at time.Time) string { return "" }

// ---- cost (cost.go) ----

// Cost is what the costs of an event show (3.1.4).
type Cost struct {
	Text     string   // "cost" of the answer, not escaped
	Symbol   string   // currency_symbol
	Position string   // currency_position: "prefix", "postfix" or ""
	Values   []string // values
}

// Currency is the site's currency: the symbol and where it stands.
type Currency struct{ Symbol, Position string }

// ReadCost makes the Cost of stored costs.
func ReadCost(costs []string, site Currency) Cost { return Cost{} }
