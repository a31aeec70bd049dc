package postgres

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/eventstore/storetest"
	"daybook/internal/testkit/engines"
)

// TestArbiter: append_salted takes a group whole when eventstore.Group takes each of its
// members, and else refuses it.
func TestArbiter(t *testing.T) {
	t.Parallel()
	at := os.Getenv("DAYBOOK_TEST_POSTGRES")
	if at == "" {
		engines.Require(t, "postgres", "DAYBOOK_TEST_POSTGRES is not set")
	}
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	exec := func(text string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	name := "t_" + strings.ToLower(rand.Text()[:12])
	s, err := Open(t.Context(), at, Options{Schema: name, PollOnly: true, PoolSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer exec("DROP SCHEMA " + name + " CASCADE")
	defer func() { _ = s.Close() }()
	for _, table := range []string{"entries", "commits"} {
		exec("ALTER TABLE " + name + "." + table + " DISABLE TRIGGER ALL")
	}
	took, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for _, table := range []string{"entries", "commits", "records", "claims", "names", "receipts"} {
			exec("DELETE FROM " + name + "." + table)
		}
		exec("UPDATE " + name + ".identity SET uuid = gen_random_uuid()") // another store
		if _, err := s.Head(t.Context()); err != nil {                    // of the other history
			rt.Fatal(err)
		}
		mem := memstore.New()
		for range rapid.IntRange(3, 10).Draw(rt, "groups") {
			appends := rapid.SliceOfN(rapid.Custom(storetest.DrawAppend), 1, 3).Draw(rt, "appends")
			got, items := make([]eventstore.Result, len(appends)), make([]*item, len(appends))
			for i := range appends {
				appends[i].Later = false
				for j := range appends[i].Drafts { // versions that fit, mostly
					d := &appends[i].Drafts[j]
					if states, err := mem.Load(t.Context(), d.ID); err == nil && rapid.IntRange(0, 4).Draw(rt, "fits") > 0 {
						d.Expected = states[0].Version
					}
				}
				if items[i], err = newItem(&appends[i]); err != nil {
					rt.Fatal(err)
				}
				items[i].result = &got[i]
			}
			handed := handedOn(rt, mem, appends)
			want := mem.Append(t.Context(), appends)
			whole := !slices.ContainsFunc(want, func(r eventstore.Result) bool { return r.Err != nil || r.Receipt != nil })
			won := false
			if independent(items) {
				if _, won, err = s.writeAll(t.Context(), items); err != nil {
					rt.Fatal(err)
				}
				if won && !whole || whole && !won && !handed {
					rt.Fatalf("append_salted takes the group: %t, eventstore.Group takes all: %t (%+v)", won, whole, want)
				}
				if won {
					took++
				} else {
					refused++
				}
			}
			if !won {
				if _, err := s.writeDecided(t.Context(), items, false); err != nil {
					rt.Fatal(err)
				}
			}
			if diff := cmp.Diff(storetest.Outcomes(want), storetest.Outcomes(got)); diff != "" {
				rt.Fatalf("results differ (-memory +own):\n%s", diff)
			}
		}
	})
	if took < 50 || refused < 50 {
		t.Errorf("%d groups were taken and %d refused by append_salted, want 50 of each at least", took, refused)
	}
}

// handedOn tells whether what a record of a group has is what another member asks for:
// append_salted does not know when the record loses it, and refuses.
func handedOn(t *rapid.T, s eventstore.Store, appends []eventstore.Append) bool {
	touched := map[calendar.ID]bool{}
	var claims []calendar.Claim
	var names []calendar.Name
	for i := range appends {
		for j := range appends[i].Drafts {
			touched[appends[i].Drafts[j].ID] = true
			claims = append(claims, appends[i].Drafts[j].Claims...)
		}
		for _, g := range appends[i].Guards {
			names = append(names, g.Name)
		}
	}
	holders, found, err := s.Find(t.Context(), claims, names)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(append(holders, slices.Concat(found...)...), func(id calendar.ID) bool { return touched[id] })
}
