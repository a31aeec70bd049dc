package calendar

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestApply(t *testing.T) {
	t.Parallel()
	instant := time.Date(2026, 3, 2, 9, 15, 0, 123456789, newYork)
	first := Change{Name: "venue.created", Kind: KindVenue, ID: 88, Home: LangFR, Fields: Fields{"city": "Rome", "zip": "1"}}
	record, err := Apply(nil, first, instant)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(record *Record) string {
		return fmt.Sprint(record.ID, record.Kind, record.Version, record.Home, record.Changed, record.Fields)
	}
	const want = "88 venue 1 fr 2026-03-02 14:15:00.123 +0000 UTC map[city:Rome zip:1]"
	if got := whole(record); got != want {
		t.Errorf("created: got %s, want %s", got, want)
	}
	second := Change{Name: "venue.updated", Kind: KindVenue, ID: 88, Home: LangES, Fields: Fields{"zip": nil, "city": "Roma", "phone": "5", "state": nil}}
	next, err := Apply(record, second, instant.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got, wanted := whole(next), "88 venue 2 fr 2026-03-02 15:15:00.123 +0000 UTC map[city:Roma phone:5]"; got != wanted || whole(record) != want {
		t.Errorf("updated: got %s, want %s; before %s", got, wanted, whole(record))
	}
	deleted := *next
	deleted.Deleted = true
	for name, refused := range map[string]struct {
		record *Record
		change Change
	}{
		"created again":   {record, first},
		"another record":  {record, Change{Name: "venue.updated", Kind: KindVenue, ID: 89}},
		"another kind":    {record, Change{Name: "event.updated", Kind: KindEvent, ID: 88}},
		"unknown verb":    {record, Change{Name: "venue.moved", Kind: KindVenue, ID: 88}},
		"name and kind":   {record, Change{Name: "event.updated", Kind: KindVenue, ID: 88}},
		"name of nothing": {record, Change{}},
		"deleted record":  {&deleted, second},
		"no record":       {nil, second},
	} {
		if got, err := Apply(refused.record, refused.change, instant); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func TestClaimsAndNames(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "stored.txt", "claims", 4) {
		kind, state, _ := strings.Cut(row[0], " ")
		change, err := DecodeChange(kind+".updated", 31, LangEN, json.RawMessage(row[1]))
		if err != nil {
			t.Fatal(err)
		}
		record := &Record{ID: 31, Kind: change.Kind, Fields: change.Fields, Deleted: state != "", Erased: state == "erased"}
		var claims, names []string
		for _, claim := range Claims(record) {
			claims = append(claims, claim.Space+" "+claim.Key)
		}
		for _, name := range Names(record) {
			names = append(names, name.Space+" "+name.Key)
		}
		if got := []string{strings.Join(claims, "; "), strings.Join(names, "; ")}; !slices.Equal(got, row[2:4]) {
			t.Errorf("%s %s: got %q, want %q", row[0], row[1], got, row[2:4])
		}
	}
}

// drawAttrs draws any attributes of a kind.
func drawAttrs(rt *rapid.T, kind Kind, create bool) *Attrs {
	dates := []string{
		"2026-07-04 18:30", "2026-07-05", "2026-11-01T01:30:00-05:00", "2026-11-01 01:30", "2026-03-08 02:30", "now", "tomorrow 9am",
		"1904670000", "9999-12-31 23:59:59", "0001-01-01", "+1 day", "2026-03-02 09:15:01",
	}
	attrs := &Attrs{Lang: rapid.SampledFrom(Langs[:]).Draw(rt, "language"), Set: map[string]any{}}
	id := rapid.Map(rapid.Int64Range(0, 110), func(n int64) ID { return ID(n) })
	text := rapid.StringMatching(`[a-zA-Z0-9é音 .!<>&-]{1,12}`)
	for _, field := range SpecOf(kind).Fields {
		if field.Form == FormNone || !field.Required && rapid.IntRange(0, 2).Draw(rt, "send "+field.Name) > 0 || field.Required && !create && rapid.Bool().Draw(rt, "keep "+field.Name) {
			continue
		}
		if field.Empty == EmptyClears && rapid.IntRange(0, 3).Draw(rt, "clear "+field.Name) == 0 {
			attrs.Set[field.Name] = Clear{}
			continue
		}
		var value any
		switch field.Form {
		case FormDate:
			value = date(rt, rapid.SampledFrom(dates).Draw(rt, field.Name))
		case FormStatus:
			value = rapid.SampledFrom([]Status{StatusPublish, StatusFuture, StatusDraft, StatusPending, StatusPrivate}).Draw(rt, field.Name)
		case FormWord:
			value = rapid.SampledFrom(field.Enum[1:]).Draw(rt, field.Name)
		case FormZone:
			value = zone(rt, rapid.SampledFrom([]string{"UTC", "America/New_York", "Asia/Tokyo", "UTC+5.5", "-12:00"}).Draw(rt, field.Name))
		case FormBool:
			value = rapid.Bool().Draw(rt, field.Name)
		case FormCost:
			value = rapid.SliceOf(text).Draw(rt, field.Name)
		case FormImage:
			value, attrs.Set["image_url"] = id.Draw(rt, field.Name), "https://i.example/a"
		case FormTerms, FormLinks:
			value = rapid.SliceOf(id).Draw(rt, field.Name)
		case FormAuthor, FormParent:
			value = id.Draw(rt, field.Name)
		case FormDegrees:
			value = rapid.Float64Range(-90, 90).Draw(rt, field.Name)
		case FormLang:
			value = attrs.Lang
		default:
			value = text.Draw(rt, field.Name)
		}
		attrs.Set[field.Name] = value
	}
	return attrs
}

// checkRecord checks what holds for every record that rules make.
func checkRecord(rt *rapid.T, record *Record) {
	fields := record.Fields
	if record.Kind.IsTerm() {
		if !isSlug(record.Slug()) {
			rt.Fatalf("slug %q", record.Slug())
		}
		if fields.ID("parent") == record.ID {
			rt.Fatal("a category is its own parent")
		}
		return
	}
	status := Status(fields.String("status"))
	if _, former := fields["former_status"]; former != (status == StatusTrash) {
		rt.Fatalf("status %s, former status %v", status, fields["former_status"])
	}
	_, hasSlug := fields["slug"]
	if needs := !isUnpublished(record.FormerStatus(time.Unix(0, 0))); needs && !hasSlug {
		rt.Fatalf("status %s without a slug", status)
	}
	if slug := record.Slug(); hasSlug && status != StatusTrash && !isSlug(slug) {
		rt.Fatalf("slug %q", slug)
	}
	if (status == StatusPublish || status == StatusFuture || status == StatusPrivate) && fields.Wall("date_utc") == NoWall {
		rt.Fatalf("status %s without a publication time", status)
	}
	_, lat := fields.Number("geo_lat")
	if _, lng := fields.Number("geo_lng"); lat != lng {
		rt.Fatal("half of a pair of coordinates")
	}
	if record.Kind != KindEvent {
		return
	}
	if fields.Wall("utc_end_date") < fields.Wall("utc_start_date") {
		rt.Fatal("the end is before the start")
	}
	start, end := fields.Wall("start_date"), fields.Wall("end_date")
	if fields.Bool("all_day") && (start != start.Midnight() || end != end.Midnight()+daySeconds-1) {
		rt.Fatalf("all day from %s to %s", start, end)
	}
	z := zone(rt, fields.String("timezone"))
	for wallName, utcName := range map[string]string{"start_date": "utc_start_date", "end_date": "utc_end_date"} {
		shown := WallOf(time.Unix(int64(fields.Wall(utcName)), 0).In(z.Location))
		// The midnight of an all-day event may lie in a gap.
		if wall := fields.Wall(wallName); wall != shown && !fields.Bool("all_day") {
			rt.Fatalf("%s is %s, but %s is %s there", wallName, wall, utcName, shown)
		}
	}
}

// A history of any decisions: what the store keeps of each change folds to the
// same records, and the rules hold for all of them.
func TestAnyHistoryFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(Kinds[:]).Draw(rt, "kind")
		callers := []Caller{contributor, author, editor}
		var record, replayed *Record
		instant := testNow
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			instant = instant.Add(time.Duration(rapid.Int64Range(0, 1e6).Draw(rt, "seconds")) * time.Second)
			taken := rapid.SliceOf(rapid.StringMatching(`[a-z0-9]{1,2}(-2)?(__trashed)?`)).Draw(rt, "taken")
			s := situation{caller: rapid.SampledFrom(callers).Draw(rt, "caller"), now: instant, taken: taken, hash: "h"}
			if record != nil {
				s.parents = []*Record{record, {ID: 30, Kind: kind, Fields: Fields{"slug": "p", "parent": record.ID}}}
			}
			decision := s.decision()
			var change Change
			var err error
			switch verb := rapid.SampledFrom([]string{"update", "update", "end"}).Draw(rt, "verb"); {
			case record == nil:
				change, err = Create(kind, 100, drawAttrs(rt, kind, true), decision)
			case verb == "update":
				change, err = Update(record, drawAttrs(rt, kind, false), decision)
			default:
				change, err = Remove(record, decision)
			}
			if err != nil {
				if problem, ok := errors.AsType[*Error](err); !ok || problem.Code != CodeInvalidParam && problem.Code != CodeInTrash {
					rt.Fatal(err)
				}
				continue
			}
			next, err := Apply(record, change, instant)
			if err != nil {
				rt.Fatal(err)
			}
			if record != nil {
				for name, value := range change.Fields {
					old, there := record.Fields[name]
					if there && cmp.Equal(old, value) && name != "modified" && name != "modified_utc" {
						rt.Fatalf("%s lists %s, which stays", change.Name, name)
					}
				}
			}
			checkRecord(rt, next)
			stored, err := EncodeChange(change)
			if err != nil {
				rt.Fatal(err)
			}
			read, err := DecodeChange(change.Name, change.ID, change.Home, stored)
			if err != nil {
				rt.Fatal(err)
			}
			if replayed, err = Apply(replayed, read, instant); err != nil {
				rt.Fatal(err)
			}
			state, err := EncodeRecord(next)
			if err != nil {
				rt.Fatal(err)
			}
			if again, err := EncodeRecord(replayed); err != nil || string(again) != string(state) {
				rt.Fatalf("replayed %s, %v\nstored   %s", again, err, state)
			}
			record = next
			if record.Deleted {
				break
			}
		}
	})
}

