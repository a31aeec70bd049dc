package command_test

import (
	"slices"
	"testing"

	"daybook/calendar"
	"daybook/command"
	"daybook/query"
)

var _ query.Records = (*command.Records)(nil)

func ids(records []*calendar.Record) []calendar.ID {
	var out []calendar.ID
	for _, record := range records {
		if record == nil {
			out = append(out, 0)
			continue
		}
		out = append(out, record.ID)
	}
	return out
}

func TestRecords(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	for _, w := range []write{
		venue("a", `{"venue":"Hall"}`), venue("b", `{"venue":"HALL","city":"Rome"}`), term("tag", "t", `{"name":"Hall"}`),
		term("tag", "gone", `{"name":"Gone"}`),
		{op: "delete tag", on: "gone", caller: editor},
		{op: "update venue", on: "b", caller: editor, lang: "fr", in: `{"venue":"Salle"}`},
		organizer("o", `{"organizer":"T","image":"https://a.example/i.png"}`),
	} {
		bench.must(w)
	}
	records := bench.Records()
	ctx := t.Context()

	for range 2 { // the second time from the cache
		got, err := records.Load(ctx, bench.named["t"], 999, bench.named["gone"], bench.named["a"])
		if want := []calendar.ID{bench.named["t"], 0, 0, bench.named["a"]}; err != nil || !slices.Equal(ids(got), want) {
			t.Errorf("Load: got %d, %v, want %d", ids(got), err, want)
		}
	}
	bench.must(write{op: "update venue", on: "a", caller: editor, in: `{"city":"Paris"}`})
	if got, err := records.Load(ctx, bench.named["a"]); err != nil || got[0].Version != 2 || got[0].Fields.String("city") != "Paris" {
		t.Errorf("Load after an update: %+v, %v", got, err)
	}

	// What it finds for requests is proved by internal/e2e.
	for slug, want := range map[string]calendar.ID{"HALL-2": bench.named["b"], "gone": 0, "": 0} {
		if got, err := records.BySlug(ctx, calendar.KindVenue, slug); err != nil || ids([]*calendar.Record{got})[0] != want {
			t.Errorf("BySlug(%q) = %v, %v, want %d", slug, got, err, want)
		}
	}
	for name, want := range map[string][]calendar.ID{"en: hall": {bench.named["a"], bench.named["b"]}, "fr:Hall": {bench.named["a"]}, "fr:SALLE": {bench.named["b"]}, "en:Salle": nil, "en:": nil} {
		lang, _ := calendar.ParseLang(name[:2])
		if got, err := records.ByName(ctx, calendar.KindVenue, lang, name[3:]); err != nil || !slices.Equal(ids(got), want) {
			t.Errorf("ByName(%s) = %d, %v, want %d", name, ids(got), err, want)
		}
	}
	if position, err := records.Head(ctx); err != nil || position != bench.head() {
		t.Errorf("Head = %d, %v", position, err)
	}
}
