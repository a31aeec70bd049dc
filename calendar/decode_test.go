package calendar_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/internal/htmltext"
	"daybook/internal/texts"
)

var (
	rules  = &calendar.Rules{Site: time.UTC, Clean: htmltext.New()}
	editor = calendar.Caller{ID: 7, Role: calendar.Editor}
)

type (
	object = map[string]any
	list   = []any
)

// decode reads an input of JSON text.
func decode(tb testing.TB, k calendar.Kind, body string, op calendar.Op, c calendar.Caller) (*calendar.Attrs, []calendar.FieldError) {
	tb.Helper()
	var in calendar.Input
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	var p calendar.Problems
	a := calendar.SpecOf(k).Decode(in, op, calendar.LangFR, rules, c, &p)
	return a, p.Fields
}

func date(tb testing.TB, s string) calendar.Date {
	tb.Helper()
	d, ok := calendar.ParseDate(s)
	if !ok {
		tb.Fatalf("date %q", s)
	}
	return d
}

func zone(tb testing.TB, s string) calendar.Zone {
	tb.Helper()
	z, ok := calendar.ParseZone(s)
	if !ok {
		tb.Fatalf("zone %q", s)
	}
	return z
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	clears := calendar.Clear{}
	inline := func(kv ...any) *calendar.Attrs {
		a := &calendar.Attrs{Lang: calendar.LangFR, Set: map[string]any{}}
		for i := 0; i < len(kv); i += 2 {
			a.Set[kv[i].(string)] = kv[i+1]
		}
		return a
	}
	tests := []struct {
		kind  calendar.Kind
		field string
		sent  string // JSON of the value
		want  any    // nil: absent
	}{
		{calendar.KindEvent, "title", `"  Quay &amp; <b>co</b> "`, "Quay & co"},
		{calendar.KindEvent, "title", `"00"`, "00"},
		{calendar.KindEvent, "description", `" <p onclick=x>a</p><script>b</script> "`, "<p>a</p>"},
		{calendar.KindEvent, "description", `"<script>b</script>"`, clears},
		{calendar.KindEvent, "description", `null`, clears},
		{calendar.KindEvent, "description", `" \u00a0"`, clears},
		{calendar.KindEvent, "excerpt", `"a\nb"`, "a\nb"},
		{calendar.KindEvent, "slug", `" Ünïcode Slug "`, "Ünïcode Slug"},
		{calendar.KindEvent, "slug", `""`, clears},
		{calendar.KindEvent, "status", `"draft"`, calendar.StatusDraft},
		{calendar.KindEvent, "timezone", `"europe/rome"`, zone(t, "Europe/Rome")},
		{calendar.KindEvent, "timezone", `""`, clears},
		{calendar.KindEvent, "all_day", `"YES"`, true},
		{calendar.KindEvent, "all_day", `0`, false},
		{calendar.KindEvent, "start_date", `" Tomorrow  9am "`, date(t, "tomorrow 9am")},
		{calendar.KindEvent, "date", `"1904670000"`, date(t, "1904670000")},
		{calendar.KindEvent, "author", `7`, calendar.ID(7)},
		{calendar.KindEvent, "author", `"9"`, calendar.ID(9)},
		{calendar.KindEvent, "website", `" https://x.example/?a=1&amp;b=2 "`, "https://x.example/?a=1&b=2"},
		{calendar.KindEvent, "website", `"HTTP://münchen.example:8080/ü"`, "HTTP://münchen.example:8080/ü"},
		{calendar.KindEvent, "website", `null`, clears},
		{calendar.KindEvent, "password", `"secret \u0001x"`, "secret \u0001x"},
		{calendar.KindEvent, "password", `""`, clears},
		{calendar.KindEvent, "password", `null`, clears},
		{calendar.KindEvent, "post_parent", `"5"`, calendar.ID(5)},
		{calendar.KindEvent, "post_parent", `0`, clears},
		{calendar.KindEvent, "post_parent", `"0"`, clears},
		{calendar.KindEvent, "post_parent", `null`, clears},
		{calendar.KindEvent, "event_status", `" cancelled "`, "cancelled"},
		{calendar.KindEvent, "event_status", `"scheduled"`, clears},
		{calendar.KindEvent, "event_status", `""`, clears},
		{calendar.KindEvent, "event_status", `null`, clears},
		{calendar.KindEvent, "event_status_reason", `" Storm &amp; <b>flood</b> "`, "Storm & flood"},
		{calendar.KindEvent, "event_status_reason", `"<b></b>"`, clears},
		{calendar.KindCategory, "parent", `5.0`, calendar.ID(5)},
		{calendar.KindCategory, "parent", `0`, clears},

		{calendar.KindEvent, "image", `384`, calendar.ImageRef{ID: 384}},
		{calendar.KindEvent, "image", `" 384 "`, calendar.ImageRef{ID: 384}},
		{calendar.KindEvent, "image", `"https://img.example/a.jpg"`, calendar.ImageRef{URL: "https://img.example/a.jpg"}},
		{calendar.KindEvent, "image", `0`, clears},
		{calendar.KindEvent, "image", `"0"`, clears},
		{calendar.KindEvent, "image", `false`, clears},
		{calendar.KindEvent, "image", `"false"`, clears},
		{calendar.KindEvent, "image", `""`, clears},

		{calendar.KindEvent, "cost", `"$10"`, []string{"$10"}},
		{calendar.KindEvent, "cost", `10.50`, []string{"10.50"}},
		{calendar.KindEvent, "cost", `[" $5 ", 10, "", null, "<i>a</i> &amp; b"]`, []string{"$5", "10", "a & b"}},
		{calendar.KindEvent, "cost", `"1,000"`, []string{"1,000"}},
		{calendar.KindEvent, "cost", `[]`, clears},
		{calendar.KindEvent, "cost", `["", null]`, clears},
		{calendar.KindEvent, "cost", `null`, clears},

		{calendar.KindEvent, "categories", `[31, "31", " Jazz ", "", null, "Jazz"]`, []calendar.TermRef{{Entry: "31", ID: 31, Number: true}, {Entry: "31", ID: 31}, {Entry: "Jazz"}}},
		{calendar.KindEvent, "categories", `"jazz , 5,,folk"`, []calendar.TermRef{{Entry: "jazz"}, {Entry: "5", ID: 5}, {Entry: "folk"}}},
		{calendar.KindEvent, "tags", `["a,b"]`, []calendar.TermRef{{Entry: "a,b"}}},
		{calendar.KindEvent, "tags", `"0"`, []calendar.TermRef{{Entry: "0"}}},
		{calendar.KindEvent, "tags", `7`, []calendar.TermRef{{Entry: "7", ID: 7, Number: true}}},
		{calendar.KindEvent, "tags", `[]`, clears},
		{calendar.KindEvent, "tags", `""`, clears},
		{calendar.KindEvent, "tags", `null`, clears},

		{calendar.KindEvent, "venue", `5`, []calendar.Link{{Entry: "5", ID: 5}}},
		{calendar.KindEvent, "venue", `"5"`, []calendar.Link{{Entry: "5", ID: 5}}},
		{calendar.KindEvent, "venue", `[5, 6, "5", 5]`, []calendar.Link{{Entry: "5", ID: 5}, {Entry: "6", ID: 6}}},
		{calendar.KindEvent, "venue", `"5, 6"`, []calendar.Link{{Entry: "5", ID: 5}, {Entry: "6", ID: 6}}},
		{calendar.KindEvent, "venue", `{"id":5,"venue":7,"website":"bad"}`, []calendar.Link{{Entry: `{"id":5,"venue":7,"website":"bad"}`, ID: 5}}},
		{calendar.KindEvent, "venue", `[{"id":"5"}]`, []calendar.Link{{Entry: `{"id":"5"}`, ID: 5}}},
		{calendar.KindEvent, "venue", `{"venue":" Hall ","city":"","geo_lat":"1.5","unknown":1}`, []calendar.Link{{Entry: "Hall", Inline: inline("venue", "Hall", "geo_lat", 1.5)}}},
		{calendar.KindEvent, "organizer", `[9, {"id":null,"organizer":"Trust","email":"a@b.example"}, "", null, {}, [], 0, "0"]`, []calendar.Link{{Entry: "9", ID: 9}, {Entry: "Trust", Inline: inline("organizer", "Trust", "email", "a@b.example")}}},
		{calendar.KindEvent, "venue", `[]`, clears},
		{calendar.KindEvent, "venue", `{}`, clears},
		{calendar.KindEvent, "venue", `0`, clears},
		{calendar.KindEvent, "venue", `"0"`, clears},
		{calendar.KindEvent, "venue", `""`, clears},
		{calendar.KindEvent, "venue", `null`, clears},
		{calendar.KindEvent, "venue", `[{}, 0, ""]`, clears},

		{calendar.KindVenue, "address", `" 12  Quay\tSt &amp; <b>more</b> "`, "12 Quay St & more"},
		{calendar.KindVenue, "zip", `"<b></b>"`, clears},
		{calendar.KindVenue, "show_map", `true`, true},
		{calendar.KindVenue, "show_map", `"no"`, false},
		{calendar.KindVenue, "show_map", `""`, clears},
		{calendar.KindVenue, "geo_lat", `"-90"`, -90.0},
		{calendar.KindVenue, "geo_lng", `180`, 180.0},
		{calendar.KindVenue, "geo_lng", `""`, clears},
		{calendar.KindVenue, "website", `"https://x.example/?a=1&amp;b=2"`, "https://x.example/?a=1&amp;b=2"},
		{calendar.KindOrganizer, "email", `" o'brien+x@mail.bücher.example "`, "o'brien+x@mail.bücher.example"},
		{calendar.KindOrganizer, "author", `null`, nil},
		{calendar.KindOrganizer, "date", `null`, nil},
		{calendar.KindOrganizer, "status", `null`, nil},
		{calendar.KindEvent, "multilang_language", `"es"`, nil},
		{calendar.KindEvent, "rest_url", `"x"`, nil},
		{calendar.KindEvent, "modified", `"x"`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.kind.String()+"/"+tt.field+"/"+tt.sent, func(t *testing.T) {
			t.Parallel()
			for _, op := range []calendar.Op{calendar.OpUpdate, calendar.OpUpdateBySlug, calendar.OpCreate} {
				want := map[string]any{}
				absent := tt.want == nil || op == calendar.OpCreate && tt.want == any(clears) || op == calendar.OpUpdateBySlug && tt.field == "password"
				if !absent {
					want[tt.field] = tt.want
				}
				a, problems := decode(t, tt.kind, `{"`+tt.field+`":`+tt.sent+`}`, op, editor)
				if len(problems) > 0 {
					t.Fatalf("op %d refuses it: %v", op, problems)
				}
				if a.Lang != calendar.LangFR {
					t.Errorf("op %d: language %s", op, a.Lang)
				}
				if diff := cmp.Diff(want, a.Set); diff != "" {
					t.Errorf("op %d (-want +got):\n%s", op, diff)
				}
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1001)
	contributor := calendar.Caller{ID: 7, Role: calendar.Contributor}
	author := calendar.Caller{ID: 7, Role: calendar.Author}
	tests := []struct {
		kind   calendar.Kind
		field  string
		sent   string
		caller calendar.Caller
		want   calendar.Reason
		args   []string
	}{
		{calendar.KindEvent, "title", `"0"`, editor, calendar.ReasonZero, nil},
		{calendar.KindEvent, "title", `"<i>0</i>"`, editor, calendar.ReasonZero, nil},
		{calendar.KindEvent, "title", `"<p></p>"`, editor, calendar.ReasonNothingLeft, nil},
		{calendar.KindEvent, "title", `""`, editor, calendar.ReasonEmpty, nil},
		{calendar.KindEvent, "title", `" \u3000"`, editor, calendar.ReasonEmpty, nil},
		{calendar.KindEvent, "title", `null`, editor, calendar.ReasonEmpty, nil},
		{calendar.KindEvent, "title", `5`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "title", `["a"]`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "title", `"` + long + `"`, editor, calendar.ReasonTooLong, []string{"1000"}},
		{calendar.KindEvent, "description", `true`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "description", `{}`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "description", `"` + strings.Repeat("a", 200001) + `"`, editor, calendar.ReasonTooLong, []string{"200000"}},
		{calendar.KindEvent, "slug", `"🎉 !"`, editor, calendar.ReasonSlug, nil},
		{calendar.KindEvent, "slug", `7`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "status", `"trash"`, editor, calendar.ReasonStatus, []string{"publish, future, draft, pending, private"}},
		{calendar.KindEvent, "status", `"any"`, editor, calendar.ReasonStatus, []string{"publish, future, draft, pending, private"}},
		{calendar.KindEvent, "status", `""`, editor, calendar.ReasonEmpty, nil},
		{calendar.KindEvent, "timezone", `"CEST"`, editor, calendar.ReasonZone, nil},
		{calendar.KindEvent, "timezone", `5`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "all_day", `"maybe"`, editor, calendar.ReasonTypeBool, nil},
		{calendar.KindEvent, "all_day", `2`, editor, calendar.ReasonTypeBool, nil},
		{calendar.KindEvent, "all_day", `""`, editor, calendar.ReasonTypeBool, nil},
		{calendar.KindEvent, "all_day", `null`, editor, calendar.ReasonTypeBool, nil},
		{calendar.KindEvent, "featured", `[true]`, editor, calendar.ReasonTypeBool, nil},
		{calendar.KindEvent, "start_date", `"soonish"`, editor, calendar.ReasonDate, nil},
		{calendar.KindEvent, "start_date", `1904670000`, editor, calendar.ReasonTypeDate, nil},
		{calendar.KindEvent, "start_date", `""`, editor, calendar.ReasonEmpty, nil},
		{calendar.KindEvent, "end_date", `"2026-02-30"`, editor, calendar.ReasonDate, nil},
		{calendar.KindEvent, "author", `"foo"`, editor, calendar.ReasonTypeInteger, nil},
		{calendar.KindEvent, "author", `""`, editor, calendar.ReasonTypeInteger, nil},
		{calendar.KindEvent, "author", `null`, editor, calendar.ReasonTypeInteger, nil},
		{calendar.KindEvent, "author", `0`, editor, calendar.ReasonUnknownUser, []string{"0"}},
		{calendar.KindEvent, "author", `9`, author, calendar.ReasonOtherAuthor, nil},
		{calendar.KindOrganizer, "author", `""`, editor, calendar.ReasonTypeInteger, nil},
		{calendar.KindOrganizer, "date_utc", `""`, editor, calendar.ReasonEmpty, nil},
		{calendar.KindEvent, "image", `"384x"`, editor, calendar.ReasonImage, nil},
		{calendar.KindEvent, "image", `"/a.jpg"`, editor, calendar.ReasonImage, nil},
		{calendar.KindEvent, "image", `2.5`, editor, calendar.ReasonImage, nil},
		{calendar.KindEvent, "image", `true`, editor, calendar.ReasonTypeImage, nil},
		{calendar.KindEvent, "image", `{"id":384}`, editor, calendar.ReasonTypeImage, nil},
		{calendar.KindEvent, "image", `"https://img.example/a.jpg"`, contributor, calendar.ReasonImageURLRight, nil},
		{calendar.KindEvent, "image", `"https://img.example/` + strings.Repeat("a", 2000) + `"`, editor, calendar.ReasonTooLong, []string{"2000"}},
		{calendar.KindEvent, "image", `"99999999999999999999"`, editor, calendar.ReasonUnknownImage, []string{"99999999999999999999"}},
		{calendar.KindEvent, "cost", `true`, editor, calendar.ReasonTypeCost, nil},
		{calendar.KindEvent, "cost", `{"a":1}`, editor, calendar.ReasonTypeCost, nil},
		{calendar.KindEvent, "cost", `[["5"]]`, editor, calendar.ReasonTypeCost, nil},
		{calendar.KindEvent, "cost", `-5`, editor, calendar.ReasonCost, nil},
		{calendar.KindEvent, "website", `"ftp://x.example"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"x.example"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"//x.example"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"http://"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"http:///path"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"http://:80"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"http:x.example"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"https://x.example/a b"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"https://x.example/a\u00a0b"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"https://x.example/\"><script>"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `"javascript:alert(1)"`, editor, calendar.ReasonURL, nil},
		{calendar.KindEvent, "website", `5`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindVenue, "website", `"https://x.example/` + strings.Repeat("a", 2000) + `"`, editor, calendar.ReasonTooLong, []string{"2000"}},
		{calendar.KindVenue, "show_map", `"maybe"`, editor, calendar.ReasonTypeBool, nil},
		{calendar.KindVenue, "geo_lat", `90.5`, editor, calendar.ReasonRange, []string{"-90", "90"}},
		{calendar.KindVenue, "geo_lng", `"-180.1"`, editor, calendar.ReasonRange, []string{"-180", "180"}},
		{calendar.KindVenue, "geo_lng", `"x"`, editor, calendar.ReasonTypeNumber, nil},
		{calendar.KindVenue, "address", `5`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindVenue, "city", `"` + long + `"`, editor, calendar.ReasonTooLong, []string{"1000"}},
		{calendar.KindOrganizer, "email", `"a@b"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"a@b.example@c.example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"@b.example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"a b@c.example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"\"a\"@b.example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"a(x)@b.example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"A <a@b.example>"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"a@b..example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"a@-b.example"`, editor, calendar.ReasonEmail, nil},
		{calendar.KindOrganizer, "email", `"` + strings.Repeat("a", 250) + `@b.example"`, editor, calendar.ReasonTooLong, []string{"254"}},
		{calendar.KindEvent, "password", `"` + strings.Repeat("x", 256) + `"`, editor, calendar.ReasonTooLong, []string{"255"}},
		{calendar.KindEvent, "password", `5`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "event_status", `"Cancelled"`, editor, calendar.ReasonWord, []string{"scheduled, cancelled, postponed"}},
		{calendar.KindEvent, "event_status", `false`, editor, calendar.ReasonTypeText, nil},
		{calendar.KindEvent, "event_status_reason", `"` + long[:2*301] + `"`, editor, calendar.ReasonTooLong, []string{"300"}},
		{calendar.KindEvent, "post_parent", `"foo"`, editor, calendar.ReasonTypeInteger, nil},
		{calendar.KindEvent, "post_parent", `-5`, editor, calendar.ReasonUnknownEvent, []string{"-5"}},
		{calendar.KindCategory, "parent", `2.5`, editor, calendar.ReasonTypeInteger, nil},
		{calendar.KindCategory, "parent", `-1`, editor, calendar.ReasonUnknownCategory, []string{"-1"}},
		{calendar.KindEvent, "tags", `[{"id":5}]`, editor, calendar.ReasonEntry, []string{`{"id":5}`}},
		{calendar.KindEvent, "tags", `[["a"]]`, editor, calendar.ReasonEntry, []string{`["a"]`}},
		{calendar.KindEvent, "tags", `["a", true]`, editor, calendar.ReasonEntry, []string{"true"}},
		{calendar.KindEvent, "tags", `true`, editor, calendar.ReasonTypeTerms, nil},
		{calendar.KindEvent, "tags", `{"a":1}`, editor, calendar.ReasonTypeTerms, nil},
		{calendar.KindEvent, "tags", `[2.5]`, editor, calendar.ReasonEntry, []string{"2.5"}},
		{calendar.KindEvent, "tags", `[0]`, editor, calendar.ReasonUnknownTag, []string{"0"}},
		{calendar.KindEvent, "categories", `-4`, editor, calendar.ReasonUnknownCategory, []string{"-4"}},
		{calendar.KindEvent, "categories", `"<b></b>"`, editor, calendar.ReasonEntry, []string{"<b></b>"}},
		{calendar.KindEvent, "categories", `["` + long + `"]`, editor, calendar.ReasonTooLong, []string{"1000"}},
		{calendar.KindEvent, "venue", `"Hall"`, editor, calendar.ReasonEntry, []string{"Hall"}},
		{calendar.KindEvent, "venue", `["5,6"]`, editor, calendar.ReasonEntry, []string{"5,6"}},
		{calendar.KindEvent, "venue", `"5.0"`, editor, calendar.ReasonEntry, []string{"5.0"}},
		{calendar.KindEvent, "venue", `5.5`, editor, calendar.ReasonEntry, []string{"5.5"}},
		{calendar.KindEvent, "venue", `-5`, editor, calendar.ReasonUnknownVenue, []string{"-5"}},
		{calendar.KindEvent, "organizer", `"99999999999999999999"`, editor, calendar.ReasonUnknownOrganizer, []string{"99999999999999999999"}},
		{calendar.KindEvent, "venue", `true`, editor, calendar.ReasonTypeLinks, nil},
		{calendar.KindEvent, "venue", `[5, false]`, editor, calendar.ReasonEntry, []string{"false"}},
		{calendar.KindEvent, "venue", `[[5]]`, editor, calendar.ReasonEntry, []string{"[5]"}},
		{calendar.KindEvent, "venue", `{"city":"Rome"}`, editor, calendar.ReasonEntry, []string{`{"city":"Rome"}`}},
		{calendar.KindEvent, "venue", `{"venue":""}`, editor, calendar.ReasonEntry, []string{`{"venue":""}`}},
		{calendar.KindEvent, "venue", `{"id":"x","venue":"Hall"}`, editor, calendar.ReasonEntry, []string{`{"id":"x","venue":"Hall"}`}},
		{calendar.KindEvent, "venue", `[5,{"venue":"Hall","website":"bad"}]`, editor, calendar.ReasonInline, []string{"Hall", "website", "url"}},
		{calendar.KindEvent, "venue", `{"venue":7}`, editor, calendar.ReasonInline, []string{`{"venue":7}`, "venue", "type_text"}},
		{calendar.KindEvent, "venue", `{"venue":"Hall","geo_lat":91}`, editor, calendar.ReasonInline, []string{"Hall", "geo_lat", "range", "-90", "90"}},
		{calendar.KindEvent, "organizer", `{"organizer":"Trust","image":"https://x.example/a.jpg"}`, contributor, calendar.ReasonInline, []string{"Trust", "image", "image_url_right"}},
		{calendar.KindEvent, "organizer", `{"organizer":"Trust","multilang_language":"de"}`, editor, calendar.ReasonInline, []string{"Trust", "multilang_language", "not_in_enum", "cn, en, fr, es"}},
		{calendar.KindEvent, "multilang_language", `"de"`, editor, calendar.ReasonNotInEnum, []string{"cn, en, fr, es"}},
		{calendar.KindEvent, "multilang_language", `""`, editor, calendar.ReasonNotInEnum, []string{"cn, en, fr, es"}},
		{calendar.KindTag, "multilang_language", `null`, editor, calendar.ReasonNotInEnum, []string{"cn, en, fr, es"}},
	}
	for _, tt := range tests {
		t.Run(tt.kind.String()+"/"+tt.field+"/"+tt.sent[:min(len(tt.sent), 40)], func(t *testing.T) {
			t.Parallel()
			a, got := decode(t, tt.kind, `{"`+tt.field+`":`+tt.sent+`}`, calendar.OpUpdate, tt.caller)
			want := []calendar.FieldError{{Field: tt.field, Reason: tt.want, Args: tt.args}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if _, kept := a.Set[tt.field]; kept {
				t.Errorf("a refused value is kept: %#v", a.Set[tt.field])
			}
		})
	}
}

func TestDecodeLimitsOfLists(t *testing.T) {
	t.Parallel()
	numbers := func(n int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = fmt.Sprint(i + 1)
		}
		return strings.Join(s, ",")
	}
	ranges := strings.Repeat(`"1 - 2",`, 5) + `"x"`
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d - %d"`, i, i+1000)
	}
	tests := []struct {
		name, body string
		refused    bool
	}{
		{"links", `{"venue":[` + numbers(1000) + `]}`, false},
		{"too many links", `{"venue":"` + numbers(1001) + `"}`, true},
		{"terms", `{"tags":"` + numbers(1000) + `"}`, false},
		{"too many terms", `{"tags":[` + numbers(1001) + `]}`, true},
		{"costs", `{"cost":[` + numbers(1000) + `]}`, false},
		{"too many costs", `{"cost":[` + numbers(1001) + `]}`, true},
		{"ranges", `{"cost":[` + ranges + `]}`, false},
		{"too many cost values", `{"cost":[` + strings.Join(many, ",") + `]}`, true},
		{"equal ones count once", `{"organizer":[` + strings.Repeat("5,", 1500) + `5]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := decode(t, calendar.KindEvent, tt.body, calendar.OpCreate, editor)
			if refused := len(problems) > 0; refused != tt.refused {
				t.Fatalf("refused %v, want %v: %v", refused, tt.refused, problems)
			}
			if tt.refused && problems[0].Reason != calendar.ReasonTooMany {
				t.Errorf("reason %s", problems[0].Reason)
			}
		})
	}
}

// All bad fields are named at once, and the good ones are read all the same.
func TestDecodeNamesAllProblems(t *testing.T) {
	t.Parallel()
	a, problems := decode(t, calendar.KindEvent,
		`{"title":"Fair","website":"bad","featured":"maybe","start_date":"soonish","venue":"Hall","tags":["ok"]}`, calendar.OpCreate, editor)
	var names []string
	for _, p := range problems {
		names = append(names, p.Field)
	}
	slices.Sort(names)
	if want := []string{"featured", "start_date", "venue", "website"}; !slices.Equal(names, want) {
		t.Errorf("problems of %v, want %v", names, want)
	}
	if kept := slices.Sorted(maps.Keys(a.Set)); !slices.Equal(kept, []string{"tags", "title"}) {
		t.Errorf("kept %v", kept)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	spec := calendar.SpecOf(calendar.KindEvent)
	tests := []struct {
		in   calendar.Input
		want []string
	}{
		{calendar.Input{}, []string{"title", "start_date", "end_date"}},
		{calendar.Input{"title": nil, "start_date": "", "website": "x"}, []string{"title", "end_date"}},
		{calendar.Input{"title": "a", "start_date": "b", "end_date": json.Number("5")}, nil},
	}
	for _, tt := range tests {
		if got := spec.Missing(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("Missing(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   calendar.Input
		want calendar.Lang
		bad  bool
	}{
		{calendar.Input{}, calendar.LangES, false},
		{calendar.Input{"multilang_language": "cn"}, calendar.LangCN, false},
		{calendar.Input{"multilang_language": ""}, calendar.LangES, true},
		{calendar.Input{"multilang_language": "FR"}, calendar.LangES, true},
		{calendar.Input{"multilang_language": nil}, calendar.LangES, true},
		{calendar.Input{"multilang_language": json.Number("1")}, calendar.LangES, true},
	}
	for _, tt := range tests {
		var p calendar.Problems
		if got := calendar.Language(tt.in, calendar.LangES, &p); got != tt.want || (len(p.Fields) > 0) != tt.bad {
			t.Errorf("Language(%v) = %s, problems %v; want %s, %v", tt.in, got, p.Fields, tt.want, tt.bad)
		}
	}
}

// Form input comes as text and nested maps; it reads as JSON does.
func TestDecodeFormInput(t *testing.T) {
	t.Parallel()
	var p calendar.Problems
	a := calendar.SpecOf(calendar.KindEvent).Decode(calendar.Input{
		"featured": "on", "post_parent": "5", "cost": "10", "image": "3", "tags": list{"1", "a"},
		"venue":     object{"venue": "Hall", "show_map": "0"},
		"organizer": list{object{"organizer": "Trust"}},
	}, calendar.OpCreate, calendar.LangEN, rules, editor, &p)
	if len(p.Fields) > 0 {
		t.Fatal(p.Err())
	}
	en := calendar.LangEN
	want := map[string]any{
		"featured": true, "post_parent": calendar.ID(5), "cost": []string{"10"}, "image": calendar.ImageRef{ID: 3},
		"tags":      []calendar.TermRef{{Entry: "1", ID: 1}, {Entry: "a"}},
		"venue":     []calendar.Link{{Entry: "Hall", Inline: &calendar.Attrs{Lang: en, Set: object{"venue": "Hall", "show_map": false}}}},
		"organizer": []calendar.Link{{Entry: "Trust", Inline: &calendar.Attrs{Lang: en, Set: object{"organizer": "Trust"}}}},
	}
	if diff := cmp.Diff(want, a.Set); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"title":"a","start_date":"now","end_date":"+1 day","venue":[5,{"venue":"Hall"}],"organizer":"1,2","cost":["$5",10]}`,
		`{"title":5,"tags":[true,{},[],"x",7],"image":0,"featured":"on","website":"https://x.example","timezone":"utc"}`,
		`{"venue":{"id":{}},"organizer":{"organizer":{"organizer":1}},"cost":{"a":[]},"author":1e400,"geo_lat":"1e5"}`,
		`{"venue":{"venue":"a","slug":"-","image":"http://x","email":"a@b.c"},"password":"p","post_parent":false,"multilang_language":[]}`,
		`{"description":"<script>x</script>","excerpt":"\u0000","slug":"<b>","categories":"a,,b"}`,
	} {
		f.Add(s, uint8(0))
	}
	f.Fuzz(func(t *testing.T, body string, op uint8) {
		var in calendar.Input
		d := json.NewDecoder(strings.NewReader(body))
		d.UseNumber()
		if d.Decode(&in) != nil {
			return
		}
		for _, k := range calendar.Kinds {
			var p calendar.Problems
			spec := calendar.SpecOf(k)
			a := spec.Decode(in, calendar.Op(op%3), calendar.LangEN, rules, editor, &p)
			for name, v := range a.Set {
				field := spec.Field(name)
				if field == nil || field.Form == calendar.FormNone {
					t.Fatalf("%s: %s is kept though it cannot be sent", k, name)
				}
				if _, cleared := v.(calendar.Clear); cleared && op%3 == uint8(calendar.OpCreate) {
					t.Fatalf("%s: %s is cleared on create", k, name)
				}
				if s, ok := v.(string); ok && (s == "" || field.Form != calendar.FormPassword && s != calendar.Plain(s)) {
					t.Fatalf("%s: %s is kept as %q", k, name, s)
				}
			}
			for _, problem := range p.Fields {
				if _, kept := a.Set[problem.Field]; kept {
					t.Fatalf("%s: %s is refused and kept", k, problem.Field)
				}
				if texts.Messages["reason."+string(problem.Reason)] == (calendar.Text{}) {
					t.Fatalf("%s: %s is refused for %q", k, problem.Field, problem.Reason)
				}
			}
		}
	})
}
