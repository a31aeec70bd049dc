package elastic

import (
	"testing"

	"daybook/calendar"
)

// A document holds each word as it is, its stem in the language of its text, and joined
// with the word behind it.
func TestTexts(t *testing.T) {
	t.Parallel()
	record := func(home calendar.Lang, name, excerpt calendar.Text) *calendar.Record {
		return &calendar.Record{Kind: calendar.KindOrganizer, Home: home, Fields: calendar.Fields{"organizer": name, "excerpt": excerpt}}
	}
	for _, c := range []struct {
		name string
		of   *calendar.Record
		want string
	}{
		{
			"alike in every language", record(calendar.LangEN, calendar.Text{calendar.LangEN: "Running Nations"}, calendar.Text{calendar.LangEN: "5月 音乐/会 x"}),
			`{"name.any":"^ Wrunning Erun Jrunningnations Wnations Enation $",` +
				`"rows.any":["Wrunning Erun Jrunningnations Wnations Enation","W5 E5 _ W月 W| W音 W乐 W| W会 Wx Ex"]}`,
		},
		{
			"translated", record(calendar.LangFR, calendar.Text{calendar.LangFR: "nations", calendar.LangES: "!"}, calendar.Text{calendar.LangEN: "nations"}),
			`{"name.cn":"^ Wnations Fnation $","name.en":"^ Wnations Fnation $","name.fr":"^ Wnations Fnation $",` +
				`"rows.cn":["Wnations Fnation"],"rows.en":["Wnations Fnation","Wnations Enation"],"rows.fr":["Wnations Fnation"]}`,
		},
		{"without a word", record(calendar.LangCN, calendar.Text{calendar.LangCN: "!"}, calendar.Text{}), "{}"},
	} {
		for range 2 { // the second time from the cache
			fields := object{}
			addTexts(fields, c.of)
			if got := string(encode(fields)); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
		}
	}
}
