package e2e

import (
	"slices"
	"strconv"
	"strings"
)

// What the documentation has to list: the tables of sections 1.4, 3 to 5 and
// 7.3 by hand. A name with "+" is an extension.

// allRoutes are the fifteen of section 1.4, those of HISTORY 2 and of LISTINGS 1.1.
const allRoutes = 51

var listParams = map[string]string{
	"events": "page per_page start_date end_date starts_before starts_after ends_before ends_after strict_dates search categories tags " +
		"venue organizer featured status geoloc geoloc_lat geoloc_lng +geoloc_radius include post_parent ticketed +as_of multilang_language +_fields " +
		"+format +features +csv_bom +csv_raw +overlap +month +weekday +time_of_day +duration_min +duration_max +in_language +city +country +bbox +free +cost_band +sort +order +facets +facet_limit +facet_query +collapse +typos +highlight +highlight_length +cursor",
	"venues":     "page per_page search event has_events only_with_upcoming status +as_of multilang_language +_fields",
	"organizers": "page per_page search event has_events only_with_upcoming status +as_of multilang_language +_fields",
	"categories": "page per_page search exclude include order orderby hide_empty parent post event slug +as_of multilang_language +_fields",
	"tags":       "page per_page search exclude include order orderby hide_empty post event slug +as_of multilang_language +_fields",
}

var bodyFields = map[string]string{
	"events": "author date date_utc title description slug excerpt status timezone all_day start_date end_date image cost website show_map " +
		"show_map_link hide_from_listings sticky featured categories tags venue organizer multilang_language +ticketed +post_parent +reason",
	"venues": "author date date_utc venue description status show_map show_map_link address city country province state zip phone " +
		"stateprovince website image multilang_language +excerpt +slug +geo_lat +geo_lng +reason",
	"organizers": "author date date_utc organizer description status phone website email image multilang_language +excerpt +slug +reason",
	"categories": "name description slug parent multilang_language +reason",
	"tags":       "name description slug multilang_language +reason",
}

var requiredFields = map[string][]string{
	"events": {"end_date", "start_date", "title"}, "venues": {"venue"}, "organizers": {"organizer"}, "categories": {"name"}, "tags": {"name"},
}

// names splits a table into names, and those that are extensions.
func names(table string) (all []string, extension map[string]bool) {
	extension = map[string]bool{}
	for name := range strings.FieldsSeq(table) {
		plain, is := strings.CutPrefix(name, "+")
		extension[plain] = is
		all = append(all, plain)
	}
	slices.Sort(all)
	return all, extension
}

// document is the served documentation with its references followed.
type document struct {
	s    *scene
	root obj
}

func (d *document) follow(v any) obj {
	d.s.t.Helper()
	o, _ := v.(obj)
	ref, ok := o["$ref"].(string)
	if !ok {
		return o
	}
	var at any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		next, ok := at.(obj)[part]
		if !ok {
			d.s.t.Fatalf("documentation: nothing at %s", ref)
		}
		at = next
	}
	return d.follow(at)
}

// wantOperation is what one operation has to show.
type wantOperation struct {
	path, query, header string
	statuses            []int
}

