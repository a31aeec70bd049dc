package past_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/history"
	"daybook/query"
	"daybook/query/past"
)

// story writes a log of many kinds of entries: also such as are older than what is there,
// of users, and erasures.
type story struct {
	t     *testing.T
	g     *rand.Rand
	store eventstore.Store
	begin time.Time
	now   atomic.Int64 // milliseconds after begin

	records []*calendar.Record // as they are now, but erased ones
	last    calendar.ID
	counted [3]int // entries, older ones, erasures
}

func newStory(t *testing.T, seed uint64) *story {
	t.Helper()
	s := &story{t: t, g: rand.New(rand.NewPCG(seed, 54)), store: memstore.New(), begin: time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)}
	s.now.Store(1)
	return s
}

func (story *story) clock() time.Time {
	return story.begin.Add(time.Duration(story.now.Load()) * time.Millisecond)
}

func (story *story) service(options past.Options) *past.Service {
	story.t.Helper()
	options.Query.Now, options.Wait = story.clock, patience
	return past.New(story.store, history.New(story.store, story.clock), new(query.Service), options)
}

// write appends an entry, or erases a record.
func (story *story) write(older, erases bool) {
	story.t.Helper()
	instant := story.clock()
	if older {
		instant = story.begin.Add(time.Duration(story.g.Int64N(story.now.Load())) * time.Millisecond)
		story.counted[1]++
	}
	story.counted[0]++
	var before *calendar.Record
	kinds := []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindTag, calendar.KindUser}
	kind := kinds[story.g.IntN(len(kinds))]
	var change calendar.Change
	i := 0
	if len(story.records) > 0 {
		i = story.g.IntN(len(story.records))
	}
	switch {
	case erases && len(story.records) > 0:
		story.erase(i, instant)
		return
	case len(story.records) == 0 || story.g.IntN(3) == 0:
		story.last++
		change = calendar.Change{Name: kind.String() + "." + calendar.Created, Kind: kind, ID: story.last, Home: calendar.LangEN, Fields: calendar.Fields{}}
		switch {
		case kind == calendar.KindUser:
			change.Fields["name"] = fmt.Sprint("user", story.last)
		case kind.IsPost():
			change.Fields["status"], change.Fields["author"] = "publish", calendar.ID(7)
			fallthrough
		default:
			change.Fields[kind.NameField()], change.Fields["slug"] = calendar.Text{calendar.LangEN: "Name"}, fmt.Sprint(kind, story.last)
		}
	default:
		before = story.records[i]
		change = calendar.Change{Name: before.Kind.String() + "." + calendar.Updated, Kind: before.Kind, ID: before.ID, Fields: calendar.Fields{}}
		switch {
		case before.Kind == calendar.KindUser:
			change.Fields["role"] = fmt.Sprint(story.counted[0])
		case before.Kind.IsPost() && story.g.IntN(2) == 0:
			change.Fields["status"] = []string{"publish", "draft", "private", "trash"}[story.g.IntN(4)]
		case before.Kind.IsTerm() && story.g.IntN(4) == 0:
			change.Name = before.Kind.String() + "." + calendar.Deleted
		default:
			change.Fields[before.Kind.NameField()] = calendar.Text{calendar.LangEN: fmt.Sprint("Name ", story.counted[0])}
		}
	}
	after := story.append(before, change, instant)
	switch {
	case before == nil:
		story.records = append(story.records, after)
	case after.Deleted:
		story.records = slices.Delete(story.records, i, i+1)
	default:
		story.records[i] = after
	}
}

func (story *story) erase(i int, instant time.Time) {
	story.t.Helper()
	record := story.records[i]
	change, err := calendar.Erase(record)
	if err != nil {
		story.t.Fatal(err)
	}
	story.append(record, change, instant, record.ID)
	story.records = slices.Delete(story.records, i, i+1)
	story.counted[2]++
}

// append appends the entry of a change and returns the record after it.
func (story *story) append(before *calendar.Record, change calendar.Change, instant time.Time, redact ...calendar.ID) *calendar.Record {
	story.t.Helper()
	draft, after, err := eventstore.NewDraft(before, change, instant)
	if err == nil {
		err = story.store.Append(story.t.Context(), eventstore.Append{Drafts: []eventstore.Draft{draft}, Redact: redact, Time: instant}).Err
	}
	if err != nil {
		story.t.Fatal(err)
	}
	return after
}

