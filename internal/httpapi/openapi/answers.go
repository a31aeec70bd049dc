package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/query/readmodel"
)

// decode reads a part of the program, where a text that begins with $ stands for a value of the
// code.
func decode(part []byte, values Object, to any) {
	for name, value := range values {
		text, _ := json.Marshal(value) // texts and numbers cannot fail
		part = bytes.ReplaceAll(part, []byte(`"$`+name+`"`), text)
	}
	if err := json.Unmarshal(part, to); err != nil {
		panic(err)
	}
}

//go:embed components.json
var componentsFile []byte

// answers are the components that answers refer to besides records.
func (api *API) answers() (result Object) {
	facets := Object{}
	for _, name := range api.Facets {
		facets[name] = Ref("Facet")
	}
	decode(componentsFile, Object{
		"languages": calendar.LangNames(), "statuses": calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum,
		"actions": history.Actions, "facets": facets, "maxRepeats": readmodel.MostRepeats, "maxTypos": readmodel.MaxTypos,
	}, &result)
	return result
}