func documentation(s *scene) {
	for _, language := range []string{"en", "fr"} {
		site := s.svc.url
		if language != "en" {
			site += "/" + language
		}
		got := s.nobody.under(language).read("/doc").head("Content-Language", language).fields(obj{
			"openapi": "3.1.0", "info.version": "1.0.0", "servers": list{obj{"url": site + root}},
		}).having("info.title", "info.description", "components.securitySchemes.basic", "components.securitySchemes.bearer")
		for _, name := range []string{"Event", "Venue", "Organizer", "Term", "Image", "CostDetails", "DateDetails", "Error", "Problem"} {
			got.having("components.schemas." + name)
		}
		d := &document{s: s, root: got.json().(obj)}
		want := map[string]map[string]wantOperation{
			"/":    {"get": {query: "namespace context multilang_language", header: "+If-None-Match", statuses: []int{200, 304, 400, 401, 404, 503}}},
			"/doc": {"get": {query: "multilang_language", header: "+If-None-Match", statuses: []int{200, 304, 400, 401, 503}}},
		}
		// HISTORY 20.42: the routes of the past, and their refusals.
		want["/changes"] = map[string]wantOperation{"get": {
			query:  "+kind +id +actor +action +field +since +until +after +before +order +limit +format multilang_language",
			header: "+If-None-Match", statuses: []int{200, 304, 400, 401, 403, 503},
		}}
		want["/changes/stream"] = map[string]wantOperation{"get": {
			query: "+kind +id +actor +action +field +after multilang_language", header: "+Last-Event-ID", statuses: []int{200, 400, 401, 403, 503},
		}}
		proofs := []int{200, 400, 401, 403, 404, 503}
		for path, w := range map[string]wantOperation{
			"/checkpoint": {query: "+size multilang_language"}, "/checkpoint/keys": {query: "multilang_language"},
			"/proof/inclusion": {query: "+position +size multilang_language"}, "/proof/consistency": {query: "+from +to multilang_language"},
			"/tile/{level}/{tile}": {path: "level tile", query: "multilang_language"},
		} {
			w.statuses = proofs
			want[path] = map[string]wantOperation{"get": w}
		}
		for _, collection := range collections {
			post := collection != "categories" && collection != "tags"
			list := wantOperation{query: listParams[collection], header: "+If-None-Match +Daybook-Min-Position +Accept-Datetime", statuses: []int{200, 304, 400, 401, 403, 422, 503}}
			if post {
				list.statuses = append(list.statuses, 404)
			}
			want["/"+collection] = map[string]wantOperation{
				"get": list, "post": {header: "+Idempotency-Key +Daybook-Reason", statuses: []int{201, 400, 401, 403, 413, 422, 503}},
			}
			past := []int{200, 304, 400, 401, 403, 404, 410, 503}
			want["/"+collection+"/{id}/history"] = map[string]wantOperation{
				"get": {path: "id", query: "+order +after +before +limit +action +field multilang_language", header: "+If-None-Match", statuses: past},
			}
			want["/"+collection+"/{id}/diff"] = map[string]wantOperation{
				"get": {path: "id", query: "+from +to +records multilang_language", header: "+If-None-Match", statuses: past},
			}
			for _, way := range []string{"id", "slug"} {
				if way == "slug" && !post {
					continue
				}
				path := "/" + collection + "/{id}"
				if way == "slug" {
					path = "/" + collection + "/by-slug/{slug}"
				}
				password := ""
				if way == "id" && collection == "events" {
					password = "password "
				}
				read := wantOperation{path: way, query: password + "+as_of multilang_language +_fields", header: "+If-None-Match", statuses: []int{200, 304, 400, 401, 403, 404, 410, 503}}
				if collection == "events" {
					read.query += " +format"
				}
				if way == "id" {
					read.header += " +Accept-Datetime"
				}
				end := wantOperation{path: way, query: password + "multilang_language +reason", header: "+If-Match +Daybook-Reason", statuses: []int{200, 400, 401, 403, 404, 410, 412, 503}}
				change := wantOperation{path: way, header: "+If-Match +Idempotency-Key +Daybook-Reason", statuses: []int{200, 400, 401, 403, 404, 412, 413, 422, 503}}
				if way == "id" { // HISTORY 20.42: an erased record
					change.statuses = append(change.statuses, 410)
				}
				want[path] = map[string]wantOperation{"get": read, "delete": end, "post": change, "put": change, "patch": change}
			}
		}
		for _, collection := range collections {
			want["/"+collection+"/{id}/timemap"] = map[string]wantOperation{"get": {path: "id", query: "+after +format multilang_language", header: "+If-None-Match", statuses: []int{200, 304, 400, 401, 403, 404, 410, 503}}}
		}
		// LISTINGS 8.43: the routes of other formats.
		present := strings.Replace(listParams["events"], "+as_of ", "", 1) // only collections have a past
		feed := wantOperation{path: "+format", query: present, header: "+If-None-Match +If-Modified-Since +Daybook-Min-Position", statuses: []int{200, 304, 400, 401, 403, 404, 503}}
		want["/events.{format}"] = map[string]wantOperation{"get": feed}
		want["/events/{id}.{format}"] = map[string]wantOperation{"get": {
			path: "id +format", query: "password multilang_language +_fields +format", header: "+If-None-Match +If-Modified-Since", statuses: []int{200, 304, 400, 401, 403, 404, 503},
		}}
		for _, collection := range collections[1:] {
			feed.path, feed.statuses = "id +format", []int{200, 304, 400, 401, 403, 404, 410, 503}
			want["/"+collection+"/{id}/events.{format}"] = map[string]wantOperation{"get": feed}
			want["/"+collection+"/{id}/events"] = map[string]wantOperation{"get": {
				path: "id", query: present, header: "+If-None-Match +Daybook-Min-Position", statuses: feed.statuses,
			}}
		}
		sourced := []string{"+start", "+end", "+timeZone"}
		for name := range strings.FieldsSeq(present) {
			if !slices.Contains(strings.Fields("page per_page start_date end_date starts_before starts_after ends_before ends_after strict_dates include +_fields +format +features +csv_bom +csv_raw +overlap +sort +order +facets +facet_limit +facet_query +collapse +highlight +highlight_length +cursor"), name) {
				sourced = append(sourced, name)
			}
		}
		want["/events/calendar"] = map[string]wantOperation{"get": {query: strings.Join(sourced, " "), header: "+If-None-Match +Daybook-Min-Position", statuses: []int{200, 304, 400, 401, 503}}}
		mapped := []string{"+zoom"}
		for name := range strings.FieldsSeq(present) {
			if !slices.Contains(strings.Fields("page per_page +_fields +format +features +csv_bom +csv_raw +sort +order +facets +facet_limit +facet_query +collapse +highlight +highlight_length +cursor"), name) {
				mapped = append(mapped, name)
			}
		}
		want["/events/clusters"] = map[string]wantOperation{"get": {query: strings.Join(mapped, " "), header: "+If-None-Match +Daybook-Min-Position", statuses: []int{200, 304, 400, 401, 503}}}
		want["/events/search"] = map[string]wantOperation{"post": {query: "multilang_language", header: "+Daybook-Min-Position", statuses: []int{200, 400, 401, 413, 503}}}
		want["/suggest"] = map[string]wantOperation{"get": {query: "+q +kinds +limit +typos multilang_language", header: "+If-None-Match +Daybook-Min-Position", statuses: []int{200, 304, 400, 401, 503}}}
		paths := d.root["paths"].(obj)
		if len(paths) != len(want) || len(want) != allRoutes {
			s.t.Errorf("documentation: %d paths, want %d", len(paths), len(want))
		}
		for path, operations := range want {
			item, ok := paths[path].(obj)
			if !ok {
				s.t.Errorf("documentation: no path %s", path)
				continue
			}
			for method, w := range operations {
				op, ok := item[method].(obj)
				if !ok {
					s.t.Errorf("documentation: no %s %s", method, path)
					continue
				}
				d.operation(path, method, op, item, w)
			}
			for _, method := range []string{"get", "post", "put", "patch", "delete"} {
				if _, there := item[method]; there && operations[method].statuses == nil {
					s.t.Errorf("documentation: %s %s, which there is not", method, path)
				}
			}
		}
	}
	s.nobody.under("cn").read("/doc?x=1")
}

