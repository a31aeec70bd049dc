package calendar

import (
	"testing"
	"time"
)

// times are the six answers that depend on the dates of an event.
func times(start, end, utcStart, utcEnd, zone string) map[string]any {
	return map[string]any{"start_date": start, "end_date": end, "utc_start_date": utcStart, "utc_end_date": utcEnd, "timezone": zone}
}

// Checklist 4, 5, 7, 8, 9 and interface 3.1.2.
func TestEventDates(t *testing.T) {
	t.Parallel()
	const ny = "America/New_York"
	evening := attrSet{"start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00"}
	allDay := attrSet{"start_date": "2026-07-04 18:30", "end_date": "2026-07-05 09:00", "all_day": true}
	// Clocks go back at 02:00 on 2026-11-01, forward at 02:00 on 2026-03-08.
	second := attrSet{"start_date": "2026-11-01T01:30:00-05:00", "end_date": "2026-11-01T01:45:00-05:00"}
	for _, tc := range []struct {
		name  string
		given attrSet // nil: the dates are those of a create
		when  attrSet
		want  map[string]any
	}{
		{"create in the site zone", nil, evening, times("2026-07-04 18:30:00", "2026-07-04 21:00:00", "2026-07-04 22:30:00", "2026-07-05 01:00:00", ny)},
		{
			"create in another zone", nil,
			attrSet{"start_date": "2026-07-04 18:30", "end_date": "2026-07-04 18:30", "timezone": "asia/tokyo"},
			times("2026-07-04 18:30:00", "2026-07-04 18:30:00", "2026-07-04 09:30:00", "2026-07-04 09:30:00", "Asia/Tokyo"),
		},
		{
			"create with an offset zone", nil,
			attrSet{"start_date": "2026-07-04", "end_date": "2026-07-05", "timezone": "UTC+5.5"},
			times("2026-07-04 00:00:00", "2026-07-05 00:00:00", "2026-07-03 18:30:00", "2026-07-04 18:30:00", "UTC+5.5"),
		},
		{
			"create with an empty zone", nil,
			attrSet{"start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00", "timezone": Clear{}},
			times("2026-07-04 18:30:00", "2026-07-04 21:00:00", "2026-07-04 22:30:00", "2026-07-05 01:00:00", ny),
		},
		{
			"instants are converted", nil,
			attrSet{"start_date": "2026-07-04T18:30:00Z", "end_date": "1783200600"},
			times("2026-07-04 14:30:00", "2026-07-04 17:30:00", "2026-07-04 18:30:00", "2026-07-04 21:30:00", ny),
		},
		{
			"words in the zone of the event", nil,
			attrSet{"start_date": "tomorrow 9am", "end_date": "+2 days 9am", "timezone": "Pacific/Kiritimati"},
			times("2026-03-04 09:00:00", "2026-03-05 09:00:00", "2026-03-03 19:00:00", "2026-03-04 19:00:00", "Pacific/Kiritimati"),
		},
		{
			"1970", nil,
			attrSet{"start_date": "1970-01-01 00:00:00", "end_date": "1970-01-01 00:00:00", "timezone": "UTC"},
			times("1970-01-01 00:00:00", "1970-01-01 00:00:00", "1970-01-01 00:00:00", "1970-01-01 00:00:00", "UTC"),
		},
		{
			"all day", nil, allDay,
			times("2026-07-04 00:00:00", "2026-07-05 23:59:59", "2026-07-04 04:00:00", "2026-07-06 03:59:59", ny),
		},
		{
			"all day before 1970", nil,
			attrSet{"start_date": "1969-12-30 05:00", "end_date": "1969-12-30 04:00", "all_day": true, "timezone": "UTC"},
			times("1969-12-30 00:00:00", "1969-12-30 23:59:59", "1969-12-30 00:00:00", "1969-12-30 23:59:59", "UTC"),
		},
		{
			"start alone", evening,
			attrSet{"start_date": "2026-07-03 10:00"},
			times("2026-07-03 10:00:00", "2026-07-04 21:00:00", "2026-07-03 14:00:00", "2026-07-05 01:00:00", ny),
		},
		{
			"end alone", evening,
			attrSet{"end_date": "2026-07-04 22:00"},
			times("2026-07-04 18:30:00", "2026-07-04 22:00:00", "2026-07-04 22:30:00", "2026-07-05 02:00:00", ny),
		},
		{
			"zone alone", evening,
			attrSet{"timezone": "Europe/Rome"},
			times("2026-07-04 18:30:00", "2026-07-04 21:00:00", "2026-07-04 16:30:00", "2026-07-04 19:00:00", "Europe/Rome"),
		},
		{
			"zone cleared",
			attrSet{"start_date": "2026-07-04 18:30", "end_date": "2026-07-04 21:00", "timezone": "Europe/Rome"},
			attrSet{"timezone": Clear{}},
			times("2026-07-04 18:30:00", "2026-07-04 21:00:00", "2026-07-04 22:30:00", "2026-07-05 01:00:00", ny),
		},
		{
			"a date is read in the stored zone",
			attrSet{"start_date": "2026-07-04 18:30", "end_date": "2026-07-04 21:00", "timezone": "Europe/Rome"},
			attrSet{"end_date": "2026-07-04T20:00:00Z"},
			times("2026-07-04 18:30:00", "2026-07-04 22:00:00", "2026-07-04 16:30:00", "2026-07-04 20:00:00", "Europe/Rome"),
		},
		{
			"zone and start", evening,
			attrSet{"timezone": "UTC", "start_date": "2026-07-04 01:00"},
			times("2026-07-04 01:00:00", "2026-07-04 21:00:00", "2026-07-04 01:00:00", "2026-07-04 21:00:00", "UTC"),
		},
		{
			"all_day alone", evening,
			attrSet{"all_day": true},
			times("2026-07-04 00:00:00", "2026-07-04 23:59:59", "2026-07-04 04:00:00", "2026-07-05 03:59:59", ny),
		},
		{
			"a date for an all-day event", allDay,
			attrSet{"start_date": "2026-07-02 15:00"},
			times("2026-07-02 00:00:00", "2026-07-05 23:59:59", "2026-07-02 04:00:00", "2026-07-06 03:59:59", ny),
		},
		{
			"an instant for an all-day event", allDay,
			attrSet{"start_date": "2026-07-02T02:00:00Z"},
			times("2026-07-01 00:00:00", "2026-07-05 23:59:59", "2026-07-01 04:00:00", "2026-07-06 03:59:59", ny),
		},
		{
			"all-day and zone", allDay,
			attrSet{"timezone": "UTC"},
			times("2026-07-04 00:00:00", "2026-07-05 23:59:59", "2026-07-04 00:00:00", "2026-07-05 23:59:59", "UTC"),
		},
		{
			"no longer all-day", allDay,
			attrSet{"all_day": false},
			times("2026-07-04 00:00:00", "2026-07-05 23:59:59", "2026-07-04 04:00:00", "2026-07-06 03:59:59", ny),
		},
		{
			"no longer all-day, with a time", allDay,
			attrSet{"all_day": false, "start_date": "2026-07-04 10:00"},
			times("2026-07-04 10:00:00", "2026-07-05 23:59:59", "2026-07-04 14:00:00", "2026-07-06 03:59:59", ny),
		},
		{
			"gap", nil,
			attrSet{"start_date": "2026-03-08 02:30", "end_date": "2026-03-08 03:30"},
			times("2026-03-08 03:30:00", "2026-03-08 03:30:00", "2026-03-08 07:30:00", "2026-03-08 07:30:00", ny),
		},
		{
			"into a gap by the zone",
			attrSet{"start_date": "2026-03-08 02:30", "end_date": "2026-03-08 05:00", "timezone": "UTC"},
			attrSet{"timezone": ny},
			times("2026-03-08 03:30:00", "2026-03-08 05:00:00", "2026-03-08 07:30:00", "2026-03-08 09:00:00", ny),
		},
		{
			"a day of 25 hours ends with its second 23:59:59", nil,
			attrSet{"start_date": "2027-04-03", "end_date": "2027-04-03", "all_day": true, "timezone": "America/Santiago"},
			times("2027-04-03 00:00:00", "2027-04-03 23:59:59", "2027-04-03 03:00:00", "2027-04-04 03:59:59", "America/Santiago"),
		},
		{
			"the same, sent as its first reading",
			attrSet{"start_date": "2027-04-03", "end_date": "2027-04-03 23:59:59", "timezone": "America/Santiago"},
			attrSet{"all_day": true},
			times("2027-04-03 00:00:00", "2027-04-03 23:59:59", "2027-04-03 03:00:00", "2027-04-04 03:59:59", "America/Santiago"),
		},
		{
			"no longer all-day on a day of 25 hours",
			attrSet{"start_date": "2027-04-03", "end_date": "2027-04-03", "all_day": true, "timezone": "America/Santiago"},
			attrSet{"all_day": false},
			times("2027-04-03 00:00:00", "2027-04-03 23:59:59", "2027-04-03 03:00:00", "2027-04-04 03:59:59", "America/Santiago"),
		},
		{
			"a day whose end is a gap", nil,
			attrSet{"start_date": "1919-03-30", "end_date": "1919-03-30", "all_day": true, "timezone": "America/Toronto"},
			times("1919-03-30 00:00:00", "1919-03-30 23:59:59", "1919-03-30 05:00:00", "1919-03-31 04:29:59", "America/Toronto"),
		},
		{
			"a day that has two midnights begins at the first, whatever it began at",
			attrSet{"start_date": "2026-11-01T05:00:00Z", "end_date": "2026-11-01 12:00", "timezone": "America/Havana"},
			attrSet{"all_day": true},
			times("2026-11-01 00:00:00", "2026-11-01 23:59:59", "2026-11-01 04:00:00", "2026-11-02 04:59:59", "America/Havana"),
		},
		{
			"a day whose midnight is a gap", nil,
			attrSet{"start_date": "2018-11-04", "end_date": "2018-11-04", "all_day": true, "timezone": "America/Sao_Paulo"},
			times("2018-11-04 00:00:00", "2018-11-04 23:59:59", "2018-11-04 03:00:00", "2018-11-05 01:59:59", "America/Sao_Paulo"),
		},
		{
			"a day that has two midnights begins at the first", nil,
			attrSet{"start_date": "2026-11-01T05:00:00Z", "end_date": "2026-11-01", "all_day": true, "timezone": "America/Havana"},
			times("2026-11-01 00:00:00", "2026-11-01 23:59:59", "2026-11-01 04:00:00", "2026-11-02 04:59:59", "America/Havana"),
		},
		{
			"overlap, first reading", nil,
			attrSet{"start_date": "2026-11-01 01:30", "end_date": "2026-11-01 01:45"},
			times("2026-11-01 01:30:00", "2026-11-01 01:45:00", "2026-11-01 05:30:00", "2026-11-01 05:45:00", ny),
		},
		{
			"overlap, second reading by instant", nil, second,
			times("2026-11-01 01:30:00", "2026-11-01 01:45:00", "2026-11-01 06:30:00", "2026-11-01 06:45:00", ny),
		},
		{
			"the second reading stays", second,
			attrSet{"title": "New"},
			times("2026-11-01 01:30:00", "2026-11-01 01:45:00", "2026-11-01 06:30:00", "2026-11-01 06:45:00", ny),
		},
		{
			"an equal wall clock keeps its reading", second,
			attrSet{"start_date": "2026-11-01 01:30:00", "end_date": "2026-11-01 02:00:00", "timezone": ny},
			times("2026-11-01 01:30:00", "2026-11-01 02:00:00", "2026-11-01 06:30:00", "2026-11-01 07:00:00", ny),
		},
		{
			"another wall clock takes the first reading", second,
			attrSet{"start_date": "2026-11-01 01:31:00"},
			times("2026-11-01 01:31:00", "2026-11-01 01:45:00", "2026-11-01 05:31:00", "2026-11-01 06:45:00", ny),
		},
		{
			"an instant moves an equal wall clock to the other reading", second,
			attrSet{"start_date": "2026-11-01T01:30:00-04:00"},
			times("2026-11-01 01:30:00", "2026-11-01 01:45:00", "2026-11-01 05:30:00", "2026-11-01 06:45:00", ny),
		},
		{
			"another zone takes the first reading", second,
			attrSet{"timezone": "America/Detroit"},
			times("2026-11-01 01:30:00", "2026-11-01 01:45:00", "2026-11-01 05:30:00", "2026-11-01 05:45:00", "America/Detroit"),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.given == nil {
				wantFields(t, created(t, KindEvent, situation{}, tc.when).Fields, tc.want)
				return
			}
			before := created(t, KindEvent, situation{}, tc.given)
			wantFields(t, updated(t, before, situation{}, attrs(t, tc.when)).Fields, tc.want)
		})
	}
}

