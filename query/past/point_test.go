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

func (s *story) clock() time.Time { return s.begin.Add(time.Duration(s.now.Load()) * time.Millisecond) }

func (s *story) service() *past.Service {
	s.t.Helper()
	p, err := past.New(s.store, history.New(s.store, s.clock), new(query.Service), past.Options{Query: query.Options{Now: s.clock}, Wait: patience})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// write appends an entry, or erases a record.
func (s *story) write(older, erases bool) {
	s.t.Helper()
	at := s.clock()
	if older {
		at = s.begin.Add(time.Duration(s.g.Int64N(s.now.Load())) * time.Millisecond)
		s.counted[1]++
	}
	s.counted[0]++
	var before *calendar.Record
	kinds := []calendar.Kind{calendar.KindVenue, calendar.KindOrganizer, calendar.KindTag, calendar.KindUser}
	kind := kinds[s.g.IntN(len(kinds))]
	var change calendar.Change
	i := 0
	if len(s.records) > 0 {
		i = s.g.IntN(len(s.records))
	}
	switch {
	case erases && len(s.records) > 0:
		s.erase(i, at)
		return
	case len(s.records) == 0 || s.g.IntN(3) == 0:
		s.last++
		change = calendar.Change{Name: kind.String() + "." + calendar.Created, Kind: kind, ID: s.last, Home: calendar.LangEN, Fields: calendar.Fields{}}
		switch {
		case kind == calendar.KindUser:
			change.Fields["name"] = fmt.Sprint("user", s.last)
		case kind.IsPost():
			change.Fields["status"], change.Fields["author"] = "publish", calendar.ID(7)
			fallthrough
		default:
			change.Fields[kind.NameField()], change.Fields["slug"] = calendar.Text{calendar.LangEN: "Name"}, fmt.Sprint(kind, s.last)
		}
	default:
		before = s.records[i]
		change = calendar.Change{Name: before.Kind.String() + "." + calendar.Updated, Kind: before.Kind, ID: before.ID, Fields: calendar.Fields{}}
		switch {
		case before.Kind == calendar.KindUser:
			change.Fields["role"] = fmt.Sprint(s.counted[0])
		case before.Kind.IsPost() && s.g.IntN(2) == 0:
			change.Fields["status"] = []string{"publish", "draft", "private", "trash"}[s.g.IntN(4)]
		case before.Kind.IsTerm() && s.g.IntN(4) == 0:
			change.Name = before.Kind.String() + "." + calendar.Deleted
		default:
			change.Fields[before.Kind.NameField()] = calendar.Text{calendar.LangEN: fmt.Sprint("Name ", s.counted[0])}
		}
	}
	draft, after, err := eventstore.NewDraft(before, change, at)
	if err != nil {
		s.t.Fatal(err)
	}
	if res := s.store.Append(s.t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{draft}, Time: at}})[0]; res.Err != nil {
		s.t.Fatal(res.Err)
	}
	switch {
	case before == nil:
		s.records = append(s.records, after)
	case after.Deleted:
		s.records = slices.Delete(s.records, i, i+1)
	default:
		s.records[i] = after
	}
}

func (s *story) erase(i int, at time.Time) {
	s.t.Helper()
	record := s.records[i]
	change, err := calendar.Erase(record)
	if err != nil {
		s.t.Fatal(err)
	}
	draft, _, err := eventstore.NewDraft(record, change, at)
	if err != nil {
		s.t.Fatal(err)
	}
	if res := s.store.Append(s.t.Context(), []eventstore.Append{{Drafts: []eventstore.Draft{draft}, Redact: []calendar.ID{record.ID}, Time: at}})[0]; res.Err != nil {
		s.t.Fatal(res.Err)
	}
	s.records = slices.Delete(s.records, i, i+1)
	s.counted[2]++
}

// second is the last millisecond of the second of a moment, as a date without a fraction
// is read.
func second(t time.Time) time.Time {
	return t.Truncate(time.Second).Add(time.Second - time.Millisecond)
}

// contents returns what a list at a point is answered from.
func contents(t *testing.T, service *past.Service, at eventstore.Point) *past.Contents {
	t.Helper()
	then := past.Then{Point: at, Moment: at.Time}
	if _, err := service.List(t.Context(), calendar.Caller{Role: calendar.Auditor}, netip.Addr{}, then, "", false); err != nil {
		t.Fatal(err)
	}
	c, err := service.Contents(t.Context(), then)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPointsOfALog: a list has the records after the entries that count, and knows how
// they are now, also when it was asked for before: with older entries, erasures, and
// records that are withdrawn meanwhile.
func TestPointsOfALog(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		story := newStory(t, seed)
		service := story.service()
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
			at := eventstore.Point{Time: second(story.clock())}
			switch story.g.IntN(4) {
			case 0:
				at.Time = story.begin.Add(time.Duration(story.g.Int64N(story.now.Load())) * time.Millisecond)
			case 1:
				at = eventstore.Point{Position: 1 + calendar.Position(story.g.Int64N(int64(head.Position)))}
			case 2:
				if len(asked) > 0 {
					at = asked[max(len(asked)-1-story.g.IntN(4), 0)]
				}
			}
			asked = append(asked, at)
			got := contents(t, service, at)
			if diff := cmp.Diff(contents(t, story.service(), at), got); diff != "" {
				t.Fatalf("seed %d, step %d, %+v (-first time +got):\n%s", seed, step, at, diff)
			}
			if want := story.recordsAt(at); !slices.Equal(got.IDs, want) {
				t.Fatalf("seed %d, step %d, %+v: records %v, want %v", seed, step, at, got.IDs, want)
			}
			if want := story.closed(got.IDs); !maps.Equal(got.Closed, want) {
				t.Fatalf("seed %d, step %d, %+v: closed %v, want %v", seed, step, at, got.Closed, want)
			}
		}
		if story.counted[1] < 10 || story.counted[2] < 1 {
			t.Errorf("seed %d: %d entries, %d older ones, %d erasures", seed, story.counted[0], story.counted[1], story.counted[2])
		}
	}
}

// recordsAt returns the records that lists of a point have, by a look at the whole log.
func (s *story) recordsAt(at eventstore.Point) []calendar.ID {
	s.t.Helper()
	log, err := s.store.Read(s.t.Context(), eventstore.Range{Limit: 1 << 20})
	if err != nil {
		s.t.Fatal(err)
	}
	there := map[calendar.ID]bool{}
	for _, entry := range log {
		if (at.Position == 0 && !entry.Time.After(at.Time) || entry.Position <= at.Position) && entry.Kind != calendar.KindUser && entry.Redacted == nil {
			there[entry.ID] = !strings.HasSuffix(entry.Change, "."+calendar.Deleted) && !strings.HasSuffix(entry.Change, "."+calendar.Erased)
		}
	}
	maps.DeleteFunc(there, func(_ calendar.ID, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(there))
}

// closed returns those of some records that not everybody may read now.
func (s *story) closed(ids []calendar.ID) map[calendar.ID]string {
	s.t.Helper()
	out := map[calendar.ID]string{}
	states, err := s.store.Load(s.t.Context(), ids...)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range states {
		record, err := calendar.DecodeRecord(states[i].Record)
		if err != nil {
			s.t.Fatal(err)
		}
		if history.Gate(calendar.Caller{}, record.Kind, record, s.clock()) != nil {
			out[record.ID] = fmt.Sprint(record.Deleted, history.Outline(record).Fields)
		}
	}
	return out
}