// second is the last millisecond of the second of a moment, as a date without a fraction
// is read.
func second(instant time.Time) time.Time {
	return instant.Truncate(time.Second).Add(time.Second - time.Millisecond)
}

// contents returns what a list at a point is answered from.
func contents(t *testing.T, service *past.Service, point eventstore.Point) *past.Contents {
	t.Helper()
	then := past.PointInTime{Point: point, Moment: point.Time}
	if _, _, err := service.List(t.Context(), calendar.Caller{Role: calendar.Auditor}, netip.Addr{}, then, false); err != nil {
		t.Fatal(err)
	}
	contents, err := service.Contents(t.Context(), then)
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// TestPointsOfALog: a list has the records after the entries that count, and knows how
// they are now, also when it was asked for before: with older entries, erasures, and
// records that are withdrawn meanwhile.
func TestPointsOfALog(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		story := newStory(t, seed)
		service := story.service(past.Options{})
		var asked []eventstore.Point
		for step := range 90 {
			for range story.g.IntN(4) {
				story.now.Add(story.g.Int64N(800))
				story.write(story.g.IntN(6) == 0, story.g.IntN(30) == 0)
			}
			head, err := story.store.Head(t.Context(), eventstore.Point{})
			if err != nil || head.Position == 0 {
				continue
			}
			point := eventstore.Point{Time: second(story.clock())}
			switch story.g.IntN(4) {
			case 0:
				point.Time = story.begin.Add(time.Duration(story.g.Int64N(story.now.Load())) * time.Millisecond)
			case 1:
				point = eventstore.Point{Position: 1 + calendar.Position(story.g.Int64N(int64(head.Position)))}
			case 2:
				if len(asked) > 0 {
					point = asked[max(len(asked)-1-story.g.IntN(4), 0)]
				}
			}
			asked = append(asked, point)
			got := contents(t, service, point)
			if diff := cmp.Diff(contents(t, story.service(past.Options{}), point), got); diff != "" {
				t.Fatalf("seed %d, step %d, %+v (-first time +got):\n%s", seed, step, point, diff)
			}
			if want := story.recordsAt(point); !slices.Equal(got.IDs, want) {
				t.Fatalf("seed %d, step %d, %+v: records %v, want %v", seed, step, point, got.IDs, want)
			}
			if want := story.closed(got.IDs); !maps.Equal(got.Closed, want) {
				t.Fatalf("seed %d, step %d, %+v: closed %v, want %v", seed, step, point, got.Closed, want)
			}
		}
		if story.counted[1] < 10 || story.counted[2] < 1 {
			t.Errorf("seed %d: %d entries, %d older ones, %d erasures", seed, story.counted[0], story.counted[1], story.counted[2])
		}
	}
}

// recordsAt returns the records that lists of a point have, by a look at the whole log.
func (story *story) recordsAt(point eventstore.Point) []calendar.ID {
	story.t.Helper()
	log, err := story.store.Read(story.t.Context(), eventstore.Range{Limit: 1 << 20})
	if err != nil {
		story.t.Fatal(err)
	}
	there := map[calendar.ID]bool{}
	for _, entry := range log {
		if (point.Position == 0 && !entry.Time.After(point.Time) || entry.Position <= point.Position) && entry.Kind != calendar.KindUser && entry.Redacted == nil {
			there[entry.ID] = !strings.HasSuffix(entry.Change, "."+calendar.Deleted) && !strings.HasSuffix(entry.Change, "."+calendar.Erased)
		}
	}
	maps.DeleteFunc(there, func(_ calendar.ID, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(there))
}

// closed returns those of some records that not everybody may read now.
func (story *story) closed(ids []calendar.ID) map[calendar.ID]string {
	story.t.Helper()
	out := map[calendar.ID]string{}
	states, err := story.store.Load(story.t.Context(), ids...)
	if err != nil {
		story.t.Fatal(err)
	}
	for i := range states {
		record, err := calendar.DecodeRecord(states[i].Record)
		if err != nil {
			story.t.Fatal(err)
		}
		if history.Gate(calendar.Caller{}, record.Kind, record, story.clock()) != nil {
			out[record.ID] = fmt.Sprint(record.Deleted, history.Outline(record).Fields)
		}
	}
	return out
}
