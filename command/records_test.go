package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{op: "delete tag", on: "gone", by: editor},
		{op: "update venue", on: "b", by: editor, lang: "fr", in: `{"venue":"Salle"}`},
		organizer("o", `{"organizer":"T","image":"https://a.example/i.png"}`),
	} {
		bench.must(w)
	}
	records := bench.Records()
	ctx := t.Context()

	for range 2 { // the second time from the cache
		got, err := records.Load(ctx, bench.named["t"], 999, bench.named["gone"], bench.named["a"])
		if err != nil {
			t.Fatal(err)
		}
		if text := cmp.Diff([]calendar.ID{bench.named["t"], 0, 0, bench.named["a"]}, ids(got)); text != "" {
			t.Errorf("Load (-want +got):\n%s", text)
		}
	}
	bench.must(write{op: "update venue", on: "a", by: editor, in: `{"city":"Paris"}`})
	if got, err := records.Load(ctx, bench.named["a"]); err != nil || got[0].Version != 2 || got[0].Fields.String("city") != "Paris" {
		t.Errorf("Load after an update: %+v, %v", got, err)
	}

	for _, c := range []struct {
		kind calendar.Kind
		slug string
		want calendar.ID
	}{
		{calendar.KindVenue, "hall", bench.named["a"]},
		{calendar.KindVenue, "HALL-2", bench.named["b"]},
		{calendar.KindTag, "hall", bench.named["t"]},
		{calendar.KindTag, "gone", 0},
		{calendar.KindEvent, "hall", 0},
		{calendar.KindVenue, "", 0},
		{calendar.KindUser, "editor", 0},
		{calendar.KindImage, "https://a.example/i.png", 0},
	} {
		got, err := records.BySlug(ctx, c.kind, c.slug)
		if err != nil {
			t.Fatal(err)
		}
		if id := ids([]*calendar.Record{got})[0]; id != c.want {
			t.Errorf("BySlug(%s, %q) = %d, want %d", c.kind, c.slug, id, c.want)
		}
	}

	for _, c := range []struct {
		kind calendar.Kind
		lang calendar.Lang
		name string
		want []calendar.ID
	}{
		{calendar.KindVenue, calendar.LangEN, " hall", []calendar.ID{bench.named["a"], bench.named["b"]}},
		{calendar.KindVenue, calendar.LangFR, "Hall", []calendar.ID{bench.named["a"]}},
		{calendar.KindVenue, calendar.LangFR, "SALLE", []calendar.ID{bench.named["b"]}},
		{calendar.KindVenue, calendar.LangEN, "Salle", nil},
		{calendar.KindTag, calendar.LangEN, "gone", nil},
		{calendar.KindTag, calendar.LangEN, "", nil},
		{calendar.KindUser, calendar.LangEN, "editor", nil},
	} {
		got, err := records.ByName(ctx, c.kind, c.lang, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if text := cmp.Diff(c.want, ids(got)); text != "" {
			t.Errorf("ByName(%s, %s, %q) (-want +got):\n%s", c.kind, c.lang, c.name, text)
		}
	}
	if position, err := records.Head(ctx); err != nil || position != bench.head() {
		t.Errorf("Head = %d, %v", position, err)
	}
}
