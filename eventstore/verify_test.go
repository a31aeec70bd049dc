package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
)

var moment = time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)

func tag(id calendar.ID, name string) calendar.Change {
	return calendar.Change{
		Name: "tag." + name, Kind: calendar.KindTag, ID: id,
		Fields: calendar.Fields{"slug": fmt.Sprintf("%s-%d", name, id)},
	}
}

func write(t *testing.T, s eventstore.Store, drafts ...eventstore.Draft) {
	t.Helper()
	res := s.Append(t.Context(), []eventstore.Append{{Drafts: drafts, Time: moment}})[0]
	if res.Err != nil {
		t.Fatal(res.Err)
	}
}

// TestVerifyManyRecords: more records than are kept decoded at once.
func TestVerifyManyRecords(t *testing.T) {
	t.Parallel()
	const n = 12_000
	s := memstore.New()
	records := make([]*calendar.Record, n)
	for round, name := range []string{calendar.Created, calendar.Updated} {
		var drafts []eventstore.Draft
		for i := range records {
			var d eventstore.Draft
			d, records[i] = storetest.Draft(t, records[i], tag(calendar.ID(i+1), name), moment)
			drafts = append(drafts, d)
		}
		write(t, s, drafts...)
		var progress []calendar.Position
		_, count, err := storetest.Verify(t.Context(), s, func(done, total calendar.Position) {
			progress = append(progress, done)
			if total != calendar.Position((round+1)*n) {
				t.Errorf("total is %d", total)
			}
		})
		if err != nil || count != calendar.Position((round+1)*n) {
			t.Fatalf("Verify: %d entries, %v", count, err)
		}
		if len(progress) < n/1000 || progress[len(progress)-1] != count {
			t.Errorf("progress was told %d times", len(progress))
		}
	}
}

// TestVerifyFindsWrongFolds: entries that fit their leaves and the chain but not
// each other.
func TestVerifyFindsWrongFolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		edit       func(d *eventstore.Draft)
	}{
		{"state does not follow", "does not give the stored record", func(d *eventstore.Draft) {
			d.State = []byte(strings.Replace(string(d.State), "updated-1", "updated-9", 1))
		}},
		{"state is no record", "state: decode record", func(d *eventstore.Draft) { d.State = []byte(`{}`) }},
		{"fields do not follow", "does not give the stored record", func(d *eventstore.Draft) { d.Fields = []byte(`{}`) }},
		{"fields are none of a tag", `unknown field "venue"`, func(d *eventstore.Draft) { d.Fields = []byte(`{"venue":1}`) }},
		{"unknown change", "unknown change", func(d *eventstore.Draft) { d.Change = "tag.renamed" }},
		{"change of another kind", "no change of kind tag", func(d *eventstore.Draft) { d.Change, d.Fields = "venue.updated", []byte(`{}`) }},
		{"a claim of no state", "holds other claims or names", func(d *eventstore.Draft) {
			d.Claims = append(d.Claims, eventstore.SlugClaim(d.Kind, "old-slug"))
		}},
		{"a name of no state", "holds other claims or names", func(d *eventstore.Draft) {
			d.Names = append(d.Names, calendar.Name{Space: "name/tag", Key: "old name"})
		}},
		{"created again", "it exists", func(d *eventstore.Draft) { d.Change = "tag.created" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := memstore.New()
			d, r := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
			write(t, s, d)
			d, _ = storetest.Draft(t, r, tag(1, calendar.Updated), moment)
			tt.edit(&d)
			write(t, s, d)
			_, _, err := storetest.Verify(t.Context(), s, nil)
			if !errors.Is(err, eventstore.ErrDamaged) || !strings.Contains(err.Error(), "entry 2:") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error is %v, want one of entry 2 that says %q", err, tt.says)
			}
		})
	}
}

// later writes another entry whenever records are read, as others do while a
// store is verified.
type later struct {
	*memstore.Store

	t    *testing.T
	last *calendar.Record
	spy  func(s *eventstore.State)
}

func (l *later) Records(ctx context.Context, kind calendar.Kind, after calendar.ID, limit int) ([]eventstore.State, error) {
	if after == 0 {
		d, r := storetest.Draft(l.t, l.last, tag(1, calendar.Updated), moment)
		fresh, _ := storetest.Draft(l.t, nil, tag(2, calendar.Created), moment)
		d.Secret = []byte("later")
		write(l.t, l.Store, d, fresh) //nolint:contextcheck // takes that of the test
		l.last = r
	}
	states, err := l.Store.Records(ctx, kind, after, limit)
	for i := range states {
		l.spy(&states[i])
	}
	return states, err
}

// TestVerifyWhileOthersWrite: what is newer than the head of the run is no
// damage, unless it does not fit its own entry.
func TestVerifyWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		spy  func(s *eventstore.State)
		bad  bool
	}{
		{"whole", func(*eventstore.State) {}, false},
		{"beyond the log", func(s *eventstore.State) { s.Position += 100 }, true},
		{"of another record", func(s *eventstore.State) {
			if s.ID == 1 {
				s.Position++
			}
		}, true},
		{"version", func(s *eventstore.State) { s.Version++ }, true},
		{"record", func(s *eventstore.State) { s.Record = []byte(`{}`) }, true},
		{"secret", func(s *eventstore.State) { s.Secret = nil }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, r := storetest.Draft(t, nil, tag(1, calendar.Created), moment)
			s := &later{Store: memstore.New(), t: t, last: r, spy: tt.spy}
			write(t, s, d)
			_, n, err := storetest.Verify(t.Context(), s, nil)
			if tt.bad && !errors.Is(err, eventstore.ErrDamaged) || !tt.bad && (err != nil || n != 1) {
				t.Errorf("Verify: %d entries, %v", n, err)
			}
		})
	}
}
