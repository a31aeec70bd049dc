package calendar_test

import (
	"encoding/json"
	"fmt"
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
func decode(tb testing.TB, kind calendar.Kind, body string, op calendar.Op, caller calendar.Caller) (*calendar.Attrs, []calendar.FieldError) {
	tb.Helper()
	var problems calendar.Problems
	attrs := calendar.SpecOf(kind).Decode(input(tb, body), op, calendar.LangFR, &calendar.Decision{Rules: rules, Now: now, Caller: caller}, &problems)
	return attrs, problems.Fields
}

// input reads JSON text as it is sent.
func input(tb testing.TB, body string) calendar.Input {
	tb.Helper()
	var input calendar.Input
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&input); err != nil {
		tb.Fatalf("%s: %v", body, err)
	}
	return input
}

// shown returns the type and the value of an attribute as the rows of decode.txt have them.
func shown(tb testing.TB, value any) string {
	tb.Helper()
	switch v := value.(type) {
	case nil:
		return "-"
	case calendar.Clear:
		return "cleared"
	case calendar.Zone:
		return "Zone " + v.Name
	case calendar.Date:
		return "Date " + v.Wall(now, time.UTC).String()
	}
	var builder strings.Builder
	encoder := json.NewEncoder(&builder)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		tb.Fatal(err)
	}
	return strings.ReplaceAll(fmt.Sprintf("%T %s", value, strings.TrimSpace(builder.String())), "calendar.", "")
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
			attrs, problems := decode(t, k, `{"`+field+`":`+row[1]+`}`, op, editor)
			got := shown(t, attrs.Set[field])
			delete(attrs.Set, field)
			if got != want || len(problems) > 0 || len(attrs.Set) > 0 || attrs.Lang != calendar.LangFR {
				t.Errorf("%s of %s, op %d: got %s, also %v in %s, %v; want %s", row[0], row[1], op, got, attrs.Set, attrs.Lang, problems, want)
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
		attrs, problems := decode(t, k, `{"`+field+`":`+row[1]+`}`, calendar.OpUpdate, calendar.Caller{ID: 7, Role: role})
		want := []calendar.FieldError{{Field: field}}
		for i, part := range strings.Split(row[2], " ; ") {
			if i == 0 {
				want[0].Reason = calendar.Reason(part)
			} else {
				want[0].Args = append(want[0].Args, part)
			}
		}
		if diff := cmp.Diff(want, problems); diff != "" || len(attrs.Set) > 0 {
			t.Errorf("%s of %.60s: kept %v, problems (-want +got):\n%s", row[0], row[1], attrs.Set, diff)
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
		for i, fieldError := range problems {
			got[i] = strings.Join(append([]string{fieldError.Field, string(fieldError.Reason)}, fieldError.Args...), " ")
		}
		if got := strings.Join(got, " ; "); got != row[2] {
			t.Errorf("%s of %s: got %q, want %q", row[0], row[1], got, row[2])
		}
	}
}

func TestDecodeLimitsOfLists(t *testing.T) {
	t.Parallel()
	numbers := func(n int) string {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprint(i + 1)
		}
		return strings.Join(texts, ",")
	}
	ranges := strings.Repeat(`"1 - 2",`, 5) + `"x"`
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf(`"%d - %d"`, i, i+1000)
	}
	for body, refused := range map[string]bool{
		`{"venue":[` + numbers(1000) + `]}`:                   false,
		`{"venue":"` + numbers(1001) + `"}`:                   true,
		`{"tags":"` + numbers(1000) + `"}`:                    false,
		`{"tags":[` + numbers(1001) + `]}`:                    true,
		`{"cost":[` + numbers(1000) + `]}`:                    false,
		`{"cost":[` + numbers(1001) + `]}`:                    true,
		`{"cost":[` + ranges + `]}`:                           false,
		`{"cost":[` + strings.Join(many, ",") + `]}`:          true,  // values
		`{"organizer":[` + strings.Repeat("5,", 1500) + `5]}`: false, // equal ones count once
	} {
		_, problems := decode(t, calendar.KindEvent, body, calendar.OpCreate, editor)
		if (len(problems) > 0) != refused || refused && problems[0].Reason != calendar.ReasonTooMany {
			t.Errorf("%.40s: refused %v, want %v: %v", body, !refused, refused, problems)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{"title":"a","start_date":"now","end_date":"+1 day","venue":[5,{"venue":"Hall"}],"organizer":"1,2","cost":["$5",10]}`,
		`{"title":5,"tags":[true,{},[],"x",7],"image":0,"featured":"on","website":"https://x.example","timezone":"utc"}`,
		`{"venue":{"id":{}},"organizer":{"organizer":{"organizer":1}},"cost":{"a":[]},"author":1e400,"geo_lat":"1e5"}`,
		`{"venue":{"venue":"a","slug":"-","image":"http://x","email":"a@b.c"},"password":"p","post_parent":false,"multilang_language":[]}`,
		`{"description":"<script>x</script>","excerpt":"\u0000","slug":"<b>","categories":"a,,b"}`,
	} {
		f.Add(text, uint8(0))
	}
	f.Fuzz(func(t *testing.T, body string, op uint8) {
		var input calendar.Input
		decoder := json.NewDecoder(strings.NewReader(body))
		decoder.UseNumber()
		if decoder.Decode(&input) != nil {
			return
		}
		for _, kind := range calendar.Kinds {
			var problems calendar.Problems
			spec := calendar.SpecOf(kind)
			attrs := spec.Decode(input, calendar.Op(op%3), calendar.LangEN, &calendar.Decision{Rules: rules, Now: now, Caller: editor}, &problems)
			for name, value := range attrs.Set {
				field := spec.Field(name)
				if field == nil || field.Form == calendar.FormNone {
					t.Fatalf("%s: %s is kept though it cannot be sent", kind, name)
				}
				if _, cleared := value.(calendar.Clear); cleared && op%3 == uint8(calendar.OpCreate) {
					t.Fatalf("%s: %s is cleared on create", kind, name)
				}
				if text, ok := value.(string); ok && (text == "" || field.Form != calendar.FormPassword && text != calendar.Plain(text)) {
					t.Fatalf("%s: %s is kept as %q", kind, name, text)
				}
			}
			for _, problem := range problems.Fields {
				if _, kept := attrs.Set[problem.Field]; kept && op%3 != uint8(calendar.OpCreate) {
					t.Fatalf("%s: %s is refused and kept", kind, problem.Field)
				}
				if texts.Messages["reason."+string(problem.Reason)] == (calendar.Text{}) {
					t.Fatalf("%s: %s is refused for %q", kind, problem.Field, problem.Reason)
				}
			}
		}
	})
}
