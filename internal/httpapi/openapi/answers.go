package openapi

import (
	_ "embed"
	"encoding/json"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/query/readmodel"
)

//go:embed components.json
var componentsFile []byte

// answers are the components that answers refer to, but for those of records: the file, where
// a text that begins with $ stands for a value of the code, and the pages of records.
func (a *API) answers() Object {
	var out Object
	if err := json.Unmarshal(componentsFile, &out); err != nil {
		panic(err) // the file is part of the program
	}
	var kinds []string
	for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
		kinds = append(kinds, k.String())
	}
	fill(out, Object{
		"$languages": calendar.LangNames(), "$statuses": calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum, "$kinds": kinds, "$actions": history.Actions,
		"$facets": a.facets(), "$maxRepeats": readmodel.MostRepeats,
	})
	for _, k := range calendar.Kinds {
		out[Title(k.String())+"List"] = a.list(k)
	}
	return out
}

// fill replaces the texts that stand for values.
func fill(node any, values Object) {
	switch node := node.(type) {
	case []any:
		for _, element := range node {
			fill(element, values)
		}
	case Object:
		for key, value := range node {
			if text, ok := value.(string); ok && values[text] != nil {
				node[key] = values[text]
			} else {
				fill(value, values)
			}
		}
	}
}

// facets are those of a list by name.
func (a *API) facets() Object {
	facets := Object{}
	for _, name := range a.Facets {
		facets[name] = Ref("Facet")
	}
	return facets
}

// list is a page of records of a kind.
func (a *API) list(k calendar.Kind) Object {
	record := RecordName(k)
	optional := Object{"next_rest_url": Text(), "previous_rest_url": Text()}
	if k == calendar.KindEvent {
		optional["next_cursor"] = extended(Text(), true)
		optional["facets"] = extended(closed(nil, a.facets()), true)
		optional["typos"] = extended(Object{"type": "integer", "minimum": 0, "maximum": readmodel.MaxTypos}, true)
		optional["joined"] = extended(boolean(), true)
	}
	return closed(Object{
		k.Collection(): List(AnyOf(Ref(record), Ref("Sparse"+record))), "rest_url": Text(), "total": from(0), "total_pages": from(0),
	}, optional)
}
