package history

import "time"

// Time is a time of an entry, which has the form of HISTORY 5 as text and as JSON.
type Time struct{ time.Time }

func (t Time) String() string { return t.Format("2006-01-02T15:04:05.000Z") }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }
