package openapi

import (
	"encoding/base64"
	"maps"

	"daybook/calendar"
	"daybook/internal/history"
	"daybook/query/readmodel"
)

// answers are the components that answers refer to, but for those of records.
func (a *API) answers() Object {
	out := Object{
		"Image": Strict(Object{"url": Text(), "id": integer(), "extension": Text()}),
		"CostDetails": Strict(Object{
			"currency_symbol": Text(), "currency_code": Text(), "currency_position": enum("", "prefix", "postfix"), "values": List(Text()),
		}),
		"DateDetails": Strict(Object{
			"year": digits(4), "month": digits(2), "day": digits(2), "hour": digits(2), "minutes": digits(2), "seconds": digits(2),
		}),
		"Error": Strict(Object{"code": Text(), "message": Text(), "data": closed(Object{"status": small()}, errorFacts())}),
		"Problem": closed(Object{
			"type": format("uri"), "title": Text(), "status": small(), "detail": Text(), "instance": Text(), "code": Text(),
		}, errorFacts()),
		"Route": closed(
			Object{"namespace": Text(), "methods": List(Text()), "endpoints": List(Strict(Object{"methods": List(Text()), "args": object()}))},
			Object{"_links": object(), "extension": extended(boolean(), true)},
		),
		"Index": Strict(Object{"namespace": Text(), "routes": objects(Ref("Route"))}),
	}
	for _, k := range calendar.Kinds {
		out[Title(k.String())+"List"] = a.list(k)
	}
	for _, schemas := range []Object{a.search(), a.feeds(), versions(), proofs()} {
		for name, schema := range schemas {
			out[name] = extended(schema.(Object), true) //nolint:forcetypeassert // all of them are schemas
		}
	}
	return out
}

// errorFacts are what errors of some codes have besides the status.
func errorFacts() Object {
	detail := Strict(Object{"code": Text(), "message": Text(), "data": Strict(Object{"param": Text()})})
	return Object{
		"params":  AnyOf(objects(Text()), List(Text())),
		"details": AnyOf(objects(detail), emptyList()),
		"term_id": integer(), "limit": integer(), "total": extended(integer(), true), "cost": extended(integer(), true),
		"json_error_code": small(), "json_error_message": Text(),
	}
}

// list is a page of records of a kind.
func (a *API) list(k calendar.Kind) Object {
	record := RecordName(k)
	optional := Object{"next_rest_url": Text(), "previous_rest_url": Text()}
	if k == calendar.KindEvent {
		optional["next_cursor"] = extended(Text(), true)
		optional["facets"] = extended(a.facets(), true)
		optional["typos"] = extended(Object{"type": "integer", "minimum": 0, "maximum": readmodel.MaxTypos}, true)
		optional["joined"] = extended(boolean(), true)
	}
	return closed(Object{
		k.Collection(): List(AnyOf(Ref(record), Ref("Sparse"+record))), "rest_url": Text(), "total": from(0), "total_pages": from(0),
	}, optional)
}

// facets are those of a list by name.
func (a *API) facets() Object {
	facets := Object{}
	for _, name := range a.Facets {
		facets[name] = Ref("Facet")
	}
	return closed(nil, facets)
}

// found are the properties of an event that a search, an order by distance and a grouping add.
func found() Object {
	return Object{"distance": distance(), "highlight": highlight(), "collapsed": Ref("Repeats")}
}

func language() Object { return enum(calendar.LangNames()...) }

// distance is that in kilometres with three decimals.
func distance() Object { return extended(Object{"type": "number", "minimum": 0}, true) }

// highlight are the texts of an event that a search matches.
func highlight() Object {
	return extended(closed(Object{}, Object{"title": Text(), "excerpt": Text(), "description": Text()}), true)
}