// operation holds one operation against what it has to show.
func (d *document) operation(path, method string, op, item obj, w wantOperation) {
	t := d.s.t
	t.Helper()
	name := method + " " + path
	got := map[string]map[string]obj{"path": {}, "query": {}, "header": {}}
	for _, holder := range []obj{item, op} {
		params, _ := holder["parameters"].(list)
		for _, p := range params {
			o := d.follow(p)
			in, _ := o["in"].(string)
			label, _ := o["name"].(string)
			got[in][label] = o
			if text, _ := o["description"].(string); text == "" {
				t.Errorf("%s: parameter %s has no description", name, label)
			}
		}
	}
	write := method != "get" && method != "delete" && path != "/events/search"
	for in, table := range map[string]string{"path": w.path, "query": w.query, "header": w.header} {
		all, extension := names(table)
		for _, label := range all {
			p, ok := got[in][label]
			if !ok {
				t.Errorf("%s: no %s parameter %s", name, in, label)
				continue
			}
			if marked, _ := p["x-extension"].(bool); marked != extension[label] {
				t.Errorf("%s: parameter %s: x-extension %v, want %v", name, label, marked, extension[label])
			}
			if in == "path" && p["required"] != true {
				t.Errorf("%s: path parameter %s is not required", name, label)
			}
		}
		if write && in == "query" {
			continue // body fields may be listed here, too
		}
		for label := range got[in] {
			if !slices.Contains(all, label) && label != "Authorization" && label != "Accept" {
				t.Errorf("%s: %s parameter %s, which there is not", name, in, label)
			}
		}
	}
	responses, _ := op["responses"].(obj)
	for _, status := range w.statuses {
		r, ok := responses[strconv.Itoa(status)]
		if !ok {
			t.Errorf("%s: no status %d", name, status)
			continue
		}
		d.response(name, status, d.follow(r))
	}
	if !write {
		return
	}
	collection, single, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	content, _ := d.follow(op["requestBody"])["content"].(obj)
	for _, media := range []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data"} {
		m, ok := content[media].(obj)
		if !ok {
			t.Errorf("%s: no body as %s", name, media)
			continue
		}
		schema := d.follow(m["schema"])
		properties, _ := schema["properties"].(obj)
		all, extension := names(bodyFields[collection])
		if collection == "events" && !strings.HasPrefix(single, "by-slug") {
			all = append(all, "password")
			slices.Sort(all)
		}
		var have []string
		for label, p := range properties {
			have = append(have, label)
			if marked, _ := d.follow(p)["x-extension"].(bool); marked != extension[label] {
				t.Errorf("%s: field %s: x-extension %v, want %v", name, label, marked, extension[label])
			}
		}
		slices.Sort(have)
		if !slices.Equal(have, all) {
			t.Errorf("%s: %s: fields\n%v, want\n%v", name, media, have, all)
		}
		var required []string
		l, _ := schema["required"].(list)
		for _, r := range l {
			required = append(required, r.(string))
		}
		slices.Sort(required)
		wantRequired := requiredFields[collection]
		if single != "" {
			wantRequired = nil
		}
		if !slices.Equal(required, wantRequired) {
			t.Errorf("%s: %s: required %v, want %v", name, media, required, wantRequired)
		}
	}
	security, _ := op["security"].(list)
	if security == nil {
		security, _ = d.root["security"].(list)
	}
	for _, s := range security {
		if len(s.(obj)) == 0 {
			t.Errorf("%s: credentials are optional", name)
		}
	}
	if len(security) != 2 {
		t.Errorf("%s: security %v, want basic or bearer", name, security)
	}
}

