package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/internal/testkit"
)

// erasure erases a tag that has a version.
func erasure(id calendar.ID, version int64) eventstore.Erasure {
	state := `{"changed":"2026-05-01T09:30:00.000Z","deleted":true,"erased":true,"fields":{},"home":"en","id":%d,"kind":"tag","version":%d}`
	return eventstore.Erasure{
		Kind: calendar.KindTag, ID: id, Expected: version, Actor: 1, Cause: eventstore.Cause{Reason: "asked for"},
		State: fmt.Appendf(nil, state, id, version+1),
	}
}

// wholeLog gives all entries, with their leaves.
func wholeLog(t *testing.T, s *postgres.Store) ([]eventstore.Entry, [][32]byte) {
	t.Helper()
	entries, err := s.ReadAll(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := s.Leaves(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return entries, leaves
}

// TestErase: an erasure takes away what it has to, and nothing else; an erasure that was undone half way is finished by another one.
func TestErase(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	c := admin(t)
	first, second, third, other := tag(t, 1, 1, "jazz"), tag(t, 1, 2, "jazz"), tag(t, 1, 3, "jazz"), tag(t, 2, 1, "blues")
	second.Cause.Reason, second.Cause.Request = "règle", "r"
	second.Drafts[0].Secret = []byte("secret of it")
	third.Receipt = &eventstore.Receipt{User: 7, Key: "own", Record: 1, Answer: []byte("of it")}
	other.Receipt = &eventstore.Receipt{User: 7, Key: "names", Record: 2, Answer: []byte(`{"linked":[1]}`)}
	apart := eventstore.Append{Receipt: &eventstore.Receipt{User: 7, Key: "apart", Record: 12, Answer: []byte(`{"linked":[12],"v":"21"}`)}}
	for _, a := range []eventstore.Append{first, second, third, other, apart} {
		if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	before, leaves := wholeLog(t, s)
	early := eventstore.Point{Position: 1}
	if id, err := s.SlugAt(t.Context(), calendar.KindTag, "jazz-0", early); err != nil || id != 1 {
		t.Fatalf("the slug was that of %d, %v", id, err)
	}

	for _, tt := range []struct {
		e    eventstore.Erasure
		want error
	}{
		{erasure(1, 2), eventstore.ErrConflict},
		{erasure(9, 1), eventstore.ErrNotFound},
		{eventstore.Erasure{Kind: calendar.KindVenue, ID: 1, Expected: 3, State: []byte("{}")}, eventstore.ErrNotFound},
		{eventstore.Erasure{Kind: calendar.KindTag, ID: 1, Expected: 3}, eventstore.ErrMalformed},
		{eventstore.Erasure{Kind: calendar.KindTag, ID: 2, Expected: 1, State: []byte("{}"), Also: []eventstore.Erasure{erasure(1, 2)}}, eventstore.ErrConflict},
		{eventstore.Erasure{
			Kind: calendar.KindTag, ID: 1, Expected: 3, State: []byte("{}"), Claims: []calendar.Claim{{Space: "slug/tag", Key: "blues-0"}},
		}, &eventstore.ClaimError{Claim: calendar.Claim{Space: "slug/tag", Key: "blues-0"}, Holder: 2}},
	} {
		res := s.Erase(t.Context(), tt.e)
		if claim, ok := errors.AsType[*eventstore.ClaimError](res.Err); ok {
			res.Err = claim
		}
		if !errors.Is(res.Err, tt.want) && fmt.Sprint(tt.want) != fmt.Sprint(res.Err) {
			t.Errorf("erase %d at version %d: %v, want %v", tt.e.ID, tt.e.Expected, res.Err, tt.want)
		}
	}
	if now, _ := wholeLog(t, s); !cmp.Equal(before, now) {
		t.Fatal("a refused erasure changed the log")
	}

	e := erasure(1, 3)
	e.Claims = []calendar.Claim{{Space: "import", Key: "sha256:00"}}
	if res := s.Erase(t.Context(), e); res.Err != nil || res.Position != 5 {
		t.Fatalf("erase: %+v", res)
	}
	check := func() {
		t.Helper()
		want := slices.Clone(before)
		for i := range 3 {
			want[i].Redact(5)
		}
		after, stored := wholeLog(t, s)
		if diff := cmp.Diff(want, after[:4]); diff != "" {
			t.Errorf("entries differ (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(leaves, stored[:4]); diff != "" {
			t.Errorf("leaves differ (-want +got):\n%s", diff)
		}
		for i := range after {
			if eventstore.Leaf(&after[i]) != stored[i] {
				t.Errorf("the leaf of entry %d does not follow from it", i+1)
			}
		}
		if last := after[4]; last.Change != "tag.erased" || last.Version != 4 || last.Cause.Reason != "asked for" || last.Redacted != nil {
			t.Errorf("the last entry is %+v", last)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM @.slugs WHERE record = 1":                               0,
			"SELECT count(*) FROM @.names WHERE record = 1":                               0,
			"SELECT count(*) FROM @.claims WHERE record = 1":                              1,
			"SELECT count(*) FROM @.receipts WHERE answer IS NULL AND record IN (1, 2)":   2,
			"SELECT count(*) FROM @.receipts WHERE answer IS NOT NULL AND record = 12":    1,
			"SELECT count(*) FROM @.records WHERE id = 1 AND erased AND secret = ''":      1,
			"SELECT count(*) FROM @.records WHERE id = 2 AND NOT erased":                  1,
			"SELECT count(*) FROM @.entries WHERE record = 1 AND strpos(reason, 'r') > 0": 1, // of the erasure
		} {
			var n int
			if err := c.QueryRow(t.Context(), strings.ReplaceAll(query, "@", name)).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d, %v, want %d", query, n, err, want)
			}
		}
	}
	check()
	if states, err := s.Load(t.Context(), 1); err != nil || string(states[0].Record) != string(e.State) || states[0].Secret != nil {
		t.Errorf("the present state is %+v, %v", states, err)
	}
	if id, err := s.SlugAt(t.Context(), calendar.KindTag, "jazz-0", early); err != nil || id != 0 {
		t.Errorf("the slug was that of %d, %v", id, err)
	}
	for what, a := range map[string]eventstore.Append{"the next version": tag(t, 1, 5, "jazz"), "again from the first": tag(t, 1, 1, "jazz")} {
		for _, group := range [][]eventstore.Append{{a}, {a, a}} { // by the database, and one by one
			if res := s.Append(t.Context(), group); !errors.Is(res[0].Err, eventstore.ErrConflict) {
				t.Errorf("a change after it, %s: %+v", what, res)
			}
		}
	}
	if res := s.Append(t.Context(), []eventstore.Append{tag(t, 3, 1, "jazz")})[0]; res.Err != nil {
		t.Errorf("another record takes its slug: %v", res.Err)
	}
	if res := s.Erase(t.Context(), erasure(1, 3)); res.Err != nil || res.Position != 5 {
		t.Errorf("erase again: %+v", res)
	}
	check()

	sqlExec(t, c, "ALTER TABLE "+name+".entries DISABLE TRIGGER ALL")
	sqlExec(t, c, "UPDATE "+name+".entries SET state = 'text that was left' WHERE position IN (1, 2)")
	sqlExec(t, c, "ALTER TABLE "+name+".entries ENABLE ALWAYS TRIGGER entries_blank_only")
	if res := s.Erase(t.Context(), erasure(1, 4)); res.Err != nil || res.Position != 5 {
		t.Errorf("erase what was left: %+v", res)
	}
	check()
}

// TestRedactedByHand: what an erasure may do is all that the database takes.
// HISTORY 20.38.
func TestRedactedByHand(t *testing.T) {
	t.Parallel()
	name := schema(t)
	s := open(t, server(t), postgres.Options{Schema: name})
	smallLog(t, s, 3)
	if res := s.Erase(t.Context(), erasure(2, 2)); res.Err != nil {
		t.Fatal(res.Err)
	}
	c := admin(t)
	sqlExec(t, c, "SET session_replication_role = replica")
	const zeros = "decode(repeat('00', 128), 'hex')"
	for _, text := range []string{
		"INSERT INTO @.redacted VALUES (1, 7, " + zeros + ")",  // another record
		"INSERT INTO @.redacted VALUES (7, 7, " + zeros + ")",  // not an earlier version
		"INSERT INTO @.redacted VALUES (5, 6, " + zeros + ")",  // no erasure
		"INSERT INTO @.redacted VALUES (3, 99, " + zeros + ")", // no entry
		"UPDATE @.redacted SET by = 8", "DELETE FROM @.redacted", "TRUNCATE @.redacted",
		"DELETE FROM @.entries WHERE position = 3", "TRUNCATE @.entries",
		`UPDATE @.entries SET client = '', request = '', reason = '', fields = '', state = '', secret = NULL,
			salts = substr(salts, 1, 16) || decode(repeat('00', 64), 'hex') WHERE position = 1`, // not erased
		"UPDATE @.entries SET client = 'x' WHERE position = 3",
		"UPDATE @.entries SET state = 'x' WHERE position = 3",
		"UPDATE @.entries SET secret = 'x' WHERE position = 3",
		"UPDATE @.entries SET salts = decode(repeat('00', 80), 'hex') WHERE position = 3",
		"UPDATE @.entries SET salts = NULL WHERE position = 3",
		"DELETE FROM @.checkpoints", "TRUNCATE @.checkpoints",
	} {
		if err := refused(t.Context(), c, strings.ReplaceAll(text, "@", name)); err != nil {
			t.Error(err)
		}
	}
	// One that may be blanked, but another column differs.
	sqlExec(t, c, "ALTER TABLE "+name+".entries DISABLE TRIGGER ALL")
	sqlExec(t, c, "UPDATE "+name+".entries SET state = 'left' WHERE position = 3")
	sqlExec(t, c, "ALTER TABLE "+name+".entries ENABLE ALWAYS TRIGGER entries_blank_only")
	for _, column := range []string{
		"position = 33", "record = 3", "version = 9", "time = 9", "actor = 9", "kind = 'venue'", "change = 'tag.x'",
		"leaf = sha256('x')", "client = 'x'", "request = 'x'", "reason = 'x'", "fields = 'x'", "secret = ''",
	} {
		if err := refused(t.Context(), c, "UPDATE "+name+".entries SET state = '', "+column+" WHERE position = 3"); err != nil {
			t.Error(err)
		}
	}
	sqlExec(t, c, "UPDATE "+name+".entries SET state = '' WHERE position = 3")
}

// TestCompact: after an erasure and Compact no word of the record is in the files of the
// database. HISTORY 20.34.
func TestCompact(t *testing.T) {
	t.Parallel()
	own := testkit.StartPostgres(t)
	s := open(t, own.URL(), postgres.Options{PollOnly: true})
	const word = "Xylophonkonzert"
	text := func(what string) string { return strings.ToLower(word) + "-" + what }
	for v := range int64(4) {
		a := tag(t, 1, v+1, text("slug"))
		a.Cause = eventstore.Cause{Client: text("client"), Request: text("request"), Reason: text("reason")}
		a.Drafts[0].Secret = []byte(text("secret"))
		a.Receipt = &eventstore.Receipt{User: 1, Key: fmt.Sprint(v), Record: 1, Answer: []byte(text("answer"))}
		if res := s.Append(t.Context(), []eventstore.Append{a})[0]; res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	for id := calendar.ID(2); id < 60; id++ { // others, so that samples are worth to be taken
		write(t, s, id, 1, "other")
	}
	own.Exec("ANALYZE", "CHECKPOINT")
	if found := own.FilesWith(strings.ToLower(word)); len(found) < 4 {
		t.Fatalf("before, only %q have it", found)
	}
	if res := s.Erase(t.Context(), erasure(1, 4)); res.Err != nil {
		t.Fatal(res.Err)
	}
	left, err := postgres.Compact(t.Context(), own.URL(), postgres.Options{})
	if err != nil || len(left) > 0 {
		t.Fatalf("Compact: %q, %v", left, err)
	}
	for _, w := range []string{strings.ToLower(word), word, "Name of " + strings.ToLower(word)} {
		if found := own.FilesWith(w); len(found) > 0 {
			t.Errorf("%q is in %q", w, found)
		}
	}
	write(t, s, 2, 2, "goes on")
}

// TestCompactAsOwner: a role that only owns the schema is told what it may not do.
func TestCompactAsOwner(t *testing.T) {
	t.Parallel()
	own := testkit.StartPostgres(t)
	own.Exec("CREATE ROLE plain LOGIN", "CREATE SCHEMA daybook AUTHORIZATION plain")
	at := strings.Replace(own.URL(), "postgres://postgres@", "postgres://plain@", 1)
	s := open(t, at, postgres.Options{PollOnly: true})
	write(t, s, 1, 1, "one")
	want := []string{"CHECKPOINT"}
	for range 2 {
		left, err := postgres.Compact(t.Context(), at, postgres.Options{})
		if diff := cmp.Diff(want, left); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		// As if there had been entries of before.
		own.Exec("UPDATE daybook.filling SET done = 1, upto = 1")
		want = []string{"VACUUM (FULL) pg_catalog.pg_statistic", "CHECKPOINT"}
	}
	own.Exec("CREATE ROLE other LOGIN", "GRANT USAGE ON SCHEMA daybook TO other")
	if _, err := postgres.Compact(t.Context(), strings.Replace(at, "plain@", "other@", 1), postgres.Options{}); err == nil {
		t.Error("a role that does not own the tables compacts them")
	}
}