// Checklist 6, and the years that a date may lie in.
func TestEventDatesRefused(t *testing.T) {
	t.Parallel()
	endFirst := FieldError{Field: "end_date", Reason: ReasonEndBeforeStart}
	years := func(field string) FieldError { return FieldError{Field: field, Reason: ReasonDateRange} }
	evening := attrSet{"start_date": "2026-07-04 18:30:00", "end_date": "2026-07-04 21:00:00"}
	for _, tc := range []struct {
		name  string
		given attrSet
		when  attrSet
		want  []FieldError
	}{
		{"create", nil, attrSet{"start_date": "2026-07-04 18:30", "end_date": "2026-07-04 18:29:59"}, []FieldError{endFirst}},
		{"start alone", evening, attrSet{"start_date": "2026-07-04 21:00:01"}, []FieldError{endFirst}},
		{"end alone", evening, attrSet{"end_date": "2026-07-04 18:29:59"}, []FieldError{endFirst}},
		{"as instants, not as wall clocks", nil, attrSet{"start_date": "2026-11-01T01:30:00-05:00", "end_date": "2026-11-01 01:45"}, []FieldError{endFirst}},
		{
			"times that an all-day event had covered",
			attrSet{"start_date": "2026-07-04", "end_date": "2026-07-04", "all_day": true},
			attrSet{"all_day": false, "end_date": "2026-07-03 10:00"},
			[]FieldError{endFirst},
		},
		{
			"start moved to another zone with it",
			attrSet{"start_date": "2026-11-01 01:30", "end_date": "2026-11-01 01:45"},
			attrSet{"start_date": "2026-11-01T06:30:00Z", "timezone": "UTC"},
			[]FieldError{endFirst},
		},
		{"past the year 9999", nil, attrSet{"start_date": "9999-12-31 12:00", "end_date": "9999-12-31 23:59:59"}, []FieldError{years("end_date")}},
		{"before the year 1", nil, attrSet{"start_date": "0001-01-01", "end_date": "0001-01-02", "timezone": "Asia/Tokyo"}, []FieldError{years("start_date")}},
		{
			"by the zone",
			attrSet{"start_date": "0001-01-01", "end_date": "0001-01-02", "timezone": "UTC"},
			attrSet{"timezone": "+14:00"},
			[]FieldError{years("start_date")},
		},
		{"both", nil, attrSet{"start_date": "+9000 years", "end_date": "+8999 years"}, []FieldError{years("start_date"), years("end_date")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var err error
			if tc.given == nil {
				tc.when["title"] = "x"
				_, err = Create(KindEvent, 1, attrs(t, tc.when), situation{}.decision())
			} else {
				_, err = Update(created(t, KindEvent, situation{}, tc.given), attrs(t, tc.when), situation{}.decision())
			}
			wantRefused(t, err, tc.want...)
		})
	}
}

func TestAllProblemsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{}, nil)
	_, err := Update(event, attrs(t, attrSet{"end_date": "2020-01-01", "slug": "!!", "post_parent": event.ID, "date": "+9000 years"}), situation{}.decision())
	wantRefused(t, err,
		FieldError{Field: "end_date", Reason: ReasonEndBeforeStart}, FieldError{Field: "slug", Reason: ReasonSlug},
		FieldError{Field: "post_parent", Reason: ReasonSelfParent}, FieldError{Field: "date", Reason: ReasonDateRange})
}

func TestStoredZoneThatIsUnknown(t *testing.T) {
	t.Parallel()
	event := created(t, KindEvent, situation{}, nil)
	event.Fields["timezone"] = "Mars/Olympus"
	if _, err := Update(event, attrs(t, nil), situation{}.decision()); err == nil {
		t.Error("an unknown stored zone was used")
	}
}

// Interface 3.6, 5.4; checklist 3, 56.
func TestPublication(t *testing.T) {
	t.Parallel()
	const (
		nowLocal, nowUTC = "2026-03-02 09:15:00", "2026-03-02 14:15:00"
		never            = "0000-00-00 00:00:00"
		hourLocal        = "2026-03-02 10:15:00"
		hourUTC          = "2026-03-02 15:15:00"
	)
	later := func(c Caller) situation { return situation{caller: c, now: testNow.Add(time.Hour)} }
	pub := func(status, date, utc, modified, modifiedUTC string) map[string]any {
		return map[string]any{"status": status, "date": date, "date_utc": utc, "modified": modified, "modified_utc": modifiedUTC}
	}
	for _, tc := range []struct {
		name   string
		caller Caller
		given  attrSet // nil: a create
		when   attrSet
		want   map[string]any
	}{
		{"author, none sent", author, nil, attrSet{}, pub("publish", nowLocal, nowUTC, nowLocal, nowUTC)},
		{"contributor, none sent", contributor, nil, attrSet{}, pub("draft", nowLocal, never, nowLocal, never)},
		{"contributor, publish", contributor, nil, attrSet{"status": "publish"}, pub("pending", nowLocal, never, nowLocal, never)},
		{"contributor, future", contributor, nil, attrSet{"status": "future", "date": "2027-01-01"}, pub("pending", "2027-01-01 00:00:00", "2027-01-01 05:00:00", "2027-01-01 00:00:00", "2027-01-01 05:00:00")},
		{"contributor, private", contributor, nil, attrSet{"status": "private"}, pub("private", nowLocal, nowUTC, nowLocal, nowUTC)},
		{"draft", editor, nil, attrSet{"status": "draft"}, pub("draft", nowLocal, never, nowLocal, never)},
		{"draft with a date", editor, nil, attrSet{"status": "draft", "date": "2026-01-10 10:00"}, pub("draft", "2026-01-10 10:00:00", "2026-01-10 15:00:00", "2026-01-10 10:00:00", "2026-01-10 15:00:00")},
		{"publish ahead", editor, nil, attrSet{"date": "2026-03-02 09:15:01"}, pub("future", "2026-03-02 09:15:01", "2026-03-02 14:15:01", "2026-03-02 09:15:01", "2026-03-02 14:15:01")},
		{"future not ahead", editor, nil, attrSet{"status": "future", "date": nowLocal}, pub("publish", nowLocal, nowUTC, nowLocal, nowUTC)},
		{"private ahead stays private", editor, nil, attrSet{"status": "private", "date": "2027-01-01"}, pub("private", "2027-01-01 00:00:00", "2027-01-01 05:00:00", "2027-01-01 00:00:00", "2027-01-01 05:00:00")},
		{"date_utc alone", editor, nil, attrSet{"date_utc": "2026-01-10 15:00"}, pub("publish", "2026-01-10 10:00:00", "2026-01-10 15:00:00", "2026-01-10 10:00:00", "2026-01-10 15:00:00")},
		{"both, as sent", editor, nil, attrSet{"date": "2026-01-10 10:00", "date_utc": "2027-06-01"}, pub("future", "2026-01-10 10:00:00", "2027-06-01 00:00:00", "2026-01-10 10:00:00", "2027-06-01 00:00:00")},
		{"date with an offset", editor, nil, attrSet{"date": "2026-01-10T10:00:00+01:00"}, pub("publish", "2026-01-10 04:00:00", "2026-01-10 09:00:00", "2026-01-10 04:00:00", "2026-01-10 09:00:00")},
		{
			"words in the zone of the event", editor, nil,
			attrSet{"date": "today 1am", "timezone": "Asia/Tokyo"},
			pub("publish", "2026-03-01 11:00:00", "2026-03-01 16:00:00", "2026-03-01 11:00:00", "2026-03-01 16:00:00"),
		},
		{
			"a wall clock in the site zone", editor, nil,
			attrSet{"date": "2026-03-02 01:00", "timezone": "Asia/Tokyo"},
			pub("publish", "2026-03-02 01:00:00", "2026-03-02 06:00:00", "2026-03-02 01:00:00", "2026-03-02 06:00:00"),
		},
		{"update without a date", editor, attrSet{}, attrSet{"title": "x"}, pub("publish", nowLocal, nowUTC, hourLocal, hourUTC)},
		{"update of a draft stays a draft", editor, attrSet{"status": "draft"}, attrSet{"title": "x"}, pub("draft", nowLocal, never, hourLocal, hourUTC)},
		{"contributor's update of a pending post", contributor, attrSet{"status": "pending"}, attrSet{"title": "x"}, pub("pending", nowLocal, never, hourLocal, hourUTC)},
		{"contributor publishes a draft", contributor, attrSet{"status": "draft"}, attrSet{"status": "publish"}, pub("pending", nowLocal, never, hourLocal, hourUTC)},
		{"first publication", editor, attrSet{"status": "draft"}, attrSet{"status": "publish"}, pub("publish", hourLocal, hourUTC, hourLocal, hourUTC)},
		{"first publication, scheduled without a date", editor, attrSet{"status": "draft"}, attrSet{"status": "future"}, pub("publish", hourLocal, hourUTC, hourLocal, hourUTC)},
		{"first publication in private", editor, attrSet{"status": "draft"}, attrSet{"status": "private"}, pub("private", hourLocal, hourUTC, hourLocal, hourUTC)},
		{
			"first publication of a draft with a date", editor,
			attrSet{"status": "draft", "date": "2026-01-10 10:00"},
			attrSet{"status": "publish"},
			pub("publish", "2026-01-10 10:00:00", "2026-01-10 15:00:00", hourLocal, hourUTC),
		},
		{"back to draft keeps the dates", editor, attrSet{}, attrSet{"status": "draft"}, pub("draft", nowLocal, nowUTC, hourLocal, hourUTC)},
		{"a published post moved ahead", editor, attrSet{}, attrSet{"date_utc": "2026-03-02 15:15:01"}, pub("future", "2026-03-02 10:15:01", "2026-03-02 15:15:01", hourLocal, hourUTC)},
		{"a scheduled post moved back", editor, attrSet{"date": "2027-01-01"}, attrSet{"date": "2026-01-01"}, pub("publish", "2026-01-01 00:00:00", "2026-01-01 05:00:00", hourLocal, hourUTC)},
		{"a scheduled post stays scheduled", editor, attrSet{"date": "2027-01-01"}, attrSet{}, pub("future", "2027-01-01 00:00:00", "2027-01-01 05:00:00", hourLocal, hourUTC)},
		{"a scheduled post that is due", editor, attrSet{"date": "2026-03-02 10:00"}, attrSet{}, pub("publish", "2026-03-02 10:00:00", "2026-03-02 15:00:00", hourLocal, hourUTC)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.given == nil {
				wantFields(t, created(t, KindEvent, situation{caller: tc.caller}, tc.when).Fields, tc.want)
				return
			}
			before := created(t, KindEvent, situation{caller: tc.caller}, tc.given)
			wantFields(t, updated(t, before, later(tc.caller), attrs(t, tc.when)).Fields, tc.want)
		})
	}
}