// search are the components of facets, groups and suggestions.
func (a *API) search() Object {
	suggestion := Object{"id": integer(), "slug": Text(), "url": Text(), "rest_url": Text(), "text": Text(), "highlight": Text(), "count": from(1)}
	suggested := Object{}
	for _, k := range calendar.Kinds {
		suggested[k.Collection()] = List(Strict(suggestion))
	}
	suggested["events"] = List(Strict(merged(suggestion, Object{
		"start_date": moment(), "end_date": moment(), "timezone": Text(), "all_day": boolean(), "venue": Text(),
	})))
	suggested["venues"] = List(closed(suggestion, Object{"city": Text()}))
	return Object{
		"Facet": Strict(Object{"total": from(0), "values": List(closed(
			Object{"value": Text(), "label": Text(), "count": from(0), "selected": boolean()},
			Object{"slug": Text(), "parent": integer(), "level": merged(small(), Object{"minimum": 0}), "city": Text()},
		))}),
		"Repeats": Strict(Object{
			"count": from(1), "ids": Object{"type": "array", "items": integer(), "maxItems": readmodel.MostRepeats},
			"first_start": moment(), "last_start": moment(),
		}),
		"Suggestions": closed(Object{"q": Text()}, suggested),
	}
}

// feeds are the components of the formats of events that are JSON.
func (a *API) feeds() Object {
	slugs, ids, position := List(Text()), List(integer()), exactly(2, number())
	point := Strict(Object{"type": enum("Point"), "coordinates": position})
	times := Object{"start": Text(), "end": Text(), "timezone": Text(), "all_day": boolean()}
	held := enum(calendar.EventStatuses()...)
	event := merged(times, Object{
		"id": integer(), "uid": Text(), "title": Text(), "url": Text(), "rest_url": Text(), "status": Text(), "event_status": held,
		"cost": Text(), "categories": slugs, "tags": slugs, "organizers": List(Text()),
		"venue": AnyOf(null(), closed(Object{"id": integer()}, Object{"venue": Text(), "address": Text(), "city": Text(), "country": Text()})),
		"image": nullable("string"), "featured": nullable("boolean"), "ticketed": nullable("boolean"),
	})
	venue := Object{
		"id": integer(), "venue": Text(), "url": Text(), "address": Text(), "city": Text(), "country": Text(), "count": integer(),
		"events": List(Strict(Object{"id": integer(), "title": Text(), "url": Text(), "start": Text(), "end": Text(), "all_day": boolean()})),
	}
	item := merged(times, Object{"event_id": integer(), "status": Text(), "event_status": held, "rest_url": Text()})
	optional := merged(found(), Object{
		"cost": Text(), "location": Text(), "geo": position, "categories": ids, "tags": ids, "venues": ids, "organizers": ids,
		"ticketed": boolean(), "featured": boolean(),
	})
	cluster := closed(
		Object{"cluster_id": Text(), "point_count": integer(), "venue_count": integer(), "cluster": boolean(), "bbox": exactly(4, number())},
		Object{"expansion_zoom": small(), "venue": Strict(Object{"id": integer(), "venue": Text(), "url": Text()})},
	)
	return Object{
		"Feature": Strict(Object{
			"type": enum("Feature"), "id": integer(), "geometry": AnyOf(null(), point), "properties": AnyOf(closed(event, found()), Strict(venue)),
		}),
		"FeatureCollection": closed(
			Object{"type": enum("FeatureCollection"), "features": List(Ref("Feature")), "total": integer()},
			Object{"unplaced": integer()},
		),
		"JSONFeed": closed(Object{
			"version": Text(), "title": Text(), "home_page_url": Text(), "feed_url": Text(), "language": Text(), "items": List(Ref("JSONFeedItem")),
			"_daybook": closed(Object{"about": Text(), "total": integer()}, Object{"facets": a.facets()}),
		}, Object{"next_url": Text()}),
		"JSONFeedItem": closed(Object{
			"id": Text(), "url": Text(), "title": Text(), "content_html": Text(), "date_modified": Text(), "language": Text(),
			"_daybook": closed(item, optional),
		}, Object{
			"external_url": Text(), "summary": Text(), "image": Text(), "date_published": Text(), "tags": List(Text()),
			"authors": List(Strict(Object{"name": Text(), "url": Text()})),
		}),
		"Clusters": closed(Object{
			"type": enum("FeatureCollection"), "total": integer(), "placed": integer(),
			"features": List(Strict(Object{"type": enum("Feature"), "geometry": point, "properties": cluster})),
		}, Object{"truncated": boolean()}),
		"CalendarEntry": Strict(Object{
			"id": Text(), "title": Text(), "start": Text(), "end": Text(), "allDay": boolean(), "url": Text(), "resourceIds": List(Text()), "classNames": List(Text()),
			"extendedProps": Strict(Object{
				"timezone": Text(), "status": Text(), "location": Text(), "excerpt": Text(), "image": Text(), "cost": Text(), "categories": slugs, "tags": slugs,
				"featured": nullable("boolean"), "ticketed": nullable("boolean"), "rest_url": Text(),
			}),
		}),
	}
}

