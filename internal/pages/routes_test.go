package pages

import (
	"testing"
	"time"

	"daybook/calendar"
)

// TestFind: PAGES P1.1, P13.2 and P13.8.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path  string
		page  name
		lang  calendar.Lang
		slug  string
		moved string
		wrong bool
	}{
		{"/", pageHome, calendar.LangEN, "", "", false},
		{"/fr/", pageHome, calendar.LangFR, "", "", false},
		{"/fr", pageHome, calendar.LangFR, "", "/fr/", false},
		{"/events/", pageList, calendar.LangEN, "", "", false},
		{"/events", pageList, calendar.LangEN, "", "/events/", false},
		{"//events///", pageList, calendar.LangEN, "", "/events/", false},
		{"/cn/events/month/", pageMonth, calendar.LangCN, "", "", false},
		{"/events/month/2026-07/", pageMonth, calendar.LangEN, "", "", false},
		{"/events/month/2026-13/", pageMonth, calendar.LangEN, "", "", true},
		{"/events/month/0000-01/", pageMonth, calendar.LangEN, "", "", true},
		{"/events/week/2026-W53/", pageWeek, calendar.LangEN, "", "", false},
		{"/events/week/2027-W53/", pageWeek, calendar.LangEN, "", "", true},
		{"/events/week/2026-W54/", pageWeek, calendar.LangEN, "", "", true},
		{"/events/day/2026-02-30/", pageDay, calendar.LangEN, "", "", true},
		{"/events/day/2026-02-28", pageDay, calendar.LangEN, "", "/events/day/2026-02-28/", false},
		{"/events/map/", pageMap, calendar.LangEN, "", "", false},
		{"/search/", pageSearch, calendar.LangEN, "", "", false},
		{"/event/quay-concert/", pageEvent, calendar.LangEN, "quay-concert", "", false},
		{"/es/event/Quay-Concert", pageEvent, calendar.LangES, "quay-concert", "/es/event/quay-concert/", false},
		{"/event/quay-concert/history/", pageHistory, calendar.LangEN, "quay-concert", "", false},
		{"/events/category/jazz/", pageCategory, calendar.LangEN, "jazz", "", false},
		{"/events/tag/open-air/history", pageHistory, calendar.LangEN, "open-air", "/events/tag/open-air/history/", false},
		{"/venues/", pageDirectory, calendar.LangEN, "", "", false},
		{"/embed/event/quay/", pageEmbed, calendar.LangEN, "quay", "", false},
		{"/docs/", pageDocs, calendar.LangEN, "", "", false},
	} {
		r, ok := Find(tt.path)
		if !ok {
			t.Errorf("%s is no page", tt.path)
			continue
		}
		if r.page != tt.page || r.lang != tt.lang || r.slug != tt.slug || r.moved != tt.moved || r.wrong != tt.wrong {
			t.Errorf("%s: %+v, want %+v", tt.path, r, tt)
		}
	}
	for _, path := range []string{"/en/", "/nothing/", "/event/", "/event/a/b/", "/events/x/", "/events/month/a/", "/events/category/", "/event/a/history/b/", "/apis", "/venues/x/", "/fr/robots.txt"} {
		if r, ok := Find(path); ok {
			t.Errorf("%s is a page: %+v", path, r)
		}
	}
}

func TestWeekPath(t *testing.T) {
	t.Parallel()
	for day := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2031; day = day.AddDate(0, 0, 1) {
		path := weekPath(day)
		r, ok := Find(path)
		if !ok || r.wrong || r.first.Weekday() != time.Monday || day.Sub(r.first) < 0 || day.Sub(r.first) > 6*24*time.Hour {
			t.Fatalf("%s: %s begins on %s", day.Format(time.DateOnly), path, r.first.Format(time.DateOnly))
		}
	}
}
