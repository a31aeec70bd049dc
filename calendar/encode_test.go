package calendar

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
)

// typicalEvent is an event as large as events usually are.
func typicalEvent(tb testing.TB) *Record {
	tb.Helper()
	wall := func(text string) Wall {
		w, err := ParseWall(text)
		if err != nil {
			tb.Fatal(err)
		}
		return w
	}
	return &Record{
		ID: 412, Kind: KindEvent, Version: 3, Home: LangEN,
		Changed: time.Date(2026, 3, 5, 23, 0, 10, 123e6, time.UTC),
		Fields: Fields{
			"author": ID(7), "status": "publish",
			"date": wall("2026-03-02 09:15:00"), "date_utc": wall("2026-03-02 14:15:00"),
			"modified": wall("2026-03-05 18:00:10"), "modified_utc": wall("2026-03-05 23:00:10"),
			"title":       Text{LangEN: "Quay concert & picnic", LangFR: "Concert sur le quai"},
			"description": Text{LangEN: "<p>Bring a chair.</p>\n<p>\"Rain\" or shine: the band plays from half past six, and the picnic goes on until the lights are out. Children are welcome and need no ticket.</p>"},
			"slug":        "quay-concert-picnic",
			"image":       ID(384), "image_url": "https://img.example/quay.jpg",
			"all_day": false, "show_map": true, "show_map_link": true, "hide_from_listings": false,
			"sticky": false, "featured": true, "ticketed": false,
			"start_date": wall("2026-07-04 18:30:00"), "end_date": wall("2026-07-04 21:00:00"),
			"utc_start_date": wall("2026-07-04 22:30:00"), "utc_end_date": wall("2026-07-05 01:00:00"),
			"timezone": "America/New_York", "cost": []string{"$5", "$12"},
			"website":    "https://quay.example/?a=1&b=2",
			"categories": []ID{31}, "tags": []ID{45, 46}, "venue": []ID{88}, "organizer": []ID{90},
		},
	}
}

// TestEncodeChangeRefuses: a change of no known name, or of a field that the table lacks, is
// an error.
func TestEncodeChangeRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]Change{
		"unknown change": {Name: "event.made", Kind: KindEvent, ID: 1, Fields: typicalEvent(t).Fields},
		"unknown field":  {Name: "event.updated", Kind: KindEvent, ID: 1, Fields: Fields{"colour": "red"}},
	} {
		if fields, err := EncodeChange(change); err == nil {
			t.Errorf("%s: got %s, want an error", name, fields)
		}
	}
}

// ignoreSum compares records by all but their sum: one that is not stored has none.
var ignoreSum = cmpopts.IgnoreFields(Record{}, "Sum")

// TestSum: the sum follows from every byte and from the length, for texts as for bytes,
// and is the same in every version of the program.
func TestSum(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	for _, text := range []string{"", "\x00", "a", "b", "ab", "ba", "12345678", "123456789", "12345678\x00", "87654321", `{"id":1}`, `{"id":2}`} {
		sum := SumOf(text)
		if other, there := seen[sum]; there || sum == 0 {
			t.Errorf("sum of %q is %d, that of %q", text, sum, other)
		}
		if of := SumOf([]byte(text)); of != sum {
			t.Errorf("sum of the bytes of %q is %d, of the text %d", text, of, sum)
		}
		seen[sum] = text
	}
	if got, want := SumOf(`{"id":1}`), uint64(17103255986965395209); got != want {
		t.Errorf("sum %d, want %d: it stands in ETags", got, want)
	}
}
