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

// answers are the components that answers refer to: those of the file, records and pages of them.
func (api *API) answers() (out Object) {
	var kinds []string
	for kind := calendar.KindEvent; kind <= calendar.KindUser; kind++ {
		kinds = append(kinds, kind.String())
	}
	decode(componentsFile, Object{
		"languages": calendar.LangNames(), "statuses": calendar.SpecOf(calendar.KindEvent).Field("event_status").Enum, "kinds": kinds, "actions": history.Actions,
		"facets": api.facets(), "maxRepeats": readmodel.MostRepeats,
	}, &out)
	for _, kind := range calendar.Kinds {
		out[Title(kind.String())+"List"] = api.list(kind)
	}
	return merged(out, Records())
}

// facets are those of a list by name.
func (api *API) facets() Object {
	facets := Object{}
	for _, name := range api.Facets {
		facets[name] = Ref("Facet")
	}
	return facets
}

// list is a page of records of a kind.
func (api *API) list(kind calendar.Kind) Object {
	rows, record := readRows(Object{"facets": api.facets(), "maxTypos": readmodel.MaxTypos}).Lists, RecordName(kind)
	records := Object{kind.Collection(): List(AnyOf(Ref(record), Ref("Sparse"+record)))}
	return closed(merged(rows["all"].Required, records), merged(rows["all"].Optional, rows[kind.String()].Optional))
}
