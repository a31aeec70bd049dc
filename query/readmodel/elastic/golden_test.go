package elastic

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// TestDefinitions: the mapping of records has the fields of all schemas, and no others. A
// change of it is a change of layoutVersion.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	var o Options
	if err := o.fill(); err != nil {
		t.Fatal(err)
	}
	var made struct {
		Mappings struct {
			Properties map[string]struct{ Type string }
		}
		Aliases map[string]any
	}
	if err := json.Unmarshal(definition(&o, "events", "alias"), &made); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{fieldBody: "text", fieldDeleted: "boolean"}
	for _, slot := range append([]string{slotAny}, calendar.LangNames()...) {
		want[fieldRows+slot], want[fieldName+slot] = "text", "text"
	}
	for _, k := range calendar.Kinds {
		for _, f := range readmodel.SchemaOf(k).Fields {
			switch f.Type {
			case readmodel.TypeKeyword:
				want[f.Name] = "keyword"
			case readmodel.TypeNumber:
				want[f.Name] = "long"
			case readmodel.TypeText:
			}
		}
	}
	got := map[string]string{}
	for name, about := range made.Mappings.Properties {
		got[name] = about.Type
	}
	if diff := cmp.Diff(want, got); diff != "" || len(made.Aliases) != 1 {
		t.Errorf("aliases %v; fields (-schemas +indices.json):\n%s", made.Aliases, diff)
	}
}
