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
	for kind := calendar.KindEvent; kind <= calendar.KindUser; kind++ {
		kinds = append(kinds, kind.String())
	}
	fill(out, Object{
		"$languages": calendar.LangNames(), "$statuses": calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum, "$kinds": kinds, "$actions": history.Actions,
		"$facets": a.facets(), "$maxRepeats": readmodel.MostRepeats,
	})
	for _, kind := range calendar.Kinds {
		out[Title(kind.String())+"List"] = a.list(kind)
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
func (a *API) list(kind calendar.Kind) Object {
	record := RecordName(kind)
	optional := Object{"next_rest_url": Text(), "previous_rest_url": Text()}
	if kind == calendar.KindEvent {
		optional["next_cursor"] = extended(Text(), true)
		optional["facets"] = extended(closed(nil, a.facets()), true)
		optional["typos"] = extended(Object{"type": "integer", "minimum": 0, "maximum": readmodel.MaxTypos}, true)
		optional["joined"] = extended(boolean(), true)
	}
	return closed(Object{
		kind.Collection(): List(AnyOf(Ref(record), Ref("Sparse"+record))), "rest_url": Text(), "total": from(0), "total_pages": from(0),
	}, optional)
}