// versions are the components of the past.
func versions() Object {
	actions := make([]string, len(history.Actions))
	for i, action := range history.Actions {
		actions[i] = string(action)
	}
	kinds := make([]string, 0, calendar.KindUser)
	for k := calendar.KindEvent; k <= calendar.KindUser; k++ {
		kinds = append(kinds, k.String())
	}
	value := AnyOf(Text(), number(), boolean(), List(integer()), List(Text()), null())
	page := Object{"entries": List(Ref("HistoryEntry")), "rest_url": Text()}
	next := Object{"next_rest_url": Text(), "looked_to": from(1)}
	side := closed(Object{"version": from(0)}, Object{"position": from(1), "time": instant(), "record": object()})
	return Object{
		"HistoryChange": closed(
			Object{"field": Text(), "before": value, "after": value, "sentence": Text()},
			Object{"language": language()},
		),
		"HistoryEntry": closed(Object{
			"kind": enum(kinds...), "id": from(1), "version": from(1), "position": from(1), "time": instant(),
			"action": enum(actions...), "summary": Text(), "changes": List(Ref("HistoryChange")),
		}, Object{
			"actor":  closed(Object{"id": from(0)}, Object{"name": Text()}),
			"client": Text(), "request": Text(), "reason": Text(), "name": Text(),
			"redacted": Strict(Object{"version": from(1), "position": from(1), "time": instant()}),
			"urls":     closed(Object{}, Object{"version": Text(), "diff": Text()}),
		}),
		"HistoryPage": closed(page, next),
		"ChangesPage": closed(merged(page, Object{"head": from(0)}), next),
		"Diff": Strict(Object{
			"from": side, "to": side, "patch": Ref("JSONPatch"), "changes": List(Ref("HistoryChange")), "summary": Text(),
		}),
		"JSONPatch": List(closed(Object{"op": enum("add", "remove", "replace"), "path": Text()}, Object{"value": Object{}})),
		"TimeMap": closed(Object{
			"original": Text(), "timegate": Text(), "timemap": Text(),
			"mementos": List(Strict(Object{"version": from(1), "time": instant(), "url": Text()})),
		}, Object{"next_rest_url": Text()}),
	}
}

// proofs are the components of the proofs of the log.
func proofs() Object {
	hash, salt := format("byte"), format("byte")
	hash["minLength"] = base64.StdEncoding.EncodedLen(32)
	hash["maxLength"] = hash["minLength"]
	body := func(parts Object) Object {
		open := maps.Clone(parts)
		open["salt"] = salt
		return AnyOf(Strict(Object{"hash": hash}), Strict(open))
	}
	text := Object{"text": Text()}
	opening := closed(Object{
		"form": Object{"type": "integer", "enum": []int{2}}, "kind": Text(), "id": from(1), "version": from(1), "time": integer(), "change": Text(),
	}, Object{"bodies": Strict(Object{
		"actor": body(Object{"actor": integer()}), "cause": body(Object{"client": Text(), "request": Text(), "reason": Text()}),
		"fields": body(text), "state": body(text), "secret": body(Object{}),
	})})
	toSize := nullable("integer")
	toSize["minimum"] = 1
	return Object{
		"InclusionProof": closed(Object{
			"origin": Text(), "position": from(1), "index": from(0), "size": from(1), "root": hash, "leaf": hash, "hashes": List(hash),
		}, Object{"opening": opening}),
		"ConsistencyProof": Strict(Object{
			"origin": Text(), "from": from(0), "to": from(1), "from_root": hash, "to_root": hash, "hashes": List(hash),
		}),
		"LogKeys": Strict(Object{
			"origin": Text(), "witnesses": List(Text()),
			"keys": List(Strict(Object{"vkey": Text(), "from_size": from(1), "to_size": toSize})),
		}),
	}
}
