package param_test

import (
	"fmt"
	"strings"
	"testing"

	"daybook/calendar"
	"daybook/internal/param"
)

// asked is what a request of the table below asks for.
type asked struct {
	after        int64
	size         int
	flag         bool
	word         string
	words        []string
	lang         calendar.Lang
	id           calendar.ID
	title        string
	withoutValue bool
}

var table = param.Table[asked]{
	{Param: param.Param{Name: "after", Schema: map[string]any{"minimum": 0.0}}, Read: func(a *asked, value *param.Value) {
		if n, ok := value.Whole(); ok {
			a.after = n
		}
	}},
	{Param: param.Param{Name: "size", Default: "10", Schema: map[string]any{"minimum": 1.0, "maximum": 50.0}}, Read: func(a *asked, value *param.Value) {
		a.size = value.Int()
	}},
	{Param: param.Param{Name: "flag"}, Read: func(a *asked, value *param.Value) { a.flag, _ = value.Bool() }},
	{Param: param.Param{Name: "word", Enum: []string{"up", "down"}}, Read: func(a *asked, value *param.Value) {
		if word, ok := value.Word(); ok {
			a.word = word
		}
	}},
	{Param: param.Param{Name: "words", Type: "array of string", Enum: []string{"red", "green"}}, Read: func(a *asked, value *param.Value) { a.words = value.Words() }},
	param.Language(func(a *asked) *calendar.Lang { return &a.lang }),
	{Param: param.Param{Name: "id", Required: true}, Read: func(a *asked, value *param.Value) { a.id, _ = value.ID() }},
	{Param: param.Param{Name: "title", Many: true, Schema: map[string]any{"maxLength": 3.0}}, Read: func(a *asked, value *param.Value) {
		title, ok := value.Text()
		a.title, a.withoutValue = title, !ok
	}},
	{Param: param.Param{Name: "listed"}},
}

// TestTable: a table reads all of a request, with its defaults, names all that is wrong
// with it at once, in its order, and by themselves the parameters that are missing.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input         calendar.Input
		want          asked
		refused, lost string
	}{
		{calendar.Input{}, asked{size: 10, withoutValue: true}, "", "id"},
		{
			calendar.Input{
				"after": "0", "size": " 50 ", "flag": "true", "word": "up", "words": "green, red,green", "multilang_language": "fr",
				"id": "7", "title": " abc ", "other": 1,
			},
			asked{size: 50, flag: true, word: "up", words: []string{"green", "red"}, lang: calendar.LangFR, id: 7, title: "abc"},
			"", "",
		},
		{
			calendar.Input{
				"after": "-1", "size": "51", "flag": "often", "word": "left", "words": "red,blue", "multilang_language": "xx", "id": "x", "title": "abcd",
			},
			asked{size: 10, withoutValue: true},
			"after size flag word words multilang_language id title", "",
		},
		{
			calendar.Input{"after": "", "size": "", "words": ",", "id": "1", "title": 5},
			asked{size: 10, id: 1, withoutValue: true},
			"after size words title", "",
		},
		{calendar.Input{"after": "99999999999999999999", "id": "1"}, asked{after: 1<<63 - 1, size: 10, id: 1, withoutValue: true}, "", ""},
	} {
		var (
			got      asked
			problems calendar.Problems
			lost     string
		)
		value := param.NewValue(c.input, &problems)
		table.Read(value, &got)
		names := make([]string, len(problems.Fields))
		for i, fieldError := range problems.Fields {
			names[i] = fieldError.Field
		}
		if problem, ok := value.Missing().(*calendar.Error); ok { //nolint:errorlint // it is not wrapped
			lost = strings.Join(problem.Missing, " ")
		}
		if refused := strings.Join(names, " "); fmt.Sprint(got) != fmt.Sprint(c.want) || refused != c.refused || lost != c.lost {
			t.Errorf("%v:\ngot  %+v, refused %q, missing %q\nwant %+v, refused %q, missing %q", c.input, got, refused, lost, c.want, c.refused, c.lost)
		}
	}
}

// TestLists: lists and what takes several values are known by name.
func TestLists(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"words": true, "title": true, "word": false, "id": false, "unheard": false} {
		if table.IsList(name) != want {
			t.Errorf("%s is a list: %v", name, !want)
		}
	}
	if params := table.Params(); len(params) != len(table) || params[1].Default != "10" {
		t.Errorf("documented as %+v", params)
	}
}