// TestErased: of an erased record nothing is left but hashes of the keys of imports, in
// a form of its own, and nothing follows (HISTORY 14.1).
func TestErased(t *testing.T) {
	t.Parallel()
	instant := time.Date(2026, 3, 2, 14, 15, 0, 0, time.UTC)
	imports := WithImportMark(nil, ImportMark{Source: "fosdem", Line: 31, Key: "event:7"})
	imports = append(imports, "other 5 ") // without a key
	record := &Record{
		ID: 45, Kind: KindTag, Version: 3, Home: LangFR, Changed: instant, Deleted: true,
		Fields: Fields{"name": Text{LangFR: "Jazz"}, "slug": "jazz", "imports": imports},
	}
	change, err := Erase(record)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Apply(record, change, instant.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	fields, err := EncodeChange(change)
	if err != nil {
		t.Fatal(err)
	}
	state, err := EncodeRecord(got)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("fosdem event:7"))
	want := fmt.Sprintf(`{"changed":"2026-03-02T15:15:00.000Z","deleted":true,"erased":true,"fields":{"imports":["sha256:%x"]},"home":"fr","id":45,"kind":"tag","version":4}`, sum)
	if string(fields) != "{}" || string(state) != want {
		t.Errorf("fields %s, state %s\nwant %s", fields, state, want)
	}
	back, err := DecodeRecord(state)
	if err != nil {
		t.Fatal(err)
	}
	if claims := Claims(back); len(claims) != 1 || claims[0] != ImportClaim("fosdem", "event:7").Hashed() {
		t.Errorf("claims %v", claims)
	}
	for _, verb := range []string{Created, Updated, Trashed, Restored, Deleted, Erased} {
		if next, err := Apply(back, Change{Name: "tag." + verb, Kind: KindTag, ID: 45, Fields: Fields{}}, instant); err == nil {
			t.Errorf("%s follows: %+v", verb, next)
		}
	}
	if _, err := Erase(back); err == nil {
		t.Error("erased again")
	}
	if _, err := DecodeRecord(bytes.Replace(state, []byte(`"deleted":true,`), nil, 1)); err == nil {
		t.Error("an erased record that is not deleted was read")
	}
}
