package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// TimeLayout is the form of the times of entries, in UTC.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time of an entry, which has the form TimeLayout as text and as JSON.
type Time struct{ time.Time }

func (t Time) String() string { return t.Format(TimeLayout) }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// Marshal returns a value as JSON without escaping < > &.
func Marshal(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// MarshalJSON writes the members as an object, in their order.
func (members Members) MarshalJSON() ([]byte, error) {
	parts := make([][]byte, len(members))
	for i, member := range members {
		object, err := Marshal(map[string]any{member.Name: member.Value})
		if err != nil {
			return nil, err
		}
		parts[i] = object[1 : len(object)-1]
	}
	return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}")), nil
}
