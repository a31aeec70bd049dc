package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allRoutes are the fifteen of section 1.4, those of HISTORY 2, of LISTINGS 1.1 and of DESK E2.2.
const allRoutes = 52

// expected reads testdata/documentation.txt: what each operation has to show, by path and
// method, and the fields and the required fields of bodies by collection.
func expected(t *testing.T) (operations map[string]map[string]wantOperation, bodies map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "documentation.txt"))
	must(t, err)
	operations, bodies = map[string]map[string]wantOperation{}, map[string][]string{}
	var lists []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.NewReplacer(lists...).Replace(strings.TrimSpace(line)), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch name, path, _ := strings.Cut(cells[0], " "); {
		case name == "#": // a comment
		case strings.HasPrefix(name, "@"):
			lists = append(lists, name, cells[1])
		case name == "body":
			bodies[path] = cells[1:]
		case len(cells) == 5:
			w := wantOperation{path: cells[1], query: cells[2], header: cells[3]}
			for status := range strings.FieldsSeq(cells[4]) {
				n, err := strconv.Atoi(status)
				must(t, err)
				w.statuses = append(w.statuses, n)
			}
			if operations[path] == nil {
				operations[path] = map[string]wantOperation{}
			}
			operations[path][name] = w
		}
	}
	return operations, bodies
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
	s      *scene
	root   obj
	bodies map[string][]string
}

func (d *document) follow(value any) obj {
	d.s.t.Helper()
	o, _ := value.(obj)
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
		var want map[string]map[string]wantOperation
		want, d.bodies = expected(s.t)
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
		all, extension := names(d.bodies[collection][0])
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
		values, _ := schema["required"].(list)
		for _, r := range values {
			required = append(required, r.(string))
		}
		slices.Sort(required)
		wantRequired := strings.Fields(d.bodies[collection][1])
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
	case status == 200 && strings.HasPrefix(name, "get /") && strings.Count(name, "/") == 1 && name != "get /" && name != "get /doc" && name != "get /changes" && name != "get /suggest" && name != "get /checkpoint" && name != "get /me":
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
	for _, text := range need {
		if _, ok := headers[text]; !ok {
			t.Errorf("%s: status %d: no header %s", name, status, text)
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
