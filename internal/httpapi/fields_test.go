package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit/play"
	"daybook/internal/testkit/world"
)

// fieldRow is one row of a field table of section 3, written by hand from it.
type fieldRow struct {
	kind  calendar.Kind
	field string
	good  []any // taken on create and update
	bad   []any // refused on both
	// empty is what the column "empty, null" says: "400", "clears", or "null" for
	// the rows of organizers where null counts as not sent and empty text is 400.
	empty string
	// more are further values that count as empty.
	more []any
	// pair is sent next to the field: what it cannot stand without.
	pair obj
}

// fieldRows are the rows of testdata/fields.txt; ids are filled in by the test: me, other,
// venue, organizer, event, category, tag, image.
func fieldRows(t *testing.T, id map[string]calendar.ID) (rows []fieldRow) {
	t.Helper()
	text, err := os.ReadFile("testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	var many []any // more links or costs than one field takes
	for i := range 1001 {
		many = append(many, i+1)
	}
	lists := map[string][]any{"many": {many}}
	decode := func(text string, into any) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	values := func(text string) (out []any) {
		var listed []any
		decode("["+text+"]", &listed)
		for _, value := range listed {
			s, _ := value.(string)
			if list, is := strings.CutPrefix(s, "@"); is && lists[list] != nil {
				out = append(out, lists[list]...)
				continue
			}
			if strings.Contains(s, "×") {
				value = play.Repeated(s)
			}
			out = append(out, value)
		}
		return out
	}
	for line := range strings.Lines(os.Expand(string(text), func(name string) string {
		if id[name] == 0 {
			return "$" + name // a cost
		}
		return itoa(id[name])
	})) {
		if name, list, is := strings.Cut(strings.TrimSpace(line), " = ["); is && line[0] == '@' {
			lists[name[1:]] = values(strings.TrimSuffix(list, "]"))
			continue
		}
		if strings.Trim(line, "\n") == "" || line[0] == '#' {
			continue
		}
		columns := append(strings.Split(line, "|"), "", "")
		names := strings.Fields(columns[0])
		for kind := range strings.SplitSeq(names[0], ",") {
			k := calendar.Kinds[slices.IndexFunc(calendar.Kinds[:], func(k calendar.Kind) bool { return k.String() == kind })]
			for _, name := range names[1:] {
				row := fieldRow{kind: k, field: name, empty: strings.TrimSpace(columns[1]), good: values(columns[2]), bad: values(columns[3]), more: values(columns[4])}
				decode("{"+columns[5]+"}", &row.pair)
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// TestFieldTables: every row of the field tables, on create and update.
func TestFieldTables(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := world.New(t, world.Options{})
	editor, other := w.As(calendar.Editor), w.User("other-editor")
	id := map[string]calendar.ID{"me": editor.User, "other": other.User}
	made := editor.Event("Concert", obj{"image": "https://img.example/a.jpg"})
	id["event"], id["image"] = made.ID(), calendar.ID(made.Int("image.id"))
	for kind, name := range map[calendar.Kind]string{calendar.KindVenue: "Hall", calendar.KindOrganizer: "Trust", calendar.KindCategory: "Jazz", calendar.KindTag: "Open air"} {
		id[kind.String()] = editor.Create(kind, obj{kind.NameField(): name}).ID()
	}
	rows := fieldRows(t, id)

	covered := map[calendar.Kind]map[string]bool{}
	count := 0
	base := func(kind calendar.Kind, row *fieldRow) obj {
		count++
		out := obj{kind.NameField(): fmt.Sprint(kind, " number ", count)}
		if kind == calendar.KindEvent {
			out["start_date"], out["end_date"] = "2026-06-01 10:00", "2026-06-01 12:00"
		}
		maps.Copy(out, row.pair)
		return out
	}
	with := func(o obj, field string, value any) obj {
		out := obj{field: value}
		for name, other := range o {
			if name != field {
				out[name] = other
			}
		}
		return out
	}
	for i := range rows {
		row := &rows[i]
		kind, collection := row.kind, "/"+row.kind.Collection()
		f := calendar.SpecOf(kind).Field(row.field)
		if covered[kind] == nil {
			covered[kind] = map[string]bool{}
		}
		covered[kind][row.field] = true
		fresh := base(kind, row)
		if row.empty == "clears" { // coordinates go together
			for name := range row.pair {
				delete(fresh, name)
			}
		}
		delete(fresh, row.field)
		if f.Required {
			fresh[row.field] = base(kind, row)[row.field]
		}
		there := editor.Post(collection, fresh).Want(http.StatusCreated)
		path := there.Path()
		name := func(what string, value any) string {
			text := fmt.Sprintf("%s %s %s %#v", kind, row.field, what, value)
			return text[:min(len(text), 200)]
		}
		for _, value := range row.good {
			if got := editor.Post(collection, with(base(kind, row), row.field, value)); !taken(got) {
				t.Errorf("%s: %d %s", name("create", value), got.Status, got.Body)
			}
			if got := editor.Do(http.MethodPatch, path, with(row.pair, row.field, value)); got.Status != http.StatusOK {
				t.Errorf("%s: %d %s", name("update", value), got.Status, got.Body)
			}
		}
		head := w.Head()
		refused := func(what string, value any, got *world.Response) {
			t.Helper()
			params, _ := got.Lookup("data.params")
			named, _ := params.(map[string]any)
			if got.Status != http.StatusBadRequest || got.String("code") != "rest_invalid_param" || len(named) != 1 || named[row.field] == nil {
				t.Errorf("%s: %d %s", name(what, value), got.Status, got.Body)
			}
		}
		for _, value := range row.bad {
			refused("create", value, editor.Post(collection, with(base(kind, row), row.field, value)))
			refused("update", value, editor.Do(http.MethodPatch, path, with(row.pair, row.field, value)))
		}
		if w.Head() != head {
			t.Errorf("%s %s: a refused write left something", kind, row.field)
		}

		empties := append([]any{nil, "", " \u00a0\t"}, row.more...)
		for _, value := range empties {
			body := with(base(kind, row), row.field, value)
			set := with(row.pair, row.field, value)
			if row.empty == "clears" {
				for name := range row.pair {
					set[name], body[name] = value, value
				}
			}
			created := editor.Post(collection, body)
			updated := editor.Do(http.MethodPatch, path, set)
			switch {
			case value == nil && f.Required:
				if created.Status != http.StatusBadRequest || created.String("code") != "rest_missing_callback_param" {
					t.Errorf("%s: %d %s", name("create", value), created.Status, created.Body)
				}
				refused("update", value, updated)
			case row.empty == "400", row.empty == "null" && value != nil:
				refused("create", value, created)
				refused("update", value, updated)
			default:
				if created.Status != http.StatusCreated || updated.Status != http.StatusOK {
					t.Errorf("%s: create %d, update %d\n%s\n%s", name("", value), created.Status, updated.Status, created.Body, updated.Body)
				} else if row.empty == "clears" {
					want := there.Get(".").(map[string]any)
					for _, got := range []*world.Response{created, updated} {
						if a, b := shown(got.Get("."), row.field), shown(want, row.field); !reflect.DeepEqual(a, b) {
							t.Errorf("%s: %s shows %v, want %v", name("", value), got.Request, a, b)
						}
					}
				}
			}
		}
	}
	for _, kind := range calendar.Kinds {
		for _, f := range calendar.SpecOf(kind).Fields {
			if f.Form != calendar.FormNone && !covered[kind][f.Name] && f.Name != "password" {
				t.Errorf("no row for %s %s", kind, f.Name)
			}
		}
	}
}

// taken reports whether a create passed the checks of its fields: the name of a
// term that exists is looked for after them.
func taken(got *world.Response) bool {
	return got.Status == http.StatusCreated || got.Has("data.term_id")
}

// shown is what an answer shows of a field, the record's own name and address
// aside.
func shown(answer any, field string) any {
	o := answer.(map[string]any)
	switch field {
	case "slug":
		return o["slug"] != ""
	case "categories", "tags": // their counts grow
		var ids []any
		for _, term := range o[field].([]any) {
			ids = append(ids, term.(map[string]any)["id"])
		}
		return ids
	}
	if field == "website" && o["website"] == o["url"] {
		return "its own page"
	}
	return o[field]
}
