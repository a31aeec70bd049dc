package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/query/readmodel"
	"daybook/query/readmodel/readmodeltest"
)

// What a document comes to does not depend on the documents before it.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	names := []string{"title", "description"}
	corpus := readmodeltest.NewCorpus(300, 7)
	full, small := newVocabulary(mostWords), newVocabulary(40)
	made := 0
	var records []*calendar.Record
	_ = corpus.Fill(func(b readmodel.Batch) error {
		for i := range b.Documents {
			records = append(records, b.Documents[i].Record)
		}
		return nil
	})
	for _, r := range records {
		if r.Deleted || r.Kind != calendar.KindEvent {
			continue
		}
		texts := []calendar.Text{r.Fields.Text("title"), r.Fields.Text("description")}
		for _, l := range calendar.Langs {
			want := newVocabulary(mostWords).appendSlot([]byte("{"), "x", names, texts, l, r.Home)
			made += len(want)
			if got := full.appendSlot([]byte("{"), "x", names, texts, l, r.Home); !bytes.Equal(got, want) {
				t.Fatalf("event %d in %s:\n got %s\nwant %s", r.ID, l, got, want)
			}
			got := small.appendSlot([]byte("{"), "x", names, texts, l, r.Home)
			if a, b := meaning(t, got), meaning(t, want); a != b {
				t.Fatalf("event %d in %s, with a small vocabulary:\n got %s\nwant %s", r.ID, l, a, b)
			}
		}
		if small.held > small.most {
			t.Fatalf("%d words are held, want at most %d", small.held, small.most)
		}
	}
	if made < 10_000 {
		t.Errorf("only %d bytes were made", made)
	}
}

// The same words have the stems of the language of their text, and are listed once for
// each field.
func TestVocabularyOfLanguages(t *testing.T) {
	t.Parallel()
	v := newVocabulary(mostWords)
	for range 2 {
		for l, want := range map[calendar.Lang]string{
			calendar.LangEN: `"aWrunning","aErun","aWnations","aEnation","bWrunning","bErun"`,
			calendar.LangFR: `"aWrunning","aFrunning","aWnations","aFnation","bWrunning","bFrunning"`,
			calendar.LangCN: `"aWrunning","aWnations","bWrunning"`,
		} {
			var title, description calendar.Text
			title[l], description[l] = "running nations running", "running"
			got := v.appendSlot(nil, "x", []string{"title", "description"}, []calendar.Text{title, description}, l, l)
			if want = fmt.Sprintf(`,"%sx":[%s]`, fieldWords, want); !bytes.HasSuffix(got, []byte(want)) {
				t.Errorf("%s: got %s, want %s at its end", l, got, want)
			}
		}
	}
}

// meaning is what fields say, whatever is told twice.
func meaning(t *testing.T, fields []byte) string {
	t.Helper()
	if len(fields) > 1 {
		fields = slices.Delete(fields, 1, 2) // the comma
	}
	var v map[string]any
	if err := json.Unmarshal(append(fields, '}'), &v); err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	for _, value := range v {
		if list, ok := value.([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return bytes.Compare([]byte(a.(string)), []byte(b.(string))) })
		}
	}
	for name, value := range v {
		if list, ok := value.([]any); ok {
			v[name] = slices.Compact(list)
		}
	}
	return fmt.Sprint(v)
}
