package httpapi

import (
	"maps"

	"daybook/calendar"
	"daybook/internal/history"
)

// toldSchemas are the components of the answers of the past.
func toldSchemas() object {
	actions := make([]string, len(history.Actions))
	for i, a := range history.Actions {
		actions[i] = string(a)
	}
	kinds := make([]string, 0, calendar.KindUser)
	for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
		kinds = append(kinds, k.String())
	}
	from := func(n int) object { return object{"type": "integer", "minimum": n} }
	instant := func() object { return object{"type": "string", "format": "date-time"} }
	value := object{"anyOf": []object{str(), {"type": "number"}, boolean(), list(integer()), list(str()), {"type": "null"}}}
	page := func(always object) object {
		s := shape{
			always:    object{"entries": list(schemaRef("HistoryEntry")), "rest_url": str()},
			sometimes: object{"next_rest_url": str(), "looked_to": from(1)},
		}
		maps.Copy(s.always, always)
		return s.schema(true)
	}
	side := shape{
		always:    object{"version": from(0)},
		sometimes: object{"position": from(1), "time": instant(), "record": object{"type": "object"}},
	}.schema(true)
	schemas := object{
		"HistoryChange": shape{
			always:    object{"field": str(), "before": value, "after": value, "sentence": str()},
			sometimes: object{"language": languageSchema()},
		}.schema(true),
		"HistoryEntry": shape{
			always: object{
				"kind": object{"type": "string", "enum": kinds}, "id": from(1), "version": from(1), "position": from(1), "time": instant(),
				"action": object{"type": "string", "enum": actions}, "summary": str(), "changes": list(schemaRef("HistoryChange")),
			},
			sometimes: object{
				"actor":  shape{always: object{"id": from(0)}, sometimes: object{"name": str()}}.schema(true),
				"client": str(), "request": str(), "reason": str(), "name": str(),
				"redacted": strict(object{"version": from(1), "position": from(1), "time": instant()}),
				"urls":     shape{always: object{}, sometimes: object{"version": str(), "diff": str()}}.schema(true),
			},
		}.schema(true),
		"HistoryPage": page(nil),
		"ChangesPage": page(object{"head": from(0)}),
		"Diff": strict(object{
			"from": side, "to": side, "patch": schemaRef("JSONPatch"), "changes": list(schemaRef("HistoryChange")), "summary": str(),
		}),
		"JSONPatch": list(shape{
			always:    object{"op": object{"type": "string", "enum": []string{"add", "remove", "replace"}}, "path": str()},
			sometimes: object{"value": object{}},
		}.schema(true)),
	}
	for _, s := range schemas {
		extended(s.(object), true) //nolint:forcetypeassert // made above
	}
	return schemas
}
