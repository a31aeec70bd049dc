package query

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
)

// walked walks through a list by its cursors, and gives the ids and the number of steps.
// between is called after each step.
func walked(t *testing.T, s *Service, sent string, between func(step int)) (out []calendar.ID, steps int) {
	t.Helper()
	for cursor := "*"; cursor != ""; steps++ {
		l, c, err := list(t, s, calendar.KindEvent, editor, input(sent+"&cursor="+cursor))
		if err != nil {
			t.Fatalf("%s, step %d: %v", sent, steps, err)
		}
		if !c.InSteps() || !c.Paged || len(l.Views) > c.PerPage || l.Next != "" && len(l.Views) < c.PerPage {
			t.Errorf("%s, step %d: %d events, more %t", sent, steps, len(l.Views), l.Next != "")
		}
		out = append(out, idsOf(l)...)
		cursor = l.Next
		between(steps)
	}
	return out, steps
}

// TestCursor is LISTINGS 8.39 in every order: a walk gives each event once, in the order of
// the list, with the totals of the list.
func TestCursor(t *testing.T) {
	t.Parallel()
	records := recordsIn(t, "listings.txt")
	records[7].Fields["date_utc"] = calendar.NoWall
	records[7].Fields["status"] = "draft"
	records[8].Fields["title"], records[10].Fields["title"] = english("An event"), english("Evnet")
	meaning, _, _, _ := setup(t, records)
	memory, _, _, _ := setup(t, records)
	memory.index = memoryIndex(t, records)
	for _, sent := range []string{
		"", "sort=start&order=desc", "sort=published", "sort=modified&order=asc", "include=103,101,108,100,106",
		"sort=distance&geoloc_lat=48&geoloc_lng=11&geoloc_radius=20000", "sort=distance&order=desc&geoloc_lat=-18&geoloc_lng=179&geoloc_radius=20000",
		"search=event&typos=on&sort=relevance", "search=evebt&typos=auto&sort=relevance",
	} {
		sent += always
		for name, s := range map[string]*Service{"meaning": meaning, "memory image": memory} {
			whole, _, err := list(t, s, calendar.KindEvent, editor, input(sent))
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{1, 2, 3, 50} {
				got, steps := walked(t, s, fmt.Sprintf("per_page=%d&%s", size, sent), func(int) {})
				if diff := cmp.Diff(idsOf(whole), got); diff != "" || steps != max(1, (len(got)+size-1)/size) {
					t.Errorf("%s by %d, %s: %d steps (-list +walk):\n%s", sent, size, name, steps, diff)
				}
			}
			first, c, err := list(t, s, calendar.KindEvent, editor, input("per_page=2&cursor=*&"+sent))
			if err != nil || first.Total != whole.Total || first.TotalPages != (whole.Total+1)/2 {
				t.Fatalf("%s, %s: total %d of %d pages, %v", sent, name, first.Total, first.TotalPages, err)
			}
			links := LinksTo("", c.LinksOf(first.Next))
			sent, err := url.QueryUnescape(strings.TrimPrefix(links.Page(1), "?"))
			if err != nil {
				t.Fatal(err)
			}
			next, _, err := list(t, s, calendar.KindEvent, editor, input(sent))
			if err != nil || !slices.Equal(idsOf(next), idsOf(whole)[2:min(4, whole.Total)]) || next.Total != whole.Total {
				t.Errorf("%s, %s: the link gives %v of %d, %v", sent, name, idsOf(next), next.Total, err)
			}
		}
	}
}

