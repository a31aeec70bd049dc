package history

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"daybook/calendar"
)

// HISTORY 20.21: the patch turns one record into the other, both directions; one
// operation for a field, one for a language of a text that is there on both sides.
func TestPatch(t *testing.T) {
	t.Parallel()
	text := func(en, fr string) calendar.Text { return calendar.Text{calendar.LangEN: en, calendar.LangFR: fr} }
	from := bare(calendar.KindEvent, calendar.Fields{
		"title": text("A", "B"), "description": text("x", ""), "venue": []calendar.ID{1, 2}, "all_day": true, "image": calendar.ID(3),
		"start_date": calendar.Wall(0), "protected": true, "cost": []string{"5"},
	})
	record := bare(calendar.KindEvent, calendar.Fields{
		"title": text("A2", ""), "excerpt": text("", "y"), "venue": []calendar.ID{2, 1}, "all_day": false,
		"start_date": calendar.Wall(0), "cost": []string{"5"}, "slug": "a",
	})
	var ops []string
	for _, operation := range Patch(MembersOf(from), MembersOf(record)) {
		ops = append(ops, operation.Op+" "+operation.Path)
	}
	if got, want := strings.Join(ops, ", "), "replace /all_day, remove /description, add /excerpt, remove /image, add /slug, replace /title/en, remove /title/fr, replace /venue"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, pair := range [][2]*calendar.Record{{from, record}, {record, from}, {nil, record}, {from, nil}, {from, from}} {
		got := applyPatch(t, object(t, pair[0]), Patch(MembersOf(pair[0]), MembersOf(pair[1])))
		if want := object(t, pair[1]); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	}
	if ops := Patch(MembersOf(from), MembersOf(from)); ops == nil || len(ops) > 0 {
		t.Errorf("no difference: got %v", ops)
	}
	if names := FieldNames(calendar.KindUser); !slices.Equal(names, []string{"name", "role"}) {
		t.Errorf("fields of users: %v", names)
	}
}

// object returns the record of HISTORY 9 as JSON reads it.
func object(t *testing.T, record *calendar.Record) map[string]any {
	t.Helper()
	out := map[string]any{}
	for name, value := range MembersOf(record) {
		out[name] = jsonOf(t, value)
	}
	return out
}

func jsonOf(t *testing.T, value any) (out any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// applyPatch is RFC 6902 for objects of objects.
func applyPatch(t *testing.T, in map[string]any, ops []Operation) map[string]any {
	t.Helper()
	for _, operation := range ops {
		at := in
		path := strings.Split(operation.Path, "/")[1:]
		for _, name := range path[:len(path)-1] {
			at, _ = at[name].(map[string]any)
		}
		last := path[len(path)-1]
		_, there := at[last]
		switch {
		case at == nil, there != (operation.Op != "add"):
			t.Fatalf("%s %s does not fit", operation.Op, operation.Path)
		case operation.Op == "remove":
			delete(at, last)
		default:
			at[last] = jsonOf(t, operation.Value)
		}
	}
	return in
}
