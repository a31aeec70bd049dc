package pages

import (
	"testing"
	"time"

	"daybook/calendar"
)

// TestTexts: the table of PAGES P4.4 (P13.24), the order is en, cn, es, fr.
func TestTexts(t *testing.T) {
	t.Parallel()
	langs := []calendar.Lang{calendar.LangEN, calendar.LangCN, calendar.LangES, calendar.LangFR}
	fourth := time.Date(2026, 7, 4, 18, 30, 0, 0, time.FixedZone("EDT", -4*3600))
	end := fourth.Add(150 * time.Minute)
	first := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	days := func(y1 int, m1 time.Month, d1, y2 int, m2 time.Month, d2 int) func(locale) string {
		return func(s locale) string {
			return s.days(time.Date(y1, m1, d1, 0, 0, 0, 0, time.UTC), time.Date(y2, m2, d2, 0, 0, 0, 0, time.UTC))
		}
	}
	count := func(n int) func(locale) string {
		return func(s locale) string { return s.count("events", n) }
	}
	for _, tt := range []struct {
		name string
		say  func(locale) string
		want [4]string
	}{
		{"date", func(s locale) string { return s.date(fourth) }, [4]string{"Saturday, July 4, 2026", "2026年7月4日星期六", "sábado, 4 de julio de 2026", "samedi 4 juillet 2026"}},
		{"date on the first", func(s locale) string { return s.date(first) }, [4]string{"Wednesday, July 1, 2026", "2026年7月1日星期三", "miércoles, 1 de julio de 2026", "mercredi 1er juillet 2026"}},
		{"short", func(s locale) string { return s.shortDate(fourth, 2026) }, [4]string{"Sat, Jul 4", "7月4日周六", "sáb, 4 jul", "sam. 4 juil."}},
		{"short of another year", func(s locale) string { return s.shortDate(fourth, 2025) }, [4]string{"Sat, Jul 4, 2026", "2026年7月4日周六", "sáb, 4 jul 2026", "sam. 4 juil. 2026"}},
		{"month", func(s locale) string { return s.month(fourth) }, [4]string{"July 2026", "2026年7月", "julio de 2026", "juillet 2026"}},
		{"time", func(s locale) string { return s.time(fourth) }, [4]string{"6:30\u00a0PM", "18:30", "18:30", "18:30"}},
		{"one day", func(s locale) string {
			return s.whenText(eventTimes{Begins: fourth, Ends: end, Zone: "EDT", ZoneEnd: "EDT"}).String()
		}, [4]string{
			"Saturday, July 4, 2026, 6:30\u00a0PM – 9:00\u00a0PM EDT", "2026年7月4日星期六 18:30–21:00 EDT",
			"sábado, 4 de julio de 2026, 18:30–21:00 EDT", "samedi 4 juillet 2026, 18:30–21:00 EDT",
		}},
		{"a clock that is changed", func(s locale) string {
			return s.whenText(eventTimes{Begins: fourth, Ends: end, Zone: "EST", ZoneEnd: "EDT"}).String()
		}, [4]string{
			"Saturday, July 4, 2026, 6:30\u00a0PM EST – 9:00\u00a0PM EDT", "2026年7月4日星期六 18:30 EST – 21:00 EDT",
			"sábado, 4 de julio de 2026, 18:30 EST – 21:00 EDT", "samedi 4 juillet 2026, 18:30 EST – 21:00 EDT",
		}},
		{"all day", func(s locale) string { return s.whenText(eventTimes{Begins: fourth, Ends: end, AllDay: true}).String() }, [4]string{
			"Saturday, July 4, 2026 · All day", "2026年7月4日星期六 · 全天", "sábado, 4 de julio de 2026 · Todo el día", "samedi 4 juillet 2026 · Toute la journée",
		}},
		{"days", days(2026, 7, 4, 2026, 7, 6), [4]string{"Jul 4 – 6, 2026", "2026年7月4日至6日", "4–6 jul 2026", "4–6 juil. 2026"}},
		{"days of two months", days(2026, 7, 30, 2026, 8, 2), [4]string{"Jul 30 – Aug 2, 2026", "2026年7月30日至8月2日", "30 jul – 2 ago 2026", "30 juil. – 2 août 2026"}},
		{"days of two years", days(2026, 12, 30, 2027, 1, 2), [4]string{"Dec 30, 2026 – Jan 2, 2027", "2026年12月30日至2027年1月2日", "30 dic 2026 – 2 ene 2027", "30 déc. 2026 – 2 janv. 2027"}},
		{"0 events", count(0), [4]string{"0 events", "0 个活动", "0 eventos", "0 événement"}},
		{"1 event", count(1), [4]string{"1 event", "1 个活动", "1 evento", "1 événement"}},
		{"2 events", count(2), [4]string{"2 events", "2 个活动", "2 eventos", "2 événements"}},
		{"1234 events", count(1234), [4]string{"1,234 events", "1,234 个活动", "1234 eventos", "1\u202f234 événements"}},
		{"12345 events", count(12345), [4]string{"12,345 events", "12,345 个活动", "12.345 eventos", "12\u202f345 événements"}},
		{"1000000 events", count(1_000_000), [4]string{"1,000,000 events", "1,000,000 个活动", "1.000.000 de eventos", "1\u202f000\u202f000 d’événements"}},
	} {
		for i, lang := range langs {
			if got := tt.say(locale{language: lang, Twelve: lang == calendar.LangEN}); got != tt.want[i] {
				t.Errorf("%s in %s: %q, want %q", tt.name, lang, got, tt.want[i])
			}
		}
	}
	if got := (locale{language: calendar.LangEN}).time(fourth); got != "18:30" {
		t.Errorf("24 hours in English: %q", got)
	}
}