// TestCursorBelongs: a cursor is good with its parameters only (LISTINGS 3.7).
func TestCursorBelongs(t *testing.T) {
	t.Parallel()
	s, _, _, now := setup(t, recordsIn(t, "listings.txt"))
	first, c, err := list(t, s, calendar.KindEvent, anonymous, input("per_page=1&featured=false&cursor=*"))
	if err != nil || first.Next == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	refused := func(sent string, of Of, l calendar.Lang) bool {
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent), Lang: l, Of: of})
		e, _ := errors.AsType[*calendar.Error](err)
		return e != nil && len(e.Fields) == 1 && e.Fields[0].Field == "cursor"
	}
	cursor := "&cursor=" + first.Next
	window := ""
	for _, l := range c.Links {
		if l.Name == "start_date" || l.Name == "end_date" {
			window += "&" + l.Name + "=" + l.Value
		}
	}
	for _, sent := range []string{
		"featured=false", "featured=false&per_page=3&_fields=id&format=csv&csv_bom=true&features=venues&highlight=1&facets=month",
		"featured=false" + window,
	} {
		if _, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent + cursor), Lang: calendar.LangEN}); err != nil {
			t.Errorf("%s: %v", sent, err)
		}
	}
	for _, sent := range []string{
		"", "featured=true", "featured=false&search=event", "featured=false&sort=start", "featured=false&page=1", "featured=false&page=2",
		"featured=false&start_date=2030-05-02", "featured=false&collapse=repeats", "featured=false&multilang_language=fr",
	} {
		if !refused(sent+cursor, Of{}, calendar.LangEN) {
			t.Errorf("the cursor is taken with %q", sent)
		}
	}
	if !refused("featured=false"+cursor, Of{calendar.KindVenue, 50}, calendar.LangEN) || !refused("featured=false"+cursor, Of{}, calendar.LangCN) {
		t.Error("the cursor is taken with another record, or in another language")
	}
	other := cursor[:len(cursor)-1] + string(rune('A'+(cursor[len(cursor)-1]-'A'+4)%26))
	for _, text := range []string{"", "**", "x", cursor[8 : len(cursor)-1], other[8:], cursor[8:] + "A", strings.Repeat("A", 1001), "A\x00"} {
		if !refused("featured=false&cursor="+text, Of{}, calendar.LangEN) {
			t.Errorf("the cursor %q is taken", text)
		}
	}
	// The window of the beginning stays, for ever.
	*now = now.Add(20 * 24 * time.Hour)
	next, c, err := list(t, s, calendar.KindEvent, anonymous, input("per_page=10&featured=false"+cursor))
	if err != nil || !slices.Equal(idsOf(first), ids(102)) || !slices.Equal(idsOf(next), ids(103, 104, 105, 106)) || c.Moves {
		t.Errorf("after 20 days: %v behind %v, moves %t, %v", idsOf(next), idsOf(first), c.Moves, err)
	}
}

// TestBudget: what costs more than the budget is refused, after values that are wrong
// (LISTINGS 6).
func TestBudget(t *testing.T) {
	t.Parallel()
	s, _, _, _ := setup(t, recordsIn(t, "listings.txt"))
	s.o.QueryBudget = 1
	parse := func(sent string) *calendar.Error {
		_, err := s.Parse(t.Context(), Request{Kind: calendar.KindEvent, Input: input(sent)})
		e, _ := errors.AsType[*calendar.Error](err)
		return e
	}
	if e := parse("sort=start"); e != nil {
		t.Errorf("a list: %v", e)
	}
	costly := "sort=distance&geoloc_lat=1&geoloc_lng=1"
	if e := parse(costly); e == nil || e.Code != calendar.CodeQueryTooCostly || e.Cost != 2 || e.Limit != 1 {
		t.Errorf("%s: %+v", costly, e)
	}
	if e := parse("facets=city,month&collapse=repeats"); e == nil || e.Cost != 5 {
		t.Errorf("facets and repeats: %+v", e)
	}
	if e := parse(costly + "&free=maybe"); e == nil || e.Code != calendar.CodeInvalidParam {
		t.Errorf("%s with a wrong value: %+v", costly, e)
	}
}

// TestWalkWhileWriting is LISTINGS 8.39: what is there at the beginning of a walk comes once,
// whatever is written meanwhile before and behind its place.
func TestWalkWhileWriting(t *testing.T) {
	t.Parallel()
	s, _, index, _ := setup(t, recordsIn(t, "listings.txt"))
	want, _, err := list(t, s, calendar.KindEvent, editor, input("per_page=50"+always))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := walked(t, s, "per_page=2"+always, func(step int) {
		for i, day := range []string{"2020-01-01", "2040-01-01"} {
			index.put(event(t, calendar.ID(10_000+2*step+i), "New", day, day, nil))
		}
	})
	got = slices.DeleteFunc(got, func(id calendar.ID) bool { return id >= 10_000 })
	if diff := cmp.Diff(idsOf(want), got); diff != "" {
		t.Errorf("walk (-list +walk):\n%s", diff)
	}
}
