package history

import (
	"bytes"
	"encoding/json"

	"daybook/calendar"
)

// Marshal gives a value as JSON without escaping < > &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Shown is a record as the past shows it: its Members as JSON; nil has none.
type Shown struct{ Record *calendar.Record }

// MarshalJSON writes the members in their order.
func (s *Shown) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range Members(s.Record) {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(append(b, '"'), m.Name...), `":`...), value...)
	}
	return append(b, '}'), nil
}

// form is a side as it is told.
func (s *Side) form(record bool) any {
	var shown *Shown
	if record {
		shown = &Shown{s.Record}
	}
	return struct {
		Version  int64             `json:"version"`
		Position calendar.Position `json:"position,omitempty"`
		Time     string            `json:"time,omitempty"`
		Record   *Shown            `json:"record,omitempty"`
	}{s.Version, s.Position, s.Time, shown}
}

// Form is the difference as it is told (HISTORY 9), with both records or without.
func (d *Diff) Form(records bool) any {
	return struct {
		From    any          `json:"from"`
		To      any          `json:"to"`
		Patch   []Operation  `json:"patch"`
		Changes []ToldChange `json:"changes"`
		Summary string       `json:"summary"`
	}{d.From.form(records), d.To.form(records), d.Patch, d.Changes, d.Summary}
}