// response holds one documented answer against section 2.8 and 7.1.
func (d *document) response(name string, status int, r obj) {
	t := d.s.t
	t.Helper()
	headers, _ := r["headers"].(obj)
	content, _ := r["content"].(obj)
	need := []string{"Content-Language"}
	switch {
	case status == 401:
		need = append(need, "WWW-Authenticate")
	case status == 503:
		need = append(need, "Retry-After")
	case status == 201:
		need = append(need, "Location", "ETag", "Daybook-Position")
	case status == 200 && strings.HasPrefix(name, "get /") && strings.Count(name, "/") == 1 && name != "get /" && name != "get /doc" && name != "get /changes" && name != "get /suggest" && name != "get /checkpoint":
		need = append(need, "X-Total", "X-TotalPages", "Link", "Daybook-Position", "ETag")
	case status == 200 && strings.HasPrefix(name, "get /") && (strings.HasSuffix(name, "}/history") || strings.HasSuffix(name, "}/diff")):
		need = append(need, "ETag", "Cache-Groups")
	case status == 200 && strings.HasPrefix(name, "get /tile/"):
	case status == 200 && strings.HasPrefix(name, "get /") && strings.Contains(name, "{"):
		need = append(need, "ETag")
		if strings.HasSuffix(name, "}") {
			need = append(need, "Last-Modified")
		}
	case status == 200 && name == "post /events/search":
		need = append(need, "Daybook-Position")
	case status == 200 && !strings.HasPrefix(name, "get "):
		need = append(need, "ETag", "Daybook-Position")
	}
	for _, h := range need {
		if _, ok := headers[h]; !ok {
			t.Errorf("%s: status %d: no header %s", name, status, h)
		}
	}
	switch {
	case status == 304:
		if len(content) != 0 {
			t.Errorf("%s: 304 with content", name)
		}
	case status >= 400:
		for _, media := range []string{"application/json", "application/problem+json"} {
			if _, ok := content[media]; !ok {
				t.Errorf("%s: status %d: no %s", name, status, media)
			}
		}
	default:
		if _, ok := content["application/json"]; !ok && !slices.Contains([]string{"get /changes/stream", "get /checkpoint", "get /tile/{level}/{tile}", "get /events/clusters"}, name) && !strings.Contains(name, "{format}") {
			t.Errorf("%s: status %d: no application/json", name, status)
		}
	}
}
