package calendar_test

import (
	"encoding/json"
	"fmt"
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
	now    = time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
)

// decode reads an input of JSON text.
func decode(tb testing.TB, k calendar.Kind, body string, op calendar.Op, c calendar.Caller) (*calendar.Attrs, []calendar.FieldError) {
	tb.Helper()
	var p calendar.Problems
	a := calendar.SpecOf(k).Decode(input(tb, body), op, calendar.LangFR, &calendar.Decision{Rules: rules, Now: now, Caller: c}, &p)
	return a, p.Fields
}

// input reads JSON text as it is sent.
func input(tb testing.TB, body string) calendar.Input {
	tb.Helper()
	var in calendar.Input
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return in
}

// shown returns the type and the value of an attribute as the rows of decode.txt have them.
func shown(tb testing.TB, v any) string {
	tb.Helper()
	switch v := v.(type) {
	case nil:
		return "-"
	case calendar.Clear:
		return "cleared"
	case calendar.Zone:
		return "Zone " + v.Name
	case calendar.Date:
		return "Date " + v.Wall(now, time.UTC).String()
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		tb.Fatal(err)
	}
	return strings.ReplaceAll(fmt.Sprintf("%T %s", v, strings.TrimSpace(b.String())), "calendar.", "")
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	for _, row := range calendar.ReadRows(t, "decode.txt", "accepted", 3) {
		kind, field, _ := strings.Cut(row[0], ".")
		k, _ := calendar.ParseKind(kind)
		for _, op := range []calendar.Op{calendar.OpUpdate, calendar.OpUpdateBySlug, calendar.OpCreate} {
			want := row[2]
			if op == calendar.OpCreate && strings.HasPrefix(field, "geo_") {
				continue // a new venue has both or none
			}
			if op == calendar.OpCreate && want == "cleared" || op == calendar.OpUpdateBySlug && field == "password" {
				want = "-"
			}
			a, problems := decode(t, k, `{"`+field+`":`+row[1]+`}`, op, editor)
			got := shown(t, a.Set[field])
			delete(a.Set, field)
			if got != want || len(problems) > 0 || len(a.Set) > 0 || a.Lang != calendar.LangFR {
				t.Errorf("%s of %s, op %d: got %s, also %v in %s, %v; want %s", row[0], row[1], op, got, a.Set, a.Lang, problems, want)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range calendar.ReadRows(t, "decode.txt", "refused", 3) {
		words := append([]string{"editor"}, strings.Fields(row[0])...)
		kind, field, _ := strings.Cut(words[len(words)-1], ".")
		k, _ := calendar.ParseKind(kind)
		role, _ := calendar.ParseRole(words[len(words)-2])
		a, problems := decode(t, k, `{"`+field+`":`+row[1]+`}`, calendar.OpUpdate, calendar.Caller{ID: 7, Role: role})
		want := []calendar.FieldError{{Field: field}}
		for i, part := range strings.Split(row[2], " ; ") {
			if i == 0 {
				want[0].Reason = calendar.Reason(part)
			} else {
				want[0].Args = append(want[0].Args, part)
			}
		}
		if diff := cmp.Diff(want, problems); diff != "" || len(a.Set) > 0 {
			t.Errorf("%s of %.60s: kept %v, problems (-want +got):\n%s", row[0], row[1], a.Set, diff)
		}
	}
}

func TestDecodeChecksValuesTogether(t *testing.T) {
	t.Parallel()
	for _, row := range calendar.ReadRows(t, "decode.txt", "together", 3) {
		verb, kind, _ := strings.Cut(row[0], " ")
		k, _ := calendar.ParseKind(kind)
		op := calendar.OpCreate
		if verb == "update" {
			op = calendar.OpUpdate
		}
		_, problems := decode(t, k, row[1], op, editor)
		got := make([]string, len(problems))
		for i, f := range problems {
			got[i] = strings.Join(append([]string{f.Field, string(f.Reason)}, f.Args...), " ")
		}
		if got := strings.Join(got, " ; "); got != row[2] {
			t.Errorf("%s of %s: got %q, want %q", row[0], row[1], got, row[2])
		}
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
			a := spec.Decode(in, calendar.Op(op%3), calendar.LangEN, &calendar.Decision{Rules: rules, Now: now, Caller: editor}, &p)
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
				if _, kept := a.Set[problem.Field]; kept && op%3 != uint8(calendar.OpCreate) {
					t.Fatalf("%s: %s is refused and kept", k, problem.Field)
				}
				if texts.Messages["reason."+string(problem.Reason)] == (calendar.Text{}) {
					t.Fatalf("%s: %s is refused for %q", k, problem.Field, problem.Reason)
				}
			}
		}
	})
}
