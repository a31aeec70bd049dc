package httpapi

import (
	"testing"

	"daybook/calendar"
	"daybook/query"
)

// TestTagsNameTheContent: tags and keys differ with all that an answer depends on and that no
// version tells: the content, the settings, the state of the read model.
func TestTagsNameTheContent(t *testing.T) {
	t.Parallel()
	a := &api{}
	view := func(sum uint64) *query.View {
		return &query.View{Record: &calendar.Record{ID: 1, Kind: calendar.KindEvent, Version: 2, Sum: sum}, Mark: 7}
	}
	root := rootOf(origin{"https://x", "x", ""}, mountOf(calendar.LangEN, "api", Namespace), 0)
	settings := rootOf(origin{"https://x", "x", ""}, mountOf(calendar.LangEN, "api", Namespace), 7)
	lang := calendar.LangEN
	tags := map[string]bool{
		a.recordTag(&root, lang, view(1), nil): true, a.recordTag(&root, lang, view(3), nil): true, a.recordTag(&settings, lang, view(1), nil): true,
		a.recordTag(&root, lang, view(1), []string{"id"}): true, a.recordTag(&root, lang, view(1), []string{"id", "name"}): true,
	}
	c := &call{route: &route{Kind: calendar.KindEvent}, root: root}
	shown := shownAt(3)
	lost, healed := shown, shown
	lost.Hash[31] = 1
	healed.Content = 1
	keys := map[string]bool{}
	for _, generation := range []query.Generation{{VisibleState: shown}, {VisibleState: lost}, {VisibleState: healed}, {VisibleState: shown, Due: 1}} {
		keys[c.key(answerKey, generation, 0, nil)] = true
	}
	if len(tags) != 5 || len(keys) != 4 {
		t.Errorf("%d tags of five answers, %d keys of four states", len(tags), len(keys))
	}
}
