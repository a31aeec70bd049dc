package query

import (
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
)

// TestCursorBelongs: a cursor is good with its parameters only (LISTINGS 3.7), and its window
// stays.
func TestCursorBelongs(t *testing.T) {
	t.Parallel()
	service, _, _, now := setup(t, recordsIn(t, "listings.txt"))
	ask := func(sent string, of Of, lang calendar.Lang) (*List, *Criteria, error) {
		return answer(t, service, Request{Kind: calendar.KindEvent, Input: input(sent), Lang: lang, Of: of})
	}
	first, _, err := ask("per_page=1&featured=false&cursor=*", Of{}, calendar.LangEN)
	if err != nil || !slices.Equal(idsOf(first), ids(102)) {
		t.Fatalf("%+v, %v", first, err)
	}
	cursor := "&cursor=" + first.Next
	refused := func(sent string, of Of, lang calendar.Lang) {
		t.Helper()
		if _, _, err := ask(sent, of, lang); err == nil || !strings.HasPrefix(err.Error(), "rest_invalid_param cursor=") {
			t.Errorf("%.100s of %v in %v: %v", sent, of, lang, err)
		}
	}
	for _, sent := range []string{
		"", "featured=true", "featured=false&search=event", "featured=false&sort=start", "featured=false&page=1", "featured=false&page=2",
		"featured=false&start_date=2030-05-02", "featured=false&collapse=repeats", "featured=false&multilang_language=fr",
	} {
		refused(sent+cursor, Of{}, calendar.LangEN)
	}
	refused("featured=false"+cursor, Of{calendar.KindVenue, 50}, calendar.LangEN)
	refused("featured=false"+cursor, Of{}, calendar.LangCN)
	other := first.Next[:len(first.Next)-1] + string(rune('A'+(first.Next[len(first.Next)-1]-'A'+4)%26))
	for _, text := range []string{"", "**", "x", first.Next[:len(first.Next)-1], other, first.Next + "A", strings.Repeat("A", 1001), "A\x00"} {
		refused("featured=false&cursor="+text, Of{}, calendar.LangEN)
	}
	*now = now.Add(20 * 24 * time.Hour)
	next, criteria, err := ask("featured=false&per_page=10&_fields=id&format=csv&csv_bom=true&features=venues&highlight=1&facets=month"+cursor, Of{}, calendar.LangEN)
	if err != nil || !slices.Equal(idsOf(next), ids(103, 104, 105, 106)) || criteria.Moves {
		t.Errorf("after 20 days: %+v, moves %t, %v", next, criteria.Moves, err)
	}
}

// TestBudget: what costs more than the budget is refused, after values that are wrong
// (LISTINGS 6).
func TestBudget(t *testing.T) {
	t.Parallel()
	service, _, _, _ := setup(t, recordsIn(t, "listings.txt"))
	service.settings.QueryBudget = 1
	for sent, want := range map[string]int{
		"sort=start": 0, "sort=distance&geoloc_lat=1&geoloc_lng=1": 2, "facets=city,month&collapse=repeats": 5, "facets=city&free=maybe": 0,
	} {
		_, _, err := list(t, service, anonymous, input(sent))
		problem, refused := asError(err)
		if costly := refused && problem.Code == calendar.CodeQueryTooCostly; costly != (want > 0) || costly && (problem.Cost != want || problem.Limit != 1) {
			t.Errorf("%s: %+v, want the cost %d", sent, problem, want)
		}
	}
}
